"""The engine against published runs; bars are what was reached, with a little room for other machines."""

from __future__ import annotations

import numpy as np
import pytest

from optimizer.analysis.backtest import Backtest, RowScore
from optimizer.engine.predict import predict
from optimizer.engine.setup import Setup
from optimizer.io.library import Library
from optimizer.io.runs import Run
from optimizer.results import Layout
from optimizer.schema.base import Precision


def test_dense_step_times(result: Backtest):
    dense = result.by["model"]["dense"]
    assert dense.rows >= 595
    assert dense.median < 0.045
    assert dense.mean < 0.055
    assert dense.p90 < 0.11
    assert abs(dense.bias) < 0.02


def test_step_times_with_experts(result: Backtest):
    # 142 rows of 11 models; leaving each model out of the fit gives a median of 16 %
    experts = result.by["model"]["mixture of experts"]
    assert experts.rows >= 140
    assert experts.median < 0.12
    assert experts.mean < 0.16
    assert abs(experts.bias) < 0.05


def expert_rows(rows: dict[str, RowScore], runs: dict[str, Run], model: str = "") -> list[RowScore]:
    known = [row for name, row in rows.items() if runs[name].experts and model in (runs[name].model or "")]
    return [row for row in known if row.step_time_error is not None]


def test_runs_with_experts_lie_in_the_printed_band(rows: dict[str, RowScore], runs: dict[str, Run]):
    scored = expert_rows(rows, runs)
    inside = [row.low_s <= row.predicted_step_time_s / (1 + row.step_time_error) <= row.high_s for row in scored]
    assert np.mean(inside) > 0.8


def test_every_run_with_experts_fits(rows: dict[str, RowScore], runs: dict[str, Run]):
    assert {row.fits for row in expert_rows(rows, runs)} <= {"fits", "tight"}


def test_memory_of_a_run_with_experts(rows: dict[str, RowScore], runs: dict[str, Run]):
    # Moonlight on 8 H100, allocated on rank 0, recompute of single modules; nothing fitted to it
    errors = [row.memory_error for row in expert_rows(rows, runs, "Moonlight") if row.memory_error is not None]
    assert len(errors) == 6
    assert max(map(abs, errors)) < 0.05


def test_a_model_whose_kernels_were_not_fused_is_predicted_too_fast(rows: dict[str, RowScore], runs: dict[str, Run]):
    # GPT-OSS is scored and never fitted: a fit that hides it would bend what the other models share
    errors = [row.step_time_error for row in expert_rows(rows, runs, "GPT-OSS")]
    assert -0.4 < np.median(errors) < -0.1


@pytest.mark.parametrize(
    ("model", "platform", "chips", "length", "batch", "micro", "measured_s"),
    [
        # AI-Hypercomputer/tpu-recipes, read as full rematerialisation over fully sharded chips; no row is fitted
        ("deepseek-v3", "tpu7x", 256, 4096, 4096, 16, 26.79),
        ("deepseek-v3", "tpu7x", 128, 4096, 2048, 16, 27.02),
        ("qwen-3-235b-a22b", "tpu7x", 256, 4096, 8192, 32, 30.87),
        ("mixtral-8x7b", "tpu-v6e", 256, 4096, 3072, 12, 13.48),
        ("mixtral-8x22b", "tpu-v6e", 256, 4096, 2048, 8, 24.71),
    ],
)
def test_experts_on_tpu_without_a_fit(
    model: str, platform: str, chips: int, length: int, batch: int, micro: int, measured_s: float
):
    library = Library.shipped()
    card, stack = library.platforms[platform], library.software["maxtext"]
    setup = Setup(library.architectures[model], card, Precision.BF16, length, stack, routing="forced")
    layout = Layout(data_parallel=chips, sharding_stage=3, micro_batch=micro, global_batch=batch, recompute="full")
    assert predict(setup, layout).step_time_s == pytest.approx(measured_s, rel=0.13)


def test_measured_runs_lie_in_the_printed_band(result: Backtest):
    assert result.coverage > 0.85


def test_memory_of_measured_runs(result: Backtest):
    assert result.memory.rows >= 70
    assert result.memory.median < 0.05
    assert result.memory.mean < 0.07
    assert result.memory.false_fits == 0


def test_runs_that_ran_are_rarely_refused(result: Backtest, rows: dict[str, RowScore], runs: dict[str, Run]):
    refused = [name for name, row in rows.items() if row.fits == "does_not_fit" and runs[name].kind == "step"]
    assert len(refused) <= 0.015 * result.step_time.rows, refused
    assert result.memory.false_ooms <= len(refused)


def test_rows_that_keep_memory_on_the_host_are_counted_apart(result: Backtest, rows: dict[str, RowScore]):
    without = [name for name, row in rows.items() if row.predicted_step_time_s is not None and row.fits is None]
    assert sum(result.memory.left_out.values()) == len(without) == 50


