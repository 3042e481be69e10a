"""Lower bounds on sets of runs in pools, and the assignments of runs to pools in order of what they cost at least.

A part is a set of runs that share a pool, a bit per run. Each run is in one part and each pool in at most one, so an
assignment costs at least the sum of its parts. Bounds only rise, and a larger set costs no less than a smaller one.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from optimizer.solver.curves import Costs, Counts
from optimizer.solver.highs import most_in_all
from optimizer.solver.partitions import Block, Field
from optimizer.solver.relaxed_terms import is_hired_alone
from optimizer.solver.schedules import Flags

_ZERO = np.zeros(1, dtype=np.int64)

Part = tuple[int, int]
"""Bits of the runs, and the position of their pool."""

Parts = tuple[Part, ...]
"""Parts of an assignment, in order of their first run."""


def runs_of(part: Part) -> list[int]:
    """Return the positions of the runs of a part."""
    return [run for run in range(part[0].bit_length()) if part[0] >> run & 1]


def pairs_of(parts: Iterable[Part]) -> Block:
    """Return the (run, pool) pairs of some parts, ascending."""
    return tuple(sorted((run, part[1]) for part in parts for run in runs_of(part)))


class Cell(NamedTuple):
    """Sets of runs, as bits: those that hold some runs, and besides only some others.

    Attributes:
        must: The runs of every set.
        may: Those, and the runs of some.
    """

    must: int
    may: int

    def holds(self, members: int) -> bool:
        """Return whether a set is among them."""
        return members & self.must == self.must and not members & ~self.may

    def parted(self, prices: Sequence[float]) -> list[Cell]:
        """Return cells of the same sets, with the two dearest open runs decided, or one; the cell where none is open."""
        cells = [self]
        for run in sorted(runs_of((self.may & ~self.must, 0)), key=lambda run: -prices[run])[:2]:
            bit = 1 << run
            cells = [part for one in cells for part in (Cell(one.must | bit, one.may), Cell(one.must, one.may & ~bit))]
        return cells


@dataclass
class PartBounds:
    """What parts cost at least, as far as it is known.

    Attributes:
        known: The runs with the pools they may take.
        constant: What every assignment pays besides, at least.
        tied: Parts that follow each other in time -> lower bound on all of them.
        least: Bits of runs x pool -> lower bound; infinite where a part is impossible, and for no runs.
    """

    known: Field
    constant: float
    tied: dict[Parts, float] = field(default_factory=dict)
    _groups: dict[Parts, list[Parts]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start with what single runs cost."""
        runs = len(self.known.names)
        self._sets = np.arange(1 << runs)
        self._members = self._sets[:, None] >> np.arange(runs) & 1
        self._firsts = [_with_the_first(one) for one in range(1 << runs)]
        self.least = np.full((1 << runs, len(self.known.outlook.pools)), np.inf)
        for pool in sorted({pool for _, pool in self.known.known}):
            members = sum(1 << run for run, place in self.known.known if place == pool)
            for mask in range(1, members + 1):
                if mask & members == mask:
                    self.least[mask, pool] = self._first((mask, pool))

    def _first(self, part: Part) -> float:
        """Return a bound from single runs: the dearest of them, and the nodes that all their node-days need."""
        pairs, pool = pairs_of([part]), part[1]
        table, quick = self.known.outlook.tables[pool], self.known.quick(pairs)
        running = sum(self.known.known[pair].running for pair in pairs)
        if is_hired_alone(table.pool):
            return running + sum(self.known.known[pair].awards for pair in pairs)
        if table.hired or not len(table.ready):
            return quick
        slots = [self.known.slots[pair] for pair in pairs]
        days = max(slot.last for slot in slots) - max(min(slot.first for slot in slots), int(table.ready[0])) + 1
        nodes = -(-sum(int((slot.needed * slot.days).min()) for slot in slots) // max(days, 1))
        return max(quick, running + float(table.awards(_ZERO, _ZERO + len(table.ready) - 1, _ZERO + nodes)[0]))

    def raise_to(self, part: Part, value: float) -> None:
        """Raise the bound of a part, and with it of those that hold it."""
        mask, pool = part
        holding = self._sets[self._sets & mask == mask]
        self.least[holding, pool] = np.maximum(self.least[holding, pool], value)

    def prices(self, most: Costs) -> list[float]:
        """Return a price of each run, dearest in all, of which those of no set of runs add up to more than some values."""
        possible = np.flatnonzero(np.isfinite(most))
        return list(most_in_all(self._members[possible], most[possible]))

    def of_prices(self, prices: Sequence[float]) -> Costs:
        """Return what the prices of the runs of each set add up to."""
        return np.asarray(self._members @ np.array(prices))

    def lift(self, pool: int, prices: Sequence[float], cell: Cell, left_out: Collection[int] = ()) -> None:
        """Raise the bounds of the parts of a cell in a pool to the prices of their runs, but for some."""
        inside = self._inside(cell)
        inside[list(left_out)] = False
        self.least[inside, pool] = np.maximum(self.least[inside, pool], self.of_prices(prices)[inside])

    def is_below(self, pool: int, prices: Sequence[float], cell: Cell) -> bool:
        """Return whether any possible part of a cell in a pool may cost less than its prices, by what is known."""
        least = self.least[:, pool]
        return bool((self._inside(cell) & np.isfinite(least) & (least < self.of_prices(prices))).any())

    def _inside(self, cell: Cell) -> Flags:
        return np.asarray((self._sets & cell.must == cell.must) & (self._sets & ~cell.may == 0))

    def total(self, parts: Parts) -> float:
        """Return what an assignment costs at least."""
        return self._paid(parts) + sum(
            max(sum(float(self.least[part]) for part in group), self.tied.get(group, -np.inf))
            for group in self.groups(parts)
        )

    def _paid(self, parts: Parts) -> float:
        """Return what an assignment pays besides its parts."""
        return self.constant + self.known.entry(pairs_of(parts))

    def groups(self, parts: Parts) -> list[Parts]:
        """Return the parts of an assignment, those together whose runs follow each other."""
        if parts not in self._groups:
            blocks = [{pool for _, pool in block} for block in self.known.parts(pairs_of(parts))]
            self._groups[parts] = [tuple(part for part in parts if part[1] in pools) for pools in blocks]
        return self._groups[parts]

    def assignments(self) -> Iterator[tuple[float, Parts]]:
        """Yield assignments by the sum of their parts, least first: what is paid once and ties are not in it.

        The next part holds the first run that is left; of those the one is taken that promises least, then the next.
        """
        everyone, rest = int(self._sets[-1]), self._rest()
        menus: dict[int, list[tuple[float, Part]]] = {}
        heap: list[tuple[float, int, Parts, int, float]] = [(float(rest[-1]), everyone, (), 0, 0.0)]
        while heap:
            bound, left, parts, place, before = heappop(heap)
            if left not in menus:
                menus[left] = self._menu(left, rest)
            if place >= len(menus[left]):
                continue
            part = menus[left][place][1]
            if place + 1 < len(menus[left]):
                heappush(heap, (max(bound, before + menus[left][place + 1][0]), left, parts, place + 1, before))
            if any(part[1] == pool for _, pool in parts):
                continue
            after, parts = left & ~part[0], (*parts, part)
            if after:
                heappush(heap, (bound, after, parts, 0, before + float(self.least[part])))
            else:
                yield bound, parts

    def _menu(self, left: int, rest: Costs) -> list[tuple[float, Part]]:
        """Return the parts that hold the first of some runs, by what they and the other runs cost at least."""
        masks = self._firsts[left]
        costs = self.least[masks] + rest[left & ~masks][:, None]
        rows, pools = np.nonzero(np.isfinite(costs))
        values = costs[rows, pools]
        order = np.argsort(values, kind="stable")
        return list(
            zip(
                values[order].tolist(),
                zip(masks[rows[order]].tolist(), pools[order].tolist(), strict=True),
                strict=True,
            )
        )

    def _rest(self) -> Costs:
        """Return for each set of runs the least sum of parts that hold them, pools counted as if each were there twice."""
        cheapest, rest = self.least.min(axis=1), np.zeros(len(self._sets))
        for left, masks in enumerate(self._firsts):
            if left:
                rest[left] = (cheapest[masks] + rest[left & ~masks]).min()
        return rest


def _with_the_first(runs: int) -> Counts:
    """Return the sets of some runs that hold the first of them."""
    first, others = runs & -runs, runs & (runs - 1)
    masks, mask = [first], others
    while mask:
        masks.append(first | mask)
        mask = (mask - 1) & others
    return np.array(masks, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Cheap:
    """An assignment that costs little by what is known.

    Attributes:
        parts: It.
        value: What it costs at least.
    """

    parts: Parts
    value: float


def cheapest(bounds: PartBounds, asked: dict[Parts, float], limit: float, most: int = 1) -> list[Cheap]:
    """Return the assignments of the least bounds, least first; every other one costs no less than the last of so many.

    Args:
        bounds: What parts cost at least.
        asked: Assignments of which more is known -> their bounds.
        limit: Bounds from which on no assignment matters.
        most: How many are asked for; with fewer there are no others below the limit.
    """
    best: list[Cheap] = []
    for bound, parts in bounds.assignments():
        worst = best[-1].value if len(best) == most else limit
        if bound + bounds.constant >= worst:
            break
        value = max(bounds.total(parts), asked.get(parts, -np.inf))
        if value < worst:
            insort(best, Cheap(parts, value), key=lambda one: one.value)
            del best[most:]
    return best
