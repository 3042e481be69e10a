"""Amounts in the trillions: rupiah and dong are rescaled and solved, never answered with a solver's message."""

from __future__ import annotations

from decimal import Decimal

import pytest

from optimizer.solver.found import SolverName
from optimizer.solver.model import build_model
from tests.unit.cost.world import frame, purchase, quote, site, stated, workload
from tests.unit.solver.deciding import awarded, decided, planned, problem

TRILLION = 10**12
SOLVERS: list[SolverName] = ["auto", "highs"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_trillion_a_node_for_a_hundred_thousand_nodes(solver: SolverName) -> None:
    """IDR 1e17 in all: the model counts whole rupiah instead of thousandths of a cent, and is still right."""
    offers = {"a": purchase(TRILLION, units={"max": 60_000}), "b": purchase(TRILLION + 10**9)}
    world = frame(quote(offers, currency="IDR"), currency="IDR", workloads=workload(stated(100_000, 30)))
    assert build_model(problem(world)).digits <= 0
    found = decided(world, solver)
    assert (found.status, awarded(found)) == ("optimal", {"q/a": 60_000, "q/b": 40_000})
    plan = planned(world, solver)
    assert plan.cost is not None
    assert plan.cost.total == 100_000 * TRILLION + 40_000 * 10**9


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("left", "status"), [(0, "optimal"), (-1, "infeasible")])
def test_a_budget_of_such_a_size_is_still_a_budget(solver: SolverName, left: int, status: str) -> None:
    """Within what the model counts in: a thousandth of the price of one node."""
    budget = 100_000 * TRILLION + left * TRILLION // 1000
    world = frame(
        quote(purchase(TRILLION), currency="IDR"),
        currency="IDR", workloads=workload(stated(100_000, 30)), budget={"total": budget},
    )  # fmt: skip
    assert decided(world, solver).status == status


def test_dong_and_dollars_in_one_scenario() -> None:
    """VND 2.55e9 at 0.0000392 is USD 99,960, less than 100,000."""
    dong, dollars = quote({"a": purchase(2.55e9)}, "dong", currency="VND"), quote({"b": purchase(100_000)}, "dollars")
    world = frame(dong, dollars, fx={"date": "2026-11-27", "base": "USD", "rates": {"VND": 0.0000392}})
    found = planned(world)
    assert found.awards[0].quote == "dong"
    assert found.cost is not None
    assert found.cost.total == Decimal(199_920)


def test_the_budget_is_exact_to_the_minor_unit_when_amounts_are_ordinary() -> None:
    """Two nodes at 333,333.335 with a hall cost: 666,666.67 is enough, a cent less is not."""
    for total, status in ((666_666.67, "optimal"), (666_666.66, "infeasible")):
        world = frame(quote(purchase(333_333.335)), budget={"total": total}, sites={"hall": site()})
        assert decided(world).status == status
