"""Why a platform has no plan: the limit, what it needs and what there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from optimizer.cost.frame import Frame
from optimizer.results import Amount, Candidate, LimitName, Rejection
from optimizer.schema.platform import Platform
from optimizer.solver.backend import Settings
from optimizer.solver.conflict import Probe, on_platforms, superfluous
from optimizer.solver.planner import GRID_ACCELERATORS, Inputs, Modes, Prepared, powered_nodes
from optimizer.solver.problem import Pool, fabric_nodes, supply_nodes, window
from optimizer.solver.relax import Lever, lifted
from optimizer.solver.requirement import Requirement, requirement
from optimizer.units import counted

SPEAKS_FIRST: tuple[LimitName, ...] = (
    "memory", "precision", "batch", "specification", "evidence", "cooling", "rack_power", "licence", "price",
    "expired", "policy", "delivery", "region", "minimum_order", "supply",
)  # fmt: skip
"""Which rejection speaks for a platform whose offers were rejected for different limits: the hardest to change first."""

LIFTED_FIRST: tuple[LimitName, ...] = (
    "racks", "rack_power", "cooling", "fabric", "block_length", "supply", "power", "vendors", "second_source",
    "budget_year", "budget", "deadline", "expired", "evidence", "policy",
)  # fmt: skip
"""The order in which single limits are lifted to find the one that leaves no plan: what stands in the hall first,
then money and time, last what would let in other offers."""


def why_not(platform: Platform, own: Prepared, inputs: Inputs, known: Modes, settings: Settings) -> Rejection:
    """Return the limit that rejects a platform without a plan.

    Args:
        platform: The platform.
        own: The problem restricted to it.
        inputs: All inputs.
        known: Modes computed so far.
        settings: Solver settings.
    """
    problem = own.problem
    if platform.ineligible:
        return _reject(platform, "specification", "complete facts", "unknown", "", platform.ineligible)
    rejected = hardest(problem.rejections)
    if not problem.pools:
        return rejected or _reject(platform, "offer", Decimal(1), Decimal(0), "offers", "no quote offers it")
    modes = [mode for (_, name), found in own.modes.items() if name == platform.id for mode in found.candidates]
    if not modes:
        nothing = "no workload allows it, or it can have no node"
        return rejected or _reject(platform, "supply", Decimal(1), Decimal(0), "nodes", nothing)
    if not problem.profiles:
        return _no_profile(platform, problem.pools, modes, inputs, known, settings)
    return _limit(platform, inputs, known, settings)


def _reject(
    platform: Platform,
    limit: LimitName,
    needed: Decimal | str | None,
    available: Decimal | str | None,
    unit: str,
    reason: str,
    amounts: tuple[Amount, ...] = (),
) -> Rejection:
    return Rejection(
        platform=platform.id, limit=limit, needed=needed, available=available, unit=unit, reason=reason, amounts=amounts
    )


def hardest(rejections: Iterable[Rejection]) -> Rejection | None:
    """Return the rejection whose limit is the hardest to change."""

    def rank(rejection: Rejection) -> int:
        known = rejection.limit in SPEAKS_FIRST
        return SPEAKS_FIRST.index(rejection.limit) if known else len(SPEAKS_FIRST)

    return min(rejections, key=rank, default=None)


def _no_profile(
    platform: Platform,
    found: Sequence[Pool],
    modes: Sequence[Candidate],
    inputs: Inputs,
    known: Modes,
    settings: Settings,
) -> Rejection:
    """No run fits its window: capacity comes too late, is too small, or no number of nodes is quick enough."""
    frame = inputs.frame
    name = modes[0].workload
    first, last = window(frame.scenario.workloads[name], frame)
    ready = min((day for pool in found for day in pool.starts), default=frame.today)
    if ready > last:
        reason = f"first ready on {ready}; the last usable day is {last}"
        return _reject(platform, "delivery", str(ready), str(last), "date", reason)
    start = max(ready, first)
    days = (last - start).days + 1
    possible = list(modes)
    if not all(pool.system for pool in found):
        possible += known.of(inputs, name, platform, GRID_ACCELERATORS // platform.accelerators_per_node).candidates
    needed = min((mode.nodes for mode in possible if mode.days <= days), default=None)
    if needed is None:
        quickest = min(possible, key=lambda mode: (mode.days, mode.nodes))
        takes = f"takes {counted(quickest.days, 'day')} even on {counted(quickest.nodes, 'node')}"
        reason = f"{takes}; {days} {'is' if days == 1 else 'are'} left from {start} to {last}"
        return _reject(platform, "deadline", Decimal(quickest.days), Decimal(days), "days", reason)
    purpose = f"to run from {start} to {last}"
    rejection = _too_few(platform, found, needed, purpose, frame)
    exact = _nodes_that_work(rejection.limit, _probe(platform, inputs, known, settings))
    return rejection if exact is None else _too_few(platform, found, exact, purpose, frame)


def _nodes_that_work(limit: LimitName, probe: Probe) -> int | None:
    """Return the fewest nodes with which there is a plan once a limit counted in nodes is lifted; None without one."""
    lever = Lever(limit)
    if limit not in ("supply", "fabric") or not probe.without({lever}):
        return None
    frame = probe.inputs.frame
    needed = requirement(lever, probe.prepared(lifted(frame, {lever})).problem, frame, probe.settings).needed
    return int(needed) if isinstance(needed, Decimal) else None


def _too_few(platform: Platform, found: Sequence[Pool], needed: int, purpose: str, frame: Frame) -> Rejection:
    """Say whether offers, their fabrics or power allow fewer nodes than are needed."""
    most: dict[LimitName, int] = {
        "supply": max(supply_nodes(pool) for pool in found),
        "power": max(powered_nodes(pool, frame) for pool in found),
        "fabric": max(fabric_nodes(option) for pool in found for option in pool.options),
    }
    limit = min(most, key=lambda name: most[name])
    means = {"supply": "offers reach", "power": "power feeds", "fabric": "the largest fabric joins"}[limit]
    reason = f"needs {counted(needed, 'node')} {purpose}; {means} {most[limit]}"
    return _reject(platform, limit, Decimal(needed), Decimal(most[limit]), "nodes", reason)


def _limit(platform: Platform, inputs: Inputs, known: Modes, settings: Settings) -> Rejection:
    """Runs exist but no plan: a limit that leaves none, with what it would need."""
    return missing_limit(platform, _probe(platform, inputs, known, settings))


def _probe(platform: Platform, inputs: Inputs, known: Modes, settings: Settings) -> Probe:
    return Probe(inputs.with_frame(on_platforms([platform.id], inputs.frame)), known, settings)


def missing_limit(platform: Platform, probe: Probe) -> Rejection:
    """Return the first limit whose lifting alone gives a plan, or a conflict, with what it would need."""
    stated = sorted(probe.levers, key=lambda lever: LIFTED_FIRST.index(lever.name))
    for lever in stated:
        if probe.without({lever}):
            return _missing(platform, lever, {lever}, "", probe)
    gone, _ = superfluous(probe)
    named = [lever for lever in stated if lever not in gone]
    if not named:
        return _reject(platform, "offer", None, None, "", "no plan takes it, whatever limits are lifted")
    words = "".join(f" and {lever.name.replace('_', ' ')}" for lever in named[1:])
    more = f"{words}; lifting one limit alone is not enough"
    return _missing(platform, named[0], gone | {named[0]}, more, probe)


def _missing(platform: Platform, lever: Lever, free: set[Lever], more: str, probe: Probe) -> Rejection:
    """Name a limit with what it would need while some limits are lifted."""
    frame = probe.inputs.frame
    problem = probe.prepared(lifted(frame, free)).problem
    stated = lifted(frame, free - {lever})
    need = requirement(lever, problem, stated, probe.settings, probe.prepared(frame).problem.rejections)
    reason = need.reason or _sentence(lever.name, need)
    amounts = _amounts(need) if need.unit == frame.scenario.currency and not need.reason else ()
    return _reject(platform, lever.name, need.needed, need.available, need.unit, f"{reason}{more}", amounts)


def _amounts(need: Requirement) -> tuple[Amount, ...]:
    """Return the amounts that the sentence of a budget tells."""
    figures = [(figure, at == 0) for at, figure in enumerate((need.needed, need.available))]
    return tuple(
        Amount.written(figure, need.unit, coded=coded) for figure, coded in figures if isinstance(figure, Decimal)
    )


def _sentence(name: LimitName, need: Requirement) -> str:
    words = name.replace("_", " ")
    if need.needed is None:
        return f"no plan keeps to {words}"
    where = f" ({need.period})" if need.period else ""
    needed, available = (
        f"{figure:,f}" if isinstance(figure, Decimal) else figure for figure in (need.needed, need.available)
    )
    return f"needs {needed} {need.unit}, {available} available{where}"
