"""Spare nodes in the hall, so that a run goes on while failed nodes are repaired."""

from __future__ import annotations

from functools import lru_cache

from optimizer.schema.scenario import Reliability


def spares(nodes: int, reliability: Reliability) -> int:
    """Return the smallest k with P(Binomial(nodes + k, q) <= k) >= spare_confidence.

    q = x / (1 + x) with x = failures per node-day x repair days: the share of time a node is away
    (steady state of a renewal process with that failure and repair time).
    """
    x = float(reliability.node_failures_per_1000_days) / 1000 * float(reliability.repair_days)
    return _spares(nodes, x / (1 + x), float(reliability.spare_confidence))


@lru_cache(maxsize=4096)
def _spares(nodes: int, away: float, confidence: float) -> int:
    spare = 0
    while _at_most(spare, nodes + spare, away) < confidence:
        spare += 1
    return spare


def _at_most(most: int, trials: int, chance: float) -> float:
    """Return P(Binomial(trials, chance) <= most), summed from the recurrence of its terms."""
    term = (1 - chance) ** trials
    total = term
    for count in range(1, most + 1):
        term *= (trials - count + 1) / count * chance / (1 - chance)
        total += term
    return total
