"""Analyses kept in a plan are shown with their own numbers."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from foreign import foreign, segments
from pages import Read, html_of, plan_file, read

from optimizer.cli.main import main
from optimizer.report.language import CODES, Code, Language
from optimizer.report.source import read_source
from optimizer.report.views import report_of

ASKED = (
    ("compare",), ("alternatives", "--within", "20%"), ("explain", "--worth"), ("pareto",), ("sensitivity",),
    ("breakeven", "--platform", "h100-sxm"), ("risk", "--samples", "40"),
)  # fmt: skip


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("analysed")
    plan = plan_file(folder, more="fx: {date: 2026-12-30, base: USD, rates: {EUR: 1.08}}\nbudget: {total: 9e6}\n")
    for name, *options in ASKED:
        assert main([name, str(folder / "small.yaml"), *options, "--quiet", "--plan", str(plan)]) == 0
    return plan


@pytest.fixture(scope="module")
def kept(plan: Path) -> dict:
    return json.loads(plan.read_text(encoding="utf-8"), parse_float=Decimal, parse_int=Decimal)["analyses"]


@pytest.fixture(scope="module")
def found(plan: Path) -> Read:
    return read(html_of(plan))


def money(amounts: list[Decimal | None], unknown: str = "–") -> list[str]:
    return [unknown if amount is None else f"{amount:,.2f}" for amount in amounts]


def test_the_front(found, kept):
    assert found.column("pareto-table", "Net present value") == money(
        [point["npv"] for point in kept["pareto"]["points"]]
    )
    assert found.column("pareto-table", "Finish") == [point["finish"] for point in kept["pareto"]["points"]]


def test_platforms(found, kept):
    rows = {row["platform"]: row for row in kept["compare"]["rows"]}
    shown = dict(
        zip(found.column("platforms-table", "Platform"), found.column("platforms-table", "Total"), strict=True)
    )
    assert shown == {name: money([row["total"]])[0] for name, row in rows.items()}
    lost = {name for cell in found.column("losers", "Platform") for name in cell.split(", ")}
    assert lost == set(rows) - {"h100-sxm"}


def test_the_tornado(found, kept):
    moving = [row for row in kept["sensitivity"]["rows"] if row["swing"] is None or row["swing"]]
    assert found.column("tornado-table", "Input") == [row["input"] for row in moving]
    for heading, key in (("NPV at the low", "npv_low"), ("NPV at the high", "npv_high")):
        cells = money([row[key] for row in moving], "no plan is possible")
        assert found.column("tornado-table", heading) == cells


def test_prices_and_switches(found, kept):
    own = kept["breakeven"][0]
    rows = [row[1:] for row in found.tables["breakeven-0-data"][1:] if row[0] == "least net present value"]
    assert [row[1] for row in rows] == [f"USD {each['npv']:,.2f}" for each in own["curve"] if each["npv"] is not None]
    if own["switches"]:
        assert len(found.column("switches-0", "Price")) == len(own["switches"])


def test_risk(found, kept):
    plans = kept["risk"]["plans"]
    assert found.column("risk-table", "Plan") == [each["plan"] for each in plans]
    assert found.column("risk-table", "Mean NPV") == money([each["mean"] for each in plans])
    assert "In 40 sampled worlds what is signed meets every deadline in" in found.text


def test_worth_and_alternatives(found, kept):
    worth = next(each for each in kept["explain"] if each["question"] == "plan")["worth"]
    assert found.column("worth", "Step") == [each["step"] for each in worth]
    plans = kept["alternatives"]["plans"]
    assert found.column("alternatives-table", "Total") == money([each["total"] for each in plans])


def test_nothing_is_called_not_computed(found):
    assert "was not computed" not in found.text.replace("Which limits bind was not computed", "")
    assert found.text.count("It is obtained with") == found.text.count("--after-run")


@pytest.mark.parametrize("code", CODES)
def test_no_amount_of_an_analysis_is_left_in_another_currency(plan: Path, kept: dict, code: Code):
    assert foreign(report_of(read_source(plan), Language(code), "EUR"), {"USD"}) == []
    money = [each for each in kept["explain"][0]["worth"] if each["limit"] == "budget"]
    assert [each["step"] for each in money] == ["+1,000,000 USD"]


def test_the_step_of_a_limit_is_converted(plan: Path):
    report = report_of(read_source(plan), Language("zh"), "EUR")
    assert ("html", "+925,925.93 EUR") in segments(report)
