"""A decision in another frame stays the same decision."""

from __future__ import annotations

from optimizer.analysis.lines import rebound
from optimizer.cost.choice import Choice, Taken
from tests.unit.cost.world import frame, hourly, option, quote


def test_a_hire_stays_with_its_run() -> None:
    world, dearer = (frame(quote(hourly(price))) for price in (10, 12))
    hired = Taken(option(world), 3, "train")
    (found,) = rebound(Choice((hired,), ()), dearer).taken
    assert (found.units, found.workload) == (3, "train")
    assert found.option.offer is dearer.quotes["q"].offers[hired.option.name]
