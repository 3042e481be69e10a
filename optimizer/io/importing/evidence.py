"""What a file as a whole says about its numbers, dates and currencies: the evidence single cells are read with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from optimizer.io.importing.cells import Book, Cell
from optimizer.io.importing.dates import Order, order_of_dates
from optimizer.io.importing.mapping import Mapping
from optimizer.io.importing.money import currencies_in
from optimizer.io.importing.numbers import decimal_mark, plain
from optimizer.io.importing.vocabulary import dollar_of, mentions, multiplier

HAN_SHARE = 0.2
"""From this share of Chinese characters among letters on, a file is a Chinese document."""

_AMOUNT = re.compile(
    r"[^\d]{0,12}?[-(]?([.,]?\d(?:[\d.,' ]*\d)?(?:e[-+]?\d+)?(?:[.,](?:--?|–|—)(?!\d))?)\)?[^\d]{0,10}"
)
_DATE = re.compile(r"\b\d{1,2}[/-]\d{1,2}[/-]\d{2,4}\b")
_UNIT_LINE = re.compile(
    r"(?:单位|單位|単位)\s*[:：]\s*([^)）\s,，]+)|\b(?:in|amounts? in|figures? in)\s+(?:[a-z]{3} )?(thousands?|millions?)\b|\(([a-z$€£]{1,3}) ?(k|m|thousands|millions)\)"
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence of one file.

    Attributes:
        mark: Decimal mark of its numbers; empty when they show none or both.
        order: Order of day and month; empty when unknown.
        order_by: ``dates``, ``place`` or ``mapping``: what decided the order.
        codes: Currencies it names, ``$`` and ``¥`` included.
        countries: Countries it names outside its tables.
        language: ``zh``, ``ja`` or empty.
        currency: Currency of amounts that name none; empty when unknown.
        scale: Factor of amounts that name no unit, such as 10,000 for a sheet in 万元.
        scale_words: The words that say so.
    """

    mark: str
    order: Order
    order_by: str
    codes: frozenset[str]
    countries: tuple[str, ...]
    language: str
    currency: str
    scale: Decimal
    scale_words: str


def gather(book: Book, outside: Iterable[Cell], headings: Iterable[Cell], mapping: Mapping) -> Evidence:
    """Return the evidence of a file.

    Args:
        book: All of its sheets.
        outside: Cells that stand outside its tables: titles, terms, notes.
        headings: Headings of its tables.
        mapping: What is known about the vendor; it goes before all evidence.
    """
    texts = list(dict.fromkeys(cell.text for sheet in book.sheets for cell in sheet.cells() if cell.value is None))
    prose = [cell.text for cell in outside]
    words = " \n ".join(prose)[:200_000]
    named = frozenset(
        code
        for text in [*prose, *(cell.text for cell in headings), *texts[:20_000]]
        for code in currencies_in(text[:400])
    )
    formats = frozenset(cell.currency for sheet in book.sheets for cell in sheet.cells() if cell.currency)
    countries = mentions("places", plain(words[:2000]))
    order, order_by = _order(texts, countries, mapping)
    scale, scale_words = _scale(prose)
    return Evidence(
        mark=mapping.mark or decimal_mark(_amounts(texts)),
        order=order,
        order_by=order_by,
        codes=named | formats,
        countries=countries,
        language=_language(texts),
        currency=mapping.currency or "",
        scale=scale,
        scale_words=scale_words,
    )


def resolve(symbol: str, evidence: Evidence, default: str) -> tuple[str, str, tuple[str, ...]]:
    """Return (code, reason, candidates) of a currency symbol.

    A code stands for itself. ``$`` is the dollar of the file's currency, else of the one country or dollar it names,
    else USD as a recorded assumption (reason ``dollar_assumed_usd``). ``¥`` needs a second clue: the file's currency,
    the only other code, its language or a place; otherwise the code is empty and the candidates are listed.

    Args:
        symbol: ISO 4217 code, ``$``, ``¥``, or empty for none.
        evidence: Of the file.
        default: Currency stated for the file or column; empty when none.
    """
    if symbol == "$":
        return _dollar(evidence, default)
    if symbol == "¥":
        return _yen_or_yuan(evidence, default)
    return symbol or default, "", ()


