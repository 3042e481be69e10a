"""What a careful reader would question in a scenario that is otherwise valid."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from statistics import median

from optimizer.io.consistency import horizon_end
from optimizer.io.loaded import Loaded
from optimizer.io.platform_claims import platform_claims, price_claims
from optimizer.io.prices import price_per_accelerator
from optimizer.io.remark import Remark
from optimizer.io.workload_claims import workload_claims
from optimizer.results import Amount
from optimizer.schema.quote import PriceState, Quote, RegionOffer, RentalOffer, SiteOffer
from optimizer.units import add_months

__all__ = ["Remark", "order_date", "remarks"]

SOON_DAYS = 30
"""A quote that ends within so many days of today is worth a call; usual validity is 30 to 90 days."""

STALE_FX_DAYS = 30
"""Older exchange rates move totals by more than rounding; major pairs drift a few per cent a month."""

FAR_FROM_MEDIAN = (Decimal("0.5"), Decimal(2))
"""Prices of one platform differ by tens of per cent; beyond a factor of two a unit or currency is in doubt."""


def remarks(loaded: Loaded) -> tuple[Remark, ...]:
    """Return every warning, in the order of the rules."""
    return tuple(remark for rule in _RULES for remark in rule(loaded))


def order_date(loaded: Loaded) -> dt.date:
    """Return the order date of every award."""
    return loaded.scenario.earliest_order or loaded.scenario.today


def _validity(loaded: Loaded) -> Iterator[Remark]:
    order, today = order_date(loaded), loaded.scenario.today
    for quote_id, quote in loaded.quotes.items():
        place = loaded.quote_documents[quote_id].at(("valid_until",))
        last = quote.valid_until
        if last is None:
            yield Remark(location=place, found="no validity", why="Used while policy.allow_budgetary_quotes is true")
        elif last < order:
            why = f"Expired on the order date {order}; used only with policy.allow_expired_quotes"
            yield Remark(location=place, found=f"valid until {last}", why=why)
        elif (last - today).days <= SOON_DAYS:
            why = f"Ends {(last - today).days} days after today"
            yield Remark(location=place, found=f"valid until {last}", why=why)


def _firmness(loaded: Loaded) -> Iterator[Remark]:
    for quote_id, quote in loaded.quotes.items():
        if quote.kind in ("budgetary", "list"):
            place = loaded.quote_documents[quote_id].at(("kind",))
            yield Remark(location=place, found=f"a {quote.kind} quote", why="The vendor is not bound by it")


def _exchange_rates(loaded: Loaded) -> Iterator[Remark]:
    fx, today = loaded.scenario.fx, loaded.scenario.today
    place = loaded.document.at(("fx", "date"))
    if fx and (today - fx.date).days > STALE_FX_DAYS:
        yield Remark(location=place, found=f"rates of {fx.date}", why=f"{(today - fx.date).days} days before today")
    if fx and fx.date > today:
        yield Remark(location=place, found=f"rates of {fx.date}", why="After today")


def _far_prices(loaded: Loaded) -> Iterator[Remark]:
    groups: dict[tuple[str, str], list[tuple[str, str, Decimal]]] = {}
    for quote_id, name, offer in loaded.offers():
        price = price_per_accelerator(loaded, quote_id, offer)
        kind = "hour" if isinstance(offer, RentalOffer) else offer.type.value
        if price is not None:
            groups.setdefault((offer.platform, kind), []).append((quote_id, name, price))
    for (platform, _), offers in groups.items():
        middle = median(price for _, _, price in offers)
        for quote_id, name, price in offers if len(offers) > 2 else ():
            if not FAR_FROM_MEDIAN[0] * middle <= price <= FAR_FROM_MEDIAN[1] * middle:
                place = loaded.quote_documents[quote_id].at(("offers", name, "price"))
                own, usual = (Amount.written(x, loaded.scenario.currency, ",.2f") for x in (price, middle))
                why = f"{price / middle:.2f} times the median {usual.text} of {len(offers)} offers for {platform}"
                why += "; check unit, tax and currency"
                yield Remark(location=place, found=f"{own.text} per accelerator", why=why, amounts=(own, usual))


def _unknown_prices(loaded: Loaded) -> Iterator[Remark]:
    for quote_id, name, offer in loaded.offers():
        prices = [(("offers", name, "price"), offer.price)]
        prices += [
            (("offers", name, "lines", position, "price"), line.price)  # type: ignore[misc]  # paths differ in length
            for position, line in enumerate(offer.lines)
            if not line.optional
        ]
        for path, price in prices:
            if isinstance(price, PriceState) and not price.is_zero:
                place = loaded.quote_documents[quote_id].at(path)
                yield Remark(location=place, found=f"price {price.value}", why="The offer cannot be used without it")


def _cover(loaded: Loaded) -> Iterator[Remark]:
    last = horizon_end(loaded.scenario)
    for quote_id, name, offer in loaded.offers():
        weeks = offer.lead_weeks[1] if isinstance(offer, SiteOffer) and isinstance(offer.lead_weeks, tuple) else 0
        start = order_date(loaded) + dt.timedelta(weeks=weeks)
        for position, line in enumerate(offer.lines):
            end = add_months(start, line.months) if line.months else None
            if end and end <= last:
                place = loaded.quote_documents[quote_id].at(("offers", name, "lines", position, "months"))
                why = f"Cover ends on {end}, the horizon on {last}; it is not renewed in the plan"
                yield Remark(location=place, found=f"{line.item} for {line.months} months", why=why)


def _arithmetic(loaded: Loaded) -> Iterator[Remark]:
    for quote_id, name, offer in loaded.offers():
        for position, line in enumerate(offer.lines):
            if line.printed and line.computed and line.printed != line.computed:
                place = loaded.quote_documents[quote_id].at(("offers", name, "lines", position))
                currency = loaded.quotes[quote_id].currency
                why = f"Recomputed it is {line.computed} {currency}"
                yield Remark(location=place, found=f"{line.item} printed as {line.printed} {currency}", why=why)


def _dates(loaded: Loaded) -> Iterator[Remark]:
    order, last = order_date(loaded), horizon_end(loaded.scenario)
    for quote_id, name, offer in loaded.offers():
        document = loaded.quote_documents[quote_id]
        for position, lot in enumerate(offer.lots if isinstance(offer, SiteOffer) else ()):
            if lot.date and lot.date < order:
                place = document.at(("offers", name, "lots", position, "date"))
                yield Remark(location=place, found=f"delivery on {lot.date}", why=f"Before the order date {order}")
        if isinstance(offer, RegionOffer) and offer.start and offer.start[1] < order:
            place = document.at(("offers", name, "start"))
            yield Remark(location=place, found=f"start by {offer.start[1]}", why=f"Before the order date {order}")
    for name, workload in loaded.scenario.workloads.items():
        if workload.deadline and workload.deadline > last:
            place = loaded.document.at(("workloads", name, "deadline"))
            yield Remark(location=place, found=f"deadline {workload.deadline}", why=f"After the horizon, {last}")


def _payments(loaded: Loaded) -> Iterator[Remark]:
    """Money asked for before there is an order, or in full with it."""
    for quote_id, quote in loaded.quotes.items():
        place = loaded.quote_documents[quote_id].at(("payment",))
        if quote.issued and quote.issued > order_date(loaded):
            found = f"issued {quote.issued}"
            yield Remark(location=place, found=found, why="After the order date: payment falls due before the quote")
        if _paid_at_order(quote) == 1:
            yield Remark(location=place, found="all due at order", why="No money is held back until delivery")


def _paid_at_order(quote: Quote) -> Decimal:
    return sum((part.share for part in quote.payment if part.at == "order"), Decimal(0))


def _vendors(loaded: Loaded) -> Iterator[Remark]:
    known = {quote.vendor for quote in loaded.quotes.values()}
    policy = loaded.scenario.policy.vendors
    for key, names in (("allow", policy.allow or ()), ("deny", policy.deny)):
        for position, name in enumerate(names):
            if name not in known:
                place = loaded.document.at(("policy", "vendors", key, position))
                yield Remark(location=place, found=f'"{name}"', why="No quote is from this vendor")


def _assumed(loaded: Loaded) -> Iterator[Remark]:
    if count := len(loaded.assumptions):
        why = "Nobody stated them: read them, and write down those that matter"
        yield Remark(location=loaded.document.at(()), found=f"{count} assumptions", why=why)


_RULES = (
    _validity, _firmness, _exchange_rates, _far_prices, _unknown_prices, _cover, _arithmetic, _dates, _payments,
    platform_claims, price_claims, workload_claims, _vendors, _assumed,
)  # fmt: skip
