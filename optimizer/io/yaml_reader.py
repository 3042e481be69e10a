"""Read YAML 1.2 (core schema) into plain data with positions, safely and within bounds.

Differences to the usual Python loader, all required by the file contract:

* ``10e12`` and ``1e6`` are numbers; ``010`` is ten; ``1:30`` and ``1_000`` are text;
* only ``true`` and ``false`` are booleans: ``on``, ``off``, ``yes`` and ``no`` are text;
* dates stay text (the schema reads them), so nothing depends on a time zone;
* a key written twice is an error; tags, infinities and NaN are refused;
* size, depth and the number of values after alias expansion are bounded.

The parser's event stream is used, not its composer: no recursion, and one pass gives data and positions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import yaml

from optimizer.errors import InputError, Problem
from optimizer.io.document import Document, Key, KeyPath, Mark
from optimizer.io.shipped import shown

MAX_BYTES = 20_000_000
"""Largest file; price books are far below 1 MB."""

MAX_DEPTH = 50
"""Deepest nesting; the schema needs less than 10."""

MAX_VALUES = 1_000_000
"""Most values after alias expansion; an "alias bomb" passes it within a few lines."""

MAX_DIGITS = 400
"""Longest number; beyond it a typing error is certain, and conversion would take quadratic time."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_START = frozenset("0123456789+-.")
_EXACT_DIGITS = 15  # a binary double keeps every decimal number of so many digits

_EXPLAINED = {
    "mapping values are not allowed": 'a second ":" in one line; quote the text, or put the value on its own line',
    "could not find expected ':'": 'a key without ":" after it',
    "did not find expected key": "indentation that does not fit the lines above, or a missing quote or bracket",
    "did not find expected '-' indicator": "list entries must be indented alike",
    "found unexpected end of stream": "a quote or bracket that is never closed",
    "exceeded maximum nesting depth": f"more than {MAX_DEPTH} levels of nesting",
    "found unknown escape character": "a backslash inside double quotes; use single quotes",
}


def read_yaml_file(path: Path, name: str | None = None) -> Document:
    """Read one YAML file.

    Args:
        path: The file.
        name: How messages call it; default the path as :func:`optimizer.io.shipped.shown` gives it.

    Raises:
        InputError: It cannot be read, is too large, not UTF-8 text, or not valid YAML within the bounds.
    """
    name = name or shown(path)
    return read_yaml(read_text(path, name), name)


