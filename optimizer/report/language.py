"""The languages of documents: every word from one terms file, every number and date by one set of rules.

Chinese: dates ``2026年12月15日``, 万 and 亿 in headlines only; tables state the ISO code of the currency in both languages.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from babel.core import Locale
from babel.dates import format_date
from babel.numbers import format_currency, format_decimal, format_percent, get_currency_name
from pydantic import BaseModel, ConfigDict

from optimizer.errors import InternalError
from optimizer.io.yaml_reader import read_yaml
from optimizer.units import minor_digits

Code = Literal["en", "zh"]
"""Languages of documents, by ISO 639-1."""

CODES: tuple[Code, ...] = ("en", "zh")

Amount = Decimal | float | int | None
"""A number as results hold it; None is unknown."""

_SLOT = re.compile(r"\{(\w+)\}")
_SCALES: dict[Code, tuple[tuple[int, int, str, int], ...]] = {
    "en": ((999_950_000, 10**9, " B", 2), (999_950, 10**6, " M", 1), (10_000, 10**3, " k", 1)),
    "zh": ((99_999_500, 10**8, "亿", 2), (10_000, 10**4, "万", 1)),
}
"""From which amount on, divisor, its word, digits shown."""

_DATE_PATTERN: dict[Code, str] = {"en": "yyyy-MM-dd", "zh": "y年M月d日"}


@dataclass(frozen=True, slots=True)
class Language:
    """One language: its words, numbers and dates.

    Attributes:
        code: ISO 639-1 code.
    """

    code: Code = "en"

    def text(self, key: str, **values: object) -> str:
        """Return the text of a key of ``terms.yaml``, with its ``{slots}`` filled.

        >>> Language("zh").text("status.optimal"), Language("en").text("status.optimal")
        ('已证明最优', 'proven optimal')

        Raises:
            InternalError: No such key, or a slot without a value.
        """
        try:
            return terms()[key].of(self.code).format(**values)
        except KeyError as missing:
            raise InternalError(f"terms.yaml: {key} lacks {missing}") from None

    def name(self, family: str, word: str) -> str:
        """Return the name of a value of a closed list (``limit``, ``item``, …); a value without a term as it is.

        >>> Language("zh").name("limit", "deadline"), Language("en").name("limit", "rack_power")
        ('截止日期', 'rack power')
        """
        entry = terms().get(f"{family}.{word}")
        return entry.of(self.code) if entry else word.replace("_", " ")

    def item(self, item: str) -> str:
        """Return the name of a cost line; names that a quote or scenario gives stay as they are.

        >>> Language("zh").item("hardware"), Language("zh").item("line:support"), Language("en").item("cost:network")
        ('硬件', '报价项：support', 'network')
        """
        family, _, given = item.partition(":")
        return self.text(f"item.{family}", name=given) if given else self.name("item", item)

    def phrase(self, sentence: str) -> str:
        """Return a sentence of a plan in this language; one that has no pattern in ``terms.yaml`` stays English.

        >>> Language("zh").phrase("quote acme-1, offer node, tier 16+")
        '报价 acme-1，报价项 node，16 起价'
        """
        return sentence if self.code == "en" else _translated(sentence)

    def number(self, value: Amount | str, digits: int = 2) -> str:
        """Return a number in full with thousands separators, without needless zeros; text as it is.

        >>> Language().number(Decimal("437500.00")), Language("zh").number(2.345), Language().number(None)
        ('437,500', '2.35', '?')
        """
        if value is None or isinstance(value, str):
            return value or self.text("word.unknown")
        exact = Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)
        return _decimal(exact, "#,##0" + ("." + "#" * digits if digits else ""), self.code)

    def money(self, value: Amount, currency: str) -> str:
        """Return an amount for tables: ISO code, every digit to the minor unit.

        >>> Language("zh").money(Decimal("73013000.5"), "USD"), Language().money(-1200, "JPY")
        ('USD 73,013,000.50', '-JPY 1,200')
        """
        return (
            self.text("word.unknown")
            if value is None
            else self._currency(Decimal(str(value)), f"{currency} ", currency)
        )

    def figure(self, value: Amount, currency: str) -> str:
        """Return an amount without its code, for columns whose heading states the currency.

        >>> Language().figure(Decimal("73013000"), "USD")
        '73,013,000.00'
        """
        return self.text("word.unknown") if value is None else self._currency(Decimal(str(value)), "", currency)

    def _currency(self, value: Decimal, code: str, currency: str) -> str:
        digits = minor_digits(currency)
        number = "#,##0" + ("." + "0" * digits if digits else "")
        return format_currency(
            value, currency, f"'{code}'{number};-'{code}'{number}" if code else number,
            locale=_locale(self.code), currency_digits=False, decimal_quantization=True,
        )  # fmt: skip

    def headline(self, value: Amount, currency: str) -> str:
        """Return an amount in three or four digits for a headline.

        >>> Language().headline(Decimal("73013000"), "USD"), Language("zh").headline(Decimal("73013000"), "USD")
        ('73.0 M USD', '7,301.3万美元')
        >>> Language("zh").headline(Decimal("1254000000"), "CNY"), Language().headline(Decimal("-950.5"), "EUR")
        ('12.54亿人民币', '-950.5 EUR')
        """
        if value is None:
            return self.text("word.unknown")
        exact = Decimal(str(value))
        unit = f" {currency}" if self.code == "en" else get_currency_name(currency, locale="zh")
        for first, divisor, word, digits in _SCALES[self.code]:
            if abs(exact) >= first:
                short = format_decimal(exact / divisor, "#,##0." + "0" * digits, locale=_locale(self.code))
                return f"{short}{word}{unit}"
        return f"{self.number(exact)}{unit}"

    def percent(self, value: Amount, digits: int = 1) -> str:
        """Return a fraction in per cent.

        >>> Language().percent(0.0512), Language("zh").percent(Decimal("0.5"), 0)
        ('5.1 %', '50%')
        """
        if value is None:
            return self.text("word.unknown")
        sign = " %" if self.code == "en" else "%"
        return format_percent(value, "#,##0" + ("." + "0" * digits if digits else "") + sign, locale=_locale(self.code))

    def date(self, day: dt.date | None) -> str:
        """Return a date.

        >>> Language().date(dt.date(2026, 12, 5)), Language("zh").date(dt.date(2026, 12, 5))
        ('2026-12-05', '2026年12月5日')
        """
        if day is None:
            return self.text("word.unknown")
        return format_date(day, _DATE_PATTERN[self.code], locale=_locale(self.code))

    def join(self, parts: list[str]) -> str:
        """Return words as an enumeration.

        >>> Language().join(["a", "b"]), Language("zh").join(["a", "b"])
        ('a, b', 'a、b')
        """
        return (", " if self.code == "en" else "、").join(parts)


@lru_cache(maxsize=8192)
def _decimal(value: Decimal, pattern: str, code: Code) -> str:
    """Return a number by a pattern; a plan of many awards repeats its units, rates and months thousands of times."""
    return format_decimal(value, pattern, locale=_locale(code))


@cache
def _locale(code: Code) -> Locale:
    """Return the rules of a language, read once: they are asked for every figure."""
    return Locale.parse(code)


class _Words(BaseModel):
    """A text in every language."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    en: str
    zh: str

    def of(self, code: Code) -> str:
        return self.zh if code == "zh" else self.en


