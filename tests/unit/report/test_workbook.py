"""The workbook recomputed by a spreadsheet engine, against the plan and, with changed inputs, against the checker."""

from __future__ import annotations

import gc
import shutil
import subprocess
from collections.abc import Callable, Iterator
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import formulas
import openpyxl
import pytest
from committee import HOSTILE, committee, short
from pages import plan_file

from optimizer.cli.main import main
from optimizer.io.quotes import read_quotes
from optimizer.io.scenario import reload_scenario
from optimizer.io.yaml_reader import read_yaml_file
from optimizer.report.cells import Writer
from optimizer.report.language import Language
from optimizer.report.source import Source, read_source
from optimizer.report.views import report_of
from optimizer.report.workbook import workbook
from optimizer.report.workbook.lists import quoted_prices
from optimizer.results import Plan
from optimizer.solver.check import Facts, _cases
from optimizer.solver.check.cash import cash, present_value, total
from optimizer.units import round_money

CENT = Decimal("0.01")

CHANGES: dict[str, Any] = {
    "a unit price, a price per run and a price with tax in it": (
        {
            "in_unit_price_quote_acme_2291_offer_node_tier_10": 251_000.55,
            "in_price_quote_wafer_5_offer_system": 1e8,
            "in_unit_price_quote_huaxin_88_offer_fwq_tier_1": 240_001,
        },
        ("247500.125", "251000.55"),
        ("price: 98765432", "price: 100000000"),
        ("231500", "240001"),
    ),
    "the currencies of a quote and of the plan": (
        {"in_exchange_rate_cny_scenario_fx_2026_11_27": 0.15, "in_exchange_rate_eur_scenario_fx_2026_11_27": 1.2},
        ("CNY: 0.1391", "CNY: 0.15"),
        ("EUR: 1.0837", "EUR: 1.2"),
    ),
    "discount rate, tax, residual and duty": (
        {
            "discount_rate": 0.115,
            "in_without_tax_quote_huaxin_88_tax": 1.2,
            "in_tax_quote_huaxin_88_tax": 0.2,
            "in_residual_scenario_finance_residual": 0.2,
            "in_duty_scenario_duty": 0.1,
        },
        ("discount_rate: 0.08", "discount_rate: 0.115"),
        ("rate: 0.13", "rate: 0.2"),
        ("share: 0.30", "share: 0.2"),
        ("rate: 0.025", "rate: 0.1"),
    ),
}
"""What is changed -> the cells of the workbook by name, and the words of the input files.

Total and present value must equal the checker's to the cent, so one input that moves nothing, or moves wrongly, shows in
any group: each of the library's slow recomputations proves several.
"""


Values = dict[str, Any]
"""Place (``Totals!B5``) -> value."""


@pytest.fixture(scope="module")
def source() -> Source:
    return committee()


@pytest.fixture(scope="module")
def plan(source: Source) -> Plan:
    return source.plan


@pytest.fixture(scope="module")
def content(source: Source) -> bytes:
    return workbook(report_of(source, Language()))


def named(book: openpyxl.Workbook) -> dict[str, str]:
    """Return the place of every defined name: ``Inputs!B7``."""
    names = {name: item.attr_text for name, item in book.defined_names.items() if not name.startswith("_xlnm")}
    return {name: place.replace("'", "").replace("$", "") for name, place in names.items()}


def checked(plan: Plan, *words: tuple[str, str]) -> tuple[Decimal, Decimal]:
    """Return total and present value of the plan's decision by the independent checker, with words of inputs changed."""
    inputs = list(plan.provenance.inputs)
    for old, new in words:
        assert sum(file.content.count(old) for file in inputs) == 1
        inputs = [file.model_copy(update={"content": file.content.replace(old, new)}) for file in inputs]
    loaded = reload_scenario(inputs)
    facts = Facts(loaded.scenario, loaded.library.platforms, loaded.library.architectures, loaded.quotes)
    paid = cash(next(iter(_cases(plan, facts))), loaded.scenario.after_run.policy)
    assert paid is not None
    rate = loaded.scenario.finance.discount_rate
    return round_money(total(paid), "EUR"), round_money(present_value(paid, loaded.scenario.today, rate), "EUR")


def cents(value: Any) -> Decimal:
    """Return a number of a spreadsheet in cents; a number that is not rounded to them fails."""
    found = Decimal(repr(float(value)))
    assert abs(found - round_money(found, "EUR")) < Decimal("1e-6")
    return round_money(found, "EUR")


def key(place: str) -> str:
    """Return a place as the formula library names it."""
    sheet, cell = place.split("!")
    return f"'[plan.xlsx]{sheet.upper()}'!{cell}"


