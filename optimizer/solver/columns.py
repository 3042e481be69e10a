"""From modes to the columns of the compact model: slots, blocks within a cutoff, and the problem that lists them."""

from __future__ import annotations

import datetime as dt
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from optimizer.cost.choice import Run
from optimizer.cost.frame import DAY, Frame
from optimizer.solver.outlook import Outlook, Slot
from optimizer.solver.partitions import Block, Field, undominated
from optimizer.solver.placing import OutOfTimeError
from optimizer.solver.prices import Prices, with_prices
from optimizer.solver.problem import Column, Pool, Problem, Profile
from optimizer.solver.profiles import base_starts, with_following
from optimizer.solver.schedules import Schedules, empty

MOST_SCHEDULES = 200_000
"""Schedules of a block kept at once; beyond, those with the least bounds, and the answer is no proof."""


GUESSED = 30
"""Schedules kept after each placement when the cost of a block is guessed."""

LARGEST_SET = 3
"""Runs of the largest sets whose cost in each pool is guessed, besides all runs."""

POOLS_OF_A_SET = 3
"""Pools that are tried for each set of runs."""


def field_of(problem: Problem, prices: Prices | None = None) -> Field:
    """Return the field of a problem whose runs are not listed; its bounds count money at the prices of its budgets."""
    frame = with_prices(problem.frame, prices) if prices else problem.frame
    groups: dict[tuple[str, str], list[Profile]] = defaultdict(list)
    for profile in problem.profiles:
        groups[profile.workload, profile.pool.name].append(profile)
    used = {name for _, name in groups}
    pools = [pool for pool in problem.pools if pool.name in used]
    places = {pool.name: number for number, pool in enumerate(pools)}
    slots = [_slot(name, places[place], own, problem) for (name, place), own in groups.items()]
    return Field.of(frame, Outlook(frame, pools, slots), slots)


def _slot(name: str, number: int, own: Sequence[Profile], problem: Problem) -> Slot:
    frame = problem.frame
    first, last = ((day - frame.today).days for day in (problem.windows or {})[name])
    own = sorted(own, key=lambda profile: (profile.nodes_needed, profile.run.candidate.days))
    starts = sorted((day - frame.today).days for day in base_starts(name, own[0].pool, frame))
    return Slot(
        name,
        number,
        tuple(profile.run.candidate for profile in own),
        np.array([profile.nodes_needed for profile in own], dtype=np.int64),
        np.array([profile.run.candidate.days for profile in own], dtype=np.int64),
        np.array([day for day in starts if day >= first], dtype=np.int64),
        first,
        last,
    )


