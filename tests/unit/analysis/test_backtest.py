"""Reading runs, blanks and scores."""

from __future__ import annotations

import dataclasses

import pytest

from optimizer.analysis.backtest import backtest, errors, kendall_tau, read_memory_gb
from optimizer.analysis.readings import SkippedRun, case_of, measured_step_s, parse_recipe
from optimizer.engine.predict import predict
from optimizer.io.library import Library
from optimizer.io.runs import Run

LIBRARY = Library.shipped()
RUN = Run(
    run_id="one",
    source="made up",
    model="llama-3-1-8b",
    platform="h100-sxm",
    accelerators=8,
    sequence_length=4096,
    global_batch=128,
    micro_batch=1,
    precision="fp8",
    step_time_s=10.0,
    kind="step",
)


def changed(**values: object) -> Run:
    return dataclasses.replace(RUN, **values)


def test_blanks_are_read_by_rule_and_counted():
    case = case_of(RUN, LIBRARY)
    assert case.layout.data_parallel == 8
    assert case.layout.tensor_parallel == 1
    assert case.layout.sharding_stage == 1
    assert case.layout.sequence_parallel is False
    assert case.layout.recompute == "none"
    assert "data_parallel blank: what remains" in case.readings
    assert "recompute blank: the least that fits" in case.readings
    assert case.setup.software.id == "megatron-core"


MOE = {
    "layers": 61, "hidden_size": 7168, "attention_heads": 128, "experts": 256, "experts_per_token": 8,
    "expert_parallel": 8, "accelerators": 64, "platform": "b200-hgx",
}  # fmt: skip


@pytest.mark.parametrize(
    ("model", "values", "card"),
    [
        ("DeepSeek-V3", MOE, "deepseek-v3"),
        ("a finetune of it", MOE, "deepseek-v3"),
        ("Qwen3-30B-A3B", {"platform": "b200-hgx"}, "qwen-3-30b-a3b"),
    ],
)
def test_experts_take_the_card_of_their_name_or_shape(model: str, values: dict[str, object], card: str):
    case = case_of(changed(model=model, **values), LIBRARY)
    assert case.setup.architecture.id == card
    assert case.setup.routing == "forced"


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"launch": "graphs", "routing": "real", "mtp_layers": 0}, ("graphs", "real", 0, 1)),
        ({"launch": "fixed", "expert_tensor_parallel": 4}, ("fixed", "forced", 1, 4)),
        ({}, (None, "forced", 1, 1)),
    ],
)
def test_columns_tell_how_experts_ran(columns: dict[str, object], expected: tuple[str | None, str, int, int]):
    case = case_of(changed(model="DeepSeek-V3", **columns, **MOE), LIBRARY)
    setup, split = case.setup, case.layout.expert_tensor_parallel
    assert (setup.launch, setup.routing, setup.architecture.mtp_layers, split) == expected
    assert ("launch blank: the stack's default" in case.readings) == (setup.launch is None)
    assert ("mtp_layers blank: as in the card" in case.readings) == ("mtp_layers" not in columns)
    assert ("routing blank: forced, as benchmarks do" in case.readings) == ("routing" not in columns)


def test_an_unknown_launch_is_named():
    with pytest.raises(SkippedRun, match="launch lazy is unknown"):
        case_of(changed(model="DeepSeek-V3", launch="lazy", **MOE), LIBRARY)


def test_a_run_that_keeps_memory_on_the_host_has_no_verdict():
    crowded = changed(micro_batch=16, sequence_length=131_072, memory_gb=70.0, recompute="none")
    result, (row, other) = backtest([crowded, dataclasses.replace(crowded, offload="activations")], LIBRARY)
    assert (row.fits, other.fits) == ("does_not_fit", None)
    assert other.step_time_error == row.step_time_error
    assert other.memory_error is other.predicted_memory_gb is None
    assert result.memory.false_ooms == 1
    assert list(result.memory.left_out.values()) == [1]


def test_recompute_is_the_least_that_fits():
    heavy = changed(sequence_length=32_768, accelerators=16, global_batch=16)
    assert case_of(heavy, LIBRARY).layout.recompute == "full"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"micro_batch": None}, "micro_batch is blank"),
        ({"platform": "h100-sxn"}, 'no platform named h100-sxn Did you mean "h100-sxm"?'),
        ({"platform": None}, "platform is blank"),
        ({"model": "nobody-7b"}, "layers is blank and no card is named nobody-7b"),
        ({"experts": 8}, "experts, and no card is named llama-3-1-8b or has its shape"),
        ({"precision": "int3"}, "precision int3 is unknown"),
        ({"tensor_parallel": 3}, "8 accelerators are not a multiple of 3"),
        ({"tensor_parallel": 2, "data_parallel": 8}, "the degrees make 16 accelerators, the row says 8"),
        ({"framework": "nobody"}, "no software card named nobody"),
        ({"platform": "a100-80gb-sxm"}, "no fp8"),
        ({"global_batch": 12}, "global batch 12 is not divisible"),
    ],
)
def test_a_row_that_cannot_be_predicted_says_why(values: dict[str, object], reason: str):
    with pytest.raises(SkippedRun, match=reason.replace("?", r"\?")):
        case_of(changed(**values), LIBRARY)


