"""Which delivery days an award may have, and how the lots of the plan can be read.

An award states the delivery of its last lot only. Every choice the conventions allow (own days, or postponed as a whole
to a day on which the site's power rises) that ends on the stated day is one reading of the award.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from itertools import pairwise

from optimizer.results import Award
from optimizer.schema.platform import Platform
from optimizer.schema.quote import Lot, Offer, PurchaseOffer, RegionOffer, SiteOffer
from optimizer.schema.scenario import Scenario, Site
from optimizer.solver.check.case import Delivery, order_day
from optimizer.solver.check.facts import Breach, Breaches

Lead = tuple[int, int] | str | None


def power_rises(site: Site) -> list[dt.date]:
    """Return the days on which a site's power is higher than the day before (zero before the first step)."""
    steps = site.power or ()
    rises = [step.from_ for step in steps[:1] if step.kw > 0]
    return rises + [after.from_ for before, after in pairwise(steps) if after.kw > before.kw]


def own_deliveries(offer: SiteOffer, platform: Platform, units: int, scenario: Scenario) -> tuple[Delivery, ...]:
    """Return a site offer's deliveries without postponement; empty without a lead time or with too few lots."""
    order = order_day(scenario)
    earliest = max(order, platform.available_from or order)
    lots = offer.lots if isinstance(offer, PurchaseOffer) else ()
    if not lots:
        day = _after_lead(order, offer.lead_weeks)
        return () if day is None else (Delivery(units, max(day, earliest)),)
    return tuple(Delivery(count, max(_lot_day(lot, order), earliest)) for lot, count in _fill(lots, units))


def earliest_start(offer: RegionOffer, platform: Platform, scenario: Scenario) -> dt.date:
    """Return the first possible first day of a rental or a dedicated system."""
    order = order_day(scenario)
    lead = _after_lead(order, offer.lead_weeks) or order
    return max(lead, platform.available_from or order, offer.start[0] if offer.start else order)


def readings(award: Award, offer: Offer, platform: Platform, scenario: Scenario) -> list[tuple[Delivery, ...]]:
    """Return the different lots an award may consist of, given its stated delivery date; empty when none agrees."""
    if isinstance(offer, RegionOffer):
        return [(Delivery(award.units, award.delivery_date),)]
    found = []
    for choice in _choices(award, offer, platform, scenario):
        ends_as_stated = bool(choice) and max(delivery.day for delivery in choice) == award.delivery_date
        lots = tuple((delivery.units, delivery.day) for delivery in choice)
        as_listed = not award.lots or lots == tuple((lot.units, lot.delivery_date) for lot in award.lots)
        if ends_as_stated and as_listed and choice not in found:
            found.append(choice)
    return found


def delivery_breaches(where: str, award: Award, offer: Offer, platform: Platform, scenario: Scenario) -> Breaches:
    """Yield a breach when the stated delivery date is none that the offer allows."""
    if isinstance(offer, RegionOffer):
        first = earliest_start(offer, platform, scenario)
        last = offer.start[1] if offer.start else None
        stated = tuple((lot.units, lot.delivery_date) for lot in award.lots)
        if stated and stated != ((award.units, award.delivery_date),):
            yield Breach("lots", where, str(stated), f"{award.units} units on {award.delivery_date}")
        if award.delivery_date < first or (last is not None and award.delivery_date > last):
            yield Breach("delivery", where, str(award.delivery_date), f"{first} to {last or 'any later day'}")
    elif not readings(award, offer, platform, scenario):
        possible = {max(lot.day for lot in choice) for choice in _choices(award, offer, platform, scenario) if choice}
        days = " or ".join(map(str, sorted(possible))) or "no lead time, or lots of fewer units"
        yield Breach("delivery", where, str(award.delivery_date), days)


def _choices(award: Award, offer: SiteOffer, platform: Platform, scenario: Scenario) -> Iterator[tuple[Delivery, ...]]:
    own = own_deliveries(offer, platform, award.units, scenario)
    yield own
    site = scenario.sites.get(award.place)
    for rise in power_rises(site) if site and own else ():
        yield tuple(Delivery(lot.units, max(lot.day, rise)) for lot in own)


def _after_lead(order: dt.date, lead: Lead) -> dt.date | None:
    if lead == "stock":
        return order
    return order + dt.timedelta(weeks=lead[1]) if isinstance(lead, tuple) else None


def _lot_day(lot: Lot, order: dt.date) -> dt.date:
    if lot.date is not None:
        return lot.date
    return order + dt.timedelta(weeks=lot.weeks or 0, days=lot.days or 0)


def _fill(lots: tuple[Lot, ...], units: int) -> list[tuple[Lot, int]]:
    """Fill lots in their order; empty when they hold fewer units."""
    filled, left = [], units
    for lot in lots:
        count = left if lot.units == "rest" else min(lot.units, left)
        filled.append((lot, count))
        left -= count
    return [] if left else [(lot, count) for lot, count in filled if count]
