"""From quotes to options: which offers can be used at all, where, and from which day; or why not."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil, floor

from optimizer.cost.entries import delay_days, extra_kw_per_unit
from optimizer.cost.frame import DAY, Frame
from optimizer.cost.items import node_kw, site_offer_sites
from optimizer.cost.option import Lot, Option, smallest_order
from optimizer.results import LimitName, Rejection
from optimizer.schema.platform import Platform
from optimizer.schema.quote import (
    DedicatedOffer,
    LeaseOffer,
    Offer,
    PriceState,
    Quote,
    RegionOffer,
    ReservedOffer,
    SiteOffer,
)
from optimizer.schema.scenario import Zone
from optimizer.units import add_months

RACK_HEIGHT_UNITS = 42
"""Height of a standard rack in rack units (EIA-310)."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An offer with its quote and platform.

    Attributes:
        quote: The quote.
        name: Name of the offer.
        offer: The offer.
        platform: Its platform.
    """

    quote: Quote
    name: str
    offer: Offer
    platform: Platform

    @property
    def system(self) -> str:
        """``quote/offer`` of a dedicated system; empty otherwise."""
        return f"{self.quote.quote}/{self.name}" if isinstance(self.offer, DedicatedOffer) else ""

    def reject(self, limit: LimitName, needed: object, available: object, unit: str, reason: str) -> Rejection:
        """Return the rejection of this offer."""
        return Rejection(
            platform=self.platform.id,
            vendor=self.quote.vendor,
            quote=f"{self.quote.quote}/{self.name}",
            limit=limit,
            needed=needed if isinstance(needed, Decimal) else None if needed is None else str(needed),
            available=available if isinstance(available, Decimal) else None if available is None else str(available),
            unit=unit,
            reason=reason,
        )


def listed(frame: Frame) -> Iterator[Listed]:
    """Yield every offer of the scenario's quotes, in order of quote id and offer name."""
    for quote_id in sorted(frame.quotes):
        quote = frame.quotes[quote_id]
        for name in sorted(quote.offers):
            offer = quote.offers[name]
            yield Listed(quote, name, offer, frame.platforms[offer.platform])


def signed_units(frame: Frame) -> dict[tuple[str, str], int]:
    """Return the units signed already (``fix``) by quote and offer: a minimum, whatever validity and policy say.

    Entries of one offer add up: each is a signature of its own.
    """
    signed: dict[tuple[str, str], int] = {}
    for fixed in frame.scenario.fix:
        key = (fixed.quote, fixed.offer)
        signed[key] = signed.get(key, 0) + fixed.units
    return signed


def rejection(entry: Listed, frame: Frame) -> Rejection | None:
    """Return why an offer cannot be used whatever the plan; None when it can."""
    signed = (entry.quote.quote, entry.name) in signed_units(frame)
    waived = () if signed else (_policy, _validity, _licence)
    checks = (_eligible, *waived, _priced, _supplied, _timed, _placed)
    return next((found for check in checks if (found := check(entry, frame))), None)


def _eligible(entry: Listed, frame: Frame) -> Rejection | None:
    reason = entry.platform.ineligible
    return entry.reject("specification", "complete facts", "unknown", "", reason) if reason else None


def _policy(entry: Listed, frame: Frame) -> Rejection | None:
    policy = frame.scenario.policy
    for choice, name, what in (
        (policy.platforms, entry.platform.id, "platforms"),
        (policy.vendors, entry.quote.vendor, "vendors"),
    ):
        if not choice.permits(name):
            stated = "denied" if name in choice.deny else "not listed"
            return entry.reject("policy", f"{name} allowed", stated, "", f"policy.{what} does not allow {name}")
    firm = entry.quote.kind in ("binding", "contract") and entry.quote.valid_until is not None
    if not firm and not policy.allow_budgetary_quotes:
        kind = entry.quote.kind if entry.quote.valid_until else "undated"
        reason = f"the quote is {kind} and policy.allow_budgetary_quotes is false"
        return entry.reject("policy", "binding quote", kind, "", reason)
    return None


def _validity(entry: Listed, frame: Frame) -> Rejection | None:
    until = entry.quote.valid_until
    if until is None or until >= frame.order_date or frame.scenario.policy.allow_expired_quotes:
        return None
    reason = f"the quote is valid until {until}, the order date is {frame.order_date} (policy.allow_expired_quotes lifts this)"
    return entry.reject("expired", frame.order_date, until, "date", reason)


def _licence(entry: Listed, frame: Frame) -> Rejection | None:
    if not entry.platform.licence_excludes_datacentre or frame.scenario.policy.allow_excluded_licence:
        return None
    reason = "licence or warranty excludes data centres (policy.allow_excluded_licence lifts this)"
    return entry.reject("licence", "data centre use", "excluded", "", reason)


