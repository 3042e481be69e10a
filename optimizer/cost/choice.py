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
    """Units awarded of an option.

    Attributes:
        option: The option; a hired one carries the end of its hire as its ``end``.
        units: How many.
        workload: The run it is hired for; None for what serves every run it covers.
    """

    option: Option
    units: int
    workload: str | None = None

    def joins(self, run: Run) -> bool:
        """Return whether its nodes are in the pool of a run, and not hired for another one."""
        return self.option.pool == run.pool and self.workload in (None, run.candidate.workload)


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
