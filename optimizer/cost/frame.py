"""The fixed frame of a scenario that every amount is computed in: dates, currency, discounting."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from optimizer.errors import InputError, Problem
from optimizer.schema.base import Money
from optimizer.schema.platform import Platform
from optimizer.schema.quote import Quote
from optimizer.schema.scenario import Fx, Scenario, Site
from optimizer.units import add_months

DAY = dt.timedelta(days=1)


def exchange_rate(source: str, target: str, fx: Fx | None) -> Decimal:
    """Return the units of ``target`` that one unit of ``source`` buys.

    Raises:
        InputError: a rate is missing; names the pair.
    """
    if source == target:
        return Decimal(1)
    rates = {fx.base: Decimal(1), **fx.rates} if fx else {}
    missing = [code for code in (source, target) if code not in rates]
    if missing:
        raise InputError(
            [
                Problem(
                    "fx.rates",
                    f"no rate for {', '.join(missing)}",
                    f"{source} must be converted to {target}",
                    f"Add fx: {{date: ..., base: {target}, rates: {{{source}: ...}}}}",
                )
            ]
        )
    return rates[source] / rates[target]


@dataclass(frozen=True, eq=False)
class Frame:
    """A scenario with its library, and the dates and rates that follow from it.

    Attributes:
        scenario: The question.
        platforms: Platforms by id.
        quotes: Quotes by id.
    """

    scenario: Scenario
    platforms: Mapping[str, Platform]
    quotes: Mapping[str, Quote]
    _discounts: dict[dt.date, Decimal] = field(default_factory=dict, repr=False)

    @property
    def today(self) -> dt.date:
        """The day the question is asked."""
        return self.scenario.today

    @property
    def horizon(self) -> dt.date:
        """The first day that is no longer counted."""
        return add_months(self.today, self.scenario.horizon_months)

    @property
    def last_day(self) -> dt.date:
        """The last counted day."""
        return self.horizon - DAY

    @property
    def order_date(self) -> dt.date:
        """The order date of every award."""
        return self.scenario.earliest_order or self.today

    def site(self, name: str) -> Site:
        """Return one of our sites."""
        return self.scenario.sites[name]

    def amount(self, money: Money, currency: str | None = None) -> Decimal:
        """Return an amount in the scenario's currency; ``currency`` is that of its file."""
        source = money.currency or currency or self.scenario.currency
        return money.amount * exchange_rate(source, self.scenario.currency, self.scenario.fx)

    def rates(self, source: str) -> Iterator[tuple[str, Decimal, int, str]]:
        """Yield what converts a currency to the scenario's: (currency, its rate, power of the rate, unit of the product).

        Value of one unit: the product of rate ^ power; nothing for the scenario's own currency.

        Raises:
            InputError: a rate is missing; names the pair.
        """
        target, fx = self.scenario.currency, self.scenario.fx
        exchange_rate(source, target, fx)
        if fx is None or source == target:
            return
        known = {fx.base: Decimal(1), **fx.rates}
        if known[source] != 1:
            yield source, known[source], 1, f"{fx.base} per {source}"
        if known[target] != 1:
            yield target, known[target], -1, f"{target} per {fx.base}"

    def discount(self, day: dt.date) -> Decimal:
        """Return 1 / (1 + rate) ^ ((day - today) / 365)."""
        known = self._discounts.get(day)
        if known is None:
            rate = self.scenario.finance.discount_rate
            exponent = Decimal((day - self.today).days) / 365
            known = (1 + rate) ** -exponent if rate else Decimal(1)
            self._discounts[day] = known
        return known

    def weight(self, day: dt.date) -> Decimal:
        """Return what one unit of money that budgets count is worth when it is paid on a day: its present value."""
        return self.discount(day)
