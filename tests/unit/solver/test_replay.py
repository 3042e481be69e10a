"""A plan's own figures, made again from its inputs."""

from __future__ import annotations

import pytest

from optimizer.solver.replay import replay_breaches
from tests.unit.cost.world import hourly, purchase, quote
from tests.unit.solver.deciding import inputs, planned
from tests.unit.solver.programs import PROGRAMS, fully_listed, program, unlisted


@pytest.mark.parametrize("listing", [fully_listed, unlisted])
@pytest.mark.parametrize("runs", ["two", "in turn"])
def test_the_capacity_of_several_runs_with_hires_is_computed_again(runs, listing, monkeypatch):
    """One box of 8 is bought, and another one hired: also for a run that follows."""
    offers = {"buy": purchase(9000, units={"max": 1}), "hour": hourly(0.5, units={"max": 1})}
    world = program(quote(offers), PROGRAMS[runs], objective="capacity", budget={"total": 40_000})
    listing(world, monkeypatch)
    plan = planned(world)
    hired = [award for award in plan.awards if award.workload is not None]
    assert (plan.objective.value, len(hired) > 0) == (8, True)
    assert not [one for one in replay_breaches(plan, inputs(world)) if one.limit_or_number.startswith("objective")]
    more = plan.model_copy(update={"objective": plan.objective.model_copy(update={"value": plan.objective.value + 8})})
    (breach,) = [one for one in replay_breaches(more, inputs(world)) if one.limit_or_number == "objective.value"]
    assert (breach.stated, breach.computed) == ("16", "8")
