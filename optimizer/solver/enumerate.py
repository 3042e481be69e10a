"""Enumeration: every decision, priced one by one. Slow, simple, and the oracle of the compact model.

It uses the pricing of ``cost`` but neither the rules nor the model: limits are looked at directly.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import combinations, product
from math import ceil, prod

from optimizer.cost.choice import Choice, Run, Taken
from optimizer.cost.frame import DAY, Frame
from optimizer.cost.option import Option, fill_lots, unit_prices
from optimizer.cost.plan_cost import Priced
from optimizer.errors import InputError
from optimizer.errors import Problem as InputProblem
from optimizer.solver.assemble import priced
from optimizer.solver.capacity import Capacity
from optimizer.solver.found import Found
from optimizer.solver.offers import rack_positions, signed_units, units_per_rack
from optimizer.solver.problem import Pool, Problem, Profile, leads, units_limit
from optimizer.solver.rules.site import power_on
from optimizer.solver.ties import TieKey, award_key, tie_key
from optimizer.solver.usage import installed_kw, units_on

MOST_DECISIONS = 200_000
"""Decisions enumerated at most; a larger problem is refused, never cut."""


NOISE_DIGITS = 9
"""Digits behind the point in which plans of equal cost agree: what divisions leave beyond them must not break ties."""


def enumerate_plans(problem: Problem) -> Found:
    """Return the best plan by trying every decision.

    Raises:
        InputError: more than ``MOST_DECISIONS`` decisions.
    """
    if problem.windows is not None:
        found = "more runs than can be listed"
        fix = "Use --solver auto, or fewer modes and offers"
        raise InputError([InputProblem("--solver enumerate", found, f"at most {MOST_DECISIONS:,} decisions", fix)])
    size = 0
    for runs in _schedules(problem):
        size += prod(len(own) for own in _menus(problem, runs))
        if problem.several and size > MOST_DECISIONS:
            break
    if size > MOST_DECISIONS:
        found = f"{size:,} decisions" if size < 10**15 else "more than 1e15 decisions"
        fix = "Use --solver auto, or fewer offers and smaller maxima"
        raise InputError([InputProblem("--solver enumerate", found, f"at most {MOST_DECISIONS:,}", fix)])
    offers = sorted({option.offer_key for option in problem.options})
    best: tuple[tuple[Decimal, ...], TieKey, Choice] | None = None
    for choice in _choices(problem):
        price = priced(choice, problem.frame)
        if _within_budget(price, problem.frame):
            key = (_objective(choice, price, problem), tie_key(choice, offers))
            if best is None or key < best[:2]:
                best = (*key, choice)
    proof = f"all {size:,} decisions were priced"
    if best is None:
        return Found("infeasible", None, None, "enumerate", proof)
    bound = abs(best[0][0]) if problem.frame.scenario.objective == "capacity" else best[0][0]
    return Found("optimal", best[2], bound, "enumerate", proof)


def _objective(choice: Choice, price: Priced, problem: Problem) -> tuple[Decimal, ...]:
    kind = problem.frame.scenario.objective
    npv = round(price.npv, NOISE_DIGITS)
    if kind == "time":
        return Decimal((choice.last_run - problem.frame.today).days), npv
    if kind == "capacity":
        return Decimal(-Capacity.of(problem).total(choice)), npv
    return (npv,)


def _schedules(problem: Problem) -> Iterator[tuple[Profile, ...]]:
    """Yield every choice of runs, one of each workload, that keeps their order and starts where it may."""
    groups: dict[str, list[Profile]] = {name: [] for name in problem.frame.scenario.workloads}
    for profile in problem.profiles:
        groups[profile.workload].append(profile)
    if prod(len(own) for own in groups.values()) > MOST_DECISIONS:
        found, fix = "more choices of runs than that alone", "Use --solver auto, or fewer modes and offers"
        raise InputError([InputProblem("--solver enumerate", found, f"at most {MOST_DECISIONS:,} decisions", fix)])
    return (runs for runs in product(*groups.values()) if _in_order(runs, problem.frame))


def _in_order(runs: Sequence[Profile], frame: Frame) -> bool:
    ends = {profile.workload: profile.run.end for profile in runs}
    for profile in runs:
        if any(ends[before] >= profile.run.start for before in frame.scenario.workloads[profile.workload].after):
            return False
        if profile.follows and not any(_ends_before(other, profile, frame) for other in runs):
            return False
    return True


def _ends_before(other: Profile, profile: Profile, frame: Frame) -> bool:
    return leads(other, profile, frame) and other.run.end + DAY == profile.run.start


Menu = list[Taken | None]


def _menus(problem: Problem, runs: Sequence[Profile]) -> list[Menu]:
    """Return, per offer (a hire: and run), every award it may become (None: none)."""
    signed, used = signed_units(problem.frame), {profile.pool.name for profile in runs}
    menus: dict[tuple[object, ...], Menu] = {}
    for pool in problem.pools:
        for option in pool.options:
            least = signed.get(option.offer_key, 0)
            if pool.name not in used and not least and problem.frame.scenario.objective != "capacity":
                continue
            for award in _takers(option, runs):
                menu = menus.setdefault((option.offer_key, award.workload), [None])
                units = _quantities(pool, award, problem, runs)
                menu += [replace(award, units=number) for number in units if option.is_hired or number >= least]
    return list(menus.values())


def _takers(option: Option, runs: Sequence[Profile]) -> Iterator[Taken]:
    """Yield the award of an option without its units: one, or (hired) one for each run that starts on its ready day."""
    starting = [p for p in runs if p.pool.name == option.pool and p.run.start == option.lots[0].ready]
    if option.is_hired:
        for profile in starting:
            end = option.hire_end(profile.run.end)
            if end is not None:
                yield Taken(replace(option, end=end), 0, profile.workload)
    elif starting or not option.follows:
        yield Taken(option, 0)


def _quantities(pool: Pool, award: Taken, problem: Problem, runs: Sequence[Profile]) -> range:
    option = award.option
    if option.is_dedicated:
        needed = next(profile.nodes_needed for profile in runs if profile.workload == award.workload)
        units = ceil(needed / pool.platform.nodes_per_unit)
        return range(units, units + 1)
    step, least = option.offer.units.step, max(option.offer.units.min, unit_prices(option, problem.frame)[0][0], 1)
    return range(ceil(least / step) * step, units_limit(pool, option, problem) + 1, step)


def _choices(problem: Problem) -> Iterator[Choice]:
    for runs in _schedules(problem):
        for picked in product(*_menus(problem, runs)):
            taken = tuple(sorted((award for award in picked if award), key=award_key))
            choice = Choice(taken, tuple(profile.run for profile in runs))
            if _holds(choice, runs, problem.frame):
                yield choice


def _holds(choice: Choice, runs: Sequence[Profile], frame: Frame) -> bool:
    return (
        _covered(choice, runs)
        and all(_one_fabric(choice, profile.run) for profile in runs)
        and _hires_hold(choice)
        and _signed(choice, frame)
        and _powered(choice, frame)
        and _racked(choice, frame)
        and _vendors(choice, frame)
    )


def _covered(choice: Choice, runs: Sequence[Profile]) -> bool:
    """Return whether on every start the runs of a pool then going on can share its nodes: Hall's condition."""
    for first in runs:
        day = first.run.start
        active = [p for p in runs if p.pool is first.pool and p.run.start <= day <= p.run.end]
        for size in range(1, len(active) + 1):
            if any(_short(choice, group) for group in combinations(active, size)):
                return False
    return True


