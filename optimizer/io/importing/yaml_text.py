"""Quotes as YAML that people read and edit and ``solve`` uses: short records on one line, one line per sheet line."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Map
from decimal import Decimal
from enum import Enum
from functools import lru_cache

from pydantic import BaseModel

from optimizer.io.importing.numbers import unscaled
from optimizer.schema.quote import Quote

WIDTH = 110
"""Longest record that is written on one line."""

_PLAIN = re.compile(r"[A-Za-z_\u4e00-\u9fff][\w\u4e00-\u9fff./()+%&' -]*")
_NOT_PLAIN = frozenset(("null", "~", "true", "false", "yes", "no", "on", "off"))
_ONE_LINE = frozenset(("lines", "totals", "warnings"))


def quotes_yaml(quotes: Sequence[Quote], comment: str = "") -> str:
    """Return quotes as a YAML list, after a comment."""
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    return head + "\n".join("\n".join(_item(written(quote))) for quote in quotes) + "\n"


def mapping_yaml(data: Map[str, object], comment: str = "") -> str:
    """Return one record as YAML, after a comment."""
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    return head + "\n".join(_lines(data, "")) + "\n"


def written(record: BaseModel) -> dict[str, object]:
    """Return a record as plain data in the form people write it: no empty keys, amounts as ``12`` or ``12 EUR``."""
    data = record.model_dump(mode="python", by_alias=True, exclude_none=True, exclude_defaults=True)
    if isinstance(record, Quote):
        fixed = {"quote": record.quote, "revision": record.revision, "vendor": record.vendor, "kind": record.kind}
        dates = {"issued": record.issued, "valid_until": record.valid_until}
        data = {**fixed, **dates, **data}
        for name, offer in record.offers.items():
            data["offers"][name] = {"type": offer.type.value, **data["offers"][name]}
    return {str(key): _simple(value) for key, value in data.items()}


def _simple(value: object) -> object:
    if isinstance(value, Map):
        if "amount" in value and set(value) <= {"amount", "currency"}:
            code = value.get("currency")
            return value["amount"] if code is None else f"{unscaled(value['amount']):f} {code}"
        return {key: _simple(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_simple(item) for item in value]
    return value.value if isinstance(value, Enum) else value


def _item(data: Map[str, object]) -> Iterator[str]:
    for position, line in enumerate(_lines(data, "")):
        yield ("- " if position == 0 else "  ") + line


def _lines(data: Map[str, object], indent: str, parent: str = "") -> Iterator[str]:
    for key, value in data.items():
        name = f"{indent}{_key(key)}:"
        flow = None if value and (key in _ONE_LINE or (parent == "offers" and isinstance(value, Map))) else _flow(value)
        if flow is not None and (not isinstance(value, (Map, list)) or not value or len(name) + len(flow) < WIDTH):
            yield f"{name} {flow}"
        elif isinstance(value, Map):
            yield name
            yield from _lines(value, indent + "  ", str(key))
        elif isinstance(value, list):
            yield name
            yield from (f"{indent}  - {_flow(item)}" for item in value)


def _flow(value: object) -> str:
    """Return a value on one line."""
    if isinstance(value, Map):
        return "{" + ", ".join(f"{_key(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return f"{unscaled(value):f}"
    if isinstance(value, dt.date):
        return value.isoformat()
    return str(value) if isinstance(value, (int, float)) else word(str(value))


def _key(key: object) -> str:
    return word(key) if isinstance(key, str) else str(key)


@lru_cache(maxsize=4096)
def word(text: str) -> str:
    """Return text plain where no reader could take it for anything else, in double quotes otherwise."""
    if _PLAIN.fullmatch(text) and text.casefold() not in _NOT_PLAIN and not text.endswith(" "):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else _escaped(char) for char in quoted)


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
