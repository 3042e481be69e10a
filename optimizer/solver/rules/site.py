"""Rules of our sites: IT power by date, racks by zone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from optimizer.cost.entries import shared_kw_entries
from optimizer.cost.items import node_kw
from optimizer.schema.scenario import CostEntry, PowerStep, Zone
from optimizer.solver.offers import rack_positions, unit_power_kw, units_per_rack
from optimizer.solver.problem import Pool
from optimizer.solver.variables import Builder, Order, PieceVar, RackKey, Term

WATTS = 1000
"""Rows count whole watts: demand rounded up, limits down."""


def watts_needed(kw: Decimal) -> int:
    """Return power in whole watts, rounded up."""
    return int((kw * WATTS).to_integral_value(ROUND_CEILING))


def power_on(steps: Iterable[PowerStep], day: dt.date) -> Decimal:
    """Return the IT power usable on a day, kW; zero before the first step."""
    reached = [step.kw for step in steps if step.from_ <= day]
    return reached[-1] if reached else Decimal(0)


def present(order: Order, var: PieceVar, day: dt.date) -> bool:
    """Return whether units of a piece stand at their site on a day."""
    return var.piece.lot.delivery <= day and (order.option.end is None or order.option.end >= day)


def site_pools(builder: Builder, site: str) -> list[Pool]:
    """Return the pools at a site."""
    return [pool for pool in builder.problem.pools if pool.site == site]


def event_days(builder: Builder, site: str) -> list[dt.date]:
    """Return the days on which what stands at a site, or its power, may change."""
    orders = [order for pool in site_pools(builder, site) for order in builder.orders_of(pool)]
    deliveries = {var.piece.lot.delivery for order in orders for var in order.pieces}
    steps = {step.from_ for step in builder.frame.site(site).power or ()}
    days = deliveries | steps | {builder.frame.today}
    return sorted(day for day in days if day < builder.frame.horizon)


def power(builder: Builder) -> None:
    """On every event day: sum of provisioned power of what stands there <= the power usable on that day."""
    for name, site in builder.frame.scenario.sites.items():
        if site.power is None:
            continue
        owned = owned_kw(builder, name)
        for day, terms in awarded_watts(builder, name):
            usable = usable_watts(site.power, owned, day)
            if terms and usable < builder.model.magnitude(terms):
                builder.model.add("power", f"{name} {day}", terms, upper=usable)


def owned_kw(builder: Builder, site: str) -> Decimal:
    """Return the provisioned power of the nodes we have at a site, kW."""
    pools = (pool for pool in site_pools(builder, site) if pool.owned_nodes)
    return sum((pool.owned_nodes * node_kw(pool.platform) for pool in pools), Decimal(0))


def usable_watts(steps: Iterable[PowerStep], owned: Decimal, day: dt.date) -> int:
    """Return the power of a day that is left for awards, in watts: nodes we have already are no decision."""
    left = max(power_on(steps, day) - owned, Decimal(0))
    return int((left * WATTS).to_integral_value(ROUND_FLOOR))


def awarded_watts(builder: Builder, site: str) -> Iterator[tuple[dt.date, list[Term]]]:
    """Yield each event day with the provisioned power of the awards that stand at a site, in watts."""
    orders = [order for pool in site_pools(builder, site) for order in builder.orders_of(pool)]
    for day in event_days(builder, site):
        units = [term for order in orders for term in _watts(builder, order, day)]
        yield day, [*units, *_shared_watts(builder, site, day)]


def _watts(builder: Builder, order: Order, day: dt.date) -> Iterator[Term]:
    per_unit = watts_needed(unit_power_kw(order.option, builder.frame))
    return ((var.index, per_unit) for var in order.pieces if present(order, var, day))


def _shared_watts(builder: Builder, site: str, day: dt.date) -> Iterator[Term]:
    """Yield the power of cluster and platform entries, once at a site with a matching award on a day."""
    groups: dict[tuple[str, str], tuple[CostEntry, list[Order]]] = {}
    for pool in site_pools(builder, site):
        for order in builder.orders_of(pool):
            if any(present(order, var, day) for var in order.pieces):
                for entry in shared_kw_entries(builder.frame, order.option):
                    key = (entry.name, pool.platform.id if entry.per == "platform" else "")
                    groups.setdefault(key, (entry, []))[1].append(order)
    for (name, platform), (entry, orders) in groups.items():
        used = builder.model.boolean(f"draws {name} {platform} {site} {day}")
        for order in orders:
            builder.model.add("power", f"{name} {site} {day}", [(used, 1), (order.index, -1)], lower=0)
        yield used, watts_needed(entry.kw)


def racks(builder: Builder) -> None:
    """On every event day the units of each platform fit the racks given to it, and racks fit their zone.

    What is bought stays, so racks are given once; where leases may end, they are given anew on each event day.
    """
    for name, site in builder.frame.scenario.sites.items():
        if site.zones is None:
            continue
        pools = site_pools(builder, name)
        ending = any(order.option.end is not None for pool in pools for order in builder.orders_of(pool))
        days = event_days(builder, name)
        for day in days:
            for pool in pools:
                _fit(builder, pool, day, day if ending else None)
        for period in days if ending else [None]:
            _within_zones(builder, name, site.zones, period)


def _within_zones(builder: Builder, site: str, zones: Mapping[str, Zone], period: dt.date | None) -> None:
    for zone, facts in zones.items():
        terms = [
            (index, rack_positions(builder.frame.platforms[key.platform]))
            for key, index in builder.racks.items()
            if (key.site, key.day, key.zone) == (site, period, zone)
        ]
        if terms:
            when = f" {period}" if period else ""
            builder.model.add("racks", f"{site}/{zone}{when}", terms, upper=facts.racks)


def _fit(builder: Builder, pool: Pool, day: dt.date, period: dt.date | None) -> None:
    """Units standing there on a day <= sum over zones of racks given x units per rack."""
    units = [(v.index, 1) for o in builder.orders_of(pool) for v in o.pieces if present(o, v, day)]
    if not units and not pool.owned_nodes:
        return
    zones = builder.frame.site(str(pool.site)).zones or {}
    held = {zone: units_per_rack(pool.platform, facts) for zone, facts in zones.items()}
    space = [
        (_given(builder, RackKey(str(pool.site), period, pool.platform.id, zone), zones[zone]), -count)
        for zone, count in held.items()
        if count
    ]
    builder.model.add("racks", f"{pool.name} {day}", [*units, *space], upper=-_owned_units(pool, zones, held))


def _owned_units(pool: Pool, zones: Mapping[str, Zone], held: Mapping[str, int]) -> int:
    """Units we have, at most what the zones hold: nodes we have already are no decision, but leave no room."""
    most = sum(zones[zone].racks // rack_positions(pool.platform) * count for zone, count in held.items())
    return min(-(-pool.owned_nodes // pool.platform.nodes_per_unit), most)


def _given(builder: Builder, key: RackKey, zone: Zone) -> int:
    if key not in builder.racks:
        when = f" {key.day}" if key.day else ""
        name = f"racks {key.platform}@{key.site} {key.zone}{when}"
        builder.racks[key] = builder.model.integer(name, 0, zone.racks)
    return builder.racks[key]
