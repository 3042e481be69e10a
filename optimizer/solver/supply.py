"""Node-days that awards of a pool give at most: what it has on each day grows as orders arrive.

A lower bound, in floating point: each day may be served by other awards of the same cost.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from optimizer.solver.curves import Costs, Counts


@dataclass(frozen=True, eq=False)
class Supply:
    """What amounts of money give in a pool.

    Attributes:
        ready: Days on which more becomes ready, ascending; class k is the days from ``ready[k]`` to the next.
        amounts: Costs of awards, ascending.
        nodes: Class x amount -> most nodes on a day of that class, of awards that cost so much.
        owned: Nodes there are without awards, before the first class too.
        term: Most days on which they are there; None where they stay.
    """

    ready: Counts
    amounts: Costs
    nodes: Counts
    owned: int
    term: int | None
    _known: dict[tuple[int, int], Costs] = field(default_factory=dict)

    def awards(self, node_days: int, first: int, last: int) -> float:
        """Return what awards cost at least that give so many node-days from one day to another; infinite: none do."""
        place = int(np.searchsorted(self._node_days(first, last), node_days))
        return float(self.amounts[place]) if place < len(self.amounts) else np.inf

    def _node_days(self, first: int, last: int) -> Costs:
        """Return the most node-days between two days, by amount."""
        if (first, last) not in self._known:
            ends = np.minimum(np.append(self.ready[1:] - 1, last), last)
            days = np.maximum(ends - np.maximum(self.ready, first) + 1, 0)
            before = max(0, min(last + 1, int(self.ready.min(initial=last + 1))) - first)
            found = days @ self.nodes + float(self.owned * before)
            if self.term is not None:
                found = np.minimum(found, self.term * self.nodes[-1])
            self._known[first, last] = found
        return self._known[first, last]


def supply_of(least: Costs, ready: Counts, most: int, owned: int, per_unit: int, term: int | None) -> Supply:
    """Return the supply of a pool.

    Args:
        least: Class x units -> least cost of awards of at least so many units that are ready by a day of that class.
        ready: First day of each class.
        most: Units of all offers; as many are there where an amount buys all that ``least`` tells of.
        owned: Nodes there are without awards.
        per_unit: Nodes of a unit.
        term: Most days on which they are there; None where they stay.
    """
    amounts = np.unique(np.append(least[np.isfinite(least)], 0.0))  # what is owned costs nothing
    units = np.array([np.searchsorted(row, amounts, side="right") - 1 for row in least], dtype=np.int64)
    units = np.where(units == least.shape[1] - 1, max(most, least.shape[1] - 1), np.maximum(units, 0))
    return Supply(ready, amounts, owned + per_unit * units.reshape(len(least), len(amounts)), owned, term)
