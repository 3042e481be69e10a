"""Runs by the engine: what a layout, its memory, evidence and speed must agree with."""

from __future__ import annotations

from typing import Any

import pytest

from optimizer.solver.check.runs import run_breaches

LAYOUT = {
    "tensor_parallel": 8, "data_parallel": 9, "global_batch": 18, "micro_batch": 1, "precision": "bf16",
    "pipeline_parallel": 1,
}  # fmt: skip


@pytest.fixture
def engine(world: Any) -> Any:
    """A run on 9 nodes: 43,200 steps of 18 sequences in 50 s each are 25 days, at goodput 0.9 27.78 days."""
    world.scenario["workloads"]["train"] = {
        "architecture": "tiny", "tokens": 7.776e8, "sequence_length": 1000, "global_batch_tokens": 18_000,
        "extra_compute": 0, "release": "2027-03-01",
    }  # fmt: skip
    world.platforms["box"]["evidence"] = [
        {"precision": "bf16", "level": "public_run", "accelerators_max": 64, "source": "x"},
        {"precision": "bf16", "level": "vendor_claim", "accelerators_max": 512, "source": "x"},
    ]
    world.run(
        architecture="tiny", nodes=9, accelerators=72, layout=dict(LAYOUT), step_time_s=50.0,
        tokens_per_s_per_accelerator=5.0, mfu=0.4, memory_gb=70.0, memory_limit_gb=80.0, goodput=0.9,
        evidence="vendor_claim", band={"low_days": 25, "high_days": 30},
    )  # fmt: skip
    return world


def names(world: Any) -> set[str]:
    """Return the names of the breaches of its runs."""
    return {breach.limit_or_number for breach in run_breaches(world.case())}


def test_run_by_the_engine_is_verified(engine: Any) -> None:
    assert names(engine) == set()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"nodes": 10}, {"accelerators"}),
        ({"accelerators": 80}, {"accelerators", "layout", "tokens_per_s_per_accelerator"}),
        ({"step_time_s": 55.0}, {"tokens_per_s_per_accelerator", "band"}),
        ({"step_time_s": 50.01}, {"tokens_per_s_per_accelerator"}),
        ({"tokens_per_s_per_accelerator": 5.01}, {"tokens_per_s_per_accelerator"}),
        ({"mfu": 1.1}, {"mfu"}),
        ({"goodput": 0.8}, {"band"}),
        ({"goodput": 1.1}, {"goodput", "band"}),
        ({"goodput": None}, {"step_time_s"}),
        ({"memory_gb": 80.1}, {"memory"}),
        ({"memory_gb": None}, {"memory"}),
        ({"memory_limit_gb": 79.9}, {"memory_limit_gb"}),
        ({"evidence": "public_run"}, {"evidence"}),
        ({"evidence": "none"}, {"evidence"}),
        ({"evidence": "hearsay"}, {"evidence"}),
        ({"band": None}, {"band"}),
        ({"band": {"low_days": 28, "high_days": 30}}, {"band"}),
        ({"band": {"low_days": 25, "high_days": 27}}, {"band", "days"}),
        ({"days": 24, "end": "2027-04-07"}, {"days"}),
        ({"days": 25, "end": "2027-04-08"}, set()),  # a platform may be faster than predicted at every quantile
        ({"days": 28, "end": "2027-04-11"}, set()),
        ({"days": 31, "end": "2027-04-14"}, {"days"}),
        ({"days": 29}, {"days"}),
        ({"layout": None}, {"layout"}),
    ],
)
def test_numbers_of_a_run(engine: Any, changes: Any, expected: set[str]) -> None:
    engine.runs[0] |= changes
    assert names(engine) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"data_parallel": 10}, {"layout", "batch"}),
        ({"tensor_parallel": 4}, {"layout"}),
        ({"global_batch": 19}, {"batch", "tokens_per_s_per_accelerator"}),
        ({"global_batch": 27}, {"batch", "tokens_per_s_per_accelerator", "band"}),
        ({"micro_batch": 4}, {"batch"}),
        ({"micro_batch": 2}, set()),
        ({"precision": "fp8"}, {"precision", "evidence"}),
        ({"virtual_pipeline": 6}, set()),  # 4 layers, embedding and head
        ({"virtual_pipeline": 7}, {"layout"}),
        ({"expert_parallel": 5}, {"layout"}),
        ({"expert_tensor_parallel": 5}, {"layout"}),
    ],
)
def test_layout_of_a_run(engine: Any, changes: Any, expected: set[str]) -> None:
    engine.runs[0]["layout"] |= changes
    assert names(engine) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"minimum_evidence": "public_run"}, {"evidence"}),
        ({"minimum_evidence": "vendor_claim"}, set()),
        ({"precisions": ["fp8"]}, {"precision"}),
        ({"extra_compute": 0.1}, {"band"}),
        ({"global_batch_tokens": 17_200}, set()),  # 4.7 % above
        ({"global_batch_tokens": 17_100}, {"batch"}),  # 5.3 % above
        ({"global_batch_tokens": 17_100, "global_batch_tolerance": 0.06}, set()),
        ({"deadline": "2027-04-13"}, set()),
        ({"deadline": "2027-04-12"}, {"deadline"}),
    ],
)
def test_what_the_workload_allows(engine: Any, changes: Any, expected: set[str]) -> None:
    engine.scenario["workloads"]["train"] |= changes
    assert names(engine) == expected


def test_quantile_below_the_middle_may_be_shorter(engine: Any) -> None:
    engine.scenario["policy"] = {"performance_quantile": 0.2}
    engine.runs[0] |= {"days": 26, "end": "2027-04-09"}
    assert names(engine) == set()


def test_evidence_ends_at_the_size_it_was_seen_at(engine: Any) -> None:
    engine.platforms["box"]["evidence"][1]["accelerators_max"] = 71
    assert names(engine) == {"evidence"}
    engine.runs[0]["evidence"] = "datasheet"
    assert names(engine) == set()


def test_a_run_ends_before_its_successor_starts(engine: Any) -> None:
    engine.scenario["workloads"]["next"] = {
        "modes": [{"platform": "box", "nodes": 9, "days": 30, "source": "x"}], "after": ["train"],
    }  # fmt: skip
    engine.run(name="next", nodes=9, accelerators=72, start="2027-04-14", end="2027-05-13")
    assert names(engine) == set()
    engine.runs[1] |= {"start": "2027-04-13", "end": "2027-05-12"}
    assert [str(breach) for breach in run_breaches(engine.case())] == [
        "release of next: the plan has start 2027-04-13, the check finds after train ends on 2027-04-13."
    ]


def test_last_day_of_the_horizon_may_be_used(engine: Any) -> None:
    engine.runs[0] |= {"start": "2027-12-02", "end": "2027-12-31"}
    assert names(engine) == set()
    engine.runs[0] |= {"start": "2027-12-03", "end": "2028-01-01"}
    assert names(engine) == {"deadline"}
