"""Which limits bind: shown by solving again without each."""

from __future__ import annotations

from typing import Any

import pytest

from optimizer.cost.frame import Frame
from optimizer.solver.backend import Settings
from optimizer.solver.binding import with_binding
from optimizer.solver.planner import Modes
from optimizer.solver.relax import Lever, lifted
from optimizer.solver.requirement import requirement
from tests.unit.cost.world import frame, purchase, quote, site, stated, workload
from tests.unit.solver.deciding import inputs, planned, problem


def binding(world: Frame) -> dict[str, bool | None]:
    """Return whether each limit of the best plan binds."""
    plan = planned(world)
    assert plan.objective.value is not None
    found = with_binding(plan.limits, plan.objective.value, inputs(world), Modes(), "auto", Settings())
    return {limit.name: limit.binding for limit in found}


def hall(kw: int) -> dict[str, Any]:
    return {"sites": {"hall": site(power=[{"from": "2027-01-01", "kw": kw}])}}


BREAK = {"all_units": {1: 100, 4: 40}}
"""Two at 100 are dearer than four at 40."""


def test_a_limit_that_is_used_up_binds_when_more_would_be_better() -> None:
    assert binding(frame(quote(purchase(BREAK)), **hall(20)))["power"] is True


def test_a_limit_that_is_used_up_but_gains_nothing_does_not_bind() -> None:
    assert binding(frame(quote(purchase(100)), **hall(20)))["power"] is False


def test_a_limit_with_slack_is_not_asked() -> None:
    assert binding(frame(quote(purchase(100)), **hall(25)))["power"] is None


def test_a_deadline_binds_when_a_longer_run_would_be_cheaper() -> None:
    modes = workload(stated(4, 30), stated(2, 60), deadline="2027-01-30")
    assert binding(frame(quote(purchase(100)), workloads=modes))["deadline"] is True


@pytest.mark.parametrize(("name", "world", "figures"), [
    ("budget", frame(quote(purchase(BREAK)), budget={"total": 1}), (160, 1)),
    ("power", frame(quote(purchase(BREAK)), **hall(1)), (20, 1)),
    ("supply", frame(quote(purchase(units={"max": 1}))), (2, 1)),
])  # fmt: skip
def test_the_least_a_limit_would_have_to_be(name: Any, world: Frame, figures: tuple[int, int]) -> None:
    """Each by itself, whatever else it costs: the cheapest order is four boxes, the smallest two."""
    need = requirement(Lever(name), problem(lifted(world, {Lever(name)})), world, Settings())
    assert (need.needed, need.available) == figures
