"""Peak memory of the worst pipeline stage, by component."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optimizer.engine.layouts import Floats, LayoutArrays
from optimizer.engine.setup import Setup
from optimizer.engine.software import ActivationBytes
from optimizer.engine.stages import stage_layers

_WORKSPACE_BYTES = 1.0e9  # cuBLAS, NCCL and small tensors seen beside the terms below in published runs
_VOCAB_MULTIPLE = 128  # tables are padded to 128 x tensor_parallel rows

COMPONENTS = ("weights", "gradients", "optimizer", "activations", "transient", "buffers", "workspace")
"""Keys of ``memory``; they add up to the peak."""


@dataclass(frozen=True)
class _Stage:
    """What distinguishes one stage: layers, micro-batches in flight, tables it holds."""

    layers: Floats
    in_flight: Floats
    embedding: Floats
    head: Floats
    has_head: Floats


def padded_vocabulary(setup: Setup, layouts: LayoutArrays) -> Floats:
    """Return vocabulary rows after padding to a multiple of 128 x tensor_parallel."""
    multiple = _VOCAB_MULTIPLE * layouts.tensor_parallel
    return np.ceil(setup.architecture.vocab_size / multiple) * multiple


def tokens(setup: Setup, layouts: LayoutArrays) -> Floats:
    """Return tokens of one micro-batch on one accelerator of the context group."""
    return np.asarray(setup.sequence_length * layouts.micro_batch / layouts.context_parallel, dtype=np.float64)


def _in_flight(layouts: LayoutArrays, index: Floats) -> Floats:
    """Micro-batches whose activations stage ``index`` holds: 1F1B min(m, p - i), interleaved in stage-fulls."""
    stages, chunks = layouts.pipeline_parallel, layouts.virtual_pipeline
    plain = stages - index
    interleaved = (2 * (stages - index - 1) + (chunks - 1) * stages + 1) / chunks
    return np.minimum(layouts.micro_batches, np.where(chunks > 1, interleaved, plain))


def _stages(setup: Setup, layouts: LayoutArrays) -> tuple[_Stage, ...]:
    """Return the first, a middle and the last stage (the last equals the first without a pipeline)."""
    split = stage_layers(setup.architecture.layers, layouts)
    stages = layouts.pipeline_parallel
    hidden = setup.architecture.hidden_size
    table = padded_vocabulary(setup, layouts) * hidden
    positions = setup.architecture.position_embeddings * hidden
    alone = (stages == 1).astype(np.float64)
    output = table * (1.0 - alone * setup.architecture.tied_embedding)
    zero, one = np.zeros_like(alone), np.ones_like(alone)
    return (
        _Stage(split.first, _in_flight(layouts, zero), table + positions, output * alone, alone),
        _Stage(split.middle, _in_flight(layouts, np.minimum(one, stages - 1)), zero, output * alone, alone),
        _Stage(split.last, _in_flight(layouts, stages - one), (table + positions) * alone, output, one),
    )


def state_bytes(setup: Setup, layouts: LayoutArrays, owned: Floats) -> Floats:
    """Return weights, gradients and optimizer of ``owned`` parameters after sharding, bytes."""
    recipe, group, level = setup.recipe, layouts.shard_group, layouts.sharding_stage
    parts = ((recipe.weights_bytes, 3), (recipe.gradient_bytes, 2), (recipe.optimizer_bytes, 1))
    return np.asarray(sum(size * owned / np.where(level >= stage, group, 1.0) for size, stage in parts))


def stage_parameters(setup: Setup, layouts: LayoutArrays) -> Floats:
    """Return parameters per accelerator of the stage that holds most."""
    each = [_owned(setup, layouts, stage) for stage in _stages(setup, layouts)]
    return np.maximum(np.maximum(each[0], each[1]), each[2])


def _owned(setup: Setup, layouts: LayoutArrays, stage: _Stage) -> Floats:
    layers = stage.layers * setup.parameters.dense_layer
    return np.asarray((layers + stage.embedding + stage.head) / layouts.tensor_parallel)


def _layer_bytes(setup: Setup, layouts: LayoutArrays, kept: ActivationBytes) -> Floats:
    """Activations one layer stores for one micro-batch, without attention scores."""
    query, key_value = setup.attention_widths
    ffn = setup.architecture.ffn
    hidden = kept.hidden_fp8 if setup.quantised else kept.hidden
    wide = (kept.ffn_gated if ffn.gated else kept.ffn_plain) - kept.ffn_fp8_less * setup.quantised
    residual = np.where(layouts.sequence_parallel, layouts.tensor_parallel, 1)
    inner = kept.query * query + kept.key_value * key_value + wide * ffn.hidden_size
    per_token = hidden * setup.architecture.hidden_size / residual + inner / layouts.tensor_parallel
    return np.asarray(tokens(setup, layouts) * per_token)


def _score_bytes(setup: Setup, layouts: LayoutArrays) -> Floats:
    """Stored s^2 scores of one layer: 5 bytes per head and token pair, none with fused attention."""
    heads = 0 if setup.software.fused_attention else setup.architecture.attention.heads
    return np.asarray(5.0 * heads * setup.sequence_length * tokens(setup, layouts) / layouts.tensor_parallel)


def _stored_layer(setup: Setup, layouts: LayoutArrays) -> tuple[Floats, Floats]:
    """Return bytes per layer and micro-batch (kept until backward, working set while recomputing)."""
    kept = setup.software.activations
    everything = _layer_bytes(setup, layouts, kept) + _score_bytes(setup, layouts)
    selective = _layer_bytes(setup, layouts, setup.software.selective_activations or kept)
    residual = np.where(layouts.sequence_parallel, layouts.tensor_parallel, 1)
    inputs = 2.0 * tokens(setup, layouts) * setup.architecture.hidden_size / residual
    stored = np.where(layouts.recompute == 2, inputs, np.where(layouts.recompute == 1, selective, everything))
    scores = _score_bytes(setup, layouts) * (layouts.recompute == 1)
    return stored, np.where(layouts.recompute == 2, everything, scores)


def _working_set(setup: Setup, layouts: LayoutArrays, recomputed: Floats) -> Floats:
    """Live tensors of the layer being computed: T (6 f / t + 4 h), gathered inputs, the recomputed layer."""
    hidden, width = setup.architecture.hidden_size, setup.architecture.ffn.hidden_size
    gathered = 4.0 * hidden * (layouts.sequence_parallel & (layouts.tensor_parallel > 1))
    per_token = 6.0 * width / layouts.tensor_parallel + 4.0 * hidden + gathered
    return np.asarray(recomputed + tokens(setup, layouts) * per_token)


def _buffers(setup: Setup, layouts: LayoutArrays, stage: _Stage, owned: Floats) -> Floats:
    """Gather buffers of full sharding, communication buckets, unused fused gradients."""
    software, tensor = setup.software, layouts.tensor_parallel
    layer = setup.parameters.dense_layer / tensor
    tables = (stage.embedding + stage.head) / tensor
    gathered = software.gather_bytes * (2.0 * layer + tables) + software.reduce_bytes * layer
    piped = (software.gather_bytes + software.reduce_bytes) * owned
    full = np.where(layouts.sharding_stage == 3, np.where(layouts.pipeline_parallel > 1, piped, gathered), 0.0)
    dummy = 2.0 * layer * (software.dummy_gradient & (layouts.sharding_stage < 3))
    return np.asarray(full + dummy + software.bucket_bytes)


def _states(setup: Setup, layouts: LayoutArrays, stage: _Stage, owned: Floats) -> tuple[Floats, Floats, Floats]:
    """Return (weights, gradients, optimizer) bytes: the recipe, divided by the shard group from stage 3, 2, 1 on."""
    recipe, group, level = setup.recipe, layouts.shard_group, layouts.sharding_stage
    matrices = stage.layers * setup.parameters.dense_layer / layouts.tensor_parallel
    extra = setup.software.fp8_extra_weight_bytes * setup.quantised * matrices
    weights = (recipe.weights_bytes * owned + extra) / np.where(level >= 3, group, 1.0)
    gradients = recipe.gradient_bytes * owned / np.where(level >= 2, group, 1.0)
    return weights, gradients, recipe.optimizer_bytes * owned / np.where(level >= 1, group, 1.0)


def _stage_memory(setup: Setup, layouts: LayoutArrays, stage: _Stage) -> tuple[Floats, ...]:
    """Return the components of one stage in the order of ``COMPONENTS``."""
    owned = _owned(setup, layouts, stage)
    stored, recomputed = _stored_layer(setup, layouts)
    activations = stage.layers * stage.in_flight * stored
    logits = tokens(setup, layouts) * padded_vocabulary(setup, layouts) / layouts.tensor_parallel
    split = np.where(layouts.tensor_parallel > 1, setup.software.loss_bytes_split, setup.software.loss_bytes)
    loss = split * logits * stage.has_head
    buffers = _buffers(setup, layouts, stage, owned)
    step_copy = setup.software.step_copy_bytes * owned / layouts.shard_group
    transient = np.maximum(
        np.maximum(loss, _working_set(setup, layouts, recomputed)), step_copy - activations - buffers
    )
    workspace = np.full((1,), _WORKSPACE_BYTES)
    return (*_states(setup, layouts, stage, owned), activations, transient, buffers, workspace)


def memory(setup: Setup, layouts: LayoutArrays) -> dict[str, Floats]:
    """Return peak allocated memory of the worst stage, bytes by component.

    peak = states + max(activations + transient + buffers, step copy) + workspace. The arrays broadcast against
    each other and add up to ``peak_bytes``.
    """
    stages = [_stage_memory(setup, layouts, stage) for stage in _stages(setup, layouts)]
    worst = stages[0]
    total = sum(worst[1:], worst[0])
    for stage in stages[1:]:
        other = sum(stage[1:], stage[0])
        larger = other > total
        worst = tuple(np.where(larger, new, old) for new, old in zip(stage, worst, strict=True))
        total = np.where(larger, other, total)
    return dict(zip(COMPONENTS, worst, strict=True))


def first_stage_memory(setup: Setup, layouts: LayoutArrays) -> dict[str, Floats]:
    """Return the memory of the first stage (rank 0), as many published readings are taken; see ``memory``."""
    first = _stages(setup, layouts)[0]
    return dict(zip(COMPONENTS, _stage_memory(setup, layouts, first), strict=True))


def peak_bytes(components: dict[str, Floats]) -> Floats:
    """Return the sum of the components of ``memory``, bytes."""
    parts = list(components.values())
    return sum(parts[1:], parts[0])
