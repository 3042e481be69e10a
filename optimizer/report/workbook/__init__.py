"""A plan as an XLSX workbook whose totals are live formulas."""

from __future__ import annotations

from decimal import Decimal

from optimizer.report.language import Language
from optimizer.report.workbook import inputs
from optimizer.report.workbook.book import Book
from optimizer.report.workbook.cost import cash_flow, cost_lines, payments
from optimizer.report.workbook.exact import by_day, streams
from optimizer.report.workbook.totals import Figures, awards, limits, totals
from optimizer.results import Cost, Plan


def workbook(plan: Plan, language: Language) -> bytes:
    """Return the workbook of a plan.

    Raises:
        InputError: the plan was written by a version that did not say when its cost is paid.
    """
    currency = plan.cost.currency if plan.cost else "USD"
    book = Book(language, currency, currency, Decimal(1), plan.provenance.today)
    if plan.cost is not None:
        _figures(book, plan, plan.cost)
    return book.content()


def _figures(book: Book, plan: Plan, cost: Cost) -> None:
    t = book.language.text
    summary = book.page(t("book.totals"), (34, 22, 22, 16))
    known = inputs.inputs(cost)
    inputs.write(book, known.values(), cost.discount_rate or Decimal(0))
    numbers, found = streams(cost)
    lines = cost_lines(book, cost, plan.awards, known, numbers)
    paid = payments(book, cost, found, lines)
    flow = cash_flow(book, cost, by_day(found), paid)
    figures = Figures(plan, cost, lines, paid, flow)
    totals(summary, book, figures)
    awards(book, figures)
    limits(book, figures)
