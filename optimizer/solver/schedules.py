"""Schedules of a few runs in given pools, as arrays: all whose lower bound stays within a cutoff.

Runs are placed in order of their starts. A start is a release or delivery, or the day after the end of a placed run that
it follows or that shares its pool (semi-active). After each placement a schedule is dropped when what is placed, and what
the rest costs at least, exceed the cutoff; and one whose last run takes more nodes than it needs, where only nodes count.
Nothing else is dropped here, so each missing schedule has one that replaces it, unless ``cut`` says so.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from optimizer.solver.bounds import MARGIN
from optimizer.solver.curves import START_STEP_DAYS, Costs, Counts
from optimizer.solver.outlook import NEVER, Outlook, PoolTable, Slot

CHUNK = 400_000
"""Schedules expanded at once: some tens of megabytes."""

FAR = 10**6
"""A day after every day."""

WIDTH = 30
"""Schedules of each set of placed runs that a beam keeps to tell how low a bound may be."""

LEAST_STEP_DAYS = 7
"""Days between the first days for which the least cost of a run is known; between two the earlier counts."""


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
    """What single runs cost at least: ``awards`` for its nodes alone, ``running`` for what it draws or is paid.

    Attributes:
        days: Days, ascending; the first is the first on which it may start.
        awards_from: Least awards when it starts on such a day or later.
        running_from: What it draws at least then.
        node_days_from: Least nodes x days then.
    """

    days: Counts
    awards_from: Costs
    running_from: Costs
    node_days_from: Costs

    @property
    def awards(self) -> float:
        """Whenever it starts."""
        return float(self.awards_from[0])

    @property
    def running(self) -> float:
        """Whenever it starts."""
        return float(self.running_from[0])

    def since(self, starts: Counts) -> tuple[Costs, Costs, Costs]:
        """Return awards, running and node-days of a run that starts on such a day or later."""
        place = np.maximum(np.searchsorted(self.days, starts, side="right") - 1, 0)
        return self.awards_from[place], self.running_from[place], self.node_days_from[place]


def least(slot: Slot, outlook: Outlook) -> Least:
    """Return what a run costs at least in a pool by first day; infinite when it cannot be done."""
    ready = outlook.tables[slot.pool].ready
    days = np.arange(slot.first, slot.last + 1, LEAST_STEP_DAYS)
    days = np.union1d([slot.first], np.concatenate([days, *(own[own > slot.first] for own in (slot.starts, ready))]))
    which, modes = np.nonzero(days[:, None] + slot.days - 1 <= slot.last)
    latest = slot.last - slot.days[modes] + 1  # hires and energy are paid later, at a lower present value
    zeros = np.zeros(len(which))
    placed = Schedules((slot,), days[which][:, None], modes[:, None], zeros, zeros)
    awards, running, work = np.full((3, len(days)), np.inf)
    buckets = outlook.buckets(placed.ends(0))
    np.minimum.at(awards, which, _pool_awards(placed, slot.pool, buckets, outlook, relaxed=True))
    np.minimum.at(running, which, drawn(slot, modes, latest, outlook))
    np.minimum.at(work, which, (slot.needed * slot.days)[modes])
    return Least(days, *(np.minimum.accumulate(own[::-1])[::-1] for own in (awards, running, work)))


def crowded(slots: Sequence[Slot], outlook: Outlook) -> float:
    """Return what awards cost at least that hold the node-days of runs of a pool, of each window those that lie in it.

    On average over a window, so at some start in it, so many nodes are in use at once.
    """
    table = outlook.tables[slots[0].pool]
    if len(slots) < 2 or table.hired:
        return -np.inf
    nodes, until = [], []
    for first in {slot.first for slot in slots}:
        for last in {slot.last for slot in slots}:
            work = sum(slot.node_days for slot in slots if slot.first >= first and slot.last <= last)
            days = last - max(first, int(table.ready.min(initial=0))) + 1
            if table.only_term is not None:
                days = min(days, table.only_term + START_STEP_DAYS)
            nodes.append(-(-work // max(days, 1)))
            until.append(last)
    buckets = np.zeros(len(nodes), dtype=np.int64)
    return float(table.at_some_time(buckets, table.classes(np.array(until)), np.array(nodes)).max())


def drawn(slot: Slot, modes: Counts, starts: Counts, outlook: Outlook) -> Costs:
    """Return what runs draw or are paid for: energy, the price of a dedicated system, hires where there is nothing else."""
    total = outlook.energy(slot, modes, starts) + outlook.system(slot)
    if outlook.tables[slot.pool].is_per_run and not outlook.pools[slot.pool].system:
        total = total + outlook.hire(slot, modes, starts, slot.needed[modes])
    return np.asarray(total)


def _pool_awards(placed: Schedules, pool: int, buckets: Counts, outlook: Outlook, *, relaxed: bool = False) -> Costs:
    table = outlook.tables[pool]
    columns = [column for column, slot in enumerate(placed.slots) if slot.pool == pool]
    if table.is_per_run:
        return np.zeros(len(placed))
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
            price = outlook.hire(slot, modes, starts, beyond)
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
        return self._levels(cutoff, most, None)

    def beam(self, each: int) -> Schedules:
        """Return good schedules: after each placement so many of each set of runs are kept; some may be left out."""
        return self._levels(np.inf, each, each * len(self.slots))

    def least(self, cutoff: float, most: int) -> float:
        """Return the least bound of a schedule; infinite above a cutoff, minus infinite when there were too many.

        A beam tells how low it is at most.

        Raises:
            OutOfTimeError: the time limit passed.
        """
        near = float(self.beam(WIDTH).bound.min(initial=np.inf))
        found = self.within(min(cutoff, near + MARGIN * max(1.0, abs(near))), most)
        return -np.inf if found.cut else float(found.bound.min(initial=np.inf))

    def _levels(self, cutoff: float, most: int, together: int | None) -> Schedules:
        """Place one run after another; at most so many schedules of each set of placed runs stay, and of all sets."""
        level = {frozenset[int](): empty(self.slots)}
        for _ in self.slots:
            grown = defaultdict[frozenset[int], list[Schedules]](list)
            for before, state in level.items():
                for column in range(len(self.slots)):
                    if column not in before and before.issuperset(self.after[column]):
                        grown[before | {column}] += self._grown(state, column, before, cutoff)
            level = {placed: _best(_joined(parts), most) for placed, parts in grown.items()}
            if together is not None:
                level = _best_of_all(level, together)
        return next(iter(level.values()))

    def _grown(self, state: Schedules, column: int, before: Collection[int], cutoff: float) -> Iterator[Schedules]:
        """Yield the schedules within a cutoff in which one more run is placed."""
        slot = self.slots[column]
        rest = [other for other in range(len(self.slots)) if other != column and other not in before]
        yield state.take(np.zeros(len(state), dtype=bool))
        size = max(1, CHUNK // max(1, (len(slot.starts) + len(self.slots)) * len(slot.modes)))
        for first in range(0, len(state), size):
            if self.ends is not None and time.monotonic() > self.ends:
                raise OutOfTimeError
            chunk = state.take(np.arange(first, min(first + size, len(state))))
            placed = self._placed(chunk, column, before, cutoff)
            yield self._within(placed, placed.starts[:, column], rest, cutoff)

    def _placed(self, state: Schedules, column: int, before: Collection[int], cutoff: float) -> Schedules:
        """Return the ways to place a run next: at each start it may have, in each mode worth trying."""
        slot = self.slots[column]
        base = np.broadcast_to(slot.starts, (len(state), len(slot.starts)))
        leading = [c for c in before if c in self.after[column] or self.slots[c].pool == slot.pool]
        following = [np.where(np.isin(state.ends(c) + 1, slot.starts), -1, state.ends(c) + 1) for c in leading]
        starts = np.concatenate([base, *(days[:, None] for days in following)], axis=1)
        allowed = (starts >= slot.first) & self._in_order(state, starts, column)
        rows, choice = np.nonzero(allowed)
        open_ = [other for other in range(len(self.slots)) if other not in before]
        first, paired = starts[rows, choice], state.take(rows)
        bound, awards = self._bounds(paired, first, open_)
        fits = np.isfinite(bound) & (bound <= cutoff)
        first, paired = first[fits], paired.take(fits)
        most = cutoff - bound[fits] + awards[slot.pool][fits]
        days, where = np.unique(first, return_inverse=True)
        worth = self._worth_trying(column, days, cutoff, is_last=len(open_) == 1)[where.reshape(-1)]
        worth &= slot.needed <= self._most_nodes(paired, column, first, most)[:, None]
        which, mode = np.nonzero(worth)
        grown, first = paired.take(which), first[which]
        placed, modes = grown.starts.copy(), grown.modes.copy()
        placed[:, column], modes[:, column] = first, mode
        running = grown.running + drawn(slot, mode, self._paid(slot, mode, first), self.outlook)
        return Schedules(self.slots, placed, modes, running, grown.bound, state.cut)

    def _most_nodes(self, state: Schedules, column: int, first: Counts, most: Costs) -> Counts:
        """Return how many nodes a run may have beside those placed, started on a day, when awards cost at most so much."""
        table, pool = self.outlook.tables[self.slots[column].pool], self.slots[column].pool
        if table.hired:
            return np.full(len(state), NEVER)
        there = np.zeros(len(state), dtype=np.int64)
        for other, slot in enumerate(self.slots):
            if slot.pool == pool:
                there += np.where(state.ends(other) >= first, state.needed(other), 0)
        return table.most_nodes(table.classes(first), most + MARGIN * np.maximum(1, np.abs(most))) - there

    def _paid(self, slot: Slot, modes: Counts, starts: Counts) -> Counts:
        """Return the days by which what runs draw is priced."""
        return np.asarray(slot.last - slot.days[modes] + 1 if self.relaxed else starts)

    def _worth_trying(self, column: int, days: Counts, cutoff: float, *, is_last: bool) -> Flags:
        """Return for each first day the modes that fit the window and cost no more than a cutoff.

        Where the run is the last one placed and only its nodes count, those are left out that need more and cost no less.
        """
        slot = self.slots[column]
        worth = days[:, None] + slot.days - 1 <= slot.last
        which, modes = np.nonzero(worth)
        starts, zeros = days[which], np.zeros(len(which))
        placed = Schedules((slot,), starts[:, None], modes[:, None], zeros, zeros)
        buckets = self.outlook.buckets(placed.ends(0))
        awards = _pool_awards(placed, slot.pool, buckets, self.outlook, relaxed=self.relaxed)
        running = drawn(slot, modes, self._paid(slot, modes, starts), self.outlook)
        worth[which, modes] = running + self._beside(column, awards) <= cutoff
        if is_last and self._only_nodes_count(slot) and len(worth):
            labels = () if self.relaxed else self.outlook.budgets
            costs = [running, *(self.outlook.drawn(slot, modes, starts, label) for label in labels)]
            worth &= _least_nodes(worth, which, modes, costs)
        return worth

    def _only_nodes_count(self, slot: Slot) -> bool:
        """Return whether, of the last run placed, only nodes and what it draws count, not how long it lasts."""
        table = self.outlook.tables[slot.pool]
        if self.outlook.is_end_priced:
            return False
        if self.relaxed:
            return table.is_per_run or not (table.hired or table.only_term)
        return not table.is_timed

    def _beside(self, column: int, awards: Costs) -> Costs:
        """Return what awards for one run and all other runs of the block cost at least."""
        others = [other for other in range(len(self.slots)) if other != column]
        dearest = {self.slots[column].pool: awards}
        for other in others:
            pool = self.slots[other].pool
            dearest[pool] = np.maximum(dearest.get(pool, np.full(1, -np.inf)), self.known[other].awards)
        return np.asarray(sum(dearest.values()) + sum(self.known[other].running for other in others))

    def _in_order(self, state: Schedules, starts: Counts, column: int) -> Flags:
        """A run starts after those it follows, and not before those placed already (of equal starts, the first first)."""
        previous = state.starts.max(axis=1)[:, None]
        later = np.any((state.starts == previous)[:, column + 1 :], axis=1)[:, None] & (previous >= 0)
        allowed = (starts > previous) | ((starts == previous) & ~later)
        for leader in self.after[column]:
            allowed &= starts > state.ends(leader)[:, None]
        return np.asarray(allowed)

    def _within(self, placed: Schedules, today: Counts, rest: Sequence[int], cutoff: float) -> Schedules:
        """Return the schedules that cost at most a cutoff with all that is not placed, each with its bound."""
        bound, _ = self._bounds(placed, today, rest)
        known = Schedules(placed.slots, placed.starts, placed.modes, placed.running, bound, placed.cut)
        return known.take(bound <= cutoff)

    def _bounds(self, placed: Schedules, today: Counts, rest: Sequence[int]) -> tuple[Costs, dict[int, Costs]]:
        """Return what is placed costs with what the rest costs at least, and the part of it that is awards in each pool.

        The rest starts no earlier than today, nor before the end of what it follows.
        """
        buckets = self.outlook.buckets(placed.last())
        bound, awards, work = placed.running, dict[int, Costs](), dict[int, list[tuple[int, Costs]]]()
        for pool in sorted({slot.pool for slot in self.slots}):
            awards[pool] = _pool_awards(placed, pool, buckets, self.outlook, relaxed=self.relaxed)
        for column in rest:
            alone, running, node_days = self.known[column].since(self._earliest(placed, column, today))
            pool = self.slots[column].pool
            bound, awards[pool] = bound + running, np.maximum(awards[pool], alone)
            work.setdefault(pool, []).append((self.slots[column].last, node_days))
        for pool, own in work.items():
            awards[pool] = np.maximum(awards[pool], self._crowded(placed, pool, today, own, buckets))
        return np.asarray(bound + sum(awards.values())), awards

    def _crowded(
        self, placed: Schedules, pool: int, today: Counts, rest: Sequence[tuple[int, Costs]], buckets: Counts
    ) -> Costs:
        """Return what awards cost at least for the nodes that node-days need on average from now to the end of windows.

        Those of the ``rest`` (last day, node-days) whose windows end by then, and of what is placed what lies before.
        """
        table, best = self.outlook.tables[pool], np.full(len(placed), -np.inf)
        if table.hired:
            return best
        columns = [c for c, slot in enumerate(self.slots) if slot.pool == pool and (placed.starts[:1, c] >= 0).all()]
        from_ = np.maximum(today, table.ready.min(initial=0))
        for due in sorted({day for day, _ in rest}):
            until = np.full(len(placed), due)
            if table.only_term is not None and columns:
                begun = np.min([placed.starts[:, column] for column in columns], axis=0)
                until = np.minimum(until, begun + table.only_term + START_STEP_DAYS - 1)
            work = sum(node_days for day, node_days in rest if day <= due)
            for column in columns:
                work = work + placed.needed(column) * np.maximum(np.minimum(placed.ends(column), until) - from_ + 1, 0)
            nodes = np.ceil(np.minimum(work / np.maximum(until - from_ + 1, 1), NEVER)).astype(np.int64)
            best = np.maximum(best, table.at_some_time(buckets, table.classes(until), nodes))
        return best

    def _earliest(self, placed: Schedules, column: int, today: Counts) -> Counts:
        """Return the first day on which a run may start that is placed next."""
        day = today
        for leader in self.after[column]:
            open_ = placed.starts[:, leader] < 0
            day = np.maximum(day, np.where(open_, day + int(self.slots[leader].days.min()), placed.ends(leader) + 1))
        return day


def _least_nodes(worth: Flags, which: Counts, modes: Counts, costs: Sequence[Costs]) -> Flags:
    """Return, per row, the mode of fewest nodes among those worth trying, and those that cost less in one of the costs."""
    fewest = np.argmax(worth, axis=1)
    kept: Flags = np.arange(worth.shape[1]) == fewest[:, None]
    for cost in costs:
        full = np.full(worth.shape, np.inf)
        full[which, modes] = cost
        kept |= full < full[np.arange(len(full)), fewest][:, None]
    return kept


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


def _best_of_all(level: dict[frozenset[int], Schedules], most: int) -> dict[frozenset[int], Schedules]:
    """Return the schedules of all sets with the least bounds, at most so many."""
    bounds = np.sort(np.concatenate([state.bound for state in level.values()]))
    highest = bounds[min(most, len(bounds)) - 1] if len(bounds) else np.inf
    return {placed: state.take(state.bound <= highest) for placed, state in level.items()}


def _best(found: Schedules, most: int) -> Schedules:
    """Return the schedules with the least bounds, at most so many; in a stated order."""
    keys = [found.modes[:, column] for column in range(len(found.slots))]
    keys += [found.starts[:, column] for column in range(len(found.slots))]
    order = np.lexsort((*keys, found.bound))
    kept = found.take(order[:most])
    if len(order) <= most:
        return kept
    return Schedules(kept.slots, kept.starts, kept.modes, kept.running, kept.bound, cut=True)
