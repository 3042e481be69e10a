"""What solves share: the clock, the best plan so far, and values of the first objective in their units."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import isfinite

from optimizer.cost.choice import Choice
from optimizer.solver.backend import Answer, Progress, Settings
from optimizer.solver.model import CompactModel

MENU_WORK = 1.0
"""Longest solve over a menu, in seconds as CP-SAT counts its work, whatever the machine."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Solver settings with a clock: what is left of the time limit, progress in major units, and the best plan so far.

    Attributes:
        settings: The settings.
        ends: When (monotonic clock) the time is over; None = never.
        known: The best plan so far, if any.
    """

    settings: Settings
    ends: float | None = None
    known: list[Solved] = field(default_factory=list)

    @classmethod
    def starting(cls, settings: Settings) -> Effort:
        """Return the effort that begins now."""
        limit = settings.time_limit_s
        return cls(settings, None if limit is None else time.monotonic() + limit)

    def at_most(self, seconds: float) -> Effort:
        """Return the effort with no more than some seconds left."""
        ends = time.monotonic() + seconds
        return replace(self, ends=ends if self.ends is None else min(ends, self.ends))

    def on_menus(self) -> Effort:
        """Return the effort for models over a menu: some work each, and no bound is told."""
        part = self.on_a_part()
        return replace(part, settings=replace(part.settings, work=MENU_WORK))

    def on_a_part(self) -> Effort:
        """Return the effort for models of a part of the runs: their bounds hold for these only and are not told."""
        tell = self.settings.progress
        told = None if tell is None else lambda incumbent, _: tell(incumbent, None)
        return replace(self, settings=replace(self.settings, progress=told))

    def tell(self, best: Solved | None, bound: float) -> None:
        """Tell a bound that holds for every plan."""
        tell = self.settings.progress
        if tell is not None and isfinite(bound):
            tell(None if best is None else best.value, Decimal(bound))

    def roughly(self, gap: float) -> Effort:
        """Return the effort for models that need not be solved better than to a relative gap."""
        return replace(self, settings=replace(self.settings, gap=max(gap, self.settings.gap)))

    def settings_left(self) -> Settings:
        """Return the settings with the time that is left."""
        left = None if self.ends is None else max(0.01, self.ends - time.monotonic())
        return replace(self.settings, time_limit_s=left)

    def keep(self, solved: Solved) -> None:
        """Remember a plan that is better than those before."""
        best = better(self.known[0] if self.known else None, solved)
        self.known[:] = [] if best is None else [best]

    def half(self) -> Effort:
        """Return the effort with half the time left."""
        now = time.monotonic()
        return replace(self, ends=None if self.ends is None else now + (self.ends - now) / 2)

    @property
    def is_over(self) -> bool:
        """Whether the time limit has passed."""
        return self.ends is not None and time.monotonic() >= self.ends

    def left(self, model: CompactModel) -> Settings:
        """Return the settings for the next solve of a model."""
        return replace(self.settings_left(), progress=self._progress(model))

    def _progress(self, model: CompactModel) -> Progress | None:
        tell = self.settings.progress
        if tell is None:
            return None
        return lambda incumbent, bound: tell(major(model, incumbent), major(model, bound))


@dataclass(frozen=True, slots=True)
class Solved:
    """A model with the answer to its first objective.

    Attributes:
        model: The model.
        answer: The answer.
    """

    model: CompactModel
    answer: Answer

    @property
    def value(self) -> Decimal | None:
        """The first objective in its unit; None without a plan."""
        return None if self.answer.objective is None else major(self.model, self.answer.objective)

    @property
    def choice(self) -> Choice:
        """The decision of its values."""
        return self.model.choice(self.answer.values)


def better(one: Solved | None, other: Solved | None) -> Solved | None:
    """Return the plan of less cost; of equal ones the later, which is proven over more."""
    if other is None or other.value is None:
        return one
    return other if one is None or one.value is None or other.value <= one.value else one


def major(model: CompactModel, value: int) -> Decimal:
    """Return a value of the first objective in its unit."""
    return Decimal(value).scaleb(-digits(model))


def digits(model: CompactModel) -> int:
    """Return the digits behind the unit of the first objective that a model counts."""
    return model.digits if model.builder.frame.scenario.objective == "cost" else 0
