"""A whole plan by hand is verified, and one wrong number anywhere in it is found."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from typing import Any

import pytest

from optimizer.results import Plan
from optimizer.solver.check import Breach, check

LIMITS = [
    {"name": "power", "used": 104, "available": 120, "unit": "kW", "slack": 16, "binding": None, "period": "hall"},
    {"name": "budget", "used": 1426781.6, "available": 1.5e6, "unit": "USD", "slack": 73218.4, "binding": None,
     "period": None},
    {"name": "budget_year", "used": 174120, "available": 2e5, "unit": "USD", "slack": 25880, "binding": None,
     "period": "2027/28"},
    {"name": "deadline", "used": 102, "available": 364, "unit": "days from today", "slack": 262, "binding": None,
     "period": "train"},
    {"name": "fabric", "used": 10, "available": 10, "unit": "nodes", "slack": 0, "binding": None, "period": "q1/node"},
    {"name": "supply", "used": 10, "available": 20, "unit": "units", "slack": 10, "binding": None, "period": "q1/node"},
    {"name": "second_source", "used": 0, "available": 0, "unit": "share", "slack": 0, "binding": None, "period": None},
    {"name": "vendors", "used": 1, "available": 2, "unit": "vendors", "slack": 1, "binding": None, "period": None},
]  # fmt: skip


@pytest.fixture
def limited(purchase: Any, ledgers: Any) -> tuple[Plan, Any]:
    """The plan with limits, as read from its file, and its facts."""
    purchase.scenario["sites"]["hall"]["power"] = [{"from": "2027-02-01", "kw": 120}]
    purchase.scenario["budget"] = {"total": 1.5e6, "by_fiscal_year": {"2027/28": 2e5}}
    purchase.scenario["policy"]["vendors"] = {"max": 2}
    written = json.loads(purchase.plan(ledgers).model_dump_json())
    return Plan.model_validate(written | {"limits": LIMITS}), purchase.facts()


@pytest.mark.parametrize("policy", ["idle", "off", "sell", "use"])
def test_plan_by_hand_is_verified(purchase: Any, ledgers: Any, policy: str) -> None:
    purchase.scenario["after_run"]["policy"] = policy
    plan = purchase.plan(ledgers, policy)
    assert check(plan, purchase.facts()) == ()
    assert check(Plan.model_validate_json(plan.model_dump_json()), purchase.facts()) == ()


def test_use_without_a_value_is_null(purchase: Any, ledgers: Any) -> None:
    purchase.scenario.pop("after_run")
    assert check(purchase.plan(ledgers | {"use": []}), purchase.facts()) == ()
    found = check(purchase.plan(ledgers), purchase.facts())
    assert {breach.limit_or_number for breach in found} == {"cost.after_run.total", "cost.after_run.npv"}


def test_limits_of_the_plan_agree(limited: tuple[Plan, Any]) -> None:
    assert check(*limited) == ()


def _leaves(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(node, dict | list):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from _leaves(child, (*path, key))
    elif _changed(node) is not None:
        yield path


def _changed(value: Any) -> Any:
    """Return a number one cent or one piece higher, a date one day later; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value + 0.01
    try:
        return (dt.date.fromisoformat(value) + dt.timedelta(days=1)).isoformat()
    except ValueError:
        return None


NOT_FOUND_OUT = {"wall_s", "seed", "workers", "candidates", "layouts_evaluated"}
"""Numbers about the search, which nobody can recompute."""


def test_every_number_of_the_plan_is_recomputed(limited: tuple[Plan, Any]) -> None:
    plan, facts = limited
    written = json.loads(plan.model_dump_json())
    paths = [path for path in _leaves(written) if path[-1] not in NOT_FOUND_OUT and path[0] != "provenance"]
    assert len(paths) > 190
    missed = []
    for path in paths:
        copy = json.loads(plan.model_dump_json())
        node = copy
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = _changed(node[path[-1]])
        if not check(Plan.model_validate(copy), facts):
            missed.append(path)
    assert missed == []


