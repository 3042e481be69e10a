"""Numbers as people write them: every reading a text allows, and the style of a file that decides between them.

``1,234`` is 1234 with commas between thousands, and 1.234 with a decimal comma: two readings, a factor of a thousand.
A number is accepted when it has one reading, or when the file's other numbers show one style.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from optimizer.io.importing.vocabulary import fold
from optimizer.schema.base import MAX_MAGNITUDE

MAX_NUMBER_LENGTH = 48
"""Longest text that is read as one number."""

CLEAR_MAJORITY = 50
"""So many numbers of one style against one of the other are a style with slips, not two styles."""

_SPACES = dict.fromkeys(
    map(ord, "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000"), " "
)
_TYPOGRAPHY = str.maketrans({**{ord(char): "'" for char in "’‘`´ʼ"}, **{ord(char): "-" for char in "−‐‑"}, **_SPACES})
_NO_CENTS = re.compile(r"^(.*\d)([.,])(?:-{1,2}|–|—)$")
_EXPONENT = re.compile(r"(\d+)(?:([.,])(\d+))?e([-+]?\d{1,2})")


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a number: its value and the decimal mark this way implies (empty: it has none to show)."""

    value: Decimal
    mark: str


@lru_cache(maxsize=65536)
def plain(text: str) -> str:
    """Return text with one kind of apostrophe, minus and blank, full-width digits made half-width.

    >>> plain("１０２４"), plain("443’278")
    ('1024', "443'278")
    """
    return fold(text.translate(_TYPOGRAPHY)).translate(_TYPOGRAPHY)


@lru_cache(maxsize=65536)
def readings(text: str) -> tuple[Reading, ...]:
    """Return every way to read a number without sign, currency and words; none when it is no number.

    >>> [str(reading.value) for reading in readings("1,234")]
    ['1.234', '1234']
    >>> [str(reading.value) for reading in readings("12,34,567.50")]
    ['1234567.50']
    >>> readings("1,2345.00"), readings("1 ,")
    ((), ())
    """
    text = plain(text)
    if not text or len(text) > MAX_NUMBER_LENGTH or not (text[0].isdigit() or text[0] in ".,"):
        return ()
    if match := _EXPONENT.fullmatch(text):
        whole, mark, rest, power = match.groups()
        return _bounded([Reading(unscaled(Decimal(f"{whole}.{rest or 0}e{power}")), mark or "")])
    if match := _NO_CENTS.fullmatch(text):
        return tuple(
            reading for reading in readings(match[1]) if reading.mark in ("", match[2]) and reading.value % 1 == 0
        )
    patterns = _PATTERNS.get(_MARKS.intersection(text), [])
    found = [reading for pattern, group, mark in patterns if (reading := _read(text, pattern, group, mark))]
    return _bounded(found)


def unscaled(number: Decimal) -> Decimal:
    """Return a number without needless zeros and without an exponent: 3.5E+5 becomes 350000, 12.50 becomes 12.5."""
    return Decimal(f"{number.normalize():f}") if number else Decimal(0)


def choose(found: tuple[Reading, ...], mark: str) -> tuple[Reading, ...]:
    """Return the readings left when the file's decimal mark is known (empty: it is not)."""
    if len(found) < 2 or not mark:
        return found
    return tuple(reading for reading in found if reading.mark == mark) or found


def decimal_mark(texts: Iterable[str]) -> str:
    """Return the decimal mark that the numbers of a file agree on; empty when they show none or both.

    Only numbers with a single reading count.
    """
    votes = {".": 0, ",": 0}
    for text in texts:
        found = readings(text)
        if len(found) == 1 and found[0].mark:
            votes[found[0].mark] += 1
    few, many = sorted(votes, key=lambda mark: votes[mark])
    return many if votes[many] > CLEAR_MAJORITY * votes[few] else ""


Pattern = tuple[re.Pattern[str], str, str]
"""Pattern, group mark, decimal mark implied."""


def _patterns() -> dict[frozenset[str], list[Pattern]]:
    """Return the patterns by the marks a number has to hold: each pattern holds all of its own and no other."""
    grouped = {"": r"\d+", ",": r"[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d?(?:,\d{2})+,\d{3}"}
    grouped |= {mark: rf"[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+" for mark in ".' "}
    found: dict[frozenset[str], list[Pattern]] = {}
    for group, whole in grouped.items():
        implied = {",": ".", ".": ","}.get(group, "")
        found.setdefault(frozenset(group), []).append((re.compile(f"({whole})()"), group, implied))
        for mark in (mark for mark in ".," if mark != group):
            pattern = re.compile(
                rf"({whole}|){re.escape(mark)}(\d+)" if not group else rf"({whole}){re.escape(mark)}(\d+)"
            )
            found.setdefault(frozenset(group + mark), []).append((pattern, group, mark))
    return found


_PATTERNS = _patterns()
_MARKS = frozenset(",.' ")


def _read(text: str, pattern: re.Pattern[str], group: str, mark: str) -> Reading | None:
    match = pattern.fullmatch(text)
    if not match:
        return None
    whole = match[1].replace(group, "") if group else match[1]
    return Reading(Decimal(f"{whole or 0}.{match[2]}" if match[2] else whole), mark)


def _bounded(found: list[Reading]) -> tuple[Reading, ...]:
    """Return readings of different values, none beyond what any input may hold."""
    distinct: dict[Decimal, Reading] = {}
    for reading in found:
        if abs(reading.value) <= MAX_MAGNITUDE:
            distinct.setdefault(reading.value, reading)
    return tuple(distinct.values())
