"""CP-SAT backend: the one place that sets its parameters.

``presolve_inclusion_work_limit = 0`` guards against a fault of OR-Tools 9.15 (google/or-tools issue 5293): when Boolean
terms of an enforced row add up past 2^31, presolve may lose an enforcement literal and certify a wrong optimum.
A regression test keeps the guard honest. Second proofs use a different configuration, never presolve off with
several workers (issue 5295).
"""

from __future__ import annotations

from collections.abc import Callable, Container
from concurrent.futures import Future
from threading import Thread, get_ident

from ortools.sat.python import cp_model

from optimizer.errors import InternalError
from optimizer.solver.backend import Answer, Outcome, Settings, SolveInterrupted, evaluated, violated
from optimizer.solver.linear import INFINITY, LinearModel, Terms

OUTCOMES: dict[cp_model.CpSolverStatus, Outcome] = {
    cp_model.OPTIMAL: "optimal",
    cp_model.FEASIBLE: "feasible",
    cp_model.INFEASIBLE: "infeasible",
    cp_model.UNKNOWN: "unknown",
}


RUNNING: dict[cp_model.CpSolver, int] = {}
"""Solvers at work -> the thread that waits for them."""


class CpSat:
    """Google OR-Tools CP-SAT."""

    name = "cp-sat"

    def solve(self, model: LinearModel, objective: Terms, settings: Settings) -> Answer:
        """Minimise an objective over a model.

        Raises:
            InternalError: CP-SAT refuses the model, or its solution breaks a row.
            SolveInterrupted: Ctrl-C; it carries the answer so far.
        """
        native, variables = translate(model, objective)
        problem = native.validate()
        if problem:
            raise InternalError(f"CP-SAT refuses the model: {problem.splitlines()[0]}")
        for position, value in enumerate(settings.hint):
            if model.lower[position] < model.upper[position]:
                native.add_hint(variables[position], value)
        solver = configured(settings)
        found, interrupted = _heard(solver, native, settings)
        answer = self._answer(solver, OUTCOMES.get(found), model, objective, variables)
        if interrupted:
            raise SolveInterrupted(answer)
        return answer

    def _answer(
        self,
        solver: cp_model.CpSolver,
        status: Outcome | None,
        model: LinearModel,
        objective: Terms,
        variables: list[cp_model.IntVar],
    ) -> Answer:
        if status is None:
            raise InternalError("CP-SAT calls the model invalid")
        bound = _bound(solver, objective)
        if status in ("infeasible", "unknown"):  # stopped before it knows any bound, CP-SAT says 0
            return Answer(status, bound=(bound or None) if status == "unknown" else None)
        values = [int(solver.value(variable)) for variable in variables]
        broken = violated(model, values)
        if broken:
            raise InternalError(f"CP-SAT returned a solution that breaks a row: {broken}")
        value = evaluated(model, objective, values)
        if bound is not None and bound < value:  # stopped within the gap: CP-SAT calls that optimal too
            status = "feasible"
        return Answer(status, values, value, bound)


def _heard(
    solver: cp_model.CpSolver, native: cp_model.CpModel, settings: Settings
) -> tuple[cp_model.CpSolverStatus, bool]:
    """Solve in a thread of its own, so that Ctrl-C is heard meanwhile; return the status and whether it was.

    CP-SAT's own handling would swallow the signal, and leave the process without Python's handler afterwards.
    """
    running: Future[cp_model.CpSolverStatus] = Future()
    thread = Thread(target=_run, args=(running, lambda: solver.solve(native, _watcher(settings))))
    RUNNING[solver] = get_ident()
    try:
        thread.start()  # may be interrupted too, while the thread is running already
        return running.result(), False
    except KeyboardInterrupt:
        solver.stop_search()
        return running.result(), True
    finally:
        del RUNNING[solver]


def stop_in(threads: Container[int]) -> None:
    """Stop every search that some threads wait for: Ctrl-C is heard by the main thread only."""
    for solver, thread in tuple(RUNNING.items()):
        if thread in threads:
            solver.stop_search()


def _run(running: Future[cp_model.CpSolverStatus], solve: Callable[[], cp_model.CpSolverStatus]) -> None:
    """Solve, and hand what comes of it to whoever waits."""
    try:
        running.set_result(solve())
    except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
        running.set_exception(error)


def run(native: cp_model.CpModel, settings: Settings) -> tuple[cp_model.CpSolver, Outcome, bool]:
    """Solve a model that is more than linear; return the solver with its values, the outcome, and whether Ctrl-C ended it.

    Raises:
        InternalError: CP-SAT refuses the model.
    """
    problem = native.validate()
    if problem:
        raise InternalError(f"CP-SAT refuses the model: {problem.splitlines()[0]}")
    solver = configured(settings)
    found, interrupted = _heard(solver, native, settings)
    return solver, OUTCOMES.get(found, "unknown"), interrupted


def _bound(solver: cp_model.CpSolver, objective: Terms) -> int | None:
    """Return the proven lower bound: the integer one, since the one in floating point is off beyond 2^53."""
    return int(solver.response_proto.inner_objective_lower_bound) if objective else None


def configured(settings: Settings) -> cp_model.CpSolver:
    """Return a solver with every parameter we set."""
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.presolve_inclusion_work_limit = 0
    parameters.catch_sigint_signal = False
    parameters.num_workers = settings.workers
    parameters.random_seed = settings.seed
    if settings.time_limit_s is not None:
        parameters.max_time_in_seconds = max(settings.time_limit_s, 0.01)
    if settings.work is not None:
        parameters.max_deterministic_time = settings.work
    parameters.relative_gap_limit = settings.gap
    if settings.light:
        parameters.cp_model_probing_level = 0
    if settings.variant:
        parameters.linearization_level = 2
        parameters.symmetry_level = 0
        parameters.cp_model_probing_level = 0
        parameters.random_seed = settings.seed + 1
    return solver


def translate(model: LinearModel, objective: Terms) -> tuple[cp_model.CpModel, list[cp_model.IntVar]]:
    """Return the CP-SAT model of a linear model with its variables in the same order; those with one value share a constant."""
    native = cp_model.CpModel()
    constants: dict[int, cp_model.IntVar] = {}
    variables = []
    for low, high, name in zip(model.lower, model.upper, model.names, strict=True):
        if low < high:
            variables.append(native.new_int_var(low, high, name))
        else:
            if low not in constants:
                constants[low] = native.new_constant(low)
            variables.append(constants[low])
    for row in model.rows:
        expression = cp_model.LinearExpr.weighted_sum(
            [variables[variable] for variable, _ in row.terms], [coefficient for _, coefficient in row.terms]
        )
        low = cp_model.INT_MIN if row.lower <= -INFINITY else row.lower
        high = cp_model.INT_MAX if row.upper >= INFINITY else row.upper
        native.add_linear_constraint(expression, low, high)
    if objective:
        native.minimize(cp_model.LinearExpr.weighted_sum([variables[v] for v in objective], list(objective.values())))
    return native, variables


class _Watcher(cp_model.CpSolverSolutionCallback):
    """Passes incumbents and bounds on."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings

    def on_solution_callback(self) -> None:
        """Report the incumbent and the bound."""
        if self._settings.progress:
            self._settings.progress(round(self.objective_value), round(self.best_objective_bound))


def _watcher(settings: Settings) -> _Watcher | None:
    return _Watcher(settings) if settings.progress else None
