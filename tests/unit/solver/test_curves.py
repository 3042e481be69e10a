"""Supply curves against every combination of awards, and bounds of schedules against exact prices."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest

from optimizer.cost.after import After
from optimizer.cost.choice import Choice, Taken
from optimizer.cost.plan_cost import price
from optimizer.solver import profiles as profiles_module
from optimizer.solver.backend import Settings
from optimizer.solver.columns import Blocks, field_of
from optimizer.solver.curves import curve
from optimizer.solver.partitions import undominated
from optimizer.solver.planner import decide
from tests.property.instances import several
from tests.unit.cost.world import frame, purchase, quote, run
from tests.unit.solver.deciding import prepared, problem

BREAKS = ({1: 100}, {1: 100, 3: 80}, {2: 90, 4: 70})


@pytest.mark.parametrize("seed", range(6))
def test_the_curve_is_the_least_of_all_awards(seed: int):
    """Minimum, step, breaks of both kinds and lots of three offers; units wanted on each day something is ready."""
    r = Random(seed)  # noqa: S311 - reproducible cases, no secrets
    offers = {}
    for name in "abc":
        kind = r.choice(["all_units", "incremental"])
        breaks = r.choice(BREAKS[:2] if kind == "incremental" else BREAKS)
        lots = [{"units": 1, "date": "2027-02-01"}, {"units": "rest", "date": "2027-04-01"}]
        timing = (
            {"lots": lots, "lead_weeks": None}
            if kind == "all_units" and r.random() < 0.5
            else {"lead_weeks": r.choice([2, 10])}
        )
        units = {"min": r.choice([1, 2]), "step": r.choice([1, 2]), "max": 4}
        offers[name] = purchase({kind: breaks}, units=units, **timing)
    world = frame(quote(offers), finance={"discount_rate": 0.08})
    (pool,) = problem(world).pools
    idle = After("idle", world.last_day)
    found = curve(pool, idle, 6, 300, world)
    menus = [
        [None, *(Taken(option, units) for units in range(1, 5) if _allowed(option, units))] for option in pool.options
    ]
    plans = [[award for award in plan if award] for plan in product(*menus)]
    prices = [_cost(plan, world) for plan in plans]
    for number, day in enumerate(found.ready):
        there = [_ready(plan, int(day), world) for plan in plans]
        for wanted in range(7):
            enough = [plan for plan, count in enumerate(there) if count >= wanted]
            costs = [prices[plan] for plan in enough]
            assert found.least[number, wanted] == pytest.approx(min(costs, default=np.inf), abs=1e-6), (day, wanted)
            for value in (30, 95):  # up to four units earn it, also those that come later
                earned = [value * min(4, sum(award.units for award in plan)) for plan in (plans[own] for own in enough)]
                exact = min((c - e for c, e in zip(costs, earned, strict=True)), default=np.inf)
                assert found.used(value, 4).least[number, wanted] <= exact + 1e-6, (day, wanted, value)


def _allowed(option, units):
    price = option.offer.price
    allowed, first = option.offer.units, min(price.breaks)
    return units >= max(allowed.min, first) and units % allowed.step == 0


def _ready(plan, day, world):
    total = 0
    for award in plan:
        left = award.units
        for lot in award.option.lots:
            count = left if lot.units is None else min(left, lot.units)
            left -= count
            total += count if (lot.ready - world.today).days <= day else 0
    return total


def _cost(plan, world):
    choice = Choice(tuple(plan), (run(world),))
    return float(price(choice, After("idle", world.last_day), world).npv)


@pytest.mark.parametrize("seed", range(400, 412))
def test_the_best_plan_costs_no_less_than_the_bounds_of_its_blocks(seed: int, monkeypatch: pytest.MonkeyPatch):
    """And its schedules, or others that replace them, are among those that dominance keeps."""
    one = several(seed)
    one.scenario["objective"] = "cost"
    world = one.frame()
    monkeypatch.setattr(profiles_module, "LISTED", 10**9)
    ready = prepared(world)
    found = decide(ready, "auto", Settings())
    if found.choice is None:
        return
    monkeypatch.setattr(profiles_module, "LISTED", 0)
    field = field_of(prepared(world).problem)
    places = {pool.name: number for number, pool in enumerate(field.outlook.pools)}
    pools = [places[own.pool] for own in found.choice.runs]
    blocks, value = Blocks(field), float(found.bound or 0)
    constant = float(field.outlook.constant.min())
    parts = field.blocks(pools)
    total = constant + field.entry(enumerate(pools)) + sum(field.quick(block) for block in parts)
    assert total <= value + 1e-6 * max(1.0, abs(value))
    total = constant + field.entry(enumerate(pools)) + blocks.bounds(parts, np.inf)
    assert total <= value + 1e-6 * max(1.0, abs(value))
    for block in parts:
        every = field.enumeration(block).within(np.inf, 10**6)
        kept = undominated(every, field)
        assert 0 < len(kept) <= len(every)
        assert kept.bound.min() == pytest.approx(every.bound.min())
