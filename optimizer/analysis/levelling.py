"""Levelling: offers of several vendors for one platform on one basis.

Basis: one node of a stated number of purchase units, net of tax, in one currency at dated rates, with everything the
quote prices (support, freight, network, …). What a quote does not price is listed as missing, never guessed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from optimizer.errors import InputError, Problem
from optimizer.io.importing.vocabulary import fold, mentions
from optimizer.results import Result
from optimizer.schema.base import Money
from optimizer.schema.platform import Platform
from optimizer.schema.price import PriceState, TieredPrice
from optimizer.schema.quote import PurchaseOffer, Quote, QuoteLine
from optimizer.schema.scenario import Fx

STALE_FX_DAYS = 30
"""Older exchange rates move totals by more than rounding; major pairs drift a few per cent a month."""

HARDWARE = "hardware"
"""Name of the item that is the offer's own price."""

EXPECTED = ("support", "freight")
"""Extras every delivered and supported node needs; a quote that prices neither of them is not on the basis."""


class LevelledItem(Result):
    """One priced item per node."""

    item: str
    """Name: hardware, the role of an extra, or its own name."""
    per_node: Decimal
    """Net amount per node, in the currency of the levelling."""


class LevelledOffer(Result):
    """One offer on the common basis."""

    quote: str
    """Quote id."""
    vendor: str
    """Vendor."""
    offer: str
    """Offer name."""
    items: tuple[LevelledItem, ...]
    """What is priced."""
    per_node: Decimal | None
    """Sum per node; null when the hardware has no price or something asked for has none."""
    missing: tuple[str, ...]
    """What is not priced, or covers less than the horizon."""


class Levelling(Result):
    """Offers of one platform side by side, complete ones first, then by price."""

    platform: str
    """Platform id."""
    units: int
    """Purchase units the prices are for."""
    currency: str
    """Currency of all amounts."""
    horizon_months: int
    """Months that support has to cover."""
    rows: tuple[LevelledOffer, ...]
    """Offers."""
    notes: tuple[str, ...]
    """Rates used with their date, and what to question about them."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What offers are levelled to.

    Attributes:
        platform: The platform.
        units: Purchase units ordered.
        currency: Currency of the result.
        horizon_months: Months that support has to cover.
        today: Day the rates are judged on.
        fx: Exchange rates; None when all quotes are in ``currency``.
    """

    platform: Platform
    units: int
    currency: str
    horizon_months: int
    today: dt.date
    fx: Fx | None


def level(quotes: Sequence[Quote], basis: Basis) -> Levelling:
    """Return the purchase offers of a platform on one basis.

    Per node = (price at ``units`` + extras) / nodes, each net: amount / (1 + tax rate) where the quote includes tax,
    times its rate to the currency.

    Raises:
        InputError: An exchange rate is missing, or no quote offers the platform.
    """
    offers = [
        (quote, name, offer)
        for quote in quotes
        for name, offer in quote.offers.items()
        if isinstance(offer, PurchaseOffer) and offer.platform == basis.platform.id
    ]
    if not offers:
        raise InputError([Problem("quotes level", f"no quote sells {basis.platform.id}", "", "Name another platform")])
    rows = [_levelled(quote, name, offer, basis) for quote, name, offer in offers]
    rows.sort(key=lambda row: (row.per_node is None, bool(row.missing), row.per_node or 0, row.quote, row.offer))
    return Levelling(
        platform=basis.platform.id,
        units=basis.units,
        currency=basis.currency,
        horizon_months=basis.horizon_months,
        rows=tuple(rows),
        notes=tuple(_notes(quotes, basis)),
    )


