"""Menus: some of the ways a run may take, for a compact model that combines them as one likes.

A spot is a run in a pool from a day on, in a mode. What a spot costs at least by itself tells which are worth a place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

import numpy as np

from optimizer.cost.choice import Choice
from optimizer.solver.columns import Columns, listed
from optimizer.solver.curves import Costs, Counts
from optimizer.solver.least import drawn, pool_awards
from optimizer.solver.outlook import Slot
from optimizer.solver.packing import Packed
from optimizer.solver.partitions import Field
from optimizer.solver.problem import Problem
from optimizer.solver.schedules import Schedules
from optimizer.solver.sets import Population

WIDEST = 3.0
"""Nodes of the largest modes of a menu over those of the smallest that end in time."""

OF_EACH_RUN = 2
"""Pools on every list that are the cheapest of a run."""

MOST_DAYS = 10
"""Days on which runs start in a pool with contracts, besides a plan's: each asks for contracts that start then."""

OF_A_SET = 2
"""Schedules of a set of runs in a pool of one menu."""

AFTER_ELSEWHERE = 8
"""Days on which a run may start in a pool after one that it follows elsewhere."""

MOST_SPOTS = 500
"""Spots of a menu besides a plan's."""

SAMPLES = 300
"""Samples of sets in each pool at first."""


class Spot(NamedTuple):
    """A run in a pool from a day on, in a mode: all by position; days from today."""

    workload: int
    pool: int
    start: int
    mode: int


Menu = set[Spot]
Plan = Sequence[Spot]
"""One spot of each run, in the order of the runs."""


