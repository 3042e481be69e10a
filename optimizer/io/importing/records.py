"""Quotes as one table and back, without loss: a row per quote, offer, line, total and warning.

The first cell is :data:`MARK`; the second row holds the keys of the quote schema. Lists and records stand as JSON.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Sequence
from collections.abc import Mapping as Map
from decimal import Decimal
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from optimizer.errors import InputError, Problem
from optimizer.io.importing.cells import Book, Row
from optimizer.io.importing.yaml_text import written
from optimizer.schema import quote as schema
from optimizer.schema.quote import Quote
from optimizer.schema.quote_record import LineRecord, SheetWarning, TotalRecord

MARK = "clusterbuy quote records 1"
"""First cell of a table of records."""

_PARTS = {"line": "lines", "total": "totals", "warning": "warnings"}
_MODELS: Map[str, type[BaseModel]] = {"line": LineRecord, "total": TotalRecord, "warning": SheetWarning}
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_JSON_WORDS = {"true": True, "false": False}

Table = list[list[object]]
"""Rows of texts, numbers (int or Decimal) and None for blank."""


def records_table(quotes: Sequence[Quote]) -> Table:
    """Return quotes as one table."""
    rows = [row for quote in quotes for row in _rows(quote)]
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return [[MARK], list(keys), *([row.get(key) for key in keys] for row in rows)]


def _rows(quote: Quote) -> Iterable[dict[str, object]]:
    data: dict[str, Any] = written(quote)
    offers, lists = data.pop("offers", {}), {part: data.pop(key, []) for part, key in _PARTS.items()}
    yield {"record": "quote", "name": None, **_cells(data)}
    for name, offer in offers.items():
        yield {"record": "offer", "name": name, **_cells(offer)}
    for part, items in lists.items():
        for item in items:
            yield {"record": part, **_cells(item)}


def _cells(data: Map[str, object]) -> dict[str, object]:
    found = {_heading(key): _cell(value) for key, value in data.items()}
    return {key: value for key, value in found.items() if value is not None}


def _heading(key: str) -> str:
    return "total name" if key == "name" else key


def _cell(value: object) -> object:
    if isinstance(value, (Map, list)):
        return _json(value)
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, dt.date) else value


def _json(value: object) -> str:
    """Return data as JSON with exact numbers; keys become text, as JSON wants."""
    if isinstance(value, Map):
        return (
            "{"
            + ", ".join(f"{json.dumps(str(key), ensure_ascii=False)}: {_json(item)}" for key, item in value.items())
            + "}"
        )
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_json, value)) + "]"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return json.dumps(value.isoformat() if isinstance(value, dt.date) else value, ensure_ascii=False)


def is_records(book: Book) -> bool:
    """True for a file that :func:`records_table` made."""
    return _sheet_rows(book) is not None


def _sheet_rows(book: Book) -> tuple[Row, ...] | None:
    for sheet in book.sheets:
        if sheet.rows and any(cell.text == MARK for cell in sheet.rows[0].cells.values()):
            return sheet.rows
    return None


def read_records(book: Book) -> tuple[Quote, ...]:
    """Return the quotes of a file of records.

    Raises:
        InputError: A row that does not fit the schema.
    """
    rows = _sheet_rows(book) or ()
    heads = {column: cell.text for column, cell in rows[1].cells.items()} if len(rows) > 1 else {}
    quoted = not any(sheet.name for sheet in book.sheets)
    quotes: list[dict[str, Any]] = []
    for row in rows[2:]:
        texts = {
            heads[column]: _unquoted(cell.text, quoted=quoted) for column, cell in row.cells.items() if column in heads
        }
        kind, name = texts.pop("record", ""), texts.pop("name", "")
        if kind != "quote" and not quotes:
            raise InputError([Problem(f"{book.name}, row {row.number}", f'a row "{kind}" before any quote', "")])
        if kind == "quote":
            quotes.append({**_values(Quote, texts), "offers": {}, "lines": [], "totals": [], "warnings": []})
        elif kind == "offer":
            quotes[-1]["offers"][name] = _values(_offer_model(texts), texts)
        elif kind in _PARTS:
            quotes[-1][_PARTS[kind]].append(_values(_MODELS[kind], texts))
    return tuple(_quote(data, book.name) for data in quotes)


def _quote(data: dict[str, Any], name: str) -> Quote:
    try:
        return Quote.model_validate(data)
    except ValidationError as error:
        problems = [
            Problem(f"{name}, quote {data.get('quote')}", f"{'.'.join(map(str, item['loc']))}: {item['msg']}", "")
            for item in error.errors()
        ]
        raise InputError(problems) from None


def _offer_model(texts: Map[str, str]) -> type[BaseModel]:
    kind = texts.get("type", "")
    models: tuple[type[BaseModel], ...] = (
        schema.PurchaseOffer, schema.LeaseOffer, schema.ReservedOffer, schema.BlockOffer, schema.OnDemandOffer,
        schema.DedicatedOffer,
    )  # fmt: skip
    return next((model for model in models if model.model_fields["type"].default == kind), schema.PurchaseOffer)


def _values(model: type[BaseModel], texts: Map[str, str]) -> dict[str, Any]:
    by_key = {info.alias or name: info.annotation for name, info in model.model_fields.items()}
    named = {("name" if key == "total name" else key): text for key, text in texts.items()}
    return {key: _value(text, by_key.get(key)) for key, text in named.items()}


def _value(text: str, annotation: object) -> Any:
    """Return the value of a cell: text where the schema has text, else JSON, a word or an exact number."""
    if _is_text(annotation):
        return text
    if text[:1] in ("{", "["):
        return json.loads(text, parse_float=Decimal)
    if text in _JSON_WORDS:
        return _JSON_WORDS[text]
    return _number(text)


def _number(text: str) -> Any:
    if not _NUMBER.fullmatch(text):
        return text
    return Decimal(text) if "." in text or len(text) > 15 else int(text)


def _is_text(annotation: object) -> bool:
    """True for text, also optional or constrained; not for lists and records of text."""
    inside = get_args(annotation) if get_origin(annotation) in (Annotated, Union, UnionType) else ()
    return annotation is str or any(_is_text(part) for part in inside)


def _unquoted(text: str, *, quoted: bool) -> str:
    return text[1:] if quoted and text.startswith("'") else text


def neutral(text: str) -> str:
    """Return text that no spreadsheet program takes for a formula; numbers stay numbers.

    >>> neutral("=cmd|x"), neutral("-12.50"), neutral("'quoted")
    ("'=cmd|x", '-12.50', "''quoted")
    """
    risky = text[:1] in ("=", "+", "-", "@", "\t", "\r", "'") and not _NUMBER.fullmatch(text)
    return f"'{text}" if risky else text
