"""From a problem to a proven plan; solvers that lie, contradict each other or run out of time."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from optimizer.cost.choice import Choice, Taken
from optimizer.errors import InputError, InternalError
from optimizer.results import Plan
from optimizer.solver import search as search_module
from optimizer.solver.backend import Answer, Outcome, Settings
from optimizer.solver.cpsat import CpSat
from optimizer.solver.found import SolverName
from optimizer.solver.highs import Highs
from optimizer.solver.linear import LinearModel, Terms
from optimizer.solver.plans import Report, plan_of
from optimizer.solver.search import PROMISING, backend
from tests.unit.cost.world import frame, hourly, purchase, quote, run, site, stated, workload
from tests.unit.solver.deciding import awarded, decided, inputs, planned, prepared, starts
from tests.unit.solver.faults import Altered, inject, says

SOLVERS: list[SolverName] = ["auto", "cp-sat", "highs", "enumerate"]


class Tiring(CpSat):
    """Proves nothing a second time."""

    def solve(self, model: LinearModel, objective: Terms, settings: Settings) -> Answer:
        return Answer("unknown") if settings.variant else super().solve(model, objective, settings)


class Breaking(Highs):
    """Rounds to a solution that breaks a row."""

    def solve(self, model: LinearModel, objective: Terms, settings: Settings) -> Answer:  # noqa: ARG002 - the interface
        raise InternalError("HiGHS returned a solution that breaks a row: budget")


TWO_OFFERS = quote({"a": purchase(1000, units={"max": 3}), "b": purchase(900, units={"max": 1})})


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_cheaper_offer_is_taken_as_far_as_it_goes(solver: SolverName) -> None:
    """2 nodes: one at 900 and one at 1,000."""
    found = decided(frame(TWO_OFFERS), solver)
    assert (found.status, found.bound) == ("optimal", 1900)
    assert awarded(found) == {"q/a": 1, "q/b": 1}
    assert starts(found) == ["2027-01-01"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_four_are_there_and_five_are_needed(solver: SolverName) -> None:
    found = decided(frame(TWO_OFFERS, workloads=workload(stated(5, 30))), solver)
    assert (found.status, found.choice, found.bound) == ("infeasible", None, None)


@pytest.mark.parametrize(
    ("solver", "proof"),
    [
        ("auto", "proved infeasible by cp-sat and by highs"),
        ("highs", "proved infeasible by highs and by cp-sat"),
        ("enumerate", "all 6 decisions were priced"),
    ],
)
def test_infeasible_says_who_proved_it(solver: SolverName, proof: str) -> None:
    found = decided(frame(TWO_OFFERS, budget={"total": 1899.99}), solver)
    assert (found.status, found.proof) == ("infeasible", proof)


def test_without_a_run_that_fits_nothing_needs_a_solver() -> None:
    found = decided(frame(TWO_OFFERS, workloads=workload(stated(2, 400))))
    assert (found.status, found.proof) == ("infeasible", "no run fits its window in any pool that can be supplied")


def test_a_proven_plan_says_how_many_runs_were_compared() -> None:
    found = decided(frame(TWO_OFFERS, workloads=workload(stated(2, 30), stated(3, 20))))
    assert found.proof == "cp-sat proved the compact model of 2 runs; 0 runs cost more by their bound"


def test_runs_that_cannot_win_never_enter_the_model_and_the_answer_is_that_of_enumeration() -> None:
    """60 modes of 1 to 60 nodes; a price that falls at 40 makes exactly 40 nodes cheapest (40 x 60 < 25 x 100)."""
    modes = [stated(nodes, 6000 // (nodes + 20)) for nodes in range(1, 61)]
    world = frame(
        quote(purchase({"all_units": {1: 100, 40: 60}}, units={"max": 60})),
        workloads=workload(*modes, deadline="2027-05-14"),  # 134 days: at least 25 nodes
    )
    found = decided(world)
    assert len(prepared(world).problem.profiles) > PROMISING
    assert awarded(found) == {"q/node": 40}
    assert (found.bound, awarded(decided(world, "enumerate"))) == (2400, {"q/node": 40})
    assert "0 runs cost more" not in found.proof


def test_enumeration_refuses_what_is_too_large_for_it() -> None:
    world = frame(quote({name: purchase(units={"max": 100}) for name in "abcd"}), workloads=workload(stated(90, 30)))
    with pytest.raises(InputError, match=r"--solver enumerate: 68,574,961 decisions\. at most 200,000"):
        decided(world, "enumerate")  # none or 1 to 90 of each: 91^4


@pytest.mark.parametrize(("name", "kind"), [("auto", CpSat), ("cp-sat", CpSat), ("highs", Highs)])
def test_auto_is_cp_sat(name: SolverName, kind: type) -> None:
    assert isinstance(backend(name), kind)


def test_progress_is_told_in_major_units() -> None:
    heard: list[tuple[Decimal, Decimal]] = []
    settings = Settings(progress=lambda incumbent, bound: heard.append((incumbent, bound)))
    assert decided(frame(TWO_OFFERS), settings=settings).status == "optimal"
    assert heard[-1] == (1900, 1900)


@pytest.mark.parametrize("solver", SOLVERS)
def test_earliest_end_comes_before_cost_when_time_is_the_objective(solver: SolverName) -> None:
    """20 days on 3 nodes at 2,900 against 30 days on 2 at 1,900."""
    world = frame(TWO_OFFERS, workloads=workload(stated(2, 30), stated(3, 20)), objective="time")
    found = decided(world, solver)
    assert (found.bound, awarded(found)) == (19, {"q/a": 2, "q/b": 1})


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_largest_capacity_for_a_budget(solver: SolverName) -> None:
    """3,900 buy all four; 3,899 three of them, the cheapest first."""
    for total, units in ((3900, {"q/a": 3, "q/b": 1}), (3899, {"q/a": 2, "q/b": 1})):
        found = decided(frame(TWO_OFFERS, objective="capacity", budget={"total": total}), solver)
        assert awarded(found) == units


def test_capacity_of_stated_modes_counts_accelerators() -> None:
    """8 from each offer, whenever they come."""
    offers = {
        "a": purchase(1, units={"max": 1}),
        "b": purchase(1, units={"max": 1}, lots=[{"units": "rest", "date": "2027-07-01"}]),
    }
    world = frame(quote(offers), workloads=workload(stated(1, 30)), objective="capacity", budget={"total": 100})
    assert planned(world).objective.value == 8 + 8


def test_a_solver_that_calls_a_feasible_scenario_infeasible_is_contradicted(monkeypatch: pytest.MonkeyPatch) -> None:
    inject(monkeypatch, says("infeasible"))
    with pytest.raises(
        InternalError, match="cp-sat calls the scenario infeasible, highs finds a plan: no answer is given"
    ):
        decided(frame(TWO_OFFERS))


@pytest.mark.parametrize("outcome", ["unknown", None])
def test_a_second_solver_that_cannot_tell_is_replaced_by_the_first_set_up_differently(
    monkeypatch: pytest.MonkeyPatch, outcome: Outcome | None
) -> None:
    """None: it gives a solution that breaks a row in whole numbers."""
    monkeypatch.setattr(search_module, "Highs", lambda: says(outcome) if outcome else Breaking())
    found = decided(frame(TWO_OFFERS, budget={"total": 1}))
    assert (found.status, found.proof) == ("infeasible", "proved infeasible by cp-sat and by cp-sat")


def test_a_second_proof_that_does_not_finish_leaves_the_question_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "Highs", lambda: says("unknown"))
    monkeypatch.setattr(search_module, "CpSat", Tiring)
    found = decided(frame(TWO_OFFERS, budget={"total": 1}))
    assert (found.status, found.proof) == ("unknown", "cp-sat proved it infeasible, no other solver finished")


def test_a_limit_reached_without_a_plan_is_unknown_and_never_infeasible(monkeypatch: pytest.MonkeyPatch) -> None:
    inject(monkeypatch, says("unknown"))
    found = decided(frame(TWO_OFFERS))
    assert (found.status, found.choice) == ("unknown", None)
    assert found.proof == "the limit was reached before a plan was found"


def test_a_plan_without_a_proof_is_feasible_with_bound_and_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    inject(monkeypatch, Altered(outcome="feasible", bound=171_000_000))
    plan = planned(frame(TWO_OFFERS))
    assert (plan.status, plan.objective.value, plan.objective.bound) == ("feasible", 1900, 1710)
    assert plan.objective.gap == Decimal("0.1")
    assert plan.solve.proof == "stopped before a proof at gap 0"


def test_an_optimum_better_than_any_plan_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of a plan that is not there: the objective they have cannot be reached again."""

    class Better(Altered):
        def solve(self, model: LinearModel, objective: Terms, settings: Settings) -> Answer:
            found = super().solve(model, objective, settings)
            units = [index for index, name in enumerate(model.names) if name.startswith("units")]
            return replace(found, values=[0 if index in units else value for index, value in enumerate(found.values)])

    inject(monkeypatch, Better())
    with pytest.raises(InternalError, match=r"the solution of cp-sat breaks a row: quantity"):
        decided(frame(TWO_OFFERS))


