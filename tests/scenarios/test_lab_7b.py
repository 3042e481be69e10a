"""lab-7b: what a lab can train on a few cards, and what its own rules cost."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import orders_add_up, written

from optimizer.api import compare, solve, verify
from optimizer.io.json_text import plan_json
from optimizer.io.shipped import shipped
from optimizer.results import Plan

SCENARIO = shipped("scenarios") / "lab-7b.yaml"
STATE_GB = 7.24 * 16
"""7.24e9 parameters x 16 bytes = 115.84 GB."""


@pytest.fixture(scope="module")
def answer() -> Plan:
    return solve(SCENARIO)


def test_the_entry_budget_buys_one_server_of_consumer_cards(answer):
    assert answer.status == "optimal"
    (award,) = answer.awards
    assert (award.platform, award.type, award.accelerators) == ("rtx-4090", "purchase", 8)
    assert 20_000 < award.cost < 30_000
    assert 10 <= answer.workloads["continue"].days <= 25


def test_the_plan_verifies(answer, tmp_path: Path):
    file = tmp_path / "plan.json"
    file.write_text(plan_json(answer), encoding="utf-8")
    assert verify(file).ok


def test_eight_cards_of_16_gb_hold_the_state_and_nothing_else(answer):
    (row,) = [row for row in answer.rejections if row.limit == "memory"]
    assert row.platform == "rx-9070-xt"
    assert float(row.available) == pytest.approx(16 * 2**30 / 1e9, abs=0.01)
    assert 8 * row.available > STATE_GB
    assert row.needed > row.available > STATE_GB / 8


def test_professional_and_second_hand_servers_are_beyond_the_entry_budget():
    rows = {row.platform: row.rejection for row in compare(SCENARIO).rows}
    for platform in ("rtx-6000-ada", "rtx-pro-6000-server", "a100-40gb-sxm"):
        assert rows[platform].limit == "budget"
        assert rows[platform].needed > rows[platform].available == 40_000


def test_a_data_centre_may_not_use_consumer_cards(answer):
    hosted = solve(SCENARIO, sets=["policy.allow_excluded_licence=false"])
    barred = {row.platform for row in hosted.rejections if row.limit == "licence"}
    assert barred == {"rtx-4090", "rtx-5090"}
    assert hosted.cost.npv > answer.cost.npv
    assert hosted.workloads["continue"].days > answer.workloads["continue"].days


def test_keeping_the_data_in_the_house_costs_twenty_times_the_rent(answer):
    rented = solve(SCENARIO, sets=["policy.vendors.deny=[]"])
    assert [award.type for award in rented.awards] == ["on_demand"]
    assert 10 * rented.cost.total < answer.cost.total


def test_the_middle_budget_buys_second_hand_for_five_times_the_tokens():
    middle = solve(SCENARIO, sets=["budget.total=130e3", "workloads.continue.tokens=100e9"])
    assert [award.platform for award in middle.awards] == ["a100-40gb-sxm"]
    assert 40_000 < middle.awards[0].cost < 60_000


def test_orders_and_payments_add_up_to_the_cost_of_each_award(answer, tmp_path):
    orders_add_up(written(answer, tmp_path))
