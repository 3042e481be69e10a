"""budget-max: the most effective compute for a fixed sum."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import orders_add_up, written

from optimizer.api import solve, verify
from optimizer.io.json_text import plan_json
from optimizer.io.shipped import shipped
from optimizer.results import Plan

SCENARIO = shipped("scenarios") / "budget-max.yaml"


@pytest.fixture(scope="module")
def answer() -> Plan:
    return solve(SCENARIO)


def used(plan: Plan, limit: str) -> float:
    return max(float(row.used) for row in plan.limits if row.name == limit)


def test_the_sum_is_spent_and_the_most_capacity_proven(answer):
    assert (answer.status, answer.objective.kind) == ("optimal", "capacity")
    assert answer.objective.bound == answer.objective.value
    assert 29e6 < used(answer, "budget") <= 30e6
    assert {award.type for award in answer.awards} == {"purchase"}
    assert 300 <= sum(award.accelerators for award in answer.awards) <= 600


def test_the_modest_run_is_done_on_the_way(answer):
    run = answer.workloads["pretrain"]
    assert run.days < 60
    assert run.end.isoformat() <= "2027-12-31"


def test_the_plan_verifies(answer, tmp_path: Path):
    file = tmp_path / "plan.json"
    file.write_text(plan_json(answer), encoding="utf-8")
    assert verify(file).ok


def test_the_lowest_price_per_peak_is_not_bought(answer):
    """USD per dense fp8 TFLOP/s of a node: 224,000 / (8 x 2,615) = 10.7 against 445,000 / (8 x 4,500) = 12.4."""
    assert 224_000 / (8 * 2_615) < 445_000 / (8 * 4_500)
    bought = {award.platform for award in answer.awards}
    assert "b200-hgx" in bought
    assert "mi325x" not in bought


def test_servers_are_three_fifths_of_the_sum(answer):
    hardware = sum(line.amount for line in answer.cost.lines if line.item == "hardware")
    assert 0.5 < hardware / answer.cost.total < 0.7


def test_half_the_sum_buys_less_than_half(answer):
    half = solve(SCENARIO, sets=["budget.total=15e6"])
    assert 0.3 < half.objective.value / answer.objective.value < 0.5
    assert {(award.platform, award.type) for award in half.awards} == {("h100-sxm", "purchase")}


def test_a_small_hall_is_filled_and_the_better_card_rented(answer):
    small = solve(SCENARIO, sets=["sites.hall-b.power.0.kw=400"])
    assert {(award.platform, award.type) for award in small.awards} == {
        ("h100-sxm", "purchase"),
        ("b200-hgx", "reserved"),
    }
    assert used(small, "power") <= 400
    assert small.objective.value < answer.objective.value


def test_orders_and_payments_add_up_to_the_cost_of_each_award(answer, tmp_path):
    orders_add_up(written(answer, tmp_path))
