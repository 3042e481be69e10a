"""The best decision of a problem when a good one is known already: only what could beat it enters the model."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from optimizer.api import SolveOptions
from optimizer.cost.choice import Choice
from optimizer.errors import InputError
from optimizer.errors import Problem as Fault
from optimizer.solver.assemble import priced
from optimizer.solver.backend import Settings
from optimizer.solver.bounds import MARGIN, bounder
from optimizer.solver.enumerate import enumerate_plans
from optimizer.solver.found import SolverName
from optimizer.solver.model import build_model
from optimizer.solver.problem import Problem, Profile
from optimizer.solver.search import PROMISING, backend, search


def single(options: SolveOptions) -> Settings:
    """Return the settings of an analysis: one thread unless more are asked for, since small models gain nothing by more."""
    return replace(options, workers=options.workers or 1).settings()


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
    """Refuse an analysis of prices when cost is not what is optimised.

    Raises:
        InputError: the objective is time or capacity.
    """
    kind = problem.frame.scenario.objective
    if kind != "cost":
        raise InputError([Fault("objective", kind, f"{what} compares costs", "Add --set objective=cost")])


def bounds(problem: Problem) -> list[float]:
    """Return a lower bound on the cost of any plan with each profile, in the order of the profiles.

    Of several runs nothing is said: the full search has bounds of its own.
    """
    if several(problem):
        return [-math.inf] * len(problem.profiles)
    return list(map(bounder(problem), problem.profiles))


def best_choice(
    rows: Problem,
    costs: Problem,
    lower: Sequence[float],
    incumbent: Decimal | None,
    effort: Effort,
    plans: list[Choice] | None = None,
) -> Choice | None:
    """Return the cheapest decision; None when there is none (or none was found in time, see ``effort.proven``).

    Args:
        rows: The problem whose limits must hold.
        costs: The same problem with the prices to minimise; may be ``rows``.
        lower: Bounds of the profiles at those prices.
        incumbent: Present value of a known plan at those prices; None = none known.
        effort: Solver, settings and count.
        plans: Takes every plan seen on the way: it may be the incumbent of a later question.

    Raises:
        InputError: enumeration was asked for, and the problem is too large for it or has a budget at other prices.
    """
    if effort.solver == "enumerate":
        return _enumerated(rows, costs, effort)
    if several(rows):
        return _searched(rows, costs, effort)
    plans = [] if plans is None else plans
    ranked = sorted(range(len(lower)), key=lower.__getitem__)
    tried, found = 0, None
    while incumbent is None and tried < len(ranked):
        tried = min(len(ranked), max(PROMISING, 4 * tried))
        found = _solved(rows, costs, ranked[:tried], effort, plans)
        incumbent = None if found is None else priced(found, costs.frame).npv
    if incumbent is None:
        return None
    limit = float(incumbent) + MARGIN * max(1.0, abs(float(incumbent)))
    kept = [index for index in ranked if lower[index] <= limit]
    return found if tried and len(kept) <= tried else _solved(rows, costs, kept, effort, plans)


def several(problem: Problem) -> bool:
    """Return whether more than one run is planned: then one bound per run says too little, and runs may follow runs."""
    return len(problem.frame.scenario.workloads) > 1


def _searched(rows: Problem, costs: Problem, effort: Effort) -> Choice | None:
    """Return the cheapest decision by the full search, which knows about several runs."""
    if costs is not rows:
        what = "a budget at one price, costs at another, and several workloads"
        raise InputError([Fault("budget", what, "", "Use --set budget=null, or ask about one workload")])
    found = search(rows, effort.solver, effort.left(), unique=False)
    effort.solves += 1
    effort.proven &= found.status in ("optimal", "infeasible")
    return found.choice


def _enumerated(rows: Problem, costs: Problem, effort: Effort) -> Choice | None:
    """Return the cheapest decision by pricing every one."""
    if costs is not rows:
        found = "a budget at one price and costs at another"
        raise InputError([Fault("--solver enumerate", found, "", "Use --solver auto, or --set budget=null")])
    effort.solves += 1
    return enumerate_plans(rows).choice


def _solved(rows: Problem, costs: Problem, kept: Sequence[int], effort: Effort, plans: list[Choice]) -> Choice | None:
    """Solve the compact model over some profiles: the rows of one problem under the objective of another."""
    if not kept:
        return None
    own = build_model(_keep(rows, kept))
    other = own if costs is rows else build_model(_keep(costs, kept))
    answer = backend(effort.solver).solve(own.linear, other.npv, effort.left())
    effort.solves += 1
    effort.proven &= answer.outcome in ("optimal", "infeasible")
    if not answer.values:
        return None
    plans.append(other.choice(answer.values))
    return plans[-1]


def _keep(problem: Problem, kept: Sequence[int]) -> Problem:
    chosen: list[Profile] = [problem.profiles[index] for index in sorted(kept)]
    return problem.keep(chosen)
