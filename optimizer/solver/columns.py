"""From modes to the columns of the compact model: slots, blocks within a cutoff, and the problem that lists them."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

import numpy as np

from optimizer.cost.choice import Run
from optimizer.cost.frame import DAY, Frame
from optimizer.solver.outlook import Outlook, Slot
from optimizer.solver.partitions import Block, Field, undominated
from optimizer.solver.problem import Column, Pool, Problem, Profile
from optimizer.solver.profiles import base_starts, with_following
from optimizer.solver.schedules import Schedules

MOST_SCHEDULES = 200_000
"""Schedules of a block kept at once; beyond, those with the least bounds, and the answer is no proof."""


def field_of(problem: Problem) -> Field:
    """Return the field of a problem whose runs are not listed."""
    frame = problem.frame
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


@dataclass(eq=False)
class Blocks:
    """The schedules of blocks, enumerated once up to the highest cutoff asked for.

    Attributes:
        field: The runs with their pools.
    """

    field: Field
    _known: dict[Block, tuple[float, Schedules]] = field(default_factory=dict)

    def within(self, block: Block, cutoff: float) -> Schedules:
        """Return the undominated schedules of a block within a cutoff."""
        known = self._known.get(block)
        if known is None or known[0] < cutoff:
            found = self.field.enumeration(block).within(cutoff, MOST_SCHEDULES)
            known = (cutoff, undominated(found, self.field))
            self._known[block] = known
        return known[1].take(known[1].bound <= cutoff)


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

    def __len__(self) -> int:
        """Return how many columns there are."""
        return sum(len(found) for _, found in self.groups)


def reduced(blocks: Blocks, cutoff: float) -> Columns:
    """Return the columns of all plans whose bound is within a cutoff.

    A block may cost at most its own bound and what the cutoff leaves above the bound of its best assignment.
    """
    field, constant = blocks.field, float(blocks.field.outlook.constant.min())
    within = takewhile(lambda item: item[0] <= cutoff, field.assignments())
    assignments = [(bound, field.blocks(pools)) for bound, pools in within]
    slack: dict[Block, float] = {}
    for bound, parts in assignments:
        for block in parts:
            slack[block] = max(slack.get(block, -np.inf), field.quick(block) + cutoff - bound)
    found = {block: blocks.within(block, most) for block, most in slack.items()}
    best = {block: float(own.bound.min()) if len(own) else np.inf for block, own in found.items()}
    rooms: dict[Block, float] = {}
    lowest = np.inf
    for _, parts in assignments:
        total = constant + sum(best[block] for block in parts) + field.entry(key for block in parts for key in block)
        lowest = min(lowest, total)
        for block in parts if total <= cutoff else ():
            rooms[block] = max(rooms.get(block, -np.inf), best[block] + cutoff - total)
    kept = tuple((block, blocks.within(block, room)) for block, room in sorted(rooms.items()))
    return Columns(kept, lowest, not any(own.cut for own in found.values()))


def promising(field: Field, assignments: int, each: int) -> Columns:
    """Return the best schedules of the blocks of the most promising assignments."""
    groups: dict[Block, Schedules] = {}
    for _, (_, pools) in zip(range(assignments), field.assignments(), strict=False):
        for block in field.blocks(pools):
            if block not in groups:
                groups[block] = field.enumeration(block).within(np.inf, each)
    return Columns(tuple(groups.items()), -np.inf, complete=False)


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
