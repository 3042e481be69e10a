"""midsize-12b: eight nodes for four weeks, and what a cheaper card must save first."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pytest
from documents import converts, orders_add_up, written

from optimizer.api import compare, solve, verify
from optimizer.io.json_text import plan_json
from optimizer.io.shipped import shipped
from optimizer.results import Plan

SCENARIO = shipped("scenarios") / "midsize-12b.yaml"
ANY_EVIDENCE = "policy.minimum_evidence=datasheet"
NO_MIGRATION = ("costs.2.amount=0", "costs.2.delay_days=0")


@pytest.fixture(scope="module")
def answer() -> Plan:
    return solve(SCENARIO)


def test_eight_nodes_of_eight_are_rented_for_about_four_weeks(answer):
    assert answer.status == "optimal"
    run = answer.workloads["pretrain"]
    assert (run.platform, run.nodes, run.accelerators) == ("h100-sxm", 8, 64)
    assert 26 <= run.days <= 33
    assert run.end <= dt.date(2027, 2, 5)
    assert [award.type for award in answer.awards] == ["on_demand"]
    assert 700e3 < answer.cost.total < 1.2e6


def test_the_rate_is_the_arithmetic_of_the_article(answer):
    """12e9 x 6 x 1e12 FLOP on 64 accelerators in 28 days is 465 TFLOP/s each, 47 % of 989; attention comes on top."""
    run = answer.workloads["pretrain"]
    done_tflops = 6 * 12e9 * 1e12 / (64 * run.days * 86_400) / 1e12
    assert 0.40 < done_tflops / 989 < run.mfu < 0.65


def test_the_plan_verifies(answer, tmp_path: Path):
    file = tmp_path / "plan.json"
    file.write_text(plan_json(answer), encoding="utf-8")
    assert verify(file).ok


def test_cards_without_a_public_run_of_this_size_are_rejected(answer):
    asked = {row.platform: (row.needed, row.available) for row in answer.rejections if row.limit == "evidence"}
    assert asked["mi300x"] == asked["l40s"] == ("public_run", "datasheet")


def test_the_migration_costs_more_than_the_cheaper_card_saves():
    rows = {row.platform: row for row in compare(SCENARIO, sets=[ANY_EVIDENCE]).rows}
    ported = rows["mi300x"].npv - rows["h100-sxm"].npv
    free = solve(SCENARIO, sets=[ANY_EVIDENCE, *NO_MIGRATION])
    saved = rows["h100-sxm"].npv - free.cost.npv
    assert free.workloads["pretrain"].platform == "mi300x"
    assert 0 < saved < 600_000 < saved + ported


def test_three_years_of_use_after_the_run_turn_renting_into_buying(answer):
    used = solve(SCENARIO, sets=["after_run.policy=use"])
    assert {award.type for award in used.awards} == {"purchase"}
    idle = next(row.npv for row in used.cost.after_run if row.policy == "idle")
    assert idle > 10 * answer.cost.npv


def test_fp8_saves_a_quarter(answer):
    fp8 = solve(SCENARIO, sets=["workloads.pretrain.precisions=[bf16, fp8]"])
    run, before = fp8.workloads["pretrain"], answer.workloads["pretrain"]
    assert run.layout.precision == "fp8"
    assert run.days * run.accelerators < 0.8 * before.days * before.accelerators
    assert 0.70 < fp8.cost.npv / answer.cost.npv < 0.80


def test_documents_in_another_currency(answer, tmp_path):
    source = written(answer, tmp_path)
    orders_add_up(source)
    converts(source, "USD", Decimal("0.139082058414"))
