"""The accuracy table in the README of the engine is what the evidence gives now, and nothing got worse."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evidence.evidence import bars, lines, printed, row, table
from tests.evidence.left_out import stored
from tests.evidence.measures import Figure, Scored, figures, score

AGAIN = "the engine or its constants changed: run `make evidence`"


@pytest.fixture(scope="module")
def scored() -> Scored:
    return score()


@pytest.fixture(scope="module")
def found(scored: Scored) -> dict[str, Figure]:
    return figures(scored, stored())


def test_left_out_errors_belong_to_this_engine(scored: Scored):
    """Refits are stored; they are stale when the same rows, in sample, are predicted otherwise."""
    kept = stored()
    steps = {
        name: item.step_time_error
        for name, item in scored.rows.items()
        if item.step_time_error is not None and scored.runs[name].kind == "step" and "175b" not in name
    }
    assert len(steps) > 700
    assert steps.keys() == kept.keys(), AGAIN
    assert not [name for name, error in steps.items() if abs(error - kept[name]["in_sample"]) > 0.002], AGAIN


def test_the_table_in_the_readme_is_what_the_evidence_gives(found: dict[str, Figure]):
    text = printed().splitlines()
    for record in lines(found):
        assert row(record) in text, AGAIN
        if record["met"] is False:
            assert f"* {record['measure']}: {record['why']}." in text, AGAIN
    timed = {bar["measure"] for bar in bars() if bar["judged"] == "measured"}  # differ by machine, not told here
    missed = [line for line in text if line.startswith("* ") and line[2:].rsplit(":", 1)[0] not in timed]
    assert sum(line.startswith("| ") for line in text) == len(bars()) + 1
    assert len(missed) == sum(record["met"] is False for record in lines(found))


def test_a_bar_that_is_not_met_says_why(found: dict[str, Figure]):
    assert [record["measure"] for record in lines(found) if record["met"] is False and not record["why"]] == []


def test_nothing_got_worse_by_more_than_a_point(found: dict[str, Figure]):
    for bar in bars():
        if bar["reached"] is None:
            continue
        figure = found[bar["figure"]]
        now = figure.left_out if bar["judged"] == "left_out" else figure.in_sample
        room = 0.0 if bar["unit"] == "count" else 0.01
        if bar.get("least") is None:
            assert now <= bar["reached"] + room, bar["measure"]
        else:
            assert now >= bar["reached"] - room, bar["measure"]


def test_bars_are_those_of_the_field():
    """Each bar has a direction or is for information, and figures with a bar are judged in one column."""
    for bar in bars():
        assert bar["judged"] in ("in_sample", "left_out", "measured")
        assert (bar.get("most") is None) or (bar.get("least") is None)


def test_speeds_are_printed_with_one_digit():
    bar = next(bar for bar in bars() if bar["figure"] == "layouts_per_core_s")
    assert bar["unit"] == "speed"
    record = {"measure": "m", "at_most": None, "at_least": 1e6, "unit": "speed", "judged": "measured",
              "in_sample": None, "left_out": None, "measured": 2_345_678, "rows": None, "met": True, "why": None}  # fmt: skip
    assert table([record]).endswith("| m | >= 1,000,000 | **2,000,000** |  | yes |")


def test_the_held_out_sweep_is_never_fitted():
    text = Path(__file__).with_name("fit.py").read_text(encoding="utf-8")
    assert "held_out" not in text
    assert not any(name.startswith("vtrain-175b") for name in stored())