def _levelled(quote: Quote, name: str, offer: PurchaseOffer, basis: Basis) -> LevelledOffer:
    items: list[LevelledItem] = []
    missing: list[str] = []
    unit = _unit_price(offer.price, basis.units)
    if unit is None:
        missing.append(HARDWARE)
    else:
        amount = unit.amount * _each(offer.per, basis.platform)
        items.append(_item(HARDWARE, amount, unit.currency, quote, basis))
    for line in offer.lines:
        if line.optional:
            continue
        if isinstance(line.price, PriceState) and not line.price.is_zero:
            missing.append(f"{line.item} ({line.price.value.replace('_', ' ')})")
            continue
        items.append(_extra(line, quote, basis))
        if line.months is not None and line.months < basis.horizon_months:
            missing.append(f"{line.item}: {line.months} of {basis.horizon_months} months")
    missing += [role for role in EXPECTED if not any(_kind(line.item) == role for line in offer.lines)]
    total = sum((item.per_node for item in items), Decimal(0)) if unit is not None else None
    return LevelledOffer(
        quote=quote.quote, vendor=quote.vendor, offer=name, items=tuple(items), per_node=total, missing=tuple(missing)
    )


def _unit_price(price: Money | TieredPrice | PriceState, units: int) -> Money | None:
    """Return the mean price of one priced unit at an order; None when it has no number there."""
    if isinstance(price, Money):
        return price
    if isinstance(price, PriceState):
        return Money(amount=0) if price.is_zero else None
    breaks = [(first, each) for first, each in price.breaks.items() if first <= units]
    if not breaks:
        return None
    if price.all_units:
        return breaks[-1][1]
    ends = [first - 1 for first, _ in breaks[1:]] + [units]
    total = sum(((end - first + 1) * each.amount for (first, each), end in zip(breaks, ends)), Decimal(0))
    return Money(amount=total / units, currency=breaks[0][1].currency)


def _each(per: str, platform: Platform) -> Decimal:
    """Return how many priced units one node holds: accelerators of a node, or the share of a rack."""
    if per == "accelerator":
        return Decimal(platform.accelerators_per_node)
    return Decimal(1) if per == "node" else 1 / Decimal(platform.nodes_per_unit)


def _extra(line: QuoteLine, quote: Quote, basis: Basis) -> LevelledItem:
    price = line.price if isinstance(line.price, Money) else Money(amount=0)
    nodes = Decimal(basis.units * basis.platform.nodes_per_unit)
    amount = price.amount / nodes if line.per == "order" else price.amount * _each(line.per, basis.platform)
    return _item(_kind(line.item), amount, price.currency, quote, basis)


def _item(name: str, amount: Decimal, currency: str | None, quote: Quote, basis: Basis) -> LevelledItem:
    net = amount / (1 + quote.tax.rate) if quote.tax.included else amount
    return LevelledItem(item=name, per_node=net * _rate(currency or quote.currency, basis))


def _kind(item: str) -> str:
    """Return support, freight, network, … for an extra whose name says so in any of the languages read, else its name."""
    found = mentions("roles", fold(item))
    return found[0] if found else item


def _rate(currency: str, basis: Basis) -> Decimal:
    if currency == basis.currency:
        return Decimal(1)
    rates: Mapping[str, Decimal] = {**basis.fx.rates, basis.fx.base: Decimal(1)} if basis.fx else {}
    gone = [code for code in (currency, basis.currency) if code not in rates]
    if gone:
        raise InputError(
            [Problem("fx.rates", f"no rate between {currency} and {basis.currency}", f"Expected {', '.join(gone)}")]
        )
    return rates[currency] / rates[basis.currency]


def _notes(quotes: Sequence[Quote], basis: Basis) -> Iterator[str]:
    foreign = sorted({quote.currency for quote in quotes} - {basis.currency})
    if not foreign or basis.fx is None:
        return
    age = (basis.today - basis.fx.date).days
    for code in foreign:
        if code in {**basis.fx.rates, basis.fx.base: 1}:
            yield f"1 {code} = {_rate(code, basis).normalize():f} {basis.currency}, rate of {basis.fx.date}"
    if age > STALE_FX_DAYS:
        yield f"stale exchange rates: {age} days old on {basis.today}"
