"""How far uncertain inputs may move (``models/ranges.yaml``)."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Literal

from pydantic import model_validator

from optimizer.schema.base import Exact, Frozen, Source


class Assumed(Frozen):
    """Who assumes something, and since when; to be replaced by whoever knows better."""

    by: str
    """Owner of the assumption."""
    date: dt.date
    """Day it was made."""


class Range(Frozen):
    """Low and high end of one input, from evidence or by assumption."""

    how: Literal["times", "plus", "set"]
    """Multiples of the scenario's value, additions to it, or absolute values."""
    low: Exact
    """Low end."""
    high: Exact
    """High end."""
    note: str
    """What it rests on, in one sentence."""
    source: Source | None = None
    """Where the evidence is; or"""
    assumed: Assumed | None = None
    """who assumes it: exactly one of them."""

    @model_validator(mode="after")
    def _upright(self) -> Range:
        if self.low > self.high:
            raise ValueError(f"low {self.low} is above high {self.high}")
        if (self.source is None) == (self.assumed is None):
            raise ValueError("a range has either a source or an owner who assumes it (assumed: {by, date})")
        if self.how == "times" and self.low <= 0:
            raise ValueError(f"a multiple of {self.low} makes an amount zero or negative")
        return self

    @property
    def origin(self) -> str:
        """What it rests on, with source or owner and date."""
        if self.source is not None:
            return f"{self.note} ({self.source.url}, {self.source.date}, confidence {self.source.confidence})"
        return f"assumption of {self.assumed.by}, {self.assumed.date}: {self.note}" if self.assumed else self.note

    def ends(self, base: Decimal) -> tuple[Decimal, Decimal]:
        """Return the low and high value around a base value."""
        if self.how == "times":
            return base * self.low, base * self.high
        return (base + self.low, base + self.high) if self.how == "plus" else (self.low, self.high)


class Ranges(Frozen):
    """Ranges by kind of input."""

    performance: Range
    """Quantile of the duration band of one platform."""
    after_run_value: Range
    """Value of an accelerator-hour after the run."""
    price_binding: Range
    """Prices of a binding quote."""
    price_budgetary: Range
    """Prices of a budgetary quote."""
    price_list: Range
    """List prices."""
    price_contract: Range
    """Prices of a signed contract."""
    fx: Range
    """One exchange rate."""
    duty: Range
    """Duty on purchased hardware."""
    extra_compute: Range
    """Extra compute of a workload."""
    delivery: Range
    """Weeks every delivery of a quote moves."""
    order: Range
    """Days the order date moves."""
    failures: Range
    """Node failures per 1,000 days."""
    residual: Range
    """Residual share."""
    discount: Range
    """Discount rate."""
    hall: Range
    """Hall cost per kW and month."""
    electricity: Range
    """Price per kWh."""
