"""``quotes``: vendors' sheets into quote records and back, blank bid sheets, offers side by side."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli.options import LibraryOptions, OutputOptions, app, command
from optimizer.cli.output import deliver, write_file
from optimizer.errors import InputError, Problem

if TYPE_CHECKING:
    from optimizer.io.importing.mapping import Mapping
    from optimizer.io.importing.notes import Question
    from optimizer.io.importing.run import Import, MappingOf

quotes = typer.Typer(name="quotes", rich_markup_mode=None, no_args_is_help=True)
app.add_typer(quotes, help="Vendors' sheets to quote records and back: import, show, level, template.")

OPEN_QUESTIONS = 2
"""Exit code of an import that has open questions; its output is written all the same."""


def _day(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f'"{text}" is not a calendar date such as 2026-11-30') from None


Files = Annotated[list[Path], typer.Argument(metavar="FILE...")]
Today = Annotated[
    dt.date | None,
    typer.Option("--today", parser=_day, metavar="DATE", help="Day validity is judged on; default: today."),
]


@command("import", quotes)
def import_(
    files: Files,
    library: LibraryOptions,
    output: OutputOptions,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OUT.yaml", help="Quote file to write.")],
    mapping: Annotated[
        Path | None, typer.Option("--mapping", metavar="M.yaml", help="Mapping to use instead of the saved ones.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="R.md", help="Write what was understood as Markdown.")
    ] = None,
    today: Today = None,
) -> int:
    """Read vendors' sheets (CSV, TSV, XLSX, XLS, ODS, YAML) into quote records; print what was understood."""
    from optimizer.io.importing.exporting import write_quotes
    from optimizer.io.json_text import json_text
    from optimizer.report.quotes import import_markdown, import_screen

    result = _imported(files, out, mapping, library, today or dt.date.today(), ask=_asks(output))  # noqa: DTZ011 - the user's own day
    write_quotes(out, result.quotes, _comment(files))
    if report is not None:
        write_file(report, import_markdown(result))
    deliver(output, json_text(result) if output.json else "", lambda: import_screen(result))
    if not result.finished:
        _tell_open(result, mapping, out)
    return 0 if result.finished else OPEN_QUESTIONS


@command("show", quotes)
def show(
    files: Files,
    library: LibraryOptions,
    output: OutputOptions,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="OUT", help="Write them as .yaml, .csv, .xlsx or .md.")
    ] = None,
    today: Today = None,
) -> None:
    """Print quote records, or write them as YAML, CSV, XLSX (all three read back unchanged) or Markdown."""
    from optimizer.io.importing.exporting import write_quotes
    from optimizer.io.importing.mapping import Mapping
    from optimizer.io.importing.run import import_files
    from optimizer.io.json_text import json_text
    from optimizer.report.quotes import import_markdown, quotes_screen

    day = today or dt.date.today()  # noqa: DTZ011 - the user's own day
    result = import_files(files, lambda _: Mapping(), library.load().platforms, day)
    if out is not None and out.suffix.lower() == ".md":
        write_file(out, import_markdown(result))
    elif out is not None:
        write_quotes(out, result.quotes)
    deliver(output, json_text(result) if output.json else "", lambda: quotes_screen(result.quotes, result.states))


@command("level", quotes)
def level(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO")],
    library: LibraryOptions,
    output: OutputOptions,
    platform: Annotated[str, typer.Option(help="Hardware to compare, an id of the library.")],
    units: Annotated[int, typer.Option(min=1, help="Purchase units ordered.")],
) -> None:
    """Offers of several vendors on one basis: per node, net, one currency, delivered and supported for the horizon."""
    from optimizer.analysis.levelling import Basis
    from optimizer.analysis.levelling import level as levelled
    from optimizer.errors import did_you_mean
    from optimizer.io.json_text import json_text, rounded
    from optimizer.io.scenario import load_scenario
    from optimizer.report.quotes import levelling_screen

    data = library.load()
    loaded = load_scenario(scenario, [], data)
    if platform not in data.platforms:
        raise InputError(
            [Problem("--platform", f'no platform named "{platform}"', "", did_you_mean(platform, list(data.platforms)))]
        )
    question = loaded.scenario
    basis = Basis(
        data.platforms[platform], units, question.currency, question.horizon_months, question.today, question.fx
    )
    result = levelled(tuple(loaded.quotes.values()), basis)
    deliver(output, json_text(rounded(result, basis.currency)), lambda: levelling_screen(result))