class Blocks:
    """The schedules of blocks, enumerated once up to the highest cutoff asked for.

    Attributes:
        field: The runs with their pools.
        ends: When (monotonic clock) enumeration stops; None = never.
    """

    def __init__(self, field: Field, ends: float | None = None) -> None:
        """Start with nothing."""
        self.field, self.ends = field, ends
        self._known: dict[Block, tuple[float, Schedules]] = {}
        self._parts: dict[Block, tuple[float, float]] = {}
        self._beams: dict[tuple[Block, int], Schedules] = {}

    def within(self, block: Block, cutoff: float) -> Schedules:
        """Return the schedules of a block within a cutoff.

        Raises:
            OutOfTimeError: the time limit passed; what was known before stays.
        """
        known = self._known.get(block)
        if known is None or known[0] < cutoff:
            found = self.field.enumeration(block, self.ends).within(cutoff, MOST_SCHEDULES)
            self._known[block] = (cutoff, found)
        return self.found(block, cutoff)

    def found(self, block: Block, cutoff: float) -> Schedules:
        """Return those schedules of a block within a cutoff that are known."""
        known = self._known[block][1]
        return known.take(known.bound <= cutoff)

    def least(self, block: Block) -> float:
        """Return the least bound of a block as far as its schedules are known."""
        return _least(self._known[block][1], self.field.quick(block))

    def guess(self, block: Block) -> float:
        """Return about what a block costs: exact for one run, else the bound of a good schedule."""
        if len(block) == 1:
            return self.field.quick(block)
        found = self.beam(block, GUESSED)
        return float(found.bound.min()) if len(found) else np.inf

    def beam(self, block: Block, each: int) -> Schedules:
        """Return good schedules of a block, found by keeping so many after each placement; some may be left out.

        No schedule at all where the time is over.
        """
        if (block, each) not in self._beams:
            enumeration = self.field.enumeration(block, self.ends)
            try:
                self._beams[block, each] = enumeration.beam(each)
            except OutOfTimeError:
                return empty(enumeration.slots).take(np.zeros(1, dtype=bool))
        return self._beams[block, each]

    def bound(self, block: Block, cutoff: float) -> float:
        """Return a lower bound of a block of a plan; infinite when no schedule is within a cutoff.

        Before its schedules are enumerated, those of its runs without one of them are asked.
        """
        before = max(self.field.quick(block), self._without_one(block, cutoff))
        return np.inf if before > cutoff else _least(self.within(block, cutoff), before)

    def _without_one(self, block: Block, cutoff: float) -> float:
        """Return the highest bound of all runs of a block but one, with what that one draws; infinite above a cutoff.

        Where that one is alone in its pool, awards there may earn more than they cost.
        """
        best = -np.inf
        for left_out in block if len(block) > 2 else ():
            others = tuple(key for key in block if key != left_out)
            alone = all(pool != left_out[1] for _, pool in others)
            running = self.field.known[left_out].running + (
                min(0.0, self.field.known[left_out].awards) if alone else 0.0
            )
            rest = self.field.parts(others)
            best = max(best, running + self._total(rest, cutoff - running, self.part))
            if best > cutoff:
                break
        return best

    def part(self, block: Block, cutoff: float) -> float:
        """Return a lower bound of runs that are part of a block; infinite when it exceeds a cutoff."""
        if len(block) == 1:
            return self.field.quick(block)
        known = self._parts.get(block, (-np.inf, -np.inf))
        if known[0] < cutoff and known[1] == np.inf:
            known = (-np.inf, -np.inf)
        if known[1] == -np.inf:
            least = self._without_one(block, cutoff)
            if least <= cutoff:
                of_schedules = self.field.enumeration(block, self.ends).relax().least(cutoff, MOST_SCHEDULES)
                least = max(least, self.field.quick(block), of_schedules)
            known = (cutoff, least if least <= cutoff else np.inf)
            self._parts[block] = known
        return known[1]

    def bounds(self, parts: Sequence[Block], cutoff: float) -> float:
        """Return a lower bound of blocks of a plan together; infinite when it exceeds a cutoff.

        Raises:
            OutOfTimeError: the time limit passed.
        """
        if self.ends is not None and time.monotonic() > self.ends:
            raise OutOfTimeError
        return self._total(parts, cutoff, self.bound)

    def _total(self, parts: Sequence[Block], cutoff: float, bound: Callable[[Block, float], float]) -> float:
        total = sum(self.field.quick(block) for block in parts)
        for block in sorted(parts, key=len):
            quick = self.field.quick(block)
            total += bound(block, quick + cutoff - total) - quick
            if total > cutoff:
                return np.inf
        return total


