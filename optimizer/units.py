"""Calendar steps and minor units of money: the pure functions every stage shares.

Days are ISO calendar dates without time zone; amounts are Decimals in major units (dollars, not cents).
Nothing here knows about offers, capacity or cash flow.
"""

from __future__ import annotations

import calendar
import datetime as dt
from decimal import ROUND_HALF_UP, Decimal, localcontext

MONEY_DIGITS = 40
"""Digits of exact Decimal arithmetic on money; enough for 1e21 with 18 digits behind the point."""

_MINOR_DIGITS = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
"""Currencies whose minor unit is not 1/100, by digits behind the point (ISO 4217, list one)."""

_DIGITS_OF = {code: digits for digits, codes in _MINOR_DIGITS.items() for code in codes.split()}
_NOISE = Decimal("1e-15")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun in the right form.

    >>> counted(1, "node"), counted(1248, "node"), counted(0, "day")
    ('1 node', '1,248 nodes', '0 days')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def month_end(day: dt.date) -> dt.date:
    """Return the last day of the month of a day.

    >>> month_end(dt.date(2028, 2, 3))
    datetime.date(2028, 2, 29)
    """
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def add_months(day: dt.date, months: int) -> dt.date:
    """Return the same day ``months`` later, or the last day of that month when it is shorter.

    >>> add_months(dt.date(2026, 11, 30), 3)
    datetime.date(2027, 2, 28)
    >>> add_months(dt.date(2027, 1, 15), -1)
    datetime.date(2026, 12, 15)
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return dt.date(year, month + 1, min(day.day, last))


def months_between(start: dt.date, end: dt.date) -> Decimal:
    """Return the age in months: whole months m with add_months(start, m) <= end, plus the rest.

    The rest is the remaining days over the days of their month step; negative when ``end`` is before ``start``.

    >>> months_between(dt.date(2027, 1, 31), dt.date(2027, 3, 14))
    Decimal('1.451612903225806451612903225806451612903')
    >>> months_between(dt.date(2027, 5, 4), dt.date(2030, 5, 4))
    Decimal('36')
    """
    whole = (end.year - start.year) * 12 + end.month - start.month
    if add_months(start, whole) > end:
        whole -= 1
    reached, following = add_months(start, whole), add_months(start, whole + 1)
    with localcontext() as context:
        context.prec = MONEY_DIGITS
        return whole + Decimal((end - reached).days) / (following - reached).days


def calendar_shares(first: dt.date, last: dt.date) -> list[tuple[dt.date, int, int]]:
    """Return (month end, covered days, days of the month) for each calendar month that first .. last touches.

    Both days are covered; the list is empty when ``last`` is before ``first``.

    >>> calendar_shares(dt.date(2027, 1, 30), dt.date(2027, 2, 14))
    [(datetime.date(2027, 1, 31), 2, 31), (datetime.date(2027, 2, 28), 14, 28)]
    """
    shares = []
    while first <= last:
        end = month_end(first)
        shares.append((end, (min(end, last) - first).days + 1, end.day))
        first = end + dt.timedelta(days=1)
    return shares


def fiscal_year(day: dt.date, start_month: int) -> str:
    """Return the label of the fiscal year a day lies in: ``2027`` from January, else ``2026/27``.

    >>> fiscal_year(dt.date(2027, 3, 31), 1), fiscal_year(dt.date(2027, 3, 31), 4), fiscal_year(dt.date(2099, 4, 1), 4)
    ('2027', '2026/27', '2099/00')
    """
    year = day.year if day.month >= start_month else day.year - 1
    return str(year) if start_month == 1 else f"{year}/{(year + 1) % 100:02d}"


def minor_digits(currency: str) -> int:
    """Return the digits behind the point of a currency's minor unit (ISO 4217).

    >>> minor_digits("USD"), minor_digits("JPY"), minor_digits("KWD")
    (2, 0, 3)
    """
    return _DIGITS_OF.get(currency, 2)


def round_money(amount: Decimal, currency: str) -> Decimal:
    """Return an amount rounded half up (away from zero) to the currency's minor unit.

    What is left of a division after 40 digits is removed first, so that 1/3 x 0.015 rounds like 0.005.

    >>> round_money(Decimal("2.345"), "USD"), round_money(Decimal("-2.345"), "USD"), round_money(Decimal("0.5"), "JPY")
    (Decimal('2.35'), Decimal('-2.35'), Decimal('1'))
    >>> round_money(Decimal("0.004999999999999999999999999999"), "USD")
    Decimal('0.01')
    """
    with localcontext() as context:
        context.prec = 2 * MONEY_DIGITS
        exact = amount.quantize(_NOISE)
        return exact.quantize(Decimal(1).scaleb(-minor_digits(currency)), rounding=ROUND_HALF_UP)
