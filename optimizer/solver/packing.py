"""Random schedules of sets of runs in one pool, and the sets into which all runs are best parted by them.

A sample has a number of nodes that stand in the pool. Runs are placed in order of their starts: each on a release or
delivery, or after the end of one placed before, when enough of the nodes are free, in a mode that ends in time and takes
all that is free, as little as possible, or something between. What the schedules of each set cost at least is looked up in
supply curves, pools for themselves: limits that pools share are left to the model that chooses among them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from optimizer.solver.curves import Costs, Counts
from optimizer.solver.least import drawn, pool_awards
from optimizer.solver.outlook import Slot
from optimizer.solver.partitions import Field
from optimizer.solver.schedules import Flags, Schedules, empty

OF_A_SET = 4
"""Schedules kept of each set in each pool."""

EARLIEST, ALL, LEAST = 0.5, 0.4, 0.7
"""Share of runs placed at their earliest start; of modes that take all that is free, and of those and the smallest."""


MIDDLE = (3.0, 3.0)
"""Parameters of the beta distribution of the day between a run and the next, in what their windows leave."""

NEAR_DAYS = 20.0
"""Standard deviation of that day from a plan's."""

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
        state = _repeated(empty(self.slots), count)
        nodes = self._nodes(count)
        for _ in self.slots:
            state, nodes = self._placed(state, nodes)
            if not len(state):
                return
            buckets = self.field.outlook.buckets(state.last())
            costs = state.running + pool_awards(state, self.pool, buckets, self.field.outlook)
            yield from self._cheapest(state, costs)

    def _nodes(self, count: int) -> Counts:
        """Draw numbers of nodes, from what one run needs to what all may need at once."""
        least = min(int(slot.needed.min()) for slot in self.slots)
        most = max(sum(int(slot.needed.min()) for slot in self.slots) * 2, least + 1)
        return np.asarray(np.exp(self.draw.uniform(np.log(least), np.log(most), count)), dtype=np.int64)

    def _placed(self, state: Schedules, nodes: Counts) -> tuple[Schedules, Counts]:
        """Place one more run in every sample; samples in which none can be are left out."""
        scores = self.draw.random((len(state), len(self.slots)))
        scores[state.starts >= 0] = -1.0
        for column, before in enumerate(self.before):  # once a run is placed, those it follows come too late
            scores[np.ix_(np.flatnonzero(state.starts[:, column] >= 0), np.array(before, dtype=np.int64))] = -1.0
        chosen = np.argmax(scores, axis=1)
        kept = np.zeros(len(state), dtype=bool)
        for column in range(len(self.slots)):
            rows = np.flatnonzero((chosen == column) & (scores[np.arange(len(state)), column] >= 0))
            if len(rows):
                kept[rows] = self._place(state, rows, column, nodes[rows])
        return state.take(kept), nodes[kept]

    def _place(self, state: Schedules, rows: Counts, column: int, nodes: Counts) -> Flags:
        """Place a run in some samples; return in which it could be."""
        slot, some = self.slots[column], state.take(rows)
        days, free = self._days(some, column, nodes)
        fewest = _fewest(slot, days)
        fits = (days >= some.starts.max(axis=1)[:, None]) & (fewest >= 0) & (slot.needed[fewest] <= free)
        for leader in self.before[column]:
            fits &= days > some.ends(leader)[:, None]
        order = np.where(
            fits, np.where(self.draw.random(len(rows))[:, None] < EARLIEST, days, self.draw.random(days.shape)), np.inf
        )
        picked = np.argmin(order, axis=1)
        at = np.arange(len(rows))
        day, least = days[at, picked], fewest[at, picked]
        most = np.searchsorted(slot.needed, free[at, picked], side="right") - 1
        share = self.draw.random(len(rows))
        mode = np.where(
            share < ALL, most, np.where(share < LEAST, least, self.draw.integers(least, np.maximum(most, least) + 1))
        )
        done: Flags = fits[at, picked] & (day + slot.days[mode] - 1 <= slot.last)
        placed = rows[done]
        state.starts[placed, column], state.modes[placed, column] = day[done], mode[done]
        state.running[placed] += drawn(slot, mode[done], day[done], self.field.outlook)
        return done

    def _days(self, some: Schedules, column: int, nodes: Counts) -> tuple[Counts, Counts]:
        """Return the days on which a run may start in samples, and how many nodes are free then."""
        base = np.broadcast_to(self.slots[column].starts, (len(some), len(self.slots[column].starts)))
        after = np.stack([some.ends(other) + 1 for other in range(len(self.slots))], axis=1)
        days = np.concatenate([base, np.where(after >= self.slots[column].first, after, -1)], axis=1)
        used = np.zeros(days.shape, dtype=np.int64)
        for other in range(len(self.slots)):
            begins, ends = some.starts[:, other][:, None], some.ends(other)[:, None]
            used += np.where((begins >= 0) & (begins <= days) & (days <= ends), some.needed(other)[:, None], 0)
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