def _least(found: Schedules, otherwise: float) -> float:
    """Return the least bound of schedules; where some were left out, another bound."""
    return otherwise if found.cut else float(found.bound.min(initial=np.inf))


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns that may be in a plan within a cutoff.

    Attributes:
        groups: Schedules by block, each with its bound.
        bound: Lower bound on every plan; infinite when none is within the cutoff.
        complete: Whether no schedule within the cutoff was left out.
    """

    groups: tuple[tuple[Block, Schedules], ...]
    bound: float
    complete: bool

    @property
    def content(self) -> tuple[tuple[Block, bytes, bytes], ...]:
        """The schedules of each block, to tell whether a higher cutoff gives others: as many may be others."""
        return tuple((block, found.starts.tobytes(), found.modes.tobytes()) for block, found in self.groups)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return sum(len(found) for _, found in self.groups)


def reduced(blocks: Blocks, cutoff: float, priced: Sequence[Blocks] = ()) -> Columns:
    """Return the columns of all plans whose bound is within a cutoff, also at each of some prices of budgets.

    Args:
        blocks: The schedules of blocks, without prices.
        cutoff: What a plan may cost.
        priced: The same blocks at prices.
    """
    rooms, others = _rooms(blocks, cutoff), []
    for own in priced:
        found = _rooms(own, cutoff)
        if found.complete:
            others.append((own, found))
    kept = []
    for block, room in sorted(rooms.rooms.items()):
        if all(block in found.rooms for _, found in others):
            schedules = _within(blocks, block, room)
            for own, found in others:
                enumeration = own.field.enumeration(block)
                schedules = schedules.take(enumeration.bounds(schedules) <= found.rooms[block])
            kept.append((block, undominated(schedules, blocks.field)))
    lowest = max(rooms.lowest, *(found.lowest for _, found in others)) if others else rooms.lowest
    return Columns(tuple(kept), lowest, rooms.complete and not any(own.cut for _, own in kept))


@dataclass(frozen=True, slots=True)
class _Rooms:
    """What blocks may cost.

    Attributes:
        rooms: Block -> most it may cost: its bound, and what the cutoff leaves above the bound of its best assignment.
        lowest: Lower bound on every plan; infinite when none is within the cutoff.
        complete: Whether all assignments were tried.
    """

    rooms: Mapping[Block, float]
    lowest: float
    complete: bool


def _rooms(blocks: Blocks, cutoff: float) -> _Rooms:
    field, constant = blocks.field, float(blocks.field.outlook.constant.min())
    lowest, rooms, quick = np.inf, dict[Block, float](), -np.inf
    try:
        for quick, pools in field.assignments(blocks.ends):
            if quick > cutoff:
                break
            parts = field.blocks(pools)
            paid = constant + field.entry(enumerate(pools))
            total = paid + blocks.bounds(parts, cutoff - paid)
            lowest = min(lowest, total)
            if total <= cutoff and np.isfinite(total):
                for block in parts:
                    rooms[block] = max(rooms.get(block, -np.inf), blocks.least(block) + cutoff - total)
    except OutOfTimeError as late:  # neither this assignment nor a later one costs less than its quick bound
        return _Rooms(rooms, min(lowest, max(quick, late.bound)), complete=False)
    return _Rooms(rooms, lowest, complete=True)


def _within(blocks: Blocks, block: Block, room: float) -> Schedules:
    """Return the schedules of a block within a cutoff; of those known before where there is no time, and so marked."""
    try:
        return blocks.within(block, room)
    except OutOfTimeError:
        return replace(blocks.found(block, room), cut=True)


def promising(blocks: Blocks, assignments: int, each: int) -> Columns:
    """Return good schedules of the blocks of the most promising assignments."""
    groups = {
        block: blocks.beam(block, each)
        for pools in promising_pools(blocks, assignments)
        for block in blocks.field.blocks(pools)
    }
    return Columns(tuple((block, own) for block, own in groups.items() if len(own)), -np.inf, complete=False)


def promising_pools(blocks: Blocks, count: int) -> list[tuple[int, ...]]:
    """Return assignments of pools that look cheap: sets of runs in the pools where good schedules cost least."""
    runs = range(len(blocks.field.names))
    best: dict[tuple[int, ...], list[tuple[float, int]]] = {}
    for size in {*range(1, min(len(runs), LARGEST_SET) + 1), len(runs)}:
        for members in combinations(runs, size):
            best[members] = _best_pools(blocks, members)
    plans = {pools: cost for cost, pools in _partitions(tuple(runs), best)}
    return sorted(plans, key=lambda pools: (plans[pools], pools))[:count]


def _best_pools(blocks: Blocks, members: tuple[int, ...]) -> list[tuple[float, int]]:
    """Return the guessed cost of a set of runs in the pools where it is least, for some pools."""
    pools = set.intersection(*(set(blocks.field.pools_of(run)) for run in members))
    sets = {pool: tuple((run, pool) for run in members) for pool in pools}
    found: list[tuple[float, int]] = []
    for least, pool in sorted((blocks.field.quick(block), pool) for pool, block in sets.items()):
        if len(found) == POOLS_OF_A_SET and least >= found[-1][0]:
            break
        found = sorted([*found, (blocks.guess(sets[pool]), pool)])[:POOLS_OF_A_SET]
    return [pair for pair in found if pair[0] < np.inf]


def guessed(blocks: Blocks) -> float:
    """Return about what the cheapest plan costs at least: of promising assignments the least sum of good schedules."""
    field, constant = blocks.field, float(blocks.field.outlook.constant.min())
    sums = [
        sum(blocks.guess(block) for block in field.blocks(pools)) + field.entry(enumerate(pools))
        for pools in promising_pools(blocks, GUESSED)
    ]
    return constant + min(sums, default=np.inf)


def _partitions(
    left: tuple[int, ...], best: Mapping[tuple[int, ...], Sequence[tuple[float, int]]]
) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Yield the assignments of runs by sets with their guessed cost: the first run's set, then what is left."""
    if not left:
        yield 0.0, ()
        return
    for members in best:
        if members[0] == left[0] and set(members) <= set(left):
            rest = tuple(run for run in left if run not in members)
            for more, others in _partitions(rest, best):
                for cost, pool in best[members]:
                    chosen = dict(zip(rest, others, strict=True)) | dict.fromkeys(members, pool)
                    yield cost + more, tuple(chosen[run] for run in left)


