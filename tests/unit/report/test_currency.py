"""``--currency``: no amount is left in another currency unless it says so, and what is shown can be recomputed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from io import BytesIO
from math import prod

import openpyxl
import pytest
from committee import DATA, committee, folder, html_tables, infeasible
from foreign import foreign, segments

from optimizer.api import solve
from optimizer.io.json_text import plan_json
from optimizer.report.document import Several, Table, Value, sentence
from optimizer.report.html import page
from optimizer.report.language import CODES, Code, Language
from optimizer.report.source import Source, read_source
from optimizer.report.views import report_of
from optimizer.report.views.currency import conversion, converted_part
from optimizer.report.workbook import workbook
from optimizer.results import Amount
from optimizer.units import round_money

KNOWN = {"USD", "EUR", "CNY", "JPY"}
"""Currencies of the committee's scenario."""


def unpaid() -> Source:
    """Return the plan file of a budget that buys nothing."""
    path = folder() / "unpaid.json"
    path.write_text(plan_json(solve(DATA / "committee.yaml", sets=["budget.total=1e6"])), encoding="utf-8")
    return read_source(path)


def told() -> Source:
    """Return the committee's plan with a clause, a printed amount and a rejection that tell amounts."""
    source = committee()
    assert source.loaded is not None
    acme = source.loaded.quotes["acme-2291"]
    acme = acme.model_copy(update={"terms": {"penalty": "0.5 % a week, at most USD 50,000", "acceptance": "72 h"}})
    loaded = replace(source.loaded, quotes={**source.loaded.quotes, "acme-2291": acme})
    need = Amount.written(Decimal("52548960.5"), "EUR"), Amount.written(Decimal(40_000_000), "EUR", coded=False)
    why = {"reason": f"needs {need[0].text}, {need[1].text} available", "amounts": need, "limit": "budget"}
    rejections = tuple(each.model_copy(update=why) for each in source.plan.rejections[:1])
    return replace(source, loaded=loaded, plan=source.plan.model_copy(update={"rejections": rejections}))


ASKED: tuple[tuple[Callable[[], Source], str, Code], ...] = (
    (told, "CNY", "en"), (told, "CNY", "zh"), (told, "JPY", "zh"), (infeasible, "JPY", "en"), (infeasible, "USD", "zh"),
    (unpaid, "CNY", "en"), (unpaid, "JPY", "zh"),
)  # fmt: skip


@pytest.mark.parametrize(("plan", "currency", "code"), ASKED)
def test_no_amount_is_left_in_another_currency(plan: Callable[[], Source], currency: str, code: Code) -> None:
    assert foreign(report_of(plan(), Language(code), currency), KNOWN - {currency}) == []


@pytest.mark.parametrize("code", CODES)
def test_the_search_finds_what_is_not_converted(code: Code) -> None:
    found = {name for name, _ in foreign(report_of(told(), Language(code)), {"EUR"})}
    assert found == {"html", "md", "xlsx", "orders", "payments"}


def test_withheld_prices_are_withheld_in_every_currency() -> None:
    assert foreign(report_of(told(), Language(), "CNY", prices=False), KNOWN) == []


def test_words_with_amounts_are_converted_or_marked() -> None:
    report = report_of(told(), Language(), "CNY")
    text = "\n".join(cell for _, cell in segments(report))
    rate = Decimal("7.79079798706")
    need, have = (f"{round_money(amount * rate, 'CNY'):,f}" for amount in (Decimal("52548960.5"), Decimal(40_000_000)))
    assert f"needs {need} CNY, {have} available" in text
    assert "0.5 % a week, at most USD 50,000 [amounts as stated]" in text
    assert "72 h" in text
    assert "72 h [amounts" not in text


def test_the_currency_of_a_clause_needs_no_mark() -> None:
    text = "\n".join(cell for _, cell in segments(report_of(told(), Language(), "USD")))
    assert "0.5 % a week, at most USD 50,000" in text
    assert "[amounts as stated]" not in text


