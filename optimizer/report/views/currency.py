"""Every figure in another currency, at the rates the plan was made with."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeVar

from optimizer.errors import InputError, Problem
from optimizer.report.document import Document, Text, Value, day, name, phrase, price
from optimizer.report.source import Source
from optimizer.report.views.values import Rewriting
from optimizer.units import minor_digits, round_money

_T = TypeVar("_T")
_PRICE_DIGITS = 2
"""Digits a converted price has beyond the minor unit: prices per hour are small."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """Exchange rates of a plan, to one currency.

    Attributes:
        currency: Currency converted to.
        rates: Value of one unit of each currency in a common base.
        day: Day of the rates; None when there is only one currency.
    """

    currency: str
    rates: Mapping[str, Decimal]
    day: dt.date | None

    def rate(self, code: str) -> Decimal:
        """Return what one unit of a currency is worth.

        Raises:
            InputError: the plan states no rate for it.
        """
        if code == self.currency:
            return Decimal(1)
        missing = [each for each in (code, self.currency) if each not in self.rates]
        if missing:
            raise _unknown(", ".join(missing), self.rates)
        return self.rates[code] / self.rates[self.currency]

    def amount(self, value: Decimal, code: str) -> Decimal:
        """Return an amount converted, rounded half up to the minor unit."""
        return round_money(value * self.rate(code), self.currency)

    def price(self, value: Decimal, code: str) -> Decimal:
        """Return a price of one piece converted, to two digits beyond the minor unit."""
        digits = minor_digits(self.currency) + _PRICE_DIGITS
        return value if code == self.currency else round(value * self.rate(code), digits)


def conversion(source: Source, currency: str) -> Conversion:
    """Return the conversion of a plan's amounts to a currency.

    Raises:
        InputError: the plan states no rate for the currency; the known ones are listed.
    """
    fx = source.loaded.scenario.fx if source.loaded else None
    own = source.currency or currency
    rates = {fx.base: Decimal(1), **fx.rates} if fx else {own: Decimal(1)}
    if currency not in rates:
        raise _unknown(currency, rates)
    return Conversion(currency, rates, fx.date if fx else None)


def _unknown(currency: str, rates: Mapping[str, Decimal]) -> InputError:
    expected = f"Expected one of {', '.join(sorted(rates))}, the currencies the plan states rates for"
    fix = "Add the rate to fx.rates of the scenario and solve again"
    return InputError([Problem("--currency", f"no rate for {currency}", expected, fix)])


def converted(document: Document, source: Source, to: Conversion) -> Document:
    """Return a document with every figure converted and a sentence that says at which rates."""
    rewritten = converted_part(document, to)
    return replace(rewritten, currency=to.currency, warnings=(*rewritten.warnings, *_label(source, to)))


def converted_part(part: _T, to: Conversion) -> _T:
    """Return a part of a document with every figure converted."""
    known = {*to.rates, to.currency}

    def value(found: Value) -> Value:
        if not isinstance(found.value, (Decimal, int)) or found.unit not in known:
            return found
        change = to.price if found.kind == "price" else to.amount
        return replace(found, value=change(Decimal(found.value), found.unit), unit=to.currency)

    return Rewriting(value, lambda unit: to.currency if unit in known else unit, lambda command: command).of(part)


def _label(source: Source, to: Conversion) -> tuple[Text, ...]:
    if source.currency in ("", to.currency) or to.day is None:
        return ()
    rate = price(to.rate(source.currency), to.currency)
    said = phrase("view.converted", own=name(source.currency), to=name(to.currency), rate=rate, on=day(to.day))
    return (Text(said, "warning"),)
