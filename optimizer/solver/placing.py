"""Placing a few runs in given pools: all schedules whose lower bound stays within a cutoff.

Runs are placed in order of their starts. A start is a release or delivery, or the day after the end of a placed run that
it follows or that shares its pool (semi-active). After each placement a schedule is dropped when what is placed, and what
the rest costs at least, exceed the cutoff; and one whose last run takes more nodes than it needs, where only nodes count.
Nothing else is dropped here, so each missing schedule has one that replaces it, unless ``cut`` says so.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from optimizer.solver.bounds import MARGIN
from optimizer.solver.curves import START_STEP_DAYS, Costs, Counts
from optimizer.solver.least import FAR, Least, drawn, pool_awards
from optimizer.solver.outlook import NEVER, Outlook, Shared, Slot
from optimizer.solver.schedules import Flags, Schedules, best, best_of_all, empty, joined

CHUNK = 400_000
"""Schedules expanded at once: some tens of megabytes."""

WIDTH = 30
"""Schedules of each set of placed runs that a beam keeps to tell how low a bound may be."""


class OutOfTimeError(Exception):
    """The time limit passed before everything was tried.

    Attributes:
        bound: Lower bound on what was left; minus infinity where none is known.
    """

    def __init__(self, bound: float = -np.inf) -> None:
        super().__init__("the time limit passed")
        self.bound = bound


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
        self.shared: Mapping[int, Shared] = {}
        self.paid = 0.0

    def as_plan(self, paid: float) -> Enumeration:
        """Return the enumeration of a block of all runs: entries for the cluster are paid from the first run to the last.

        Args:
            paid: What is counted of entries elsewhere.
        """
        plan = copy(self)
        plan.shared, plan.paid = self.outlook.shared({slot.pool for slot in self.slots}), paid
        return plan

    def relax(self) -> Enumeration:
        """Return the enumeration of a part of a block: its bounds hold whatever runs the part follows or is beside.

        A run of the part may then start on any day. Moved back to its first day, to one on which more becomes ready, or to
        the day after another run of the part, it needs no more nodes at once; but it is paid earlier, and what it shares a term with
        lasts longer. So what runs draw is priced at their latest, and terms are longer by a step.
        """
        part = copy(self)
        part.relaxed, part.shared = True, {}
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
            level = {placed: best(joined(parts), most) for placed, parts in grown.items()}
            if together is not None:
                level = best_of_all(level, together)
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
        running = grown.running + self._drawn(slot, mode, first)
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

    def _drawn(self, slot: Slot, modes: Counts, starts: Counts) -> Costs:
        """Return what runs draw; of a part, which may start later, as late as it may and without prices of budgets."""
        days = slot.last - slot.days[modes] + 1 if self.relaxed else starts
        return drawn(slot, modes, days, self.outlook, priced=not self.relaxed)

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
        awards = pool_awards(placed, slot.pool, buckets, self.outlook, relaxed=self.relaxed)
        running = self._drawn(slot, modes, starts)
        worth[which, modes] = running + self._beside(column, awards) <= cutoff
        if is_last and self._only_nodes_count(slot) and len(worth):
            labels = () if self.relaxed else self.outlook.budgets
            costs = [
                running,
                drawn(slot, modes, starts, self.outlook),
                *(self.outlook.drawn(slot, modes, starts, label) for label in labels),
            ]
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

    def bounds(self, found: Schedules) -> Costs:
        """Return the bounds of schedules of the same runs, all placed, found at other prices."""
        parts = [self._drawn(slot, found.modes[:, c], found.starts[:, c]) for c, slot in enumerate(self.slots)]
        placed = replace(found, slots=self.slots, running=np.asarray(sum(parts)))
        return self._bounds(placed, placed.starts.max(axis=1), [])[0]

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
            awards[pool] = pool_awards(placed, pool, buckets, self.outlook, relaxed=self.relaxed)
        for column in rest:
            alone, running, node_days = self.known[column].since(self._earliest(placed, column, today))
            pool = self.slots[column].pool
            bound, awards[pool] = bound + running, np.maximum(awards[pool], alone)
            work.setdefault(pool, []).append((self.slots[column].last, node_days))
        for pool, own in work.items():
            awards[pool] = np.maximum(awards[pool], self._crowded(placed, pool, today, own, buckets))
        return np.asarray(bound + sum(awards.values()) + self._for_the_cluster(placed)), awards

    def _for_the_cluster(self, placed: Schedules) -> Costs:
        """Return what entries for the cluster cost at least beyond what is counted elsewhere: the most of any pool."""
        most = np.zeros(len(placed))
        for pool, shared in self.shared.items():
            columns = [column for column, slot in enumerate(self.slots) if slot.pool == pool]
            starts, last = placed.starts[:, columns], np.max([placed.ends(column) for column in columns], axis=0)
            first = np.where(starts < 0, FAR, starts).min(axis=1)
            most = np.maximum(most, np.where(first == FAR, 0.0, shared.between(first, last) - self.paid))
        return most

    def _crowded(
        self, placed: Schedules, pool: int, today: Counts, rest: Sequence[tuple[int, Costs]], buckets: Counts
    ) -> Costs:
        """Return what awards cost at least for the nodes that node-days need on average from now to the end of windows.

        Those of the ``rest`` (last day, node-days) whose windows end by then, and of what is placed what lies before.
        """
        table, awards = self.outlook.tables[pool], np.full(len(placed), -np.inf)
        if table.hired:
            return awards
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
            awards = np.maximum(awards, table.at_some_time(buckets, table.classes(until), nodes))
        return awards

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
