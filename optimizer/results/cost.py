"""What a plan costs: lines with their factors, days of payment, cash, totals."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from optimizer.results.base import Number, Result


class Factor(Result):
    """One factor of a cost line."""

    name: str
    value: Number
    unit: str
    source: str
    base: Number | None = None
    """The stated number when the value is plus or minus a power of it; None when the value itself is stated."""
    exponent: Number | None = None
    """The exponent of that power."""


class CostLine(Result):
    """One line of the cost build-up: the product of its factors."""

    item: str
    amount: Number
    factors: tuple[Factor, ...]
    award: int | None = None
    """Position of the award it goes with; None for what several awards or nodes we have share."""
    lot: int | None = None
    """Position of the lot of the award it is for; None for what does not go by lot, and in plans of older versions."""
    schedule: int | None = None
    """Position of its days of payment in ``cost.schedules``; None in plans of older versions."""


class Payment(Result):
    """Part of a cost line that is paid on one day."""

    date: dt.date
    share: Number
    """Share of the amount; the shares of a schedule add up to 1."""


class CashItem(Result):
    """Money that moves on one day; outflow positive."""

    date: dt.date
    amount: Number
    item: str


class AfterRunCost(Result):
    """The same plan priced under one after-run policy."""

    policy: Literal["idle", "off", "sell", "use"]
    total: Number | None
    npv: Number | None


class Cost(Result):
    """What the plan costs over the horizon."""

    currency: str
    total: Number
    npv: Number
    after_run: tuple[AfterRunCost, ...]
    lines: tuple[CostLine, ...]
    by_fiscal_year: dict[str, Number]
    cash: tuple[CashItem, ...]
    schedules: tuple[tuple[Payment, ...], ...] = ()
    """Days of payment that cost lines refer to."""
    discount_rate: Number | None = None
    """Yearly rate of the present value; None in plans of older versions."""
    fiscal_year_start: int | None = None
    """First month of the fiscal years; None in plans of older versions."""
