"""Why a platform has no plan: the limit, what it needs and what there is."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal

from optimizer.cost.frame import Frame
from optimizer.results import Candidate, LimitName, Rejection
from optimizer.schema.platform import Platform
from optimizer.solve.backend import Settings
from optimizer.solve.conflict import Probe
from optimizer.solve.planner import Inputs, Modes, Prepared, prepare
from optimizer.solve.problem import Pool, supply_nodes, window
from optimizer.solve.relax import RELAXATIONS, lifted
from optimizer.solve.requirement import requirement

ORDER: tuple[LimitName, ...] = (
    "memory", "precision", "batch", "specification", "evidence", "cooling", "rack_power", "licence", "price",
    "expired", "policy", "delivery", "region", "minimum_order", "supply",
)  # fmt: skip
"""Which rejection speaks for a platform when its offers were rejected for different limits: the hardest to change first."""


def why_not(platform: Platform, own: Prepared, inputs: Inputs, known: Modes, settings: Settings) -> Rejection:
    """Return the limit that rejects a platform without a plan.

    Args:
        platform: The platform.
        own: The problem restricted to it.
        inputs: All inputs.
        known: Modes computed so far.
        settings: Solver settings.
    """
    problem, frame = own.problem, inputs.frame
    if platform.ineligible:
        return _reject(platform, "specification", "complete facts", "unknown", "", platform.ineligible)
    if not problem.pools:
        return _first(problem.rejections) or _reject(
            platform, "offer", Decimal(1), Decimal(0), "offers", "no quote offers it"
        )
    modes = [mode for (_, name), found in own.modes.items() if name == platform.id for mode in found.candidates]
    if not modes:
        return _first(problem.rejections) or _reject(
            platform,
            "supply",
            Decimal(1),
            Decimal(0),
            "modes",
            "no workload allows it or can run on the nodes it could have",
        )
    if not problem.profiles:
        return _no_profile(platform, problem.pools, modes, frame)
    return _limit(platform, inputs, known, settings)


def _reject(
    platform: Platform,
    limit: LimitName,
    needed: Decimal | str | None,
    available: Decimal | str | None,
    unit: str,
    reason: str,
) -> Rejection:
    return Rejection(platform=platform.id, limit=limit, needed=needed, available=available, unit=unit, reason=reason)


def _first(rejections: Iterable[Rejection]) -> Rejection | None:
    ranked = sorted(rejections, key=lambda r: ORDER.index(r.limit) if r.limit in ORDER else len(ORDER))
    return ranked[0] if ranked else None


def _no_profile(platform: Platform, pools: Iterable[Pool], modes: list[Candidate], frame: Frame) -> Rejection:
    """No run fits its window: capacity comes too late, is too small, or runs take too long."""
    workload = modes[0].workload
    first, last = window(frame.scenario.workloads[workload], frame)
    found = list(pools)
    ready = min((day for pool in found for day in pool.starts), default=frame.today)
    if ready > last:
        reason = f"first ready on {ready}, the last usable day is {last}"
        return _reject(platform, "delivery", _day(ready), _day(last), "date", reason)
    start = max(ready, first)
    days = (last - start).days + 1
    most = max(supply_nodes(pool) for pool in found)
    needed = min((mode.nodes for mode in modes if mode.days <= days), default=None)
    if needed is not None:
        reason = f"needs {needed} nodes to run from {start} to {last}; {most} can be supplied in time"
        return _reject(platform, "supply", Decimal(needed), Decimal(most), "nodes", reason)
    quickest = min(modes, key=lambda mode: (mode.days, mode.nodes))
    reason = f"its quickest run takes {quickest.days} days on {quickest.nodes} nodes; {days} days are left from {start} to {last}"
    return _reject(platform, "deadline", Decimal(quickest.days), Decimal(days), "days", reason)


def _day(day: dt.date) -> str:
    return day.isoformat()


def _limit(platform: Platform, inputs: Inputs, known: Modes, settings: Settings) -> Rejection:
    """Runs exist but no plan: the first limit whose lifting alone gives one, with what it would need."""
    policy = inputs.frame.scenario.policy
    allowed = policy.platforms.model_copy(update={"allow": (platform.id,)})
    scenario = inputs.frame.scenario.model_copy(update={"policy": policy.model_copy(update={"platforms": allowed})})
    alone = Frame(scenario, inputs.frame.platforms, inputs.frame.quotes)
    probe = Probe(inputs, known, settings)
    for name in RELAXATIONS:
        freed = lifted(alone, {name})
        if probe.feasible(freed):
            need = requirement(name, prepare(inputs.with_frame(freed), known).problem, alone, settings)
            reason = f"no plan within {name.replace('_', ' ')}"
            return _reject(platform, name, need.needed, need.available, need.unit, reason)
    return _reject(platform, "policy", None, None, "", "several limits together leave no plan: see explain")
