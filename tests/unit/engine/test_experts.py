"""Routed experts: products, exchange by tier, load of the busiest rank, host; all by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from optimizer.engine.experts import exchange_time, expert_time
from optimizer.engine.layouts import LayoutArrays
from optimizer.engine.predict import predict
from optimizer.engine.setup import Setup
from optimizer.results import Layout

Make = Callable[..., Setup]
ROWS = np.array([4096.0])


def exchanged(setup: Setup, **layout: int) -> float:
    """Seconds without start-up."""
    degree = layout.get("expert_parallel", 1)
    seconds = float(exchange_time(setup, LayoutArrays.of(Layout(**layout)), ROWS)[0])
    return seconds - setup.software.collective_latency_s * float(np.log2(degree))


def test_products_and_weights_of_a_mixtral_layer(make: Make):
    # 4,096 tokens x 2 experts each; an expert is 3 x 4,096 x 14,336 weights, one of the eight is local
    setup = make("mixtral-8x7b", sequence_length=4096, routing="forced")
    costs = setup.expert_costs
    weights = 3 * 4096 * 14_336
    rate = 989e12 * 0.80 * setup.efficiency.sustained_share["bf16"]
    products = 2 * 8192 * weights / rate * (1 + costs.half_width / 14_336)
    reading = costs.weight_bytes * weights / setup.memory_rate
    passes = costs.permute_passes * 4096 + setup.software.ffn_passes * 2 * 14_336
    moved = 8192 * 2 * passes / setup.memory_rate
    forward, backward = expert_time(setup, LayoutArrays.of(Layout(expert_parallel=8)), ROWS)
    assert float(forward[0]) == pytest.approx(products + reading + moved, rel=1e-6)
    assert float(backward[0]) == pytest.approx(2 * float(forward[0]))


def test_flops_use_the_width_of_experts_and_their_number_per_token(make: Make):
    # qwen3-30b: 8 x 768 of 128 experts, not the dense width 6,144 nor one expert
    setup = make("qwen-3-30b-a3b", sequence_length=4096, routing="forced")
    one = float(expert_time(setup, LayoutArrays.of(Layout(expert_parallel=128)), ROWS)[0][0])
    many = float(expert_time(setup, LayoutArrays.of(Layout(expert_parallel=128)), 2 * ROWS)[0][0])
    visit = (many - one) / 4096 / 8  # reading weights cancels
    product = 2 * 3 * 2048 * 768 * (1 + setup.expert_costs.half_width / 768)
    passes = 2 * (setup.expert_costs.permute_passes * 2048 + setup.software.ffn_passes * 2 * 768)
    rate = 989e12 * 0.80 * setup.efficiency.sustained_share["bf16"]
    assert visit == pytest.approx(product / rate + passes / setup.memory_rate, rel=1e-6)


def test_fewer_experts_per_rank_read_fewer_weights(make: Make):
    setup = make("deepseek-v3", sequence_length=4096)
    times = [float(expert_time(setup, LayoutArrays.of(Layout(expert_parallel=e)), ROWS)[0][0]) for e in (1, 8, 64, 256)]
    assert times == sorted(times, reverse=True)
    read = setup.expert_costs.weight_bytes * 3 * 7168 * 2048 / setup.memory_rate
    assert times[0] - times[1] == pytest.approx((256 - 32) * read, rel=1e-6)


def test_a_token_is_copied_once_to_every_rank_it_needs(make: Make):
    # 8 ranks, 8 choices: 7 x (1 - (7/8)^8) = 4.595 copies of 7,168 x 2 bytes, 4,096 tokens, partly hidden
    setup = make("deepseek-v3", "b200-hgx", sequence_length=4096, routing="forced")
    copies = 7 * (1 - (7 / 8) ** 8)
    inner = 900e9 * setup.efficiency.inner_network_share
    expected = (1 - setup.expert_costs.overlap) * copies * 4096 * 7168 * 2 / inner
    assert exchanged(setup, expert_parallel=8) == pytest.approx(expected)
    assert exchanged(setup, expert_parallel=1) == 0.0


def test_a_token_crosses_to_another_node_once(make: Make):
    # 32 ranks on 4 nodes of 8: 3 x (1 - (3/4)^8) = 2.700 crossings at the fabric's 50 GB/s, nothing hidden
    setup = make("deepseek-v3", "b200-hgx", sequence_length=4096, routing="forced")
    crossings = 3 * (1 - (3 / 4) ** 8)
    expected = crossings * 4096 * 7168 * 2 / (50e9 * setup.efficiency.outer_network_share)
    assert exchanged(setup, expert_parallel=32) == pytest.approx(expected)
    # the same group inside a 72-way domain never leaves it
    assert exchanged(make("deepseek-v3", "gb200-nvl72", routing="forced"), expert_parallel=32) < expected / 10


def test_tensor_ranks_share_tokens_and_expert_shards_gather_them(make: Make):
    setup = make("grok-1", sequence_length=4096, routing="forced")
    whole = exchanged(setup, expert_parallel=8)
    assert exchanged(setup, expert_parallel=8, tensor_parallel=4) == pytest.approx(whole / 4)
    # two choices of 8: 7 x (1 - (7/8)^2) copies; shards of two add 2 x 1
    inside = setup.expert_costs.overlap
    one = (1 - inside) * 2 * 6144 * 4096 / (450e9 * setup.efficiency.inner_network_share)
    assert exchanged(setup, expert_parallel=4, expert_tensor_parallel=2) == pytest.approx(
        one * (3 * (1 - (3 / 4) ** 2) + 2)
    )


def test_the_busiest_rank_decides_under_real_routing(make: Make):
    layout = Layout(expert_parallel=8, pipeline_parallel=16, data_parallel=16, global_batch=2048, recompute="full")
    forced = predict(make("deepseek-v3", "b200-hgx", "fp8", 4096, routing="forced", launch="fixed"), layout)
    real = predict(make("deepseek-v3", "b200-hgx", "fp8", 4096, launch="fixed"), layout)
    excess = make("deepseek-v3").expert_costs.imbalance
    assert 1.05 < real.step_time_s / forced.step_time_s < 1.20  # 8-20 % published
    assert real.time["gemm"] == forced.time["gemm"]
    assert real.time["experts"] > forced.time["experts"] * (1 + (excess - 1) / 2)
    assert real.memory["activations"] == forced.memory["activations"]  # full recompute keeps inputs only
    kept = layout.model_copy(update={"recompute": "none"})
    forced, real = (
        predict(make("deepseek-v3", "b200-hgx", "fp8", 4096, routing=how), kept) for how in ("forced", "real")
    )
    assert real.memory["activations"] > forced.memory["activations"]


def test_a_short_micro_batch_waits_for_the_host(make: Make):
    layout = Layout(expert_parallel=8, data_parallel=8, global_batch=8)
    eager = predict(make("qwen-3-30b-a3b", sequence_length=1024, launch="eager"), layout)
    graphs = predict(make("qwen-3-30b-a3b", sequence_length=1024, launch="graphs"), layout)
    setup = make("qwen-3-30b-a3b")
    # 48 layers, forward once and backward twice the host's least time
    floor = 48 * 3 * setup.expert_costs.host_s
    spent = sum(eager.time[name] for name in ("gemm", "attention", "elementwise", "experts", "dispatch", "host"))
    assert spent == pytest.approx(floor, rel=1e-6)
    assert graphs.time["host"] < eager.time["host"]


def test_dense_models_spend_nothing_on_experts(make: Make):
    row = predict(make(), Layout(tensor_parallel=2, data_parallel=4, global_batch=8))
    assert row.time["experts"] == row.time["dispatch"] == 0.0


def test_multi_token_prediction_is_one_more_layer_and_head(make: Make, library):
    with_mtp = library.architectures["deepseek-v3"]
    without = with_mtp.model_copy(update={"mtp_layers": 0})
    layout = Layout(expert_parallel=64, data_parallel=64, global_batch=64)
    long, short = (
        predict(make(model, "gb200-nvl72", "fp8", 4096, launch="fixed"), layout) for model in (with_mtp, without)
    )
    assert long.time["experts"] / short.time["experts"] == pytest.approx(59 / 58)
    assert long.time["head"] > 2 * short.time["head"]
    assert long.memory["weights"] > short.memory["weights"]
