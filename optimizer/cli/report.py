"""``report``: documents of a plan, by the ending of the output file."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli.options import LibraryOptions, command
from optimizer.cli.output import write_bytes, write_file
from optimizer.errors import InputError, Problem

if TYPE_CHECKING:
    from optimizer.report.views import Report


class Lang(StrEnum):
    """Values of ``--lang``."""

    EN = "en"
    ZH = "zh"


class Redact(StrEnum):
    """Values of ``--redact``."""

    PRICES = "prices"
    VENDORS = "vendors"


class Rows(StrEnum):
    """Values of ``--rows``."""

    ORDERS = "orders"
    PAYMENTS = "payments"


def _html(report: Report, out: Path, rows: Rows) -> None:
    from optimizer.report.html import page

    write_file(out, page(report.document, report.language))


def _xlsx(report: Report, out: Path, rows: Rows) -> None:
    from optimizer.report.workbook import workbook

    write_bytes(out, workbook(report))


def _markdown(report: Report, out: Path, rows: Rows) -> None:
    from optimizer.report.markdown import markdown

    write_file(out, markdown(report.document, report.language))


def _csv(report: Report, out: Path, rows: Rows) -> None:
    from optimizer.report.orders import orders_csv, payments_csv

    write_file(out, (payments_csv if rows is Rows.PAYMENTS else orders_csv)(report))


WRITERS: dict[str, Callable[[Report, Path, Rows], None]] = {
    ".html": _html,
    ".xlsx": _xlsx,
    ".md": _markdown,
    ".csv": _csv,
}
"""Ending of the output file -> what writes it."""


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage: a report keeps what it makes, and looking through it takes a seventh of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@command("report")
@_uncollected()
def report(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.json")],
    out: Annotated[Path, typer.Option("-o", "--output", metavar="OUT.html|.xlsx|.md|.csv", help="File to write.")],
    library: LibraryOptions,
    lang: Annotated[Lang, typer.Option(help="Language of the document.")] = Lang.EN,
    currency: Annotated[
        str | None,
        typer.Option(
            metavar="CUR",
            help="Convert every amount at the plan's exchange rates; quoted prices and what is marked as stated stay beside.",
        ),
    ] = None,
    redact: Annotated[
        list[Redact] | None,
        typer.Option(help="Withhold every amount of money, totals too; or vendors, quotes, regions and files."),
    ] = None,
    rows: Annotated[
        Rows,
        typer.Option(help="Rows of a .csv: orders by lot, or payments by day; each adds up to the cost of its award."),
    ] = Rows.ORDERS,
) -> None:
    """Write a plan as a document: everything comes from the plan file, whatever happened to its inputs since."""
    from optimizer.report.language import Language
    from optimizer.report.source import read_source
    from optimizer.report.views import report_of

    writer = WRITERS.get(out.suffix.lower())
    if writer is None:
        expected = f"Expected one of {', '.join(WRITERS)}"
        raise InputError([Problem(str(out), f'ending "{out.suffix}"', expected)])
    source = read_source(plan, library.load())
    for name in source.changed:
        print(f"note: {name} changed since the plan was made; the report shows the plan as it was", file=sys.stderr)
    hidden = redact or ()
    shown = report_of(
        source,
        Language(lang.value),
        currency.upper() if currency else None,
        prices=Redact.PRICES not in hidden,
        vendors=Redact.VENDORS not in hidden,
    )
    writer(shown, out, rows)
