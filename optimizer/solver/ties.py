"""The order among plans of equal objective, as one sort key of a choice."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from optimizer.cost.choice import Choice, Run, Taken

TieKey = tuple[object, ...]


def award_key(award: Taken) -> tuple[tuple[str, str, str, dt.date], str]:
    """Return the sort key of an award, unique among those of a choice."""
    return award.option.key, award.workload or ""


def run_key(run: Run) -> tuple[object, ...]:
    """Return the sort key of a run: earlier starts, then fewer nodes, then pools by name."""
    return run.start, run.candidate.nodes, run.pool, run.candidate.days


def tie_key(choice: Choice, offers: Sequence[tuple[str, str]]) -> TieKey:
    """Return fewest nodes, earliest end, fewest awards, least sum of offer rank x units, then places and deliveries.

    With several runs, before places: the least sum of starts, then the runs in the order of the scenario.

    Args:
        choice: The choice.
        offers: All offers (quote, name) in order; the position is the rank.
    """
    rank = {offer: position + 1 for position, offer in enumerate(offers)}
    nodes = sum(award.units * award.option.platform.nodes_per_unit for award in choice.taken)
    weighted = sum(rank[award.option.offer_key] * award.units for award in choice.taken)
    runs: TieKey = ()
    if len(choice.runs) > 1:
        runs = (sum(run.start.toordinal() for run in choice.runs), tuple(map(run_key, choice.runs)))
    details = tuple((*award.option.key, award.units) for award in choice.taken)
    return nodes, choice.last_run, len(choice.taken), weighted, *runs, details
