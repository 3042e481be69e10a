"""Sets of runs that share a pool, and how all runs are best parted into them, as far as samples tell.

A population holds the cheapest schedules known of each set of runs in each pool. What all runs cost with a set is its cost,
and that of the others parted at best over the other pools. Sets with which they cost little have offspring: schedules about
like theirs, also with a run more or less. So a run goes from one pool to another once both are better for it.

A run that follows others is in their set, or a day between them is drawn: then the sets are independent, and what all runs
cost is the sum.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from optimizer.solver.curves import Costs
from optimizer.solver.packing import Packed, Sampler, Samples, Span
from optimizer.solver.partitions import Field

GENERATIONS, PATIENCE = 100, 2.5
"""Most generations at a time, and those without a cheaper way to part all runs, for each run, that are the last."""

PARENTS, BEYOND, CHILDREN = 5, 2.0, 100
"""Sets of a generation that have offspring, for each run, how far down they may rank (mean, as a multiple of that), and samples
like each."""

LEAST_GAIN = 1e-4
"""Share by which they must be cheaper for that."""

OF_A_SET = 2
"""Schedules kept of each set in each pool."""

MIDDLE = (3.0, 3.0)
"""Parameters of the beta distribution of the day between a run and the next, in what their windows leave."""

NEAR_DAYS = 20.0
"""Standard deviation of that day from a plan's."""


class Partitions:
    """The ways to part some runs in two, for all sets of them at once.

    Args:
        runs: How many there are.
    """

    def __init__(self, runs: int) -> None:
        """List them: 3 to the power of the runs."""
        inside = [np.zeros(1, dtype=np.int64)]
        for run in range(runs):
            inside += [np.concatenate([known, known + (1 << run)]) for known in inside]
        sizes = [len(own) for own in inside]
        self._inside, self._firsts = np.concatenate(inside), np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self._outside = np.repeat(np.arange(1 << runs), sizes) - self._inside

    def least(self, some: Costs, others: Costs) -> Costs:
        """Return for each set the least sum of what a part of it costs here and the rest there."""
        return np.asarray(np.minimum.reduceat(some[self._inside] + others[self._outside], self._firsts))

    def totals(self, costs: Costs) -> Costs:
        """Return what all runs cost at least with each set in each pool: pool x set, as what each set costs there.

        A pool has at most one set; none (0) costs nothing.
        """
        nothing = np.full(costs.shape[1], np.inf)
        nothing[0] = 0.0
        before, after = [nothing], [nothing]
        for own in costs:
            before.append(self.least(own, before[-1]))
        for own in costs[::-1]:
            after.append(self.least(own, after[-1]))
        rests = [self.least(one, other) for one, other in zip(before[:-1], after[-2::-1], strict=True)]
        return np.asarray(costs + np.array(rests)[:, ::-1])  # all runs but those of a set: the bits turned round