def first_of(columns: Columns, most: int) -> Columns:
    """Return of each block its best schedules, at most so many in all blocks on average."""
    each = max(1, most // max(1, len(columns.groups)))
    groups = tuple((block, own.take(np.argsort(own.bound, kind="stable")[:each])) for block, own in columns.groups)
    return Columns(groups, columns.bound, complete=False)


def listed(problem: Problem, outlook: Outlook, found: Columns) -> Problem:
    """Return the problem over the runs of some columns, and only their combinations."""
    frame = problem.frame
    starts: dict[int, set[dt.date]] = defaultdict(set)
    for _, own in found.groups:
        for column, slot in enumerate(own.slots):
            starts[slot.pool] |= {frame.today + int(day) * DAY for day in np.unique(own.starts[:, column])}
    pools = {number: with_following(outlook.pools[number], days, frame) for number, days in starts.items()}
    listing = _Listing(frame, pools, {})
    columns = tuple(listing.column(own, row) for _, own in found.groups for row in range(len(own)))
    named = {pool.name: pool for pool in pools.values()}
    kept = tuple(
        named.get(pool.name, pool)
        for pool in problem.pools
        if problem.anywhere or pool.name in named or pool.owned_nodes
    )
    return replace(problem, pools=kept, profiles=tuple(listing.known.values()), windows=None, columns=columns)


@dataclass(frozen=True, slots=True)
class _Listing:
    """Turns rows of schedules into columns of profiles, each profile once."""

    frame: Frame
    pools: dict[int, Pool]
    known: dict[tuple[str, int, int, int], Profile]

    def column(self, own: Schedules, row: int) -> Column:
        profiles = [
            self._profile(slot, int(own.starts[row, number]), int(own.modes[row, number]))
            for number, slot in enumerate(own.slots)
        ]
        return Column(tuple(profiles), float(own.bound[row]))

    def _profile(self, slot: Slot, start: int, mode: int) -> Profile:
        key = (slot.workload, slot.pool, start, mode)
        if key not in self.known:
            pool = self.pools[slot.pool]
            day = self.frame.today + start * DAY
            run = Run(slot.modes[mode], pool.platform, pool.place, pool.site, day, pool.system)
            follows = start not in slot.starts
            self.known[key] = Profile(slot.workload, pool, run, int(slot.needed[mode]), follows)
        return self.known[key]