def _priced(entry: Listed, frame: Frame) -> Rejection | None:
    price = entry.offer.price
    if isinstance(price, PriceState):
        reason = f"price {price.value.replace('_', ' ')}"
        return entry.reject("price", "a price", price.value, "", reason)
    for line in entry.offer.lines:
        if isinstance(line.price, PriceState) and not line.price.is_zero and not line.optional:
            reason = f"price of line {line.item}: {line.price.value.replace('_', ' ')}"
            return entry.reject("price", f"a price of {line.item}", line.price.value, "", reason)
    return None


def _supplied(entry: Listed, frame: Frame) -> Rejection | None:
    units = entry.offer.units
    least = smallest_order(entry.offer)
    if units.max is not None and units.max < least:
        limit: LimitName = "supply" if units.max == 0 else "minimum_order"
        return entry.reject(
            limit, Decimal(least), Decimal(units.max), "units", f"smallest order {least}, largest {units.max}"
        )
    return None


def _timed(entry: Listed, frame: Frame) -> Rejection | None:
    offer = entry.offer
    if isinstance(offer, SiteOffer) and offer.lead_weeks is None and not offer.lots:
        return entry.reject("delivery", "a lead time", "unknown", "", "lead time unknown")
    if isinstance(offer, SiteOffer) and (first := _lots(entry, offer, frame)[0].delivery) >= frame.horizon:
        reason = f"first delivery on {first}, the horizon ends on {frame.last_day}"
        return entry.reject("delivery", first, frame.last_day, "date", reason)
    if isinstance(offer, RegionOffer) and offer.start and _rental_window(entry, frame)[0] > offer.start[1]:
        earliest = _rental_window(entry, frame)[0]
        return entry.reject(
            "delivery", offer.start[1], earliest, "date", f"cannot start before {earliest}, last start {offer.start[1]}"
        )
    return None


def _placed(entry: Listed, frame: Frame) -> Rejection | None:
    if not isinstance(entry.offer, SiteOffer):
        return None
    sites = site_offer_sites(entry.offer, frame)
    if not sites:
        return entry.reject("region", "a site of ours", "none", "", "the scenario has no site it can be delivered to")
    found = [problem for site in sites if (problem := _site_problem(entry, site, frame))]
    return found[0] if len(found) == len(sites) else None


def _site_problem(entry: Listed, site: str, frame: Frame) -> Rejection | None:
    platform = entry.platform
    if platform.node_power_kw.provisioned is None:
        return entry.reject(
            "specification", "node power", "unknown", "kW", f"provisioned power unknown, needed at {site}"
        )
    zones = frame.site(site).zones
    if zones is None:
        return None
    if not platform.space.cooling or (platform.purchase_unit != "rack" and per_rack_by_height(platform) is None):
        return entry.reject(
            "specification", "space and cooling", "unknown", "", f"space or cooling unknown, needed at {site}"
        )
    cooled = [zone for zone in zones.values() if zone.cooling in platform.space.cooling and zone.racks]
    if not cooled:
        wanted, given = "/".join(platform.space.cooling), "/".join(sorted({zone.cooling for zone in zones.values()}))
        return entry.reject("cooling", wanted, given, "class", f"needs {wanted} cooling; {site} has {given}")
    most = max(zone.kw_per_rack for zone in cooled)
    if not any(units_per_rack(platform, zone) for zone in cooled):
        needed = rack_kw(platform)
        return entry.reject(
            "rack_power", needed, most, "kW per rack", f"one unit needs {needed} kW in a rack; {site} gives {most}"
        )
    return None


def per_rack_by_height(platform: Platform) -> int | None:
    """Return how many units fit in a rack by height; None when unknown."""
    space = platform.space
    if space.units_per_rack_max is not None:
        return space.units_per_rack_max
    return None if space.rack_units is None else floor(RACK_HEIGHT_UNITS / space.rack_units)


def rack_positions(platform: Platform) -> int:
    """Return the rack positions a rack-scale unit takes."""
    return ceil(platform.space.racks or 1)


def rack_kw(platform: Platform) -> Decimal:
    """Return the power one unit needs in each rack position it takes, kW."""
    kw = platform.nodes_per_unit * node_kw(platform)
    return kw / rack_positions(platform) if platform.purchase_unit == "rack" else kw


