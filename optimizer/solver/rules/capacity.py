"""Rules of a pool: runs need nodes that are there for all their days."""

from __future__ import annotations

from collections import defaultdict

from optimizer.cost.plan_cost import serves
from optimizer.solver.offers import signed_units
from optimizer.solver.problem import Pool, Profile
from optimizer.solver.variables import Builder, PieceVar, Term, mode_units


def one_run(builder: Builder) -> None:
    """Each workload takes exactly one profile."""
    for name in builder.frame.scenario.workloads:
        own = [(index, 1) for profile, index in builder.chosen.items() if profile.workload == name]
        builder.model.add("one_run", name, own, 1, 1)


def pool_use(builder: Builder) -> None:
    """An order needs a run in its pool (not when it is signed already, nor when capacity itself is the objective)."""
    if builder.frame.scenario.objective == "capacity":
        return
    kept = signed_units(builder.frame)
    for pool in builder.problem.pools:
        runs = [(index, -1) for _, index in builder.profiles_in(pool)]
        for order in builder.orders_of(pool):
            if order.option.offer_key in kept:
                continue
            builder.model.add("pool_use", builder.model.names[order.index], [(order.index, 1), *runs], upper=0)


def cover(builder: Builder) -> None:
    """Units that are ready at the start and stay to the end of a run >= its nodes (spares included).

    Profiles of a workload that the same units serve share a row: sum of nodes x units >= sum of needed nodes x profile.
    """
    for pool in builder.problem.pools:
        pieces = [var for order in builder.orders_of(pool) for var in order.pieces]
        groups: dict[tuple[str, tuple[int, ...]], list[tuple[Profile, int]]] = defaultdict(list)
        for profile, index in builder.profiles_in(pool):
            units = tuple(var.index for var in pieces if serves_run(var, profile))
            groups[profile.workload, units].append((profile, index))
        for number, ((_, units), profiles) in enumerate(groups.items()):
            needed = [(index, -_uncovered(profile, pool)) for profile, index in profiles]
            hourly = [(var.index, pool.platform.nodes_per_unit) for var in pieces if _is_for(var, profiles)]
            fixed = [(index, pool.platform.nodes_per_unit) for index in units]
            builder.model.add("cover", f"{pool.name} {number}", [*fixed, *hourly, *needed], lower=0)


def serves_run(var: PieceVar, profile: Profile) -> bool:
    """Return whether units that are not hired for a run count for it."""
    return var.profile is None and serves(var.piece, profile.run.start, profile.run.end)


def _is_for(var: PieceVar, profiles: list[tuple[Profile, int]]) -> bool:
    return any(var.profile is profile for profile, _ in profiles)


def _uncovered(profile: Profile, pool: Pool) -> int:
    return max(0, profile.nodes_needed - pool.owned_nodes)


def hourly(builder: Builder) -> None:
    """Units rented by the hour are rented for the run that is chosen."""
    for order in builder.orders:
        for var in order.pieces:
            if var.profile is not None and not order.option.is_dedicated:
                terms: list[Term] = [(var.index, 1), (builder.chosen[var.profile], -var.upper)]
                builder.model.add("hourly", builder.model.names[var.index], terms, upper=0)


def dedicated(builder: Builder) -> None:
    """A run on a dedicated system takes exactly the units it states days for."""
    for order in builder.orders:
        for var in order.pieces:
            if var.profile is not None and order.option.is_dedicated:
                terms: list[Term] = [(var.index, 1), (builder.chosen[var.profile], -mode_units(var.profile))]
                builder.model.add("dedicated", builder.model.names[var.index], terms, 0, 0)


def fabric(builder: Builder) -> None:
    """A run uses no more nodes than the smallest fabric among the awards of its pool (of hires, its own)."""
    for pool in builder.problem.pools:
        for order in builder.orders_of(pool):
            most = order.option.offer.fabric_max_units
            if most is None:
                continue
            nodes = most * pool.platform.nodes_per_unit
            larger: dict[str, list[Term]] = defaultdict(list)
            for profile, index in builder.profiles_in(pool):
                if profile.run.candidate.nodes > nodes and order.workload in (None, profile.workload):
                    larger[profile.workload].append((index, 1))
            for terms in larger.values():
                builder.model.add("fabric", builder.model.names[order.index], [(order.index, 1), *terms], upper=1)
