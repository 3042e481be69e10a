"""Who a plan signs with and on what: the part of a plan that a switch is about."""

from __future__ import annotations

import datetime as dt

from optimizer.cost.choice import Choice
from optimizer.results import Result

NOBODY = "no plan"


class Decision(Result):
    """Platform and vendors of a plan; both empty when no plan is possible."""

    platform: str | None
    """Platform the runs use; several joined by ``+``."""
    vendors: tuple[str, ...]
    """Vendors with an award, ascending."""

    def __str__(self) -> str:
        """Return it in one phrase."""
        return f"{self.platform} from {', '.join(self.vendors) or 'what is owned'}" if self.platform else NOBODY


class PlanBrief(Result):
    """A plan in one row."""

    platform: str
    vendors: tuple[str, ...]
    awards: tuple[str, ...]
    """``units x quote/offer``."""
    nodes: int
    """Nodes the runs occupy."""
    finish: dt.date
    """Last day of the last run."""


def decision(choice: Choice | None) -> Decision:
    """Return who is signed with and on what."""
    if choice is None:
        return Decision(platform=None, vendors=())
    platforms = sorted({run.platform.id for run in choice.runs})
    vendors = sorted({taken.option.quote.vendor for taken in choice.taken})
    return Decision(platform="+".join(platforms), vendors=tuple(vendors))


def brief(choice: Choice) -> PlanBrief:
    """Return a plan in one row."""
    own = decision(choice)
    return PlanBrief(
        platform=own.platform or NOBODY,
        vendors=own.vendors,
        awards=tuple(f"{taken.units} x {'/'.join(taken.option.offer_key)}" for taken in choice.taken),
        nodes=sum(run.candidate.nodes for run in choice.runs),
        finish=choice.last_run,
    )
