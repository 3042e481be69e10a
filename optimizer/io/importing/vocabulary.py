"""The words of vendors' sheets: headings, labels, states, currencies, units; kept in ``vocabulary.yaml``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path

from optimizer.io.yaml_reader import read_yaml

MAX_PHRASE = 80
"""Longest text that can be a heading or label; longer ones are sentences."""

_BRACKETS = re.compile(r"[(\[{（【][^)\]}）】]*[)\]}）】]")
_TRAILING = " :：.;；,，、*"
_BARE = {"$": "$", "¥": "¥", "dollar": "$", "dollars": "$"}
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"


def fold(text: str) -> str:
    """Return text for comparison: half-width, small letters, single blanks.

    >>> fold("  Reseller   Price "), fold("１３％")
    ('reseller price', '13%')
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def phrase(text: str) -> str:
    """Return the words of a heading or label: folded, without brackets and trailing punctuation.

    >>> phrase("单价（不含税）"), phrase("Total Quoted Amount :"), phrase("Price (USD)")
    ('单价', 'total quoted amount', 'price')
    """
    return " ".join(_BRACKETS.sub(" ", fold(text)).split()).strip(_TRAILING)


def brackets(text: str) -> str:
    """Return what stands in the brackets of a heading, folded: ``Price (USD, excl. VAT)`` -> ``usd, excl. vat``."""
    return " ".join(part[1:-1] for part in _BRACKETS.findall(fold(text)))


@lru_cache(maxsize=8192)
def meaning(section: str, words: str) -> str | None:
    """Return the key of a section whose pattern matches all of some folded words; None when none does."""
    if not words or len(words) > MAX_PHRASE:
        return None
    return next((key for key, pattern in _whole(section) if pattern.fullmatch(words)), None)


@lru_cache(maxsize=8192)
def mentions(section: str, words: str) -> tuple[str, ...]:
    """Return the keys of a section that occur as words somewhere in folded text, in the order of the section."""
    return tuple(key for key, pattern in _inside(section) if pattern.search(words[:2000]))


@cache
def multiplier(word: str) -> Decimal | None:
    """Return the factor of a folded word such as ``k`` or ``万``; None when it is none."""
    factor = _section("multipliers").get(word)
    return None if factor is None else Decimal(str(factor))


@cache
def currency_of(word: str) -> str | None:
    """Return the ISO 4217 code a folded word or symbol stands for; ``$`` and ``¥`` for themselves.

    >>> currency_of("rmb"), currency_of("us$"), currency_of("sek"), currency_of("$"), currency_of("kg")
    ('CNY', 'USD', 'SEK', '$', None)
    """
    if word in _BARE:
        return _BARE[word]
    return word.upper() if word.upper() in codes() else meaning("currencies", word)


@cache
def codes() -> frozenset[str]:
    """Return the ISO 4217 codes."""
    section = _section("currencies")
    return frozenset(str(code) for code in (*section, *section["codes"]) if code != "codes")  # type: ignore[misc]


@cache
def currency_prose() -> re.Pattern[str]:
    """Return a pattern that finds symbols and names of currencies in folded prose; codes need capital letters there."""
    named = [word for key, words in _words("currencies").items() if key != "codes" for word in words]
    telling = [word for word in named if len(re.sub("[^a-z]", "", word)) > 3 or not re.fullmatch(r"[a-z.?\\]+", word)]
    return re.compile("|".join(_bounded(part) for part in (*sorted(telling, key=len, reverse=True), r"\$", "¥")))


@cache
def dollar_of(country: str) -> str | None:
    """Return the dollar of a country; None when it has none."""
    found = _section("dollars").get(country)
    return None if found is None else str(found)


@cache
def month_number(name: str) -> int | None:
    """Return the number of a month by the first letters of its name, in several languages."""
    start = fold(name)[:3]
    return next((int(key) for key, words in _words("months").items() if start in words), None)


@cache
def day_units() -> tuple[tuple[Decimal, str], ...]:
    """Return (days, pattern of the unit) for units of time."""
    return tuple((Decimal(key), "|".join(words)) for key, words in _words("durations").items())


@cache
def _whole(section: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (key, re.compile("|".join(words))) for key, words in _words(section).items() if words and key != "codes"
    )


@cache
def _inside(section: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (key, re.compile("|".join(_bounded(word) for word in words))) for key, words in _words(section).items()
    )


def _bounded(word: str) -> str:
    """Return a pattern that matches a word, not a part of one; scripts without blanks have no word borders."""
    if re.search(f"[{_CJK}]", word):
        return word
    start = r"(?<![a-z0-9])" if re.match(r"[a-z0-9(\\]", word) and not word.startswith(r"\$") else ""
    end = r"(?![a-z])" if re.search(r"[a-z0-9)?.+*]$", word) else ""
    return f"{start}(?:{word}){end}"


def words_of(section: str, key: str) -> tuple[str, ...]:
    """Return the patterns of one key of a section."""
    return _words(section)[key]


@cache
def _words(section: str) -> Mapping[str, tuple[str, ...]]:
    data = _section(section)
    entries = data.items() if isinstance(data, Mapping) else ((section, data),)
    return {
        str(key): tuple(str(word) for word in (words if isinstance(words, list) else [words])) for key, words in entries
    }


@cache
def _file() -> Mapping[str, Mapping[str, object]]:
    path = Path(__file__).with_name("vocabulary.yaml")
    return read_yaml(path.read_text(encoding="utf-8"), path.name).data  # type: ignore[return-value]  # shipped with us


def _section(name: str) -> Mapping[str, object]:
    return _file()[name]
