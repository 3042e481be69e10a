"""The sheets that recompute: cost lines, payments, cash by date with its present value."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import accumulate

from optimizer.cost.items import invoices
from optimizer.report.exact import OUTSIDE_BUDGET, Stream, product
from optimizer.report.workbook.book import Book, Content, Formula, Page, Style
from optimizer.report.workbook.inputs import DISCOUNT_RATE, Input, Key, formula
from optimizer.results import Award, Cost, CostLine
from optimizer.units import MONEY_DIGITS, fiscal_year

Cell = Content | tuple[Content, Style]

_HEADS = (
    "line", "item", "award", "amount", "exact", "calculation", "award_number", "stream", "invoiced", "budget",
)  # fmt: skip
_EXACT, _FIRST_FACTOR = 4, len(_HEADS)
_DAYS_PER_YEAR = 365
"""Days of a year in the discount factor, by convention also in leap years."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Columns of the cost lines, for formulas of other sheets.

    Attributes:
        exact: Exact amounts.
        item: Names of the items.
        award: Number of the award each line goes with, counted from 1.
        stream: Number of its stream of payments.
        invoiced: 1 where the vendor invoices the line.
        budget: 1 where budgets count the line.
    """

    exact: str
    item: str
    award: str
    stream: str
    invoiced: str
    budget: str


@dataclass(frozen=True, slots=True)
class Payments:
    """Columns of the payments: days, exact amounts, fiscal years, and 1 where budgets count them."""

    day: str
    paid: str
    year: str
    budget: str


@dataclass(frozen=True, slots=True)
class CashFlow:
    """Columns of the cash by date: exact amounts, present values, fiscal years."""

    cash: str
    present: str
    year: str


def cost_lines(
    book: Book, cost: Cost, awards: tuple[Award, ...], known: dict[Key, Input], numbers: Mapping[int, int]
) -> Lines:
    """Write a row for each cost line: its factors, and their product."""
    most = max((len(line.factors) for line in cost.lines), default=1)
    t = book.language.text
    page = book.page(t("book.lines"), (6, 30, 28, 18, 22, 60, 8, 8, 8, 8, *[14] * most))
    page.titled(t("book.lines"), t("book.lines_note"))
    factors = (t("book.factor", number=number) for number in range(1, most + 1))
    own = {"amount": book.head("book.amount"), "exact": book.head("book.exact", exact=True)}
    heads = (*(own.get(head) or t(f"book.{head}") for head in _HEADS), *factors)
    page.heading(heads, {0, 3, 4, *range(6, len(heads))}, filtered=True, frozen_columns=2)
    first = page.row
    for position, line in enumerate(cost.lines):
        award = None if line.award is None else awards[line.award]
        page.add(_line(page, book, line, position + 1, award, numbers[position], most))
        for column, factor in enumerate(line.factors, start=_FIRST_FACTOR):
            page.put(page.row - 1, column, formula(factor, known), "factor")
    columns = [page.column(column, first, page.row - 1) for column in range(_FIRST_FACTOR)]
    return Lines(columns[_EXACT], columns[1], *columns[6:])


def _line(
    page: Page, book: Book, line: CostLine, number: int, award: Award | None, stream: int, most: int
) -> Iterator[Cell]:
    language, row = book.language, page.row
    yield (number, "number")
    yield language.item(line.item)
    yield f"{award.quote} / {award.offer}" if award else ""
    yield (Formula(book.rounded(page.cell(row, _EXACT)), book.amount(line.amount)), "money")
    span = page.column(_FIRST_FACTOR, row, row), page.cell(row, _FIRST_FACTOR + most - 1)
    yield (Formula(f"PRODUCT({span[0].split(':')[0]}:{span[1].split('!')[1]})", product(line)), "exact")
    yield (_calculation(line, book), "unit")
    yield (line.award + 1, "number") if line.award is not None else ""
    yield (stream, "number")
    yield (int(invoices(line.item)), "number")
    yield (int(line.item not in OUTSIDE_BUDGET), "number")


def _calculation(line: CostLine, book: Book) -> str:
    """Return the names and units of the factors; last the rate of this report, when it converts."""
    language = book.language
    parts = [f"{language.phrase(factor.name)} ({language.phrase(factor.unit)})" for factor in line.factors]
    if book.shown != book.currency:
        parts.append(f"{language.text('view.rate')} ({book.shown} per {book.currency})")
    return " × ".join(parts)


def payments(book: Book, cost: Cost, streams: tuple[Stream, ...], lines: Lines) -> Payments:
    """Write a row for each payment: the share of its stream, on its day."""
    t = book.language.text
    page = book.page(t("book.payments"), (9, 16, 14, 22, 22, 12, 9))
    page.titled(t("book.payments"), t("book.payments_note"))
    heads = ("stream", "date", "share", "stream_amount", "exact", "year", "budget")
    own = {head: book.head(f"book.{head}", exact=True) for head in ("stream_amount", "exact")}
    page.heading([own.get(head) or t(f"book.{head}") for head in heads], {0, 2, 3, 4, 6})
    first = page.row
    for stream in streams:
        start = page.row
        for day, share in stream.parts:
            whole = (
                f"SUMIFS({lines.exact},{lines.stream},{stream.number})" if page.row == start else page.cell(start, 3)
            )
            paid = f"{page.cell(page.row, 2)}*{page.cell(page.row, 3)}"
            page.add(
                (
                    (stream.number, "number"),
                    (day, "date"),
                    (share, "factor"),
                    (Formula(whole, stream.amount), "exact"),
                    (Formula(paid, stream.amount * share), "exact"),
                    (fiscal_year(day, cost.fiscal_year_start or 1), "unit"),
                    (int(stream.budget), "number"),
                )
            )
    columns = [page.column(column, first, page.row - 1) for column in range(7)]
    return Payments(columns[1], *columns[4:])


def cash_flow(book: Book, cost: Cost, days: Mapping[dt.date, Decimal], paid: Payments) -> CashFlow:
    """Write a row for each day on which cash moves: amount, running sum, discount factor, present value."""
    t = book.language.text
    page = book.page(t("book.cash"), (16, 12, 10, 20, 20, 16, 20, 22))
    page.titled(t("book.cash"), t("book.cash_note"))
    heads = ("date", "year", "days", "cash", "running", "discount", "present", "exact")
    own = {head: book.head(f"book.{head}", exact=head in ("present", "exact")) for head in heads[3:5] + heads[6:]}
    page.heading([own.get(head) or t(f"book.{head}") for head in heads], {2, 3, 4, 5, 6, 7})
    first = page.row
    for (day, amount), running in zip(days.items(), accumulate(days.values()), strict=True):
        page.add(_cash_row(page, book, cost, day, amount, running, first, paid))
    columns = [page.column(column, first, page.row - 1) for column in range(len(heads))]
    return CashFlow(columns[7], columns[6], columns[1])


def _cash_row(
    page: Page, book: Book, cost: Cost, day: dt.date, amount: Decimal, running: Decimal, first: int, paid: Payments
) -> Iterator[Cell]:
    row = page.row
    elapsed, discount = (day - book.today).days, discount_factor(cost, (day - book.today).days)
    yield (day, "date")
    yield (fiscal_year(day, cost.fiscal_year_start or 1), "unit")
    yield (elapsed, "number")
    yield (Formula(book.rounded(page.cell(row, 7)), book.amount(amount)), "money")
    yield (Formula(book.rounded(f"SUM({page.column(7, first, row)})"), book.amount(running)), "money")
    yield (Formula(f"(1+{DISCOUNT_RATE})^(-{page.cell(row, 2)}/{_DAYS_PER_YEAR})", discount), "factor")
    yield (Formula(f"{page.cell(row, 7)}*{page.cell(row, 5)}", amount * discount), "exact")
    yield (Formula(f"SUMIFS({paid.paid},{paid.day},{page.cell(row, 0)})", amount), "exact")


def discount_factor(cost: Cost, days: int) -> Decimal:
    """Return (1 + rate) ^ (-days / 365)."""
    with localcontext() as context:
        context.prec = MONEY_DIGITS
        return (1 + (cost.discount_rate or Decimal(0))) ** (-Decimal(days) / _DAYS_PER_YEAR)
