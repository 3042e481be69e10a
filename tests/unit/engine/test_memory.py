"""Memory of stages, states by recipe, activations and recompute."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from optimizer.engine.layouts import LayoutArrays
from optimizer.engine.memory import COMPONENTS, first_stage_memory, memory, peak_bytes
from optimizer.engine.setup import Setup
from optimizer.engine.software import StateRecipe
from optimizer.results import Layout
from optimizer.schema.architecture import Architecture, FeedForward, GroupedQueryAttention

Make = Callable[..., Setup]


def gpt(layers: int, hidden: int, heads: int, vocab: int = 51_200) -> Architecture:
    return Architecture(
        id="gpt",
        layers=layers,
        hidden_size=hidden,
        vocab_size=vocab,
        tied_embedding=True,
        attention=GroupedQueryAttention(heads=heads, kv_heads=heads, head_dim=hidden // heads),
        ffn=FeedForward(hidden_size=4 * hidden, gated=False),
    )


def held(setup: Setup, **layout: object) -> dict[str, float]:
    components = memory(setup, LayoutArrays.of(Layout(**layout)))
    return {name: float(part.flat[0]) for name, part in components.items()}


def states(components: dict[str, float]) -> float:
    return components["weights"] + components["gradients"] + components["optimizer"]


def test_gradients_are_divided_by_tensor_and_pipeline(make: Make):
    # 522B of EleutherAI/cookbook calc_transformer_mem at 827ee3b: 521.8e9 / (8 x 16) x 4 B = 15.19 GiB, and the
    # table of 51,200 x 18,432 on the end stages: 943.7e6 / 8 x 4 B = 0.44 GiB
    setup = make(gpt(128, 18_432, 128), states=StateRecipe(weights_bytes=2, gradient_bytes=4, optimizer_bytes=12))
    parts = held(setup, tensor_parallel=8, pipeline_parallel=16, data_parallel=8, global_batch=512, recompute="full")
    assert parts["gradients"] / 2**30 == pytest.approx(15.19 + 0.44, rel=0.001)


def test_full_recompute_keeps_the_inputs_of_layers_in_flight(make: Make):
    # 2 x 8192 x 18,432 x 8 layers x 16 micro-batches = 36 GiB, an eighth with sequence parallelism
    setup = make(gpt(128, 18_432, 128))
    layout = dict(tensor_parallel=8, pipeline_parallel=16, data_parallel=8, global_batch=512, recompute="full")
    assert held(setup, **layout, sequence_parallel=False)["activations"] / 2**30 == pytest.approx(36.0)
    assert held(setup, **layout, sequence_parallel=True)["activations"] / 2**30 == pytest.approx(4.5)


@pytest.mark.parametrize(
    ("recipe", "stage", "data", "per_parameter"),
    [
        ((2, 4, 12), 1, 64, 6 + 12 / 64),
        ((2, 2, 12), 1, 64, 4 + 12 / 64),
        ((2, 4, 12), 0, 64, 18),
        ((2, 2, 8), 1, 16, 4 + 8 / 16),
        ((4, 4, 8), 3, 32, 16 / 32),
    ],
)
def test_bytes_per_parameter_by_recipe(make: Make, recipe, stage: int, data: int, per_parameter: float):
    weights, gradients, optimizer = recipe
    chosen = StateRecipe(weights_bytes=weights, gradient_bytes=gradients, optimizer_bytes=optimizer)
    setup = make("llama-2-7b", states=chosen)
    parts = held(setup, data_parallel=data, sharding_stage=stage, global_batch=data)
    assert states(parts) == pytest.approx(per_parameter * 6_738_415_616, rel=0.001)


@pytest.mark.parametrize(
    ("recipe", "stage", "gigabytes"), [((2, 2, 16), 1, 42.0), ((2, 2, 12), 2, 26.25), ((2, 6, 12), 2, 29.75)]
)
def test_both_conventions_of_sharded_gradients(make: Make, recipe, stage: int, gigabytes: float):
    # 7e9 parameters on 8 GPUs, deepspeedai/DeepSpeed pull 5099: 4P + 16P/N, 2P + 14P/N, 2P + 18P/N
    chosen = StateRecipe(weights_bytes=recipe[0], gradient_bytes=recipe[1], optimizer_bytes=recipe[2])
    parts = held(make("llama-2-7b", states=chosen), data_parallel=8, sharding_stage=stage, global_batch=8)
    assert states(parts) / 6_738_415_616 * 7 == pytest.approx(gigabytes, rel=0.001)


def test_context_parallelism_joins_the_shard_group(make: Make):
    setup = make("llama-2-7b")
    alone = held(setup, data_parallel=8, global_batch=8)
    joined = held(setup, data_parallel=8, context_parallel=4, global_batch=8)
    assert joined["optimizer"] == pytest.approx(alone["optimizer"] / 4)
    assert joined["activations"] == pytest.approx(alone["activations"] / 4)


def test_selective_recompute_saves_little_with_fused_attention(make: Make):
    # Megatron-LM issue 1225: 25.52 -> 24.94 GB measured, not -70 %
    layout = dict(data_parallel=8, global_batch=8)
    fused = make(gpt(24, 2048, 16), sequence_length=2048)
    plain = held(fused, **layout, recompute="none")
    assert held(fused, **layout, recompute="selective")["activations"] >= 0.93 * plain["activations"]
    unfused = make(gpt(24, 2048, 16), "a100-80gb-sxm", "fp16", 2048, "megatron-2021")
    # 34 s b h + 5 a s^2 b: 34 x 2048 against 5 x 16 x 2048 per token
    without = held(unfused, **layout, recompute="none")["activations"]
    assert held(unfused, **layout, recompute="selective")["activations"] / without == pytest.approx(34 / 114, rel=1e-3)


def test_unfused_attention_does_not_fit_where_weights_do(make: Make):
    # GPT-2 Large on one 32 GB card without flash attention ran out of memory (Megatron-LM issue 525), 31.74 GiB
    model = gpt(36, 1280, 20, 50_257)
    unfused = make(model, "a100-80gb-sxm", "fp16", 1024, "megatron-2021")
    need = sum(held(unfused, micro_batch=8, global_batch=8, sharding_stage=0).values())
    assert need > 31.74 * 2**30
    fused = sum(held(make(model, sequence_length=1024), micro_batch=8, global_batch=8, sharding_stage=0).values())
    assert fused < 31.74 * 2**30


def test_uneven_stages_report_the_worst(make: Make):
    # 126 layers over 8 stages of 8 chunks: 15, 16 x 6, 15, tables at the ends
    setup = make("llama-3-1-405b")
    layout = Layout(
        tensor_parallel=8, pipeline_parallel=8, virtual_pipeline=8, data_parallel=2, global_batch=64, recompute="full"
    )
    arrays = LayoutArrays.of(layout)
    first = float(first_stage_memory(setup, arrays)["weights"][0])
    layer = 3_187_703_808  # 16384 x (18432 + 16384 + 3 x 53248) + 2 x 16384
    assert first / 2 * 8 == pytest.approx(15 * layer + 128_512 * 16_384, rel=1e-3)
    worst = float(memory(setup, arrays)["weights"][0])
    assert worst / 2 * 8 == pytest.approx(16 * layer, rel=1e-3)
    assert worst * 8 >= 2 * 405e9 / 8


def test_a_tied_table_is_held_once_without_a_pipeline_and_twice_with_one(make: Make):
    setup = make(gpt(4, 1024, 8), states=StateRecipe(weights_bytes=2, gradient_bytes=0, optimizer_bytes=0))
    one = held(setup, global_batch=4)["weights"]
    first = float(first_stage_memory(setup, LayoutArrays.of(Layout(pipeline_parallel=2, global_batch=4)))["weights"][0])
    table = 2 * 51_200 * 1024
    assert 2 * first - one == pytest.approx(table, rel=0.01)


def test_components_broadcast_without_flattening(make: Make):
    grid = LayoutArrays(
        *(np.full((2, 1), value) for value in (4, 2, 1, 1, 1, 1)),
        np.arange(1, 6)[None, :],
        *(np.full((1, 1), value) for value in (1, 1, 240, 0)),
        np.full((1, 1), fill_value=True),
    )
    parts = memory(make(), grid)
    assert tuple(parts) == COMPONENTS
    assert peak_bytes(parts).shape == (2, 5)
    single = memory(make(), LayoutArrays.of(grid.row((1, 3))))
    assert float(peak_bytes(single)[0]) == pytest.approx(float(peak_bytes(parts)[1, 3]))


def test_routed_experts_are_split_by_their_own_degrees(make: Make):
    # Megatron-LM issue 4050: routed experts / (expert-TP x EP), the rest / TP; their optimizer over their own replicas
    setup = make("mixtral-8x7b", sequence_length=4096)
    layout = dict(tensor_parallel=2, data_parallel=16, global_batch=16, recompute="full")
    routed = 32 * 8 * 3 * 4096 * 14_336
    rest = setup.parameters.total - routed
    group = {1: 32, 8: 4}  # t d / e replicas hold the same experts
    for degree, replicas in group.items():
        parts = held(setup, **layout, expert_parallel=degree)
        weights = rest / 2 + routed / degree
        assert parts["weights"] == pytest.approx(2 * weights, rel=1e-3)
        assert parts["optimizer"] == pytest.approx(12 * (rest / 2 / 16 + routed / degree / replicas), rel=1e-3)
    split = held(setup, **layout, expert_parallel=8, expert_tensor_parallel=2)
    assert split["weights"] == pytest.approx(2 * (rest / 2 + routed / 16), rel=1e-3)
    assert split["optimizer"] == pytest.approx(12 * (rest / 2 / 16 + routed / 16 / 2), rel=1e-3)


def test_stored_activations_of_a_deepseek_layer(make: Make):
    # per token: 8 h + 2 x 128 heads x (2 x 192 + 2 x 128) + 6 x 2,048 shared + 8 visits x (2 h + 6 x 2,048)
    setup = make("deepseek-v3", sequence_length=4096, routing="forced")
    hidden, heads = 7168, 128
    moe = 8 * hidden + 2 * heads * (2 * 192 + 2 * 128) + 6 * 2048 + 8 * (2 * hidden + 6 * 2048)
    dense = 8 * hidden + 2 * heads * (2 * 192 + 2 * 128) + 6 * 18_432
    parts = held(setup, expert_parallel=64, data_parallel=64, global_batch=64)
    assert parts["activations"] == pytest.approx(4096 * (3 * dense + 59 * moe))


def test_selective_recompute_drops_expansions_norms_and_activation_functions(make: Make):
    setup = make("deepseek-v3", sequence_length=4096, routing="forced")
    layout = dict(expert_parallel=64, data_parallel=64, global_batch=64)
    moe = 4 * 7168 + 2 * (1536 + 512 + 64 + 128 * 128) + 4 * 2048 + 8 * (2 * 7168 + 4 * 2048)
    dense = 8 * 7168 + 4 * 128 * 320 + 6 * 18_432  # dense layers of this stack keep all
    assert held(setup, **layout, recompute="selective")["activations"] == pytest.approx(4096 * (3 * dense + 59 * moe))


def test_prediction_layers_hold_a_layer_a_join_and_the_input_table_again(make: Make):
    setup = make("deepseek-v3", sequence_length=4096)
    without = make(setup.architecture.model_copy(update={"mtp_layers": 0}), sequence_length=4096)
    layout = dict(pipeline_parallel=31, expert_parallel=64, data_parallel=64, global_batch=64, recompute="full")
    # 61 layers in stages of 2, the last of 1: with the prediction layer, its join and two tables it holds most
    counts, table = setup.parameters, 129_280 * 7168
    last = 2 * (counts.moe_layer - counts.routed + counts.routed / 64) + 2 * 7168**2 + 2 * table
    assert held(setup, **layout)["weights"] == pytest.approx(2 * last, rel=1e-3)
    assert held(without, **layout)["weights"] < 2 * last
