"""Components of the step, the bubble, and refusal of impossible batches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from optimizer.engine.layouts import LayoutArrays, legal
from optimizer.engine.memory import memory, peak_bytes
from optimizer.engine.predict import predict
from optimizer.engine.setup import Setup
from optimizer.engine.stages import split_layers, stage_layers
from optimizer.engine.step_time import COMPONENTS, step_seconds, step_time
from optimizer.errors import InputError
from optimizer.results import Layout
from optimizer.schema.architecture import Architecture, FeedForward, GroupedQueryAttention

Make = Callable[..., Setup]


def test_a_batch_that_does_not_divide_is_refused_with_the_numbers(make: Make):
    # aliyun/SimAI issue 202: 1,472 GPUs, TP 8, PP 8 leave DP 23, and 32 is no multiple of 23
    layout = Layout(tensor_parallel=8, pipeline_parallel=8, data_parallel=23, micro_batch=1, global_batch=32)
    with pytest.raises(InputError, match="global batch 32 is not divisible by data_parallel 23 x micro_batch 1"):
        predict(make("llama-2-13b", sequence_length=4096), layout)
    assert not legal(LayoutArrays.of(layout))[0]


def test_components_are_named_and_add_up(make: Make):
    arrays = LayoutArrays.of(Layout(tensor_parallel=4, pipeline_parallel=2, data_parallel=4, global_batch=64))
    parts = step_time(make(), arrays)
    assert set(parts) == set(COMPONENTS)
    assert all(float(part.min()) >= 0 for part in parts.values())
    assert float(step_seconds(parts)[0]) == pytest.approx(sum(float(part.flat[0]) for part in parts.values()))


def test_products_of_one_layer_by_hand(make: Make):
    # 8B, bf16, one accelerator, 8192 tokens: 6 x 8192 x 32 x 218.1e6 FLOP at the sustained rate, plus edges
    setup = make()
    parts = step_time(setup, LayoutArrays.of(Layout(micro_batch=1, global_batch=1, sharding_stage=0)))
    weights = 4096 * (6144 + 4096 + 3 * 14_336)
    ideal = 6 * 8192 * 32 * weights / (989e12 * 0.80 * setup.efficiency.sustained_share["bf16"])
    ideal /= setup.software.matmul_factor
    assert float(parts["gemm"].flat[0]) == pytest.approx(ideal, rel=0.03)
    assert float(parts["gemm"].flat[0]) > ideal


def pipelined(make: Make, stages: int, chunks: int = 1) -> float:
    model = Architecture(
        id="gpt-522b",
        layers=128,
        hidden_size=18_432,
        vocab_size=51_200,
        tied_embedding=True,
        attention=GroupedQueryAttention(heads=128, kv_heads=128, head_dim=144),
        ffn=FeedForward(hidden_size=73_728, gated=False),
    )
    layout = Layout(
        tensor_parallel=8,
        pipeline_parallel=stages,
        virtual_pipeline=chunks,
        data_parallel=512 // stages,
        global_batch=2048,
        recompute="full",
    )
    return predict(make(model), layout).step_time_s


def test_a_deep_pipeline_pays_its_bubble(make: Make):
    # 522B on 4096 H100, GBS 2048: 63/256 = 24.6 % bubble at PP 64
    assert pipelined(make, 64) > 1.2 * pipelined(make, 1)
    assert pipelined(make, 64, 2) < pipelined(make, 64)


def test_layers_per_stage():
    def split(layers: int, stages: int, chunks: int = 1) -> tuple[float, ...]:
        arrays = LayoutArrays.of(Layout(pipeline_parallel=stages, virtual_pipeline=chunks))
        return tuple(float(part[0]) for part in stage_layers(layers, arrays))

    assert split(80, 8) == (10, 10, 10)
    assert split(126, 8, 8) == (15, 16, 15)  # 8 x 16 = 126 + 2: embedding and head count as layers
    assert split(105, 35) == (3, 3, 3)
    assert split(72, 10) == (8, 8, 1)
    assert split(32, 1) == (32, 32, 32)


def test_dense_and_moe_layers_per_stage(library):
    def split(name: str, stages: int) -> tuple[tuple[float, ...], ...]:
        arrays = LayoutArrays.of(Layout(pipeline_parallel=stages))
        return tuple(
            tuple(float(np.ravel(part)[0]) for part in kind)
            for kind in split_layers(library.architectures[name], arrays)
        )

    # DeepSeek-V3: 3 dense + 58 MoE layers in stages of 16, 16, 16, 13, and one prediction layer on the last
    assert split("deepseek-v3", 4) == ((3, 0, 0), (13, 16, 14))
    assert split("deepseek-v3", 1) == ((3, 3, 3), (59, 59, 59))
    # 16 stages of 4, the last of 1: the third dense layer is on the first stage too
    assert split("deepseek-v3", 16) == ((3, 0, 0), (1, 4, 2))
    # Llama 4 Maverick: every second of 48 layers
    assert split("llama-4-maverick", 4) == ((6, 6, 6), (6, 6, 6))
    assert split("mixtral-8x7b", 2) == ((0, 0, 0), (16, 16, 16))


def test_broadcast_equals_one_by_one_with_experts(make: Make):
    setup = make("deepseek-v3", "gb200-nvl72", "fp8", 4096)
    grid = LayoutArrays(
        np.array([[1], [2], [4]]),
        *(np.full((1, 1), value) for value in (2, 1, 1)),
        np.array([[1], [8], [16]]),
        np.full((1, 1), 1),
        np.array([[16, 32, 64]]),
        *(np.full((1, 1), value) for value in (1, 1, 64, 1)),
        np.full((1, 1), fill_value=True),
    )
    seconds, peaks = step_seconds(step_time(setup, grid)), peak_bytes(memory(setup, grid))
    assert seconds.shape == peaks.shape == (3, 3)
    for row in range(3):
        for column in range(3):
            single = predict(setup, grid.row((row, column)))
            assert single.step_time_s == pytest.approx(float(seconds[row, column]))
            assert single.memory_gb == pytest.approx(float(peaks[row, column]) / 1e9)


def test_broadcast_equals_one_by_one(make: Make):
    setup = make()
    grid = LayoutArrays(
        np.array([[1], [2], [8]]),
        *(np.full((1, 1), value) for value in (2, 2, 1, 1, 1)),
        np.array([[1, 2, 4]]),
        *(np.full((1, 1), value) for value in (1, 1, 64, 0)),
        np.full((1, 1), fill_value=True),
    )
    seconds = step_seconds(step_time(setup, grid))
    assert seconds.shape == (3, 3)
    for row in range(3):
        for column in range(3):
            single = predict(setup, grid.row((row, column)))
            assert single.step_time_s == pytest.approx(float(seconds[row, column]))


def test_full_recompute_costs_a_forward_pass(make: Make):
    base = dict(data_parallel=8, global_batch=64)
    none = predict(make(), Layout(**base, recompute="none")).time
    full = predict(make(), Layout(**base, recompute="full")).time
    assert none["recompute"] == 0
    layer = none["gemm"] / 3 + none["attention"] * 2 / 7 + none["elementwise"] / 3 + none["host"] / 3
    assert full["recompute"] == pytest.approx(layer, rel=1e-6)


def test_recompute_that_stops_early_leaves_out_the_down_projection(make: Make):
    # 8B: 58.7 of 218.1 million weights of a layer are the down projection, and products are most of a layer
    base = dict(data_parallel=8, global_batch=64, sharding_stage=3)
    times = [
        predict(make(software=stack), Layout(**base, recompute=mode)).time
        for stack in ("pytorch-fsdp-2022", "pytorch-fsdp-2023")
        for mode in ("none", "full")
    ]
    whole, early = times[1]["recompute"], times[3]["recompute"]
    share = 4096 * 14336 / (4096 * (4096 + 2 * 1024) + 4096 * 4096 + 3 * 4096 * 14336)
    assert whole - early == pytest.approx(share * times[0]["gemm"] / 3, rel=1e-3)
    assert share == pytest.approx(0.269, abs=0.001)


def test_a_context_ring_pays_for_merges_and_shorter_pieces(make: Make):
    # 8B at 8,192 tokens on two ranks: outputs of 4,096 tokens x 4,096 elements are merged once per layer and direction
    setup = make()
    whole = predict(setup, Layout(global_batch=1)).time
    ring = predict(setup, Layout(context_parallel=2, global_batch=1)).time
    merges = 32 * 2 * 7.5 * 4096 * 4096 / setup.memory_rate
    assert ring["context"] == pytest.approx(merges, rel=1e-6)  # two ranks of a node hide the exchange
    ramp = setup.software.attention_ramp_tokens
    assert 2 * ring["attention"] / whole["attention"] == pytest.approx((8192 + 2 * ramp) / (8192 + ramp))


def test_a_context_ring_over_the_fabric_is_exposed_when_attention_is_short(make: Make):
    # 175B has a key and a value per head: 16 ranks on two nodes send 50 MB per layer and hop of 1,024 tokens
    setup = make("gpt-3-175b", sequence_length=16_384)
    short = predict(setup, Layout(context_parallel=16, global_batch=1)).time
    long = predict(make("gpt-3-175b", sequence_length=262_144), Layout(context_parallel=16, global_batch=1)).time
    merges = [96 * 15 * 2 * 7.5 * tokens * 12_288 / setup.memory_rate for tokens in (1024, 16_384)]
    assert short["context"] > 10 * merges[0]
    assert long["context"] / merges[1] < 0.3 * short["context"] / merges[0]  # attention of a step grows and hides more


def test_full_sharding_exposes_the_first_gather_and_the_last_reduction(make: Make):
    # work far longer than traffic: of 32 layers the first is gathered in both directions, and the last reduced
    layout = Layout(data_parallel=8, sharding_stage=3, micro_batch=4, global_batch=32)
    setup = make(software="pytorch-fsdp")
    row = predict(setup, layout)
    rate = 450e9 * setup.efficiency.inner_network_share
    layers = 8.03e9 * 2 * 7 / 8 / rate
    assert row.time["data"] == pytest.approx(3 * layers / 32, rel=0.05)


def test_tensor_traffic_cannot_hide_behind_less_work_than_it_takes(make: Make):
    # L40S, 31 GB/s PCIe one way: traffic of TP 8 takes longer than the products
    setup = make(platform="l40s", software="megatron-core")
    row = predict(setup, Layout(tensor_parallel=8, global_batch=1))
    bytes_moved = 32 * (4 + 5) * 7 / 8 * 2 * 8192 * 4096
    seconds = bytes_moved / (31e9 * setup.efficiency.inner_network_share)
    assert row.time["tensor"] == pytest.approx(seconds - row.time["gemm"], rel=0.02)
    switched = predict(make(), Layout(tensor_parallel=8, global_batch=1))
    assert switched.time["tensor"] < 0.3 * switched.time["gemm"]