def test_a_plan_that_breaks_a_limit_is_not_handed_out() -> None:
    """One node instead of two."""
    world = frame(TWO_OFFERS)
    ready = prepared(world)
    found = decided(world)
    assert found.choice is not None
    cut = Choice(tuple(Taken(taken.option, taken.units) for taken in found.choice.taken[:1]), found.choice.runs)
    with pytest.raises(InternalError, match=r"the plan found fails its independent check: .*supply"):
        plan_of(replace(found, choice=cut), ready, inputs(world), _report(planned(world)))


def test_a_run_that_starts_before_its_nodes_are_there_is_not_handed_out() -> None:
    world = frame(quote(purchase(lead_weeks=[1, 8])))
    ready, found = prepared(world), decided(world)
    assert found.choice is not None
    early = Choice(found.choice.taken, (run(world, "2027-01-10"),))
    with pytest.raises(InternalError, match="the plan found fails its independent check"):
        plan_of(replace(found, choice=early), ready, inputs(world), _report(planned(world)))


def _report(plan: Plan) -> Report:
    return Report(plan.solve, plan.rejections, plan.provenance)


@pytest.mark.parametrize("solver", ["auto", "highs"])
@pytest.mark.parametrize("workers", [1, 2, 8])
def test_the_number_of_threads_changes_nothing(solver: SolverName, workers: int) -> None:
    """Three boxes fit the power of the hall: two at 900 and one at 1,000; also after solves with other numbers."""
    world = frame(
        quote({"a": purchase(1000), "b": purchase(900, units={"max": 2}), "rent": hourly(100)}),
        sites={"hall": site(power=[{"from": "2027-01-01", "kw": 30}])},
        workloads=workload(stated(3, 30), stated(4, 20)),
    )
    found = decided(world, solver, Settings(workers=workers, seed=workers))
    assert (found.status, found.bound, awarded(found)) == ("optimal", 2800, {"q/a": 1, "q/b": 2})
