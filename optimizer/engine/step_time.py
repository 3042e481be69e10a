"""Seconds per optimizer step, by component, from one layer outwards to the whole cluster."""

from __future__ import annotations

import numpy as np

from optimizer.engine.block_time import NOTHING, head_time
from optimizer.engine.collectives import gather_seconds, shift_bandwidth
from optimizer.engine.layouts import Floats, LayoutArrays
from optimizer.engine.memory import Owned, stage_parameters
from optimizer.engine.setup import Setup
from optimizer.engine.slowest import Kind, Slowest, layer_kinds, slowest, total
from optimizer.engine.visits import tokens

_BASE_ACCELERATORS = 8  # jitter is counted from one node of eight, where stacks are tuned

_PER_LAYER = ("gemm", "attention", "elementwise", "tensor", "context", "experts", "dispatch", "host")
PER_MICRO_BATCH = (*_PER_LAYER, "recompute", "head", "accumulate")
"""Components that do not change with the number of replicas, per micro-batch."""

COMPONENTS = (
    *PER_MICRO_BATCH, "bubble", "point_to_point", "data", "optimizer", "overhead", "jitter",
)  # fmt: skip
"""Keys of ``step_time``; they add up to the step."""


def _accumulate(setup: Setup, owned: Owned) -> Floats:
    """Gradient addition per micro-batch: bytes per parameter over the memory rate."""
    return setup.software.accumulation_bytes * owned.total / setup.memory_rate


def _collective(
    setup: Setup, layouts: LayoutArrays, owned: Owned, width: Floats | float, messages: Floats | float = 1.0
) -> Floats:
    """Seconds to gather or reduce ``width`` bytes per parameter over the replicas: routed experts over their own."""
    group, stride = layouts.data_parallel * layouts.context_parallel, layouts.tensor_parallel
    dense = gather_seconds(setup, width * owned.dense, group, stride, messages)
    if setup.architecture.moe is None:
        return dense
    apart = layouts.expert_parallel * layouts.expert_tensor_parallel
    return dense + gather_seconds(setup, width * owned.routed, layouts.expert_shard_group, apart, messages)


def _once_per_step(setup: Setup, layouts: LayoutArrays, stage: Slowest, owned: Owned) -> Floats:
    """Exposed gradient reduction and weight gathering of ZeRO 0 and 1.

    They overlap with the last backward and the first forward pass of a stage; interleaving adds p (v - 1) / v of
    a pass to that window because early chunks finish early; there are no more passes than micro-batches.
    """
    software, chunks, stages = setup.software, layouts.virtual_pipeline, layouts.pipeline_parallel
    reduce = _collective(setup, layouts, owned, software.reduce_bytes)
    gather_width = np.where(layouts.sharding_stage >= 1, software.gather_bytes, software.reduce_bytes)
    gather = _collective(setup, layouts, owned, gather_width)
    passes = np.minimum(1.0 + stages * (chunks - 1) / chunks, layouts.micro_batches)
    window = software.data_overlap * passes
    exposed = np.maximum(0.0, reduce - window * stage.backward) + np.maximum(0.0, gather - window * stage.forward)
    return np.asarray(exposed)


def _every_micro_batch(setup: Setup, layouts: LayoutArrays, stage: Slowest, owned: Owned) -> Floats:
    """Exposed traffic of one micro-batch under ZeRO 2 and 3: per layer, gather before use, reduce after the backward pass.

    Nothing hides what the first layer gathers and the last one reduces.
    """
    software = setup.software
    layers = np.maximum(total(stage.layers), 1.0)
    gather = _collective(setup, layouts, owned, software.gather_bytes, layers)
    back = _collective(setup, layouts, owned, software.reduce_bytes, layers)
    back = back + gather * (layouts.sharding_stage == 3)
    exposed = np.maximum(gather / layers, gather - software.data_overlap * stage.forward)
    exposed = exposed + np.maximum(back / layers, back - software.data_overlap * stage.backward)
    return np.asarray(exposed + software.sharding_contention * (gather + back - exposed))


