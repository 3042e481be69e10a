"""Good plans fast, where the runs are too many to list: a start over a few runs everywhere, then better ones nearby.

Both ask the compact model over a menu: some hundred spots (a run in a pool, from a day on, in a mode), which it combines
as the rules allow, with all awards and under all limits exactly. The first menus spread thinly over the cheapest pools.
Each later one holds the spots near the plan in hand and many more in one part of the problem (``PARTS``). Which part comes
next is drawn at random, those of kinds that gave better plans more often; a part that gave none is not asked again before
the plan changes. No bound comes from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Protocol, TypeVar

from optimizer.cost.choice import Choice
from optimizer.solver.menus import Menu, Plan, Spots, of_menu, spots_of
from optimizer.solver.partitions import Field
from optimizer.solver.problem import Problem

MENUS = ((100, 0, 0, 0), (120, 2, 2, 3), (120, 6, 4, 6), (120, 36, 5, 8))
"""Spots of sets, and pools of each place, starts and levels of nodes of each run there, in the first menus, until one has a
plan."""

SAMPLED = 10
"""Most runs whose sets are sampled: there are 2 to that power."""

OF_SETS = 60
"""Spots of the cheapest sets in a later menu."""

DRAWS = 12
"""Times that sets are sampled with the same plan in hand."""

POOLS, LIKELY = 6, 2
"""Pools of each place that all runs are tried in, and those of them tried together with another."""

POOLS_OF_A_RUN, AT_ONCE = 12, 6
"""Pools that a run is tried in, and how many of them at once."""

MORE, LESS, LEAST = 1.5, 0.85, 0.2
"""What the weight of a kind of part grows by with a better plan and shrinks by without, and its least; sets start with the most."""


class Planned(Protocol):
    """What a solver found."""

    @property
    def value(self) -> Decimal | None:
        """The first objective; None without a plan."""
        ...

    @property
    def choice(self) -> Choice:
        """The decision."""
        ...


@dataclass(frozen=True, slots=True)
class Known:
    """A plan found elsewhere.

    Attributes:
        value: The first objective.
        choice: The decision.
    """

    value: Decimal
    choice: Choice


Found = TypeVar("Found", bound=Planned)
Solve = Callable[[Problem, Decimal | None], Found | None]
"""Returns a plan of a problem, below a value; None when none was found within some work."""

Part = tuple[str, tuple[int, ...]]
"""A kind, and the runs or the pool it is about."""


def first_menus(spots: Spots) -> Iterator[Menu]:
    """Yield menus of the cheapest sets, and of spots in the cheapest pools, each wider than the one before."""
    field = spots.field
    late = [run for run in spots.runs if field.after(run)]
    for most, count, starts, levels in MENUS:
        best = spots.sets(most) if len(spots.runs) <= SAMPLED else set()
        pools = spots.pools(count) if count else []
        menu: Menu = set()
        for run, pool in sorted(field.slots):
            if pool in pools:
                menu |= spots.spread(run, pool, starts, levels)
        yield spots.trimmed(best | menu | spots.following(best | menu, pools, late, 8, 2), best)


def sets(spots: Spots, plan: Plan, of: Sequence[int]) -> Menu:
    """The cheapest sets of runs among samples: new ones, and every other time about like the plan's too."""
    if len(spots.runs) > SAMPLED:
        return set(plan)
    best = spots.sets(OF_SETS, plan if of[0] % 2 else ())
    return spots.trimmed(best | spots.near(plan, (-1, 0, 1)), {*plan, *best})


def modes(spots: Spots, plan: Plan, of: Sequence[int]) -> Menu:
    """Every run stays in its pool, about when it is; all modes near its own."""
    return spots.trimmed(spots.near(plan, range(-8, 9)), plan)


def anywhere(spots: Spots, plan: Plan, of: Sequence[int]) -> Menu:
    """Some runs may go to any of their pools, or after others in the pools in use."""
    menu = spots.near(plan, (-1, 0, 1))
    for run in of:
        pools = spots.field.pools_of(run)[:POOLS_OF_A_RUN]
        for pool in spots.draw.sample(pools, min(AT_ONCE, len(pools))):
            menu |= spots.spread(run, pool, 3, 4)
    return spots.trimmed(menu | spots.following(menu, sorted({one.pool for one in plan}), of, 8, 2), plan)


def one_pool(spots: Spots, plan: Plan, of: Sequence[int]) -> Menu:
    """Every run may go to one pool, also after another."""
    menu = spots.near(plan, range(-2, 3))
    for run in spots.runs:
        if (run, of[0]) in spots.field.slots:
            menu |= spots.spread(run, of[0], 4, 6)
    return spots.trimmed(menu | spots.following(menu, of, spots.runs, 12, 3), plan)


