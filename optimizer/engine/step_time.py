"""Seconds per optimizer step, by component, from one layer outwards to the whole cluster."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from optimizer.engine.block_time import LayerTime, head_time, layer_time, repeated_forward
from optimizer.engine.collectives import gather_seconds, shift_bandwidth
from optimizer.engine.layouts import Floats, LayoutArrays
from optimizer.engine.memory import stage_parameters, state_bytes, tokens
from optimizer.engine.setup import Setup
from optimizer.engine.stages import stage_layers

_BASE_ACCELERATORS = 8  # jitter is counted from one node of eight, where stacks are tuned

COMPONENTS = (
    "gemm", "attention", "elementwise", "tensor", "context", "host", "recompute", "head", "accumulate", "bubble",
    "point_to_point", "data", "optimizer", "overhead", "pressure", "jitter",
)  # fmt: skip
"""Keys of ``step_time``; they add up to the step."""


class _Stage(NamedTuple):
    """The slowest stage: layers, whether it has the head, seconds per micro-batch, and the mean over stages."""

    layers: Floats
    head: Floats
    forward: Floats
    backward: Floats
    mean: Floats


def _slowest(setup: Setup, layouts: LayoutArrays, layer: LayerTime, again: Floats, head: Floats) -> _Stage:
    split = stage_layers(setup.architecture.layers, layouts)
    each = layer.total(0) + layer.total(1) + again
    inner = np.where(layouts.pipeline_parallel > 1, np.maximum(split.first, split.middle), 0)
    ends = split.last * each + head > inner * each
    layers = np.where(ends, split.last, inner)
    mean = (setup.architecture.layers * each + head) / layouts.pipeline_parallel
    with_head = ends * head
    forward = layers * layer.total(0) + with_head / 3.0
    return _Stage(layers, with_head, forward, layers * (layer.total(1) + again) + with_head * 2.0 / 3.0, mean)


def _accumulate(setup: Setup, owned: Floats) -> Floats:
    """Gradient addition per micro-batch: bytes per parameter over the memory rate."""
    return setup.software.accumulation_bytes * owned / setup.memory_rate


def _once_per_step(setup: Setup, layouts: LayoutArrays, stage: _Stage, owned: Floats) -> Floats:
    """Exposed gradient reduction and weight gathering of ZeRO 0 and 1.

    They overlap with the last backward and the first forward pass of a stage; interleaving adds p (v - 1) / v of
    a pass to that window because early chunks finish early; there are no more passes than micro-batches.
    """
    software, chunks, stages = setup.software, layouts.virtual_pipeline, layouts.pipeline_parallel
    group, stride = layouts.data_parallel * layouts.context_parallel, layouts.tensor_parallel
    reduce = gather_seconds(setup, software.reduce_bytes * owned, group, stride)
    gather_width = np.where(layouts.sharding_stage >= 1, software.gather_bytes, software.reduce_bytes)
    gather = gather_seconds(setup, gather_width * owned, group, stride)
    passes = np.minimum(1.0 + stages * (chunks - 1) / chunks, layouts.micro_batches)
    window = software.data_overlap * passes
    exposed = np.maximum(0.0, reduce - window * stage.backward) + np.maximum(0.0, gather - window * stage.forward)
    return np.asarray(exposed)


def _every_micro_batch(setup: Setup, layouts: LayoutArrays, stage: _Stage, owned: Floats) -> Floats:
    """Exposed traffic of one micro-batch under ZeRO 2 and 3: per layer, gather before use, reduce after the backward pass."""
    software = setup.software
    group, stride = layouts.data_parallel * layouts.context_parallel, layouts.tensor_parallel
    gather = gather_seconds(setup, software.gather_bytes * owned, group, stride, stage.layers)
    back = gather_seconds(setup, software.reduce_bytes * owned, group, stride, stage.layers) + gather * (
        layouts.sharding_stage == 3
    )
    exposed = np.maximum(0.0, gather - software.data_overlap * stage.forward)
    exposed = exposed + np.maximum(0.0, back - software.data_overlap * stage.backward)
    return np.asarray(exposed + software.sharding_contention * (gather + back - exposed))


def _data(setup: Setup, layouts: LayoutArrays, stage: _Stage, owned: Floats) -> Floats:
    once = _once_per_step(setup, layouts, stage, owned)
    if not np.any(layouts.sharding_stage >= 2):
        return once
    every = _every_micro_batch(setup, layouts, stage, owned) * layouts.micro_batches
    return np.where(layouts.sharding_stage >= 2, every, once)


def _point_to_point(setup: Setup, layouts: LayoutArrays, stage: _Stage) -> Floats:
    """Exposed stage-to-stage transfers: T h x 2 bytes / t per chunk and direction, per micro-batch.

    What is hidden cannot exceed the stage's own work on a micro-batch.
    """
    stride = layouts.tensor_parallel * layouts.context_parallel * layouts.data_parallel
    link = shift_bandwidth(setup, stride * layouts.pipeline_parallel)
    one = 2.0 * tokens(setup, layouts) * setup.architecture.hidden_size / layouts.tensor_parallel / link
    each = 2.0 * layouts.virtual_pipeline * (one + setup.software.collective_latency_s)
    exposed = np.maximum(setup.software.point_to_point_exposed * each, each - stage.forward - stage.backward)
    return np.asarray(np.where(layouts.pipeline_parallel > 1, exposed, 0.0))


def _optimizer(setup: Setup, layouts: LayoutArrays, owned: Floats) -> Floats:
    """Optimizer step: bytes moved per owned parameter over the memory rate."""
    mine = owned / np.where(layouts.sharding_stage >= 1, layouts.shard_group, 1.0)
    return setup.software.optimizer_traffic_bytes * mine / setup.memory_rate


def _pressure(setup: Setup, layouts: LayoutArrays, owned: Floats) -> Floats:
    """Slow-down when states leave the allocator little room, a fraction of the step."""
    software = setup.software
    if software.pressure_slope == 0:
        return np.zeros((1,))
    share = state_bytes(setup, layouts, owned) / setup.memory_bytes
    return np.asarray(software.pressure_slope * np.maximum(0.0, share - software.pressure_from))


def step_time(setup: Setup, layouts: LayoutArrays) -> dict[str, Floats]:
    """Return seconds per optimizer step by component; the arrays broadcast and add up to ``step_seconds``.

    m micro-batches of the slowest stage, a bubble of (p - 1) / v mean stages, exposed communication, the
    optimizer, memory pressure, and jitter per doubling of accelerators. ``layouts`` must be legal (whole micro-batches).
    """
    layer = layer_time(setup, layouts)
    again, head = repeated_forward(setup, layouts, layer), head_time(setup, layouts)
    stage = _slowest(setup, layouts, layer, again, head)
    owned = stage_parameters(setup, layouts)
    batches = layouts.micro_batches
    work = batches * stage.layers
    parts = {name: work * (getattr(layer, name)[0] + getattr(layer, name)[1]) for name in COMPONENTS[:6]}
    parts["recompute"] = work * again
    parts["head"] = batches * stage.head
    parts["accumulate"] = batches * _accumulate(setup, owned)
    parts["bubble"] = (layouts.pipeline_parallel - 1) / layouts.virtual_pipeline * stage.mean
    parts["point_to_point"] = batches * _point_to_point(setup, layouts, stage)
    parts["data"] = _data(setup, layouts, stage, owned)
    parts["optimizer"] = _optimizer(setup, layouts, owned)
    parts["overhead"] = np.full((1,), setup.software.step_overhead_s)
    parts["pressure"] = _pressure(setup, layouts, owned) * step_seconds(parts)
    doublings = np.log2(np.maximum(layouts.accelerators / _BASE_ACCELERATORS, 1.0))
    parts["jitter"] = setup.software.jitter_per_doubling * doublings * step_seconds(parts)
    return parts


def step_seconds(components: dict[str, Floats]) -> Floats:
    """Return the sum of the components of ``step_time``, seconds."""
    parts = list(components.values())
    return np.asarray(sum(parts[1:], parts[0]))
