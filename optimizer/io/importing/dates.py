"""Dates as people write them: text or cell, order of day and month only by evidence, relative ones only from a date."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cache, lru_cache
from typing import Literal

from optimizer.io.importing.numbers import plain
from optimizer.io.importing.vocabulary import day_units, month_number
from optimizer.units import add_months, month_end

Order = Literal["day_first", "month_first", ""]
"""Order of day and month in dates such as 11/9/2026; empty when nothing shows it."""

MAX_DATE_TEXT = 80
"""Longest text read as a date."""

SERIALS = range(36526, 73051)
"""Days counted from 1899-12-30 that stand for 2000 to 2099: dates of spreadsheets without a date format."""

_SERIAL_START = dt.date(1899, 12, 30)
_ISO = re.compile(r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?(?:[t ]\d{1,2}:.*)?")
_THREE = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?: \d{1,2}:\d\d.*)?")
_NAMED = re.compile(
    r"(?:[a-z]+, )?(\d{1,2})(?:st|nd|rd|th|\.)?[ -]?(?:de )?([^\W\d]{3,10})\.?[ ,-]*(?:de )?(\d{4}|\d{2})"
)
_NAMED_FIRST = re.compile(r"(?:[a-z]+, )?([^\W\d]{3,10})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})")
_WEEK = re.compile(r"(\d{4})-?w(\d{1,2})|(?:w|wk|week|kw) ?(\d{1,2})[ /-](\d{4})")
_QUARTER = re.compile(r"q([1-4])[ /-]?(\d{4})|(\d{4})[ /-]?q([1-4])|(\d{4})年第?([一二三四1-4])季度")
_MONTH = re.compile(r"(\d{4})[-/年](\d{1,2})月?|([^\W\d]{3,10})\.? (\d{4})")
_DIGITS = "一二三四五六七八九十"
_CHINESE = re.compile("[一二三四五六七八九十](?=个?(?:年|月|周|天|日))")


@dataclass(frozen=True, slots=True)
class When:
    """A date or window read from text.

    Attributes:
        first: First day; None when there is no reading.
        last: Last day of a window; equal to ``first`` for a date.
        options: Every reading when day and month could be either.
        swapped: True when the order of day and month was decided by evidence from elsewhere.
        impossible: True for a day that does not exist, such as 9/31.
    """

    first: dt.date | None = None
    last: dt.date | None = None
    options: tuple[dt.date, ...] = ()
    swapped: bool = False
    impossible: bool = False


@lru_cache(maxsize=16384)
def read_date(text: str, order: Order = "") -> When:
    """Read a date, an ISO week (its Monday), a month or a quarter.

    >>> read_date("17-NOV-26").first, read_date("2027-W07").first, read_date("Q2 2027").last
    (datetime.date(2026, 11, 17), datetime.date(2027, 2, 15), datetime.date(2027, 6, 30))
    >>> len(read_date("11/9/2026").options), read_date("11/9/2026", "month_first").first
    (2, datetime.date(2026, 11, 9))
    """
    words = plain(text).strip(" .,;。")
    if not words or len(words) > MAX_DATE_TEXT:
        return When()
    for pattern, read in _READERS:
        if match := pattern.fullmatch(words):
            return read(match)
    if match := _THREE.fullmatch(words):
        return _three(int(match[1]), match[2], int(match[3]), _year(match[4]), order)
    return When()


def order_of_dates(texts: Iterable[str]) -> Order:
    """Return the order of day and month that dates of a file agree on; empty when none shows it, or both occur."""
    seen: set[Order] = set()
    for text in texts:
        match = _THREE.fullmatch(plain(text).strip(" .,;"))
        if match and match[2] != ".":
            first, second = int(match[1]), int(match[3])
            seen |= {"day_first"} if first > 12 >= second else set()
            seen |= {"month_first"} if second > 12 >= first else set()
    return seen.pop() if len(seen) == 1 else ""


def from_serial(number: Decimal) -> dt.date | None:
    """Return the date of a spreadsheet's day number; None outside 2000 to 2099."""
    return _SERIAL_START + dt.timedelta(days=int(number)) if int(number) in SERIALS else None


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time, in days from its shortest to its longest reading; ``months`` when given in whole months."""

    low_days: int
    high_days: int
    months: int | None = None

    def after(self, day: dt.date) -> dt.date:
        """Return the day this long after a day; whole months by the calendar."""
        return add_months(day, self.months) if self.months else day + dt.timedelta(days=self.high_days)


@lru_cache(maxsize=16384)
def read_span(text: str) -> Span | None:
    """Return the first length of time in a text; None when there is none.

    Working days become calendar days (7 for 5), rounded up; months and years of delivery 30.4375 and 365.25 days.

    >>> read_span("16-20 wks ARO"), read_span("90日历日").high_days, read_span("3Y NBD").months
    (Span(low_days=112, high_days=140, months=None), 90, 36)
    """
    words = _CHINESE.sub(lambda match: str(_DIGITS.index(match[0]) + 1), plain(text)[:500].replace("两", "二"))
    found = [(match.start(), days, match) for days, pattern in _spans() for match in [pattern.search(words)] if match]
    if not found:
        return None
    _, days, match = min(found, key=lambda item: (item[0], -len(item[2][0])))
    low, high = Decimal(match[1]), Decimal(match[2] or match[1])
    if max(low, high) > 3660:
        return None
    months = int(low) * (12 if days > 300 else 1) if days > 30 and low == high == int(low) else None
    return Span(_whole(low * days, ROUND_FLOOR), _whole(high * days, ROUND_CEILING), months)


@cache
def _spans() -> tuple[tuple[Decimal, re.Pattern[str]], ...]:
    number = r"(?<![\d.,w$€])(\d{1,4}(?:\.\d)?)(?: ?(?:-|–|~|to|bis|至|到) ?(\d{1,4}(?:\.\d)?))?"
    return tuple(
        (days, re.compile(rf"{number}[ -]?(?:{unit})(?:(?<=[\u3040-\u9fff])|(?![a-z0-9]))"))
        for days, unit in day_units()
    )


def _whole(number: Decimal, rounding: str) -> int:
    return int(number.to_integral_value(rounding))


def _day(year: int, month: int, day: int) -> When:
    try:
        date = dt.date(year, month, day)
    except ValueError:
        return When(impossible=True)
    return When(date, date)


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else 2000 + int(text)


def _three(first: int, separator: str, second: int, year: int, order: Order) -> When:
    """Read ``a/b/year``; dots are day first everywhere."""
    if separator == ".":
        return _day(year, second, first)
    if max(first, second) > 31 or min(first, second) == 0 or min(first, second) > 12:
        return When(impossible=True)
    if max(first, second) > 12:
        return _day(year, *((second, first) if first > 12 else (first, second)))
    if first == second:
        return _day(year, first, second)
    if order:
        found = _day(year, *((first, second) if order == "month_first" else (second, first)))
        return When(found.first, found.last, swapped=True)
    options = [when.first for when in (_day(year, first, second), _day(year, second, first)) if when.first]
    return When(options=tuple(options))


def _iso(match: re.Match[str]) -> When:
    return _day(int(match[1]), int(match[2]), int(match[3]))


def _named(match: re.Match[str]) -> When:
    month = month_number(match[2])
    return _day(_year(match[3]), month, int(match[1])) if month else When()


def _named_first(match: re.Match[str]) -> When:
    month = month_number(match[1])
    return _day(int(match[3]), month, int(match[2])) if month else When()


def _week(match: re.Match[str]) -> When:
    try:
        monday = dt.date.fromisocalendar(int(match[1] or match[4]), int(match[2] or match[3]), 1)
    except ValueError:
        return When(impossible=True)
    return When(monday, monday + dt.timedelta(days=6))


def _quarter(match: re.Match[str]) -> When:
    year = int(match[2] or match[3] or match[5])
    said = match[1] or match[4] or match[6]
    number = _DIGITS.index(said) + 1 if said in _DIGITS else int(said)
    return _window(year, 3 * number - 2, 3)


def _month(match: re.Match[str]) -> When:
    month = int(match[2]) if match[2] else month_number(match[3])
    return _window(int(match[1] or match[4]), month, 1) if month and month <= 12 else When()


def _window(year: int, month: int, months: int) -> When:
    if year < 1900:
        return When(impossible=True)
    first = dt.date(year, month, 1)
    return When(first, month_end(add_months(first, months - 1)))


_READERS = (
    (_ISO, _iso), (_WEEK, _week), (_QUARTER, _quarter), (_NAMED, _named), (_NAMED_FIRST, _named_first), (_MONTH, _month),
)  # fmt: skip
