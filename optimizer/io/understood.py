"""``check``: what was understood of a scenario, and what to question."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from optimizer.io.consistency import horizon_end
from optimizer.io.loaded import Loaded
from optimizer.io.prices import price_per_accelerator
from optimizer.io.warnings import Remark, order_date, remarks
from optimizer.results import AssumptionUsed, Number, Result
from optimizer.schema.quote import Offer, RegionOffer, RentalOffer, SiteOffer
from optimizer.units import round_money


class UnderstoodOffer(Result):
    """One offer as the plan will read it."""

    quote: str
    offer: str
    vendor: str
    kind: str
    platform: str
    type: str
    price_per_accelerator: Number | None
    """Net, for the smallest order, in the scenario's currency; null = the price is not a number."""
    per: str
    """``once``, ``month``, ``hour`` or ``run``."""
    available: dt.date | None
    """Delivery or start when ordered on the order date, late end; null = unknown."""
    units_max: int | None
    """Largest order; null = no limit."""
    valid_until: dt.date | None
    """Last valid day of the quote; null = unknown."""


class UnderstoodWorkload(Result):
    """One workload in numbers."""

    name: str
    architecture: str | None
    tokens: Number | None
    release: dt.date
    """First day it may run."""
    last_day: dt.date
    """Last day it may use, margin taken off."""
    modes: int
    """Stated modes; 0 = the engine predicts."""


class Understood(Result):
    """What was read."""

    scenario: str
    today: dt.date
    order_date: dt.date
    horizon_end: dt.date
    """Last counted day."""
    currency: str
    objective: str
    budget: Number | None
    """null = no limit."""
    workloads: tuple[UnderstoodWorkload, ...]
    sites: tuple[str, ...]
    offers: tuple[UnderstoodOffer, ...]
    assumptions: tuple[AssumptionUsed, ...]


class Check(Result):
    """The answer of ``check``."""

    understood: Understood
    warnings: tuple[Remark, ...]


class Checks(Result):
    """The answer of ``check`` for several scenarios."""

    checks: tuple[Check, ...]


def check_scenario(loaded: Loaded) -> Check:
    """Return what was understood and every warning; nothing is solved."""
    scenario, budget = loaded.scenario, loaded.scenario.budget.total
    understood = Understood(
        scenario=scenario.name or "",
        today=scenario.today,
        order_date=order_date(loaded),
        horizon_end=horizon_end(scenario),
        currency=scenario.currency,
        objective=scenario.objective,
        budget=budget.amount if budget else None,
        workloads=_workloads(loaded),
        sites=tuple(scenario.sites),
        offers=tuple(_offer(loaded, quote_id, name, offer) for quote_id, name, offer in loaded.offers()),
        assumptions=loaded.assumptions,
    )
    return Check(understood=understood, warnings=remarks(loaded))


def _workloads(loaded: Loaded) -> tuple[UnderstoodWorkload, ...]:
    end, today = horizon_end(loaded.scenario), loaded.scenario.today
    return tuple(
        UnderstoodWorkload(
            name=name,
            architecture=work.architecture,
            tokens=work.tokens,
            release=max(work.release or today, today),
            last_day=min((work.deadline or end) - dt.timedelta(days=work.deadline_margin_days), end),
            modes=len(work.modes),
        )
        for name, work in loaded.scenario.workloads.items()
    )


def _offer(loaded: Loaded, quote_id: str, name: str, offer: Offer) -> UnderstoodOffer:
    quote = loaded.quotes[quote_id]
    price = price_per_accelerator(loaded, quote_id, offer)
    return UnderstoodOffer(
        quote=quote_id,
        offer=name,
        vendor=quote.vendor,
        kind=quote.kind,
        platform=offer.platform,
        type=offer.type,
        price_per_accelerator=None if price is None else _cents(price, loaded.scenario.currency),
        per=_period(offer),
        available=_available(loaded, offer),
        units_max=offer.units.max,
        valid_until=quote.valid_until,
    )


def _cents(price: Decimal, currency: str) -> Decimal:
    """Hourly prices keep four significant digits; amounts are rounded to the minor unit."""
    return round_money(price, currency) if price >= 100 else price.quantize(Decimal("0.0001"))


def _period(offer: Offer) -> str:
    if isinstance(offer, RentalOffer):
        return "hour"
    return {"lease": "month", "dedicated": "run"}.get(offer.type, "once")


def _available(loaded: Loaded, offer: Offer) -> dt.date | None:
    """Return the date of the last lot or the late end of the lead time, as if ordered on the order date."""
    order = order_date(loaded)
    if isinstance(offer, SiteOffer) and offer.lots:
        return max(lot.date or order + dt.timedelta(weeks=lot.weeks or 0, days=lot.days or 0) for lot in offer.lots)
    weeks = offer.lead_weeks
    if weeks is None and isinstance(offer, SiteOffer):
        return None
    day = order + dt.timedelta(weeks=weeks[1]) if isinstance(weeks, tuple) else order
    return max(day, offer.start[0]) if isinstance(offer, RegionOffer) and offer.start else day
