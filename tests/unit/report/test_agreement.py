"""One plan, one set of numbers: JSON, console, Markdown, HTML, XLSX and CSV, in both languages, agree."""

from __future__ import annotations

import csv
import json
import re
from decimal import Decimal
from io import BytesIO, StringIO
from typing import Any

import openpyxl
import pytest
from committee import committee, html_tables, markdown_tables, plan_file
from rich.console import Console

from optimizer.report.console import plan_screen
from optimizer.report.html import page
from optimizer.report.language import CODES, Language
from optimizer.report.markdown import markdown
from optimizer.report.orders import orders_csv, payments_csv
from optimizer.report.text import amount
from optimizer.report.views import report_of
from optimizer.report.workbook import workbook

Numbers = dict[str, Any]


def figure(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


@pytest.fixture(scope="module")
def stated() -> Numbers:
    """Return the figures of the plan file."""
    plan = json.loads(plan_file().read_text(encoding="utf-8"), parse_float=Decimal)
    cost = plan["cost"]
    return {
        "awards": [Decimal(award["cost"]).quantize(Decimal("0.01")) for award in plan["awards"]],
        "policies": [(Decimal(after["total"]), Decimal(after["npv"])) for after in cost["after_run"]],
        "total": Decimal(cost["total"]),
        "npv": Decimal(cost["npv"]),
        "years": {year: Decimal(value) for year, value in cost["by_fiscal_year"].items()},
        "lines": [Decimal(line["amount"]) for line in cost["lines"]],
        "units": [award["units"] for award in plan["awards"]],
    }


def of_tables(
    awards: list[list[str]], options: list[list[str]], policies: list[list[str]], quarters: list[list[str]]
) -> Numbers:
    """Return the figures of a document from its tables, headings first."""
    return {
        "awards": [figure(row[6]) for row in awards[1:-1]],
        "units": [int(row[3]) for row in awards[1:-1]],
        "total": figure(options[1][2]),
        "npv": figure(options[1][3]),
        "policies": [(figure(row[1]), figure(row[2])) for row in policies[1:]],
        "cash": figure(quarters[-1][3]),
    }


@pytest.mark.parametrize("code", CODES)
def test_html_and_markdown_show_the_figures_of_the_file(code: str, stated: Numbers) -> None:
    report = report_of(committee(), Language(code))  # type: ignore[arg-type]
    web = html_tables(page(report.document, report.language))
    text = markdown_tables(markdown(report.document, report.language))
    title = {key: report.language.text(f"table.{key}") for key in ("awards", "options", "after_run", "cash_by_quarter")}
    shown = of_tables(web["awards"], web["options"], web["after-run"], web["cash-by-quarter"])
    mailed = of_tables(*(text[title[key]] for key in title))
    assert shown == mailed
    assert {key: shown[key] for key in shown if key != "cash"} == {key: stated[key] for key in shown if key != "cash"}
    assert shown["cash"] == stated["total"]


@pytest.mark.parametrize("code", CODES)
def test_the_workbook_holds_the_figures_of_the_file(code: str, stated: Numbers) -> None:
    language = Language(code)  # type: ignore[arg-type]
    book = openpyxl.load_workbook(BytesIO(workbook(report_of(committee(), language))), data_only=True)
    places = {
        name: item.attr_text.replace("'", "").replace("$", "").split("!")
        for name, item in book.defined_names.items()
        if name in ("plan_total", "plan_npv")
    }
    assert {name: Decimal(str(book[sheet][cell].value)) for name, (sheet, cell) in places.items()} == {
        "plan_total": stated["total"], "plan_npv": stated["npv"]
    }  # fmt: skip
    lines = [row[3] for row in book[language.text("book.lines")].iter_rows(min_row=5, values_only=True)]
    assert [Decimal(str(value)) for value in lines] == stated["lines"]
    costs = [row[16] for row in book[language.text("book.awards")].iter_rows(min_row=5, values_only=True)]
    assert [Decimal(str(value)) for value in costs if value is not None] == stated["awards"]


def test_csv_adds_up_to_the_awards(stated: Numbers) -> None:
    report = report_of(committee(), Language())
    paid = list(csv.DictReader(StringIO(payments_csv(report).removeprefix("\ufeff"))))
    ordered = list(csv.DictReader(StringIO(orders_csv(report).removeprefix("\ufeff"))))
    for rows, column in ((paid, "amount"), (ordered, "cost")):
        by_offer: dict[tuple[str, str], Decimal] = {}
        for row in rows:
            key = (row["quote"], row["offer"])
            by_offer[key] = by_offer.get(key, Decimal(0)) + Decimal(row[column])
        assert [total for _, total in sorted(by_offer.items())] == stated["awards"]
    hardware = [row for row in ordered if row["unit"] == "unit"]
    units: dict[tuple[str, str], int] = {}
    for row in hardware:
        key = (row["quote"], row["offer"])
        units[key] = units.get(key, 0) + int(row["quantity"])
    assert [units[key] for key in sorted(units)] == stated["units"]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_console_shows_the_same_total_shortened(columns: int, stated: Numbers) -> None:
    console = Console(width=columns, record=True, file=StringIO(), highlight=False, markup=False, emoji=False)
    console.print(plan_screen(committee().plan, "committee.yaml"))
    text = " ".join(console.export_text().split())
    found = re.search(r"Cost ([\d.,]+ \w) EUR \(NPV ([\d.,]+ \w)\)", text)
    assert found
    assert found.groups() == (amount(stated["total"]), amount(stated["npv"]))