class _File(BaseModel):
    """The terms file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    terms: dict[str, dict[str, _Words]]
    phrases: tuple[_Words, ...]


@cache
def _file() -> _File:
    path = Path(__file__).with_name("terms.yaml")
    return _File.model_validate(read_yaml(path.read_text(encoding="utf-8"), path.name).data)


@cache
def terms() -> Mapping[str, _Words]:
    """Return every term of ``terms.yaml`` by ``section.key``."""
    return {f"{section}.{key}": words for section, group in _file().terms.items() for key, words in group.items()}


@cache
def _phrases() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the patterns of sentences that plans hold, with their translations, in the order of the file."""
    return tuple((_pattern(words.en), words.zh) for words in _file().phrases)


@lru_cache(maxsize=8192)
def _translated(text: str) -> str:
    """Return text in Chinese: several sentences one by one, where each has a pattern."""
    first, stop, rest = text.partition(". ")
    if stop and (known := _matched(f"{first}.")) is not None:
        return known + _translated(rest)
    matched = _matched(text)
    return text if matched is None else matched


def _matched(sentence: str) -> str | None:
    """Return the translation of the first pattern that fits; slots that end with an underscore are translated themselves."""
    for pattern, translation in _phrases():
        if match := pattern.fullmatch(sentence):
            slots = match.groupdict().items()
            return translation.format(**{name: _translated(part) if name[-1] == "_" else part for name, part in slots})
    return None


_SHAPES = {"n": r"[-\d.,]*\d", "cur": "[A-Z]{3}", "day": r"\d{4}-\d\d-\d\d"}
"""What slots of some names match; the others match anything."""


def _pattern(template: str) -> re.Pattern[str]:
    parts = _SLOT.split(template)
    shapes = (_SHAPES.get(part.strip("_0123456789"), ".+?") for part in parts)
    pieces = (
        f"(?P<{part}>{shape})" if at % 2 else re.escape(part) for at, (part, shape) in enumerate(zip(parts, shapes))
    )
    return re.compile("".join(pieces))
