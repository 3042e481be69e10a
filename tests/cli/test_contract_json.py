"""The JSON of each command has exactly the keys that scripts rely on."""

from __future__ import annotations

import json

import pytest

from optimizer.cli.main import main
from optimizer.io.shipped import shipped

KEYS = {
    "objective": "kind value bound gap currency unit",
    "solve": "solver wall_s seed workers candidates layouts_evaluated proof time_limit_s",
    "workloads": "name architecture platform place pool nodes accelerators layout step_time_s"
    " tokens_per_s_per_accelerator mfu memory_gb memory_limit_gb goodput start end days evidence band",
    "awards": "quote offer vendor platform type place units nodes accelerators unit_price currency tier order_date"
    " delivery_date contract_end cost lots tax_included workload",
    "cost": "currency total npv after_run lines by_fiscal_year cash schedules discount_rate fiscal_year_start",
    "limits": "name used available unit slack binding period",
    "rejections": "platform vendor quote limit needed available unit reason amounts",
    "provenance": "version ortools today inputs assumptions",
}
LAYOUT = (
    "tensor_parallel pipeline_parallel virtual_pipeline context_parallel expert_parallel expert_tensor_parallel"
    " data_parallel sharding_stage micro_batch global_batch recompute sequence_parallel precision"
)
ROW = (
    "nodes accelerators layout step_time_s tokens_per_s_per_accelerator mfu memory_gb memory_limit_gb headroom_gb"
    " verdict memory time"
)
JOB = "--architecture llama-3-1-8b --platform h100-sxm --accelerators 64 --sequence-length 8192 --global-batch 128"


def answer(capsys, *arguments):
    capsys.readouterr()
    code = main([*map(str, arguments), "--json", "-"])
    return code, json.loads(capsys.readouterr().out)


def first(value):
    return value[0] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def headline():
    return shipped("scenarios") / "dense-500b.yaml"


def test_solve(capsys, headline):
    code, plan = answer(capsys, "solve", headline)
    assert code == 0
    assert plan["format"] == "clusterbuy.plan/1"
    for name, keys in KEYS.items():
        assert list(first(plan[name])) == keys.split(), name
    assert list(plan["workloads"][0]["layout"]) == LAYOUT.split()
    assert list(plan["workloads"][0]["band"]) == ["low_days", "high_days", "p50_days", "p80_days"]
    assert list(plan["cost"]["lines"][0]) == ["item", "amount", "factors", "award", "lot", "schedule"]
    assert list(plan["cost"]["lines"][0]["factors"][0]) == ["name", "value", "unit", "source", "base", "exponent"]
    assert list(plan["cost"]["schedules"][0][0]) == ["date", "share"]
    assert list(plan["cost"]["cash"][0]) == ["date", "amount", "item"]
    assert [row["policy"] for row in plan["cost"]["after_run"]] == ["idle", "off", "sell", "use"]


def test_an_infeasible_solve_is_the_plan_object_with_its_conflict(capsys, headline):
    code, plan = answer(capsys, "solve", headline, "--set", "workloads.pretrain.deadline=2027-03-22")
    assert code == 3
    assert (plan["status"], plan["cost"], plan["workloads"], plan["awards"]) == ("infeasible", None, [], [])
    assert list(plan["conflict"]) == ["limits", "minimal", "relaxations", "joint", "left_out", "cut_short"]
    assert [list(limit) for limit in plan["conflict"]["limits"]] == [
        ["name", "needed", "available", "unit", "period", "reason", "group"]
    ]
    assert plan["conflict"]["limits"][0]["name"] == "deadline"


def test_compare(capsys, headline):
    code, comparison = answer(capsys, "compare", headline)
    keys = ["platform", "status", "total", "npv", "finish", "nodes", "accelerators", "layout", "binding", "rejection"]
    assert code == 0
    assert all(list(row) == [*keys, "objective", "unit"] for row in comparison["rows"])


def test_layouts_and_predict(capsys):
    code, ranking = answer(capsys, "layouts", *JOB.split(), "--top", "3")
    assert (code, list(ranking)) == (0, ["rows", "evaluated", "fitting", "tied", "wall_s", "nothing_fits"])
    assert [list(row) for row in ranking["rows"]] == [ROW.split()] * 3
    code, row = answer(capsys, "predict", *JOB.split(), "--tensor-parallel", "2")
    assert (code, list(row)) == (0, [*ROW.split(), "changes"])


def test_bad_input_is_an_error_object(capsys, headline):
    code, result = answer(capsys, "solve", headline, "--set", "budgt.total=1")
    assert code == 2
    assert list(result["error"]) == ["kind", "problems"]
    assert list(result["error"]["problems"][0]) == ["location", "found", "expected", "fix"]
    assert "budget" in result["error"]["problems"][0]["fix"]
