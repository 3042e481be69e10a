"""Keys nobody wrote, and the default used instead: a plan lists them as assumptions."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import Enum

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from optimizer.io.document import KeyPath, path_text
from optimizer.io.validate import paired
from optimizer.results import AssumptionUsed
from optimizer.schema.base import Money
from optimizer.schema.quote import Quote
from optimizer.schema.quote_record import LineRecord, SheetWarning, TotalRecord
from optimizer.schema.scenario import Scenario

_NULL_MEANS = re.compile(r"(?:null|blank) = ([^.;,]+)")
_SHOWN_OFFERS = 3


def assumptions(scenario: Scenario, data: object, quotes: Mapping[str, tuple[Quote, object]]) -> list[AssumptionUsed]:
    """Return every key left at its default that has a meaning, with the value used.

    Args:
        scenario: The scenario.
        data: The plain data it was read from.
        quotes: Quote id -> quote and its plain data; equal defaults of several offers become one entry.
    """
    used = [
        AssumptionUsed(name=path_text(path), value=value, source="default")
        for path, value in defaults_used(scenario, data)
    ]
    return used + _of_quotes(quotes)


def defaults_used(record: BaseModel, data: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Yield path and value of each key that ``data`` leaves out; keys whose absence means nothing are passed over."""
    written = data if isinstance(data, Mapping) else {}
    for name, info in type(record).model_fields.items():
        key, value = info.alias or name, getattr(record, name)
        if key in written or isinstance(value, BaseModel):
            yield from _below(value, written.get(key), (*path, key))
        elif text := _meaning(value, info):
            yield (*path, key), text


def _below(value: object, data: object, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(value, (Money, LineRecord, TotalRecord, SheetWarning)):
        return  # an amount is one value; records of an import are not planned with
    if isinstance(value, BaseModel):
        yield from defaults_used(value, data, path)
    elif isinstance(value, Mapping) and isinstance(data, Mapping):
        for key, raw, part in paired(data, value):
            yield from _below(part, raw, (*path, key))
    elif isinstance(value, tuple) and isinstance(data, list):
        for position, (part, raw) in enumerate(zip(value, data, strict=True)):
            yield from _below(part, raw, (*path, position))


def _meaning(value: object, info: FieldInfo) -> str:
    """Return a default in words; empty when nothing is assumed by it."""
    if value is None:
        match = _NULL_MEANS.search(info.description or "")
        return match[1].strip() if match else ""
    return _words(value)


def _words(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, (tuple, list)):
        return ", ".join(map(_words, value))
    if isinstance(value, BaseModel):
        return " ".join(f"{key} {_words(part)}" for key, part in value if part or part == 0 and key == "share")
    return str(value) if isinstance(value, (str, int, float, Decimal, dt.date)) else ""


def _of_quotes(quotes: Mapping[str, tuple[Quote, object]]) -> list[AssumptionUsed]:
    """Group the defaults of quotes and offers: one entry per key and value, with the offers it holds for."""
    groups: dict[tuple[str, str], list[str]] = {}
    for quote_id, (quote, data) in quotes.items():
        for path, value in defaults_used(quote, data):
            in_offer = len(path) > 2 and path[0] == "offers"
            key = path_text((*path[:1], *path[2:])) if in_offer else path_text(path)
            groups.setdefault((key, value), []).append(f"{quote_id}/{path[1]}" if in_offer else quote_id)
    return [
        AssumptionUsed(name=f"quotes: {key}", value=value, source=f"default, for {_listed(places)}")
        for (key, value), places in groups.items()
    ]


def _listed(places: list[str]) -> str:
    distinct = list(dict.fromkeys(places))
    more = len(distinct) - _SHOWN_OFFERS
    return ", ".join(distinct[:_SHOWN_OFFERS]) + (f" and {more} more" if more > 0 else "")
