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
from optimizer.io.validate import Record, checked
from optimizer.io.yaml_reader import read_yaml_file
from optimizer.results import InputFile
from optimizer.schema.architecture import Architecture
from optimizer.schema.platform import Platform


@dataclass(frozen=True)
class Library:
    """Records by id, read from folders when first asked for.

    Attributes:
        roots: Folders that hold ``models/`` and ``quotes/``; a file in a later one replaces the file of the same id.
    """

    roots: tuple[Path, ...]

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
        files = [root / "models" / "bands.yaml" for root in self.roots]
        path = next((file for file in reversed(files) if file.is_file()), files[0])
        record, problems = checked(Bands, read_yaml_file(path))
        if record is None:
            raise InputError(problems)
        return record

    def inputs(self, platforms: Iterable[str] = (), architectures: Iterable[str] = ()) -> tuple[InputFile, ...]:
        """Return the files behind some records, as a plan carries them."""
        wanted = (("platforms", platforms), ("architectures", architectures))
        return tuple(self._documents[kind][name].input_file() for kind, names in wanted for name in sorted(names))

    @cached_property
    def _documents(self) -> Mapping[str, Mapping[str, Document]]:
        return {kind: self._read(kind) for kind in ("platforms", "architectures", "software")}

    def _read(self, kind: str) -> Mapping[str, Document]:
        files = [file for root in self.roots for file in sorted((root / "models" / kind).glob("*.yaml"))]
        chosen = {file.stem: file for file in files}  # later roots win
        return {name: read_yaml_file(file) for name, file in sorted(chosen.items())}


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