@command("template", quotes)
def template(
    library: LibraryOptions,
    output: OutputOptions,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="BID.xlsx|.csv", help="Blank bid sheet to write.")],
) -> None:
    """Write a blank bid sheet for vendors; filled in, it imports without a mapping."""
    from rich.text import Text

    from optimizer.cli.output import json_of
    from optimizer.io.importing.template import write_template

    write_template(out, sorted(library.load().platforms))
    deliver(
        output,
        json_of({"written": str(out)}),
        lambda: Text(f"{out}: send it to vendors, then: clusterbuy quotes import {out} -o quotes.yaml"),
    )


def _imported(
    files: list[Path], out: Path, mapping: Path | None, library: LibraryOptions, today: dt.date, *, ask: bool
) -> Import:
    """Read the files; on a terminal ask what is open, save the answers with the vendor, and read again."""
    from optimizer.io.importing.run import import_files

    platforms = library.load().platforms
    mapping_of = _mappings(mapping, out.parent)
    result = import_files(files, mapping_of, platforms, today)
    if (
        ask
        and any(question.key for question in result.questions)
        and _answered(result, mapping, out.parent, mapping_of)
    ):
        result = import_files(files, _mappings(mapping, out.parent), platforms, today)
    return result


def _mappings(given: Path | None, folder: Path) -> MappingOf:
    """Return what gives the mapping of a vendor: the one of ``--mapping``, else the one saved beside the output."""
    from optimizer.io.importing.mapping import Mapping, mapping_path, read_mapping

    fixed = read_mapping(given) if given is not None and given.exists() else None
    if given is not None and fixed is None:
        raise InputError([Problem(str(given), "there is no such file", "", "Leave --mapping out to start without one")])
    known: dict[str, Mapping] = {}

    def of(vendor: str) -> Mapping:
        path = mapping_path(folder, vendor)
        if vendor not in known:
            known[vendor] = fixed or (read_mapping(path) if path.exists() else Mapping())
        return known[vendor]

    return of


def _asks(output: OutputOptions) -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and not output.quiet and output.json != "-"


def _answered(result: Import, given: Path | None, folder: Path, mapping_of: MappingOf) -> bool:
    """Ask the open questions of one vendor's files, save the answers, and return whether there were any."""
    from optimizer.io.importing.mapping import mapping_path

    answers = {question.key: text for question in result.questions if question.key and (text := _ask(question))}
    if not answers:
        return False
    vendor = result.quotes[0].vendor
    _save(given or mapping_path(folder, vendor), mapping_of(vendor), answers)
    return True


def _ask(question: Question) -> str:
    choices = f" [{' | '.join(question.options)}]" if question.options else ""
    return str(
        typer.prompt(
            f"{question.location}: {question.question}{choices} (empty: leave open)", default="", show_default=False
        )
    )


def _save(path: Path, mapping: Mapping, answers: dict[str, str]) -> None:
    from optimizer.io.importing.answers import with_answers
    from optimizer.io.importing.yaml_text import mapping_yaml, written

    path.parent.mkdir(parents=True, exist_ok=True)
    changed = with_answers(mapping, answers)
    write_file(path, mapping_yaml(written(changed), "How this vendor's sheets are read; answers of a person."))


def _tell_open(result: Import, given: Path | None, out: Path) -> None:
    """Say on stderr how to answer; start a mapping with the open questions when there is none yet."""
    from optimizer.io.importing.answers import blank_mapping
    from optimizer.io.importing.mapping import mapping_path

    count = sum(question.to == "buyer" for question in result.questions)
    path = given or mapping_path(out.parent, result.quotes[0].vendor)
    if given is None and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, blank_mapping(result.quotes[0].vendor, result.questions))
    print(
        f"{count} open questions: answer them in {path} and import again; {out} is written without the answers",
        file=sys.stderr,
    )


def _comment(files: list[Path]) -> str:
    names = ", ".join(path.name for path in files)
    return f"Imported from {names}.\nlines: every line with the cell of each value; offers: what plans can use."
