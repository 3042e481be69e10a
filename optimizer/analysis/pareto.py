"""Cost against finish date: every plan that nothing both cheaper and earlier beats, each proven.

Epsilon constraint on the last day: the cheapest plan, then the cheapest that ends at least a day earlier, and so on.
Dates are whole days, so the front is complete and its breakpoints are exact.
"""

from __future__ import annotations

import datetime as dt
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal

from optimizer.analysis.decisions import PlanBrief, brief
from optimizer.analysis.lines import tolerance
from optimizer.analysis.optimum import Effort, best_choice, bounds, refuse_other_objectives, several, single
from optimizer.analysis.world import stored_modes
from optimizer.api import SolveOptions, inputs_of
from optimizer.cost.choice import Choice
from optimizer.cost.frame import DAY, Frame
from optimizer.io.loaded import Loaded
from optimizer.results import Number, Result
from optimizer.solver.assemble import priced
from optimizer.solver.planner import Inputs, Modes, Prepared, prepare
from optimizer.solver.plans import checked_choice
from optimizer.solver.problem import Problem, window


class ParetoPoint(Result):
    """A plan that is the cheapest of all that end no later."""

    finish: dt.date
    """Last day of the last run."""
    total: Number
    npv: Number
    """Present value: what is minimised."""
    nodes: int
    """Nodes the runs occupy."""
    platform: str
    vendors: tuple[str, ...]
    awards: tuple[str, ...]
    """``units x quote/offer``."""


class Pareto(Result):
    """The answer of ``pareto``."""

    currency: str
    points: tuple[ParetoPoint, ...]
    """Ascending in finish, descending in present value."""
    complete: bool
    """Whether no further point exists and every point is proven."""
    solves: int
    """Models solved."""
    wall_s: float


def pareto(loaded: Loaded, *, options: SolveOptions | None = None, known: Modes | None = None) -> Pareto | None:
    """Return the complete front of present value and finish date within the limits of a scenario.

    Args:
        loaded: The scenario; its objective must be cost.
        options: How to solve.
        known: Modes computed before.

    Returns:
        None when there is no plan.

    Raises:
        InputError: another objective than cost.
        InternalError: a point fails the independent check.
    """
    options = options or SolveOptions()
    effort = Effort(options.solver, single(options), time.monotonic())
    inputs = inputs_of(loaded)
    modes = known or stored_modes()
    prepared = prepare(inputs, modes)
    refuse_other_objectives(prepared.problem, "pareto")

    def ending(problem: Problem, last: dt.date) -> Problem:
        """Return the problem whose runs all end by a day; the listed runs of several need not be all there are."""
        return prepare(due(inputs, last), modes).problem if several(problem) else ending_by(problem, last)

    frame = inputs.frame
    points = [_point(choice, prepared, inputs) for choice in cheapest_by_finish(prepared.problem, effort, ending)]
    if not points and effort.proven:
        return None
    return Pareto(
        currency=frame.scenario.currency,
        points=tuple(reversed(_undominated(points, frame))),
        complete=effort.proven,
        solves=effort.solves,
        wall_s=round(time.monotonic() - effort.started, 3),
    )


def due(inputs: Inputs, last: dt.date) -> Inputs:
    """Return the inputs with every run due by a day, or earlier where it was."""
    scenario = inputs.frame.scenario
    workloads = {
        name: work.model_copy(update={"deadline": min(last, window(work, inputs.frame)[1]), "deadline_margin_days": 0})
        for name, work in scenario.workloads.items()
    }
    return inputs.with_frame(replace(inputs.frame, scenario=scenario.model_copy(update={"workloads": workloads})))


def ending_by(problem: Problem, last: dt.date) -> Problem:
    """Return the problem with the runs that end by a day."""
    return problem.keep(run for run in problem.profiles if run.run.end <= last)


def cheapest_by_finish(
    problem: Problem, effort: Effort, ending: Callable[[Problem, dt.date], Problem] = ending_by
) -> Iterator[Choice]:
    """Yield the cheapest plan, then the cheapest that ends earlier than the one before, until none does.

    Plans seen on the way that end early enough are incumbents of later points.
    """
    known = dict(zip(problem.profiles, bounds(problem), strict=True))
    plans: list[Choice] = []
    incumbent: Decimal | None = None
    while problem.profiles:
        lower = [known.get(run, -math.inf) for run in problem.profiles]
        choice = best_choice(problem, problem, lower, incumbent, effort, plans)
        if choice is None:
            return
        yield choice
        plans = [plan for plan in plans if plan.last_run < choice.last_run]
        incumbent = min((priced(plan, problem.frame).npv for plan in plans), default=None)
        problem = ending(problem, choice.last_run - DAY)


def _undominated(points: list[ParetoPoint], frame: Frame) -> list[ParetoPoint]:
    """Drop a point whose follower ends earlier at the same cost."""
    close = tolerance(points[0].npv, frame.scenario.currency) if points else 0
    followers = [*points[1:], None]
    return [
        point for point, after in zip(points, followers, strict=True) if after is None or after.npv > point.npv + close
    ]


def _point(choice: Choice, prepared: Prepared, inputs: Inputs) -> ParetoPoint:
    checked_choice(choice, prepared, inputs)
    price, row = priced(choice, inputs.frame), brief(choice)
    return ParetoPoint(total=price.total, npv=price.npv, **PlanBrief.model_dump(row))