class Spots:
    """The spots of a field, with what each costs at least by itself.

    Attributes:
        field: The runs with their pools.
        runs: The positions of the runs.
        draw: What is left to chance.
    """

    def __init__(self, field: Field, seed: int) -> None:
        """Take the field."""
        self.field, self.runs, self.draw = field, range(len(field.names)), Random(seed)  # noqa: S311 - reproducible
        self._alone: dict[tuple[int, int], Schedules] = {}
        self._population: Population | None = None

    def end(self, spot: Spot) -> int:
        """Return the last day of a spot."""
        return spot.start + int(self.field.slots[spot.workload, spot.pool].days[spot.mode]) - 1

    def pools(self, count: int) -> list[int]:
        """Return the pools in which all runs together cost least by themselves: so many at each site and at providers.

        And of each run its cheapest.
        """
        costs = {key: known.awards + known.running for key, known in self.field.known.items()}
        dearest = max(map(abs, costs.values()), default=0.0)
        totals: dict[int, float] = defaultdict(float)
        for run in self.runs:
            for pool in {pool for _, pool in costs}:
                totals[pool] += costs.get((run, pool), dearest)
        places: dict[str | None, list[int]] = defaultdict(list)
        for pool in sorted(totals, key=lambda pool: (totals[pool], pool)):
            places[self.field.outlook.pools[pool].site].append(pool)
        chosen = {pool for own in places.values() for pool in own[:count]}
        return sorted(chosen.union(*(self.field.pools_of(run)[:OF_EACH_RUN] for run in self.runs)))

    def spread(self, run: int, pool: int, starts: int, levels: int) -> Menu:
        """Return spots of a run in a pool at some levels of nodes: at its cheapest starts and the earliest."""
        found = self._of(run, pool)
        menu: Menu = set()
        begins, nodes = found.starts[:, 0], found.needed(0)
        for least in self._levels(nodes, levels) if len(found) else ():
            rows = np.flatnonzero(nodes >= least - 1e-9)
            rows = rows[_least_of_each(begins[rows], nodes[rows])]  # one a start, earliest first
            picked = np.argsort(found.bound[rows], kind="stable")[:starts]
            menu |= {Spot(run, pool, int(begins[row]), int(found.modes[row, 0])) for row in rows[[0, *picked]]}
        return menu

    def then(self, run: int, pool: int, days: Iterable[int], levels: int) -> Menu:
        """Return spots of a run in a pool on each of some days, at levels from the fewest nodes that end in time."""
        slot = self.field.slots[run, pool]
        menu: Menu = set()
        for day in (day for day in days if day >= slot.first):
            fitting = np.flatnonzero(day + slot.days - 1 <= slot.last)
            if len(fitting):
                nodes = slot.needed[fitting]
                places = np.searchsorted(nodes, self._levels(nodes, levels) - 1e-9)
                menu |= {Spot(run, pool, day, int(fitting[place])) for place in places}
        return menu

    def _of(self, run: int, pool: int) -> Schedules:
        """Return every start and mode of a run in a pool that some supply covers."""
        if (run, pool) not in self._alone:
            slot, outlook = self.field.slots[run, pool], self.field.outlook
            which, modes = np.nonzero(slot.starts[:, None] + slot.days - 1 <= slot.last)
            starts = slot.starts[which]
            running = drawn(slot, modes, starts, outlook)
            found = Schedules((slot,), starts[:, None], modes[:, None], running, running)
            costs = running + pool_awards(found, pool, outlook.buckets(found.last()), outlook)
            self._alone[run, pool] = replace(found, bound=costs).take(np.isfinite(costs))
        return self._alone[run, pool]

    def _levels(self, nodes: Counts, count: int) -> Costs:
        """Return numbers of nodes from the fewest on; where cost is not the objective, to the most."""
        least, most = float(nodes.min()), float(nodes.max())
        if self.field.frame.scenario.objective == "cost":
            most = min(most, least * WIDEST)
        return np.geomspace(least, most, count)

    def following(self, menu: Menu, pools: Iterable[int], runs: Iterable[int], days: int, levels: int) -> Menu:
        """Return spots of runs in pools on some days after the ends of runs of a menu that they may follow."""
        found: Menu = set()
        pools = list(pools)
        for run in runs:
            before = self.field.after(run)
            for pool in (pool for pool in pools if (run, pool) in self.field.slots):
                leading = [one for one in menu if one.workload in before or (one.pool == pool and one.workload != run)]
                ends = sorted({self.end(one) + 1 for one in leading})
                ends = [day for day in ends if day >= self.field.slots[run, pool].first]
                found |= self.then(run, pool, self.draw.sample(ends, min(days, len(ends))), levels)
        return found

    def near(self, plan: Plan, steps: Iterable[int]) -> Menu:
        """Return the spots near a plan's: other modes by steps, the starts beside, and days after changed runs."""
        found: Menu = set()
        for spot in sorted(plan, key=lambda one: one.start):
            slot = self.field.slots[spot.workload, spot.pool]
            place = int(np.searchsorted(slot.starts, spot.start))
            days = {spot.start, *slot.starts[max(0, place - 1) : place + 2].tolist()}
            leading = {one.workload for one in plan if self._leads(one, spot)}
            days |= {self.end(one) + 1 for one in found if one.workload in leading}
            found |= {Spot(*spot[:2], day, mode) for day in days for mode in _modes(slot, day, spot.mode, steps)}
        return found

    def _leads(self, one: Spot, other: Spot) -> bool:
        """Return whether a run may start on its day because another one ends on the day before."""
        tied = one.pool == other.pool or one.workload in self.field.after(other.workload)
        return tied and one.workload != other.workload and self.end(one) + 1 == other.start

    def sets(self, most: int, plan: Plan = ()) -> Menu:
        """Return so many spots of the cheapest sets of runs among samples: about like those of a plan, or, without one, new."""
        fresh: Menu = set()
        late: set[tuple[int, int]] = set()
        for one in self._packed(plan):
            own = {Spot(run, one.pool, start, mode) for run, start, mode in one.runs}
            late |= {(spot.workload, one.pool) for spot in own if not self._may_start(spot, own)}
            fresh |= {spot for spot in own if self._may_start(spot, own)}
            if len(fresh) >= most:
                break
        for run, pool in sorted(late):
            fresh |= self.following(fresh, [pool], [run], AFTER_ELSEWHERE, 2)
        return fresh

    def _packed(self, plan: Plan) -> Iterator[Packed]:
        """Yield the cheapest sets of runs among samples, of each in a pool the two cheapest schedules."""
        seen: Counter[tuple[int, int]] = Counter()
        for _, one in self._ranked(plan):
            seen[one.pool, one.members] += 1
            if seen[one.pool, one.members] <= OF_A_SET:
                yield one

    def _ranked(self, plan: Plan) -> list[tuple[float, Packed]]:
        """Return sets of runs after more generations, with what all runs cost that way."""
        if len({run for run, _ in self.field.slots}) < len(self.runs):
            return []
        known = [
            Packed(0.0, pool, tuple((one.workload, one.start, one.mode) for one in plan if one.pool == pool))
            for pool in sorted({one.pool for one in plan})
        ]
        if self._population is None or not plan:
            self._population = Population(self.field, SAMPLES, np.random.default_rng(self.draw.randrange(2**32)))
        self._population.turn_to(known)
        self._population.grow()
        return self._population.ranked()

    def guessed(self) -> float:
        """Return about the least that all runs cost in sets among samples; infinite where there are none."""
        ranked = self._ranked(())
        return float(self.field.outlook.constant.min()) + (ranked[0][0] if ranked else np.inf)

    def _may_start(self, spot: Spot, beside: Menu) -> bool:
        """Return whether a run may start on its day: of its own, or after another one."""
        own = spot.start in self.field.slots[spot.workload, spot.pool].starts
        return own or any(self._leads(one, spot) for one in beside)

    def trimmed(self, menu: Menu, kept: Collection[Spot]) -> Menu:
        """Return some spots and more of a menu at random, so many as are solved at once."""
        days: dict[int, set[int]] = defaultdict(set)
        for pool in sorted({one.pool for one in menu if self.field.outlook.tables[one.pool].is_timed}):
            known = sorted({one.start for one in menu if one.pool == pool})
            days[pool] = {one.start for one in kept if one.pool == pool}
            days[pool] |= set(self.draw.sample(known, min(MOST_DAYS, len(known))))
        others = sorted(one for one in menu.difference(kept) if one.pool not in days or one.start in days[one.pool])
        return {*kept, *self.draw.sample(others, min(MOST_SPOTS, len(others)))}


