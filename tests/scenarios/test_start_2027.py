"""start-2027: this generation against the next one, and what each condition does to the answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import orders_add_up, written

from optimizer.api import compare, solve, verify
from optimizer.io.json_text import plan_json
from optimizer.io.shipped import shipped
from optimizer.results import CompareRow, Plan

SCENARIO = shipped("scenarios") / "start-2027.yaml"
LATER = "workloads.pretrain.deadline=2028-10-31"


@pytest.fixture(scope="module")
def answer() -> Plan:
    return solve(SCENARIO)


@pytest.fixture(scope="module")
def later() -> Plan:
    return solve(SCENARIO, sets=[LATER])


def best(*sets: str) -> CompareRow:
    return compare(SCENARIO, sets=[LATER, *sets]).rows[0]


def test_this_year_only_the_current_generation_can_do_it(answer):
    assert answer.status == "optimal"
    run = answer.workloads["pretrain"]
    assert run.platform in {"b200-hgx", "b300-hgx"}
    assert 400 <= run.accelerators <= 640
    assert run.end.isoformat() <= "2027-12-17"
    rejected = {row.platform: row.rejection for row in compare(SCENARIO).rows}
    assert rejected["rubin-nvl72"].limit == "delivery"


def test_both_plans_verify(answer, later, tmp_path: Path):
    for name, plan in (("now", answer), ("later", later)):
        file = tmp_path / f"{name}.json"
        file.write_text(plan_json(plan), encoding="utf-8")
        assert verify(file).ok


def test_waiting_ten_months_saves_a_fifth_to_a_third(answer, later):
    run = later.workloads["pretrain"]
    assert run.platform == "rubin-nvl72"
    assert [award.units for award in later.awards] == [3]
    assert run.start.isoformat() >= "2028-03-21"
    assert 0.15 < 1 - later.cost.npv / answer.cost.npv < 0.35


def test_the_gain_of_the_next_generation_is_in_fp8(later):
    in_bf16 = best("workloads.pretrain.precisions=[bf16]")
    assert in_bf16.platform == "b200-hgx"
    assert float(in_bf16.npv / later.cost.npv) > 1.2


def test_waiting_pays_only_when_the_young_racks_are_sold_well(later):
    kept = best("after_run.policy=idle")
    assert kept.platform != "rubin-nvl72"
    assert kept.npv > later.cost.npv


def test_asking_for_a_public_run_leaves_too_few_days():
    proven = solve(SCENARIO, sets=["policy.minimum_evidence=public_run"])
    assert proven.status == "infeasible"
    limits = {limit.name: limit for limit in proven.conflict.limits}
    assert set(limits) == {"deadline", "evidence"}
    limit = limits["deadline"]
    assert 0 < limit.needed - limit.available < 60
    assert best("policy.minimum_evidence=public_run").platform == "b200-hgx"


def test_orders_and_payments_add_up_to_the_cost_of_each_award(answer, tmp_path):
    orders_add_up(written(answer, tmp_path))
