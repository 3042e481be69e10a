"""Lower bounds on sets of runs in pools, and the assignments of runs to pools in order of what they cost at least.

A part is a set of runs that share a pool, a bit per run. Each run is in one part and each pool in at most one, so an
assignment costs at least the sum of its parts. Bounds only rise, and a larger set costs no less than a smaller one.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from optimizer.solver.highs import most_in_all
from optimizer.solver.partitions import Block, Field
from optimizer.solver.relaxed_terms import is_hired_alone

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


@dataclass
class PartBounds:
    """What parts cost at least, as far as it is known.

    Attributes:
        known: The runs with the pools they may take.
        constant: What every assignment pays besides, at least.
        least: Part -> lower bound; parts that are not there are impossible.
        tied: Parts that follow each other in time -> lower bound on all of them.
    """

    known: Field
    constant: float
    least: dict[Part, float] = field(default_factory=dict)
    tied: dict[Parts, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start with what single runs cost."""
        for pool in sorted({pool for _, pool in self.known.known}):
            members = [run for run, place in self.known.known if place == pool]
            masks = [0]
            for run in members:
                masks += [mask | 1 << run for mask in masks]
            self.least |= {(mask, pool): self._first((mask, pool)) for mask in masks if mask}

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
        for mask, pool in self.least:
            if pool == part[1] and mask & part[0] == part[0]:
                self.least[mask, pool] = max(self.least[mask, pool], value)

    def prices(self) -> list[float]:
        """Return a price of each run, dearest in all, of which those of no set of runs add up to more than it costs."""
        cheapest = self._cheapest()
        return list(
            most_in_all([runs_of((mask, 0)) for mask in cheapest], list(cheapest.values()), len(self.known.names))
        )

    def lift(self, pool: int, prices: Sequence[float], by: float) -> None:
        """Raise the bounds of all parts in a pool to the prices of their runs and what they cost there at least besides."""
        for part, value in self.least.items():
            if part[1] == pool:
                self.least[part] = max(value, by + sum(prices[run] for run in runs_of(part)))

    def total(self, parts: Parts) -> float:
        """Return what an assignment costs at least."""
        paid = self.constant + self.known.entry(pairs_of(parts))
        return paid + sum(
            max(sum(self.least[part] for part in group), self.tied.get(group, -np.inf)) for group in self.groups(parts)
        )

    def groups(self, parts: Parts) -> list[Parts]:
        """Return the parts of an assignment, those together whose runs follow each other."""
        blocks = [{pool for _, pool in block} for block in self.known.parts(pairs_of(parts))]
        return [tuple(part for part in parts if part[1] in pools) for pools in blocks]

    def assignments(self) -> Iterator[tuple[float, Parts]]:
        """Yield assignments by the sum of their parts, least first: what is paid once and ties are not in it."""
        everyone = (1 << len(self.known.names)) - 1
        rest = self._rest(everyone)
        menus = self._menus()
        heap: list[tuple[float, int, Parts]] = [(rest[everyone], everyone, ())]
        while heap:
            bound, left, parts = heappop(heap)
            if not left:
                yield bound, parts
                continue
            taken, before = {pool for _, pool in parts}, bound - rest[left]
            for value, part in menus[left & -left]:
                if part[0] & left == part[0] and part[1] not in taken:
                    after = left & ~part[0]
                    if rest[after] < np.inf:
                        heappush(heap, (before + value + rest[after], after, (*parts, part)))

    def _menus(self) -> dict[int, list[tuple[float, Part]]]:
        """Return the parts by their first run, cheapest first."""
        menus: dict[int, list[tuple[float, Part]]] = {1 << run: [] for run in range(len(self.known.names))}
        for part, value in self.least.items():
            if value < np.inf:
                menus[part[0] & -part[0]].append((value, part))
        return menus

    def _rest(self, everyone: int) -> list[float]:
        """Return for each set of runs the least sum of parts that hold them, pools counted as if each were there twice."""
        cheapest = self._cheapest()
        rest = [0.0] * (everyone + 1)
        for left in range(1, everyone + 1):
            first, best, mask = left & -left, np.inf, left
            while mask:
                if mask & first and mask in cheapest:
                    best = min(best, cheapest[mask] + rest[left & ~mask])
                mask = (mask - 1) & left
            rest[left] = best
        return rest

    def _cheapest(self) -> dict[int, float]:
        """Return what each set of runs costs at least wherever it is; those that can be nowhere are left out."""
        found: dict[int, float] = {}
        for (mask, _), value in self.least.items():
            if value < np.inf:
                found[mask] = min(found.get(mask, np.inf), value)
        return found


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
