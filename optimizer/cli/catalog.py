"""``catalog``: what the library holds, with sources."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli.options import LibraryOptions, OutputOptions, command
from optimizer.cli.output import deliver, json_of
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
    from optimizer.report.catalog import catalog_screen, record_screen

    data = library.load()
    records = {each: _records(each, data) for each in ([kind] if kind else Kind)}
    if kind is not None and name is not None:
        record = _named(kind, name, records[kind])
        deliver(output, record.model_dump_json(indent=2, by_alias=True), lambda: record_screen(record))
        return
    plain = {each.value: [_plain(record) for record in found.values()] for each, found in records.items()}
    deliver(output, json_of(plain), lambda: catalog_screen({each.value: found for each, found in records.items()}))


def _plain(record: BaseModel) -> object:
    return record.model_dump(mode="json", by_alias=True)


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
    """Return every quote of the library's ``quotes`` folders; a later folder replaces a file of the same name."""
    from optimizer.io.quotes import read_quote_files, read_quotes

    files = {file.relative_to(root): file for root in roots for file in sorted((root / "quotes").rglob("*.yaml"))}
    return read_quotes(read_quote_files(files.values())).quotes
