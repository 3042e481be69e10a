"""A plan as an XLSX workbook: the memo, sheets whose totals are live formulas, and the lists behind them."""

from __future__ import annotations

from decimal import Decimal

from optimizer.report.cells import Writer
from optimizer.report.document import Absent, Document
from optimizer.report.exact import by_day, streams
from optimizer.report.views import Report
from optimizer.report.views.currency import Conversion, converted_part
from optimizer.report.workbook import inputs
from optimizer.report.workbook.book import Book
from optimizer.report.workbook.cost import cash_flow, cost_lines, payments
from optimizer.report.workbook.lists import tables
from optimizer.report.workbook.sections import Sheets
from optimizer.report.workbook.totals import Figures, awards, limits, totals
from optimizer.results import Cost, Plan

_WIDTHS = (36, *[20] * 9)
_LIVE = ("cost", "deliveries")
"""Details that live sheets show instead."""


def workbook(report: Report) -> bytes:
    """Return the workbook of a plan; a plan without a price has its memo and lists only.

    Raises:
        InputError: the plan was written by a version that did not say when its cost is paid.
    """
    source, language, to = report.source, report.language, report.conversion
    currency = source.currency or "USD"
    shown, rate = (to.currency, to.rate(currency)) if to else (currency, Decimal(1))
    book = Book(language, currency, shown, rate, source.plan.provenance.today)
    sheets = Sheets(Writer(language))
    _memo(book, sheets, report.document)
    live = source.plan.cost is not None and report.priced
    if live and source.plan.cost is not None:
        _figures(book, source.plan, source.plan.cost, to)
    for section in report.document.details:
        known = any(not isinstance(block, Absent) for block in section.blocks)
        if known and not (live and section.id in _LIVE):
            title = language.text(section.title)
            sheets.sections(book.page(title, _WIDTHS), (section,))
    for table in tables(source) if report.priced else ():
        rewritten = converted_part(table, to) if to else table
        page = book.page(language.text(table.title), [24] * len(table.columns))
        page.titled(language.text(table.title))
        sheets.table(page, rewritten, alone=True)
    return book.content()


def _memo(book: Book, sheets: Sheets, document: Document) -> None:
    page = book.page(book.language.text("book.memo"), _WIDTHS)
    page.titled(str(document.name.value), book.language.text("book.memo_note"))
    for warning in document.warnings:
        sheets.block(page, warning)
    sheets.sections(page, document.memo, drawings=False)


def _figures(book: Book, plan: Plan, cost: Cost, to: Conversion | None) -> None:
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
    awards(book, figures, to)
    limits(book, figures)