def units_per_rack(platform: Platform, zone: Zone) -> int:
    """Return the units one rack of a zone holds; 0 when it cannot (rack-scale: 1 when its positions can)."""
    if zone.cooling not in platform.space.cooling:
        return 0
    by_power = int(zone.kw_per_rack // rack_kw(platform))
    if platform.purchase_unit == "rack":
        return min(1, by_power)
    return min(per_rack_by_height(platform) or 0, by_power)


def site_options(entry: Listed, frame: Frame) -> Iterator[Option]:
    """Yield the options of an offer that is delivered to our sites: at once, or when power rises."""
    if not isinstance(entry.offer, SiteOffer):
        return
    for site in site_offer_sites(entry.offer, frame):
        if _site_problem(entry, site, frame) is None:
            base = _lots(entry, entry.offer, frame)
            for lots in _postponed(base, site, frame):
                if lots[0].delivery < frame.horizon:
                    yield Option(
                        entry.quote, entry.name, entry.offer, entry.platform, site, site, lots, _end(entry.offer, lots)
                    )


def _end(offer: Offer, lots: Sequence[Lot]) -> dt.date | None:
    return add_months(lots[0].delivery, offer.term_months) - DAY if isinstance(offer, LeaseOffer) else None


def _lots(entry: Listed, offer: SiteOffer, frame: Frame) -> tuple[Lot, ...]:
    earliest = max(frame.order_date, entry.platform.available_from or frame.order_date)
    wait = _wait(entry, frame)
    if offer.lots:
        days = [
            (
                None if lot.units == "rest" else lot.units,
                lot.date or frame.order_date + (7 * lot.weeks if lot.weeks is not None else lot.days or 0) * DAY,
            )
            for lot in offer.lots
        ]
    else:
        weeks = offer.lead_weeks[1] if isinstance(offer.lead_weeks, tuple) else 0
        days = [(None, frame.order_date + 7 * weeks * DAY)]
    return tuple(Lot(units, max(day, earliest), max(day, earliest) + wait) for units, day in days)


def _postponed(lots: tuple[Lot, ...], site: str, frame: Frame) -> Iterator[tuple[Lot, ...]]:
    """Yield the lots as offered, and as postponed to each later day on which the site's power rises."""
    yield lots
    steps = frame.site(site).power or ()
    levels = [Decimal(0), *(step.kw for step in steps)]
    for before, step in zip(levels, steps, strict=False):
        if step.kw > before and step.from_ > lots[0].delivery:
            moved = [max(step.from_ - lot.delivery, dt.timedelta(0)) for lot in lots]
            yield tuple(Lot(lot.units, lot.delivery + by, lot.ready + by) for lot, by in zip(lots, moved, strict=True))


def _rental_window(entry: Listed, frame: Frame) -> tuple[dt.date, dt.date]:
    """Return the first and last possible first day of a rental."""
    offer = entry.offer
    if not isinstance(offer, RegionOffer):
        raise TypeError(f"{entry.name} is not a rental")
    weeks = offer.lead_weeks[1] if isinstance(offer.lead_weeks, tuple) else 0
    days = [frame.order_date + 7 * weeks * DAY, entry.platform.available_from or frame.today]
    first = max([*days, offer.start[0]] if offer.start else days)
    return first, offer.start[1] if offer.start else frame.last_day


def rental_ready(entry: Listed, frame: Frame) -> dt.date:
    """Return the first day a run may use a rental."""
    return _rental_window(entry, frame)[0] + _wait(entry, frame)


def rental_place(entry: Listed) -> str | None:
    """Return ``vendor/region`` of a rental or dedicated system; None for an offer that is delivered to us."""
    return f"{entry.quote.vendor}/{entry.offer.region}" if isinstance(entry.offer, RegionOffer) else None


def rental_options(entry: Listed, starts: Iterable[dt.date], frame: Frame) -> Iterator[Option]:
    """Yield the options of a rental for the days on which a run of its pool may start whatever the other runs."""
    first, last = _rental_window(entry, frame)
    wanted = {start - _wait(entry, frame) for start in starts}
    if isinstance(entry.offer, ReservedOffer):
        days = {first} | {min(max(day, first), last) for day in wanted}
    else:
        days = {day for day in wanted if first <= day <= last}
    yield from (_rental(entry, day, frame) for day in sorted(days) if day < frame.horizon)


def following_options(option: Option, starts: Iterable[dt.date], frame: Frame) -> Iterator[Option]:
    """Yield the options of an offered rental for days on which a run may start after another."""
    entry = Listed(option.quote, option.name, option.offer, option.platform)
    first, last = _rental_window(entry, frame)
    days = {start - _wait(entry, frame) for start in starts}
    yield from (replace(_rental(entry, day, frame), follows=True) for day in sorted(days) if first <= day <= last)


def _rental(entry: Listed, day: dt.date, frame: Frame) -> Option:
    end = add_months(day, entry.offer.term_months) - DAY if isinstance(entry.offer, ReservedOffer) else None
    lots = (Lot(None, day, day + _wait(entry, frame)),)
    return Option(entry.quote, entry.name, entry.offer, entry.platform, str(rental_place(entry)), None, lots, end)


def _wait(entry: Listed, frame: Frame) -> dt.timedelta:
    return (entry.offer.acceptance_days + delay_days(frame, entry.offer, entry.platform)) * DAY


def unit_power_kw(option: Option, frame: Frame) -> Decimal:
    """Return what one unit takes of its site's power, kW."""
    return option.platform.nodes_per_unit * node_kw(option.platform) + extra_kw_per_unit(frame, option)
