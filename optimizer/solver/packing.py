"""Random schedules of sets of runs in one pool, many at a time: any, or about like given ones.

A sample has a number of nodes that stand in the pool, and an order of its runs. They are placed one after another, each on a
release or delivery, or after the end of one placed before, when enough of the nodes are free, in a mode that ends in time: one
that takes all that is free, as little as possible, or something between. What the schedules cost is looked up in supply
curves, pools for themselves: limits that pools share are left to the model that chooses among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from optimizer.solver.curves import Costs, Counts
from optimizer.solver.least import FAR, drawn, pool_awards
from optimizer.solver.outlook import Outlook, Slot
from optimizer.solver.partitions import Field
from optimizer.solver.schedules import Flags, Schedules

EARLIEST = 0.5
"""Share of runs placed at their earliest start."""

MODES = (0.3, 0.2, 0.25, 0.25)
"""Shares of modes that take all that is free, as little as ends in time, what ends with a run beside, and anything."""

NOISE, UNCHANGED, ALIKE = 0.12, (0.4, 0.85), 0.6
"""Logarithmic standard deviation of nodes from those of a sample before, and shares of those kept and of modes so chosen.

Half of the samples keep the first share of their numbers of nodes, half the second.
"""

ADDED, REMOVED, MOVED = 0.5, 0.4, 0.15
"""Shares of samples with a run more than the one before, a run less, and a run on another day: the first two overlap by half
of the second, in which one run is in the place of another."""

ROOM, LESS_ROOM = 1.5, 0.5
"""Most nodes more for a run more, as a multiple of the fewest it takes, and share of samples with a run less that have fewer."""

NEVER = np.inf
"""Place in the order of a run that is not in a sample."""

Span = tuple[int, int]
"""First and last day."""


class Packed(NamedTuple):
    """A schedule of some runs in a pool.

    Attributes:
        cost: About what it costs.
        pool: Position of the pool.
        runs: (run, start, mode), ascending.
    """

    cost: float
    pool: int
    runs: tuple[tuple[int, int, int], ...]

    @property
    def members(self) -> int:
        """The runs as bits."""
        return sum(1 << run for run, _, _ in self.runs)


@dataclass(frozen=True, eq=False)
class Samples:
    """Schedules in a pool, one a row.

    Attributes:
        cost: About what each costs.
        members: The runs of each, as bits.
        starts: First days, a column for each run that the pool may have; -1 where it is not in a schedule.
        modes: Modes, likewise.
    """

    cost: Costs
    members: Counts
    starts: Counts
    modes: Counts


@dataclass(frozen=True, eq=False)
class _Guide:
    """What samples are like, one a row and a column for each run.

    Attributes:
        order: Place of each run in the order; ``NEVER`` where it is not in the sample.
        starts: Its first day about; -1 where it may be any.
        wanted: Its nodes about; -1 likewise.
        nodes: Nodes that stand in the pool.
    """

    order: Costs
    starts: Counts
    wanted: Counts
    nodes: Counts


class _Modes:
    """The modes of the runs that a pool may have, as tables to look up, a row for each run.

    Attributes:
        needed: Nodes of each mode.
        days: Days of each mode.
        fewest: Days left -> the mode with the fewest nodes that ends in time; -1 where none does.
    """

    def __init__(self, slots: Sequence[Slot]) -> None:
        width = max(len(slot.modes) for slot in slots)
        self.needed = np.array([_padded(slot.needed, width) for slot in slots])
        self.days = np.array([_padded(slot.days, width) for slot in slots])
        self._longest = max(slot.last - slot.first + 1 for slot in slots)
        self.fewest = np.array([_fewest(slot, np.arange(self._longest + 1)) for slot in slots])
        self._counts, self._width = np.array([len(slot.modes) for slot in slots]), width
        self._apart = int(self.needed.max()) + 1
        self._ascending = (self.needed + self._apart * np.arange(len(slots))[:, None]).reshape(-1)

    def in_days(self, run: Counts, days: Counts) -> Counts:
        """Return the mode with the fewest nodes that takes no longer; -1 where there is none."""
        return np.asarray(self.fewest[run, np.clip(days, 0, self._longest)])

    def within(self, run: Counts, nodes: Counts) -> Counts:
        """Return the mode with the most nodes of no more than some; -1 where there is none."""
        return np.asarray(self._below(run, nodes + 1) - 1)

    def near(self, run: Counts, nodes: Counts) -> Counts:
        """Return the mode with the fewest nodes of no less than some, or the one with the most."""
        return np.asarray(np.minimum(self._below(run, nodes), self._counts[run] - 1))

    def _below(self, run: Counts, nodes: Counts) -> Counts:
        """Return how many modes have fewer nodes than some: the nodes of all runs are in one row, far apart."""
        place = np.searchsorted(self._ascending, self._apart * run + np.clip(nodes, 0, self._apart))
        return np.asarray(np.minimum(place - self._width * run, self._counts[run]))


class Sampler:
    """Draws schedules in one pool.

    Args:
        field: The runs with their pools.
        pool: The pool.
        spans: First and last day of each run.
        draw: What is left to chance.
    """

    def __init__(self, field: Field, pool: int, spans: Sequence[Span], draw: np.random.Generator) -> None:
        """Take the runs that the pool may have."""
        self.field, self.pool, self.draw = field, pool, draw
        self.members = [run for run in range(len(field.names)) if (run, pool) in field.slots]
        self.slots = [_within(field.slots[run, pool], *spans[run]) for run in self.members]
        self._first = np.array([slot.first for slot in self.slots])
        self._last = np.array([slot.last for slot in self.slots])
        width = max(len(slot.starts) for slot in self.slots)
        self._starts = np.array([_padded(slot.starts, width) for slot in self.slots])
        self._modes = _Modes(self.slots)
        self._least = self._modes.needed.min(axis=1)
        self._bits = 1 << np.array(self.members)
        after = [field.after(run) for run in self.members]
        self._after = np.array([[run in own for run in self.members] for own in after])

    def any(self, count: int) -> Samples:
        """Return samples of sets of any size."""
        runs = len(self.slots)
        order, none = self.draw.random((count, runs)), np.full((count, runs), -1, dtype=np.int64)
        dropped = self.draw.random(order.shape).argsort(axis=1) >= self.draw.integers(1, runs + 1, count)[:, None]
        least, most = int(self._least.min()), int(2 * self._least.sum())
        nodes = np.exp(self.draw.uniform(np.log(least), np.log(max(most, least + 1)), count)).astype(np.int64)
        return self._placed(_Guide(np.where(dropped, NEVER, order), none, none, nodes))

    def about(self, parents: Sequence[Packed], each: int) -> Samples:
        """Return samples about like given ones, so many of each: with a run more or less, or elsewhen, and other modes."""
        guide = self._like(parents, each)
        noise = np.exp(self.draw.normal(0.0, NOISE, (len(guide.order), len(self.slots) + 1)))
        kept = self.draw.choice(UNCHANGED, len(noise))
        noise[self.draw.random(noise.shape) < kept[:, None]] = 1.0
        self._change(guide)
        wanted = np.where(guide.starts >= 0, guide.wanted * noise[:, 1:], -1)
        nodes = np.maximum(np.ceil(guide.nodes * noise[:, 0]), 1)
        return self._placed(replace(guide, wanted=wanted.astype(np.int64), nodes=nodes.astype(np.int64)))

    def _like(self, parents: Sequence[Packed], each: int) -> _Guide:
        """Return what samples just like given ones are, so many of each."""
        starts, wanted = np.full((2, len(parents), len(self.slots)), -1, dtype=np.int64)
        for row, parent in enumerate(parents):
            for run, start, mode in parent.runs:
                column = self.members.index(run)
                starts[row, column], wanted[row, column] = start, self._modes.needed[column, mode]
        peaks = np.array([_peak(parent, self.field) for parent in parents], dtype=np.int64)
        starts, wanted, peaks = (np.repeat(some, each, axis=0) for some in (starts, wanted, peaks))
        order = np.where(starts >= 0, starts + self.draw.random(starts.shape), NEVER)
        return _Guide(order, starts, wanted, peaks)

    def _change(self, guide: _Guide) -> None:
        """Add a run to some samples, take one out of some, and let one in some start on any day."""
        kind, here = self.draw.random(len(guide.order)), guide.starts >= 0
        rows, run = self._some(~here, kind < ADDED)
        guide.order[rows, run] = self._some_day(run)
        guide.nodes[rows] += (self.draw.uniform(0.0, ROOM, len(rows)) * self._least[run]).astype(np.int64)
        several = here & (here.sum(axis=1) > 1)[:, None]
        rows, run = self._some(several, np.abs(kind - ADDED) < REMOVED / 2)
        guide.order[rows, run] = NEVER
        less = self.draw.random(len(rows)) * (self.draw.random(len(rows)) < LESS_ROOM)
        guide.nodes[rows] -= (less * guide.wanted[rows, run]).astype(np.int64)
        rows, run = self._some(here, kind > 1 - MOVED)
        guide.order[rows, run], guide.starts[rows, run] = self._some_day(run), -1

    def holds(self, one: Packed) -> bool:
        """Return whether the runs of a schedule are within their days."""
        slots = {run: self.slots[self.members.index(run)] for run, _, _ in one.runs}
        ends = {run: start + int(slots[run].days[mode]) - 1 for run, start, mode in one.runs}
        return all(slots[run].first <= start and ends[run] <= slots[run].last for run, start, _ in one.runs)

    def priced(self, one: Packed) -> Packed:
        """Return a schedule with what it costs."""
        starts, modes = np.full((2, 1, len(self.slots)), -1, dtype=np.int64)
        for run, start, mode in one.runs:
            starts[0, self.members.index(run)], modes[0, self.members.index(run)] = start, mode
        return one._replace(cost=float(self._cost(starts, modes)[0]))

    def packed(self, some: Samples, row: int) -> Packed:
        """Return a sample."""
        runs = [
            (run, int(start), int(mode))
            for run, start, mode in zip(self.members, some.starts[row], some.modes[row], strict=True)
            if start >= 0
        ]
        return Packed(float(some.cost[row]), self.pool, tuple(runs))

    def _some(self, those: Flags, rows: Flags) -> tuple[Counts, Counts]:
        """Return a run of those, drawn for each of some rows that has any."""
        found = np.flatnonzero(rows & those.any(axis=1))
        scores = np.where(those[found], self.draw.random(those[found].shape), -1.0)
        return found, np.asarray(scores.argmax(axis=1))

    def _some_day(self, run: Counts) -> Costs:
        return np.asarray(self.draw.uniform(self._first[run], self._last[run]))

    def _placed(self, guide: _Guide) -> Samples:
        """Place the runs of every sample in their order; samples in which one cannot be placed are left out."""
        left = guide.order.copy()
        for column in np.argsort(self._after.sum(axis=1), kind="stable"):  # a run comes after those that it follows
            for leader in np.flatnonzero(self._after[column]):
                both = (left[:, column] < NEVER) & (left[:, leader] < NEVER)
                left[both, column] = np.maximum(left[both, column], left[both, leader] + 1e-6)
        starts, modes, ends, used = np.full((4, *left.shape), -1, dtype=np.int64)
        possible = np.ones(len(left), dtype=bool)
        while len(rows := np.flatnonzero(possible & (left < NEVER).any(axis=1))):
            run = left[rows].argmin(axis=1)
            left[rows, run] = NEVER
            day, mode = self._place(run, starts[rows], ends[rows], used[rows], guide, rows)
            possible[rows[mode < 0]] = False
            starts[rows, run], modes[rows, run] = day, mode
            ends[rows, run], used[rows, run] = day + self._modes.days[run, mode] - 1, self._modes.needed[run, mode]
        starts, modes = starts[possible], modes[possible]
        cost = self._cost(starts, modes)
        return Samples(cost, ((starts >= 0) * self._bits).sum(axis=1), starts, modes)

    def _place(
        self, run: Counts, starts: Counts, ends: Counts, used: Counts, guide: _Guide, rows: Counts
    ) -> tuple[Counts, Counts]:
        """Return the day and the mode of the next run of some rows; no mode (-1) where it cannot be placed."""
        after = np.where(ends + 1 >= self._first[run][:, None], ends + 1, -1)
        days = np.concatenate([self._starts[run], after], axis=1)
        busy = np.zeros(days.shape, dtype=np.int64)
        for other in range(starts.shape[1]):
            there = (starts[:, other, None] <= days) & (days <= ends[:, other, None])
            busy += np.where(there, used[:, other, None], 0)
        free = guide.nodes[rows][:, None] - busy
        fewest = self._modes.in_days(run[:, None], self._last[run][:, None] - days + 1)
        fits = (days >= np.maximum(starts.max(axis=1), 0)[:, None]) & (fewest >= 0)
        fits &= self._modes.needed[run[:, None], fewest] <= free
        led = np.where(self._after[run], ends, -1).max(axis=1)
        fits &= days > led[:, None]
        soonest, wish = self.draw.random(len(run))[:, None] < EARLIEST, guide.starts[rows, run][:, None]
        order = np.where(wish >= 0, np.abs(days - wish), np.where(soonest, days, self.draw.random(days.shape)))
        picked = np.where(fits, order, np.inf).argmin(axis=1)
        at = np.arange(len(run))
        day, least = days[at, picked], fewest[at, picked]
        mode = self._mode(run, day, least, free[at, picked], guide.wanted[rows, run], ends)
        done = fits[at, picked] & (day + self._modes.days[run, mode] - 1 <= self._last[run])
        return day, np.where(done, mode, -1)

    def _mode(self, run: Counts, day: Counts, least: Counts, free: Counts, wanted: Counts, ends: Counts) -> Counts:
        """Draw a mode for a run that starts on a day: between the smallest that ends in time and all that is free."""
        most = np.maximum(self._modes.within(run, free), least)
        beside = np.where(ends >= day[:, None], ends, -1).max(axis=1)
        together = self._modes.in_days(run, beside - day + 1)
        together = np.where((together >= least) & (together <= most), together, most)
        anything = self.draw.integers(least, most + 1)
        kind = self.draw.choice(4, len(day), p=MODES)
        freely = np.choose(kind, [most, least, together, anything])
        alike = np.clip(self._modes.near(run, wanted), least, most)
        return np.asarray(np.where((wanted >= 0) & (self.draw.random(len(day)) < ALIKE), alike, freely))

    def _cost(self, starts: Counts, modes: Counts) -> Costs:
        outlook, running = self.field.outlook, np.zeros(len(starts))
        for column, slot in enumerate(self.slots):
            rows = np.flatnonzero(starts[:, column] >= 0)
            running[rows] += drawn(slot, modes[rows, column], starts[rows, column], outlook)
        placed = Schedules(tuple(self.slots), starts, modes, running, running)
        return np.asarray(running + likely_awards(placed, self.pool, outlook))


def likely_awards(placed: Schedules, pool: int, outlook: Outlook) -> Costs:
    """Return about what awards cost for what is placed in a pool: nodes are bought as they are needed, or all at first.

    That is no lower bound; the least that they cost is no more.
    """
    table, buckets = outlook.tables[pool], outlook.buckets(placed.last())
    if table.is_timed or not len(table.ready):
        return pool_awards(placed, pool, buckets, outlook)
    is_placed = placed.starts >= 0
    order = np.argsort(np.where(is_placed, placed.starts, FAR), axis=1, kind="stable")
    columns = range(len(placed.slots))
    ends = np.stack([placed.ends(column) for column in columns], axis=1)
    used = np.where(is_placed, np.stack([placed.needed(column) for column in columns], axis=1), 0)
    begins = np.take_along_axis(placed.starts, order, axis=1)
    there = (placed.starts[:, None, :] <= begins[:, :, None]) & (begins[:, :, None] <= ends[:, None, :])
    at_once = np.where(begins >= 0, (there * used[:, None, :]).sum(axis=2), 0)
    nodes = np.maximum.accumulate(at_once, axis=1)
    classes, more = table.classes(begins), np.diff(nodes, axis=1, prepend=0)
    costs = table.awards(np.broadcast_to(buckets[:, None], nodes.shape), classes, nodes)
    costs = np.where(more > 0, costs, 0.0)
    together = table.awards(buckets, classes[:, 0], nodes[:, -1])
    likely = np.minimum((costs * more / np.maximum(nodes, 1)).sum(axis=1), together)
    days = ends.max(axis=1) - begins[:, 0] + 1
    too_long = False if table.only_term is None else days > table.only_term
    return np.where(too_long, np.inf, np.maximum(likely, costs.max(axis=1)))


def _padded(own: Counts, width: int) -> Counts:
    """Return an array with its last entry once more until it is so long; -1 where it has none."""
    return np.concatenate([own, np.repeat(own[-1] if len(own) else -1, width - len(own))])


def _within(slot: Slot, first: int, last: int) -> Slot:
    """Return a run between two days; it may start on the first, the day after one that it follows."""
    starts = slot.starts if first == slot.first else np.union1d(slot.starts[slot.starts > first], [first])
    return replace(slot, starts=starts, first=first, last=last)


def _fewest(slot: Slot, days: Counts) -> Counts:
    """Return the mode with the fewest nodes that takes no longer than some days; -1 where there is none."""
    shortest = np.minimum.accumulate(slot.days)
    found = np.searchsorted(-shortest, -days)
    return np.where(found < len(shortest), found, -1)


def _peak(one: Packed, field: Field) -> int:
    """Return the most nodes in use at once in a schedule."""
    slots = {run: field.slots[run, one.pool] for run, _, _ in one.runs}
    busy = [(start, start + int(slots[run].days[mode]), int(slots[run].needed[mode])) for run, start, mode in one.runs]
    return max(sum(nodes for first, end, nodes in busy if first <= day < end) for day, _, _ in busy)
