"""Sets of runs that share a pool, and how all runs are best parted into them, as far as samples tell.

A run that follows others is in their set, or a day between them is drawn: then the sets are independent, and what all runs
cost at least is the sum. The best sets are sampled again, about like they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from optimizer.solver.curves import Costs, Counts
from optimizer.solver.packing import OF_A_SET, Packed, Sampler, Span
from optimizer.solver.partitions import Field

GENERATIONS, PARENTS, CHILDREN = 3, 40, 50
"""Times that the best sets are looked at again, how many, and the samples about like each."""

MIDDLE = (3.0, 3.0)
"""Parameters of the beta distribution of the day between a run and the next, in what their windows leave."""

NEAR_DAYS = 20.0
"""Standard deviation of that day from a plan's."""


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
    if {run for run, _ in field.slots} < {*range(len(field.names))}:
        return []
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
