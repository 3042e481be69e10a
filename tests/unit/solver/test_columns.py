"""Columns against the model over all runs; too little time and too many schedules never make a bound or a proof."""

from __future__ import annotations

import time

import numpy as np
import pytest

from optimizer.solver import columns as columns_module
from optimizer.solver import search as search_module
from optimizer.solver.backend import Settings
from optimizer.solver.columns import Blocks, Columns, field_of, listed, reduced
from optimizer.solver.model import build_model
from optimizer.solver.search import backend
from tests.unit.cost.world import hourly, purchase, quote
from tests.unit.solver.deciding import planned
from tests.unit.solver.programs import AFTER, PROGRAMS, fully_listed, offered, program, run, unlisted


def least(problem) -> float | None:
    """Return the least cost of a problem; None when there is no plan."""
    model = build_model(problem)
    answer = backend("auto").solve(model.linear, model.objectives()[0], Settings(workers=1))
    return None if answer.objective is None else answer.objective / 10**model.digits


def everything(blocks: Blocks) -> Columns:
    """Return all schedules of all blocks, without bounds or dominance."""
    field = blocks.field
    found = {block for _, pools in field.assignments() for block in field.blocks(pools)}
    return Columns(tuple((block, blocks.within(block, np.inf)) for block in sorted(found)), -np.inf, complete=True)


@pytest.mark.parametrize(
    ("runs", "offers", "policy"),
    [("two", "bought", "use"), ("in turn", "leased", "idle"), ("two", "hired", "off"), ("three", "two pools", "sell")],
)
def test_with_everything_listed_the_columns_have_the_answer_of_the_full_model(runs, offers, policy, monkeypatch):
    """And so have those that bounds within that answer, and dominance, leave."""
    terms = {"finance": {"discount_rate": 0.3, "residual": {"share": 0.3}}, "after_run": AFTER[policy]}
    world = program(offered(offers), PROGRAMS[runs], **terms)
    exact = least(fully_listed(world, monkeypatch))
    problem = unlisted(world, monkeypatch)
    blocks = Blocks(field_of(problem))
    every = everything(blocks)
    some = reduced(Blocks(blocks.field), exact + 0.01)
    assert some.complete
    assert some.bound <= exact + 0.01
    assert 0 < len(some) < len(every)
    for found in (every, some):
        assert least(listed(problem, blocks.field.outlook, found)) == pytest.approx(exact, abs=1e-4)


@pytest.mark.parametrize("objective", ["time", "capacity"])
def test_other_objectives_are_proven_over_all_schedules_where_these_are_few(objective, monkeypatch):
    offers = {"buy": purchase(9000, units={"max": 2}), "hour": hourly(2, units={"max": 1})}
    world = program(quote(offers), PROGRAMS["in turn"], objective=objective, budget={"total": 40_000})
    full, columns = [], []
    for change, plans in ((fully_listed, full), (unlisted, columns)):
        change(world, monkeypatch)
        plans.append(planned(world))
    assert [(one.status, one.objective.value, one.cost.npv) for one in columns] == [
        (one.status, one.objective.value, one.cost.npv) for one in full
    ]
    assert columns[0].status == "optimal"
    monkeypatch.setattr(search_module, "MOST_COLUMNS", 2)
    short = planned(world)
    assert (short.status, short.objective.bound) == ("feasible", None)


THREE = {"a": run((1, 30)), "b": run((1, 25), (2, 15)), "c": run((1, 20))}


def test_enumeration_that_runs_out_of_time_proves_only_what_was_completed(monkeypatch):
    field = field_of(unlisted(program(offered("bought"), THREE), monkeypatch))
    least = next(field.assignments())[0]
    over = reduced(Blocks(field, time.monotonic() - 1), np.inf)
    assert (over.complete, len(over)) == (False, 0)
    assert 0 < over.bound <= least
    blocks = Blocks(field)
    ((block, _),) = reduced(blocks, np.inf).groups
    best = blocks.least(block)
    blocks = Blocks(field)
    low = blocks.within(block, best)
    blocks.ends = time.monotonic() - 1
    with pytest.raises(columns_module.OutOfTimeError):
        blocks.within(block, np.inf)
    assert len(blocks.within(block, best)) == len(low) > 0


def test_a_search_without_time_to_enumerate_has_a_plan_and_a_bound_below_it(monkeypatch):
    world = program(offered("bought"), THREE)
    unlisted(world, monkeypatch)
    exact = planned(world)
    monkeypatch.setattr(search_module.Blocks, "within", _late)
    plan = planned(world)
    assert (exact.status, plan.status) == ("optimal", "feasible")
    assert plan.objective.bound <= exact.objective.value <= plan.objective.value


def _late(*_):
    raise columns_module.OutOfTimeError


@pytest.mark.parametrize("most", [1, 2, 5])
def test_schedules_that_were_left_out_never_raise_a_bound(most, monkeypatch):
    """Neither of a block nor of a part of one: what was kept may not hold the cheapest."""
    problem = unlisted(program(offered("bought"), THREE), monkeypatch)
    field = field_of(problem)
    exact = Blocks(field)
    block = field.blocks((0, 0, 0))[0]
    whole, part = exact.bound(block, np.inf), exact.part(block[:2], np.inf)
    monkeypatch.setattr(columns_module, "MOST_SCHEDULES", most)
    few = Blocks(field)
    assert few.bound(block, np.inf) <= whole
    assert few.part(block[:2], np.inf) <= part
    assert not reduced(few, np.inf).complete