def test_own_dimensions_win_over_the_card_and_an_old_stack_is_its_predecessor():
    run = changed(
        layers=24, hidden_size=2048, attention_heads=16, vocab_size=50_368, framework="pytorch-fsdp",
        software_date="2023-08",
    )  # fmt: skip
    case = case_of(run, LIBRARY)
    assert case.setup.architecture.layers == 24
    assert case.setup.architecture.ffn.hidden_size == 8192
    assert case.setup.architecture.tied_embedding
    assert case.setup.software.id == "pytorch-fsdp-2023"
    assert case.setup.release == pytest.approx(2023 + 7 / 12)


@pytest.mark.parametrize(
    ("text", "stage_bytes"),
    [
        ("6 + 12/D", (2, 4, 12)),
        ("4 + 8/D", (2, 2, 8)),
        ("18", (2, 4, 12)),
        ("16/D + gather buffers", (4, 4, 8)),
        ("8 + 12/d (fp32 gradients unsharded)", (2, 6, 12)),
    ],
)
def test_recipes_by_name(text: str, stage_bytes: tuple[float, float, float]):
    recipe = parse_recipe(text)
    assert recipe is not None
    assert (recipe.weights_bytes, recipe.gradient_bytes, recipe.optimizer_bytes) == stage_bytes


def test_primary_fp8_weights_have_no_copy_beside_them():
    usual, primary = (
        backtest([changed(state_recipe=text, memory_gb=60.0)], LIBRARY)[1][0].predicted_memory_gb
        for text in ("4 + 12/D", "primary fp8: 4 + 12/D")
    )
    # one byte per matrix weight of 8.03e9 less two tables of 128,256 x 4,096
    assert usual - primary == pytest.approx(8.03 - 2 * 128_256 * 4096 / 1e9, rel=0.01)


def test_text_that_is_no_recipe():
    assert parse_recipe("unknown") is None


def test_step_time_from_tokens_per_second():
    # 128 x 4096 tokens / (8,192 per s and accelerator x 8)
    assert measured_step_s(changed(step_time_s=None, tokens_per_s_per_accelerator=8_192.0)) == 8.0
    assert measured_step_s(changed(step_time_s=None)) is None


def test_scores_and_the_output_rows():
    case = case_of(RUN, LIBRARY)
    seconds = predict(case.setup, case.layout).step_time_s
    runs = [changed(step_time_s=seconds / 1.1), changed(run_id="two", micro_batch=None), changed(step_time_s=None)]
    result, rows = backtest(runs, LIBRARY)
    assert (result.rows, result.scored) == (3, 2)
    assert result.skipped == {"micro_batch is blank": 1}
    assert result.step_time.median == pytest.approx(0.1)
    assert result.step_time.bias == pytest.approx(0.1)
    assert result.step_time.rows == 1
    assert result.coverage == 1.0
    assert [row.skipped_reason for row in rows] == [None, "micro_batch is blank", None]
    assert rows[0].low_s < rows[0].predicted_step_time_s < rows[0].high_s
    assert rows[0].evidence == "public_run"
    assert set(result.by) == {"platform", "source", "kind", "model"}


def test_out_of_memory_rows_count_as_false_fits():
    fits = changed(kind="oom", step_time_s=None)
    result, rows = backtest([fits, changed(memory_gb=200.0)], LIBRARY)
    assert rows[0].fits == "fits"
    assert result.memory.false_fits == 2  # one labelled, one reads more than the card holds
    assert result.memory.false_ooms == 0


def test_instruments_read_more_than_is_allocated():
    assert read_memory_gb(40e9, None) == 40.0
    assert read_memory_gb(40e9, "allocated, rank 0") == 40.0
    assert read_memory_gb(40e9, "reserved, worst rank") == pytest.approx(42.2)
    assert read_memory_gb(40e9, "nvidia-smi, first stage") == pytest.approx(46.2)


def test_order_of_layouts():
    # measured 1 < 2 < 2.02 (within 3 % of 2): one pair right, one wrong
    pairs = [((1.0, 1.0), (2.0, 3.0)), ((1.0, 1.0), (2.02, 0.5)), ((2.0, 3.0), (2.02, 0.5))]
    assert kendall_tau(pairs) == 0.0
    assert kendall_tau([((1.0, 5.0), (1.01, 4.0))]) is None


def test_no_rows_give_no_figures():
    assert errors([]).median is None
    assert errors([None, 0.2, -0.4]).mean == pytest.approx(0.3)