def recomputed(model: Any, book: openpyxl.Workbook) -> Values:
    """Return the value of every formula, computed without the stored ones."""
    found = model.calculate()
    return {place: found[key(place)].value[0, 0] for place in _figures(book)}


def changing(model: Any, book: openpyxl.Workbook) -> Callable[[dict[str, float]], tuple[Decimal, Decimal]]:
    """Return a function from changed inputs (by defined name) to total and present value."""
    names = named(book)
    inputs = sorted({name for cells, *_ in CHANGES.values() for name in cells})
    now = {name: book[sheet][cell].value for name in inputs for sheet, cell in [names[name].split("!")]}
    ends = [key(names["plan_total"]), key(names["plan_npv"])]
    compute = model.compile(inputs=[key(names[name]) for name in inputs], outputs=ends)

    def ask(cells: dict[str, float]) -> tuple[Decimal, Decimal]:
        total, npv = compute(*(value for _, value in sorted((now | cells).items())))
        return cents(total.value[0, 0]), cents(npv.value[0, 0])

    return ask


def _figures(book: openpyxl.Workbook) -> list[str]:
    return [
        f"{sheet.title}!{cell.coordinate}"
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if isinstance(cell.value, str) and cell.value.startswith("=")
    ]


def rows(values: Values, stored: openpyxl.Workbook, sheet: str, key: int, value: str) -> dict[Any, Any]:
    """Return recomputed figures of a sheet by the words in another column."""
    page = stored[sheet]
    return {
        page.cell(cell.row, key).value: values[f"{sheet}!{value}{cell.row}"]
        for cell in page[value]
        if f"{sheet}!{value}{cell.row}" in values
    }


def equals_stored(values: Values, content: bytes) -> None:
    """Assert that every formula gives the value stored beside it."""
    stored = openpyxl.load_workbook(BytesIO(content), data_only=True)
    assert len(values) > 500
    wrong = {}
    for place, value in values.items():
        sheet, cell = place.split("!")
        expected = stored[sheet][cell].value
        if abs(float(value) - expected) > 1e-9 * max(1.0, abs(expected)):
            wrong[place] = (value, expected)
    assert not wrong


def equals_plan(values: Values, book: openpyxl.Workbook, plan: Plan) -> None:
    """Assert that every total equals the plan to the cent."""
    cost, names = plan.cost, named(book)
    assert cost is not None
    assert (cents(values[names["plan_total"]]), cents(values[names["plan_npv"]])) == (cost.total, cost.npv)
    totals = rows(values, book, "Totals", 1, "B")
    assert {year: cents(totals[year]) for year in cost.by_fiscal_year} == cost.by_fiscal_year
    lines = rows(values, book, "Cost lines", 1, "D")
    assert [cents(lines[at]) for at in range(1, len(cost.lines) + 1)] == [line.amount for line in cost.lines]
    awarded = rows(values, book, "Awards", 3, "Q")
    assert {offer: cents(value) for offer, value in awarded.items()} == {each.offer: each.cost for each in plan.awards}
    used = {limit.period: limit.used for limit in plan.limits if limit.name in ("budget", "budget_year")}
    live = rows(values, book, "Limits", 2, "C")
    assert {period or None: cents(value) for period, value in live.items()} == used
    by_day: dict[Any, Decimal] = {}
    for move in cost.cash:
        by_day[move.date] = by_day.get(move.date, Decimal(0)) + move.amount
    paid = {day.date(): cents(value) for day, value in rows(values, book, "Cash flow", 1, "D").items()}
    assert paid.keys() == by_day.keys()
    assert all(abs(paid[day] - by_day[day]) <= len(cost.cash) * CENT / 2 for day in paid)


def modelled(path: Path, book: openpyxl.Workbook) -> Any:
    """Return the formula library's model of the inputs and of the sheets with formulas; texts compute nothing."""
    model = formulas.ExcelModel()
    read, context = model.add_book(str(path))
    titles = {place.split("!")[0] for place in (*_figures(book), *named(book).values())}
    return model.pushes(*(read[title] for title in read.sheetnames if title in titles), context=context).finish()


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Collect no garbage: the library keeps what it makes, and looking through it takes a third of the time."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
def test_an_independent_engine_recomputes_the_plan_and_every_changed_input(tmp_path: Path) -> None:
    source, path = short(), tmp_path / "plan.xlsx"
    plan, content = source.plan, workbook(report_of(source, Language()))
    assert {line.item for line in plan.cost.lines} == {line.item for line in committee().plan.cost.lines}
    path.write_bytes(content)
    book = openpyxl.load_workbook(path)
    model = modelled(path, book)  # the costly step: one test does all
    values = recomputed(model, book)
    equals_stored(values, content)
    equals_plan(values, book, plan)
    ask = changing(model, book)
    assert {what: ask(cells) for what, (cells, *_) in CHANGES.items()} == {
        what: checked(plan, *words) for what, (_, *words) in CHANGES.items()
    }


