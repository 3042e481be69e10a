"""Rounds of prices: the bounds of all sets of runs in a pool are raised at once (Dantzig-Wolfe pricing by cells).

A linear program gives runs prices, a little above what the known bounds allow and no higher than what sets are known to cost.
CP-SAT is asked pool by pool whether any set costs less (``pricing``): that none does is a bound of each. A set that does is
left out of the round, and what it costs holds prices down in the next. Where CP-SAT cannot tell, the sets are parted: into
those with a run and those without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from optimizer.solver.curves import Costs
from optimizer.solver.parts import Cell, Part, PartBounds
from optimizer.solver.questions import Answered, Question

STEP, SMALL_STEP = 0.03, 0.015
"""Share by which prices are above what the known bounds allow: each round raises the bound of all runs by it at most. The
second from the first round on in which CP-SAT could not tell about some sets at once."""

WORK, MORE_WORK = 0.5, 4.0
"""Longest search in a cell, in seconds as CP-SAT counts its work, and where nothing more can be decided about its sets."""

MOST_CHEAP = 24
"""Sets that cost less than their prices in one round, from which on it is not gone on with: other ways bound them better."""


@dataclass
class Round:
    """One round.

    Attributes:
        bounds: What parts cost at least.
        pools: Pools that are asked about -> the runs, as bits, that may take them.
        costs: Part -> what it is known to cost, from this round and those before.
        cells: Pool -> cells in which CP-SAT could tell about all sets, from the round before; empty in the first.
    """

    bounds: PartBounds
    pools: dict[int, int]
    costs: dict[Part, float] = field(default_factory=dict)
    cells: Mapping[int, Sequence[Cell]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Set prices."""
        is_hard = any(len(own) > 1 for own in self.cells.values())
        self.prices = tuple(self.bounds.prices(self._most(SMALL_STEP if is_hard else STEP)))
        self._left_out: dict[int, list[int]] = {pool: [] for pool in self.pools}
        cells = {pool: self.cells.get(pool) or [Cell(0, runs)] for pool, runs in self.pools.items()}
        self._open = [(pool, one) for pool, own in cells.items() for one in own if self._is_below(pool, one)]
        self._told = {pool: [one for one in own if (pool, one) not in self._open] for pool, own in cells.items()}
        self._unknown = 0

    def _is_below(self, pool: int, cell: Cell) -> bool:
        return self.bounds.is_below(pool, self.prices, cell)

    def next(self) -> Round:
        """Return the round after this one."""
        return Round(self.bounds, self.pools, self.costs, self._told)

    def _most(self, step: float) -> Costs:
        """Return for each set what its prices may add up to: in no pool much more than it costs at least there."""
        most = (1 + step) * self.bounds.least
        for part, cost in self.costs.items():
            most[part] = min(most[part], max(cost, float(self.bounds.least[part])))
        return np.asarray(most.min(axis=1))

    @property
    def is_over(self) -> bool:
        """Whether too many sets cost less than their prices for the round to be worth it."""
        return sum(map(len, self._left_out.values())) > MOST_CHEAP

    @property
    def is_proven(self) -> bool:
        """Whether all sets were bounded but those that are known to cost less."""
        return not self._unknown and not self.is_over

    def questions(self, most: int) -> Iterator[Question]:
        """Yield what is to be asked next, at most so many."""
        for _ in range(min(most, len(self._open))):
            pool, cell = self._open.pop(0)
            work = WORK if cell.must != cell.may else MORE_WORK
            left_out = tuple(own for own in self._left_out[pool] if cell.holds(own))
            yield Question(
                "price", ((cell.may, pool),), work=work, prices=self.prices, must=cell.must, left_out=left_out
            )

    def learn(self, question: Question, told: Answered) -> None:
        """Take an answer; a bound is taken elsewhere."""
        (may, pool), must = question.parts[0], question.must
        cell = Cell(must, may)
        if told.outcome == "feasible":
            self._left_out[pool].append(told.members)
            self.costs[told.members, pool] = min(told.cost, self.costs.get((told.members, pool), np.inf))
            self._open.insert(0, (pool, cell))
        elif told.outcome == "unknown" and must != may:
            self._open[:0] = [(pool, one) for one in cell.parted(self.prices) if self._is_below(pool, one)]
        else:
            self._unknown += told.outcome == "unknown"
            self._told[pool].append(cell)
