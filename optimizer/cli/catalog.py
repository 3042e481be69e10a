"""``catalog``: what the library holds, with sources."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli.options import LibraryOptions, OutputOptions, command
from optimizer.cli.output import deliver
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


@command("catalog")
def catalog(
    library: LibraryOptions,
    output: OutputOptions,
    kind: Annotated[Kind | None, typer.Argument(metavar="[platforms|architectures|quotes]")] = None,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]")] = None,
) -> None:
    """List platforms, architectures or quotes, or show one of them with its sources."""
    from optimizer.io.json_text import record_text
    from optimizer.report.catalog import catalog_screen, record_screen

    data = library.load()
    records = {each: _records(each, data) for each in ([kind] if kind else Kind)}
    if kind is not None and name is not None:
        record = _named(kind, name, records[kind])
        deliver(output, record_text(record), lambda: record_screen(record))
        return
    lists = {each.value: list(found.values()) for each, found in records.items()}
    deliver(output, record_text(lists), lambda: catalog_screen({each.value: found for each, found in records.items()}))


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