OUT_OF_MEMORY = [
    "bigscience-176b-prequel/740", "bigscience-176b-prequel/775",
    "korthikanti-2022-mem/535", "korthikanti-2022-mem/539",
]  # fmt: skip
"""Every row that is known not to fit: ran out of memory, or reads more than its card holds."""


def test_no_false_fit_among_the_rows_that_did_not_fit(rows: dict[str, RowScore], runs: dict[str, Run]):
    named = [name for name, run in runs.items() if run.kind == "oom" or (run.memory_gb or 0) > 85.9 and "mem/" in name]
    assert {name for name in named if rows[name].fits} == set(OUT_OF_MEMORY)
    assert {rows[name].fits for name in OUT_OF_MEMORY} == {"does_not_fit"}


def test_memory_of_each_source_is_not_off_in_one_direction(rows: dict[str, RowScore], runs: dict[str, Run]):
    for source in {run.source for run in runs.values()}:
        errors = [row.memory_error for name, row in rows.items() if runs[name].source == source and row.memory_error]
        assert not errors or abs(np.median(errors)) < 0.07, source


def test_primary_fp8_weights(rows: dict[str, RowScore]):
    # MLPerf v5.0, Llama 3.1 405B: 56.4 and 63.1 GB on H100, 100.4 GB on GB200, weights in fp8 only
    errors = [rows[f"mlperf-v5.0/{number}"].memory_error for number in (119, 122, 111)]
    assert max(map(abs, errors)) < 0.1


@pytest.mark.parametrize("number", [849, 850, 851, 852])
def test_long_sequences_that_ran_near_the_limit(rows: dict[str, RowScore], number: int):
    assert rows[f"torchtitan/{number}"].fits in {"fits", "tight"}


def test_a_run_that_filled_the_card(rows: dict[str, RowScore]):
    assert rows["bigscience-176b-prequel/698"].fits in {"fits", "tight"}


def test_published_memory_breakdowns(rows: dict[str, RowScore], runs: dict[str, Run]):
    # Figure 1 of arXiv:2205.05198: above 80 GB must not fit
    for name, row in rows.items():
        if name.startswith("korthikanti-2022-mem"):
            assert abs(row.memory_error) < 0.06
            assert (row.fits == "does_not_fit") == (runs[name].memory_gb > 85.9)


def test_recompute_modes_of_the_megatron_table(rows: dict[str, RowScore]):
    # Table 5 of arXiv:2205.05198: 22B, 175B, 530B, 1T, full and selective
    errors = [row.step_time_error for name, row in rows.items() if name.startswith("korthikanti-2022")]
    sizes = np.abs([error for error in errors if error is not None])
    assert len(sizes) == 8
    assert sizes.mean() < 0.035
    assert sizes.max() < 0.07


def test_a_530b_model_on_thousands_of_accelerators(rows: dict[str, RowScore]):
    # arXiv:2201.11990: 60.1, 50.2, 44.4 s on 2240, 2800, 3360 A100 of 80 GB
    errors = [row.step_time_error for name, row in rows.items() if name.startswith("mt-nlg")]
    assert len(errors) == 3
    assert max(map(abs, errors)) < 0.09


def test_a_405b_model_within_six_percent(rows: dict[str, RowScore], runs: dict[str, Run]):
    errors = [
        row.step_time_error
        for name, row in rows.items()
        if (runs[name].model or "").startswith("Llama 3.1 405B") and row.step_time_error is not None
    ]
    assert len(errors) >= 5
    assert np.mean(np.abs(errors)) < 0.04


def test_layout_sweeps_keep_their_order(result: Backtest):
    # VIA-Research/vTrain data: 88 layouts of three models
    sweep = result.ranking["vtrain-multi"]
    assert sweep.rows == 88
    assert sweep.kendall_tau > 0.65
    assert sweep.regret < 0.03


def test_measured_multi_node_sweep_beats_a_constant(result: Backtest):
    # one constant utilisation scores 17.4 % mean, 12.5 % median on it
    figures = result.by["source"]["vtrain-multi"]
    assert figures.mean < 0.10
    assert figures.median < 0.09


def test_accelerator_days_of_a_502b_model_on_b200():
    # 405B measured at 661 tokens/s per B200 (MLPerf v5.1), scaled by parameters: 10e12 / (661 x 405/502 x 86,400) / 0.9
    library = Library.shipped()
    setup = Setup(
        library.architectures["dense-500b"],
        library.platforms["b200-hgx"],
        Precision.FP8,
        8192,
        library.software["megatron-core"],
    )
    layout = Layout(
        tensor_parallel=8,
        pipeline_parallel=8,
        virtual_pipeline=4,
        data_parallel=16,
        micro_batch=1,
        global_batch=1952,
        precision="fp8",
    )
    row = predict(setup, layout)
    assert row.verdict == "fits"
    days = 10e12 / (row.tokens_per_s_per_accelerator * 86_400) / 0.9
    assert days == pytest.approx(240_000, rel=0.06)
