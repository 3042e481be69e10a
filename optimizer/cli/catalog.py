"""``catalog``: what the library holds, with sources; ``catalog add-architecture`` adds a model to it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from optimizer.cli.add_architecture import ADD_ARCHITECTURE, adding
from optimizer.cli.options import LibraryOptions, OutputOptions, app, command
from optimizer.cli.output import deliver, write_file
from optimizer.errors import InputError, Problem, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    from optimizer.io.library import Library


class Kind(StrEnum):
    """What can be listed."""

    PLATFORMS = "platforms"
    ARCHITECTURES = "architectures"
    QUOTES = "quotes"


class _WithAddArchitecture(TyperCommand):
    """``catalog [KIND] [NAME]``, and ``catalog add-architecture …`` with arguments and help of its own."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        """Hand the rest of the line to ``add-architecture`` when that is what follows."""
        if args[:1] == [ADD_ARCHITECTURE]:
            return get_command(adding).make_context(f"{info_name} {args[0]}", args[1:], *rest, **extra)
        return super().make_context(info_name, args, *rest, **extra)


@command("catalog")
def catalog(
    library: LibraryOptions,
    output: OutputOptions,
    kind: Annotated[Kind | None, typer.Argument(metavar="[platforms|architectures|quotes]")] = None,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]")] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write a page with all options side by side.")
    ] = None,
) -> None:
    """List platforms, architectures or quotes, or show one of them with its sources.

    clusterbuy catalog add-architecture CONFIG.json -o FILE.yaml makes an architecture of a model's configuration file.
    """
    from optimizer.io.json_text import record_text
    from optimizer.report.catalog import catalog_screen, record_screen

    data = library.load()
    if markdown is not None:
        write_file(markdown, _page(data))
    records = {each: _records(each, data) for each in ([kind] if kind else Kind)}
    if kind is not None and name is not None:
        record = _named(kind, name, records[kind])
        deliver(output, record_text(record), lambda: record_screen(record))
        return
    lists = {each.value: list(found.values()) for each, found in records.items()}
    if markdown is None or output.json is not None:
        screen = {each.value: found for each, found in records.items()}
        deliver(output, record_text(lists), lambda: catalog_screen(screen))


app.registered_commands[-1].cls = _WithAddArchitecture  # the decorator knows plain commands only


def _page(library: Library) -> str:
    from optimizer.io.reference_prices import reference_prices
    from optimizer.report.catalog_page import catalogue_page

    return catalogue_page(library.platforms, library.architectures, reference_prices(library.roots))


def _named(kind: Kind, name: str, records: Mapping[str, BaseModel]) -> BaseModel:
    if name in records:
        return records[name]
    fix = f"{did_you_mean(name, list(records))} ({len(records)} {kind})".strip()
    raise InputError([Problem("clusterbuy catalog", f'no {kind.removesuffix("s")} named "{name}"', "", fix)])


def _records(kind: Kind, library: Library) -> Mapping[str, BaseModel]:
    if kind is Kind.PLATFORMS:
        return library.platforms
    if kind is Kind.ARCHITECTURES:
        return library.architectures
    return _quotes(library.roots)


def _quotes(roots: tuple[Path, ...]) -> Mapping[str, BaseModel]:
    """Return the quotes of every folder of price books; an id used in two folders is shown with its folder."""
    from optimizer.io.quotes import read_quote_files, read_quotes

    files = {file.relative_to(root): file for root in roots for file in sorted((root / "quotes").rglob("*.yaml"))}
    quotes: dict[str, BaseModel] = {}
    for folder in dict.fromkeys(name.parent for name in files):
        book = read_quotes(read_quote_files(file for name, file in files.items() if name.parent == folder))
        quotes |= {(f"{folder}/{name}" if name in quotes else name): quote for name, quote in book.quotes.items()}
    return quotes