def _short(choice: Choice, group: Sequence[Profile]) -> bool:
    """Return whether some runs of a pool need more nodes than count for one of them."""
    pool = group[0].pool
    own: dict[str, int] = {}
    nodes = pool.owned_nodes
    for award in choice.taken:
        counted = max(_ready(award, profile) for profile in group) * pool.platform.nodes_per_unit
        if award.workload is None:
            nodes += counted
        else:
            own[award.workload] = own.get(award.workload, 0) + counted
    return sum(max(0, profile.nodes_needed - own.get(profile.workload, 0)) for profile in group) > nodes


def _ready(award: Taken, profile: Profile) -> int:
    """Return the units of an award that count for a run."""
    option = award.option
    if not award.joins(profile.run) or (option.end is not None and option.end < profile.run.end):
        return 0
    return sum(units for lot, units in fill_lots(option, award.units) if lot.ready <= profile.run.start)


def _one_fabric(choice: Choice, run: Run) -> bool:
    limits = [award.option.offer.fabric_max_units for award in choice.taken if award.joins(run)]
    return all(most is None or run.candidate.nodes <= most * run.platform.nodes_per_unit for most in limits)


def _hires_hold(choice: Choice) -> bool:
    """Return whether no offer has more units hired on a day than it has."""
    hires = [award for award in choice.taken if award.workload is not None]
    for award in hires:
        most, day = award.option.offer.units.max, award.option.lots[0].delivery
        there = [
            other.units
            for other in hires
            if other.option.offer_key == award.option.offer_key
            and other.option.lots[0].delivery <= day
            and (other.option.end is None or day <= other.option.end)
        ]
        if most is not None and sum(there) > most:
            return False
    return True