@pytest.mark.usefixtures("uncollected")
def test_another_currency_is_computed_live_too(tmp_path: Path) -> None:
    source = read_source(plan_file(tmp_path, more="fx: {date: 2026-12-30, base: USD, rates: {EUR: 1.08}}\n"))
    cost, path, rate = source.plan.cost, tmp_path / "plan.xlsx", Decimal("0.925925925926")
    assert cost is not None
    path.write_bytes(workbook(report_of(source, Language(), "EUR")))
    book = openpyxl.load_workbook(path)
    values, names = recomputed(modelled(path, book), book), named(book)
    converted = {name: cents(values[names[name]]) for name in ("plan_total", "plan_npv")}
    assert converted == {
        "plan_total": round_money(cost.total * rate, "EUR"), "plan_npv": round_money(cost.npv * rate, "EUR")
    }  # fmt: skip
    lines = rows(values, book, "Cost lines", 1, "D")
    amounts = [round_money(line.amount * rate, "EUR") for line in cost.lines]
    assert [cents(lines[at]) for at in range(1, len(amounts) + 1)] == amounts
    totals = rows(values, book, "Totals", 1, "B")
    assert {year: cents(totals[year]) for year in cost.by_fiscal_year} == {
        year: round_money(amount * rate, "EUR") for year, amount in cost.by_fiscal_year.items()
    }
    sheet, cell = names["report_rate"].split("!")
    assert (book[sheet][cell].value, book[sheet][f"C{cell[1:]}"].value) == (float(rate), "EUR per USD")


def test_libre_office_agrees(content: bytes, plan: Plan, tmp_path: Path) -> None:
    office = shutil.which("soffice")
    if office is None:
        pytest.skip("LibreOffice is not installed; the formula library proves the same")
    book = openpyxl.load_workbook(BytesIO(content))
    cells, *words = CHANGES["the currencies of a quote and of the plan"]
    for name, value in cells.items():
        sheet, cell = named(book)[name].split("!")
        book[sheet][cell] = value
    book.save(tmp_path / "changed.xlsx")  # without stored values, so that everything is computed
    command = [office, "--headless", f"-env:UserInstallation=file://{tmp_path}/profile", "--convert-to", "xlsx"]
    subprocess.run(
        [*command, "--outdir", tmp_path / "out", tmp_path / "changed.xlsx"],
        check=True,
        timeout=120,
        capture_output=True,
    )
    found = openpyxl.load_workbook(tmp_path / "out/changed.xlsx", data_only=True)
    totals = [
        found[sheet][cell].value
        for sheet, cell in (named(book)[name].split("!") for name in ("plan_total", "plan_npv"))
    ]
    assert tuple(map(cents, totals)) == checked(plan, *words)


def test_text_is_never_a_formula_and_stays_whole() -> None:
    content = workbook(report_of(committee(hostile=True), Language()))
    book = openpyxl.load_workbook(BytesIO(content))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if isinstance(cell.value, str)]
    formulas_ = {cell.value for cell in cells if cell.data_type == "f"}
    assert not [text for text in formulas_ if "HYPERLINK" in text or "evil" in text]
    written = {cell.value for cell in cells if cell.data_type == "s"}
    assert set(HOSTILE.values()) <= {text.strip() for text in written} | written
    assert not any(sheet._rels for sheet in book)  # no link a reader could follow


def test_the_same_plan_gives_the_same_bytes() -> None:
    first, again = (workbook(report_of(committee(), Language("zh"))) for _ in range(2))
    assert first == again


def test_quoted_prices_name_the_cell_they_were_read_from(tmp_path: Path) -> None:
    sheet = Path(__file__).parents[2] / "data/quotes/three-vendors/lagoon.xlsx"
    assert main(["quotes", "import", str(sheet), "-o", str(tmp_path / "lagoon.yaml"), "--quiet"]) == 0
    book = read_quotes([read_yaml_file(tmp_path / "lagoon.yaml")])
    shown = [[Writer(Language()).text(cell) for cell in row] for row in quoted_prices(list(book.quotes.values())).rows]
    assert [(row[1], row[3], row[5], row[6]) for row in shown] == [
        ("LC-9 / reserved", "2.45 USD", "Bid!G15", "lagoon.xlsx"),
        ("LC-9 / hourly", "3.9 USD", "Bid!G16", "lagoon.xlsx"),
    ]
