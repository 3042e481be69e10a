"""Demands nothing can meet: named with needed and available, by nothing but arithmetic on the scenario."""

from __future__ import annotations

import cProfile
import pstats
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import optimizer as cb
from optimizer.cost.frame import Frame
from optimizer.errors import InputError
from optimizer.results import Figure, LimitName
from optimizer.schema.scenario import Scenario
from optimizer.solver.precheck import impossible
from optimizer.solver.relax import levers, lifted
from tests.property.clauses import clauses
from tests.property.instances import Instance, instance
from tests.unit.cost.world import (
    dedicated,
    frame,
    hourly,
    lease,
    platform,
    purchase,
    quote,
    reserved,
    site,
    stated,
    wafer,
    workload,
)
from tests.unit.solver.deciding import decided
from tests.unit.solver.test_conflict import CAUSES

Named = list[tuple[str, Figure, Figure, str | None]]


def named(world: Frame) -> Named:
    conflict = impossible(world)
    return [(one.name, one.needed, one.available, one.period) for one in conflict.limits] if conflict else []


@pytest.mark.parametrize("name", ["budget", "deadline", "power", "racks", "supply", "fabric", "second_source", "block_length"])  # fmt: skip
def test_a_cause_has_the_figures_a_search_would_find(name: LimitName) -> None:
    world, (needed, available, _, _) = CAUSES[name]
    ((found, least, there, _),) = named(world)
    assert (found, least, there) == (name, needed, available or 0)


POWERLESS = {"hall": site(power=[{"from": "2027-01-01", "kw": 9}])}
LATE_POWER = {"hall": site(power=[{"from": "2027-01-01", "kw": 9}, {"from": "2027-07-01", "kw": 90}])}
TWO_RACKS = {"a": {"racks": 2, "kw_per_rack": 10, "cooling": "air"}}
TALL = platform(space={"rack_units": 42, "cooling": ["air"]})
LATE_LOT = purchase(lots=[{"units": "rest", "date": "2027-06-01"}])
MODEL = {"architecture": "m", "tokens": 1e9, "sequence_length": 1024, "global_batch_tokens": 1e6, "extra_compute": 0, "precisions": ["bf16"]}  # fmt: skip
SIGNED = {"quote": "q", "offer": "node", "units": 3}

