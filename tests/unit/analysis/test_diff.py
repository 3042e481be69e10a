"""What changed between two plans; the cost adds up to the minor unit."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from optimizer.analysis.diff import diff
from optimizer.analysis.gap import apportioned, gap_lines, total_gap
from optimizer.api import solve
from optimizer.errors import InputError
from optimizer.io.json_text import plan_json
from tests.unit.analysis.files import OPTIONS, written
from tests.unit.cost.world import frame, purchase, quote, stated, workload


def saved(folder: Path, name: str, *sets: str) -> Path:
    world = frame(
        quote(purchase(100, lines=[{"item": "support", "per": "node", "price": 7}])),
        workloads=workload(stated(2, 30), stated(3, 20)),
    )
    path, library = written(world, folder)
    plan = solve(path, library=library, sets=sets, options=OPTIONS)
    out = folder / name
    out.write_text(plan_json(plan), encoding="utf-8")
    return out


def test_a_plan_does_not_differ_from_itself(tmp_path: Path) -> None:
    plan = saved(tmp_path, "a.json")
    found = diff(plan, plan)
    assert (found.inputs, found.decisions) == ((), ())
    assert [line.delta for line in found.cost] == [0] * len(found.cost)


def test_inputs_decisions_and_cost_line_by_line(tmp_path: Path) -> None:
    """A deadline of 20 days takes a third box: 100 and 7 more."""
    a, b = saved(tmp_path, "a.json"), saved(tmp_path, "b.json", "workloads.train.deadline=2027-01-20")
    found = diff(a, b)
    assert [(item.path, item.a, item.b) for item in found.inputs] == [
        ("--set workloads.train.deadline", None, "2027-01-20")
    ]
    decisions = {item.what: (item.a, item.b) for item in found.decisions}
    assert decisions["train: nodes"] == ("2", "3")
    assert decisions["train: end"] == ("2027-01-30", "2027-01-20")
    assert decisions["q/node to hall"] == ("2 units, delivered 2027-01-01", "3 units, delivered 2027-01-01")
    assert {line.item: (line.a, line.b, line.delta) for line in found.cost if line.delta} == {
        "hardware": (200, 300, 100), "line:support": (14, 21, 7),
    }  # fmt: skip
    totals = [json.loads(path.read_text())["cost"]["total"] for path in (a, b)]
    assert total_gap(found.cost) == totals[1] - totals[0] == 107


def test_a_changed_value_of_a_file_is_named_with_its_path(tmp_path: Path) -> None:
    a = saved(tmp_path, "a.json")
    (tmp_path / "b").mkdir()
    b = saved(tmp_path / "b", "b.json")
    plan = json.loads(b.read_text())
    for file, other in zip(
        plan["provenance"]["inputs"], json.loads(a.read_text())["provenance"]["inputs"], strict=True
    ):
        file["path"] = other["path"]
    quoted = next(file for file in plan["provenance"]["inputs"] if file["path"].endswith("q.yaml"))
    quoted["content"] = quoted["content"].replace('"price": 100', '"price": 90')
    quoted["sha256"] = "0" * 64
    b.write_text(json.dumps(plan))
    (change,) = diff(a, b).inputs
    assert change.path.endswith("q.yaml: offers.node.price")
    assert (change.a, change.b) == (100, 90)


def test_amounts_that_do_not_round_to_their_sum_still_add_up() -> None:
    thirds = {name: Decimal(1) / 3 for name in "abc"}
    assert sum(apportioned(thirds, "USD").values()) == 1
    lines = gap_lines(thirds, {"a": Decimal("0.005")}, "USD")
    assert total_gap(lines) == Decimal("0.01") - 1


def test_plans_in_two_currencies_are_refused(tmp_path: Path) -> None:
    a = saved(tmp_path, "a.json")
    plan = json.loads(a.read_text())
    plan["cost"]["currency"] = "EUR"
    b = tmp_path / "b.json"
    b.write_text(json.dumps(plan))
    with pytest.raises(InputError, match="one currency"):
        diff(a, b)
