"""Enumeration: every decision, priced one by one. Slow, simple, and the oracle of the compact model.

It uses the pricing of ``cost`` but neither the rules nor the model: limits are looked at directly.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import product
from math import ceil, prod

from optimizer.cost.choice import Choice, Run, Taken
from optimizer.cost.frame import Frame
from optimizer.cost.option import Option, fill_lots, unit_prices
from optimizer.cost.plan_cost import Priced
from optimizer.errors import InputError
from optimizer.errors import Problem as InputProblem
from optimizer.solver.assemble import priced
from optimizer.solver.capacity import Capacity
from optimizer.solver.offers import rack_positions, signed_units, units_per_rack
from optimizer.solver.problem import Pool, Problem, Profile, units_limit
from optimizer.solver.rules.site import power_on
from optimizer.solver.search import Found
from optimizer.solver.ties import TieKey, tie_key
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
    size = sum(prod(len(own) for own in _menus(problem, profile)) for profile in problem.profiles)
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


def _menus(problem: Problem, profile: Profile) -> list[list[Taken | None]]:
    """Return, per offer, every award it may become (None: none)."""
    signed = signed_units(problem.frame)
    pools = [pool for pool in problem.pools if problem.anywhere or pool is profile.pool]
    menus: dict[tuple[str, str], list[Taken | None]] = {}
    for pool in pools:
        for option in pool.options:
            least = signed.get(option.offer_key, 0)
            if not least and pool is not profile.pool and problem.frame.scenario.objective != "capacity":
                continue
            menu = menus.setdefault(option.offer_key, [] if least else [None])
            units = [number for number in _quantities(pool, option, problem, profile) if number >= least]
            menu += [Taken(_hired(option, profile.run), number) for number in units]
    return list(menus.values())


def _hired(option: Option, run: Run) -> Option:
    return replace(option, end=option.hire_end(run.end)) if option.is_hired else option


def _quantities(pool: Pool, option: Option, problem: Problem, profile: Profile) -> range:
    if option.is_hired and not _for_run(option, profile):
        return range(0)
    if option.is_dedicated:
        units = ceil(profile.nodes_needed / pool.platform.nodes_per_unit)
        return range(units, units + 1)
    step, least = option.offer.units.step, max(option.offer.units.min, unit_prices(option, problem.frame)[0][0], 1)
    return range(ceil(least / step) * step, units_limit(pool, option, problem) + 1, step)


def _for_run(option: Option, profile: Profile) -> bool:
    starts = option.pool == profile.pool.name and option.lots[0].ready == profile.run.start
    return starts and option.hire_end(profile.run.end) is not None


def _choices(problem: Problem) -> Iterator[Choice]:
    for profile in problem.profiles:
        for picked in product(*_menus(problem, profile)):
            taken = tuple(sorted((award for award in picked if award), key=lambda award: award.option.key))
            choice = Choice(taken, (profile.run,))
            if _holds(choice, profile, problem.frame):
                yield choice


def _holds(choice: Choice, profile: Profile, frame: Frame) -> bool:
    return (
        _covered(choice, profile)
        and _one_fabric(choice, profile.run)
        and _powered(choice, frame)
        and _racked(choice, frame)
        and _vendors(choice, frame)
    )


def _covered(choice: Choice, profile: Profile) -> bool:
    run, nodes = profile.run, profile.pool.owned_nodes
    for award in choice.taken:
        option = award.option
        if option.pool == run.pool and (option.end is None or option.end >= run.end):
            ready = sum(units for lot, units in fill_lots(option, award.units) if lot.ready <= run.start)
            nodes += ready * option.platform.nodes_per_unit
    return nodes >= profile.nodes_needed


def _one_fabric(choice: Choice, run: Run) -> bool:
    limits = [a.option.offer.fabric_max_units for a in choice.taken if a.option.pool == run.pool]
    return all(most is None or run.candidate.nodes <= most * run.platform.nodes_per_unit for most in limits)


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
