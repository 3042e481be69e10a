"""What one order costs by its quote: tiers, pieces, tax and exchange rates.

All amounts are exact Decimals in the scenario's currency, net of the quote's tax.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from optimizer.schema.base import Money
from optimizer.schema.quote import PriceState, Quote, QuoteLine, TieredPrice
from optimizer.solver.check.case import Holding
from optimizer.solver.check.facts import Facts

ZERO = Decimal(0)


def pieces_per_unit(holding: Holding) -> int:
    """Return how many of what the price is for one purchase unit has: its accelerators, its nodes, or 1."""
    return holding.pieces(holding.offer.per.removesuffix("_hour"), 1)


@dataclass(frozen=True, slots=True)
class Part:
    """Some units of an order at one price.

    Attributes:
        units: Purchase units.
        price: Price of what the offer's ``per`` names, as written.
    """

    units: int
    price: Money


def parts(holding: Holding) -> list[Part]:
    """Return the units of an award by the price each of them has; empty when the offer is free.

    All-units: every unit at the price of the highest break reached. Incremental: each unit at its own break;
    units below the first break at the first.
    """
    price, units = holding.offer.price, holding.award.units
    if isinstance(price, PriceState):
        return []
    if isinstance(price, Money):
        return [Part(units, price)]
    reached = [(first, money) for first, money in price.breaks.items() if first <= units] or list(price.breaks.items())[
        :1
    ]
    if price.all_units is not None:
        return [Part(units, reached[-1][1])]
    firsts = [1, *(first for first, _ in reached[1:]), units + 1]
    return [Part(firsts[i + 1] - firsts[i], money) for i, (_, money) in enumerate(reached)]


def tier(holding: Holding) -> int | None:
    """Return the first quantity of the highest break reached; None without tiers."""
    price = holding.offer.price
    if not isinstance(price, TieredPrice):
        return None
    return max((first for first in price.breaks if first <= holding.award.units), default=min(price.breaks))


def net(amount: Decimal, quote: Quote) -> Decimal:
    """Return an amount without tax: amount / (1 + rate) when the quote's prices include it."""
    return amount / (1 + quote.tax.rate) if quote.tax.included else amount


def net_total(holding: Holding, facts: Facts) -> Decimal:
    """Return the net price of all units of an award (purchase; per month for a lease; per hour for a rental)."""
    gross = sum((part.units * facts.money(part.price, holding.quote.currency) for part in parts(holding)), ZERO)
    return net(gross, holding.quote) * pieces_per_unit(holding)


def quoted_unit_price(holding: Holding, facts: Facts, currency: str) -> Decimal:
    """Return the price of one purchase unit as quoted: the mean over the units of an incremental order."""
    total = ZERO
    for part in parts(holding):
        total += part.units * facts.exchange(part.price.amount, part.price.currency or holding.quote.currency, currency)
    return total * pieces_per_unit(holding) / holding.award.units


def price_currencies(holding: Holding, facts: Facts) -> set[str]:
    """Return the currencies the unit price may be stated in: as written, or the scenario's."""
    return {facts.scenario.currency} | {part.price.currency or holding.quote.currency for part in parts(holding)}


def net_line(line: QuoteLine, holding: Holding, facts: Facts) -> Decimal:
    """Return the net amount of an extra line of an award: price x count, or once per order; optional lines are zero."""
    if line.optional or isinstance(line.price, PriceState):
        return ZERO
    count = 1 if line.per == "order" else holding.pieces(line.per, holding.award.units)
    return net(facts.money(line.price, holding.quote.currency), holding.quote) * count
