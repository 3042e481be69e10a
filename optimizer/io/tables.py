"""Records as a table with the same columns and types whatever they hold: what CSV and Parquet files are made of.

A nested record becomes one column per field, ``outer.inner``; a list becomes JSON text; unknown is a missing value.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from optimizer.results import Result

if TYPE_CHECKING:
    import pandas as pd

TYPES: dict[Any, str] = {bool: "boolean", int: "Int64", float: "Float64", Decimal: "Float64", str: "string"}
"""Type of a field -> pandas type of its column; dates are ISO text, like everything else."""


def frame_of(records: Sequence[Result], kind: type[Result]) -> pd.DataFrame:
    """Return records of one kind as a table, a row per record.

    Args:
        records: The records; may be empty.
        kind: Their class: it alone decides columns and types.
    """
    import pandas as pd  # noqa: PLC0415 - heavy, and needed only for a table

    rows = [list(_values(record, kind)) for record in records]
    columns = dict(_columns(kind))
    frame = pd.DataFrame(rows, columns=list(columns), dtype=object)
    return frame.astype(columns)


def _columns(kind: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, field in kind.model_fields.items():
        inner = _record(field.annotation)
        if inner is not None:
            yield from _columns(inner, f"{prefix}{name}.")
        else:
            yield prefix + name, TYPES.get(_bare(field.annotation), "string")


def _values(record: BaseModel | None, kind: type[BaseModel]) -> Iterator[object]:
    for name, field in kind.model_fields.items():
        value = None if record is None else getattr(record, name)
        inner = _record(field.annotation)
        if inner is not None:
            yield from _values(value, inner)
        else:
            yield _cell(value)


def _cell(value: Any) -> object:
    if isinstance(value, (tuple, list, dict)):
        return json.dumps(_plain(value), ensure_ascii=False)
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, dt.date) else value


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else _cell(value)


def _bare(annotation: Any) -> Any:
    """Return a type without ``| None`` and without its metadata; a choice of several types stays as it is."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        options = [option for option in get_args(annotation) if option is not type(None)]
        return _bare(options[0]) if len(options) == 1 else annotation
    return annotation


def _record(annotation: Any) -> type[BaseModel] | None:
    bare = _bare(annotation)
    return bare if isinstance(bare, type) and issubclass(bare, BaseModel) else None
