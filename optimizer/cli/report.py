"""``report``: documents of a plan, by the ending of the output file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli.options import LibraryOptions, command
from optimizer.cli.output import write_bytes, write_file
from optimizer.errors import InputError, Problem

if TYPE_CHECKING:
    from optimizer.report.document import Document
    from optimizer.report.language import Language
    from optimizer.report.source import Source


def _html(document: Document, source: Source, language: Language, out: Path) -> None:
    from optimizer.report.html import page

    write_file(out, page(document, language))


def _xlsx(document: Document, source: Source, language: Language, out: Path) -> None:
    from optimizer.report.workbook import workbook

    write_bytes(out, workbook(document, source, language))


WRITERS: dict[str, Callable[[Document, Source, Language, Path], None]] = {".html": _html, ".xlsx": _xlsx}
"""Ending of the output file -> what writes it from the document, the plan with its inputs, and the language."""


@command("report")
def report(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.json")],
    out: Annotated[Path, typer.Option("-o", "--output", metavar="OUT.html|.xlsx", help="File to write.")],
    library: LibraryOptions,
) -> None:
    """Write a plan as a document: everything comes from the plan file, whatever happened to its inputs since."""
    from optimizer.report.language import Language
    from optimizer.report.memo import document
    from optimizer.report.source import read_source

    writer = WRITERS.get(out.suffix.lower())
    if writer is None:
        expected = f"Expected one of {', '.join(WRITERS)}"
        raise InputError([Problem(str(out), f'ending "{out.suffix}"', expected)])
    source = read_source(plan, library.load())
    writer(document(source), source, Language(), out)