class Population:
    """The cheapest schedules of sets of runs that are known; closed sets are those that no run outside is tied to.

    Args:
        field: The runs with their pools.
        count: Samples of any sets in each pool at first.
        draw: What is left to chance.
    """

    def __init__(self, field: Field, count: int, draw: np.random.Generator) -> None:
        """Start with closed sets."""
        self.field, self._count, self._draw = field, count, draw
        self._runs = runs = len(field.names)
        self.pools = sorted({pool for _, pool in field.slots})
        self._rows = {pool: row for row, pool in enumerate(self.pools)}
        self._parted = Partitions(runs)
        self._is_closed = np.array([_is_closed(members, field) for members in range(1 << runs)])
        self._kept: dict[tuple[int, int], list[Packed]] = defaultdict(list)
        self._least, self._worst = np.full((2, len(self.pools), 1 << runs), np.inf)
        self._least[:, 0] = 0.0
        self._rooms = {True: self._samplers(_windows(field))}
        self._sample(closed=True)

    def _samplers(self, between: Sequence[Span]) -> dict[int, Sampler]:
        return {pool: Sampler(self.field, pool, between, self._draw) for pool in self.pools}

    def _sample(self, *, closed: bool) -> None:
        for sampler in self._rooms[closed].values():
            self._keep(sampler, sampler.any(self._count), closed=closed)

    def turn_to(self, plan: Sequence[Packed] = ()) -> None:
        """Draw the days between runs and those they follow near those of a plan, or, without one, anywhere; take its sets."""
        if not self._is_closed.all():
            days = {run: start for one in plan for run, start, _ in one.runs}
            between = spans(self.field, self._draw, days or None)
            self._rooms[False] = self._samplers(between)
            for pool, members in [key for key in self._kept if not self._is_closed[key[1]]]:
                known = self._kept.pop((pool, members))
                self._least[self._rows[pool], members] = self._worst[self._rows[pool], members] = np.inf
                for one in known:
                    self._add(one)
            self._sample(closed=False)
        for one in plan:
            self._add(self._rooms[bool(self._is_closed[one.members])][one.pool].priced(one))

    def grow(self) -> None:
        """Let the best sets have offspring, until all runs have not become cheaper for some generations."""
        totals, failed = self._totals(), 0
        for _ in range(GENERATIONS):
            self._bear(totals)
            before, totals = float(totals.min()), self._totals()
            enough = before - LEAST_GAIN * abs(before) if before < np.inf else before
            failed = 0 if totals.min() < enough else failed + 1
            if failed >= PATIENCE * self._runs:
                return

    def _totals(self) -> Costs:
        """Return what all runs cost with each set in each pool."""
        totals = self._parted.totals(self._least)
        totals[:, 0] = np.inf
        return totals

    def _bear(self, totals: Costs) -> None:
        elite: dict[tuple[int, bool], list[Packed]] = defaultdict(list)
        for one in self._parents(totals):
            elite[one.pool, bool(self._is_closed[one.members])].append(one)
        for (pool, closed), parents in elite.items():
            sampler = self._rooms[closed][pool]
            self._keep(sampler, sampler.about(parents, CHILDREN), closed=closed)

    def ranked(self) -> list[tuple[float, Packed]]:
        """Return all schedules with what all runs cost that way, least first."""
        totals = self._totals()
        found = [
            (float(totals[self._rows[pool], members]) + one.cost - own[0].cost, one)
            for (pool, members), own in self._kept.items()
            for one in own
        ]
        return sorted(pair for pair in found if pair[0] < np.inf)

    def _parents(self, totals: Costs) -> list[Packed]:
        """Draw sets by what all runs cost with them, the cheapest most often, and one of the schedules of each."""
        count = PARENTS * self._runs
        places = np.unique(self._draw.exponential(BEYOND * count, count).astype(np.int64))
        order = np.argsort(totals, axis=None, kind="stable")
        chosen = order[places[places < len(order)]]
        rows, sets = np.unravel_index(chosen[totals.reshape(-1)[chosen] < np.inf], totals.shape)
        kept = [self._kept[self.pools[row], int(members)] for row, members in zip(rows, sets, strict=True)]
        return [own[int(self._draw.integers(len(own)))] for own in kept]

    def _keep(self, sampler: Sampler, some: Samples, *, closed: bool) -> None:
        """Keep what is among the cheapest of its set."""
        worst = self._worst[self._rows[sampler.pool]][some.members]
        rows = np.flatnonzero((some.cost < worst) & (self._is_closed[some.members] == closed))
        for row in rows[np.argsort(some.cost[rows], kind="stable")]:
            if some.cost[row] < self._worst[self._rows[sampler.pool], some.members[row]]:
                self._add(sampler.packed(some, int(row)))

    def _add(self, one: Packed) -> None:
        """Keep a schedule within the days of its runs if it is among the cheapest of its set."""
        members, row = one.members, self._rows[one.pool]
        own = self._kept[one.pool, members]
        if one not in own and self._rooms[bool(self._is_closed[members])][one.pool].holds(one):
            own.append(one)
            own.sort()
            del own[OF_A_SET:]
            self._least[row, members] = own[0].cost
            self._worst[row, members] = own[-1].cost if len(own) == OF_A_SET else np.inf


def _is_closed(members: int, field: Field) -> bool:
    """Return whether no run of a set follows one outside it, or leads one there."""
    return all(
        members >> run & 1 == members >> leader & 1 for run in range(len(field.names)) for leader in field.after(run)
    )


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
