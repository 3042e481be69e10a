"""HiGHS backend: a second opinion in floating point, checked in integers."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite
from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from optimizer.errors import InternalError
from optimizer.solver.backend import Answer, Outcome, Settings, evaluated, violated
from optimizer.solver.linear import INFINITY, LinearModel, Terms

TOLERANCE = 1e-9
"""Feasibility and integrality tolerance: far below the smallest integer step after row scaling."""


OBJECTIVE_UNIT = 1000
"""Objectives are passed in thousands of their finest unit (minor units of money): differences of one then stand far
above the absolute tolerances of HiGHS, which a scaling to the largest coefficient would bury."""


class QuietHighs(highspy.Highs):
    """HiGHS without callbacks: switching them on prints a banner on stdout, which belongs to the answer."""

    def enableCallbacks(self) -> None:  # noqa: N802 - the library's name
        """Do nothing."""


class Highs:
    """HiGHS mixed-integer solver."""

    name = "highs"

    def solve(self, model: LinearModel, objective: Terms, settings: Settings) -> Answer:
        """Minimise an objective over a model.

        Raises:
            InternalError: its rounded solution breaks a row in exact integers.
        """
        solver = _configured(settings)
        solver.passModel(_translate(model, objective))
        solver.run()
        outcome = _outcome(solver)
        if outcome in ("infeasible", "unknown"):
            return Answer(outcome)
        values = [round(value) for value in solver.getSolution().col_value]
        broken = violated(model, values)
        if broken:
            raise InternalError(f"HiGHS returned a solution that breaks a row: {broken}")
        value, bound = evaluated(model, objective, values), _bound(solver.getInfo().mip_dual_bound * OBJECTIVE_UNIT)
        if settings.gap and (bound is None or bound < value):  # stopped within the gap: HiGHS calls that optimal too
            outcome = "feasible"
        return Answer(outcome, values, value, bound)


class Lower(NamedTuple):
    """What HiGHS claims of a model with continuous variables: floating point, no proof.

    Attributes:
        outcome: As of a backend.
        bound: Dual bound; None when there is none.
        values: Value of every variable; empty without a solution.
    """

    outcome: Outcome
    bound: float | None
    values: Sequence[float]


def lower_bound(model: LinearModel, objective: Terms, settings: Settings) -> Lower:
    """Return what HiGHS finds out about a model with continuous variables; without presolve when it is to be light."""
    solver = _configured(settings)
    if settings.light:
        solver.setOptionValue("presolve", "off")  # of large models it takes most of the time, and gains little
    solver.passModel(_translate(model, objective))
    solver.run()
    dual, outcome = solver.getInfo().mip_dual_bound * OBJECTIVE_UNIT, _outcome(solver)
    values = solver.getSolution().col_value if outcome in ("optimal", "feasible") else ()
    return Lower(outcome, dual if isfinite(dual) else None, values)


def most_in_all(rows: NDArray[np.int64], upper: NDArray[np.float64]) -> Sequence[float]:
    """Return numbers >= 0 with the largest sum of which those of each row add up to at most its limit.

    Args:
        rows: Row x number -> whether it is of the row (0 or 1); each number is of some row.
        upper: Limit of each row.
    """
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = rows.shape
    lp.col_cost_, lp.col_lower_ = -np.ones(lp.num_col_), np.zeros(lp.num_col_)
    lp.col_upper_ = np.full(lp.num_col_, highspy.kHighsInf)
    lp.row_lower_, lp.row_upper_ = np.full(lp.num_row_, -highspy.kHighsInf), upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.cumsum([0, *rows.sum(axis=1)])
    lp.a_matrix_.index_ = np.nonzero(rows)[1]
    lp.a_matrix_.value_ = np.ones(len(lp.a_matrix_.index_))
    solver = _configured(Settings())
    solver.passModel(lp)
    solver.run()
    return solver.getSolution().col_value


def _bound(dual: float) -> int | None:
    """Return a lower bound a little below what floating point says; None before there is one."""
    return ceil(dual - abs(dual) * TOLERANCE) if isfinite(dual) else None


def _configured(settings: Settings) -> QuietHighs:
    # else the first solve of a process fixes the number of threads, and later ones with another number fail
    QuietHighs.resetGlobalScheduler(True)  # noqa: FBT003 - the library's argument has no name
    solver = QuietHighs()  # type: ignore[no-untyped-call]  # highspy leaves its constructor untyped
    options = {
        "output_flag": False,
        "threads": settings.workers,
        "random_seed": settings.seed,
        "mip_rel_gap": settings.gap,
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": TOLERANCE,
        "primal_feasibility_tolerance": TOLERANCE,
    }
    if settings.time_limit_s is not None:
        options["time_limit"] = max(settings.time_limit_s, 0.01)
    for name, value in options.items():
        solver.setOptionValue(name, value)
    return solver


def _outcome(solver: highspy.Highs) -> Outcome:
    status = solver.getModelStatus()
    found = solver.getInfo().primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    if status == highspy.HighsModelStatus.kOptimal:
        return "optimal"
    if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
        return "infeasible"
    return "feasible" if found else "unknown"


def _translate(model: LinearModel, objective: Terms) -> highspy.HighsLp:
    """Return the model with each row divided by its largest coefficient, so that tolerances mean the same."""
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(model.names), len(model.rows)
    cost = np.zeros(len(model.names))
    for variable, coefficient in objective.items():
        cost[variable] = coefficient / OBJECTIVE_UNIT
    lp.col_cost_ = cost
    lp.col_lower_, lp.col_upper_ = np.array(model.lower, float), np.array(model.upper, float)
    kinds = highspy.HighsVarType
    numbers = range(len(model.names))
    lp.integrality_ = [kinds.kContinuous if v in model.continuous else kinds.kInteger for v in numbers]
    starts, index, value, low, high = [0], [], [], [], []
    for row in model.rows:
        size = max((abs(coefficient) for _, coefficient in row.terms), default=1)
        index += [variable for variable, _ in row.terms]
        value += [coefficient / size for _, coefficient in row.terms]
        starts.append(len(index))
        low.append(-highspy.kHighsInf if row.lower <= -INFINITY else row.lower / size)
        high.append(highspy.kHighsInf if row.upper >= INFINITY else row.upper / size)
    lp.row_lower_, lp.row_upper_ = np.array(low), np.array(high)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = np.array(starts), np.array(index)
    lp.a_matrix_.value_ = np.array(value)
    return lp
