"""A solver whose answers are altered is found out, whatever it lies about: no plan is handed out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from optimizer.errors import InternalError
from optimizer.solver import planner as planner_module
from optimizer.solver import search as search_module
from optimizer.solver.audit import ask_again, audited
from optimizer.solver.backend import Answer, Settings
from optimizer.solver.highs import Highs
from optimizer.solver.linear import LinearModel, Terms
from optimizer.solver.relaxation import FirstProof
from tests.benchmarks.instances import Size, instance
from tests.unit.cost.world import frame, hourly, lease, purchase, quote, stated, workload
from tests.unit.solver.deciding import decided, prepared
from tests.unit.solver.faults import Altered, inject

WORLD = frame(
    quote({"a": purchase(100, units={"max": 5}), "b": purchase(130), "c": lease(20, 6), "d": hourly(1)}),
    workloads=workload(stated(6, 30), stated(8, 20)),
)


class Worse(Altered):
    """Calls the worst plan it can find optimal: the honest values and objective of another solution."""

    def solve(self, model: LinearModel, objective: Terms, settings: Settings) -> Answer:
        found = super().solve(model, {v: -c for v, c in objective.items()}, settings)
        worst = model.value(objective, found.values)
        return replace(found, outcome="optimal", objective=worst, bound=worst)


class Moved(Altered):
    """Adds one to every value."""

    def solve(self, model: LinearModel, objective: Terms, settings: Settings) -> Answer:
        found = super().solve(model, objective, settings)
        return replace(found, values=[value + 1 for value in found.values])


LIES: dict[str, tuple[Any, str]] = {
    "a lower objective": (Altered(objective=1), "states an objective of 1, its solution has"),
    "a bound above the optimum": (Altered(bound=10**12), "states a bound of 1000000000000 above its own solution"),
    "other values": (Moved(), "the solution of cp-sat breaks a row"),
    "too few values": (Altered(values=[1]), "gives 1 values for"),
    "a worse plan called optimal": (Worse(), "was called optimal at .*, highs finds .*: no answer is given"),
    "infeasible": (Altered(outcome="infeasible", values=[], objective=None, bound=None), "highs finds a plan"),
    "a plan without a plan": (Altered(values=[]), "says optimal without a solution"),
    "infeasible with a plan": (Altered(outcome="infeasible"), "says infeasible with a solution"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found_out(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    solver, found = LIES[lie]
    inject(monkeypatch, solver)
    with pytest.raises(InternalError, match=found):
        decided(WORLD)


def test_an_honest_answer_passes() -> None:
    found = decided(WORLD)
    assert found.status == "optimal"
    model = search_module.build_model(prepared(WORLD).problem)
    objective = model.objectives()[0]
    answer = Altered().solve(model.linear, objective, Settings())
    assert audited(answer, model.linear, objective, "cp-sat") is answer
    ask_again(answer, model.linear, objective, Highs(), Settings())


def test_a_second_solver_that_fails_or_lies_itself_disproves_nothing() -> None:
    model = search_module.build_model(prepared(WORLD).problem)
    objective = model.objectives()[0]
    answer = Altered().solve(model.linear, objective, Settings())
    for second in (Moved(), Altered(objective=1), Altered(outcome="unknown", values=[], objective=None)):
        ask_again(answer, model.linear, objective, second, Settings())


def test_a_relaxation_whose_bound_is_above_a_plan_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    world = instance(1, Size(2, 3, 20))
    value = decided(world).bound
    assert value is not None
    monkeypatch.setattr(planner_module, "first_proof", lambda *_, **__: FirstProof(None, value + 1000))
    with pytest.raises(InternalError, match="costs less than the node-day relaxation says any plan can"):
        decided(world)
