"""Spare nodes, against a table made with another library's binomial distribution."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from optimizer.schema.scenario import Reliability
from optimizer.solver.spares import spares

DEFAULT = Reliability()
"""3 failures per 1,000 node-days, 3 days away: x = 0.009, q = 0.00892; 95 % sure."""

TABLE = {
    # nodes: spares at the default, at 99 %, at 10 failures and 7 days (q = 0.0654) and 95 %
    1: (0, 0, 1), 2: (0, 1, 1), 5: (0, 1, 2), 6: (1, 1, 2), 16: (1, 1, 3), 32: (1, 2, 5), 64: (2, 3, 8),
    128: (3, 4, 14), 256: (5, 6, 25), 512: (8, 10, 46), 1024: (14, 17, 86), 2048: (26, 29, 164),
}  # fmt: skip


@pytest.mark.parametrize("nodes", TABLE)
def test_the_smallest_number_that_is_enough(nodes: int) -> None:
    settings = (
        DEFAULT,
        Reliability(spare_confidence=0.99),
        Reliability(node_failures_per_1000_days=10, repair_days=7),
    )
    assert tuple(spares(nodes, setting) for setting in settings) == TABLE[nodes]


def test_two_of_three_at_95_per_cent_each_work_at_99275() -> None:
    """P(Binomial(3, 0.05) <= 1) = 0.99275: one spare is enough for 99.27 %, not for 99.28 %."""
    away = {"node_failures_per_1000_days": 52.631578947368421, "repair_days": 1}  # x = 1 / 19, q = 0.05
    assert spares(2, Reliability(**away, spare_confidence=0.9927)) == 1
    assert spares(2, Reliability(**away, spare_confidence=0.9928)) == 2


@pytest.mark.parametrize("nodes", [3, 17, 40])
def test_it_agrees_with_exact_fractions(nodes: int) -> None:
    setting = Reliability(node_failures_per_1000_days=40, repair_days=5, spare_confidence=0.9)  # x = 1/5, q = 1/6
    found = spares(nodes, setting)
    assert _works(nodes, found) >= Fraction(9, 10) > _works(nodes, found - 1)


def _works(nodes: int, spare: int) -> Fraction:
    return sum(
        comb(nodes + spare, away) * Fraction(1, 6) ** away * Fraction(5, 6) ** (nodes + spare - away)
        for away in range(spare + 1)
    )


@pytest.mark.parametrize("never", [{"node_failures_per_1000_days": 0}, {"repair_days": 0}, {"spare_confidence": 0}])
def test_nodes_that_never_fail_or_nobody_waits_for_need_no_spares(never: dict[str, int]) -> None:
    assert spares(1000, Reliability(**never)) == 0


def test_the_largest_fleets_are_answered() -> None:
    """16,384 nodes, 6.5 % away: the chance that none is away is below the smallest float."""
    setting = Reliability(node_failures_per_1000_days=10, repair_days=7)
    found = spares(16_384, setting)
    mean, spread = 0.07 * 16_384, (16_384 * 0.07 * 1.07) ** 0.5  # of a negative binomial: n x, sqrt(n x (1 + x))
    assert mean + 1.5 * spread < found < mean + 1.8 * spread  # 95 % lie within 1.645 deviations


def test_nodes_away_more_than_half_of_the_time_are_refused() -> None:
    assert spares(1, Reliability(node_failures_per_1000_days=100, repair_days=10)) > 0
    with pytest.raises(ValueError, match="away more than half"):
        Reliability(node_failures_per_1000_days=101, repair_days=10)
