"""Prices side by side: one accelerator, one currency, net of tax. For reading, not for planning."""

from __future__ import annotations

from decimal import Decimal

from optimizer.io.loaded import Loaded
from optimizer.schema.base import Money
from optimizer.schema.platform import Platform
from optimizer.schema.quote import Offer, Quote, TieredPrice
from optimizer.schema.scenario import Scenario


def first_price(offer: Offer) -> Money | None:
    """Return the price of the smallest order; None when it is not a number."""
    price = offer.price
    if isinstance(price, TieredPrice):
        return next(iter(price.breaks.values()))
    return price if isinstance(price, Money) else None


def accelerators_priced(per: str, platform: Platform) -> int:
    """Return the accelerators that one price is for."""
    if per.startswith("accelerator"):
        return 1
    if per.startswith("node"):
        return platform.accelerators_per_node
    return platform.accelerators_per_unit


def price_per_accelerator(loaded: Loaded, quote_id: str, offer: Offer) -> Decimal | None:
    """Return the net price of one accelerator in the scenario's currency, per hour or month where the offer is.

    The smallest order is priced; None when the price is not a number, or paid per run.
    """
    quote, price = loaded.quotes[quote_id], first_price(offer)
    if price is None or offer.per == "run":
        return None
    platform = loaded.library.platforms[offer.platform]
    gross = price.amount / accelerators_priced(offer.per, platform)
    return _net(gross, quote) * _rate(price.currency or quote.currency, loaded.scenario)


def _net(amount: Decimal, quote: Quote) -> Decimal:
    return amount / (1 + quote.tax.rate) if quote.tax.included else amount


def _rate(currency: str, scenario: Scenario) -> Decimal:
    if currency == scenario.currency or scenario.fx is None:
        return Decimal(1)
    rates = {**scenario.fx.rates, scenario.fx.base: Decimal(1)}
    return rates[currency] / rates[scenario.currency]
