"""The front of the small market: ten nodes for 100 days, or twenty for 50."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from optimizer.analysis.pareto import pareto
from optimizer.api import SolveOptions
from optimizer.errors import InputError
from tests.unit.analysis.small import small


def test_both_plans_stand_on_the_front(tmp_path: Path) -> None:
    """Ready on 2027-02-01: 50 days end on 03-22, 100 on 05-11."""
    front = pareto(small(tmp_path))
    assert front is not None
    assert front.complete
    assert [(point.finish, point.total, point.nodes) for point in front.points] == [
        (dt.date(2027, 3, 22), 2_000_000, 20),
        (dt.date(2027, 5, 11), 1_000_000, 10),
    ]
    assert {point.vendors for point in front.points} == {("Ada",)}


def test_a_limit_takes_its_part_of_the_front_away(tmp_path: Path) -> None:
    front = pareto(small(tmp_path, "budget.total=1.5e6"))
    assert front is not None
    assert [point.nodes for point in front.points] == [10]


def test_a_later_plan_that_costs_the_same_is_left_out(tmp_path: Path) -> None:
    """Sold by the ten, nine nodes for 110 days cost as much as ten for 100."""
    modes = (
        "[{platform: h100-sxm, nodes: 10, days: 100, source: x}, {platform: h100-sxm, nodes: 9, days: 110, source: x}]"
    )
    loaded = small(tmp_path, f"workloads.train.modes={modes}")
    quote = loaded.quotes["ada"]
    offer = quote.offers["node"]
    tens = offer.model_copy(update={"units": offer.units.model_copy(update={"step": 10})})
    loaded.quotes["ada"] = quote.model_copy(update={"offers": {"node": tens}})  # type: ignore[index]
    del loaded.quotes["bob"]  # type: ignore[attr-defined]
    front = pareto(loaded)
    assert front is not None
    assert [point.finish for point in front.points] == [dt.date(2027, 5, 11)]


@pytest.mark.parametrize("solver", ["highs", "enumerate"])
def test_every_solver_finds_the_same_front(tmp_path: Path, solver: str) -> None:
    modes = (
        "[{platform: h100-sxm, nodes: 2, days: 100, source: x}, {platform: h100-sxm, nodes: 4, days: 50, source: x}]"
    )
    loaded = small(tmp_path, f"workloads.train.modes={modes}")
    own, other = (pareto(loaded, options=SolveOptions(solver=name)) for name in ("auto", solver))  # type: ignore[arg-type]
    assert own is not None
    assert other is not None
    assert own.points == other.points
    assert len(own.points) == 2


def test_no_plan_no_front(tmp_path: Path) -> None:
    assert pareto(small(tmp_path, "budget.total=10")) is None


def test_the_objective_must_be_cost(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pareto compares costs"):
        pareto(small(tmp_path, "objective=time"))
