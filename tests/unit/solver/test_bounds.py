"""Lower bounds of profiles: never above the best plan with that profile, and close to it where nothing is shared."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from optimizer.cost.frame import Frame
from optimizer.errors import InputError
from optimizer.solver.assemble import priced
from optimizer.solver.bounds import bounder
from optimizer.solver.enumerate import enumerate_plans
from optimizer.solver.problem import Problem, Profile
from tests.property.instances import Instance, instance
from tests.unit.cost.world import frame, hourly, lease, platform, purchase, quote, site, stated, workload
from tests.unit.solver.deciding import problem

USE = {"policy": "use", "max_accelerators": 64, "value_per_accelerator_hour": 5}


def best(found: Problem, profile: Profile) -> float | None:
    """Return the least present value of any plan with a profile; None without one."""
    choice = enumerate_plans(found.keep([profile])).choice
    return None if choice is None else float(priced(choice, found.frame).npv)


def gaps(world: Frame) -> list[float]:
    """Return, per profile with a plan, best value less bound."""
    found = problem(world)
    bound = bounder(found)
    values = [(best(found, profile), bound(profile)) for profile in found.profiles]
    return [value - least for value, least in values if value is not None]


def cheapest(one: Instance) -> None:
    one.scenario["objective"] = "cost"
    one.scenario.pop("budget", None)


@pytest.mark.parametrize("block", range(8))
def test_no_plan_is_below_the_bound_of_its_profile(block: int) -> None:
    """25 random instances each; those too large to enumerate say nothing."""
    found: list[float] = []
    for seed in range(25 * block, 25 * block + 25):
        with suppress(InputError):
            found += gaps(instance(seed).changed(cheapest).frame())
    assert len(found) > 20
    assert min(found) >= -1e-6 * 1e9  # floating point on amounts of a billion


@pytest.mark.parametrize(
    "offer",
    [purchase(1000), purchase(1000, lines=[{"item": "x", "per": "node", "price": 9}]), lease(70, 10), hourly(3)],
)
def test_with_one_plain_offer_the_bound_is_the_price(offer: dict[str, Any]) -> None:
    world = frame(
        quote(offer, tax={"rate": 0.1, "recoverable": False}),
        sites={"hall": site(electricity={"per_kwh": 0.1}, colocation={"per_kw_month": 100})},
        workloads=workload(stated(3, 30), stated(2, 50)),
        finance={"discount_rate": 0.08, "residual": {"share": 0.3}},
        policy={"contingency": 0.05},
    )
    assert gaps(world) == pytest.approx([0, 0], abs=1e-6)


def test_after_run_value_lowers_the_bound() -> None:
    plain = frame(quote(purchase(1000)))
    used = frame(quote(purchase(1000)), after_run=USE)
    assert (
        bounder(problem(used))(problem(used).profiles[0]) < bounder(problem(plain))(problem(plain).profiles[0]) < 2001
    )


@pytest.mark.parametrize("price", [1000, 500_000])
def test_with_one_offer_the_bound_of_a_used_fleet_is_its_price(price: int) -> None:
    """A box earns 321,600 after the run: at 1,000 the cap of eight is bought, at 500,000 the two that are needed."""
    world = frame(quote(purchase(price)), after_run=USE)
    assert gaps(world) == pytest.approx([0], abs=1e-6)


def test_nodes_we_have_of_another_platform_earn_their_value_too() -> None:
    """Owned nodes of one platform are used after a run on the other: their receipts belong to every plan."""
    world = frame(
        quote(purchase(10_000_000)),
        platforms=[platform(), platform("old")],
        owned=[{"platform": "old", "nodes": 4, "site": "hall"}],
        after_run=USE,
    )
    assert min(gaps(world)) >= 0


def test_for_time_the_bound_is_the_end_and_for_capacity_there_is_none() -> None:
    late = problem(frame(quote(purchase()), objective="time"))
    assert bounder(late)(late.profiles[0]) == 29  # 30 days from today, day 0
    most = problem(frame(quote(purchase()), objective="capacity", budget={"total": 500_000}))
    assert bounder(most)(most.profiles[0]) == float("-inf")