def test_a_plan_without_a_price_is_converted_from_the_currency_of_its_limits() -> None:
    path = folder() / "early.json"
    sets = ["objective=time", "budget.total=1e6"]
    path.write_text(plan_json(solve(DATA / "committee.yaml", sets=sets)), encoding="utf-8")
    report = report_of(read_source(path), Language(), "CNY")
    assert report.source.plan.objective.currency is None
    assert foreign(report, KNOWN - {"CNY"}) == []
    assert any("converted from EUR to CNY" in text for _, text in segments(report))


def test_an_option_to_paste_says_its_currency() -> None:
    path = folder() / "cures.json"
    data = json.loads(plan_json(unpaid().plan))
    change = {"limit": "budget", "from": 1e6, "to": 9e6, "unit": "EUR", "set": "budget.total=9000000", "verified": True}
    path.write_text(json.dumps(data | {"conflict": data["conflict"] | {"relaxations": [change]}}), encoding="utf-8")
    tables = html_tables(page((report := report_of(read_source(path), Language(), "CNY")).document, report.language))
    assert tables["relaxations"][1][1:4] == [
        "7,790,797.99 CNY", "70,117,181.88 CNY", "--set budget.total=9000000 (in EUR)"
    ]  # fmt: skip


@pytest.mark.parametrize("currency", [None, "USD", "JPY"])
def test_the_factors_shown_multiply_to_the_amount(currency: str | None) -> None:
    report = report_of(committee(), Language(), currency)
    digits = 0 if currency == "JPY" else 2
    cent = Decimal(1).scaleb(-digits)
    rows = html_tables(page(report.document, report.language))["cost-lines"][1:-1]
    assert len(rows) > 50
    for _, factors, amount in rows:
        numbers = [Decimal(part.split()[0].replace(",", "")) for part in factors.split(" × ")]
        # rounded to the plan's cent before the last factor, to the shown unit after it
        slack = cent / 2 + (numbers[-1] * Decimal("0.005") if currency else 0) + cent / 100
        assert abs(prod(numbers, start=Decimal(1)) - Decimal(amount.replace(",", ""))) <= slack, factors


def test_every_converted_amount_is_the_plans_times_the_rate() -> None:
    source = committee()
    cost, to = source.plan.cost, conversion(source, "USD")
    assert cost is not None
    assert to.rate("EUR") == Decimal("1.0837")
    tables = html_tables(page((report := report_of(source, Language(), "USD")).document, report.language))
    assert [row[2] for row in tables["cost-lines"][1:-1]] == [
        f"{round_money(line.amount * Decimal('1.0837'), 'USD'):,f}" for line in cost.lines
    ]
    assert tables["cost-lines"][-1][2] == f"{round_money(cost.total * Decimal('1.0837'), 'USD'):,f}"


def test_prices_per_piece_and_rates() -> None:
    to = conversion(committee(), "USD")
    cells = Several((Value("number", Decimal("0.12"), "EUR per kWh"), Value("number", Decimal("7.8"), "CNY per EUR")))
    table = Table("t", "table.limits", (), ((cells, sentence("+1,000,000 EUR in 2027")),))
    ((found, words),) = converted_part(table, to).rows
    assert found == Several(
        (Value("number", Decimal("0.1300"), "USD per kWh"), Value("number", Decimal("7.8"), "CNY per EUR"))
    )
    assert getattr(words, "key", "") == "view.as_stated"  # of a plan that did not say which amounts its words tell


def test_the_workbook_names_the_currency_of_each_column() -> None:
    book = openpyxl.load_workbook(BytesIO(workbook(report_of(committee(), Language(), "CNY"))), data_only=True)
    heads = {sheet.title: {cell.value for row in sheet.iter_rows(max_row=6) for cell in row} for sheet in book}
    assert {"amount (CNY)", "exact (EUR)"} <= heads["Cost lines"]
    assert {"amount of the stream (EUR)", "exact (EUR)"} <= heads["Payments"]
    assert {"Cash flow (CNY)", "running sum (CNY)", "present value (EUR)", "exact (EUR)"} <= heads["Cash flow"]
    first = {row[5] for row in book["Cost lines"].iter_rows(min_row=5, values_only=True)}
    assert all(str(text).endswith(" × rate of this report (CNY per EUR)") for text in first)
    (award, *_) = book["Awards"].iter_rows(min_row=5, values_only=True)
    assert (award[9], award[10], award[17]) == (1779296.3695, "CNY", "247,500.125 USD per node")