@pytest.mark.parametrize("part", ["lines", "cash", "after_run"])
@pytest.mark.parametrize("change", ["left out", "twice"])
def test_missing_and_double_entries_are_found(purchase: Any, ledgers: Any, part: str, change: str) -> None:
    plan = purchase.plan(ledgers)
    entries = getattr(plan.cost, part)
    entries = entries[1:] if change == "left out" else (*entries, entries[0])
    wrong = plan.model_copy(update={"cost": plan.cost.model_copy(update={part: entries})})
    assert f"cost.{part}" in {breach.limit_or_number for breach in check(wrong, purchase.facts())}


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("vendor", "Other", "awards[q1/node].vendor"),
        ("platform", "cube", "awards[q1/node].platform"),
        ("type", "lease", "awards[q1/node].type"),
        ("offer", "nowhere", "offer"),
        ("quote", "nowhere", "offer"),
        ("currency", "EUR", "currency"),
        ("tier", 1, "tier"),
        ("place", "other", "region"),
        ("contract_end", "2027-12-31", "contract_end"),
    ],
)
def test_wrong_names_of_an_award_are_found(purchase: Any, ledgers: Any, field: str, value: Any, expected: str) -> None:
    purchase.awards[0][field] = value
    found = check(purchase.plan(ledgers), purchase.facts())
    assert expected in {breach.limit_or_number for breach in found}


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("architecture", "tiny", "architecture"),
        ("pool", "box@other", "pool"),
        ("place", "other", "pool"),
        ("platform", "cube", "platform"),
        ("mfu", 0.4, "mfu"),
        ("name", "other", "workloads"),
    ],
)
def test_wrong_names_of_a_run_are_found(purchase: Any, ledgers: Any, field: str, value: Any, expected: str) -> None:
    purchase.runs[0][field] = value
    found = check(purchase.plan(ledgers), purchase.facts())
    assert expected in {breach.limit_or_number for breach in found}


def test_an_offer_is_awarded_at_most_once(purchase: Any, ledgers: Any) -> None:
    purchase.award()
    found = check(purchase.plan(ledgers), purchase.facts())
    assert found[0] == Breach("offer", "q1/node", "2 awards", "at most one award of an offer")


def test_a_plan_without_cost_is_never_verified(purchase: Any) -> None:
    assert {breach.limit_or_number for breach in check(purchase.plan(), purchase.facts())} == {"cost"}


def test_an_infeasible_plan_has_nothing_to_check(world: Any) -> None:
    plan = world.plan().model_copy(update={"status": "infeasible"})
    assert check(plan, world.facts()) == ()
    assert check(world.plan(), world.facts()) != ()


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"gap": "0.1"}, True),
        ({"gap": None}, True),
        ({"kind": "time"}, True),
        ({"currency": "EUR"}, True),
        ({}, False),
    ],
)
def test_objective_is_held_against_the_scenario(purchase: Any, ledgers: Any, changes: Any, found: bool) -> None:
    plan = purchase.plan(ledgers)
    objective = type(plan.objective).model_validate(plan.objective.model_dump() | changes)
    assert bool(check(plan.model_copy(update={"objective": objective}), purchase.facts())) == found


@pytest.mark.parametrize(
    ("kind", "unit", "value"),
    [
        ("time", "days", 102),  # 2027-01-01 to 2027-04-13
        ("capacity", "accelerators", 80),
    ],
)
def test_other_objectives(purchase: Any, ledgers: Any, kind: str, unit: str, value: int) -> None:
    purchase.scenario["objective"] = kind
    plan = purchase.plan(ledgers)
    for stated, right in ((value, True), (value + 1, False)):
        objective = {"kind": kind, "value": stated, "bound": stated, "gap": 0, "currency": None, "unit": unit}
        changed = plan.model_copy(update={"objective": type(plan.objective).model_validate(objective)})
        assert (check(changed, purchase.facts()) == ()) == right


def test_a_breach_reads_as_one_sentence() -> None:
    breach = Breach("power", "hall on 2027-02-01", "104 kW", "100 kW")
    assert str(breach) == "power of hall on 2027-02-01: the plan has 104 kW, the check finds 100 kW."
