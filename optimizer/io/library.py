"""The data library: platforms, architectures, software cards and bands, shipped or extended by folders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from optimizer.engine.bands import Bands
from optimizer.engine.software import Software
from optimizer.errors import InputError, Problem
from optimizer.io.document import Document
from optimizer.io.shipped import shipped
from optimizer.io.validate import Record, checked, validated
from optimizer.io.yaml_reader import read_yaml_file
from optimizer.results import InputFile
from optimizer.schema.architecture import Architecture
from optimizer.schema.platform import Platform
from optimizer.schema.ranges import Ranges

_KINDS = ("platforms", "architectures", "software")
"""Folders of ``models/`` with one record per file."""


@dataclass(frozen=True)
class Library:
    """Records by id, read from folders when first asked for.

    Attributes:
        roots: Folders that hold ``models/`` and ``quotes/``; a file in a later one replaces the file of the same id.
        pinned: Files as a plan carries them; they replace the files of the folders.
    """

    roots: tuple[Path, ...]
    pinned: tuple[Document, ...] = ()

    @classmethod
    def shipped(cls) -> Library:
        """Return the library that comes with the program."""
        return cls((shipped("models").parent,))

    @classmethod
    def at(cls, *folders: str | Path) -> Library:
        """Return the shipped library extended by folders laid out alike (``models/platforms/…``); later ones win.

        Raises:
            InputError: A folder does not exist, or holds neither ``models`` nor ``quotes``.
        """
        roots = tuple(Path(folder) for folder in folders)
        problems = [
            Problem(str(root), "no data folder", "Expected a folder with models/ or quotes/ in it")
            for root in roots
            if not any((root / part).is_dir() for part in ("models", "quotes"))
        ]
        if problems:
            raise InputError(problems)
        return cls((*cls.shipped().roots, *roots))

    @cached_property
    def platforms(self) -> Mapping[str, Platform]:
        """Hardware options by id; InputError with every problem of every file."""
        return _records(Platform, self._documents["platforms"])

    @cached_property
    def architectures(self) -> Mapping[str, Architecture]:
        """Models to train by id; InputError with every problem of every file."""
        return _records(Architecture, self._documents["architectures"])

    @cached_property
    def software(self) -> Mapping[str, Software]:
        """Training stacks by id; InputError with every problem of every file."""
        return _records(Software, self._documents["software"])

    @cached_property
    def bands(self) -> Bands:
        """How far reality may be from a prediction; InputError when the file is missing or wrong."""
        record, problems = checked(Bands, self._bands_document)
        if record is None:
            raise InputError(problems)
        return record

    @cached_property
    def ranges(self) -> Ranges:
        """How far uncertain inputs may move; InputError when the file is missing or wrong."""
        files = [root / "models" / "ranges.yaml" for root in self.roots]
        path = next((file for file in reversed(files) if file.is_file()), files[0])
        return validated(Ranges, read_yaml_file(path))

    def inputs(self, platforms: Iterable[str] = (), architectures: Iterable[str] = ()) -> tuple[InputFile, ...]:
        """Return the files behind some records, with the stacks and bands they are timed with, as a plan carries them."""
        cards = sorted(platforms)
        named = {str(self.platforms[name].efficiency.get("software")) for name in cards}
        wanted = (
            ("platforms", cards),
            ("architectures", sorted(architectures)),
            ("software", sorted(named & self._documents["software"].keys())),
        )
        documents = [self._documents[kind][name] for kind, names in wanted for name in names]
        return tuple(document.input_file() for document in (*documents, self._bands_document))

    def pin(self, documents: Iterable[Document]) -> Library:
        """Return the library with files as a plan carries them, whatever the folders hold now."""
        return Library(self.roots, tuple(documents))

    @cached_property
    def _bands_document(self) -> Document:
        files = [root / "models" / "bands.yaml" for root in self.roots]
        path = next((file for file in reversed(files) if file.is_file()), files[0])
        return _pinned(self.pinned, "models").get("bands") or read_yaml_file(path)

    @cached_property
    def _documents(self) -> Mapping[str, Mapping[str, Document]]:
        return {kind: self._read(kind) for kind in _KINDS}

    def _read(self, kind: str) -> Mapping[str, Document]:
        files = [file for root in self.roots for file in sorted((root / "models" / kind).glob("*.yaml"))]
        chosen = {file.stem: file for file in files}  # later roots win
        return {name: read_yaml_file(file) for name, file in sorted(chosen.items())} | _pinned(self.pinned, kind)


def is_library_file(name: str) -> bool:
    """Return whether a file name is that of a library record: ``models/platforms/…``, ``models/bands.yaml``."""
    path = Path(name)
    return path.parent.name in _KINDS or (path.parent.name == "models" and path.stem == "bands")


def _pinned(documents: Iterable[Document], folder: str) -> dict[str, Document]:
    """Return the pinned files that lie in a folder, by name without ending."""
    return {Path(doc.name).stem: doc for doc in documents if Path(doc.name).parent.name == folder}


def _records(model: type[Record], documents: Mapping[str, Document]) -> Mapping[str, Record]:
    records: dict[str, Record] = {}
    problems: list[Problem] = []
    for name, document in documents.items():
        record, wrong = checked(model, document)
        problems += wrong
        if record is not None:
            records[name] = record
            problems += _misnamed(name, document)
    if problems:
        raise InputError(problems)
    return records


def _misnamed(name: str, document: Document) -> list[Problem]:
    given = document.data["id"] if isinstance(document.data, dict) else None
    if given == name:
        return []
    return [document.problem(("id",), f'"{given}" in the file {name}.yaml', f'Expected "{name}", the name of the file')]
