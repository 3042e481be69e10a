"""moe-frontier: a mixture of experts wants memory and links more than arithmetic."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from documents import orders_add_up, written

from optimizer.api import compare, layouts, solve, verify
from optimizer.io.shipped import shipped
from optimizer.results import Comparison, Plan

SCENARIO = shipped("scenarios") / "moe-frontier.yaml"


@pytest.fixture(scope="module")
def answer() -> Plan:
    return solve(SCENARIO)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(SCENARIO, sets=["policy.platforms.allow=[gb200-nvl72, b200-hgx, h100-sxm]"])


def test_racks_are_rented_and_the_experts_are_spread_beyond_a_node(answer):
    assert answer.status == "optimal"
    run = answer.workloads["pretrain"]
    assert run.platform == "gb200-nvl72"
    assert 300 <= run.accelerators <= 700
    assert 8 < run.layout.expert_parallel <= 72
    assert run.end.isoformat() <= "2027-08-17"
    assert 6e6 < answer.cost.total < 16e6


def test_the_plan_verifies_and_its_orders_add_up(answer, tmp_path: Path):
    source = written(answer, tmp_path)
    assert verify(source.file).ok
    orders_add_up(source)


def test_memory_holds_a_share_of_10_7_terabytes(answer):
    """671e9 x 16 bytes = 10,736 GB of state; every accelerator holds at least its share of it."""
    run = answer.workloads["pretrain"]
    assert 10_736 / run.accelerators < run.memory_gb < run.memory_limit_gb


def test_a_smaller_share_of_the_peak_than_a_dense_model(answer):
    run = answer.workloads["pretrain"]
    dense = layouts(
        architecture="llama-3-1-405b",
        platform=run.platform,
        accelerators=576,
        sequence_length=8192,
        global_batch=1152,
        precision="fp8",
    )
    assert 0.08 < run.mfu < 0.7 * dense.rows[0].mfu


def test_nodes_of_eight_cost_more(comparison):
    rows = {row.platform: row for row in comparison.rows if row.npv is not None}
    assert set(rows) == {"gb200-nvl72", "b200-hgx", "h100-sxm"}
    assert rows["gb200-nvl72"].npv < min(rows["b200-hgx"].npv, rows["h100-sxm"].npv)
    assert rows["h100-sxm"].accelerators > 2 * rows["gb200-nvl72"].accelerators


def test_the_stated_h800_hours_are_of_the_same_order(comparison):
    """Its report states 2.664e6 H800-hours; 10 % extra, failures and the 80 % quantile come on top here."""
    run = next(row for row in comparison.rows if row.platform == "h100-sxm")
    days = (run.finish - dt.date(2027, 3, 1)).days + 1
    assert 1.0 < run.accelerators * days * 24 / 2.664e6 < 2.2


def test_with_public_evidence_only_the_run_turns_to_bf16_and_costs_more(answer):
    """DeepSeek-V3 was seen on 512 GB200 in bf16 and on 256 in fp8."""
    proven = solve(SCENARIO, sets=["policy.minimum_evidence=public_run", "policy.platforms.allow=[gb200-nvl72]"])
    run = proven.workloads["pretrain"]
    assert (run.platform, run.layout.precision) == ("gb200-nvl72", "bf16")
    assert run.accelerators <= 512
    assert proven.cost.npv > answer.cost.npv
