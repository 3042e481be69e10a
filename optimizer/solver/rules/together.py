"""Rules between runs: order in time, nodes used at the same time, the last run of the plan. One run needs none."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from optimizer.cost.frame import DAY
from optimizer.solver.problem import Pool, Profile, leads
from optimizer.solver.rules.capacity import serves_run
from optimizer.solver.variables import Builder, PieceVar, Term

Chosen = tuple[Profile, int]
"""A profile with its Boolean."""


def last_run(builder: Builder) -> None:
    """The last day of the plan is that of the run that ends last: a number, and a Boolean per possible day.

    The Booleans are there when something is priced by that day: a run that ends on t or later asks for one of t or
    later, and that of a day asks for a run that ends on it.
    """
    if not builder.problem.several:
        return
    model, today = builder.model, builder.frame.today
    days = {index: (profile.run.end - today).days for profile, index in builder.chosen.items()}
    builder.last_day = model.integer("last day", 0, max(days.values(), default=0))
    runs = _by_workload(builder)
    for name, own in runs.items():
        model.add("last_run", name, [(builder.last_day, 1), *((i, -days[i]) for _, i in own)], lower=0)
    if builder.policy != "idle":
        _last_booleans(builder, runs)


def _by_workload(builder: Builder) -> dict[str, list[Chosen]]:
    groups: dict[str, list[Chosen]] = {name: [] for name in builder.frame.scenario.workloads}
    for profile, index in builder.chosen.items():
        groups[profile.workload].append((profile, index))
    return groups


def _last_booleans(builder: Builder, runs: dict[str, list[Chosen]]) -> None:
    model = builder.model
    earliest = max(min((p.run.end for p, _ in own), default=builder.frame.today) for own in runs.values())
    ends = sorted({profile.run.end for profile in builder.chosen if profile.run.end >= earliest})
    builder.lasts = {day: model.boolean(f"last run ends {day}") for day in ends}
    model.add("last_run", "one day", [(index, 1) for index in builder.lasts.values()], 1, 1)
    for day, index in builder.lasts.items():
        then = [(i, -1) for profile, i in builder.chosen.items() if profile.run.end == day]
        model.add("last_run", f"{day} is reached", [(index, 1), *then], upper=0)
        later = [(other, 1) for end, other in builder.lasts.items() if end >= day]
        for name, own in runs.items():
            terms = [(i, -1) for profile, i in own if profile.run.end >= day]
            model.add("last_run", f"{name} by {day}", [*later, *terms], lower=0)


def precedence(builder: Builder) -> None:
    """A run starts after the runs it follows: of starts up to t and ends of a predecessor from t on, at most one."""
    if not builder.problem.several or builder.problem.columns is not None:  # columns keep the order
        return
    runs = _by_workload(builder)
    for name, workload in builder.frame.scenario.workloads.items():
        for before in workload.after:
            for day in sorted({profile.run.start for profile, _ in runs[name]}):
                early = [(index, 1) for profile, index in runs[name] if profile.run.start <= day]
                late = [(index, 1) for profile, index in runs[before] if profile.run.end >= day]
                if late:
                    builder.model.add("precedence", f"{before} {name} {day}", [*early, *late], upper=1)


def follow(builder: Builder) -> None:
    """A start that is no release or delivery is the day after a run that it follows, or that shares its pool, ends.

    So is the start of a contract offered for that day.
    """
    groups: dict[tuple[str, str, dt.date], list[Chosen]] = defaultdict(list)
    for profile, index in builder.chosen.items():
        if profile.follows and builder.problem.columns is None:  # columns hold the run that is followed
            groups[profile.workload, profile.pool.name, profile.run.start].append((profile, index))
    ending: dict[dt.date, list[Chosen]] = defaultdict(list)
    for profile, index in builder.chosen.items():
        ending[profile.run.end + DAY].append((profile, index))
    for (name, pool, start), own in groups.items():
        before = [(index, -1) for profile, index in ending[start] if leads(profile, own[0][0], builder.frame)]
        terms = [*((index, 1) for _, index in own), *before]
        builder.model.add("follow", f"{name} {pool} {start}", terms, upper=0)
    starting: dict[tuple[str, dt.date], list[Term]] = defaultdict(list)
    for profile, index in builder.chosen.items():
        starting[profile.pool.name, profile.run.start].append((index, -1))
    for order in builder.orders:
        if order.option.follows and not order.option.is_hired:
            starts = starting[order.option.pool, order.option.lots[0].ready]
            builder.model.add("follow", builder.model.names[order.index], [(order.index, 1), *starts], upper=0)


@dataclass(frozen=True, slots=True)
class _Sharing:
    """A run as far as it shares the units of its pool: units that count for it, and the nodes it takes of them."""

    profile: Profile
    units: frozenset[int]
    taken: Term


def share(builder: Builder) -> None:
    """Runs of a pool at the same time share its nodes.

    On a day all runs of a pool can be served if and only if no set of them needs more than the units that count for at
    least one of them, hired nodes aside (Hall's condition). It is enough to ask on days on which a run starts, and of
    the sets that are all runs for which nothing else counts than some units.
    """
    if not builder.problem.several:
        return
    for pool in builder.problem.pools:
        sharing = _sharing(builder, pool)
        for day in sorted({one.profile.run.start for one in sharing}):
            active = [one for one in sharing if one.profile.run.start <= day <= one.profile.run.end]
            for number, (units, group) in enumerate(_groups(active, day)):
                there = [(index, pool.platform.nodes_per_unit) for index in sorted(units)]
                needed = [(one.taken[0], -one.taken[1]) for one in group]
                name = f"{pool.name} {day} {number}"
                builder.model.add("share", name, [*there, *needed], lower=-pool.owned_nodes)


def _groups(active: Sequence[_Sharing], day: dt.date) -> Iterator[tuple[frozenset[int], list[_Sharing]]]:
    """Yield sets of units with all runs that only they count for: of two workloads or more, one of which starts then."""
    places = {index: place for place, index in enumerate(sorted({index for one in active for index in one.units}))}
    own = [sum(1 << places[index] for index in one.units) for one in active]  # sets as bits: there may be many unions
    kinds = set(own)
    unions, fresh = set(kinds), set(kinds)
    for _ in range(len({one.profile.workload for one in active}) - 1):
        fresh = {known | kind for known in fresh for kind in kinds} - unions
        unions |= fresh
    seen: set[tuple[int, ...]] = set()
    for union in sorted(unions, key=lambda union: (union.bit_count(), _first_bits(union))):
        group = [one for one, units in zip(active, own, strict=True) if not units & ~union]
        key = tuple(one.taken[0] for one in group)
        starting = any(one.profile.run.start == day for one in group)
        if starting and key not in seen and len({one.profile.workload for one in group}) > 1:
            seen.add(key)
            yield frozenset(index for index, place in places.items() if union >> place & 1), group


def _first_bits(bits: int) -> str:
    """Return a key that orders sets of equal size as their sorted members: of the first place that differs, a member first."""
    return bin(bits)[:1:-1].translate(str.maketrans("01", "10"))


def _sharing(builder: Builder, pool: Pool) -> list[_Sharing]:
    """Return the runs of a pool with what they take of its units: all they need, or that less what is hired for them."""
    pieces = [var for order in builder.orders_of(pool) for var in order.pieces]
    hires: dict[int, list[PieceVar]] = defaultdict(list)
    for var in pieces:
        if var.profile is not None:
            hires[builder.chosen[var.profile]].append(var)
    found = []
    for profile, index in builder.profiles_in(pool):
        units = frozenset(var.index for var in pieces if serves_run(var, profile))
        taken: Term = (index, profile.nodes_needed)
        if index in hires:
            own = builder.model.integer(f"not hired #{index}", 0, profile.nodes_needed)
            hired = [(var.index, pool.platform.nodes_per_unit) for var in hires[index]]
            terms = [(own, 1), *hired, (index, -profile.nodes_needed)]
            builder.model.add("share", f"not hired #{index}", terms, lower=0)
            taken = (own, 1)
        found.append(_Sharing(profile, units, taken))
    return found


def hired_supply(builder: Builder) -> None:
    """What is hired of an offer for several runs at the same time stays within its maximum."""
    for orders in builder.by_offer().values():
        most = orders[0].option.offer.units.max
        if most is None or len({order.workload for order in orders}) < 2:
            continue
        hires = [var for order in orders for var in order.pieces]
        for day in sorted({var.piece.lot.delivery for var in hires}):
            there = [var for var in hires if _hired_on(var, day)]
            if len({var.profile.workload for var in there if var.profile}) > 1:
                terms = [(var.index, 1) for var in there]
                builder.model.add("hired_supply", f"{orders[0].option.source} {day}", terms, upper=most)


def _hired_on(var: PieceVar, day: dt.date) -> bool:
    end = var.piece.option.end
    return end is not None and var.piece.lot.delivery <= day <= end
