"""``--set KEY=VALUE``: change one value of a document by its dotted path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import BaseModel

from optimizer.errors import InputError, Problem, did_you_mean
from optimizer.io.document import Document, Key, KeyPath
from optimizer.io.shape import Shape
from optimizer.io.yaml_reader import read_value

_POSITION = re.compile(r"\[(\d+)\]")
"""A list position as messages write it: ``costs[0]`` is the path ``costs.0``."""


class _UnknownPathError(Exception):
    """A part of a path that names nothing; carries the words of the problem."""

    def __init__(self, found: str, known: Iterable[object], part: str = "") -> None:
        self.found = found
        self.known = [str(key) for key in known]
        self.fix = did_you_mean(part, self.known)


def with_sets(document: Document, sets: Iterable[str], model: type[BaseModel]) -> Document:
    """Return the document with every ``KEY=VALUE`` applied in order; ``null`` removes the key.

    A path runs through keys and list positions: ``sites.hall-a.power.0.kw=500``. New keys are taken where the
    schema has them or the user chooses names; the change is laid over the file, which stays as it is.

    Raises:
        InputError: Not KEY=VALUE, a value that is not YAML, or a path that names nothing; all at once.
    """
    problems: list[Problem] = []
    for text in sets:
        try:
            document = _with_set(document, text, model)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return document


def _with_set(document: Document, text: str, model: type[BaseModel]) -> Document:
    key, equals, written = text.partition("=")
    if not equals or not key.strip():
        raise InputError([Problem(f"--set {text}", "no key and value", "Expected KEY=VALUE, e.g. budget.total=2e8")])
    if not written.strip():
        raise InputError([Problem(f"--set {text}", "no value", "Expected KEY=VALUE", "null removes a limit")])
    value = _value(written, text)
    parts = tuple(_POSITION.sub(r".\1", key.strip()).split("."))
    try:
        data, path = _changed(document.data, Shape.of(model, document.data), parts, value)
    except _UnknownPathError as unknown:
        expected = "" if unknown.fix or not unknown.known else f"Expected one of {', '.join(unknown.known[:30])}"
        raise InputError([Problem(f"--set {key}", unknown.found, expected, unknown.fix)]) from None
    marks = {place: mark for place, mark in document.marks.items() if not _moved(place, path)}
    return replace(document, data=data, marks=marks, origins={**document.origins, path: f"--set {text}"})


def _value(written: str, text: str) -> object:
    try:
        return read_value(written, "")
    except InputError as error:
        raise InputError([replace(problem, location=f"--set {text}") for problem in error.problems]) from None


def _moved(place: KeyPath, path: KeyPath) -> bool:
    """Return whether a mark no longer holds: below the changed value, or beside it in a list."""
    stem = path[:-1] if isinstance(path[-1], int) else path
    return len(place) > len(stem) and place[: len(stem)] == stem or place == path


def _changed(data: object, shape: Shape, parts: tuple[str, ...], value: object) -> tuple[object, KeyPath]:
    """Return a copy of ``data`` with the value at the path changed, and the path with its real keys."""
    key = _key(data, shape, parts)
    old = _child(data, key)
    below: KeyPath = ()
    if len(parts) > 1:
        value, below = _changed(old, shape.child(key, old), parts[1:], value)
    if isinstance(data, list):
        rest = [] if value is None else [value]
        return [*data[: int(key)], *rest, *data[int(key) + 1 :]], (key, *below)
    kept = dict(data) if isinstance(data, Mapping) else {}
    kept[key] = value
    return {name: item for name, item in kept.items() if name != key or item is not None}, (key, *below)


def _child(data: object, key: Key) -> object:
    if isinstance(data, list):
        return data[int(key)]
    return data.get(key) if isinstance(data, Mapping) else None


def _key(data: object, shape: Shape, parts: tuple[str, ...]) -> Key:
    """Return the real key that the first part of a path names."""
    part = parts[0]
    if isinstance(data, list):
        return _position(data, part)
    if data is not None and not isinstance(data, Mapping):
        raise _UnknownPathError(f'"{part}" of a value that has no parts', ())
    present: dict[str, Key] = {str(name): name for name in data or {}}
    if part in present:
        return present[part]
    if part in shape.keys:
        return part
    if shape.is_map and len(parts) == 1:
        return _new_key(part, present.values())
    raise _UnknownPathError(f'there is no "{part}"', dict.fromkeys((*shape.keys, *present)), part)


def _new_key(part: str, others: Iterable[Key]) -> Key:
    """Return a new key of a table; a number when the other keys are numbers."""
    return int(part) if part.isdecimal() and any(isinstance(key, int) for key in others) else part


def _position(data: list[object], part: str) -> int:
    if part.isdecimal() and int(part) < len(data):
        return int(part)
    raise _UnknownPathError(f'there is no position "{part}"', range(len(data)))
