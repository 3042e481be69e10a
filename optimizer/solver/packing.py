"""Random schedules of sets of runs in one pool.

A sample has a number of nodes that stand in the pool. Runs are placed in order of their starts: each on a release or
delivery, or after the end of one placed before, when enough of the nodes are free, in a mode that ends in time: one that takes
all that is free, as little as possible, or something between. What the schedules of each set cost at least is looked up in
supply curves, pools for themselves: limits that pools share are left to the model that chooses among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from optimizer.solver.curves import Costs, Counts
from optimizer.solver.least import drawn, pool_awards
from optimizer.solver.outlook import Slot
from optimizer.solver.partitions import Field
from optimizer.solver.schedules import Flags, Schedules, empty

OF_A_SET = 4
"""Schedules kept of each set in each pool."""

EARLIEST = 0.5
"""Share of runs placed at their earliest start."""

MODES = (0.3, 0.2, 0.25, 0.25)
"""Shares of modes that take all that is free, as little as ends in time, what ends with a run beside, and anything."""

NOISE, UNCHANGED, ALIKE = 0.12, 0.4, 0.6
"""Logarithmic standard deviation of nodes from those of a sample before, and shares of those kept and of modes so chosen."""

Span = tuple[int, int]
"""First and last day."""


class Packed(NamedTuple):
    """A schedule of some runs in a pool.

    Attributes:
        cost: What it costs at least.
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
class _Guide:
    """What samples are like, one a row.

    Attributes:
        starts: First day of each run about; -1 where it is free, or not placed when others are given.
        wanted: Its nodes about; -1 likewise.
        nodes: Nodes that stand in the pool.
    """

    starts: Counts
    wanted: Counts
    nodes: Counts

    def take(self, rows: Flags | Counts) -> _Guide:
        """Return some of them."""
        return _Guide(self.starts[rows], self.wanted[rows], self.nodes[rows])


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
        self.before = [
            [self.members.index(one) for one in field.after(run) if one in self.members] for run in self.members
        ]

    def best(self, count: int) -> Iterator[Packed]:
        """Yield of each set of runs the cheapest of some samples."""
        none = np.full((count, len(self.slots)), -1, dtype=np.int64)
        least = min(int(slot.needed.min()) for slot in self.slots)
        most = max(sum(int(slot.needed.min()) for slot in self.slots) * 2, least + 1)
        nodes = np.exp(self.draw.uniform(np.log(least), np.log(most), count)).astype(np.int64)
        return self._grown(_Guide(none, none, nodes))

    def around(self, parents: Sequence[Packed], each: int) -> Iterator[Packed]:
        """Yield of each set of runs the cheapest of some samples about like given ones, so many of each."""
        starts, nodes = np.full((2, len(parents), len(self.slots)), -1, dtype=np.int64)
        for row, parent in enumerate(parents):
            for run, start, mode in parent.runs:
                column = self.members.index(run)
                starts[row, column], nodes[row, column] = start, self.slots[column].needed[mode]
        peaks = np.array([_peak(parent, self.field) for parent in parents], dtype=np.int64)
        starts, nodes, peaks = (np.repeat(some, each, axis=0) for some in (starts, nodes, peaks))
        noise = np.exp(self.draw.normal(0.0, NOISE, (len(starts), len(self.slots) + 1)))
        noise[self.draw.random(noise.shape) < UNCHANGED] = 1.0
        wanted = np.where(starts >= 0, nodes * noise[:, 1:], -1).astype(np.int64)
        return self._grown(_Guide(starts, wanted, np.ceil(peaks * noise[:, 0]).astype(np.int64)))

    def _grown(self, guide: _Guide) -> Iterator[Packed]:
        """Place one run after another in every sample, and yield the best of each set of runs placed so far."""
        state = _repeated(empty(self.slots), len(guide.nodes))
        for _ in self.slots:
            kept = self._placed(state, guide)
            state, guide = state.take(kept), guide.take(kept)
            if not len(state):
                return
            buckets = self.field.outlook.buckets(state.last())
            costs = state.running + pool_awards(state, self.pool, buckets, self.field.outlook)
            yield from self._cheapest(state, costs)

    def _placed(self, state: Schedules, guide: _Guide) -> Flags:
        """Place one more run in every sample; return in which one could be."""
        scores = self.draw.random((len(state), len(self.slots)))
        guided: Flags = np.asarray((guide.starts >= 0).any(axis=1))
        scores[guided] = 1.0 / (2.0 + guide.starts[guided] + scores[guided])
        scores[guided[:, None] & (guide.starts < 0)] = -1.0
        scores[state.starts >= 0] = -1.0
        for column, before in enumerate(self.before):  # once a run is placed, those it follows come too late
            scores[np.ix_(np.flatnonzero(state.starts[:, column] >= 0), np.array(before, dtype=np.int64))] = -1.0
        chosen = np.argmax(scores, axis=1)
        ends = np.stack([state.ends(column) for column in range(len(self.slots))], axis=1)
        kept = np.zeros(len(state), dtype=bool)
        for column in range(len(self.slots)):
            rows = np.flatnonzero((chosen == column) & (scores[np.arange(len(state)), column] >= 0))
            if len(rows):
                kept[rows] = self._place(state, rows, column, guide.take(rows), ends[rows])
        return kept

    def _place(self, state: Schedules, rows: Counts, column: int, guide: _Guide, ends: Counts) -> Flags:
        """Place a run in some samples; return in which it could be."""
        slot, some = self.slots[column], state.take(rows)
        days, free = self._days(some, column, guide.nodes, ends)
        fewest = _fewest(slot, days, slot.last)
        fits = (days >= some.starts.max(axis=1)[:, None]) & (fewest >= 0) & (slot.needed[fewest] <= free)
        for leader in self.before[column]:
            fits &= days > ends[:, leader][:, None]
        soonest = self.draw.random(len(rows))[:, None] < EARLIEST
        wish = guide.starts[:, column][:, None]
        order = np.where(wish >= 0, np.abs(days - wish), np.where(soonest, days, self.draw.random(days.shape)))
        order = np.where(fits, order, np.inf)
        at, picked = np.arange(len(rows)), np.argmin(order, axis=1)
        day, least = days[at, picked], fewest[at, picked]
        mode = self._mode(column, day, least, free[at, picked], guide.wanted[:, column], ends)
        done: Flags = fits[at, picked] & (day + slot.days[mode] - 1 <= slot.last)
        placed = rows[done]
        state.starts[placed, column], state.modes[placed, column] = day[done], mode[done]
        state.running[placed] += drawn(slot, mode[done], day[done], self.field.outlook)
        return done

    def _mode(self, column: int, day: Counts, least: Counts, free: Counts, wanted: Counts, ends: Counts) -> Counts:
        """Draw a mode for a run that starts on a day: between the smallest that ends in time and all that is free."""
        slot = self.slots[column]
        most = np.maximum(np.searchsorted(slot.needed, free, side="right") - 1, least)
        beside = np.where(ends >= day[:, None], ends, -1).max(axis=1)
        together = _fewest(slot, day, beside)
        together = np.where((together >= least) & (together <= most), together, most)
        anything = self.draw.integers(least, most + 1)
        kind = self.draw.choice(4, len(day), p=MODES)
        freely = np.choose(kind, [most, least, together, anything])
        alike = np.clip(np.searchsorted(slot.needed, wanted), least, most)
        return np.asarray(np.where((wanted >= 0) & (self.draw.random(len(day)) < ALIKE), alike, freely))

    def _days(self, some: Schedules, column: int, nodes: Counts, ends: Counts) -> tuple[Counts, Counts]:
        """Return the days on which a run may start in samples, and how many nodes are free then."""
        base = np.broadcast_to(self.slots[column].starts, (len(some), len(self.slots[column].starts)))
        days = np.concatenate([base, np.where(ends + 1 >= self.slots[column].first, ends + 1, -1)], axis=1)
        used = np.zeros(days.shape, dtype=np.int64)
        for other in np.flatnonzero((some.starts >= 0).any(axis=0)):
            begins = some.starts[:, other][:, None]
            there = (begins >= 0) & (begins <= days) & (days <= ends[:, other][:, None])
            used += np.where(there, some.needed(int(other))[:, None], 0)
        return days, nodes[:, None] - used

    def _cheapest(self, state: Schedules, costs: Costs) -> Iterator[Packed]:
        bits = ((state.starts >= 0) << np.array(self.members)[None, :]).sum(axis=1)
        order = np.lexsort((costs, bits))
        order = order[np.isfinite(costs[order])]
        _, first = np.unique(bits[order], return_index=True)
        for own in np.split(order, first[1:]):
            for row in own[:OF_A_SET]:
                runs = [
                    (run, int(state.starts[row, column]), int(state.modes[row, column]))
                    for column, run in enumerate(self.members)
                    if state.starts[row, column] >= 0
                ]
                yield Packed(float(costs[row]), self.pool, tuple(runs))


def _within(slot: Slot, first: int, last: int) -> Slot:
    """Return a run between two days; it may start on the first, the day after one that it follows."""
    starts = slot.starts if first == slot.first else np.union1d(slot.starts[slot.starts > first], [first])
    return replace(slot, starts=starts, first=first, last=last)


def _repeated(one: Schedules, count: int) -> Schedules:
    rows = np.zeros(count, dtype=np.int64)
    return one.take(rows)


def _fewest(slot: Slot, days: Counts, last: Counts | int) -> Counts:
    """Return the mode with the fewest nodes that ends by a last day from each day on; -1 where none does."""
    shortest = np.minimum.accumulate(slot.days)
    found = np.searchsorted(-shortest, days - last - 1)
    return np.where((days >= 0) & (found < len(shortest)), found, -1)


def _peak(one: Packed, field: Field) -> int:
    """Return the most nodes in use at once in a schedule."""
    slots = {run: field.slots[run, one.pool] for run, _, _ in one.runs}
    busy = [(start, start + int(slots[run].days[mode]), int(slots[run].needed[mode])) for run, start, mode in one.runs]
    return max(sum(nodes for first, end, nodes in busy if first <= day < end) for day, _, _ in busy)
