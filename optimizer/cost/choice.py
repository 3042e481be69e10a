"""A concrete decision: what is awarded and when each run takes place."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from optimizer.cost.frame import DAY
from optimizer.cost.option import Option, pool_name
from optimizer.results import Candidate
from optimizer.schema.platform import Platform


@dataclass(frozen=True, slots=True)
class Run:
    """One workload in one pool.

    Attributes:
        candidate: The mode chosen.
        platform: Its platform.
        place: Site, or ``vendor/region``.
        site: Our site; None in a provider's region.
        start: First day.
        system: ``quote/offer`` of the dedicated system it takes; empty otherwise.
    """

    candidate: Candidate
    platform: Platform
    place: str
    site: str | None
    start: dt.date
    system: str = ""

    @property
    def end(self) -> dt.date:
        """Last day used."""
        return self.start + (self.candidate.days - 1) * DAY

    @property
    def pool(self) -> str:
        """The pool it runs in."""
        return pool_name(self.platform.id, self.place, self.system)


@dataclass(frozen=True, slots=True)
class Taken:
    """Units awarded of an option; an hourly option carries the end of its run as its ``end``."""

    option: Option
    units: int


@dataclass(frozen=True, slots=True)
class Choice:
    """Everything a plan decides.

    Attributes:
        taken: Awards.
        runs: Runs.
    """

    taken: tuple[Taken, ...]
    runs: tuple[Run, ...]

    @property
    def last_run(self) -> dt.date:
        """Last day of the last run."""
        return max(run.end for run in self.runs)