def read_text(path: Path, name: str) -> str:
    """Return the text of a UTF-8 file of bounded size.

    Raises:
        InputError: Missing, a folder, unreadable, too large, binary, or not UTF-8.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise _refused(name, f"{size / 1e6:.0f} MB", f"at most {MAX_BYTES / 1e6:.0f} MB")
        content = path.read_bytes()
    except FileNotFoundError:
        raise _refused(name, "there is no such file", "", "Check the name and the folder you are in") from None
    except IsADirectoryError:
        raise _refused(name, "this is a folder", "a file") from None
    except OSError as error:
        raise _refused(name, f"it cannot be read ({error.strerror})", "a readable file") from None
    return _decoded(content, name)


def read_yaml(text: str, name: str) -> Document:
    """Read YAML text; ``name`` is the file name for messages.

    Raises:
        InputError: Not valid YAML within the bounds, or empty.
    """
    builder = _Builder(name)
    try:
        for event in _events(text):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        raise InputError([_syntax_problem(error, text, name)]) from None
    except yaml.YAMLError as error:
        raise _refused(name, f"characters that no text file holds ({error.__class__.__name__})", "UTF-8 text") from None
    if not builder.documents or builder.root is None:
        raise _refused(name, "the file is empty", "key: value lines")
    return Document(name, text, builder.root, builder.marks)


def read_value(text: str, name: str) -> object:
    """Read one value as written on the command line, flow style allowed; empty is null."""
    return read_yaml(f"- {text}", name).data[0]  # type: ignore[index]  # the text above is a list


def _events(text: str) -> Iterator[yaml.Event]:
    loader = _LOADER(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


def _refused(location: str, found: str, expected: str, fix: str = "") -> InputError:
    return InputError([Problem(location, found, f"Expected {expected}" if expected else "", fix)])


def _decoded(content: bytes, name: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _refused(f"{name}:{line}", "bytes that are not UTF-8 text", "a text file saved as UTF-8") from None
    if "\0" in text:
        raise _refused(name, "binary data", "a text file")
    return text


def _syntax_problem(error: yaml.MarkedYAMLError, text: str, name: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    number = mark.line if mark else 0
    lines = text.splitlines()
    line = lines[number] if number < len(lines) else ""
    location = f"{name}:{number + 1}"
    if "\t" in line[: len(line) - len(line.lstrip())] or (mark and line[mark.column : mark.column + 1] == "\t"):
        return Problem(location, "a tab", "Expected spaces", "Indent with spaces")
    said = error.problem or "not YAML"
    words = next((words for start, words in _EXPLAINED.items() if said.startswith(start)), said)
    return Problem(location, f"this is not valid YAML: {words}", "")


class _Builder:
    """Builds data and marks from events; ``root`` is the data once all events were taken."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.root: object = None
        self.documents = 0
        self.marks: dict[KeyPath, Mark] = {}
        self._open: list[tuple[dict[Key, object] | list[object], KeyPath, str | None, int]] = []
        self._keys: list[Key | None] = []
        self._anchors: dict[str, tuple[object, int]] = {}
        self._values = 0

    def take(self, event: yaml.Event) -> None:
        """Take the next event."""
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self._start(event, {} if isinstance(event, yaml.MappingStartEvent) else [])
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self._refuse(event, 'a second document after "---"', "one document per file")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if event.tag is not None:
            raise self._refuse(event, f"the tag {event.tag}", "a value without a tag")
        try:
            value = _resolve(event.value) if event.implicit[0] else event.value
        except ValueError as error:
            raise self._refuse(event, f'"{event.value[:40]}"', str(error)) from None
        if self._awaits_key():
            self._keys[-1] = self._new_key(value, event)
            return
        self._count(1, event)
        self._remember(event, value, 1)
        self._place(value, event)

    def _start(self, event: yaml.CollectionStartEvent, container: dict[Key, object] | list[object]) -> None:
        if event.tag is not None:
            raise self._refuse(event, f"the tag {event.tag}", "a value without a tag")
        if self._awaits_key():
            raise self._refuse(event, "a list or mapping as a key", "text or a number as a key")
        if len(self._open) >= MAX_DEPTH:
            raise self._refuse(event, f"more than {MAX_DEPTH} levels of nesting", "fewer levels")
        self._count(1, event)
        path = self._place(container, event)
        self._open.append((container, path, event.anchor, self._values))
        self._keys.append(None)

    def _end(self) -> None:
        container, _, anchor, before = self._open.pop()
        self._keys.pop()
        if anchor is not None:
            self._anchors[anchor] = (container, self._values - before + 1)

    def _alias(self, event: yaml.AliasEvent) -> None:
        if event.anchor not in self._anchors or self._awaits_key():
            raise self._refuse(event, f"*{event.anchor}", f"&{event.anchor} with a whole value above it")
        value, size = self._anchors[event.anchor]
        self._count(size, event)
        self._place(value, event)

    def _remember(self, event: yaml.ScalarEvent, value: object, size: int) -> None:
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, size)

    def _place(self, value: object, event: yaml.Event) -> KeyPath:
        """Put a value where it belongs and mark it; return its path."""
        path = self._path()
        if mark := event.start_mark:
            self.marks[path] = (mark.line + 1, mark.column + 1)
        if not self._open:
            self.root = value
            return path
        container = self._open[-1][0]
        if isinstance(container, list):
            container.append(value)
        else:
            container[path[-1]] = value
            self._keys[-1] = None
        return path

    def _path(self) -> KeyPath:
        if not self._open:
            return ()
        container, path, _, _ = self._open[-1]
        key = len(container) if isinstance(container, list) else self._keys[-1]
        return (*path, key)  # type: ignore[arg-type]  # a mapping has a key before it gets a value

    def _awaits_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1][0], dict) and self._keys[-1] is None

    def _new_key(self, value: object, event: yaml.ScalarEvent) -> Key:
        if isinstance(value, (bool, Decimal)) or not isinstance(value, (str, int, float)):
            raise self._refuse(event, f"the key {event.value}", "text or a number as a key")
        if value in self._open[-1][0]:
            digits = re.fullmatch(r"\d{3}", event.value)
            fix = "Write numbers without thousands separators, e.g. 8000000 or 8e6" if digits else "Remove one of them"
            raise self._refuse(event, f'the key "{event.value}" a second time', "each key once", fix)
        return value

    def _count(self, values: int, event: yaml.Event) -> None:
        self._values += values
        if self._values > MAX_VALUES:
            raise self._refuse(event, f"more than {MAX_VALUES:,} values once aliases are expanded", "fewer values")

    def _refuse(self, event: yaml.Event, found: str, expected: str, fix: str = "") -> InputError:
        line = event.start_mark.line + 1 if event.start_mark else 1
        return _refused(f"{self.name}:{line}", found, expected, fix)


def _resolve(text: str) -> bool | int | float | Decimal | str | None:
    """Return the value of a plain scalar by the core schema; ValueError says what is expected instead."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_START:
        return text
    if len(text) > MAX_DIGITS and (_INTEGER.fullmatch(text) or _FLOAT.fullmatch(text)):
        raise ValueError(f"a number of at most {MAX_DIGITS} digits")
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return _number(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _NOT_FINITE.fullmatch(text):
        raise ValueError("a finite number, or null for unknown")
    return text


def _number(text: str) -> float | Decimal:
    """Return a float where it keeps every digit as written, else a Decimal."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number below 1e308")
    if number and len(text) <= _EXACT_DIGITS:
        return number
    exact = Decimal(text)
    return number if Decimal(repr(number)) == exact else exact
