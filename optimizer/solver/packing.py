"""Random schedules of sets of runs in one pool, and the sets into which all runs are best parted by them.

A sample has a number of nodes that stand in the pool. Runs are placed in order of their starts: each on a release or
delivery, or after the end of one placed before, when enough of the nodes are free, in a mode that ends in time: one that takes
all that is free, as little as possible, or something between. What the schedules of each set cost at least is looked up in
supply curves, pools for themselves: limits that pools share are left to the model that chooses among them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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

GENERATIONS, PARENTS, CHILDREN = 3, 40, 50
"""Times that the best sets are looked at again, how many, and the samples about like each."""

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
        kept = np.zeros(len(state), dtype=bool)
        for column in range(len(self.slots)):
            rows = np.flatnonzero((chosen == column) & (scores[np.arange(len(state)), column] >= 0))
            if len(rows):
                kept[rows] = self._place(state, rows, column, guide.take(rows))
        return kept

    def _place(self, state: Schedules, rows: Counts, column: int, guide: _Guide) -> Flags:
        """Place a run in some samples; return in which it could be."""
        slot, some = self.slots[column], state.take(rows)
        days, free = self._days(some, column, guide.nodes)
        fewest = _fewest(slot, days, slot.last)
        fits = (days >= some.starts.max(axis=1)[:, None]) & (fewest >= 0) & (slot.needed[fewest] <= free)
        for leader in self.before[column]:
            fits &= days > some.ends(leader)[:, None]
        soonest = self.draw.random(len(rows))[:, None] < EARLIEST
        wish = guide.starts[:, column][:, None]
        order = np.where(wish >= 0, np.abs(days - wish), np.where(soonest, days, self.draw.random(days.shape)))
        order = np.where(fits, order, np.inf)
        at, picked = np.arange(len(rows)), np.argmin(order, axis=1)
        day, least = days[at, picked], fewest[at, picked]
        mode = self._mode(some, column, day, least, free[at, picked], guide.wanted[:, column])
        done: Flags = fits[at, picked] & (day + slot.days[mode] - 1 <= slot.last)
        placed = rows[done]
        state.starts[placed, column], state.modes[placed, column] = day[done], mode[done]
        state.running[placed] += drawn(slot, mode[done], day[done], self.field.outlook)
        return done

    def _mode(self, some: Schedules, column: int, day: Counts, least: Counts, free: Counts, wanted: Counts) -> Counts:
        """Draw a mode for a run that starts on a day: between the smallest that ends in time and all that is free."""
        slot = self.slots[column]
        most = np.maximum(np.searchsorted(slot.needed, free, side="right") - 1, least)
        ends = np.stack([some.ends(other) for other in range(len(self.slots))])
        beside = np.where(ends >= day, ends, -1).max(axis=0)
        together = _fewest(slot, day, beside)
        together = np.where((together >= least) & (together <= most), together, most)
        anything = self.draw.integers(least, most + 1)
        kind = self.draw.choice(4, len(day), p=MODES)
        freely = np.choose(kind, [most, least, together, anything])
        alike = np.clip(np.searchsorted(slot.needed, wanted), least, most)
        return np.asarray(np.where((wanted >= 0) & (self.draw.random(len(day)) < ALIKE), alike, freely))

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
    found = _windows(field)
    for run in sorted(range(len(found)), key=found.__getitem__):
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


def _windows(field: Field) -> list[Span]:
    """Return the first and last day each run may use."""
    own = {run: (slot.first, slot.last) for (run, _), slot in field.slots.items()}
    return [own[run] for run in range(len(field.names))]


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


def sampled(
    field: Field, count: int, draw: np.random.Generator, plan: Sequence[Packed] = ()
) -> list[tuple[float, Packed]]:
    """Return schedules of sets from so many samples in each pool, with what all runs cost at least that way.

    Args:
        field: The runs with their pools.
        count: Samples.
        draw: What is left to chance.
        plan: Schedules in hand, about like which there are samples too; runs that follow others start near theirs.
    """
    days = {run: start for one in plan for run, start, _ in one.runs}
    rooms = {True: _Rooms(field, _windows(field), draw), False: _Rooms(field, spans(field, draw, days or None), draw)}
    found: list[Packed] = []
    for closed, room in rooms.items():
        own = (one for pool in room.pools for one in room.of(pool).best(count))
        found += [one for one in own if _is_closed(one, field) is closed]
    for _ in range(GENERATIONS):
        elite: dict[tuple[int, bool], list[Packed]] = defaultdict(list)
        for one in [*plan, *(one for _, one in parted(found, len(field.names))[:PARENTS])]:
            elite[one.pool, _is_closed(one, field)].append(one)
        for (pool, closed), parents in elite.items():
            children = rooms[closed].of(pool).around(parents, CHILDREN)
            found += [one for one in children if _is_closed(one, field) is closed]
    return parted(found, len(field.names))


class _Rooms:
    """The samplers of all pools, when runs keep to given days."""

    def __init__(self, field: Field, between: Sequence[Span], draw: np.random.Generator) -> None:
        self.pools = sorted({pool for _, pool in field.slots})
        self._own = {pool: Sampler(field, pool, between, draw) for pool in self.pools}

    def of(self, pool: int) -> Sampler:
        """Return the sampler of a pool."""
        return self._own[pool]


def _is_closed(one: Packed, field: Field) -> bool:
    """Return whether no run of a set follows one outside it, or leads one there."""
    members = {run for run, _, _ in one.runs}
    return all(
        (run in members) == (leader in members) for run in range(len(field.names)) for leader in field.after(run)
    )


def _peak(one: Packed, field: Field) -> int:
    """Return the most nodes in use at once in a schedule."""
    slots = {run: field.slots[run, one.pool] for run, _, _ in one.runs}
    busy = [(start, start + int(slots[run].days[mode]), int(slots[run].needed[mode])) for run, start, mode in one.runs]
    return max(sum(nodes for first, end, nodes in busy if first <= day < end) for day, _, _ in busy)


def parted(found: Iterable[Packed], runs: int) -> list[tuple[float, Packed]]:
    """Return schedules of sets with what all runs cost at least that way, least first.

    That is what a set costs, and the others parted at best over the other pools.
    """
    sets: dict[tuple[int, int], list[Packed]] = defaultdict(list)
    for one in {*found}:
        sets[one.pool, one.members].append(one)
    pools: dict[int, list[Packed]] = defaultdict(list)
    for (pool, _), own in sets.items():
        pools[pool] += sorted(own)[:OF_A_SET]
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
