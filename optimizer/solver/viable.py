"""Which runs a limit rules out by itself: cheap necessary conditions, so that most never enter a model.

Each run needs its nodes installed from its first to its last day. What the least of that costs, draws and occupies is
known without a solver; where no run is left, a scenario is infeasible in milliseconds.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from math import ceil

from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.cost.items import node_kw
from optimizer.solver.backend import Outcome, Settings
from optimizer.solver.bounds import MARGIN, cost_bounder
from optimizer.solver.cpsat import CpSat
from optimizer.solver.model import build_model, feasibility_model
from optimizer.solver.offers import rack_positions, unit_power_kw, units_per_rack
from optimizer.solver.problem import Pool, Problem, Profile
from optimizer.solver.relaxation import first_proof
from optimizer.solver.rules.site import power_on
from optimizer.solver.search import PROMISING, first_choice, has_plan, spread


def promising(problem: Problem) -> Problem:
    """Return the problem with some runs that are cheap for their pool: mostly enough to find a plan if there is one."""
    ranked = sorted(problem.profiles, key=cost_bounder(problem))
    names = problem.frame.scenario.workloads
    kept = {own for name in names for own in spread([profile for profile in ranked if profile.workload == name])}
    return problem.keep(profile for profile in problem.profiles if profile in kept)


def viable(problem: Problem) -> Problem:
    """Return the problem with only the runs that power, racks and the total budget allow by themselves.

    The budget is asked only where cash is all a plan's value is made of (``conflict.spending``): no discount, no receipts.
    """
    if problem.windows is not None:  # these are only the earliest runs of their modes
        return problem
    tests = [_fits_power(problem.frame), _fits_racks(problem.frame), _fits_budget(problem)]
    kept = [profile for profile in problem.profiles if all(test(profile) for test in tests)]
    return problem if len(kept) == len(problem.profiles) else problem.keep(kept)


def feasible(problem: Problem, settings: Settings) -> bool | None:
    """Return whether a problem has a plan; None when the effort ran out."""
    if {profile.workload for profile in problem.profiles} != set(problem.frame.scenario.workloads):
        return False
    if problem.windows is not None:
        answer = first_proof(problem, settings).answer
        return False if answer is not None else has_plan(problem, settings)
    if len(problem.profiles) > PROMISING and _outcome(promising(problem), settings) in ("optimal", "feasible"):
        return True
    outcome = _outcome(problem, settings)
    return None if outcome == "unknown" else outcome != "infeasible"


def some_plan(problem: Problem, settings: Settings) -> Choice | None:
    """Return a plan of a problem, the same one every time; None when none was found."""
    if problem.windows is not None:
        return first_choice(problem, replace(settings, workers=1))
    found = viable(problem)
    single = replace(settings, workers=1)
    for part in (promising(found), found) if len(found.profiles) > PROMISING else (found,):
        model = build_model(part)
        answer = CpSat().solve(model.linear, {}, single)
        if answer.values:
            return model.choice(answer.values)
    return None


def _outcome(problem: Problem, settings: Settings) -> Outcome:
    return CpSat().solve(feasibility_model(problem), {}, settings).outcome


_Test = Callable[[Profile], bool]


def _fits_budget(problem: Problem) -> _Test:
    frame = problem.frame
    total, finance = frame.scenario.budget.total, frame.scenario.finance
    plain = (
        finance.discount_rate == 0 and finance.residual is None and frame.scenario.after_run.policy in ("idle", "off")
    )
    if total is None or not plain:
        return lambda profile: True
    bound, most = cost_bounder(problem), float(frame.amount(total))
    limit = most + MARGIN * max(1.0, most)
    return lambda profile: bound(profile) <= limit


def _units(profile: Profile) -> int:
    """Return the units a run needs on top of what is there."""
    missing = max(0, profile.nodes_needed - profile.pool.owned_nodes)
    return ceil(missing / profile.pool.platform.nodes_per_unit)


def _fits_power(frame: Frame) -> _Test:
    least: dict[tuple[str, dt.date, dt.date], Decimal] = {}
    each: dict[str, Decimal] = {}

    def fits(profile: Profile) -> bool:
        site, units = profile.pool.site, _units(profile)
        if site is None or frame.site(site).power is None or not units:
            return True
        span = (site, profile.run.start, profile.run.end)
        if span not in least:
            least[span] = _least_power(*span, frame)
        if profile.pool.name not in each:
            each[profile.pool.name] = min(unit_power_kw(option, frame) for option in profile.pool.options)
        return units * each[profile.pool.name] <= least[span]

    return fits


def _least_power(site: str, first: dt.date, last: dt.date, frame: Frame) -> Decimal:
    """Return the least power left for awards on any day between two, kW."""
    steps = frame.site(site).power or ()
    days = {first, *(step.from_ for step in steps if first <= step.from_ <= last)}
    owned = (own.nodes * node_kw(frame.platforms[own.platform]) for own in frame.scenario.owned if own.site == site)
    return max(Decimal(0), min(power_on(steps, day) for day in days) - sum(owned, Decimal(0)))


def _fits_racks(frame: Frame) -> _Test:
    room: dict[str, int | None] = {}

    def fits(profile: Profile) -> bool:
        if profile.pool.name not in room:
            room[profile.pool.name] = _room(profile.pool, frame)
        most = room[profile.pool.name]
        return most is None or not _units(profile) or _units(profile) <= most

    return fits


def _room(pool: Pool, frame: Frame) -> int | None:
    """Return the units the zones of a site hold of a platform, those we have included; None = no limit."""
    zones = frame.site(pool.site).zones if pool.site else None
    if zones is None:
        return None
    positions = rack_positions(pool.platform)
    return sum(zone.racks // positions * units_per_rack(pool.platform, zone) for zone in zones.values())
