"""Cells as text of one language: the one place where a value of a document becomes characters."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from optimizer.errors import InternalError
from optimizer.report.document import Cell, Column, Phrase, Several, Value
from optimizer.report.language import Language

_LARGE_PRICE = 1000
"""Prices from here on are shown to the cent; smaller ones, mostly per hour, to a hundredth of a cent."""

_FACTOR_DIGITS = 12
"""Digits of a factor: with fewer a product of hundreds of millions is not right to the cent."""

_BETWEEN = {"times": " × ", "sentence": " "}


def plain(text: str) -> str:
    """Return text unchanged."""
    return text


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes cells.

    Attributes:
        language: Words, numbers and dates.
        name: What a renderer does with text of files: escape and isolate it.
        code: What it does with commands, paths and checksums.
        figure: What it does with formatted figures, whose units come from files.
    """

    language: Language
    name: Callable[[str], str] = plain
    code: Callable[[str], str] = plain
    figure: Callable[[str], str] = plain

    def text(self, cell: Cell, unit: str = "") -> str:
        """Return a cell as text.

        Args:
            cell: The cell.
            unit: Unit that stands in the heading and is left out here.
        """
        if isinstance(cell, Phrase):
            return self.language.text(cell.key, **{key: self.text(each) for key, each in cell.args.items()})
        if isinstance(cell, Several):
            return self._several(cell)
        return self._value(cell, unit)

    def head(self, column: Column) -> str:
        """Return the heading of a column, with the unit of all its values."""
        words = self.language.text(column.head)
        return f"{words} ({column.unit})" if column.unit else words

    def _several(self, cell: Several) -> str:
        parts = [self.text(each) for each in cell.items]
        if cell.between == "comma":
            return self.language.join(parts)
        return _BETWEEN[cell.between].join(parts)

    def _value(self, value: Value, unit: str) -> str:
        known, language = value.value, self.language
        if known is None:
            return language.text("word.unknown")
        if isinstance(known, dt.date):
            return self.figure(language.date(known))
        if isinstance(known, str):
            return self._words(value.kind, known)
        if value.kind == "number" and value.unit:
            return f"{self.figure(language.number(Decimal(known)))} {self.name(language.phrase(value.unit))}"
        return self.figure(self._figure(value, Decimal(known), unit))

    def _words(self, kind: str, words: str) -> str:
        if kind == "term":
            family, _, word = words.partition(".")
            return self.language.name(family, word)
        if kind == "code":
            return self.code(words)
        phrase = self.language.phrase
        read = {"item": self.language.item, "sentence": phrase, "cited": phrase}.get(kind, plain)
        return self.name(read(words)) if words else ""

    def _figure(self, value: Value, figure: Decimal, unit: str) -> str:
        language = self.language
        if value.kind == "money":
            return language.figure(figure, value.unit) if unit == value.unit else language.money(figure, value.unit)
        if value.kind == "amount":
            return language.headline(figure, value.unit)
        if value.kind in ("price", "quoted"):
            return f"{language.number(figure, 4 if abs(figure) < _LARGE_PRICE else 2)} {value.unit}"
        if value.kind == "factor":
            return f"{language.number(figure, _decimals(figure))} {language.phrase(value.unit)}"
        if value.kind == "share":
            return language.percent(figure, 0 if figure * 100 == round(figure * 100) else 1)
        if value.kind in ("number", "count"):
            return language.number(figure)
        raise InternalError(f"a {value.kind} holds the number {figure}")


def _decimals(factor: Decimal) -> int:
    """Return the digits behind the point that make twelve in all, zeros in front not counted."""
    return max(0, _FACTOR_DIGITS - 1 - factor.adjusted())
