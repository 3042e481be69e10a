"""Why there is no plan even with every limit lifted: facts of offers, platforms and the horizon."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from decimal import Decimal

from optimizer.cost.frame import DAY, Frame
from optimizer.results import Candidate, ConflictLimit, Rejection
from optimizer.solver.planner import Prepared
from optimizer.solver.problem import Pool, supply_nodes, window
from optimizer.units import counted


def unliftable(prepared: Prepared) -> Iterator[ConflictLimit]:
    """Yield what stands in the way of the workloads without a run; of each limit the smallest shortfall.

    Where something can be delivered and computes the run, only time or supply can be missing; where nothing computes
    it, the platforms speak; where nothing can be delivered, the offers.

    Args:
        prepared: The scenario with every limit lifted.
    """
    problem = prepared.problem
    placed = {profile.workload for profile in problem.profiles}
    for name in problem.frame.scenario.workloads:
        if name not in placed:
            yield from _causes(name, prepared)
    if len(placed) == len(problem.frame.scenario.workloads):
        yield _fact("offer", "no plan takes what is offered, whatever limits are lifted")


def _causes(name: str, prepared: Prepared) -> Iterator[ConflictLimit]:
    problem = prepared.problem
    allowed = problem.frame.scenario.workloads[name].platforms
    found = {platform: modes for (owner, platform), modes in prepared.modes.items() if owner == name}
    candidates = [mode for modes in found.values() for mode in modes.candidates]
    pools = [pool for pool in problem.pools if pool.platform.id in found]
    refused = [item for item in problem.rejections if item.platform and allowed.permits(item.platform)]
    if candidates:
        yield _missing(name, candidates, pools, prepared.problem.frame)
    elif found:
        yield from rejecting(rejection for modes in found.values() for rejection in modes.rejections)
    elif refused:
        yield from rejecting(refused)
    else:
        yield _fact("offer", f"no quote offers a platform that {name} may use")


def _fact(name: str, reason: str) -> ConflictLimit:
    return ConflictLimit.model_validate(
        {
            "name": name,
            "needed": Decimal(1),
            "available": Decimal(0),
            "unit": "offers",
            "period": None,
            "reason": reason,
        }
    )


def _missing(name: str, candidates: Iterable[Candidate], pools: Iterable[Pool], frame: Frame) -> ConflictLimit:
    """Return what the run that comes closest lacks: nodes, an earlier delivery or release, or a longer horizon."""
    pairs = [(mode, pool) for pool in pools for mode in candidates if mode.platform == pool.platform.id]
    supplied = [(mode, pool) for mode, pool in pairs if mode.nodes <= supply_nodes(pool)]
    if not supplied:
        mode, pool = min(pairs, key=lambda pair: pair[0].nodes - supply_nodes(pair[1]))
        return ConflictLimit(
            name="supply", needed=Decimal(mode.nodes), available=Decimal(supply_nodes(pool)), unit="nodes",
            period=pool.name, reason=f"offers and their lots reach {counted(supply_nodes(pool), 'node')} on {pool.name}",
        )  # fmt: skip
    release, last = window(frame.scenario.workloads[name], frame)

    def end(pair: tuple[Candidate, Pool]) -> int:
        return (_first(pair[1], release, frame) - frame.today).days + pair[0].days

    mode, pool = min(supplied, key=end)
    return _too_late(name, mode, pool, (release, last), frame)


def _first(pool: Pool, release: dt.date, frame: Frame) -> dt.date:
    ready = frame.today if pool.owned_nodes else min(pool.starts, default=frame.today)
    return max(release, ready)


def _too_late(name: str, mode: Candidate, pool: Pool, days: tuple[dt.date, dt.date], frame: Frame) -> ConflictLimit:
    release, last = days
    start = _first(pool, release, frame)
    left = (last - frame.today).days + 1
    if mode.days > left:
        return ConflictLimit(
            name="deadline", needed=Decimal(mode.days), available=Decimal(left), unit="days",
            period=f"{name}, to the end of the horizon",
            reason=f"{name} takes {counted(mode.days, 'day')} on {counted(mode.nodes, 'node')}; the horizon (horizon_months) ends after {left}",
        )  # fmt: skip
    latest = last - (mode.days - 1) * DAY
    limit = "release" if start == release and release > frame.today else "delivery"
    what = f"{name} is released" if limit == "release" else f"{pool.name} is ready"
    return ConflictLimit.model_validate(
        {
            "name": limit,
            "needed": str(latest),
            "available": str(start),
            "unit": "date",
            "period": name,
            "reason": f"{what} on {start}; with {counted(mode.days, 'day')} it must start by {latest} to end by {last},"
            " the end of the horizon (horizon_months)",
        }
    )


def rejecting(rejections: Iterable[Rejection]) -> Iterator[ConflictLimit]:
    """Yield each limit that rejects an offer or platform once, with the smallest stated need."""
    seen: dict[str, Rejection] = {}
    for rejection in rejections:
        known = seen.get(rejection.limit)
        if known is None or _shortfall(rejection) < _shortfall(known):
            seen[rejection.limit] = rejection
    for rejection in seen.values():
        where = ", ".join(filter(None, (rejection.platform, rejection.quote)))
        yield ConflictLimit(
            name=rejection.limit,
            needed=rejection.needed,
            available=rejection.available,
            unit=rejection.unit,
            period=where or None,
            reason=rejection.reason,
        )


def _shortfall(rejection: Rejection) -> Decimal:
    needed, available = rejection.needed, rejection.available
    numbers = isinstance(needed, Decimal) and isinstance(available, Decimal)
    return Decimal(needed) - Decimal(available) if numbers else Decimal("Infinity")  # type: ignore[arg-type]
