"""bridge and capacity-program: several runs in one plan, rented and bought, one after another."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pytest
from documents import converts, orders_add_up, written

from optimizer.analysis.explain import explain
from optimizer.api import inputs_of, load, solve, verify
from optimizer.errors import InputError
from optimizer.io.shipped import shipped
from optimizer.results import Conflict, Plan
from optimizer.solver.model import build_model
from optimizer.solver.planner import Modes, prepare

BRIDGE = shipped("scenarios") / "bridge.yaml"
PROGRAM = shipped("scenarios") / "capacity-program.yaml"


@pytest.fixture(scope="module")
def bridge() -> Plan:
    return solve(BRIDGE)


@pytest.fixture(scope="module")
def program() -> Plan:
    return solve(PROGRAM)


def test_the_start_is_rented_and_the_rest_goes_on_bought_nodes(bridge: Plan):
    assert bridge.status == "optimal"
    start, rest = bridge.workloads["start"], bridge.workloads["rest"]
    rented = [award for award in bridge.awards if award.workload == "start"]
    (bought,) = [award for award in bridge.awards if award.type == "purchase"]
    assert len(rented) == len(bridge.awards) - 1 > 0
    assert all((award.place, award.delivery_date) == (start.place, start.start) for award in rented)
    assert sum(award.nodes for award in rented) >= start.nodes
    assert (bought.workload, rest.place) == (None, "hall-a")
    assert start.end < rest.start
    assert bought.delivery_date < rest.start
    assert bought.nodes >= rest.nodes


def test_one_fleet_carries_the_program(program: Plan):
    assert program.status == "optimal"
    (bought,) = [award for award in program.awards if award.type == "purchase"]
    in_hall = [run for run in program.workloads.values() if run.place == bought.place]
    assert {"base-70b", "experts-235b", "refresh-70b"} <= {run.name for run in in_hall}
    assert max(run.nodes for run in in_hall) <= bought.nodes < sum(run.nodes for run in in_hall)
    base, experts, refresh = (program.workloads[name] for name in ("base-70b", "experts-235b", "refresh-70b"))
    assert base.end < experts.start <= experts.end < refresh.start
    periods = {limit.period for limit in program.limits if limit.name == "deadline"}
    assert periods == set(program.workloads)


def test_plans_of_several_runs_verify_and_their_documents_agree(bridge: Plan, program: Plan, tmp_path: Path):
    first, second = (written(plan, tmp_path) for plan in (bridge, program))
    for source in (first, second):
        assert verify(source.file).ok
        orders_add_up(source)
    converts(first, "CNY", Decimal("7.19424460432"))


def test_a_model_over_runs_that_are_not_listed_is_refused():
    """What is not listed would be missing in it: an answer from it could be wrong."""
    problem = prepare(inputs_of(load(BRIDGE)), Modes()).problem
    assert problem.windows is not None
    with pytest.raises(InputError, match="workloads: 2 workloads with more modes than can be listed"):
        build_model(problem)


def test_a_deadline_too_early_is_told_the_first_that_works() -> None:
    found = explain(BRIDGE, sets=["workloads.start.deadline=2027-02-01"])
    assert isinstance(found, Conflict)
    cures = {change.limit: change for change in found.relaxations}
    day = dt.date.fromisoformat(str(cures["deadline"].to))
    assert cures["deadline"].set == f"workloads.start.deadline={day}"
    named = {limit.name: (limit.needed, limit.available) for limit in found.limits}
    assert named["deadline"] == ((day - dt.date(2026, 11, 30)).days, 63)
    statuses = [solve(BRIDGE, sets=[f"workloads.start.deadline={one}"]).status for one in (day, day - dt.timedelta(1))]
    assert statuses == ["optimal", "infeasible"]
