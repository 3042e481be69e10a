"""Calendar steps and minor units by hand."""

from __future__ import annotations

import datetime as dt
import doctest
from decimal import Decimal

import pytest

from optimizer import units


def day(text: str) -> dt.date:
    """Return an ISO date."""
    return dt.date.fromisoformat(text)


def test_doctests() -> None:
    result = doctest.testmod(units)
    assert result.attempted > 8
    assert result.failed == 0


@pytest.mark.parametrize(
    ("start", "months", "end"),
    [
        ("2026-11-30", 36, "2029-11-30"),
        ("2028-02-29", 12, "2029-02-28"),
        ("2027-01-31", 1, "2027-02-28"),
        ("2027-12-31", 2, "2028-02-29"),
        ("2027-03-31", -1, "2027-02-28"),
        ("2027-05-05", 0, "2027-05-05"),
    ],
)
def test_add_months(start: str, months: int, end: str) -> None:
    assert units.add_months(day(start), months) == day(end)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("2027-02-01", "2027-04-14", 2 + Decimal(13) / 30),
        ("2027-01-31", "2027-02-28", 1),  # the short month's last day is one month later
        ("2027-01-31", "2027-02-27", Decimal(27) / 28),
        ("2027-01-29", "2028-01-01", 11 + Decimal(3) / 31),
        ("2027-01-01", "2027-01-01", 0),
        ("2027-01-15", "2027-01-14", -1 + Decimal(30) / 31),
    ],
)
def test_months_between(start: str, end: str, expected: Decimal) -> None:
    assert round(units.months_between(day(start), day(end)), 20) == round(Decimal(expected), 20)


def test_calendar_shares_cover_every_day_once() -> None:
    shares = units.calendar_shares(day("2027-01-31"), day("2028-03-01"))
    assert sum(covered for _, covered, _ in shares) == 396
    assert shares[0] == (day("2027-01-31"), 1, 31)
    assert shares[-2:] == [(day("2028-02-29"), 29, 29), (day("2028-03-31"), 1, 31)]
    assert units.calendar_shares(day("2027-02-01"), day("2027-01-31")) == []


@pytest.mark.parametrize(
    ("date", "start_month", "label"),
    [
        ("2027-01-01", 1, "2027"),
        ("2027-06-30", 7, "2026/27"),
        ("2027-07-01", 7, "2027/28"),
        ("1999-12-01", 12, "1999/00"),
    ],
)
def test_fiscal_year(date: str, start_month: int, label: str) -> None:
    assert units.fiscal_year(day(date), start_month) == label


@pytest.mark.parametrize(
    ("amount", "currency", "expected"),
    [
        ("0.005", "USD", "0.01"), ("-0.005", "USD", "-0.01"), ("0.00499", "USD", "0.00"), ("1234.5", "JPY", "1235"),
        ("0.0005", "KWD", "0.001"), ("123456789012345678901.235", "EUR", "123456789012345678901.24"),
    ],
)  # fmt: skip
def test_round_money(amount: str, currency: str, expected: str) -> None:
    assert str(units.round_money(Decimal(amount), currency)) == expected