def spans(field: Field, draw: np.random.Generator, days: Mapping[int, int] | None = None) -> list[Span]:
    """Return a first and last day of each run, with a day between each run and those it follows.

    Args:
        field: The runs with their pools.
        draw: What is left to chance.
        days: First days of runs in a plan: the day is drawn near them; else anywhere in what the windows leave.
    """
    own = {run: slot for (run, _), slot in field.slots.items()}
    found = [(own[run].first, own[run].last) for run in sorted(own)]
    for run in sorted(own, key=lambda run: own[run].first):
        leaders = field.after(run)
        if leaders:
            first, last = found[run]
            latest = last - min(int(slot.days.min()) for (one, _), slot in field.slots.items() if one == run) + 1
            middle = first + (latest - first) * draw.beta(*MIDDLE)
            day = int(middle if days is None else days[run] + draw.normal(0.0, NEAR_DAYS))
            found[run] = (min(max(day, first), max(first, latest)), last)
            for leader in leaders:
                found[leader] = (found[leader][0], min(found[leader][1], found[run][0] - 1))
    return found


def _within(slot: Slot, first: int, last: int) -> Slot:
    """Return a run between two days; it may start on the first, the day after one that it follows."""
    starts = slot.starts if first == slot.first else np.union1d(slot.starts[slot.starts > first], [first])
    return replace(slot, starts=starts, first=first, last=last)


def _repeated(one: Schedules, count: int) -> Schedules:
    rows = np.zeros(count, dtype=np.int64)
    return one.take(rows)


def _fewest(slot: Slot, days: Counts) -> Counts:
    """Return the mode with the fewest nodes that ends in time from each day on; -1 where none does."""
    shortest = np.minimum.accumulate(slot.days)
    found = np.searchsorted(-shortest, days - slot.last - 1)
    return np.where((days >= 0) & (found < len(shortest)), found, -1)


def sampled(
    field: Field, count: int, draw: np.random.Generator, days: Mapping[int, int] | None = None
) -> list[tuple[float, Packed]]:
    """Return schedules of sets from so many samples in each pool, with what all runs cost at least that way.

    Args:
        field: The runs with their pools.
        count: Samples.
        draw: What is left to chance.
        days: First days of runs in a plan, near which runs that follow others start; None = anywhere.
    """
    between = spans(field, draw, days)
    pools = sorted({pool for _, pool in field.slots})
    found = [one for pool in pools for one in Sampler(field, pool, between, draw).best(count)]
    return parted(found, len(field.names))


def parted(found: Iterable[Packed], runs: int) -> list[tuple[float, Packed]]:
    """Return schedules of sets with what all runs cost at least that way, least first.

    That is what a set costs, and the others parted at best over the other pools.
    """
    pools: dict[int, list[Packed]] = defaultdict(list)
    for one in {*found}:
        pools[one.pool].append(one)
    subsets = _subsets(runs)
    costs = [_costs(pools[pool], runs) for pool in sorted(pools)]
    before, after = _least_sums(costs, subsets), _least_sums(costs[::-1], subsets)[::-1]
    totals: list[tuple[float, Packed]] = []
    for place, pool in enumerate(sorted(pools)):
        rests = {one.members: len(costs[0]) - 1 - one.members for one in pools[pool]}
        least = {
            members: float((before[place][subsets[rest]] + after[place + 1][rest - subsets[rest]]).min())
            for members, rest in rests.items()
        }
        totals += [(one.cost + least[one.members], one) for one in pools[pool]]
    return sorted(pair for pair in totals if pair[0] < np.inf)


def _subsets(runs: int) -> list[Counts]:
    """Return the sets within each set of runs, as bits."""
    found = [np.zeros(1, dtype=np.int64)]
    for run in range(runs):
        found += [np.concatenate([known, known + (1 << run)]) for known in found]
    return found


def _costs(own: Sequence[Packed], runs: int) -> Costs:
    """Return the least cost of each set of runs in a pool; nothing costs nothing."""
    least = np.full(1 << runs, np.inf)
    least[0] = 0.0
    for one in own:
        least[one.members] = min(one.cost, least[one.members])
    return least


def _least_sums(costs: Sequence[Costs], subsets: Sequence[Counts]) -> list[Costs]:
    """Return the least cost of each set in the first pools: in none of them, in one, in two ..."""
    known = np.full(len(subsets), np.inf)
    known[0] = 0.0
    found = [known]
    for own in costs:
        known = np.array([(own[inside] + known[every - inside]).min() for every, inside in enumerate(subsets)])
        found.append(known)
    return found
