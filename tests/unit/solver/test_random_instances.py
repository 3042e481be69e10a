"""The generator of benchmark instances: reproducible, of the stated size, with limits that bind when they should."""

from __future__ import annotations

from tests.benchmarks.instances import QUOTES_PER_PLATFORM, Size, instance
from tests.unit.solver.deciding import decided, planned


def test_an_instance_has_the_size_asked_for() -> None:
    world = instance(1, Size(3, 4, 50))
    assert len(world.quotes) == 4 * QUOTES_PER_PLATFORM
    assert list(world.scenario.workloads) == ["w0", "w1", "w2"]
    assert world.scenario.workloads["w1"].after == ("w0",)
    offers = [offer for quote in world.quotes.values() for offer in quote.offers.values()]
    assert sum(offer.type != "purchase" for offer in offers) == 2 * 4
    counts = {len([m for m in work.modes if m.platform == "p3"]) for work in world.scenario.workloads.values()}
    assert min(counts) > 20


def test_a_seed_gives_the_same_instance_and_another_seed_another() -> None:
    first, again, other = (instance(seed, Size(2, 3, 20)) for seed in (7, 7, 8))
    assert first.scenario == again.scenario
    assert first.quotes == again.quotes
    assert first.scenario != other.scenario


def test_tighter_limits_never_cost_less_and_tight_enough_leave_nothing() -> None:
    costs = []
    for looseness in (None, 2.0, 0.8):
        plan = planned(instance(3, Size(1, 2, 15, looseness)))
        assert plan.cost is not None
        costs.append(plan.cost.npv)
    assert costs == sorted(costs)
    assert decided(instance(3, Size(1, 2, 15, 0.01))).status == "infeasible"
