"""A file as plain data that knows where each of its values was written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from optimizer.errors import Problem
from optimizer.results import InputFile

Key = str | int | float | bool
"""A key of a mapping, or a position of a list."""

KeyPath = tuple[Key, ...]
"""Keys and list positions from the top of a file to a value."""

Mark = tuple[int, int]
"""Line and column, both from 1."""


def path_text(path: KeyPath) -> str:
    """Return a path as people read it: ``workloads.pretrain.precisions[0]``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


@dataclass(frozen=True, slots=True)
class Document:
    """Plain data of one file with the position of every value.

    Attributes:
        name: File name as shown in messages.
        text: Content of the file.
        data: None, bool, int, float, Decimal, str, list and dict, nested.
        marks: Path -> line and column; values behind an alias have none of their own.
        origins: Path -> what set the value instead of the file, e.g. ``--set budget.total=2e8``.
    """

    name: str
    text: str
    data: object
    marks: Mapping[KeyPath, Mark]
    origins: Mapping[KeyPath, str] = field(default_factory=dict)

    def line(self, path: KeyPath) -> int:
        """Return the line of a value, or of the nearest record around it."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.marks:
                return self.marks[path[:length]][0]
        return 1

    def at(self, path: KeyPath) -> str:
        """Return ``file:line, path``, or what set the value instead of the file."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.origins:
                return self.origins[path[:length]]
        text = path_text(path)
        return f"{self.name}:{self.line(path)}{', ' if text else ''}{text}"

    def problem(self, path: KeyPath, found: str, expected: str, fix: str = "") -> Problem:
        """Return a problem of the value at a path."""
        return Problem(self.at(path), found, expected, fix)

    def part(self, key: Key) -> Document:
        """Return the record at one key or position as a document of its own; marks keep their lines."""
        data = self.data[key]  # type: ignore[index]  # callers iterate over the keys of this container
        marks = {path[1:]: mark for path, mark in self.marks.items() if path[:1] == (key,)}
        return replace(self, data=data, marks=marks, origins={})

    def input_file(self) -> InputFile:
        """Return name, checksum and content, as a plan carries them."""
        return InputFile(path=self.name, sha256=hashlib.sha256(self.text.encode()).hexdigest(), content=self.text)
