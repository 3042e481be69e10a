"""Ranges of uncertain inputs: evidence with its source, or an assumption with its owner."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from pydantic import ValidationError

from optimizer.io.library import Library
from optimizer.schema.ranges import Range, Ranges

FACTS = Path(__file__).parents[1] / "data" / "range_evidence.csv"


@pytest.mark.parametrize("name", list(Ranges.model_fields))
def test_every_range_has_a_dated_source_or_owner(name: str) -> None:
    span: Range = getattr(Library.shipped().ranges, name)
    assert (span.source is None) != (span.assumed is None)
    assert span.source is None or (span.source.url and span.source.date)
    assert span.note in span.origin
    assert ("assumption of" in span.origin) == (span.assumed is not None)


def test_ranges_from_evidence_hold_what_was_observed() -> None:
    """Each observation over the reference value lies within the range, or rounds to its end."""
    ranges = Library.shipped().ranges
    with FACTS.open(encoding="utf-8") as file:
        facts = list(csv.DictReader(file))
    for fact in facts:
        span: Range = getattr(ranges, fact["range"])
        assert span.source is not None
        moved = float(fact["observed"]) / float(fact["reference"]) if span.how == "times" else float(fact["observed"])
        assert float(span.low) - 0.03 <= moved <= float(span.high) + 0.03, fact
    assert {fact["range"] for fact in facts} >= {
        "after_run_value",
        "price_list",
        "duty",
        "failures",
        "residual",
        "hall",
    }


@pytest.mark.parametrize("more", [{}, {"source": {"url": "x"}, "assumed": {"by": "me", "date": "2026-01-01"}}])
def test_a_range_of_nobody_or_of_two_is_refused(more: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="either a source or an owner"):
        Range(how="plus", low=0, high=1, note="x", **more)
