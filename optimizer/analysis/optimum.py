"""The best decision of a problem when a good one is known already: only what could beat it enters the model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from optimizer.cost.choice import Choice
from optimizer.errors import InputError
from optimizer.errors import Problem as Fault
from optimizer.schema.scenario import Scenario
from optimizer.solver.assemble import priced
from optimizer.solver.backend import Settings
from optimizer.solver.bounds import bounder
from optimizer.solver.model import build_model
from optimizer.solver.problem import Problem, Profile
from optimizer.solver.search import MARGIN, PROMISING, SolverName, backend


@dataclass
class Effort:
    """What may be spent, and what was.

    Attributes:
        solver: Solver name.
        settings: Its settings; the time limit counts from ``started``.
        started: Clock at the start (``time.monotonic``).
        solves: Models solved so far.
        proven: Whether every one was solved to proof.
    """

    solver: SolverName
    settings: Settings
    started: float
    solves: int = 0
    proven: bool = True

    def left(self) -> Settings:
        """Return the settings for the next model."""
        limit = self.settings.time_limit_s
        if limit is None:
            return self.settings
        return replace(self.settings, time_limit_s=max(0.05, limit + self.started - time.monotonic()))


def refuse_other_objectives(problem: Problem, what: str) -> None:
    """Refuse an analysis of prices when cost is not what is optimised, or when there are several runs.

    Raises:
        InputError: the objective is time or capacity, or there is more than one workload.
    """
    refuse_several(problem.frame.scenario, what)
    kind = problem.frame.scenario.objective
    if kind != "cost":
        raise InputError([Fault("objective", kind, f"{what} compares costs", "Add --set objective=cost")])


def refuse_several(scenario: Scenario, what: str) -> None:
    """Refuse an analysis whose method is made for one run.

    Raises:
        InputError: there is more than one workload.
    """
    count = len(scenario.workloads)
    if count > 1:
        fix = "Ask it of one workload at a time; solve, compare and explain take all"
        raise InputError([Fault("workloads", f"{count} workloads", f"{what} takes one", fix)])


def bounds(problem: Problem) -> list[float]:
    """Return a lower bound on the cost of any plan with each profile, in the order of the profiles."""
    return list(map(bounder(problem), problem.profiles))


def best_choice(
    rows: Problem, costs: Problem, lower: Sequence[float], incumbent: Decimal | None, effort: Effort
) -> Choice | None:
    """Return the cheapest decision; None when there is none (or none was found in time, see ``effort.proven``).

    Args:
        rows: The problem whose limits must hold.
        costs: The same problem with the prices to minimise; may be ``rows``.
        lower: Bounds of the profiles at those prices.
        incumbent: Present value of a known plan at those prices; None = none known.
        effort: Solver, settings and count.
    """
    ranked = sorted(range(len(lower)), key=lower.__getitem__)
    tried, found = 0, None
    while incumbent is None and tried < len(ranked):
        tried = min(len(ranked), max(PROMISING, 4 * tried))
        found = _solved(rows, costs, ranked[:tried], effort)
        incumbent = None if found is None else priced(found, costs.frame).npv
    if incumbent is None:
        return None
    limit = float(incumbent) + MARGIN * max(1.0, abs(float(incumbent)))
    kept = [index for index in ranked if lower[index] <= limit]
    return found if tried and len(kept) <= tried else _solved(rows, costs, kept, effort)


def _solved(rows: Problem, costs: Problem, kept: Sequence[int], effort: Effort) -> Choice | None:
    """Solve the compact model over some profiles: the rows of one problem under the objective of another."""
    if not kept:
        return None
    own = build_model(_keep(rows, kept))
    other = own if costs is rows else build_model(_keep(costs, kept))
    answer = backend(effort.solver).solve(own.linear, other.npv, effort.left())
    effort.solves += 1
    effort.proven &= answer.outcome in ("optimal", "infeasible")
    return other.choice(answer.values) if answer.values else None


def _keep(problem: Problem, kept: Sequence[int]) -> Problem:
    chosen: list[Profile] = [problem.profiles[index] for index in sorted(kept)]
    return problem.keep(chosen)
