from __future__ import annotations

import pytest

from optimizer.candidates.rules import kv_heads, layout_faults, pipeline_faults, tensor_faults
from optimizer.io.library import Library
from optimizer.results import Layout
from optimizer.schema.architecture import Architecture, FeedForward, GroupedQueryAttention


@pytest.fixture(scope="module")
def thirteen() -> Architecture:
    """A 13B model reported with an impossible layout (github.com/aliyun/SimAI issue 202)."""
    return Architecture(
        id="thirteen",
        layers=40,
        hidden_size=5120,
        vocab_size=50257,
        tied_embedding=True,
        attention=GroupedQueryAttention(heads=40, kv_heads=40, head_dim=128),
        ffn=FeedForward(hidden_size=11008, gated=True),
    )


def texts(architecture: Architecture, layout: Layout, accelerators: int | None = None, length: int = 4096) -> list[str]:
    return [str(problem) for problem in layout_faults(architecture, length, layout, accelerators)]


def test_batch_not_divisible_is_refused_with_the_numbers(thirteen: Architecture):
    layout = Layout(tensor_parallel=8, pipeline_parallel=8, data_parallel=23, global_batch=32)
    assert texts(thirteen, layout, 1472) == [
        "global_batch: global batch 32 not divisible by DP 23 x MBS 1. Expected a multiple of 23."
    ]


def test_a_legal_layout_has_no_faults(thirteen: Architecture):
    layout = Layout(tensor_parallel=8, pipeline_parallel=8, data_parallel=23, global_batch=46)
    assert texts(thirteen, layout, 1472) == []


def test_all_faults_at_once(thirteen: Architecture):
    layout = Layout(
        tensor_parallel=3, pipeline_parallel=39, virtual_pipeline=4, context_parallel=3, expert_parallel=2,
        data_parallel=23, global_batch=32,
    )  # fmt: skip
    found = [problem.location for problem in layout_faults(thirteen, 4096, layout, 1472)]
    assert found == [
        "tensor_parallel", "tensor_parallel", "tensor_parallel", "pipeline_parallel", "virtual_pipeline",
        "context_parallel", "sequence_parallel", "expert_parallel", "global_batch", "accelerators",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tensor_parallel": 16}, "40 heads not divisible by TP 16"),
        ({"pipeline_parallel": 9}, "40 layers in stages of 5 fill 8 of PP 9 stages"),
        ({"virtual_pipeline": 2}, "VPP 2 with PP 1"),
        ({"pipeline_parallel": 8, "virtual_pipeline": 6}, "PP 8 x VPP 6 = 48 chunks for 40 layers"),
        ({"context_parallel": 3}, "sequence 4096 not divisible by 2 x CP 3"),
        ({"expert_parallel": 2}, "EP 2 x expert-TP 1 for a model without experts"),
        ({"pipeline_parallel": 4, "virtual_pipeline": 2, "global_batch": 6}, "6 micro-batches not divisible by PP 4"),
        ({"data_parallel": 0}, "data_parallel: 0"),
        ({"micro_batch": 3, "global_batch": 8}, "global batch 8 not divisible by DP 1 x MBS 3"),
    ],
)
def test_each_rule(thirteen: Architecture, change: dict[str, int], said: str):
    layout = Layout(global_batch=8).model_copy(update=change)
    found = texts(thirteen, layout)
    assert any(said in text for text in found), found


def test_occupation_is_exact(thirteen: Architecture):
    assert texts(thirteen, Layout(tensor_parallel=8, data_parallel=2, global_batch=2), 24) == [
        "accelerators: TP 8 x PP 1 x CP 1 x DP 2 = 16 accelerators. Expected 24."
    ]


def test_sequence_parallel_needs_equal_parts_and_can_be_switched_off(thirteen: Architecture):
    layout = Layout(tensor_parallel=8)
    assert "sequence 4100 not divisible by CP 1 x TP 8" in texts(thirteen, layout, length=4100)[0]
    assert texts(thirteen, layout.model_copy(update={"sequence_parallel": False}), length=4100) == []


@pytest.mark.parametrize(("tensor", "faults"), [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (3, 2), (12, 2)])
def test_key_value_heads_divide_or_repeat(small: Architecture, tensor: int, faults: int):
    """16 heads, 4 key-value heads, width 5,632 = 2^9 x 11: TP 8 and 16 repeat heads, TP 12 fits neither."""
    assert len(list(tensor_faults(small, tensor))) == (faults if tensor != 3 else 3)


def test_stages_fill_evenly_unevenly_or_with_embedding_and_head():
    layers = Architecture.model_construct(layers=126)
    legal = [p for p in range(1, 127) if not any(pipeline_faults(layers, p))]
    assert {2, 8, 16, 32, 64, 126} <= set(legal)  # 128 = 126 + 2 is why 16, 32 and 64 fill
    assert 48 not in legal  # stages of 3 fill 42
    assert 25 not in legal  # stages of 6 fill 21
    assert 11 in legal  # eleven stages of 12 hold 132, the last one 6


def test_experts_divide_and_fit_the_group(library: Library):
    mixtral = library.architectures["mixtral-8x7b"]
    base = Layout(data_parallel=8, global_batch=8)
    assert texts(mixtral, base.model_copy(update={"expert_parallel": 8})) == []
    assert "8 experts not divisible by EP 3" in texts(mixtral, base.model_copy(update={"expert_parallel": 3}))[0]
    two = base.model_copy(update={"expert_parallel": 8, "expert_tensor_parallel": 2})
    assert "TP x CP x DP = 8 not divisible by EP 8 x expert-TP 2" in texts(mixtral, two)[0]
    wide = base.model_copy(update={"expert_tensor_parallel": 3})
    assert "expert width 14336 not divisible by expert-TP 3" in texts(mixtral, wide)[0]


def test_low_rank_attention_has_a_key_value_head_per_query_head(library: Library):
    assert kv_heads(library.architectures["deepseek-v3"]) == 128
