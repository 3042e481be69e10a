"""The search: a first plan from the most promising profiles, then a proof over all that could be better.

1. Every profile gets a cheap lower bound (``bounds``).
2. The compact model over the most promising profiles gives an incumbent.
3. The compact model over all profiles whose bound does not exceed the incumbent is solved to proof: the others cannot win.
4. Objectives after the first are optimised with the earlier ones fixed, with one worker, so that the plan is unique.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from optimizer.cost.choice import Choice
from optimizer.errors import InternalError
from optimizer.solver.backend import Answer, Backend, Progress, Settings, SolveInterrupted
from optimizer.solver.bounds import MARGIN, bounder
from optimizer.solver.cpsat import CpSat
from optimizer.solver.highs import Highs
from optimizer.solver.model import CompactModel, build_model
from optimizer.solver.problem import Problem, Profile

PROMISING = 24
"""Profiles of the first model: enough to hold a near-optimal plan, few enough to solve at once."""

PROMISING_PER_POOL = 6
"""Most of them in one pool."""

SolverName = Literal["auto", "cp-sat", "highs", "enumerate"]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Attributes:
        status: optimal, feasible, infeasible or unknown.
        choice: The decision; None without a plan.
        bound: Proven bound on the first objective (major units, days, or 1e15 FLOP); None when unknown.
        solver: Solver used.
        proof: One sentence on what proves the status.
        interrupted: Whether Ctrl-C ended the search.
    """

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    choice: Choice | None
    bound: Decimal | None
    solver: str
    proof: str
    interrupted: bool = False


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search, with the best plan of the model it was solving.

    Attributes:
        found: Feasible, or unknown without a plan.
    """

    def __init__(self, found: Found) -> None:
        super().__init__("interrupted while searching")
        self.found = found


@dataclass(frozen=True, slots=True)
class _Effort:
    """Solver settings with a clock: what is left of the time limit, and progress in major units."""

    settings: Settings
    ends: float | None

    @classmethod
    def starting(cls, settings: Settings) -> _Effort:
        limit = settings.time_limit_s
        return cls(settings, None if limit is None else time.monotonic() + limit)

    def left(self, model: CompactModel) -> Settings:
        """Return the settings for the next solve of a model."""
        limit = None if self.ends is None else max(0.01, self.ends - time.monotonic())
        return replace(self.settings, time_limit_s=limit, progress=self._progress(model))

    def _progress(self, model: CompactModel) -> Progress | None:
        tell = self.settings.progress
        if tell is None:
            return None
        return lambda incumbent, bound: tell(_major(model, incumbent), _major(model, bound))


@dataclass(frozen=True, slots=True)
class _Solved:
    """A model with the answer to its first objective."""

    model: CompactModel
    answer: Answer

    @property
    def value(self) -> Decimal | None:
        """The first objective in its unit; None without a plan."""
        return None if self.answer.objective is None else _major(self.model, self.answer.objective)


def backend(name: SolverName) -> Backend:
    """Return the backend of a solver name (``auto`` is CP-SAT)."""
    return Highs() if name == "highs" else CpSat()


def search(problem: Problem, name: SolverName, settings: Settings, *, unique: bool = True) -> Found:
    """Return the best plan of a problem with its proof.

    Args:
        problem: The decision problem.
        name: Solver.
        settings: Its settings.
        unique: Whether ties are broken; without it the choice is one of the best.

    Raises:
        InternalError: two proofs disagree, or a solver breaks its own model.
    """
    solver = backend(name)
    if not problem.profiles:
        return Found("infeasible", None, None, solver.name, "no run fits its window in any pool that can be supplied")
    effort = _Effort.starting(settings)
    bound = dict(zip(problem.profiles, map(bounder(problem), problem.profiles), strict=True))
    ranked = sorted(problem.profiles, key=bound.__getitem__)
    first = _promising(problem, ranked, solver, effort)
    kept = _could_win(problem.profiles, bound, first)
    final = _solve(problem.keep(kept), solver, effort)
    return _conclude(final, first, solver, effort, dropped=len(problem.profiles) - len(kept), unique=unique)


def _solve(problem: Problem, solver: Backend, effort: _Effort) -> _Solved:
    model = build_model(problem)
    try:
        return _Solved(model, solver.solve(model.linear, model.objectives()[0], effort.left(model)))
    except SolveInterrupted as stop:
        raise SearchInterrupted(_so_far(_Solved(model, stop.answer), solver)) from None


def _so_far(solved: _Solved, solver: Backend) -> Found:
    """Return the incumbent of a search that was interrupted."""
    model, answer = solved.model, solved.answer
    choice = model.choice(answer.values) if answer.values else None
    status: Literal["feasible", "unknown"] = "unknown" if choice is None else "feasible"
    # no bound: the model may hold a part of the runs only
    return Found(status, choice, None, solver.name, "interrupted before a proof", interrupted=True)


def _promising(problem: Problem, ranked: Sequence[Profile], solver: Backend, effort: _Effort) -> _Solved | None:
    """Return the best plan over the most promising profiles; None when there are few, or they hold none."""
    if len(ranked) <= PROMISING:
        return None
    first = set(spread(ranked))
    solved = _solve(problem.keep(profile for profile in problem.profiles if profile in first), solver, effort)
    return solved if solved.answer.values else None


def spread(ranked: Sequence[Profile]) -> list[Profile]:
    """Return the first profiles, but of no pool so many that a limit it cannot meet leaves no plan among them."""
    taken: Counter[str] = Counter()
    kept = []
    for profile in ranked:
        taken[profile.pool.name] += 1
        if taken[profile.pool.name] <= PROMISING_PER_POOL:
            kept.append(profile)
    return kept[:PROMISING]


def _could_win(profiles: Sequence[Profile], bound: dict[Profile, float], first: _Solved | None) -> list[Profile]:
    if first is None or first.value is None:
        return list(profiles)
    incumbent = float(first.value)
    limit = incumbent + MARGIN * max(1.0, abs(incumbent))
    return [profile for profile in profiles if bound[profile] <= limit]


def _major(model: CompactModel, value: int) -> Decimal:
    """Return a value of the first objective in its unit."""
    digits = model.digits if model.builder.frame.scenario.objective == "cost" else 0
    return Decimal(value).scaleb(-digits)


def _conclude(
    final: _Solved, first: _Solved | None, solver: Backend, effort: _Effort, *, dropped: int, unique: bool
) -> Found:
    model, answer = final.model, final.answer
    if answer.outcome == "infeasible":
        return _confirm_infeasible(model, solver, effort)
    if answer.outcome == "optimal":
        values = _unique(model, answer, effort.settings).values if unique else answer.values
        runs = len(model.builder.chosen)
        proof = f"{solver.name} proved the compact model of {runs} runs; {dropped} runs cost more by their bound"
        return Found("optimal", model.choice(values), final.value, solver.name, proof)
    plans = [solved for solved in (final, first) if solved is not None and solved.value is not None]
    bound = None if answer.bound is None else _major(model, answer.bound)
    if not plans:
        return Found("unknown", None, bound, solver.name, "the limit was reached before a plan was found")
    best = min(plans, key=lambda solved: solved.value or Decimal(0))
    return Found(
        "feasible", best.model.choice(best.answer.values), bound, solver.name, "stopped before a proof at gap 0"
    )


def _confirm_infeasible(model: CompactModel, solver: Backend, effort: _Effort) -> Found:
    """Prove infeasibility a second time, with another solver; a disagreement is reported, never printed as an answer."""
    other: Backend = CpSat() if solver.name == "highs" else Highs()
    second = other.solve(model.linear, {}, replace(effort.left(model), variant=1, workers=1))
    if second.outcome in ("optimal", "feasible"):
        raise InternalError(
            f"{solver.name} calls the scenario infeasible, {other.name} finds a plan: no answer is given"
        )
    if second.outcome == "unknown":
        return Found(
            "unknown", None, None, solver.name, f"{solver.name} proved it infeasible, {other.name} did not finish"
        )
    return Found("infeasible", None, None, solver.name, f"proved infeasible by {solver.name} and by {other.name}")


def _unique(model: CompactModel, answer: Answer, settings: Settings) -> Answer:
    """Fix each objective at its optimum and minimise the next: CP-SAT with one worker, since ties need exact integers."""
    objectives = model.objectives()
    single = replace(settings, workers=1, progress=None, time_limit_s=None, gap=0.0)
    current = answer
    for fixed, following in zip(objectives, objectives[1:], strict=False):
        model.linear.add("unique", "fixed objective", fixed.items(), upper=model.linear.value(fixed, current.values))
        found = CpSat().solve(model.linear, following, replace(single, hint=current.values))
        if found.outcome != "optimal":
            raise InternalError(f"a proven plan was lost while breaking ties ({found.outcome})")
        current = found
    return current