def _least_of_each(keys: Counts, values: Counts) -> Counts:
    """Return for each key, ascending, the position of its least value."""
    order = np.lexsort((values, keys))
    return np.asarray(order[np.unique(keys[order], return_index=True)[1]])


def _modes(slot: Slot, day: int, mode: int, steps: Iterable[int]) -> Iterator[int]:
    """Yield the modes some steps from one that keep the window from a day on, and the one of them all with the fewest nodes."""
    fitting = np.flatnonzero((slot.first <= day) & (day + slot.days - 1 <= slot.last))
    yield from {*(mode + step for step in steps)}.intersection(fitting.tolist())
    yield from fitting[:1].tolist()


def of_menu(problem: Problem, field: Field, menu: Menu) -> Problem:
    """Return the problem over the spots of a menu, in every combination."""
    groups: dict[tuple[int, int], list[Spot]] = defaultdict(list)
    for spot in sorted(menu):
        groups[spot.workload, spot.pool].append(spot)
    columns = Columns(
        tuple(((key,), _rows(field.slots[key], own)) for key, own in groups.items()), -np.inf, complete=False
    )
    return replace(listed(problem, field.outlook, columns), columns=None)


def _rows(slot: Slot, own: Sequence[Spot]) -> Schedules:
    starts = np.array([[one.start] for one in own], dtype=np.int64)
    modes = np.array([[one.mode] for one in own], dtype=np.int64)
    return Schedules((slot,), starts, modes, np.zeros(len(own)), np.zeros(len(own)))


def spots_of(choice: Choice, field: Field) -> list[Spot]:
    """Return the spots of the runs of a decision."""
    places = {(pool.platform.id, pool.place, pool.system): number for number, pool in enumerate(field.outlook.pools)}
    found = []
    for workload, run in enumerate(choice.runs):
        pool = places[run.platform.id, run.place, run.system]
        mode = field.slots[workload, pool].modes.index(run.candidate)
        found.append(Spot(workload, pool, (run.start - field.frame.today).days, mode))
    return found
