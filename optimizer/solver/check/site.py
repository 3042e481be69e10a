"""Limits of our sites on every day on which something arrives, leaves or changes: power and racks."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from optimizer.schema.platform import Platform
from optimizer.schema.scenario import Site
from optimizer.solver.check.case import ONE_DAY, Case
from optimizer.solver.check.facts import Breach, Breaches
from optimizer.solver.check.hall import Draw, draws
from optimizer.solver.check.racks import excess, fewest


def site_breaches(case: Case) -> Breaches:
    """Yield a breach for each site and day on which power or racks do not suffice.

    On days on which nothing awarded stands at a site, its owned nodes alone are nobody's choice and no breach.
    """
    installed = list(draws(case, "provisioned", None))
    for name, site in case.scenario.sites.items():
        here = [draw for draw in installed if draw.site == name]
        for day in _event_days(case, site, here):
            if _awarded(case, name, day):
                yield from _power_breaches(name, site, here, day)
                yield from _rack_breaches(case, name, site, day)


def _awarded(case: Case, name: str, day: dt.date) -> bool:
    """Return whether a lot of an award stands at a site on a day."""
    here = (holding for holding in case.at_sites() if holding.award.place == name)
    return any(lot.day <= day <= case.last(holding) for holding in here for lot in holding.deliveries)


def _power_breaches(name: str, site: Site, here: list[Draw], day: dt.date) -> Breaches:
    used, available = power_on(here, day), power_limit(site, day)
    if available is not None and used > available:
        yield Breach("power", f"{name} on {day}", f"{used.normalize():f} kW", f"{available.normalize():f} kW")


def _rack_breaches(case: Case, name: str, site: Site, day: dt.date) -> Breaches:
    units = units_on(case, name, day)
    limit = "" if site.zones is None else excess(units, site.zones)
    if limit:
        stated = ", ".join(f"{count} x {platform.id}" for platform, count in units)
        yield Breach(limit, f"{name} on {day}", stated, "fewer units fit in its racks")


@dataclass(frozen=True, slots=True)
class SiteStep:
    """What stands at a site from a day on.

    Attributes:
        site: Name of the site.
        day: First day.
        used: Provisioned kW, or racks.
        available: What may stand there; None without a limit.
    """

    site: str
    day: dt.date
    used: Decimal
    available: Decimal | None


def power_steps(case: Case) -> Iterator[SiteStep]:
    """Yield the power of each site on each day on which what is used or available changes."""
    installed = list(draws(case, "provisioned", None))
    for name, site in case.scenario.sites.items():
        here = [draw for draw in installed if draw.site == name]
        for day in _event_days(case, site, here):
            yield SiteStep(name, day, power_on(here, day), power_limit(site, day))


def rack_steps(case: Case) -> Iterator[SiteStep]:
    """Yield the fewest racks that hold what stands at each site with zones, on each day on which that changes."""
    installed = list(draws(case, "provisioned", None))
    for name, site in case.scenario.sites.items():
        if site.zones is not None:
            racks = Decimal(sum(zone.racks for zone in site.zones.values()))
            for day in _event_days(case, site, [draw for draw in installed if draw.site == name]):
                yield SiteStep(name, day, Decimal(fewest(units_on(case, name, day), site.zones)), racks)


def power_pairs(case: Case) -> Iterator[tuple[Decimal, Decimal | None]]:
    """Yield the power used and available, kW, at each site on each day on which one of them changes."""
    return ((step.used, step.available) for step in power_steps(case))


def power_on(draws_here: list[Draw], day: dt.date) -> Decimal:
    """Return the provisioned power of a site on a day, kW."""
    return sum((draw.kw for draw in draws_here if draw.first <= day <= draw.last), Decimal(0))


def power_limit(site: Site, day: dt.date) -> Decimal | None:
    """Return the usable power on a day, kW (zero before the first step); None without a limit."""
    if site.power is None:
        return None
    return next((step.kw for step in reversed(site.power) if step.from_ <= day), Decimal(0))


def units_on(case: Case, name: str, day: dt.date) -> list[tuple[Platform, int]]:
    """Return the purchase units that stand at a site on a day, by platform; owned nodes by whole units."""
    counts: dict[str, int] = {}
    for platform_id, units, first, last in _stays(case, name):
        if first <= day <= last:
            counts[platform_id] = counts.get(platform_id, 0) + units
    return [(case.facts.platforms[key], count) for key, count in counts.items()]


def _stays(case: Case, name: str) -> Iterator[tuple[str, int, dt.date, dt.date]]:
    for owned in case.scenario.owned:
        if owned.site == name:
            units = -(-owned.nodes // case.facts.platforms[owned.platform].nodes_per_unit)
            yield owned.platform, units, case.scenario.today, case.last_day
    for holding in case.at_sites():
        for lot in holding.deliveries if holding.award.place == name else ():
            yield holding.platform.id, lot.units, lot.day, case.last(holding)


def _event_days(case: Case, site: Site, here: list[Draw]) -> list[dt.date]:
    days = {case.scenario.today} | {draw.first for draw in here} | {draw.last + ONE_DAY for draw in here}
    days |= {step.from_ for step in site.power or ()}
    return sorted(day for day in days if case.scenario.today <= day <= case.last_day)
