"""Cost against finish date: every plan that nothing both cheaper and earlier beats, each proven.

Epsilon constraint on the last day: the cheapest plan, then the cheapest that ends at least a day earlier, and so on.
Dates are whole days, so the front is complete and its breakpoints are exact.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator

from optimizer.analysis.decisions import PlanBrief, brief
from optimizer.analysis.lines import tolerance
from optimizer.analysis.optimum import Effort, best_choice, bounds, refuse_other_objectives
from optimizer.api import SolveOptions, inputs_of
from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.io.loaded import Loaded
from optimizer.json_numbers import Number
from optimizer.results import Result
from optimizer.solver.assemble import priced
from optimizer.solver.planner import Modes, prepare
from optimizer.solver.problem import Problem


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
    """
    options = options or SolveOptions()
    effort = Effort(options.solver, options.settings(), time.monotonic())
    problem = prepare(inputs_of(loaded), known or Modes()).problem
    refuse_other_objectives(problem, "pareto")
    frame = problem.frame
    points = [_point(choice, frame) for choice in cheapest_by_finish(problem, effort)]
    if not points and effort.proven:
        return None
    return Pareto(
        currency=frame.scenario.currency,
        points=tuple(reversed(_undominated(points, frame))),
        complete=effort.proven,
        solves=effort.solves,
        wall_s=round(time.monotonic() - effort.started, 3),
    )


def cheapest_by_finish(problem: Problem, effort: Effort) -> Iterator[Choice]:
    """Yield the cheapest plan, then the cheapest that ends earlier than the one before, until none does."""
    lower = bounds(problem)
    while problem.profiles:
        choice = best_choice(problem, problem, lower, None, effort)
        if choice is None:
            return
        yield choice
        earlier = [run.run.end < choice.last_run for run in problem.profiles]
        lower = [bound for bound, kept in zip(lower, earlier, strict=True) if kept]
        problem = problem.keep(run for run, kept in zip(problem.profiles, earlier, strict=True) if kept)


def _undominated(points: list[ParetoPoint], frame: Frame) -> list[ParetoPoint]:
    """Drop a point whose follower ends earlier at the same cost."""
    close = tolerance(points[0].npv, frame.scenario.currency) if points else 0
    followers = [*points[1:], None]
    return [
        point for point, after in zip(points, followers, strict=True) if after is None or after.npv > point.npv + close
    ]


def _point(choice: Choice, frame: Frame) -> ParetoPoint:
    price, row = priced(choice, frame), brief(choice)
    return ParetoPoint(total=price.total, npv=price.npv, **PlanBrief.model_dump(row))
