"""Plain data -> frozen records, every problem of a file at once and in plain words."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from optimizer.errors import InputError, Problem, did_you_mean
from optimizer.io.document import Document, Key, KeyPath
from optimizer.io.shape import Shape

Record = TypeVar("Record", bound=BaseModel)

_RECORD = "a record of key: value lines"
_DATE = "a calendar date such as 2027-03-31"
_WHOLE = "a whole number"
_EXPECTED = {
    "bool_type": "true or false", "bool_parsing": "true or false",
    "int_type": _WHOLE, "int_parsing": _WHOLE, "int_from_float": _WHOLE, "int_parsing_size": "a smaller whole number",
    "float_type": "a number", "float_parsing": "a number",
    "string_type": "text", "string_too_short": "text that is not empty",
    "list_type": "a list", "tuple_type": "a list",
    "dict_type": _RECORD, "model_type": _RECORD, "model_attributes_type": _RECORD, "invalid_key": "text as keys",
    "greater_than_equal": "{ge} or more", "greater_than": "more than {gt}",
    "less_than_equal": "{le} or less", "less_than": "less than {lt}",
    "too_short": "at least {min_length} entries", "too_long": "at most {max_length} entries",
}  # fmt: skip
_PATTERNS = {
    "^[A-Z]{3}$": "a currency code such as USD",
    "^[a-z0-9]+(-[a-z0-9]+)*$": "an id of small letters, digits and single hyphens, e.g. b200-hgx",
    "^[A-D](/[A-D])?$": "A, B, C or D",
}
_NO_UNION_NOISE = {"missing", "invalid_key"}
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_THOUSANDS = re.compile(r"0|\d{3}(\.\d+)?")
_QUOTED = re.compile(r"'([^']*)'")


def validated(model: type[Record], document: Document) -> Record:
    """Return the record a document describes.

    Raises:
        InputError: With every problem found, each with file, line and path.
    """
    record, problems = checked(model, document)
    if record is None:
        raise InputError(problems)
    return record


def checked(model: type[Record], document: Document) -> tuple[Record | None, tuple[Problem, ...]]:
    """Return the record and no problems, or None and every problem found."""
    problems = list(_mixed_keys(document, document.data, ()))
    try:
        record = model.model_validate(document.data)
        problems += _coerced(document, document.data, record, ())
    except ValidationError as error:
        return None, (*problems, *_problems(model, document, error, keys_told=bool(problems)))
    except TypeError:  # the schema sorts tables by key
        return None, tuple(problems)
    return (None, tuple(problems)) if problems else (record, ())


def _mixed_keys(document: Document, data: object, path: KeyPath) -> Iterator[Problem]:
    """Find records that mix numbers and text as keys: never right, and not sortable."""
    if isinstance(data, Mapping):
        yield from _mixed(document, data, path)
        for key, value in data.items():
            yield from _mixed_keys(document, value, (*path, key))
    elif isinstance(data, list):
        for position, value in enumerate(data):
            yield from _mixed_keys(document, value, (*path, position))


def _mixed(document: Document, data: Mapping[Key, object], path: KeyPath) -> Iterator[Problem]:
    names: list[Key] = [key for key in data if isinstance(key, str)]
    numbers: list[Key] = [key for key in data if not isinstance(key, str)]
    if names and numbers:
        parts = [key for key in numbers if data[key] is None and _THOUSANDS.fullmatch(str(key))]
        few, many = (parts, names) if parts else sorted((numbers, names), key=len)
        kind = "names" if many is names else "numbers"
        fix = "Write numbers without thousands separators, e.g. 8000000 or 8e6" if parts else ""
        yield document.problem(path, f'the key "{few[0]}" among {kind}', f"Expected {kind} only", fix)


def _coerced(document: Document, data: object, record: object, path: KeyPath) -> Iterator[Problem]:
    """Find values read as something they were not written as: ``"12"``, ``yes`` for true, 5 for a date."""
    if isinstance(record, BaseModel) and isinstance(data, Mapping):
        for name, info in type(record).model_fields.items():
            key = info.alias or name
            if key in data:
                yield from _coerced(document, data[key], getattr(record, name), (*path, key))
    elif isinstance(record, Mapping) and isinstance(data, Mapping):
        if len(record) < len(data):
            yield document.problem(path, "two keys that mean the same", "Expected each key once")
        for written, value, part in paired(data, record):
            yield from _coerced(document, value, part, (*path, written))
    elif isinstance(record, tuple) and isinstance(data, list):
        for position, (value, part) in enumerate(zip(data, record, strict=True)):
            yield from _coerced(document, value, part, (*path, position))
    elif expected := _misread(data, record):
        yield document.problem(path, _found(data), f"Expected {expected}")


def paired(data: Mapping[Key, object], record: Mapping[Any, object]) -> Iterator[tuple[Key, object, object]]:
    """Yield each key as written with the value written and the value read; a table may be read in another order."""
    read = {str(key): value for key, value in record.items()}
    for key, value in data.items():
        yield key, value, read.get(str(key))


def _misread(data: object, value: object) -> str:
    """Return what should have been written, or an empty string when the value is what was written."""
    if isinstance(value, dt.date):
        return "" if isinstance(data, str) and _ISO_DATE.fullmatch(data) else _DATE
    if isinstance(value, bool):
        return "" if isinstance(data, bool) else "true or false"
    if isinstance(value, (int, float, Decimal)) and isinstance(data, (str, bool)):
        return "a number without quotes" if isinstance(data, str) else "a number"
    return ""


def _problems(
    model: type[BaseModel], document: Document, error: ValidationError, *, keys_told: bool
) -> Iterator[Problem]:
    """Turn errors into problems in the order of the file; of a union only the branch that got furthest speaks."""
    shape = Shape.of(model, document.data)
    errors = [item for item in error.errors(include_url=False) if not (keys_told and item["type"] == "invalid_key")]
    located = [(*_data_path(details, document.data), details) for details in errors]
    groups: dict[tuple[object, ...], list[tuple[KeyPath, ErrorDetails]]] = {}
    for number, (path, union, details) in enumerate(sorted(located, key=lambda item: document.line(item[0]))):
        groups.setdefault((number,) if union is None else ("union", *union), []).append((path, details))
    for group in groups.values():
        yield _problem(document, shape, *group[0]) if len(group) == 1 else _union_problem(document, shape, group)


def _data_path(details: ErrorDetails, data: object) -> tuple[KeyPath, KeyPath | None]:
    """Return the path in the data, and the path of the union whose branch failed (None: no union).

    The location of an error also holds names of union branches and ``[key]``; they are no keys of the data.
    """
    path: list[str | int] = []
    union: KeyPath | None = None
    last = len(details["loc"]) - 1
    for position, part in enumerate(details["loc"]):
        known = isinstance(data, Mapping) and part in data or isinstance(data, list) and isinstance(part, int)
        if known:
            path.append(part)
            data = _below(data, part)
        elif part != "[key]" and not (position == last and details["type"] == "missing") and not _is_tag(part, data):
            union = union if union is not None else tuple(path)
    return tuple(path), union


def _below(data: Any, part: str | int) -> object:
    return data[part] if isinstance(data, Mapping) or part < len(data) else None  # type: ignore[operator]


def _is_tag(part: str | int, data: object) -> bool:
    """Return whether a part names the branch that the record itself chose (``type`` or ``kind``)."""
    return isinstance(data, Mapping) and part in (data.get("type"), data.get("kind"))


def _union_problem(document: Document, shape: Shape, group: list[tuple[KeyPath, ErrorDetails]]) -> Problem:
    """One problem for the failed branches of a union: the deepest one, or all expectations joined."""
    told = [item for item in group if item[1]["type"] not in _NO_UNION_NOISE] or group
    depth = max(len(path) for path, _ in told)
    deepest = [item for item in told if len(item[0]) == depth]
    first = _problem(document, shape, *deepest[0])
    if first.expected == "":
        return first
    expected = [_expected(details).removeprefix("one of ") for _, details in deepest]
    joined = " or ".join(dict.fromkeys(filter(None, expected)))
    return Problem(first.location, first.found, f"Expected {joined}" if joined else first.expected, first.fix)


def _problem(document: Document, shape: Shape, path: KeyPath, details: ErrorDetails) -> Problem:
    kind = details["type"]
    if kind == "missing":
        return _missing(document, shape, path, str(details["loc"][-1]))
    if kind == "extra_forbidden":
        return _unknown_key(document, shape, path)
    if kind.startswith("union_tag"):
        return _unknown_type(document, shape, path, details)
    if kind == "value_error":
        return document.problem(path, _said(details), "")
    expected = _expected(details)
    return document.problem(path, _found(details["input"]), f"Expected {expected}", _fix(details))


def _missing(document: Document, shape: Shape, path: KeyPath, key: str) -> Problem:
    return document.problem(path, f"{key} is missing", shape.at(path, document.data).description(key))


def _unknown_key(document: Document, shape: Shape, path: KeyPath) -> Problem:
    keys = shape.at(path[:-1], document.data).keys
    suggestion = did_you_mean(str(path[-1]).lower(), keys)
    expected = "" if suggestion else f"Expected one of {', '.join(keys)}"
    return document.problem(path, f'unknown key "{path[-1]}"', expected, suggestion)


def _unknown_type(document: Document, shape: Shape, path: KeyPath, details: ErrorDetails) -> Problem:
    context = details["ctx"]
    key = context["discriminator"].strip("'")
    choices = shape.at((*path, key), document.data).choices
    found = _found(context["tag"]) if "tag" in context else f"{key} is missing"
    fix = did_you_mean(str(context.get("tag", "")), choices)
    return document.problem((*path, key), found, f"Expected one of {', '.join(choices)}", fix)


def _said(details: ErrorDetails) -> str:
    """Return the sentence a validator raised; ``is not a number`` gets the value in front."""
    text = str(details.get("ctx", {}).get("error", details["msg"]))
    return f"{_found(details['input'])} {text}" if text.startswith("is ") else text


def _expected(details: ErrorDetails) -> str:
    kind, context = details["type"], details.get("ctx", {})
    if kind in ("literal_error", "enum"):
        return f"one of {', '.join(_choices(details))}"
    if kind == "string_pattern_mismatch":
        return _PATTERNS.get(context["pattern"], f"text like {context['pattern']}")
    if kind.startswith("date"):
        return _DATE
    if kind in _EXPECTED:
        return _EXPECTED[kind].format(**context).replace("at least 1 entries", "at least one entry")
    return details["msg"].removeprefix("Input should be ").removeprefix("Value error, ")


def _choices(details: ErrorDetails) -> Sequence[str]:
    return _QUOTED.findall(details.get("ctx", {}).get("expected", ""))


def _fix(details: ErrorDetails) -> str:
    given = details["input"]
    if details["type"] == "string_type" and isinstance(given, (int, float)):
        return "Put it in quotes"
    return did_you_mean(given, _choices(details)) if isinstance(given, str) else ""


def _found(value: object) -> str:
    """Return a value as a person reads it; long ones are cut."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value[:60]}{"…" if len(value) > 60 else ""}"'
    if isinstance(value, Mapping):
        return "a record" if value else "an empty record"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}" if value else "an empty list"
    return f"{value:g}" if isinstance(value, float) else str(value)