NAMED: dict[str, tuple[Frame, Named]] = {
    "a minimum that costs more than the budget": (
        frame(quote(purchase(100, units={"min": 8})), budget={"total": 799}), [("budget", 800, 799, None)],
    ),
    "a minimum above what the site feeds, whatever the model needs": (
        frame(quote(purchase(units={"min": 4})), workloads={"train": MODEL}, sites={"hall": site(power=[{"from": "2027-01-01", "kw": 39}])}),
        [("power", 40, 39, "hall")],
    ),
    "a minimum above the racks": (
        frame(quote(purchase(units={"min": 3})), workloads={"train": MODEL}, platforms=[TALL], sites={"hall": site(zones=TWO_RACKS)}),
        [("racks", 3, 2, "hall")],
    ),
    "racks that could hold it with more power each": (
        frame(quote(purchase(units={"min": 3})), workloads={"train": MODEL}, sites={"hall": site(zones=TWO_RACKS)}),
        [("rack_power", None, 10, None), ("racks", 3, 2, "hall")],
    ),
    "a lot after the deadline": (
        frame(quote(LATE_LOT), workloads={"train": MODEL | {"deadline": "2027-05-31"}}),
        [("deadline", 151, 150, "train, until 2027-06-01")],
    ),
    "a margin counts to the deadline": (
        frame(quote(LATE_LOT), workloads={"train": MODEL | {"deadline": "2027-06-10", "deadline_margin_days": 14}}),
        [("deadline", 165, 160, "train, until 2027-06-15")],
    ),
    "no power at all": (frame(quote(purchase()), sites={"hall": site(power=[])}), [("power", 20, 0, "hall")]),
    "power that is never enough for one": (frame(quote(purchase()), sites=POWERLESS), [("power", 20, 9, "hall")]),
    "owned nodes take the power": (
        frame(quote(purchase()), sites={"hall": site(power=[{"from": "2027-01-01", "kw": 19}])}, owned=[{"platform": "box", "nodes": 1, "site": "hall"}]),
        [("power", 20, 19, "hall")],
    ),
    "power that comes too late: power, or the deadline": (
        frame(quote(purchase()), sites=LATE_POWER, workloads=workload(deadline="2027-06-30")),
        [("deadline", 210, 180, "train, until 2027-07-30"), ("power", 20, 9, "hall, until 2027-06-01")],
    ),
    "signed more than offered": (frame(quote(purchase(units={"max": 2})), fix=[SIGNED]), [("supply", 3, 2, "q/node")]),
    "signed twice adds up": (
        frame(quote(purchase(units={"max": 5})), fix=[SIGNED, SIGNED]), [("supply", 6, 5, "q/node")],
    ),
    "signed in steps": (
        frame(quote(purchase(units={"max": 3, "step": 2})), fix=[SIGNED]), [("supply", 4, 3, "q/node")],
    ),
    "signed more than the lots hold": (
        frame(quote(purchase(lots=[{"units": 2, "date": "2027-02-01"}])), fix=[SIGNED]), [("supply", 3, 2, "q/node")],
    ),
    "signed without power": (
        frame(quote({"node": purchase(), "rent": hourly(1)}), fix=[SIGNED], sites={"hall": site(power=[{"from": "2027-01-01", "kw": 29}])}),
        [("power", 30, 29, "q/node")],
    ),
    "signed beyond the budget": (
        frame(quote({"node": purchase(100), "rent": hourly(0.001)}), fix=[SIGNED], budget={"total": 299}), [("budget", 300, 299, None)],
    ),
    "signed with more vendors than allowed": (
        frame(quote(purchase()), quote(purchase(), "r", vendor="Best"), fix=[SIGNED, SIGNED | {"quote": "r"}], policy={"vendors": {"max": 1}}),
        [("vendors", 2, 1, None)],
    ),
    "signed without a price": (frame(quote({"node": purchase("on_request"), "rent": hourly(1)}), fix=[SIGNED]), [("price", "a price", "on_request", "q/node")]),
    "each way has its own obstacle": (
        frame(quote({"node": purchase(), "rent": reserved(1, 6, units={"max": 1})}), sites=POWERLESS),
        [("power", 20, 9, "hall"), ("supply", 2, 1, "box@Acme/eu")],
    ),
    "an expired offer is a way too": (
        frame(quote(purchase()), quote(hourly(1), "old", valid_until="2026-12-31"), sites=POWERLESS),
        [("expired", "2027-01-01", "2026-12-31", "old/node"), ("power", 20, 9, "hall")],
    ),
    "a system that states too many days": (
        frame(quote(dedicated(9, (4, 40))), platforms=[wafer(), platform()], workloads=workload(deadline="2027-02-01")),
        [("deadline", 39, 31, "train, until 2027-02-09")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NAMED)
def test_what_nothing_can_meet_is_named(case: str) -> None:
    world, expected = NAMED[case]
    assert named(world) == expected


OPEN: dict[str, Frame] = {
    "nodes we have need no offer": frame(
        quote(purchase(lead_weeks=60)), owned=[{"platform": "box", "nodes": 2, "site": "hall"}]
    ),
    "another platform has no obstacle": frame(
        quote({"node": purchase(units={"max": 1}), "wide": purchase(platform="wide")}),
        platforms=[platform(), platform("wide")],
        workloads=workload(stated(2, 30), stated(2, 30, "wide")),
    ),
    "a discount per order may pay for it": frame(
        quote(purchase(100, lines=[{"item": "welcome", "per": "order", "price": -150}])), budget={"total": 60}
    ),
    "a table below zero proves nothing": frame(
        quote(purchase(100)),
        budget={"total": 150},
        costs=[{"name": "grant", "per": "cluster", "amount": -100, "every": "once"}],
    ),
    "the last day may be used": frame(quote(LATE_LOT), workloads={"train": MODEL | {"deadline": "2027-06-01"}}),
    "a lease that fits": frame(quote(lease(100, 3)), budget={"total": 600}),
}


@pytest.mark.parametrize("case", OPEN)
def test_what_may_be_met_is_left_to_the_search(case: str) -> None:
    assert impossible(OPEN[case]) is None


def tight(one: Instance) -> None:
    """Make limits small enough that many instances have no plan."""
    for quoted in one.quotes:
        for offer in quoted["offers"].values():
            offer["fabric_max_units"] = 2
    for facts in one.scenario["sites"].values():
        facts["power"] = facts["power"] or [{"from": "2026-12-20", "kw": 30}]
    one.scenario["workloads"]["w"]["deadline"] = "2027-06-15"
    one.scenario.setdefault("budget", {})["total"] = 900_000


@pytest.mark.parametrize("made", [instance, clauses], ids=["instances", "clauses"])
def test_it_never_calls_impossible_what_enumeration_solves(made: Any) -> None:
    """What it names is infeasible, alone as well: every other relaxable limit lifted, it is still named."""
    caught, infeasible, names = 0, 0, Counter[str]()
    for seed in range(30_000, 30_060):
        world = made(seed).changed(tight).frame()
        with suppress(InputError):  # too large to enumerate
            conflict, found = impossible(world), decided(world, "enumerate")
            infeasible += found.status == "infeasible"
            if conflict is None:
                continue
            caught += 1
            names.update(limit.name for limit in conflict.limits)
            assert found.status == "infeasible", seed
            kept = {limit.name for limit in conflict.limits}
            assert (
                impossible(lifted(world, [lever for lever in levers(world) if lever.name not in kept])) is not None
            ), seed
    assert caught > 0.5 * infeasible > 10
    assert len(names) >= 4


def called(scenario: Path, *sets: str) -> tuple[cb.Plan, set[str]]:
    """Return a plan and the modules of the package and of the solvers in which something was called."""
    profile = cProfile.Profile()
    plan = profile.runcall(cb.solve, scenario, sets=sets)
    files = {file for file, _, _ in pstats.Stats(profile).stats}  # type: ignore[attr-defined]
    return plan, {part for file in files for part in ("optimizer/engine", "candidates/search", "candidates/modes", "ortools", "highspy", "solver/cpsat", "solver/model") if part in file}  # fmt: skip


ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("sets", "limit"),
    [
        (["workloads.pretrain.deadline=2027-01-04", "earliest_order=2027-01-05"], "deadline"),
        (["budget.total=9"], "budget"),
    ],
)
def test_neither_engine_nor_solver_is_called(sets: list[str], limit: str) -> None:
    plan, modules = called(ROOT / "scenarios" / "midsize-12b.yaml", *sets)
    assert plan.status == "infeasible"
    assert plan.conflict is not None
    assert limit in {one.name for one in plan.conflict.limits}
    assert (plan.solve.solver, plan.solve.layouts_evaluated, plan.solve.candidates) == ("none", 0, 0)
    assert modules == set()


def test_the_tripwire_sees_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same scenario with a plan calls the engine and a solver: the test above can fail."""
    monkeypatch.setenv("CLUSTERBUY_CACHE", "off")
    plan, modules = called(ROOT / "scenarios" / "midsize-12b.yaml")
    assert plan.status == "optimal"
    assert {"optimizer/engine", "candidates/search", "ortools"} <= modules


def test_signatures_of_one_offer_add_up_in_the_plan() -> None:
    world = frame(quote(purchase(units={"max": 9})), fix=[SIGNED, SIGNED])
    found = decided(world)
    assert found.choice is not None
    assert [taken.units for taken in found.choice.taken] == [6]
    assert isinstance(world.scenario, Scenario)
