"""What the objective ``capacity`` counts: effective compute to the horizon, or accelerators when only modes are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.cost.option import Lot, Option, fill_lots
from optimizer.solver.problem import Problem

FLOP_UNIT = 10**15
"""Compute is counted in 1e15 FLOP: fine enough to tell plans apart, small enough for 64 bits."""


@dataclass(frozen=True, eq=False)
class Capacity:
    """How much capacity one unit of an award is.

    Attributes:
        frame: Dates.
        rates: Platform -> best effective compute per accelerator and day, in ``FLOP_UNIT``; empty when only modes are known.
    """

    frame: Frame
    rates: Mapping[str, int]

    @classmethod
    def of(cls, problem: Problem) -> Capacity:
        """Return what capacity means in a problem."""
        best: dict[str, float] = {}
        for profile in problem.profiles:
            rate = profile.run.candidate.effective_flop_per_accelerator_day
            if rate is not None:
                best[profile.pool.platform.id] = max(rate, best.get(profile.pool.platform.id, 0.0))
        return cls(problem.frame, {platform: round(rate / FLOP_UNIT) for platform, rate in best.items()})

    @property
    def unit(self) -> str:
        """Unit of the objective."""
        return "1e15 FLOP" if self.rates else "accelerators"

    def per_unit(self, option: Option, lot: Lot) -> int:
        """Return accelerators x rate x days from ready to contract end or horizon; or just accelerators.

        What is hired for one run is none: it would grow with the length of the run.
        """
        if option.is_hired:
            return 0
        accelerators = option.platform.accelerators_per_unit
        if not self.rates:
            return accelerators
        days = (option.last_day(self.frame) - lot.ready).days + 1
        return accelerators * self.rates.get(option.platform.id, 0) * max(0, days)

    def total(self, choice: Choice) -> int:
        """Return the capacity of a choice: its awards and, where accelerators are counted, those we have."""
        awarded = sum(
            units * self.per_unit(award.option, lot)
            for award in choice.taken
            for lot, units in fill_lots(award.option, award.units)
        )
        return awarded + (0 if self.rates else self._owned())

    def _owned(self) -> int:
        platforms = self.frame.platforms
        return sum(own.nodes * platforms[own.platform].accelerators_per_node for own in self.frame.scenario.owned)
