"""The workbook recomputed by a spreadsheet engine, against the plan and, with changed inputs, against the checker."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from optimizer.api import solve
from optimizer.io.json_text import rounded_plan
from optimizer.io.scenario import reload_scenario
from optimizer.report.language import Language
from optimizer.report.workbook import workbook
from optimizer.results import Plan
from optimizer.solver.check import Facts, _cases
from optimizer.solver.check.cash import cash, present_value, total
from optimizer.units import round_money

DATA = Path(__file__).parents[2] / "data/documents"
CENT = Decimal("0.01")

CHANGES = {
    "nothing": ({}, ("", "")),
    "a unit price": ({"in_unit_price_quote_acme_2291_offer_node_tier_10": 251_000.55}, ("247500.125", "251000.55")),
    "a price with tax in it": ({"in_unit_price_quote_huaxin_88_offer_fwq_tier_1": 240_001}, ("231500", "240001")),
    "the discount rate": ({"discount_rate": 0.115}, ("discount_rate: 0.08", "discount_rate: 0.115")),
    "the rate of a quote's currency": ({"in_exchange_rate_cny_scenario_fx_2026_11_27": 0.15}, ("CNY: 0.1391", "CNY: 0.15")),
    "the rate of the plan's currency": ({"in_exchange_rate_eur_scenario_fx_2026_11_27": 1.2}, ("EUR: 1.0837", "EUR: 1.2")),
    "the tax in a price": ({"in_without_tax_quote_huaxin_88_tax": 1.2, "in_tax_quote_huaxin_88_tax": 0.2}, ("rate: 0.13", "rate: 0.2")),
    "the residual": ({"in_residual_scenario_finance_residual": 0.2}, ("share: 0.30", "share: 0.2")),
    "the duty": ({"in_duty_scenario_duty": 0.1}, ("rate: 0.025", "rate: 0.1")),
}  # fmt: skip
"""What is changed -> the cells of the workbook by name, and the words of the input files."""


@pytest.fixture(scope="module")
def plan() -> Plan:
    return rounded_plan(solve(DATA / "committee.yaml"))


@pytest.fixture(scope="module")
def content(plan: Plan) -> bytes:
    return workbook(plan, Language())


def cells(book: openpyxl.Workbook) -> dict[str, str]:
    """Return the place of every defined name: ``Inputs!B7``."""
    return {name: item.attr_text.replace("'", "").replace("$", "") for name, item in book.defined_names.items()}


def checked(plan: Plan, old: str, new: str) -> tuple[Decimal, Decimal]:
    """Return total and present value of the plan's decision by the independent checker, with input files changed."""
    inputs = [file.model_copy(update={"content": file.content.replace(old, new)}) for file in plan.provenance.inputs]
    assert not old or sum(old in file.content for file in plan.provenance.inputs) == 1
    loaded = reload_scenario(inputs if old else plan.provenance.inputs)
    facts = Facts(loaded.scenario, loaded.library.platforms, loaded.library.architectures, loaded.quotes)
    paid = cash(next(iter(_cases(plan, facts))), loaded.scenario.after_run.policy)
    assert paid is not None
    rate = loaded.scenario.finance.discount_rate
    return round_money(total(paid), "EUR"), round_money(present_value(paid, loaded.scenario.today, rate), "EUR")


def shown(value: Any) -> Decimal:
    """Return a number of a spreadsheet to the cent; it must not have more digits than that."""
    found = Decimal(repr(float(value)))
    assert abs(found - round_money(found, "EUR")) < Decimal("1e-6")
    return round_money(found, "EUR")


@pytest.fixture(scope="module")
def engine(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function from changed cells (by defined name) to the values of all cells (by place)."""
    formulas = pytest.importorskip("formulas")
    path = tmp_path_factory.mktemp("book") / "plan.xlsx"
    path.write_bytes(content)
    names = cells(openpyxl.load_workbook(path))
    model = formulas.ExcelModel().loads(str(path)).finish()

    def key(place: str) -> str:
        sheet, cell = place.split("!")
        return f"'[plan.xlsx]{sheet.upper()}'!{cell}"

    def calculate(changes: dict[str, float]) -> dict[str, Any]:
        found = model.calculate(inputs={key(names[name]): value for name, value in changes.items()})
        return {place: found[key(place)].value[0, 0] for place in (names["total"], names["npv"])} | {
            "all": {cell: entry for cell, entry in found.items()}, "key": key
        }

    calculate.names = names
    return calculate
