"""Schedules of a few runs in given pools, as arrays: all whose lower bound stays within a cutoff.

Runs are placed in order of their starts. A start is a release or delivery, or the day after the end of a placed run that
it follows or that shares its pool (semi-active). After each placement a schedule is dropped when what is placed, and what
the rest costs at least, exceed the cutoff. Nothing else is dropped here, so the answer is complete unless ``cut`` says so.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import numpy.typing as npt

from optimizer.solver.curves import START_STEP_DAYS, Costs, Counts
from optimizer.solver.outlook import Outlook, PoolTable, Slot

CHUNK = 400_000
"""Schedules expanded at once: some tens of megabytes."""

FAR = 10**6
"""A day after every day."""


class OutOfTimeError(Exception):
    """The time limit passed before all schedules of a block were tried."""


Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Schedules:
    """Schedules of a block of runs, one a row.

    Attributes:
        slots: The runs with their pools.
        starts: First days, one column per slot; -1 while not placed.
        modes: Modes, likewise.
        running: Present value of what the runs themselves draw or are paid for.
        bound: Lower bound on the present value of everything, entries paid once left out.
        cut: Whether schedules were left out because there were too many.
    """

    slots: tuple[Slot, ...]
    starts: Counts
    modes: Counts
    running: Costs
    bound: Costs
    cut: bool = False

    def __len__(self) -> int:
        """Return how many."""
        return len(self.starts)

    def take(self, rows: Flags | Counts) -> Schedules:
        """Return some of them."""
        return Schedules(
            self.slots, self.starts[rows], self.modes[rows], self.running[rows], self.bound[rows], self.cut
        )

    def needed(self, column: int) -> Counts:
        """Return the nodes of a placed run."""
        return np.asarray(self.slots[column].needed[self.modes[:, column]])

    def ends(self, column: int) -> Counts:
        """Return the last day of a run; -1 where it is not placed."""
        end = self.starts[:, column] + self.slots[column].days[self.modes[:, column]] - 1
        return np.asarray(np.where(self.starts[:, column] < 0, -1, end))

    def last(self) -> Counts:
        """Return the last day of the last placed run."""
        return np.asarray(np.max([self.ends(column) for column in range(len(self.slots))], axis=0))

    def at_once(self, column: int) -> Counts:
        """Return the nodes in use in the pool of a run on its first day."""
        day = self.starts[:, column]
        total = np.zeros(len(self), dtype=np.int64)
        for other, slot in enumerate(self.slots):
            if slot.pool == self.slots[column].pool:
                active = (self.starts[:, other] >= 0) & (self.starts[:, other] <= day) & (self.ends(other) >= day)
                total += np.where(active, self.needed(other), 0)
        return total


def empty(slots: Sequence[Slot]) -> Schedules:
    """Return the one schedule in which nothing is placed."""
    unplaced = np.full((1, len(slots)), -1, dtype=np.int64)
    return Schedules(tuple(slots), unplaced, np.zeros_like(unplaced), np.zeros(1), np.zeros(1))


@dataclass(frozen=True, eq=False)
class Least:
    """What single runs cost at least: ``awards`` for its nodes alone, ``running`` for what it draws or is paid."""

    awards: float
    running: float


def least(slot: Slot, outlook: Outlook) -> Least:
    """Return what a run costs at least in a pool, whenever it starts; infinite when it cannot."""
    table = outlook.tables[slot.pool]
    best, running = np.inf, np.inf
    for start in np.unique(np.maximum(np.concatenate([[slot.first], slot.starts, table.ready]), slot.first)):
        modes = np.flatnonzero(start + slot.days - 1 <= slot.last)
        if len(modes):
            latest = slot.last - slot.days[modes] + 1  # hires and energy are paid later, at a lower present value
            days = latest if table.hired else np.full(len(modes), start)
            zeros = np.zeros(len(modes))
            placed = Schedules((slot,), days[:, None], modes[:, None], zeros, zeros)
            buckets = outlook.buckets(start + slot.days[modes] - 1)
            best = min(best, float(pool_awards(placed, slot.pool, buckets, outlook).min()))
            running = min(running, float(outlook.energy(slot, modes, latest).min()))
    return Least(best, running + outlook.system(slot))


def pool_awards(placed: Schedules, pool: int, buckets: Counts, outlook: Outlook, *, relaxed: bool = False) -> Costs:
    """Return what awards and hires in a pool cost at least for the runs that are placed there; infinite when impossible."""
    table = outlook.tables[pool]
    columns = [column for column, slot in enumerate(placed.slots) if slot.pool == pool]
    if table.hired:
        return _hired_awards(placed, pool, columns, buckets, outlook, relaxed=relaxed)
    if table.only_term is not None and len(columns) > 1:
        too_long = _span(placed, columns) > table.only_term + (START_STEP_DAYS if relaxed else 0)
        return np.where(too_long, np.inf, _shared_awards(placed, columns, buckets, table))
    return _shared_awards(placed, columns, buckets, table)


def _span(placed: Schedules, columns: Sequence[int]) -> Counts:
    """Return the days from the first start to the last end of the runs of a pool."""
    starts = np.array([np.where(placed.starts[:, c] < 0, FAR, placed.starts[:, c]) for c in columns])
    ends = np.array([placed.ends(column) for column in columns])
    return np.asarray(ends.max(axis=0) - starts.min(axis=0) + 1)


def _shared_awards(placed: Schedules, columns: Sequence[int], buckets: Counts, table: PoolTable) -> Costs:
    nothing = np.zeros(len(placed), dtype=np.int64)
    cost = table.awards(buckets, nothing + len(table.ready) - 1, nothing)
    for column in columns:
        known = table.awards(buckets, table.classes(placed.starts[:, column]), placed.at_once(column))
        cost = np.where(placed.starts[:, column] < 0, cost, np.maximum(cost, known))
    return cost


def _hired_awards(
    placed: Schedules, pool: int, columns: Sequence[int], buckets: Counts, outlook: Outlook, *, relaxed: bool
) -> Costs:
    """Least over numbers of lasting units: their cost, and hires for what each run needs beyond them."""
    table = outlook.tables[pool]
    if table.pool.system:
        return np.zeros(len(placed))
    per_unit, owned = table.pool.platform.nodes_per_unit, table.pool.owned_nodes
    last_class = np.full(len(placed), len(table.ready) - 1)
    best = np.full(len(placed), np.inf)
    for units in range(table.least.shape[2] if len(table.ready) else 1):
        nodes = np.full(len(placed), owned + units * per_unit)
        cost = table.awards(buckets, last_class, nodes)
        if np.isinf(cost).all():
            break
        for column in columns:
            beyond = np.maximum(placed.needed(column) - nodes, 0)
            slot, modes = placed.slots[column], placed.modes[:, column]
            starts = slot.last - slot.days[modes] + 1 if relaxed else np.maximum(placed.starts[:, column], 0)
            hired = outlook.hire(slot, modes, starts)
            price = np.where(beyond > 0, hired, 0.0) * beyond
            cost = cost + np.where(placed.starts[:, column] < 0, 0.0, price)
        best = np.minimum(best, cost)
    return best


class Enumeration:
    """Enumerates the schedules of a block of runs.

    Args:
        slots: The runs, each in a pool.
        after: For each run the positions of those in the block that must end before it.
        outlook: Least costs.
        known: What each run costs at least alone.
        ends: When (monotonic clock) it stops with ``OutOfTimeError``; None = never.
    """

    def __init__(
        self,
        slots: Sequence[Slot],
        after: Sequence[Sequence[int]],
        outlook: Outlook,
        known: Sequence[Least],
        ends: float | None = None,
    ) -> None:
        """Take the block."""
        self.slots, self.after, self.outlook, self.known = tuple(slots), after, outlook, known
        self.ends = ends
        self.relaxed = False

    def relax(self) -> Enumeration:
        """Return the enumeration of a part of a block: its bounds hold whatever runs the part follows or is beside.

        A run of the part may then start on any day. Moved back to its first day, to one on which more becomes ready, or to
        the day after another run of the part, it needs no more nodes at once; but it is paid earlier, and what it shares a term with
        lasts longer. So what runs draw is priced at their latest, and terms are longer by a step.
        """
        part = copy(self)
        part.relaxed = True
        part.slots = tuple(
            replace(slot, starts=np.union1d([slot.first, *slot.starts], ready[ready >= slot.first]))
            for slot, ready in ((slot, self.outlook.tables[slot.pool].ready) for slot in self.slots)
        )
        return part

    def within(self, cutoff: float, most: int) -> Schedules:
        """Return the schedules whose bound is at most the cutoff; of too many, those with the least bounds.

        Raises:
            OutOfTimeError: the time limit passed; what was found so far proves nothing.
        """
        found = [self._ordered(order, cutoff, most) for order in permutations(range(len(self.slots)))]
        return _best(_joined(found), most)

    def _ordered(self, order: Sequence[int], cutoff: float, most: int) -> Schedules:
        state = empty(self.slots)
        for position, column in enumerate(order):
            if any(before not in order[:position] for before in self.after[column]):
                return state.take(np.zeros(len(state), dtype=bool))
            rest = order[position + 1 :]
            parts = [state.take(np.zeros(len(state), dtype=bool))]
            for chunk in self._chunks(state, column):
                if self.ends is not None and time.monotonic() > self.ends:
                    raise OutOfTimeError
                placed = self._bounded(self._placed(chunk, column, order[:position]), rest)
                parts.append(placed.take(placed.bound <= cutoff))
            state = _best(_joined(parts), most)
        return state

    def _chunks(self, state: Schedules, column: int) -> Iterator[Schedules]:
        slot = self.slots[column]
        size = max(1, CHUNK // max(1, (len(slot.starts) + len(self.slots)) * len(slot.modes)))
        for first in range(0, len(state), size):
            yield state.take(np.arange(first, min(first + size, len(state))))

    def _placed(self, state: Schedules, column: int, before: Sequence[int]) -> Schedules:
        """Return every way to place a run next: at each start it may have, in each mode."""
        slot = self.slots[column]
        base = np.broadcast_to(slot.starts, (len(state), len(slot.starts)))
        leading = [c for c in before if c in self.after[column] or self.slots[c].pool == slot.pool]
        following = [np.where(np.isin(state.ends(c) + 1, slot.starts), -1, state.ends(c) + 1) for c in leading]
        starts = np.concatenate([base, *(days[:, None] for days in following)], axis=1)
        allowed = (starts >= slot.first) & self._in_order(state, starts, column, before)
        rows, choice = np.nonzero(allowed)
        days = starts[rows, choice]
        fits = days[:, None] + slot.days[None, :] - 1 <= slot.last
        which, mode = np.nonzero(fits)
        grown = state.take(rows[which])
        placed, modes = grown.starts.copy(), grown.modes.copy()
        placed[:, column], modes[:, column] = days[which], mode
        drawn = slot.last - slot.days[mode] + 1 if self.relaxed else days[which]
        running = grown.running + self.outlook.energy(slot, mode, drawn) + self.outlook.system(slot)
        return Schedules(self.slots, placed, modes, running, grown.bound, state.cut)

    def _in_order(self, state: Schedules, starts: Counts, column: int, before: Sequence[int]) -> Flags:
        """A run starts after those it follows, and not before those placed already (of equal starts, the first first)."""
        allowed = np.ones(starts.shape, dtype=bool)
        if before:
            previous = state.starts[:, before[-1]][:, None]
            allowed &= (starts > previous) | ((starts == previous) & (column > before[-1]))
        for leader in self.after[column]:
            allowed &= starts > state.ends(leader)[:, None]
        return allowed

    def _bounded(self, placed: Schedules, rest: Sequence[int]) -> Schedules:
        """Add to what is placed what the rest costs at least: the dearest of it in each pool, and what each draws."""
        buckets = self.outlook.buckets(placed.last())
        bound = placed.running + sum(self.known[column].running for column in rest)
        for pool in sorted({slot.pool for slot in self.slots}):
            alone = [self.known[column].awards for column in rest if self.slots[column].pool == pool]
            bound = bound + np.maximum(
                pool_awards(placed, pool, buckets, self.outlook, relaxed=self.relaxed), max(alone, default=-np.inf)
            )
        return Schedules(placed.slots, placed.starts, placed.modes, placed.running, bound, placed.cut)


def _joined(parts: Sequence[Schedules]) -> Schedules:
    first = parts[0]
    return Schedules(
        first.slots,
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.modes for part in parts]),
        np.concatenate([part.running for part in parts]),
        np.concatenate([part.bound for part in parts]),
        any(part.cut for part in parts),
    )


def _best(found: Schedules, most: int) -> Schedules:
    """Return the schedules with the least bounds, at most so many; in a stated order."""
    keys = [found.modes[:, column] for column in range(len(found.slots))]
    keys += [found.starts[:, column] for column in range(len(found.slots))]
    order = np.lexsort((*keys, found.bound))
    kept = found.take(order[:most])
    if len(order) <= most:
        return kept
    return Schedules(kept.slots, kept.starts, kept.modes, kept.running, kept.bound, cut=True)
