"""Every amount in another currency, at the rates the plan was made with.

An amount of the plan is rounded half up to its minor unit, multiplied by the rate, and rounded again: so is the total, which
is not the sum of its converted parts. A price that a vendor quotes stays beside its converted one. What cannot be
converted without changing what was said keeps its currency and says so: the factors of a cost line, which end with the
rate; words of vendors and sources; options to paste.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TypeVar

from optimizer.errors import InputError, Problem
from optimizer.report.document import Cell, Document, Phrase, Several, Text, Value, day, factor, name, phrase
from optimizer.report.source import Source
from optimizer.report.views.values import Rewriting
from optimizer.results import Amount
from optimizer.units import minor_digits, round_money

_T = TypeVar("_T")
_PRICE_DIGITS = 2
"""Digits a converted price has beyond the minor unit: prices per hour are small."""

_RATE_DIGITS = 12
"""Digits of the rate: as many as a factor shows, so that a reader can multiply to the minor unit."""

_WORDS = ("name", "sentence", "cited")
"""Kinds of values that are words, in which somebody may have written an amount."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """Exchange rates of a plan, to one currency.

    Attributes:
        own: Currency of the plan.
        currency: Currency converted to.
        rates: Value of one unit of each currency in a common base.
        day: Day of the rates; None when there is only one currency.
    """

    own: str
    currency: str
    rates: Mapping[str, Decimal]
    day: dt.date | None

    @property
    def codes(self) -> frozenset[str]:
        """Currencies that can be converted."""
        return frozenset({*self.rates, self.currency})

    def rate(self, code: str) -> Decimal:
        """Return what one unit of a currency is worth, to twelve digits.

        Raises:
            InputError: the plan states no rate for it.
        """
        if code == self.currency:
            return Decimal(1)
        missing = [each for each in (code, self.currency) if each not in self.rates]
        if missing:
            raise _unknown(", ".join(missing), self.rates)
        return Context(prec=_RATE_DIGITS).divide(self.rates[code], self.rates[self.currency])

    def amount(self, value: Decimal, code: str) -> Decimal:
        """Return an amount converted, rounded half up to the minor unit."""
        return round_money(value * self.rate(code), self.currency)

    def price(self, value: Decimal, code: str) -> Decimal:
        """Return a price of one piece converted, to two digits beyond the minor unit."""
        digits = minor_digits(self.currency) + _PRICE_DIGITS
        converted = (value * self.rate(code)).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)
        return value if code == self.currency else converted


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
    return Conversion(own, currency, rates, fx.date if fx else None)


def _unknown(currency: str, rates: Mapping[str, Decimal]) -> InputError:
    expected = f"Expected one of {', '.join(sorted(rates))}, the currencies the plan states rates for"
    fix = "Add the rate to fx.rates of the scenario and solve again"
    return InputError([Problem("--currency", f"no rate for {currency}", expected, fix)])


def converted(document: Document, to: Conversion) -> Document:
    """Return a document with every amount converted and a sentence that says at which rates."""
    rewritten = converted_part(document, to)
    return replace(rewritten, name=document.name, currency=to.currency, warnings=(*rewritten.warnings, *_label(to)))


def converted_part(part: _T, to: Conversion) -> _T:
    """Return a part of a document with every amount converted."""
    view = _View(to)
    return Rewriting(view.value, view.unit, lambda command: command, view.product).of(part)


@dataclass(frozen=True, slots=True)
class _View:
    """What becomes of the values of a document."""

    to: Conversion

    def unit(self, code: str) -> str:
        """Return the unit of the heading of a column."""
        return self.to.currency if code in self.to.codes else code

    def value(self, found: Value) -> Cell:
        """Return a value with its amount converted, or words with theirs."""
        if isinstance(found.value, str):
            return self._said(found, found.value) if found.kind in _WORDS else found
        if not isinstance(found.value, (Decimal, int)) or found.kind == "factor":
            return found
        code, per, piece = found.unit.partition(" per ")
        if code not in self.to.codes or piece in self.to.codes:  # an exchange rate is no amount
            return found
        exact = Decimal(found.value)
        each = self.to.price if per or found.kind in ("price", "quoted") else self.to.amount
        other = replace(found, value=each(exact, code), unit=f"{self.to.currency}{per}{piece}")
        if found.kind != "quoted" or code == self.to.currency:
            return other
        return phrase("view.quoted", price=replace(other, kind="price"), quoted=factor(exact, found.unit))

    def product(self, found: Several) -> Cell:
        """Return the factors of an amount as they are stated, then the rate."""
        if self.to.own == self.to.currency:
            return found
        rate = factor(self.to.rate(self.to.own), f"{self.to.currency} per {self.to.own}")
        last = phrase("memo.factor", value=rate, name=phrase("view.rate"))
        return replace(found, items=(*map(self._stated, found.items), last))

    def _stated(self, found: Cell) -> Cell:
        """Return a factor that says when it is an amount of another currency."""
        known = found.args["value"] if isinstance(found, Phrase) else found
        if not isinstance(found, Phrase) or not isinstance(known, Value):
            return found
        code, _, piece = known.unit.partition(" per ")
        foreign = code in self.to.codes - {self.to.currency} and piece not in self.to.codes
        return phrase("view.factor_stated", **found.args) if foreign else found

    def _said(self, found: Value, text: str) -> Cell:
        """Return words with the amounts they are known to tell converted; others are marked."""
        written = {each.text: self._written(each) for each in found.amounts if each.currency != self.to.currency}
        if not written:
            return phrase("view.as_stated", text=found) if self._tells(text) and not found.amounts else found
        longest = "|".join(re.escape(each) for each in sorted(written, key=len, reverse=True))
        return replace(found, value=re.sub(rf"(?<![\d.,])({longest})(?!\d)", lambda match: written[match[1]], text))

    def _written(self, found: Amount) -> str:
        """Return the text of an amount converted, with its code where the text has it."""
        amount = self.to.amount(found.amount, found.currency)
        return Amount.written(amount, self.to.currency, coded=found.text.endswith(found.currency)).text

    def _tells(self, text: str) -> bool:
        """Return whether words tell an amount that is not in the currency converted to."""
        codes = "|".join(sorted(self.to.codes - {self.to.currency}))
        coded = rf"|\d ?(?:{codes})\b|\b(?:{codes}) ?\d" if codes else ""
        return bool(re.search(rf"[$€£¥] ?\d{coded}", text))


def _label(to: Conversion) -> tuple[Text, ...]:
    if to.own == to.currency or to.day is None:
        return ()
    rate = factor(to.rate(to.own), to.currency)
    return (
        Text(phrase("view.converted", own=name(to.own), to=name(to.currency), rate=rate, on=day(to.day)), "warning"),
    )
