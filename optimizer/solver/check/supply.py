"""Whether every run has its nodes: capacity of its pool on its days, spares, fabric."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import combinations

from optimizer.results import WorkloadPlan
from optimizer.schema.scenario import Reliability
from optimizer.solver.check.case import Case
from optimizer.solver.check.facts import Breach, Breaches, holds


def supply_breaches(case: Case) -> Breaches:
    """Yield a breach for every run, or set of runs at the same time, with fewer nodes than it needs."""
    yield from _hire_breaches(case)
    for run in case.runs:
        yield from _fabric_breaches(case, run)
    for together in _concurrent(case):
        needed = sum(nodes_needed(case, run) for run in together)
        counted = sum(nodes for nodes, counts in _lots(case, together[0].pool, together) if counts)
        if needed > counted:
            present = sum(nodes for nodes, _ in _lots(case, together[0].pool, together))
            limit = "supply" if present < needed else "delivery"
            names = ", ".join(run.name for run in together)
            yield Breach(
                limit, f"{names} in {together[0].pool}", f"{counted} nodes that count", f"{needed} nodes needed"
            )


def _hire_breaches(case: Case) -> Breaches:
    """Yield a breach for each day on which more of an offer is hired than it has."""
    for first in (holding for holding in case.holdings if holding.hired):
        most, day = first.offer.units.max, first.first_day
        same = [one for one in case.holdings if one.label == first.label and one.first_day <= day <= case.last(one)]
        units = sum(one.award.units for one in same)
        if most is not None and len(same) > 1:
            yield from holds(units <= most, "supply", first.label, f"{units} units hired on {day}", f"{most} units")


def nodes_needed(case: Case, run: WorkloadPlan) -> int:
    """Return the nodes of a run's mode plus its spares: only for engine modes at sites of ours."""
    engine = case.scenario.workloads[run.name].architecture is not None
    if not engine or run.place not in case.scenario.sites:
        return run.nodes
    return run.nodes + spares(run.nodes, case.scenario.reliability)


def spares(nodes: int, reliability: Reliability) -> int:
    """Return the smallest k with P(Binomial(nodes + k, q) <= k) >= spare_confidence.

    q = x / (1 + x) is the share of time a node is away, x = failures per day x repair days.
    """
    away = reliability.node_failures_per_1000_days * reliability.repair_days / 1000
    k = 0
    while _at_most_away(nodes + k, k, away) < reliability.spare_confidence:
        k += 1
    return k


def _at_most_away(nodes: int, k: int, away: Decimal) -> Decimal:
    """Return P(Binomial(nodes, away / (1 + away)) <= k), term by term from none away."""
    term = (1 + away) ** -nodes
    total = term
    for i in range(k):
        term = term * away * (nodes - i) / (i + 1)
        total += term
    return total


def _concurrent(case: Case) -> Iterator[tuple[WorkloadPlan, ...]]:
    """Yield each set of runs of one pool that share a day.

    On a day the runs of a pool can all be served if and only if every subset of them needs no more nodes than
    the lots that count for at least one of them (Hall's condition).
    """
    for size in range(1, len(case.runs) + 1):
        for chosen in combinations(case.runs, size):
            one_pool = len({run.pool for run in chosen}) == 1
            if one_pool and max(run.start for run in chosen) <= min(run.end for run in chosen):
                yield chosen


def _lots(case: Case, pool: str, runs: tuple[WorkloadPlan, ...]) -> Iterator[tuple[int, bool]]:
    """Yield the nodes of each lot of a pool, and whether it counts for one of the runs."""
    for owned in case.scenario.owned:
        if f"{owned.platform}@{owned.site}" == pool:
            yield owned.nodes, True
    for holding in case.holdings:
        for lot in holding.deliveries if holding.pool == pool else ():
            yield holding.nodes(lot.units), any(case.covers(holding, lot, run) for run in runs)


def _fabric_breaches(case: Case, run: WorkloadPlan) -> Breaches:
    for holding in case.holdings:
        most = holding.offer.fabric_max_units
        if holding.joins(run) and most is not None:
            allowed = holding.nodes(most)
            yield from holds(
                run.nodes <= allowed,
                "fabric",
                f"{run.name} on {holding.label}",
                f"{run.nodes} nodes",
                f"{allowed} nodes",
            )
