"""A plan as an XLSX workbook: the memo, sheets whose totals are live formulas, and the lists behind them."""

from __future__ import annotations

from decimal import Decimal

from optimizer.report.cells import Writer
from optimizer.report.document import Document
from optimizer.report.language import Language
from optimizer.report.source import Source
from optimizer.report.workbook import inputs
from optimizer.report.workbook.book import Book
from optimizer.report.workbook.cost import cash_flow, cost_lines, payments
from optimizer.report.workbook.exact import by_day, streams
from optimizer.report.workbook.lists import tables
from optimizer.report.workbook.sections import Sheets
from optimizer.report.workbook.totals import Figures, awards, limits, totals
from optimizer.results import Cost, Plan


def workbook(document: Document, source: Source, language: Language) -> bytes:
    """Return the workbook of a plan; a plan without a price has its memo and lists only.

    Raises:
        InputError: the plan was written by a version that did not say when its cost is paid.
    """
    currency = source.currency or "USD"
    book = Book(language, currency, currency, Decimal(1), source.plan.provenance.today)
    sheets = Sheets(Writer(language))
    memo = book.page(language.text("book.memo"), (44, 26, 22, 22, 22, 22, 22, 22, 22, 22))
    memo.titled(str(document.name.value), language.text("book.memo_note"))
    sheets.sections(memo, document.memo)
    if source.plan.cost is not None:
        _figures(book, source.plan, source.plan.cost)
    for table in tables(source):
        page = book.page(language.text(table.title), [24] * len(table.columns))
        page.titled(language.text(table.title))
        sheets.table(page, table, alone=True)
    return book.content()


def _figures(book: Book, plan: Plan, cost: Cost) -> None:
    """Write the sheets that recompute."""
    summary = book.page(book.language.text("book.totals"), (34, 22, 22, 16))
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
