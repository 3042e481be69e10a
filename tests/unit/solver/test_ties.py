"""Plans of equal objective: one of them is always the answer."""

from __future__ import annotations

from typing import Any

import pytest

from optimizer.solver.found import SolverName
from optimizer.solver.ties import tie_key
from tests.unit.cost.world import day, frame, platform, purchase, quote, site, stated, workload
from tests.unit.solver.deciding import awarded, decided, options, problem

SOLVERS: list[SolverName] = ["auto", "highs", "enumerate"]


def answer(solver: SolverName, *quotes: Any, **changes: Any) -> tuple[dict[str, int], str]:
    """Return the awards and the end of the run."""
    found = decided(frame(*quotes, **changes), solver)
    assert found.choice is not None
    return awarded(found), found.choice.last_run.isoformat()


@pytest.mark.parametrize("solver", SOLVERS)
def test_fewest_nodes_first(solver: SolverName) -> None:
    """3 nodes at 200 and 2 at 300 cost the same; two nodes run longer."""
    offers = {"a": purchase(200, units={"min": 3}), "b": purchase(300, units={"max": 2})}
    modes = workload(stated(3, 20), stated(2, 30))
    assert answer(solver, quote(offers), workloads=modes) == ({"q/b": 2}, "2027-01-30")


@pytest.mark.parametrize("solver", SOLVERS)
def test_then_the_earliest_end(solver: SolverName) -> None:
    """Both deliveries cost the same; the run on the first ends earlier."""
    offers = {"a": purchase(100, lead_weeks=4), "b": purchase(100)}
    assert answer(solver, quote(offers)) == ({"q/b": 2}, "2027-01-30")


@pytest.mark.parametrize("solver", SOLVERS)
def test_then_the_fewest_awards(solver: SolverName) -> None:
    """Two of one offer, or one each of two."""
    offers = {"a": purchase(100, units={"max": 1}), "b": purchase(100), "c": purchase(100, units={"max": 1})}
    assert answer(solver, quote(offers))[0] == {"q/b": 2}


@pytest.mark.parametrize("solver", SOLVERS)
def test_then_the_first_offer_by_quote_and_name(solver: SolverName) -> None:
    first, second = quote({"z": purchase(100)}, "a"), quote({"b": purchase(100)}, "b")
    assert answer(solver, second, first)[0] == {"a/z": 2}
    assert answer(solver, quote({"y": purchase(100), "x": purchase(100)}))[0] == {"q/x": 2}


@pytest.mark.parametrize("solver", SOLVERS)
def test_then_the_earliest_delivery(solver: SolverName) -> None:
    """The run waits for the release whether the boxes come at once or with the power of 02-01."""
    power = [{"from": "2027-01-01", "kw": 50}, {"from": "2027-02-01", "kw": 60}]
    world = frame(
        quote(purchase(100)), sites={"hall": site(power=power)}, workloads=workload(stated(2, 30), release="2027-03-01")
    )
    found = decided(world, solver)
    assert found.choice is not None
    assert [taken.option.lots[0].delivery for taken in found.choice.taken] == [day("2027-01-01")]


def test_the_key_counts_nodes_end_awards_ranks_then_details() -> None:
    rack = platform(purchase_unit="rack", nodes_per_rack=2, accelerators_per_node=4)
    world = frame(quote({"a": purchase(), "b": purchase()}), platforms=[rack])
    found = decided(world, "enumerate")
    assert found.choice is not None
    offers = sorted({option.offer_key for option in problem(world).options})
    key = tie_key(found.choice, offers)
    assert key == (2, day("2027-01-30"), 1, 1, (("q", "a", "hall", day("2027-01-01"), 1),))
    assert len(options(world, "b")) == 1
