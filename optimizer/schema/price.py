"""Prices, quantities and lots: what offers and the records of an import share."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from optimizer.schema.base import Frozen, Money


class PriceState(StrEnum):
    """What a price cell says; only ``included`` and ``free`` mean zero.

    ``priced`` has an amount; ``estimate`` and ``lower_bound`` have one that cannot be planned with, ``range`` two.
    ``option`` and ``alternate`` are never in the base total. ``on_request`` (call, POA, TBD), ``no_bid`` (also not
    applicable), ``redacted`` and ``missing`` have no figure. ``ambiguous`` has several readings, all listed;
    ``malformed`` has none (broken digits, an error of the spreadsheet).
    """

    PRICED = "priced"
    ESTIMATE = "estimate"
    RANGE = "range"
    LOWER_BOUND = "lower_bound"
    INCLUDED = "included"
    FREE = "free"
    OPTION = "option"
    ALTERNATE = "alternate"
    ON_REQUEST = "on_request"
    NO_BID = "no_bid"
    REDACTED = "redacted"
    MISSING = "missing"
    AMBIGUOUS = "ambiguous"
    MALFORMED = "malformed"

    @property
    def is_zero(self) -> bool:
        """True for the states that cost nothing."""
        return self in (PriceState.INCLUDED, PriceState.FREE)


class TieredPrice(Frozen):
    """Quantity breaks; a key is the first quantity (in purchase units) at that price, inclusive.

    ``all_units``: the whole order at the price of the highest break reached (9 units at 100, 90 from 5: 810).
    ``incremental``: each unit at the price of its own break (the same: 4 x 100 + 5 x 90 = 850).
    """

    all_units: dict[int, Money] | None = None
    """Breaks that apply to all units of the order."""
    incremental: dict[int, Money] | None = None
    """Breaks that apply to the units beyond them."""

    @model_validator(mode="after")
    def _one_kind(self) -> TieredPrice:
        if (self.all_units is None) == (self.incremental is None):
            raise ValueError("give either all_units or incremental")
        if not self.breaks:
            raise ValueError("needs at least one break, e.g. {1: 452000}")
        if self.incremental is not None and min(self.incremental) != 1:
            raise ValueError("incremental breaks must start at 1, so that every unit has a price")
        if min(self.breaks) < 1:
            raise ValueError("a break below 1 unit is impossible")
        if any(price.amount <= 0 for price in self.breaks.values()):
            raise ValueError("a tier price must be above zero; use the state free or included for zero")
        return self

    @property
    def breaks(self) -> dict[int, Money]:
        """First quantity -> unit price, ascending."""
        return dict(sorted((self.all_units or self.incremental or {}).items()))


def _read_price(value: Any) -> Any:
    """Numbers and ``20 EUR`` become money, a state word its state, a mapping tiers."""
    if value == PriceState.PRICED:
        raise ValueError("priced says that there is an amount; write the amount")
    if isinstance(value, str) and value in set(PriceState):
        return PriceState(value)
    if isinstance(value, dict) and "amount" not in value:
        return TieredPrice.model_validate(value)
    if value is None:
        return PriceState.MISSING
    if isinstance(value, (str, int, float)):
        return Money.model_validate(value)
    return value


Price = Annotated[Money | TieredPrice | PriceState, BeforeValidator(_read_price)]
LinePrice = Annotated[Money | PriceState, BeforeValidator(_read_price)]


class Units(Frozen):
    """Allowed quantities, in purchase units: the multiples of ``step`` between ``min`` and ``max``."""

    min: int = Field(default=1, ge=0)
    """Smallest order, inclusive."""
    step: int = Field(default=1, ge=1)
    """Orders are multiples of this."""
    max: int | None = Field(default=None, ge=0)
    """Largest order, inclusive; blank = no limit, 0 = none."""

    @model_validator(mode="after")
    def _ordered(self) -> Units:
        if self.max is not None and 0 < self.max < self.min:
            raise ValueError(f"max {self.max} is below min {self.min}")
        return self


class Lot(Frozen):
    """A part of an order with its own delivery."""

    units: int | Literal["rest"]
    """Units of this lot; the last may be ``rest``."""
    weeks: int | None = Field(default=None, ge=0)
    """Weeks after order."""
    days: int | None = Field(default=None, ge=0)
    """Days after order."""
    date: dt.date | None = None
    """Delivery date."""

    @model_validator(mode="after")
    def _one_time(self) -> Lot:
        if sum(value is not None for value in (self.weeks, self.days, self.date)) != 1:
            raise ValueError("a lot needs exactly one of weeks, days, date")
        return self
