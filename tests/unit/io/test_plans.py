from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path

import pytest

from optimizer.errors import InputError
from optimizer.io.json_text import json_text, plan_json, rounded_plan
from optimizer.io.plans import read_plan
from optimizer.results import Rejection
from tests.unit.io.example_plan import example_plan


def test_money_is_rounded_half_up_to_the_minor_unit() -> None:
    data = json.loads(plan_json(example_plan()))
    assert data["cost"]["total"] == 1234.57  # 1234.565
    assert data["cost"]["npv"] == 1200.13  # 1200.125
    assert data["cost"]["lines"][0]["amount"] == 1234.57
    assert data["cost"]["by_fiscal_year"] == {"2026": 1234.57}
    assert data["cost"]["cash"] == [{"date": "2026-12-15", "amount": 1234.57, "item": "hardware"}]
    assert data["objective"]["value"] == 1200.13
    assert data["limits"][0]["used"] == 1234.57


def test_what_is_no_money_keeps_its_digits() -> None:
    data = json.loads(plan_json(example_plan()))
    assert data["cost"]["lines"][0]["factors"][1]["value"] == 0.12345
    assert data["limits"][1]["used"] == 12.3456
    assert data["awards"][0]["unit_price"] == 2.3456
    assert data["objective"]["gap"] == 0


def test_currencies_without_cents() -> None:
    plan = example_plan(currency="JPY")
    assert rounded_plan(plan).cost is not None
    assert json.loads(plan_json(plan))["cost"]["total"] == 1235


def test_unknown_is_null_and_present() -> None:
    data = json.loads(plan_json(example_plan()))
    assert data["limits"][1]["binding"] is None
    assert data["awards"][0]["contract_end"] is None
    assert data["cost"]["after_run"][1] == {"policy": "use", "total": None, "npv": None}
    assert data["conflict"] is None


def test_numbers_stay_numbers_and_text_stays_text() -> None:
    data = json.loads(plan_json(example_plan()))
    assert data["rejections"][0]["needed"] == 1
    assert data["workloads"][0]["name"] == "pretrain"
    assert json.loads(json_text(Rejection(**{**data["rejections"][0], "needed": "air"})))["needed"] == "air"


def test_a_plan_reads_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(plan_json(example_plan()), encoding="utf-8")
    plan = read_plan(path)
    assert plan == rounded_plan(example_plan())
    assert plan.awards[0].order_date == dt.date(2026, 12, 15)
    assert plan.cost is not None
    assert plan.cost.total == Decimal("1234.57")
    assert plan.workloads["pretrain"].nodes == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"plan.json:1: not JSON"),
        ("[]", "no plan of this version. Expected format clusterbuy.plan/1"),
        ('{"format": "clusterbuy.plan/9"}', "no plan of this version"),
        ('{"format": "clusterbuy.plan/1"}', "plan.json, scenario: Field required"),
        ("[" * 200_000, "not a JSON document of sane size"),
        ("9" * 10_000, "not a JSON document of sane size"),
    ],
)
def test_what_is_no_plan_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_plan(path)
