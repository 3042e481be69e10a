"""Spare nodes in the hall, so that a run goes on while failed nodes are repaired."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from math import exp, log, log1p

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
    def enough(spare: int) -> bool:
        return _at_most(spare, nodes + spare, away) >= confidence

    most = 1
    while not enough(most):
        most *= 2
    return bisect_left(range(most + 1), True, key=enough)  # noqa: FBT003 - enough is False, then True


def _at_most(most: int, trials: int, chance: float) -> float:
    """Return P(Binomial(trials, chance) <= most), summed from the recurrence of its terms.

    In logarithms: the first term of a large fleet is below the smallest float.
    """
    if not chance:
        return 1.0
    term = trials * log1p(-chance)
    total = exp(term)
    for count in range(1, most + 1):
        term += log((trials - count + 1) / count * chance / (1 - chance))
        total += exp(term)
    return total
