"""What a solver backend answers, whichever solver it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from optimizer.solver.linear import LinearModel, Terms

MOMENT = 0.01
"""Seconds a solver is given at least."""

Outcome = Literal["optimal", "feasible", "infeasible", "unknown"]
Progress = Callable[[Any, Any], None]
"""Called with (incumbent, bound) of the first objective: a backend passes its integers, the search major units.

The search passes None for the bound of a model over a part of the runs, which says nothing about all of them.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to solve.

    Attributes:
        workers: Solver threads.
        seed: Random seed.
        time_limit_s: Wall seconds left; None = no limit.
        progress: Told about incumbents and bounds.
        gap: Relative gap at which a backend may stop.
        light: Whether presolve is kept short, for models that are solved many times.
        work: Work of one solve, in seconds as CP-SAT counts them whatever the machine; None = no limit (HiGHS has none).
        hint: Values of all variables to start from; empty = none.
        variant: 0 the usual configuration, 1 a different one for a second proof.
    """

    workers: int = 1
    seed: int = 0
    time_limit_s: float | None = None
    progress: Progress | None = None
    gap: float = 0.0
    work: float | None = None
    variant: int = 0
    light: bool = False
    hint: Sequence[int] = ()

    def since(self, started: float) -> Settings:
        """Return the settings with the time limit counted from a start (``time.monotonic``); never below a moment."""
        limit = self.time_limit_s
        return self if limit is None else replace(self, time_limit_s=max(MOMENT, limit + started - time.monotonic()))

    @property
    def spent(self) -> bool:
        """Whether the time limit is used up."""
        return self.time_limit_s is not None and self.time_limit_s <= MOMENT


@dataclass(frozen=True, slots=True)
class Answer:
    """What a backend found.

    Attributes:
        outcome: Optimal and infeasible are proven.
        values: Value of every variable; empty without a solution.
        objective: Objective of the values.
        bound: Proven lower bound; None when unknown.
    """

    outcome: Outcome
    values: list[int] = field(default_factory=list)
    objective: int | None = None
    bound: int | None = None


class SolveInterrupted(KeyboardInterrupt):
    """Ctrl-C while a model was being solved, with what was found by then.

    Attributes:
        answer: Feasible or unknown, or even proven.
    """

    def __init__(self, answer: Answer) -> None:
        super().__init__("interrupted while solving")
        self.answer = answer


class Backend(Protocol):
    """A solver of linear integer models."""

    name: str

    def solve(self, model: LinearModel, objective: Terms, settings: Settings) -> Answer:
        """Minimise an objective over a model."""
        ...


def evaluated(model: LinearModel, objective: Terms, values: list[int]) -> int:
    """Return the objective at values, in exact integers."""
    return model.value(objective, values)


def violated(model: LinearModel, values: list[int]) -> str | None:
    """Return the first row or bound that values break in exact integers; None when all hold."""
    for name, value, low, high in zip(model.names, values, model.lower, model.upper, strict=True):
        if not low <= value <= high:
            return f"{name} = {value} outside {low} … {high}"
    for row in model.rows:
        total = sum(coefficient * values[variable] for variable, coefficient in row.terms)
        if not row.lower <= total <= row.upper:
            return f"{row.rule} [{row.name}]: {total} outside {row.lower} … {row.upper}"
    return None