def _data(setup: Setup, layouts: LayoutArrays, stage: Slowest, owned: Owned) -> Floats:
    once = _once_per_step(setup, layouts, stage, owned)
    if not np.any(layouts.sharding_stage >= 2):
        return once
    every = _every_micro_batch(setup, layouts, stage, owned) * layouts.micro_batches
    return np.where(layouts.sharding_stage >= 2, every, once)


def _point_to_point(setup: Setup, layouts: LayoutArrays, stage: Slowest) -> Floats:
    """Exposed stage-to-stage transfers: T h x 2 bytes / t per chunk and direction, per micro-batch.

    What is hidden cannot exceed the stage's own work on a micro-batch.
    """
    stride = layouts.tensor_parallel * layouts.context_parallel * layouts.data_parallel
    link = shift_bandwidth(setup, stride * layouts.pipeline_parallel)
    one = 2.0 * tokens(setup, layouts) * setup.architecture.hidden_size / layouts.tensor_parallel / link
    each = 2.0 * layouts.virtual_pipeline * (one + setup.software.collective_latency_s)
    exposed = np.maximum(setup.software.point_to_point_exposed * each, each - stage.forward - stage.backward)
    return np.asarray(np.where(layouts.pipeline_parallel > 1, exposed, 0.0))


def _optimizer(setup: Setup, layouts: LayoutArrays, owned: Owned) -> Floats:
    """Optimizer step: bytes moved per owned parameter over the memory rate."""
    mine = owned.sharded(layouts, layouts.sharding_stage >= 1)
    return setup.software.optimizer_traffic_bytes * mine / setup.memory_rate


def _per_layer(name: str, work: list[Floats], kinds: tuple[Kind, ...]) -> Floats:
    """Seconds of one component over the layers and micro-batches of the slowest stage."""
    pairs = [(size, getattr(kind.time, name)) for size, kind in zip(work, kinds, strict=True)]
    found = [size * (pair[0] + pair[1]) for size, pair in pairs if pair is not NOTHING]
    return total(found) if found else np.zeros(1)


def step_time(setup: Setup, layouts: LayoutArrays) -> dict[str, Floats]:
    """Return seconds per optimizer step by component; the arrays broadcast and add up to ``step_seconds``.

    m micro-batches of the slowest stage, a bubble of (p - 1) / v mean stages, exposed communication, the
    optimizer, and jitter per doubling of accelerators. ``layouts`` must be legal (whole micro-batches).
    """
    kinds, head = layer_kinds(setup, layouts), head_time(setup, layouts)
    stage = slowest(layouts, kinds, head)
    owned = stage_parameters(setup, layouts)
    batches = layouts.micro_batches
    work = [batches * layers for layers in stage.layers]
    parts = {name: _per_layer(name, work, kinds) for name in _PER_LAYER}
    parts["recompute"] = total(size * kind.again for size, kind in zip(work, kinds, strict=True))
    parts["head"] = batches * stage.head
    parts["accumulate"] = batches * _accumulate(setup, owned)
    parts["bubble"] = (layouts.pipeline_parallel - 1) / layouts.virtual_pipeline * stage.mean
    parts["point_to_point"] = batches * _point_to_point(setup, layouts, stage)
    parts["data"] = _data(setup, layouts, stage, owned)
    parts["optimizer"] = _optimizer(setup, layouts, owned)
    parts["overhead"] = np.full((1,), setup.software.step_overhead_s)
    so_far = step_seconds(parts)
    doublings = np.log2(np.maximum(layouts.accelerators / _BASE_ACCELERATORS, 1.0))
    parts["jitter"] = setup.software.jitter_per_doubling * doublings * so_far
    return parts


def step_seconds(components: dict[str, Floats]) -> Floats:
    """Return the sum of the components of ``step_time``, seconds."""
    parts = list(components.values())
    return np.asarray(sum(parts[1:], parts[0]))
