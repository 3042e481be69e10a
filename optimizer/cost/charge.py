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
from optimizer.units import calendar_shares


class Factor(NamedTuple):
    """One factor of a charge."""

    name: str
    value: Decimal
    unit: str
    source: str


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
    """

    item: str
    factors: tuple[Factor, ...]
    cash: Cash
    budget: bool = True
    contingent: bool = False

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