def two_pools(spots: Spots, plan: Plan, of: Sequence[int]) -> Menu:
    """Every run may go to one of two pools, also after another."""
    menu = spots.near(plan, (-1, 0, 1))
    for run, pool in sorted(spots.field.slots):
        if pool in of:
            menu |= spots.spread(run, pool, 2, 12)
    return spots.trimmed(menu | spots.following(menu, of, spots.runs, 20, 1), plan)


def in_turn(spots: Spots, plan: Plan, of: Sequence[int]) -> Menu:
    """The runs of a pool, and some more, beside and after each other there, up to three in a row."""
    runs = sorted({*(one.workload for one in plan if one.pool == of[0]), *of[1:]})
    menu = spots.near(plan, range(-2, 3))
    for run in runs:
        if (run, of[0]) in spots.field.slots:
            menu |= spots.spread(run, of[0], 2, 24)
    menu |= spots.following(menu, of[:1], runs, 48, 1)
    return spots.trimmed(menu | spots.following(menu, of[:1], runs, 24, 1), plan)


PARTS = {
    "sets": sets,
    "modes": modes,
    "anywhere": anywhere,
    "one_pool": one_pool,
    "two_pools": two_pools,
    "in_turn": in_turn,
}
"""Kinds of parts."""


def parts(spots: Spots, plan: Plan) -> Iterator[Part]:
    """Yield all parts of a problem with a plan in hand."""
    yield "modes", ()
    yield from (("sets", (time,)) for time in range(DRAWS))
    for size in (1, 2, 3):
        yield from (("anywhere", runs) for runs in combinations(spots.runs, size))
    used = sorted({one.pool for one in plan})
    for pool in used:
        others = [one.workload for one in plan if one.pool != pool]
        yield from (("in_turn", (pool, *more)) for size in (0, 1, 2) for more in combinations(others, size))
    yield from (("one_pool", (pool,)) for pool in sorted({*spots.pools(POOLS), *used}))
    likely = sorted({*spots.pools(LIKELY), *used})
    yield from (("two_pools", pair) for pair in combinations(likely, 2) if {*pair} & {*used})


class Improver:
    """Draws parts of a problem, one after another.

    Args:
        problem: The problem.
        field: Its runs with their pools.
        seed: Of the draws.
    """

    def __init__(self, problem: Problem, field: Field, seed: int) -> None:
        """Start with most of the weight on sets: they may change everything."""
        self.problem, self.spots = problem, Spots(field, seed)
        self.weights = dict.fromkeys(PARTS, 1.0) | {"sets": 1 / LEAST}
        self.tried: set[Part] = set()

    def improved(
        self, best: Found, solve: Solve[Found], patience: int, elsewhere: Callable[[], Found | None] = lambda: None
    ) -> Iterator[Found]:
        """Yield the best plan after each part: until so many in a row gave no better one, or no part is left.

        Args:
            best: The plan to begin with.
            solve: Returns a better plan of a part.
            patience: How many in a row.
            elsewhere: Returns a plan found elsewhere: the search goes on with that when it is better.
        """
        failed = 0
        while failed < patience:
            other = elsewhere()
            if other is not None and (best.value is None or (other.value is not None and other.value < best.value)):
                best, failed = other, 0
            plan = spots_of(best.choice, self.spots.field)
            part = self._next(plan)
            if part is None:
                return
            menu = PARTS[part[0]](self.spots, plan, part[1])
            found = solve(of_menu(self.problem, self.spots.field, menu), best.value)
            failed = failed + 1 if found is None else 0
            best = self._learnt(part, best, found)
            yield best

    def guessed(self) -> float:
        """Return about what the cheapest plan costs at least: the least of sets of runs among samples."""
        return self.spots.guessed()

    def _next(self, plan: Plan) -> Part | None:
        """Return a part that was not tried with this plan."""
        groups: dict[str, list[Part]] = {}
        for part in parts(self.spots, plan):
            if part not in self.tried:
                groups.setdefault(part[0], []).append(part)
        if not groups:
            return None
        kind = self.spots.draw.choices(list(groups), [self.weights[kind] for kind in groups])[0]
        part = self.spots.draw.choice(groups[kind])
        self.tried.add(part)
        return part

    def _learnt(self, part: Part, best: Found, found: Found | None) -> Found:
        change = LESS if found is None else MORE
        self.weights[part[0]] = min(max(self.weights[part[0]] * change, LEAST), 1 / LEAST)
        if found is None:
            return best
        self.tried = {part}
        return found
