"""The sheets of figures: live totals beside those of the plan, awards, limits."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from optimizer.report.cells import Writer
from optimizer.report.document import factor, several
from optimizer.report.exact import product, quoted_prices
from optimizer.report.language import Language
from optimizer.report.views.currency import Conversion
from optimizer.report.workbook.book import Book, Content, Formula, Page, Style
from optimizer.report.workbook.cost import CashFlow, Lines, Payments
from optimizer.results import Award, Cost, LimitUse, Plan

Cell = Content | tuple[Content, Style]

TOTAL, NPV = "plan_total", "plan_npv"
"""Names of the cells that hold the recomputed total and present value."""


@dataclass(frozen=True, slots=True)
class Figures:
    """A plan with its cost, and where the sheets hold what it is recomputed from."""

    plan: Plan
    cost: Cost
    lines: Lines
    paid: Payments
    flow: CashFlow


def totals(page: Page, book: Book, figures: Figures) -> None:
    """Fill the sheet of totals: recomputed, as the plan states them, and the difference; by item; by fiscal year."""
    t, cost = book.language.text, figures.cost
    compared = (t("book.recomputed"), t("book.of_plan"), t("book.difference"))
    page.titled(t("book.totals"), t("book.totals_note"))
    page.heading((t("book.figure"), *compared), {1, 2, 3})
    for name, key, formula, stated in (
        (TOTAL, "book.total", f"SUM({figures.lines.exact})", cost.total),
        (NPV, "book.npv", f"SUM({figures.flow.present})", cost.npv),
    ):
        row = page.add(_compared(page, book, t(key), formula, stated))
        book.name(name, page.cell(row, 1))
    page.skip()
    page.heads((t("book.year"), *compared), {1, 2, 3})
    for year, stated in cost.by_fiscal_year.items():
        page.add(_compared(page, book, year, f'SUMPRODUCT(({figures.flow.year}="{year}")*{figures.flow.cash})', stated))
    page.skip()
    page.heads((t("book.item"), t("book.recomputed")), {1})
    for words, amount in _by_item(cost, book.language):
        own = f"SUMPRODUCT(EXACT({figures.lines.item},{page.cell(page.row, 0)})*{figures.lines.exact})"
        page.add((words, (Formula(book.rounded(own), book.amount(amount)), "money")))
    page.skip()
    page.heads((t("book.after_run"), t("book.total"), t("book.npv")), {1, 2})
    for after in cost.after_run:
        page.add((book.language.name("after_run", after.policy), _shown(book, after.total), _shown(book, after.npv)))
    page.paragraph(t("book.after_run_note"), "note", 4)


def _shown(book: Book, amount: Decimal | None) -> Cell:
    return (None if amount is None else book.amount(amount), "money")


def _compared(page: Page, book: Book, words: str, formula: str, stated: Decimal) -> Iterator[Cell]:
    """Yield a figure recomputed, as the plan states it, and the difference."""
    row, shown = page.row, book.amount(stated)
    yield words
    yield (Formula(book.rounded(formula), shown), "money")
    yield (shown, "money")
    yield (Formula(f"{page.cell(row, 1)}-{page.cell(row, 2)}", Decimal(0)), "money")


def _by_item(cost: Cost, language: Language) -> Iterable[tuple[str, Decimal]]:
    """Return the exact sum of the lines of each item by its name: what a reader cannot tell apart is one."""
    sums: dict[str, Decimal] = {}
    for line in cost.lines:
        words = language.item(line.item)
        sums[words] = sums.get(words, Decimal(0)) + product(line)
    return sums.items()


def awards(book: Book, figures: Figures, to: Conversion | None) -> None:
    """Write the sheet of awards, a row for each lot; the cost of an award follows its lines.

    Args:
        book: The workbook.
        figures: The plan, and where its lines stand.
        to: Converts unit prices; None leaves them in the currency of the plan.
    """
    t = book.language.text
    heads = (
        "vendor", "quote", "offer", "platform", "type", "place", "units", "nodes", "accelerators", "unit_price",
        "currency", "tier", "order_date", "lot_units", "delivery_date", "contract_end", "award_cost",
        "quoted_price",
    )  # fmt: skip
    page = book.page(t("book.awards"), (28, 20, 16, 18, 14, 22, 8, 8, 12, 16, 9, 7, 15, 9, 15, 15, 18, 34))
    page.titled(t("book.awards"), t("book.awards_note", currency=book.shown))
    page.heading([t(f"book.{head}") for head in heads], {6, 7, 8, 9, 11, 13, 16}, filtered=True, frozen_columns=2)
    for number, award in enumerate(figures.plan.awards, start=1):
        for position, (units, day) in enumerate(award_lots(award)):
            page.add(
                (
                    *_award(book, award, to),
                    (units, "number"),
                    (day, "date"),
                    _until(award),
                    _paid(book, figures, number, award) if position == 0 else "",
                    _quoted(book, figures, number),
                )
            )


def award_lots(award: Award) -> list[tuple[int, dt.date]]:
    """Return units and day of each delivery of an award."""
    return [(lot.units, lot.delivery_date) for lot in award.lots] or [(award.units, award.delivery_date)]


def _award(book: Book, award: Award, to: Conversion | None) -> tuple[Cell, ...]:
    price = to.price(award.unit_price, award.currency) if to else award.unit_price
    return (
        award.vendor, award.quote, award.offer, award.platform, book.language.name("offer", award.type), award.place,
        (award.units, "number"), (award.nodes, "number"), (award.accelerators, "number"), (price, "number"),
        (to.currency if to else award.currency, "unit"), (award.tier, "number") if award.tier else "",
        (award.order_date, "date"),
    )  # fmt: skip


def _quoted(book: Book, figures: Figures, number: int) -> str:
    """Return the prices that the quote of an award states."""
    prices = (factor(each.value, each.unit) for each in quoted_prices(figures.cost, number - 1))
    return Writer(book.language).text(several(prices))


def _until(award: Award) -> Cell:
    return (award.contract_end, "date") if award.contract_end else ""


def _paid(book: Book, figures: Figures, number: int, award: Award) -> Cell:
    lines = figures.lines
    own = f"SUMIFS({lines.exact},{lines.award},{number},{lines.invoiced},1)"
    return (Formula(book.rounded(own), book.amount(award.cost)), "money")


def limits(book: Book, figures: Figures) -> None:
    """Write the sheet of limits; what budgets count follows the payments."""
    t, language = book.language.text, book.language
    page = book.page(t("book.limits"), (22, 34, 20, 20, 20, 20, 10))
    page.titled(t("book.limits"), t("book.limits_note"))
    heads = ("limit", "period", "used", "available", "slack", "unit", "binding")
    page.heading([t(f"book.{head}") for head in heads], {2, 3, 4})
    for limit in figures.plan.limits:
        style: Style = "money" if limit.unit == book.currency else "number"
        binding = "" if limit.binding is None else t("word.yes") if limit.binding else t("word.no")
        page.add(
            (
                language.name("limit", limit.name),
                language.phrase(limit.period or ""),
                (_used(book, figures, limit), style),
                (_converted(book, limit, limit.available), style),
                (_slack(page, book, limit), style),
                (book.shown if limit.unit == book.currency else language.phrase(limit.unit), "unit"),
                binding,
            )
        )


def _converted(book: Book, limit: LimitUse, value: Decimal | None) -> Decimal | None:
    return book.amount(value) if value is not None and limit.unit == book.currency else value


def _used(book: Book, figures: Figures, limit: LimitUse) -> Content:
    used = _converted(book, limit, limit.used)
    paid = figures.paid
    counted = {
        "budget": f"SUMIFS({paid.paid},{paid.budget},1)",
        "budget_year": f'SUMPRODUCT(({paid.year}="{limit.period}")*{paid.budget}*{paid.paid})',
    }.get(limit.name)
    return Formula(book.rounded(counted), used) if counted and used is not None else used


def _slack(page: Page, book: Book, limit: LimitUse) -> Content:
    slack = _converted(book, limit, limit.slack)
    if slack is None or limit.unit != book.currency:
        return slack
    return Formula(f"{page.cell(page.row, 3)}-{page.cell(page.row, 2)}", slack)