def _dollar(evidence: Evidence, default: str) -> tuple[str, str, tuple[str, ...]]:
    dollars = {dollar_of(code) for code in _DOLLAR_COUNTRIES} - {None}
    if default in dollars:
        return default, "", ()
    named = {code for code in evidence.codes if code in dollars}
    named |= {found for country in evidence.countries if (found := dollar_of(country))}
    if len(named) > 1 or (named and default):
        return "", "", tuple(sorted(code for code in named | {"USD"} if code))
    if named and named != {"USD"}:
        return next(iter(named)), "dollar_by_place", ()
    return "USD", "" if "USD" in evidence.codes else "dollar_assumed_usd", ()


def _yen_or_yuan(evidence: Evidence, default: str) -> tuple[str, str, tuple[str, ...]]:
    both = {"CNY", "JPY"}
    if default in both:
        return default, "yen_sign_by_clue", ()
    clues: set[str] = set()
    named = evidence.codes - {"$", "¥"}
    clues |= named if len(named) == 1 and named <= both else set()
    clues |= {"zh": {"CNY"}, "ja": {"JPY"}}.get(evidence.language, set())
    clues |= {code for country, code in (("CN", "CNY"), ("JP", "JPY")) if country in evidence.countries}
    if len(clues) == 1:
        return clues.pop(), "yen_sign_by_clue", ()
    return "", "", ("CNY", "JPY")


_DOLLAR_COUNTRIES = ("US", "CA", "AU", "NZ", "SG", "HK", "TW")


def stated_currency(evidence: Evidence, named: Iterable[str]) -> str:
    """Return the currency of amounts without one: what the file states, else the only code it names.

    Args:
        evidence: Of the file.
        named: Currencies of labels such as ``Currency: EUR``, in order.
    """
    if evidence.currency:
        return evidence.currency
    for code in named:
        return code
    codes = evidence.codes - {"$", "¥"}
    if len(codes) == 1:
        return next(iter(codes))
    if not codes and evidence.codes in ({"$"}, {"¥"}):
        return resolve(next(iter(evidence.codes)), evidence, "")[0]
    return ""


def _amounts(texts: Iterable[str]) -> Iterator[str]:
    """Yield the number of every text that is one amount."""
    for text in texts:
        if len(text) <= 48 and any(char.isdigit() for char in text) and not _DATE.search(text):
            match = _AMOUNT.fullmatch(plain(text))
            if match:
                yield match[1]


def _order(texts: list[str], countries: tuple[str, ...], mapping: Mapping) -> tuple[Order, str]:
    if mapping.dates:
        return mapping.dates, "mapping"
    found = order_of_dates(match for text in texts for match in _DATE.findall(text[:400]))
    if found:
        return found, "dates"
    if countries == ("US",):
        return "month_first", "place"
    return ("day_first", "place") if countries and not {"US", "CA"} & set(countries) else ("", "")


def _language(texts: list[str]) -> str:
    """Return ja when there are kana, zh when Chinese characters are a fair share of the letters."""
    letters = [char for text in texts[:5000] for char in text[:400] if char.isalpha()]
    kana = sum("\u3040" <= char <= "\u30ff" for char in letters)
    han = sum("\u4e00" <= char <= "\u9fff" for char in letters)
    if kana > 0.02 * len(letters):
        return "ja"
    return "zh" if han and han >= HAN_SHARE * len(letters) else ""


def _scale(prose: list[str]) -> tuple[Decimal, str]:
    """Return the factor that a line such as ``单位：人民币万元`` or ``in thousands`` gives to plain amounts."""
    for text in prose:
        if match := _UNIT_LINE.search(plain(text[:400])):
            words = next(word for word in (match[1], match[2], match[4]) if word)
            parts = [
                words.rstrip("s"),
                *(words[start : start + length] for length in (2, 1) for start in range(len(words))),
            ]
            factor = next((found for part in parts if (found := multiplier(part))), None)
            if factor and (match[1] is None or "元" in words or "円" in words):
                return factor, text
    return Decimal(1), ""
