"""What a limit rules out by itself is ruled out by every plan: cheap conditions agree with enumeration."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any

import pytest

from optimizer.cost.frame import Frame
from optimizer.errors import InputError
from optimizer.solver.backend import Settings
from optimizer.solver.conflict import Probe, spending
from optimizer.solver.planner import Modes
from optimizer.solver.viable import some_plan, viable
from tests.property.clauses import clauses
from tests.property.instances import Instance, instance, several
from tests.unit.cost.world import frame, platform, purchase, quote, site, stated, workload
from tests.unit.solver.deciding import decided, inputs, problem

MODES = workload(stated(2, 30), stated(4, 20))
TALL = platform(space={"rack_units": 42, "cooling": ["air"]})


def tight(one: Instance) -> None:
    """Make limits small enough that some instances have no plan."""
    for facts in one.scenario["sites"].values():
        facts["power"] = facts["power"] or [{"from": "2026-12-20", "kw": 30}]
    one.scenario.setdefault("budget", {})["total"] = 1_500_000


@pytest.mark.parametrize("made", [instance, clauses, several], ids=["instances", "clauses", "several"])
def test_feasibility_is_what_enumeration_finds(made: Any) -> None:
    answers: Counter[bool] = Counter()
    for seed in range(40_000, 40_025):
        world = made(seed).changed(tight).frame()
        with suppress(InputError):  # too large to enumerate
            exists = decided(world, "enumerate").status == "optimal"
            assert Probe(inputs(world), Modes(), Settings()).feasible(world) is exists, seed
            answers[exists] += 1
    assert min(answers[True], answers[False]) >= 3


@pytest.mark.parametrize(
    ("world", "nodes"),
    [
        (frame(quote(purchase(100)), workloads=MODES), {2, 4}),
        (frame(quote(purchase(100)), workloads=MODES, budget={"total": 399}), {2}),
        (frame(quote(purchase(100)), workloads=MODES, budget={"total": 400}), {2, 4}),
        (frame(quote(purchase(100)), workloads=MODES, sites={"hall": site(power=[{"from": "2027-01-01", "kw": 39}])}), {2}),
        (frame(quote(purchase(100)), workloads=MODES, sites={"hall": site(power=[{"from": "2027-02-01", "kw": 90}])}), {2, 4}),
        (
            frame(quote(purchase(100)), workloads=MODES, platforms=[TALL],
                  sites={"hall": site(zones={"a": {"racks": 3, "kw_per_rack": 40, "cooling": "air"}})}),
            {2},
        ),
        (
            frame(quote(purchase(100)), workloads=MODES, owned=[{"platform": "box", "nodes": 2, "site": "hall"}],
                  sites={"hall": site(power=[{"from": "2027-01-01", "kw": 40}])}),
            {2, 4},
        ),
    ],
)  # fmt: skip
def test_runs_that_a_limit_rules_out_are_dropped_and_no_others(world: Frame, nodes: set[int]) -> None:
    kept = viable(problem(spending(world)))
    assert {profile.run.candidate.nodes for profile in kept.profiles} == nodes


def test_where_receipts_count_a_budget_drops_nothing() -> None:
    """A plan's value is then less than its cash."""
    world = frame(quote(purchase(100)), workloads=MODES, budget={"total": 1}, finance={"discount_rate": 0.08})
    assert len(viable(problem(world)).profiles) == len(problem(world).profiles) > 0
    assert not viable(problem(spending(world))).profiles


def test_some_plan_is_a_plan_or_none() -> None:
    choice = some_plan(problem(frame(quote(purchase(100)))), Settings())
    assert choice is not None
    assert sum(taken.units for taken in choice.taken) >= 2
    assert some_plan(problem(frame(quote(purchase(100)), budget={"total": 199})), Settings()) is None
