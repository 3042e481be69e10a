"""A charge: one product of factors, paid on stated days."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from math import prod
from typing import NamedTuple

from optimizer.cost.frame import Frame
from optimizer.schema.base import Money
from optimizer.units import calendar_shares


class Factor(NamedTuple):
    """One factor of a charge.

    Attributes:
        name: What it is.
        value: The number.
        unit: Its unit.
        source: Where it comes from.
        parts: Factors whose product is the value, when several stated numbers are behind it.
        base: The stated number behind a power; the value is plus or minus base ^ exponent.
        exponent: The exponent of that power.
    """

    name: str
    value: Decimal
    unit: str
    source: str
    parts: tuple[Factor, ...] = ()
    base: Decimal | None = None
    exponent: Decimal | None = None


EXCHANGE_RATE = "exchange rate"
"""How the name of a factor begins that turns an amount of one currency into another."""

WITHOUT_TAX = "without tax"
"""Name of the factor that takes the tax out of a price that includes it."""

BY_THE_DAY = "hours per day"
"""Name of the factor of what is rented for so many days."""

BEYOND_COMMITMENT = "hours beyond commitment"
"""Name of the factor that counts the hours of reserved capacity that are paid by use."""


def stated(name: str, money: Money, unit: str, source: str, frame: Frame, currency: str | None = None) -> Factor:
    """Return an amount as a file states it, in the scenario's currency.

    Its parts are the amount as written and the exchange rates.

    Args:
        name: What it is.
        money: The amount as written.
        unit: What it is for: ``per node``.
        source: Where it stands.
        frame: Dates and rates.
        currency: Currency of its file; default the scenario's.

    Raises:
        InputError: a rate is missing.
    """
    written = money.currency or currency or frame.scenario.currency
    amount = Factor(name, money.amount, f"{written} {unit}", source)
    value = frame.amount(money, currency)
    return Factor(name, value, f"{frame.scenario.currency} {unit}", source, (amount, *exchange_factors(written, frame)))


def exchange_factors(written: str, frame: Frame) -> tuple[Factor, ...]:
    """Return the exchange rates that turn an amount of a currency into the scenario's."""
    day = frame.scenario.fx.date if frame.scenario.fx else None
    return tuple(
        power(f"{EXCHANGE_RATE} {code}", rate, Decimal(exponent), unit, f"scenario fx, {day}")
        for code, rate, exponent, unit in frame.rates(written)
    )


def power(name: str, base: Decimal, exponent: Decimal, unit: str, source: str, sign: int = 1) -> Factor:
    """Return ``sign`` x base ^ exponent as a factor; a first power is the stated number itself."""
    if exponent == 1 and sign == 1:
        return Factor(name, base, unit, source)
    return Factor(name, sign * base**exponent, unit, source, (), base, exponent)


Cash = tuple[tuple[dt.date, Decimal], ...]
"""Days with the share of the amount paid on each; shares add up to 1."""


@dataclass(frozen=True, slots=True)
class Charge:
    """An amount (the product of its factors) and when it is paid; receipts are negative.

    Attributes:
        item: Name of the cost line.
        factors: Their product is the amount, in the scenario's currency.
        cash: Day -> share of the amount.
        budget: Whether budgets count it (residual and after-run value do not).
        contingent: Whether contingency is added on it.
        award: Index of the award it goes with; None for what several share.
        lot: Index of the lot of the award it is for; None for what does not go by lot.
    """

    item: str
    factors: tuple[Factor, ...]
    cash: Cash
    budget: bool = True
    contingent: bool = False
    award: int | None = None
    lot: int | None = None

    @property
    def amount(self) -> Decimal:
        """The product of the factors."""
        return prod((factor.value for factor in self.factors), start=Decimal(1))

    def times(self, *factors: Factor) -> Charge:
        """Return the charge with further factors."""
        return replace(self, factors=(*factors, *self.factors))

    def also(self, item: str, factor: Factor) -> Charge:
        """Return a charge on top of this one, in proportion and on the same days."""
        return replace(self, item=item, factors=(*self.factors, factor), contingent=False)


def on_day(day: dt.date) -> Cash:
    """Everything on one day."""
    return ((day, Decimal(1)),)


def spread(parts: Iterable[tuple[dt.date, Decimal]]) -> tuple[Decimal, Cash]:
    """Return the sum of weighted days and the shares each day has of it."""
    kept = [(day, weight) for day, weight in parts if weight]
    total = sum((weight for _, weight in kept), Decimal(0))
    return total, tuple((day, weight / total) for day, weight in kept)


@lru_cache(maxsize=1 << 16)  # a plan has few dates, a search asks for them again and again
def months(first: dt.date, last: dt.date) -> tuple[Decimal, Cash]:
    """Return the months between two days (both counted), and their shares by month end."""
    return spread((end, Decimal(covered) / length) for end, covered, length in calendar_shares(first, last))


@lru_cache(maxsize=1 << 16)
def days(first: dt.date, last: dt.date) -> tuple[Decimal, Cash]:
    """Return the days between two days (both counted), and their shares by month end."""
    return spread((end, Decimal(covered)) for end, covered, _ in calendar_shares(first, last))


def with_contingency(charges: Sequence[Charge], frame: Frame) -> list[Charge]:
    """Add the contingency on the charges that carry it."""
    share = frame.scenario.policy.contingency
    if not share:
        return list(charges)
    factor = Factor("contingency", share, "share", "scenario policy.contingency")
    return [*charges, *(charge.also("contingency", factor) for charge in charges if charge.contingent)]