def _signed(choice: Choice, frame: Frame) -> bool:
    taken: dict[tuple[str, str], int] = {}
    for award in choice.taken:
        taken[award.option.offer_key] = taken.get(award.option.offer_key, 0) + award.units
    return all(taken.get(offer, 0) >= units for offer, units in signed_units(frame).items())


def _days(choice: Choice, frame: Frame, site: str) -> set[dt.date]:
    steps = {step.from_ for step in frame.site(site).power or ()}
    lots = {lot.delivery for award in choice.taken for lot in award.option.lots}
    return {day for day in steps | lots | {frame.today} if day < frame.horizon}


def _powered(choice: Choice, frame: Frame) -> bool:
    for name, site in frame.scenario.sites.items():
        if site.power is not None:
            days = _days(choice, frame, name)
            if any(_overdrawn(choice, name, day, power_on(site.power, day), frame) for day in days):
                return False
    return True


def _overdrawn(choice: Choice, site: str, day: dt.date, usable: Decimal, frame: Frame) -> bool:
    """Return whether awards standing on a day exceed the power; nodes we have already are no decision."""
    standing = any(units_on(award, site, day) for award in choice.taken)
    return standing and installed_kw(choice, site, day, frame) > usable


def _racked(choice: Choice, frame: Frame) -> bool:
    return all(
        _fits(_units_by_platform(choice, name, day, frame), [(z, site.zones[z].racks) for z in site.zones], name, frame)
        for name, site in frame.scenario.sites.items()
        if site.zones is not None
        for day in _days(choice, frame, name)
        if any(units_on(award, name, day) for award in choice.taken)  # nodes we have already are no decision
    )


def _units_by_platform(choice: Choice, site: str, day: dt.date, frame: Frame) -> list[tuple[str, int]]:
    units: dict[str, int] = {}
    for own in frame.scenario.owned:
        if own.site == site:
            per_unit = frame.platforms[own.platform].nodes_per_unit
            units[own.platform] = units.get(own.platform, 0) + ceil(own.nodes / per_unit)
    for award in choice.taken:
        units[award.option.platform.id] = units.get(award.option.platform.id, 0) + units_on(award, site, day)
    return [(platform, count) for platform, count in units.items() if count]


def _fits(units: Sequence[tuple[str, int]], free: list[tuple[str, int]], site: str, frame: Frame) -> bool:
    """Return whether the units of each platform find racks: every split over the zones is tried."""
    if not units:
        return True
    (platform_id, count), *rest = units
    platform, zones = frame.platforms[platform_id], frame.site(site).zones or {}
    per_rack = [units_per_rack(platform, zones[zone]) for zone, _ in free]
    most = [racks // rack_positions(platform) if held else 0 for (_, racks), held in zip(free, per_rack, strict=True)]
    for used in product(*(range(number + 1) for number in most)):
        if sum(number * held for number, held in zip(used, per_rack, strict=True)) >= count:
            left = [(z, r - number * rack_positions(platform)) for (z, r), number in zip(free, used, strict=True)]
            if _fits(rest, left, site, frame):
                return True
    return False


def _vendors(choice: Choice, frame: Frame) -> bool:
    rules = frame.scenario.policy.vendors
    accelerators: dict[str, int] = {}
    for award in choice.taken:
        vendor = award.option.quote.vendor
        count = award.units * award.option.platform.accelerators_per_unit
        accelerators[vendor] = accelerators.get(vendor, 0) + count
    if rules.max is not None and len(accelerators) > rules.max:
        return False
    total = sum(accelerators.values())
    return all(total - own >= Decimal(rules.second_source_share) * total for own in accelerators.values())


def _within_budget(price: Priced, frame: Frame) -> bool:
    budget = frame.scenario.budget
    if budget.total is not None and price.outflow > frame.amount(budget.total):
        return False
    years = price.outflow_by_year
    return all(years.get(year, Decimal(0)) <= frame.amount(money) for year, money in budget.by_fiscal_year.items())
