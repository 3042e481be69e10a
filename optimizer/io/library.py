"""The data library: platforms, architectures, software cards and bands, shipped or extended by folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from optimizer.engine.bands import Bands
from optimizer.engine.software import Software
from optimizer.errors import InputError, Problem, did_you_mean
from optimizer.io.document import Document
from optimizer.io.shipped import shipped
from optimizer.io.validate import Record, checked, validated
from optimizer.io.yaml_reader import read_yaml_file
from optimizer.results import InputFile
from optimizer.schema.architecture import Architecture
from optimizer.schema.platform import Platform, PlatformOverlay
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
        """Hardware options by id, with their overlays; InputError with every problem of every file."""
        return _overlaid(_records(Platform, self._documents["platforms"]), self._overlays)

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
        overlays = [document for document in self._overlays if _target(document) in cards]
        return tuple(document.input_file() for document in (*documents, *overlays, self._bands_document))

    def pin(self, documents: Iterable[Document]) -> Library:
        """Return the library with files as a plan carries them, whatever the folders hold now."""
        return Library(self.roots, tuple(documents))

    @cached_property
    def _bands_document(self) -> Document:
        files = [root / "models" / "bands.yaml" for root in self.roots]
        path = next((file for file in reversed(files) if file.is_file()), files[0])
        pinned = (document for document in self.pinned if is_library_file(document.name) and _stem(document) == "bands")
        return next(pinned, None) or read_yaml_file(path)

    @cached_property
    def _documents(self) -> Mapping[str, Mapping[str, Document]]:
        """Cards by kind and name; one in a later folder replaces that of the same name, a pinned one all of them."""
        return {
            kind: {_stem(file): file for file in files if _target(file) is None} for kind, files in self._files.items()
        }

    @cached_property
    def _overlays(self) -> tuple[Document, ...]:
        """Overlays of platforms in the order they apply; those before a card of the platform are for the card it replaced."""
        found: dict[str, list[Document]] = {}
        for file in self._files["platforms"]:
            target = _target(file)
            if target is None:
                found.pop(_stem(file), None)
            else:
                found.setdefault(target, []).append(file)
        return tuple(overlay for overlays in found.values() for overlay in overlays)

    @cached_property
    def _files(self) -> Mapping[str, tuple[Document, ...]]:
        """Files by kind, folder by folder, then the pinned ones; cards before overlays."""
        return {kind: tuple(file for folder in self._folders(kind) for file in _cards_first(folder)) for kind in _KINDS}

    def _folders(self, kind: str) -> Iterator[list[Document]]:
        for root in self.roots:
            yield [read_yaml_file(file) for file in sorted((root / "models" / kind).glob("*.yaml"))]
        yield [document for document in self.pinned if Path(document.name).parent.name == kind]


def is_library_file(name: str) -> bool:
    """Return whether a file name is that of a library record: ``models/platforms/…``, ``models/bands.yaml``."""
    path = Path(name)
    return path.parent.name in _KINDS or (path.parent.name == "models" and path.stem == "bands")


def _stem(document: Document) -> str:
    return Path(document.name).stem


def _cards_first(documents: Iterable[Document]) -> list[Document]:
    return sorted(documents, key=lambda document: _target(document) is not None)


def _target(document: Document) -> str | None:
    """Return the platform an overlay is for, None for other files."""
    data = document.data
    return str(data["overlay_of"]) if isinstance(data, dict) and "overlay_of" in data else None


def _overlaid(platforms: Mapping[str, Platform], overlays: Iterable[Document]) -> Mapping[str, Platform]:
    changed = dict(platforms)
    problems: list[Problem] = []
    for document in overlays:
        overlay, wrong = checked(PlatformOverlay, document)
        problems += wrong
        if overlay is not None and overlay.overlay_of not in platforms:
            fix = did_you_mean(overlay.overlay_of, list(platforms))
            found = f'no platform named "{overlay.overlay_of}"'
            problems.append(document.problem(("overlay_of",), found, "Expected the id of a platform", fix))
        elif overlay is not None:
            changed[overlay.overlay_of] = overlay.over(changed[overlay.overlay_of])
    if problems:
        raise InputError(problems)
    return changed


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
