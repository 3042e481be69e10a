"""What the use of each limit that a model measures is counted in: one row for every period or place."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal

from optimizer.cost.frame import Frame
from optimizer.results import LimitName
from optimizer.schema.quote import BlockOffer
from optimizer.solver.ledger import scale_digits, scaled_up
from optimizer.solver.model import CompactModel
from optimizer.solver.offers import rack_positions, units_per_rack
from optimizer.solver.problem import (
    Pool,
    Profile,
    days_unit,
    fabric_nodes,
    margin_days,
    pools,
    supply_nodes,
    window,
)
from optimizer.solver.rules.site import WATTS, awarded_watts, owned_kw, usable_watts, watts_needed
from optimizer.units import minor_digits


@dataclass(frozen=True, slots=True)
class Row:
    """Use of one limit in one period: terms, in whole parts of its unit, against what is allowed.

    Attributes:
        period: When or where.
        terms: What the decision uses.
        allowed: What the scenario allows.
        unit: Unit in words.
        parts: Whole parts of one unit.
        rounded: Needs are rounded up to this; zero = not at all.
        extra: Parts that both sides have on top (the margin before a deadline).
        group: Rows of a group are exceeded by the same amount: the setting that would change.
        day: The day the row is about (power), or from which its days are counted (deadline).
        counts_days: Whether it counts days from ``day``.
    """

    period: str | None
    terms: Mapping[int, int]
    allowed: int
    unit: str
    parts: Decimal = Decimal(1)
    rounded: Decimal = Decimal(0)
    extra: int = 0
    group: str = ""
    day: dt.date | None = None
    counts_days: bool = False

    def amount(self, parts: int) -> Decimal:
        """Return whole parts as an amount of the unit, rounded up to what can be written."""
        exact = Decimal(parts + self.extra) / self.parts
        return exact.quantize(self.rounded, rounding=ROUND_CEILING) if self.rounded else exact


def _deadline(model: CompactModel, frame: Frame) -> list[Row]:
    """Days from today to the end of each run, and to its deadline; both with the margin kept free before it."""
    rows = []
    for name, workload in frame.scenario.workloads.items():
        margin, last = margin_days(workload, frame), window(workload, frame)[1]
        own = [(profile, index) for profile, index in model.builder.chosen.items() if profile.workload == name]
        terms = {index: (profile.run.end - frame.today).days for profile, index in own}
        allowed = (last - frame.today).days
        row = Row(name, terms, allowed, days_unit(margin), extra=margin, group=name, day=frame.today, counts_days=True)
        rows.append(row)
    return rows


def _budget(model: CompactModel, frame: Frame) -> list[Row]:
    total = frame.scenario.budget.total
    return [_money(model, None, model.builder.ledger.outflow, frame.amount(total))] if total is not None else []


def _budget_year(model: CompactModel, frame: Frame) -> list[Row]:
    years = model.builder.ledger.outflow_by_year
    limits = frame.scenario.budget.by_fiscal_year.items()
    return [_money(model, year, years.get(year, {}), frame.amount(money)) for year, money in limits]


def _money(model: CompactModel, year: str | None, booked: Mapping[int, Decimal], amount: Decimal) -> Row:
    """Return a budget as its rule counts it."""
    builder = model.builder
    currency = builder.frame.scenario.currency
    digits = scale_digits([dict(booked), {builder.one: amount}], builder.model.upper, currency)
    parts, minor = Decimal(1).scaleb(digits), Decimal(1).scaleb(-minor_digits(currency))
    allowed = int(amount.scaleb(digits))
    return Row(year, scaled_up(booked, digits), allowed, currency, parts, minor, group=year or "total")


def _power(model: CompactModel, frame: Frame) -> list[Row]:
    rows = []
    for name, site in frame.scenario.sites.items():
        owned = owned_kw(model.builder, name)
        for day, terms in awarded_watts(model.builder, name) if site.power is not None else ():
            usable = usable_watts(site.power or (), owned, day)
            row = Row(f"{name} on {day}", dict(terms), usable, "kW", Decimal(WATTS), group=name, day=day)
            rows.append(replace(row, extra=watts_needed(owned)))
    return rows


def _racks(model: CompactModel, frame: Frame) -> list[Row]:
    """Rack positions, taken together over the zones of a site that can hold the platforms of the problem."""
    rows = []
    platforms = {profile.pool.platform.id: profile.pool.platform for profile in model.builder.problem.profiles}
    for name, site in frame.scenario.sites.items():
        zones = [z for z in (site.zones or {}).values() if any(units_per_rack(p, z) for p in platforms.values())]
        known = model.builder.racks.items()
        given = {key: index for key, index in known if key.site == name and key.platform in platforms}
        for day in sorted({key.day for key in given}, key=str):
            terms = {index: rack_positions(platforms[key.platform]) for key, index in given.items() if key.day == day}
            where = f"{name} on {day}" if day else name
            rows.append(Row(where, terms, sum(zone.racks for zone in zones), "racks", group=name))
    return rows


def _supply(model: CompactModel, frame: Frame) -> list[Row]:
    """Nodes of a run with its spares, against the most its pool can have as the scenario states it."""
    if model.builder.problem.several:
        return _at_once(model, frame)
    return _by_pool(model, frame, lambda profile: profile.nodes_needed, supply_nodes)


def _fabric(model: CompactModel, frame: Frame) -> list[Row]:
    """Nodes of a run, against the largest fabric of its pool."""

    def largest(pool: Pool) -> int:
        return max((fabric_nodes(option) for option in pool.options), default=0)

    return _by_pool(model, frame, lambda profile: profile.run.candidate.nodes, largest)


def _by_pool(
    model: CompactModel, frame: Frame, needs: Callable[[Profile], int], gives: Callable[[Pool], int]
) -> list[Row]:
    """Return a row for each pool and workload: what its run needs against what the pool gives; one excess for all."""
    stated = {pool.name: gives(pool) for pool in pools(frame)[0]}
    terms: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for profile, index in model.builder.chosen.items():
        terms[profile.pool.name, profile.workload][index] = needs(profile)
    return [Row(name, own, stated.get(name, 0), "nodes") for (name, _), own in terms.items()]


def _at_once(model: CompactModel, frame: Frame) -> list[Row]:
    """Nodes of the runs of a pool on the days on which one of them starts, with their spares, against its supply."""
    stated = {pool.name: supply_nodes(pool) for pool in pools(frame)[0]}
    days = sorted({(profile.pool.name, profile.run.start) for profile in model.builder.chosen})
    rows = []
    for name, day in days:
        terms = {
            index: profile.nodes_needed
            for profile, index in model.builder.chosen.items()
            if profile.pool.name == name and profile.run.start <= day <= profile.run.end
        }
        rows.append(Row(name, terms, stated.get(name, 0), "nodes"))
    return rows


def _vendors(model: CompactModel, frame: Frame) -> list[Row]:
    """Vendors with an award: an order of each counts at least its share of one."""
    builder = model.builder
    used: dict[str, int] = {}
    for order in builder.orders:
        vendor = order.option.quote.vendor
        if vendor not in used:
            used[vendor] = model.linear.boolean(f"vendor {vendor}")
        model.linear.add("vendors", vendor, [(used[vendor], 1), (order.index, -1)], lower=0)
    most = frame.scenario.policy.vendors.max or len(used)
    return [Row(None, dict.fromkeys(used.values(), 1), most, "vendors")]


def _block_length(model: CompactModel, frame: Frame) -> list[Row]:
    """Days a block is hired, from its first day over acceptance to the end of the run, against the longest offered."""
    waits = {pool.name: _acceptance_days(pool) for pool in model.builder.problem.pools}
    chosen = model.builder.chosen.items()
    days = {index: profile.run.candidate.days + waits[profile.pool.name] for profile, index in chosen}
    offers = [offer for quote in frame.quotes.values() for offer in quote.offers.values()]
    longest = max((row.to for offer in offers if isinstance(offer, BlockOffer) for row in offer.days), default=0)
    return [Row(None, days, longest, "days")]


def _acceptance_days(pool: Pool) -> int:
    blocks = [option.lots[0] for option in pool.options if isinstance(option.offer, BlockOffer)]
    return min(((lot.ready - lot.delivery).days for lot in blocks), default=0)


MEASURES: dict[LimitName, Callable[[CompactModel, Frame], list[Row]]] = {
    "deadline": _deadline,
    "budget": _budget,
    "budget_year": _budget_year,
    "power": _power,
    "racks": _racks,
    "supply": _supply,
    "fabric": _fabric,
    "vendors": _vendors,
    "block_length": _block_length,
}
"""How the use of each limit that a model measures is counted."""
