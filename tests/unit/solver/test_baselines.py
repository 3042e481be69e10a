"""What the obvious alternatives cost: never less than the plan, and by how much more."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from optimizer.cost.frame import Frame
from optimizer.errors import InputError, InternalError
from optimizer.results import Plan
from optimizer.schema.base import OfferType
from optimizer.solver.assemble import priced
from optimizer.solver.backend import Answer, Settings
from optimizer.solver.baselines import no_worse, restricted, with_baselines
from optimizer.solver.enumerate import enumerate_plans
from optimizer.solver.linear import LinearModel, Terms
from tests.property.clauses import clauses
from tests.property.instances import instance
from tests.unit.cost.world import frame, hourly, lease, purchase, quote, reserved, stated, workload
from tests.unit.solver.deciding import decided, inputs, planned, prepared
from tests.unit.solver.faults import Altered, inject

Rows = dict[str, dict[str, Any]]


def compared(world: Frame) -> tuple[Plan, Rows]:
    plan = with_baselines(planned(world), prepared(world), inputs(world), "auto", Settings())
    return plan, {row["name"]: row for row in plan.analyses["baselines"]}


def test_each_alternative_by_hand() -> None:
    """3 boxes: two at 100 from one quote and one at 150 from the other, 350; alone 3 x 150; hours 3 x 30 x 24 x 1."""
    two = quote({"two": purchase(100, units={"max": 2}), "term": reserved(0.5, 2)})
    other = quote({"any": purchase(150), "hours": hourly(1)}, "other", vendor="Best")
    _, rows = compared(frame(two, other, workloads=workload(stated(3, 30))))
    assert {name: row["difference"] for name, row in rows.items()} == {
        "single_quote": 100, "owned": None, "rented": 2160 - 350, "on_demand": 2160 - 350,
    }  # fmt: skip
    assert rows["single_quote"]["detail"] == "other"
    assert (rows["on_demand"]["total"], rows["on_demand"]["finish"]) == (2160, "2027-01-30")
    assert rows["owned"]["reason"] == "there are no nodes yet: none owned, none signed"


def test_a_plan_of_one_quote_is_its_own_baseline() -> None:
    _, rows = compared(frame(quote(purchase(100)), quote(purchase(150), "dear")))
    assert (rows["single_quote"]["detail"], rows["single_quote"]["difference"]) == ("q", 0)
    assert rows["rented"]["reason"] == "no rental offer can be used"
    assert rows["on_demand"]["reason"] == "no on-demand offer can be used"


def test_the_fleet_of_today_may_do_but_late_or_dear() -> None:
    """One old box owned takes 300 days; by time it is 270 days behind, by cost nothing is cheaper."""
    owned = [{"platform": "box", "nodes": 1, "site": "hall"}]
    needs = workload(stated(1, 300), stated(2, 30))
    _, timed = compared(frame(quote(purchase(100)), owned=owned, workloads=needs, objective="time"))
    assert (timed["owned"]["difference"], timed["owned"]["unit"]) == (270, "days")
    _, cost = compared(frame(quote(purchase(100)), owned=owned, workloads=needs))
    assert cost["owned"]["difference"] == 0


def test_units_signed_already_stay_in_every_alternative_and_no_more_of_them() -> None:
    """Two are signed at 100; on demand must pay them too, today's fleet cannot take a third."""
    world = frame(
        quote({"node": purchase(100), "hours": hourly(1)}),
        fix=[{"quote": "q", "offer": "node", "units": 2}],
        workloads=workload(stated(3, 30)),
    )
    _, rows = compared(world)
    assert rows["on_demand"]["total"] == 200 + 2160
    assert rows["owned"]["reason"] == "train needs 3 nodes of box to end in time, hall has 2."


def test_why_an_alternative_is_impossible_is_said_of_the_nearest_pool() -> None:
    offers = {"buy": purchase(100), "few": hourly(1, units={"max": 2}), "lease": lease(1, 3)}
    _, rows = compared(frame(quote(offers), workloads=workload(stated(5, 30))))
    assert rows["on_demand"]["status"] == "infeasible"
    assert rows["on_demand"]["reason"] == "train needs 5 nodes of box to end in time, Acme/eu has 2."


def test_more_capacity_is_better() -> None:
    """Boxes for 500: three and two more of the other quote; of one quote three or four."""
    offers = [quote(purchase(100, units={"max": 3})), quote(purchase(125), "other", vendor="Best")]
    _, rows = compared(frame(*offers, objective="capacity", budget={"total": 550}))
    assert (rows["single_quote"]["objective"], rows["single_quote"]["difference"]) == (32, 8)


def test_a_baseline_that_beats_a_plan_called_optimal_is_reported() -> None:
    """A search that lied about its plan is found out."""
    world = frame(quote({"buy": purchase(100), "hours": hourly(1)}))
    plan = planned(world)
    worse = plan.model_copy(update={"objective": plan.objective.model_copy(update={"value": Decimal(1441)})})
    with pytest.raises(InternalError, match=r"rented .1,440\.00. is better than the plan called optimal"):
        with_baselines(worse, prepared(world), inputs(world), "auto", Settings())


class StoppedEarly(Altered):
    """Stops its first solve at the worst plan there is; later ones are honest."""

    first = True

    def solve(self, model: LinearModel, objective: Terms, settings: Settings) -> Answer:
        if not self.first:
            return super().solve(model, objective, settings)
        self.first = False
        found = super().solve(model, {v: -c for v, c in objective.items()}, settings)
        return replace(found, outcome="feasible", objective=model.value(objective, found.values), bound=None)


def test_a_search_that_was_stopped_is_no_worse_than_the_baselines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two boxes at 100 each are the best quote alone; the plan at hand takes the most of everything."""
    world = frame(quote(purchase(100, units={"max": 9})), quote(hourly(9), "hours"))
    inject(monkeypatch, StoppedEarly())
    found = decided(world)
    assert found.status == "feasible"
    assert found.choice is not None
    assert priced(found.choice, world).npv > 200
    better = no_worse(found, prepared(world), inputs(world), "auto", Settings())
    assert (better.status, better.bound) == ("feasible", found.bound)
    assert better.choice is not None
    assert priced(better.choice, world).npv == 200
    assert better.proof.endswith("a plan with fewer offers was better")


def test_a_proven_plan_is_left_alone() -> None:
    world = frame(quote(purchase(100)))
    found = decided(world)
    assert no_worse(found, prepared(world), inputs(world), "auto", Settings()) is found


def test_no_plan_costs_more_than_its_baselines_and_enumeration_agrees() -> None:
    beaten = 0
    for seed in [*range(41_000, 41_015), *range(42_000, 42_015)]:
        world = (instance if seed < 42_000 else clauses)(seed).frame()
        with suppress(InputError):  # too large to enumerate
            enumerate_plans(prepared(world).problem)
            if planned(world).status != "optimal":
                continue
            plan, rows = compared(world)
            assert all(row["difference"] >= 0 for row in rows.values() if row["difference"] is not None), seed
            hours = restricted(prepared(world).problem, lambda option: option.offer.type == OfferType.ON_DEMAND)
            oracle = enumerate_plans(hours)
            assert (oracle.choice is None) == (rows["on_demand"]["total"] is None), seed
            if oracle.bound is not None and world.scenario.objective == "cost":
                assert rows["on_demand"]["objective"] == pytest.approx(float(oracle.bound), abs=0.01), seed
            beaten += any(row["difference"] for row in rows.values())
            assert plan.objective.value is not None
    assert beaten > 3
