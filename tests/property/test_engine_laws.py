"""Laws no fit may break, over random legal layouts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.engine.collectives import bandwidth, gather_seconds
from optimizer.engine.layouts import LayoutArrays
from optimizer.engine.memory import memory, peak_bytes, stage_parameters
from optimizer.engine.parameters import parameters
from optimizer.engine.predict import predict
from optimizer.engine.setup import Setup
from optimizer.engine.verdict import VERDICTS, verdict
from optimizer.io.library import Library
from optimizer.results import Layout
from optimizer.schema.base import Precision
from optimizer.schema.platform import Platform


@cache
def library() -> Library:
    return Library.shipped()


def setup(platform: Platform | None = None, architecture: str = "llama-3-1-70b") -> Setup:
    return Setup(
        library().architectures[architecture],
        platform or library().platforms["h100-sxm"],
        Precision.BF16,
        4096,
        library().software["megatron-core"],
    )


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """A layout whose batch divides and whose chunks divide the layers."""
    stages = draw(st.sampled_from([1, 2, 4, 8, 16]))
    data, micro = draw(st.sampled_from([1, 2, 3, 8, 32])), draw(st.sampled_from([1, 2, 4]))
    return Layout(
        tensor_parallel=draw(st.sampled_from([1, 2, 4, 8, 16])),
        pipeline_parallel=stages,
        virtual_pipeline=draw(st.sampled_from([1, 5])) if stages > 1 else 1,
        context_parallel=draw(st.sampled_from([1, 2, 4])),
        data_parallel=data,
        sharding_stage=draw(st.sampled_from([0, 1, 3])),
        micro_batch=micro,
        global_batch=data * micro * draw(st.sampled_from([1, 4, 16, 64])),
        recompute=draw(st.sampled_from(["none", "selective", "full"])),
        sequence_parallel=draw(st.booleans()),
    )


@st.composite
def expert_layouts(draw: st.DrawFn) -> Layout:
    """A layout of DeepSeek-V3 whose experts can be placed."""
    layout = draw(layouts()).model_copy(update={"virtual_pipeline": 1})
    group = layout.tensor_parallel * layout.context_parallel * layout.data_parallel
    split = draw(st.sampled_from([one for one in (1, 2, 4) if group % one == 0]))
    degree = draw(st.sampled_from([one for one in (1, 2, 8, 32, 64) if (group // split) % one == 0]))
    return layout.model_copy(update={"expert_parallel": degree, "expert_tensor_parallel": split})


@given(expert_layouts(), st.sampled_from(["memory", "peak", "network"]), st.floats(1.0, 10.0))
@settings(max_examples=60, deadline=None)
def test_more_of_any_rate_never_makes_experts_slower(layout: Layout, part: str, factor: float):
    platform = library().platforms["h100-sxm"]
    slow = predict(setup(platform, "deepseek-v3"), layout).step_time_s
    assert predict(setup(faster(platform, part, factor), "deepseek-v3"), layout).step_time_s <= slow * (1 + 1e-9)


@given(expert_layouts())
@settings(max_examples=60, deadline=None)
def test_all_ranks_of_a_replica_hold_at_least_the_model(layout: Layout):
    """Experts never get lost: the stage that holds most, times the stages, is no less than the model.

    The stage that is reported is the one of the highest peak, which may hold fewer weights than the mean.
    """
    subject = setup(architecture="deepseek-v3")
    held = layout.model_copy(update={"sharding_stage": 0})
    counts = subject.parameters
    experts = counts.moe_layers * counts.routed / (layout.expert_parallel * layout.expert_tensor_parallel)
    rest = (counts.total - counts.moe_layers * counts.routed) / layout.tensor_parallel
    most = stage_parameters(subject, LayoutArrays.of(held)).total.item()
    assert most * layout.pipeline_parallel >= (experts + rest) * (1 - 1e-9)
    weights = predict(subject, held).memory["weights"] * 1e9 / subject.recipe.weights_bytes
    assert weights <= (experts + rest) * 1.05  # prediction layer, padded tables
    if layout.pipeline_parallel == 1:
        assert weights >= most * (1 - 1e-9)


@given(expert_layouts())
@settings(max_examples=60, deadline=None)
def test_real_routing_and_more_shards_are_monotone(layout: Layout):
    subject = setup(architecture="deepseek-v3")
    forced = replace(subject, routing="forced")
    real = predict(subject, layout)
    assert real.step_time_s >= predict(forced, layout).step_time_s * (1 - 1e-12)
    assert real.memory_gb >= predict(forced, layout).memory_gb * (1 - 1e-12)
    twice = layout.model_copy(
        update={"data_parallel": 2 * layout.data_parallel, "global_batch": 2 * layout.global_batch}
    )
    assert predict(subject, twice).memory_gb <= real.memory_gb * (1 + 1e-12)


@given(layouts(), st.floats(1.0, 8.0))
@settings(max_examples=60, deadline=None)
def test_more_memory_never_makes_a_layout_stop_fitting(layout: Layout, factor: float):
    own = predict(setup(), layout)
    before, after = verdict(own.memory_gb, 85.5), verdict(own.memory_gb, 85.5 * factor)
    assert VERDICTS.index(after) <= VERDICTS.index(before)


def faster(platform: Platform, part: str, factor: float) -> Platform:
    if part == "memory":
        return platform.model_copy(update={"memory_bandwidth_gb_s": platform.memory_bandwidth_gb_s * factor})
    if part == "peak":
        peaks = {name: value * factor for name, value in platform.peak_dense_tflops.items()}
        return platform.model_copy(update={"peak_dense_tflops": peaks})
    tiers = [
        tier.model_copy(
            update={"pair_gb_s": tier.pair_gb_s * factor, "full_domain_gb_s": tier.full_domain_gb_s * factor}
        )
        for tier in platform.tiers
    ]
    return platform.model_copy(update={"tiers": tuple(tiers)})


@given(layouts(), st.sampled_from(["memory", "peak", "network"]), st.floats(1.0, 10.0))
@settings(max_examples=80, deadline=None)
def test_more_of_any_rate_never_makes_it_slower(layout: Layout, part: str, factor: float):
    platform = library().platforms["h100-sxm"]
    slow = predict(setup(platform), layout).step_time_s
    assert predict(setup(faster(platform, part, factor)), layout).step_time_s <= slow * (1 + 1e-9)


@given(layouts())
@settings(max_examples=80, deadline=None)
def test_no_share_exceeds_the_whole_replica_and_the_worst_stage_holds_at_least_the_average(layout: Layout):
    subject = setup()
    parts = {name: float(part.flat[0]) for name, part in memory(subject, LayoutArrays.of(layout)).items()}
    total, recipe = parameters(subject.architecture).total, subject.recipe
    padded = total * 1.02  # tables are padded to 128 x tensor_parallel rows
    for name, each in (("weights", recipe.weights_bytes), ("gradients", recipe.gradient_bytes)):
        assert parts[name] <= padded * each
    if layout.sharding_stage == 0:
        whole = total * (recipe.weights_bytes + recipe.gradient_bytes + recipe.optimizer_bytes)
        held = parts["weights"] + parts["gradients"] + parts["optimizer"]
        average = whole / (layout.tensor_parallel * layout.pipeline_parallel)
        # the worst stage for the sum of all parts may hold a table less than another one
        table = 128_256 * 8192 * 18 / layout.tensor_parallel
        assert held >= average - table


@given(layouts())
@settings(max_examples=60, deadline=None)
def test_utilisation_stays_below_the_measured_ceiling(layout: Layout):
    subject = setup()
    assert predict(subject, layout).mfu <= subject.efficiency.matmul_share[Precision.BF16]


@given(layouts())
@settings(max_examples=60, deadline=None)
def test_full_recompute_never_needs_more_memory_for_activations(layout: Layout):
    subject = setup()
    none, full = (
        memory(subject, LayoutArrays.of(layout.model_copy(update={"recompute": mode}))) for mode in ("none", "full")
    )
    assert float(full["activations"].flat[0]) <= float(none["activations"].flat[0]) * (1 + 1e-9)


def test_an_eight_way_collective_ignores_the_cluster_and_a_cluster_wide_one_does_not():
    size, stride = np.array([8]), np.array([1])
    one = bandwidth(setup(), size, stride)
    assert gather_seconds(setup(), np.array([1e9]), size, stride)[0] == pytest.approx(
        1e9 * 7 / 8 / one[0] + 7 * setup().software.ring_step_s
    )
    wide = [gather_seconds(setup(), np.array([1e9]), np.array([n]), np.array([8]))[0] for n in (2, 16, 128, 1024)]
    assert wide == sorted(wide)
    assert wide[-1] > 1.9 * wide[0]


@pytest.mark.parametrize("accelerators", [64, 256])
def test_tensor_traffic_does_not_change_with_the_number_of_replicas(accelerators: int):
    layout = Layout(tensor_parallel=8, data_parallel=accelerators // 8, global_batch=accelerators)
    per_batch = predict(setup(), layout).time["tensor"] / (layout.global_batch / layout.data_parallel)
    assert per_batch == pytest.approx(predict(setup(), Layout(tensor_parallel=8, global_batch=1)).time["tensor"])


def test_interleaving_and_more_micro_batches_shrink_the_bubble():
    def seconds_per_sequence(stages: int, chunks: int, batch: int) -> float:
        layout = Layout(tensor_parallel=8, pipeline_parallel=stages, virtual_pipeline=chunks, global_batch=batch)
        row = predict(setup(), layout)
        return row.step_time_s / batch * row.accelerators

    # no tables: bubble alone is (p - 1) / (v m)
    assert seconds_per_sequence(16, 1, 32) > seconds_per_sequence(16, 5, 32)
    assert seconds_per_sequence(16, 1, 32) > seconds_per_sequence(16, 1, 256)


def test_memory_is_the_sum_of_its_named_parts():
    arrays = LayoutArrays.of(Layout(tensor_parallel=8, data_parallel=8, global_batch=64))
    parts = memory(setup(), arrays)
    row = predict(setup(), Layout(tensor_parallel=8, data_parallel=8, global_batch=64))
    assert float(peak_bytes(parts)[0]) == pytest.approx(sum(row.memory.values()) * 1e9)
    assert row.memory_gb > row.memory["weights"] + row.memory["gradients"] + row.memory["optimizer"]
