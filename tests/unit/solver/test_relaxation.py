"""The node-day relaxation: never above the true optimum, never infeasible where there is a plan."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.cost.frame import Frame
from optimizer.errors import InputError
from optimizer.solver.backend import Settings
from optimizer.solver.enumerate import enumerate_plans
from optimizer.solver.relaxation import first_proof, relaxed
from optimizer.solver.relaxed_pools import hull
from optimizer.units import add_months
from tests.benchmarks.instances import Size
from tests.benchmarks.instances import instance as benchmark
from tests.property.clauses import clauses
from tests.property.instances import Instance, instance, several
from tests.unit.cost.world import (
    dedicated,
    frame,
    hourly,
    platform,
    purchase,
    quote,
    reserved,
    site,
    stated,
    wafer,
    workload,
)
from tests.unit.solver.deciding import decided, prepared


def bound(world: Frame) -> Decimal | str:
    """Return the bound in cents, or the outcome without one."""
    found = relaxed(prepared(world).problem, Settings())
    return found.outcome if found.bound is None else round(found.bound, 2)


def near(amount: float) -> Any:
    return pytest.approx(Decimal(str(amount)), rel=Decimal("2e-6"), abs=Decimal("0.02"))


def test_one_run_on_bought_boxes_is_exact() -> None:
    """The mode with fewer node-days: 2 boxes for 30 days at 100 each."""
    assert bound(frame(quote(purchase(100)), workloads=workload(stated(2, 30), stated(3, 25)))) == near(200)


@pytest.mark.parametrize(("total", "short"), [(202, True), (300, False)])
def test_it_tells_where_money_is_short(total: int, short: bool) -> None:
    """Two boxes at 100 use up 99 % of 202, and two thirds of 300."""
    world = frame(quote(purchase(100)), workloads=workload(stated(2, 30)), budget={"total": total})
    found = relaxed(prepared(world).problem, Settings())
    assert (found.outcome, found.short) == ("bounded", short)
    assert set(found.places) == set(world.scenario.workloads)


def test_a_tier_is_taken_whole() -> None:
    """5 boxes: five at 100, or six at 80."""
    offer = purchase({"all_units": {1: 100, 6: 80}})
    assert bound(frame(quote(offer), workloads=workload(stated(5, 30)))) == near(480)


def test_rented_days_are_counted_at_their_price() -> None:
    """2 boxes x 30 days x 24 h; a reserved term is paid whole."""
    assert bound(frame(quote(hourly(1)))) == near(1440)
    assert bound(frame(quote(reserved(0.5, 12)))) == near(2 * 0.5 * 12 * 730)


def test_a_dedicated_system_costs_its_run() -> None:
    world = frame(quote(dedicated(900, (4, 60))), platforms=[platform(), wafer()])
    assert bound(world) == near(900)


def test_two_runs_one_after_the_other_share_boxes_that_two_at_once_cannot() -> None:
    """30 days on 2 boxes, twice: in 60 days two boxes do, in 30 days it takes four."""
    runs = {"a": {"modes": [stated(2, 30)]}, "b": {"modes": [stated(2, 30)]}}
    free = frame(quote(purchase(100)), workloads=runs)
    assert bound(free) == near(200)
    hurried = {name: run | {"deadline": "2027-01-30"} for name, run in runs.items()}
    assert bound(frame(quote(purchase(100)), workloads=hurried)) == near(400)


@pytest.mark.parametrize(
    "limits",
    [
        {"sites": {"hall": site(power=[{"from": "2027-01-01", "kw": 39}])}},
        {"sites": {"hall": site(zones={"a": {"racks": 3, "kw_per_rack": 10, "cooling": "air"}})}},
        {"budget": {"total": 399}},
        {"budget": {"by_fiscal_year": {"2027": 399}}},
    ],
    ids=["power", "racks", "budget", "year"],
)
def test_what_two_runs_cannot_share_is_proven_infeasible(limits: dict[str, Any]) -> None:
    """Each alone would fit; four boxes at once do not."""
    runs = {name: {"modes": [stated(2, 30)], "deadline": "2027-01-30"} for name in ("a", "b")}
    world = frame(quote(purchase(100)), workloads=runs, **limits)
    assert bound(world) == "infeasible"
    assert decided(world).status == "infeasible"


def test_no_claim_is_made_where_something_has_a_negative_cost() -> None:
    grant = [{"name": "grant", "per": "cluster", "amount": -100, "every": "once"}]
    assert bound(frame(quote(purchase(100)), costs=grant)) == "unknown"
    rebate = [{"item": "rebate", "per": "node", "price": -10}]
    assert bound(frame(quote(purchase(100, lines=rebate)))) == "unknown"


def test_without_cost_as_objective_it_bounds_nothing_but_may_prove_infeasible() -> None:
    runs = {name: {"modes": [stated(2, 30)], "deadline": "2027-01-30"} for name in ("a", "b")}
    short = {"sites": {"hall": site(power=[{"from": "2027-01-01", "kw": 39}])}}
    assert bound(frame(quote(purchase(100)), workloads=runs, objective="time")) == "unknown"
    assert bound(frame(quote(purchase(100)), workloads=runs, objective="time", **short)) == "infeasible"


def test_too_many_runs_to_list_are_bounded_first() -> None:
    """Three runs of 60 modes on six platforms: with limits for a tenth of them, infeasible before any search."""
    size = Size(workloads=3, platforms=6, modes=60, looseness=0.05)
    problem = prepared(benchmark(2, size)).problem
    assert problem.windows is not None
    answer = first_proof(problem, Settings()).answer
    assert answer is not None
    assert answer.status == "infeasible"
    wide = prepared(benchmark(2, replace(size, looseness=2.0))).problem
    answer, bound, places, _ = first_proof(wide, Settings())
    assert answer is None
    assert bound is not None
    assert bound > 10**6
    assert places.keys() == wide.frame.scenario.workloads.keys()
    assert set(places.values()) <= {pool.name for pool in wide.pools}
    listed = prepared(frame(quote(purchase(100)))).problem
    assert first_proof(listed, Settings()) == (None, None, {}, False)


def test_a_reserved_term_is_paid_from_its_own_days_at_its_own_tier() -> None:
    """Five boxes at the tier of four, not that of eight; 12 months paid on the first of each, from the day one is offered."""
    offer = reserved({"all_units": {1: 1, 4: 0.8, 8: 0.7}}, 12, units={"max": 9})
    world = frame(quote(offer), workloads=workload(stated(5, 30)), finance={"discount_rate": 0.1})
    paid = 5 * Decimal("0.8") * 730
    exact = sum(paid * world.discount(add_months(world.today, month)) for month in range(12))
    assert bound(world) == near(float(exact))


def test_a_run_in_a_hired_pool_pays_its_own_tier_for_its_own_days() -> None:
    """Two runs of 2 boxes for 30 days: each at the price of two, not at that of four."""
    offer = hourly({"all_units": {1: 1, 4: 0.5}})
    runs = {name: {"modes": [stated(2, 30)]} for name in ("a", "b")}
    assert bound(frame(quote(offer), workloads=runs)) == near(2 * 2 * 30 * 24 * 1)


def test_how_near_the_bound_is_to_the_optimum_of_a_known_instance() -> None:
    """Three runs on twelve platforms: proven optimal at 12,972,179 by the columns too; a bound within 8 %."""
    problem = prepared(benchmark(3, Size(3))).problem
    found = relaxed(problem, replace(Settings(), gap=0.01, workers=2))
    assert found.bound is not None
    assert Decimal("0.92") < found.bound / Decimal("12972179.17063131") <= 1


def by_cost(one: Instance) -> None:
    one.scenario["objective"] = "cost"


@pytest.mark.parametrize(("made", "seeds"), [(instance, 50), (clauses, 30), (several, 30)], ids=["one", "clauses", "several"])  # fmt: skip
def test_its_bound_never_exceeds_the_true_optimum(made: Any, seeds: int) -> None:
    """Against enumeration; and what it calls infeasible has no plan."""
    met: Counter[tuple[str, str]] = Counter()
    for seed in range(50_000, 50_000 + seeds):
        problem = prepared(made(seed).changed(by_cost).frame()).problem
        with suppress(InputError):  # too large to enumerate
            truth, found = enumerate_plans(problem), relaxed(problem, Settings())
            met[truth.status, found.outcome] += 1
            assert (truth.status, found.outcome) != ("optimal", "infeasible"), seed
            if truth.bound is not None and found.bound is not None:
                assert found.bound <= truth.bound, seed
    assert met["optimal", "bounded"] > seeds / 6
    assert met["infeasible", "infeasible"] > seeds / 40


points = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 900)), min_size=1, max_size=12)


@given(points)
def test_no_point_lies_below_the_hull(found: list[tuple[int, int]]) -> None:
    edge = hull(found)
    assert edge == sorted(edge)
    for left, right in zip(edge, edge[1:], strict=False):
        width, rise = right[0] - left[0], right[1] - left[1]
        assert all(width * (y - left[1]) >= rise * (x - left[0]) for x, y in found)
    assert {x for x, _ in found} >= {x for x, _ in edge}
