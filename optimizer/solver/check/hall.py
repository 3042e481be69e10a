"""Power at our sites, and what it costs: provisioned kW, colocation, energy."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from optimizer.schema.platform import NodePower, Platform
from optimizer.schema.scenario import CostEntry, Site
from optimizer.solver.check.case import Case, Holding, exact
from optimizer.solver.check.costs import PIECES, groups, last_of
from optimizer.solver.check.payments import Payment
from optimizer.units import calendar_shares

State = Literal["provisioned", "training", "idle"]


@dataclass(frozen=True, slots=True)
class Draw:
    """Power over some days at a site.

    Attributes:
        site: Name of the site.
        kw: IT power, kW; negative where another draw is replaced.
        first: First day.
        last: Last day.
    """

    site: str
    kw: Decimal
    first: dt.date
    last: dt.date


def node_kw(platform: Platform, state: State) -> Decimal:
    """Return a node's power in kW; an unknown idle draw is read as training draw, that as provisioned power."""
    power: NodePower = platform.node_power_kw
    training = power.provisioned if power.training is None else power.training
    idle = training if power.idle is None else power.idle
    value = {"provisioned": power.provisioned, "training": training, "idle": idle}[state]
    return exact(value) if value is not None else Decimal(0)  # unknown provisioned power ended the check before


def unit_kw(platform: Platform) -> Decimal:
    """Return the provisioned power of one purchase unit, kW."""
    return platform.nodes_per_unit * node_kw(platform, "provisioned")


def draws(case: Case, state: State, stop: dt.date | None) -> Iterator[Draw]:
    """Yield what stands at our sites, with the ``kw`` of ``costs`` entries.

    Args:
        case: The plan with its facts.
        state: Power of the nodes to count.
        stop: Last day of sold hardware and owned nodes; None when nothing is sold.
    """
    for owned in case.scenario.owned:
        kw = owned.nodes * node_kw(case.facts.platforms[owned.platform], state)
        yield Draw(owned.site, kw, case.scenario.today, min(case.last_day, stop) if stop else case.last_day)
    for holding in case.at_sites():
        for lot in holding.deliveries:
            kw = holding.nodes(lot.units) * node_kw(holding.platform, state)
            yield Draw(holding.award.place, kw, lot.day, last_of(case, holding, stop))
    for entry in case.scenario.costs:
        yield from _entry_draws(case, entry, stop)


def _entry_draws(case: Case, entry: CostEntry, stop: dt.date | None) -> Iterator[Draw]:
    matching = [holding for holding in case.matching(entry) if holding.award.place in case.scenario.sites]
    if entry.per in PIECES:
        for holding in matching:
            for lot in holding.deliveries:
                kw = entry.kw * holding.pieces(entry.per, lot.units)
                yield Draw(holding.award.place, kw, lot.day, last_of(case, holding, stop))
    elif entry.per != "run":
        for site in sorted({holding.award.place for holding in matching}):
            for group in groups(entry, [holding for holding in matching if holding.award.place == site]):
                yield _shared_draw(case, entry, site, group, stop)


def _shared_draw(case: Case, entry: CostEntry, site: str, group: list[Holding], stop: dt.date | None) -> Draw:
    """Draw once for a group, as long as one of its holdings has power."""
    last = max(last_of(case, holding, stop) for holding in group)
    return Draw(site, entry.kw, min(holding.first_day for holding in group), last)


def colocation_payments(case: Case, stop: dt.date | None) -> Iterator[Payment]:
    """Yield the hall cost: price per kW and month x provisioned kW, by calendar month, on its last day."""
    for draw in draws(case, "provisioned", stop):
        colocation = case.scenario.sites[draw.site].colocation
        if colocation is None:
            continue
        price = case.facts.money(colocation.per_kw_month, case.currency)
        for end, covered, days in calendar_shares(draw.first, draw.last):
            yield Payment(end, "colocation", price * draw.kw * covered / days)


def energy_payments(case: Case, stop: dt.date | None, off: dt.date | None) -> Iterator[Payment]:
    """Yield metered energy: PUE x price per kWh x 24 h x kW for each day, on the last day of its calendar month.

    Args:
        case: The plan with its facts.
        stop: Last day of what is sold; None when nothing is sold.
        off: Last day with power; None when the power stays on.
    """
    for draw in (*draws(case, "idle", stop), *_run_draws(case)):
        site = case.scenario.sites[draw.site]
        per_kw_day = 24 * site.pue * price_per_kwh(case, site)
        for end, covered, _ in calendar_shares(draw.first, min(draw.last, off) if off else draw.last):
            yield Payment(end, "energy", per_kw_day * draw.kw * covered)


def _run_draws(case: Case) -> Iterator[Draw]:
    """Yield training power instead of idle power for the nodes of each run (without spares)."""
    for run in case.runs:
        if run.place in case.scenario.sites:
            platform = case.facts.platforms[run.platform]
            kw = run.nodes * (node_kw(platform, "training") - node_kw(platform, "idle"))
            yield Draw(run.place, kw, run.start, run.end)


def price_per_kwh(case: Case, site: Site) -> Decimal:
    """Return the price per kWh, or the mean of the tariff periods weighted by their hours."""
    electricity = site.electricity
    if electricity.per_kwh is not None:
        return case.facts.money(electricity.per_kwh, case.currency)
    return sum(
        (period.hours * case.facts.money(period.per_kwh, case.currency) / 24 for period in electricity.periods),
        Decimal(0),
    )
