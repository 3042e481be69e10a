"""Records as tables: columns and types follow from the kind of record, not from what it holds."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from optimizer.io.tables import frame_of
from optimizer.results import Figure, Number, Result


class Inner(Result):
    words: tuple[str, ...]
    day: dt.date | None


class Outer(Result):
    name: str
    count: int
    share: Number | None
    sure: bool | None
    inner: Inner
    more: Inner | None
    rest: dict[str, Number]
    several: tuple[Inner, ...] = ()
    figure: Figure = None


FULL = Outer(
    name="a",
    count=2,
    share=Decimal("0.5"),
    sure=True,
    inner=Inner(words=("x", "y"), day=dt.date(2027, 1, 2)),
    more=None,
    rest={"k": Decimal("1.5")},
    several=(Inner(words=("z",), day=None),),
    figure="stock",
)
BARE = FULL.model_copy(
    update={
        "share": None,
        "sure": None,
        "inner": Inner(words=(), day=None),
        "rest": {},
        "several": (),
        "figure": Decimal(3),
    }
)

TYPES = {
    "name": "string", "count": "Int64", "share": "Float64", "sure": "boolean", "inner.words": "string",
    "inner.day": "string", "more.words": "string", "more.day": "string", "rest": "string",
    "several": "string", "figure": "string",
}  # fmt: skip


@pytest.mark.parametrize("records", [[], [FULL], [BARE], [FULL, BARE]])
def test_columns_and_types_are_the_same_whatever_is_in_them(records: list[Outer]) -> None:
    frame = frame_of(records, Outer)
    assert frame.dtypes.astype(str).to_dict() == TYPES
    assert len(frame) == len(records)


def test_values_are_flat_and_unknown_is_missing() -> None:
    full, bare = frame_of([FULL, BARE], Outer).to_dict("records")
    assert (full["share"], full["inner.words"], full["inner.day"], full["rest"], full["several"]) == (
        0.5, '["x", "y"]', "2027-01-02", '{"k": 1.5}', '[{"words": ["z"], "day": null}]',
    )  # fmt: skip
    assert all(pd.isna(bare[name]) for name in ("share", "sure", "inner.day", "more.words"))


@pytest.mark.parametrize("records", [[], [BARE], [FULL]])
def test_parquet_and_csv_read_back(records: list[Outer], tmp_path: Path) -> None:
    frame = frame_of(records, Outer)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "t.parquet"), frame)
    frame.to_csv(tmp_path / "t.csv", index=False)
    again = pd.read_csv(tmp_path / "t.csv", dtype=TYPES)
    assert list(again.columns) == list(TYPES)
    assert [json.loads(text) for text in again["inner.words"]] == [list(record.inner.words) for record in records]
