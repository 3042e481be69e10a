"""The search: a first plan from the most promising profiles, then a proof over all that could be better.

1. Every profile gets a cheap lower bound (``bounds``).
2. The compact model over the most promising profiles gives an incumbent.
3. The compact model over all profiles whose bound does not exceed the incumbent is solved to proof: the others cannot win.
4. Objectives after the first are optimised with the earlier ones fixed, with one worker, so that the plan is unique.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from optimizer.cost.choice import Choice
from optimizer.errors import InternalError
from optimizer.solve.backend import Answer, Backend, Settings
from optimizer.solve.bounds import bounder
from optimizer.solve.cpsat import CpSat
from optimizer.solve.highs import Highs
from optimizer.solve.model import CompactModel, build_model
from optimizer.solve.problem import Problem, Profile

PROMISING = 24
"""Profiles of the first model: enough to hold a near-optimal plan, few enough to solve at once."""

MARGIN = 1e-6
"""Relative margin on floating-point bounds before a profile is dropped."""

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
    """

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    choice: Choice | None
    bound: Decimal | None
    solver: str
    proof: str


@dataclass
class _Clock:
    limit_s: float | None
    started: float

    def settings(self, settings: Settings) -> Settings:
        if self.limit_s is None:
            return settings
        return replace(settings, time_limit_s=max(0.01, self.limit_s - (time.monotonic() - self.started)))


def backend(name: SolverName) -> Backend:
    """Return the backend of a solver name (``auto`` is CP-SAT)."""
    return Highs() if name == "highs" else CpSat()


def search(problem: Problem, name: SolverName, settings: Settings) -> Found:
    """Return the best plan of a problem with its proof.

    Raises:
        InternalError: two proofs disagree, or a solver breaks its own model.
    """
    solver = backend(name)
    if not problem.profiles:
        return Found("infeasible", None, None, solver.name, "no run fits its window in any pool that can be supplied")
    clock = _Clock(settings.time_limit_s, time.monotonic())
    bound = dict(zip(problem.profiles, map(bounder(problem), problem.profiles), strict=True))
    ranked = sorted(problem.profiles, key=bound.__getitem__)
    incumbent = _incumbent(problem, ranked, solver, clock, settings)
    kept = _could_win(problem.profiles, bound, incumbent)
    model = build_model(problem.keep(kept))
    answer = solver.solve(model.linear, model.objectives()[0], clock.settings(settings))
    dropped = len(problem.profiles) - len(kept)
    return _conclude(model, answer, solver, clock, settings, dropped)


def _incumbent(
    problem: Problem, ranked: Sequence[Profile], solver: Backend, clock: _Clock, settings: Settings
) -> float | None:
    """Return the first objective of a plan over the most promising profiles; None when they hold none."""
    if len(ranked) <= PROMISING:
        return None
    model = build_model(problem.keep(sorted(ranked[:PROMISING], key=problem.profiles.index)))
    answer = solver.solve(model.linear, model.objectives()[0], clock.settings(settings))
    return None if answer.objective is None else float(_major(model, answer.objective))


def _could_win(profiles: Sequence[Profile], bound: dict[Profile, float], incumbent: float | None) -> list[Profile]:
    if incumbent is None:
        return list(profiles)
    limit = incumbent + MARGIN * max(1.0, abs(incumbent))
    return [profile for profile in profiles if bound[profile] <= limit]


def _major(model: CompactModel, value: int) -> Decimal:
    """Return a value of the first objective in its unit."""
    return Decimal(value).scaleb(-model.digits) if model.builder.frame.scenario.objective == "cost" else Decimal(value)


def _conclude(
    model: CompactModel, answer: Answer, solver: Backend, clock: _Clock, settings: Settings, dropped: int
) -> Found:
    if answer.outcome == "infeasible":
        return _confirm_infeasible(model, solver, clock, settings)
    if answer.outcome == "unknown":
        return Found("unknown", None, None, solver.name, "the limit was reached before a plan was found")
    bound = None if answer.bound is None else _major(model, answer.bound)
    if answer.outcome == "feasible":
        return Found(
            "feasible", model.choice(answer.values), bound, solver.name, "the limit was reached before a proof"
        )
    unique = _unique(model, answer, settings)
    proof = f"{solver.name} proved the compact model of {len(model.builder.chosen)} runs; {dropped} runs cost more by their bound"
    return Found("optimal", model.choice(unique.values), _major(model, answer.objective or 0), solver.name, proof)


def _confirm_infeasible(model: CompactModel, solver: Backend, clock: _Clock, settings: Settings) -> Found:
    """Prove infeasibility a second time, with another solver; a disagreement is reported, never printed as an answer."""
    other: Backend = CpSat() if solver.name == "highs" else Highs()
    second = other.solve(model.linear, {}, clock.settings(replace(settings, variant=1, workers=1)))
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
    single = replace(settings, workers=1, progress=None, time_limit_s=None)
    current = answer
    for fixed, following in zip(objectives, objectives[1:], strict=False):
        model.linear.add("unique", "fixed objective", fixed.items(), upper=model.linear.value(fixed, current.values))
        found = CpSat().solve(model.linear, following, single)
        if found.outcome != "optimal":
            raise InternalError(f"a proven plan was lost while breaking ties ({found.outcome})")
        current = found
    return current
