"""Peak memory of the worst pipeline stage, by component."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from optimizer.engine.layouts import Booleans, Floats, LayoutArrays
from optimizer.engine.setup import Setup
from optimizer.engine.software import ActivationBytes
from optimizer.engine.stages import split_layers
from optimizer.engine.visits import tokens, visits

_WORKSPACE_BYTES = 1.0e9  # cuBLAS, NCCL and small tensors seen beside the terms below in published runs
_VOCAB_MULTIPLE = 128  # tables are padded to 128 x tensor_parallel rows

COMPONENTS = ("weights", "gradients", "optimizer", "activations", "transient", "buffers", "workspace")
"""Keys of ``memory``; they add up to the peak."""


class Owned(NamedTuple):
    """Parameters per accelerator: what is split over the tensor group, and routed experts."""

    dense: Floats
    routed: Floats

    @property
    def total(self) -> Floats:
        """Both together."""
        return self.dense + self.routed

    def sharded(self, layouts: LayoutArrays, where: Booleans) -> Floats:
        """Return parameters after sharding over the replicas that hold the same, where asked for."""
        dense = self.dense / np.where(where, layouts.shard_group, 1.0)
        if self.routed is NO_EXPERTS:
            return dense
        return np.asarray(dense + self.routed / np.where(where, layouts.expert_shard_group, 1.0))


NO_EXPERTS: Floats = np.zeros(1)
"""Routed parameters of a dense model."""


@dataclass(frozen=True)
class _Stage:
    """What distinguishes one stage: dense and MoE layers, micro-batches in flight, tables it holds."""

    layers: Floats
    experts: Floats
    in_flight: Floats
    embedding: Floats
    head: Floats
    has_head: Floats


def padded_vocabulary(setup: Setup, layouts: LayoutArrays) -> Floats:
    """Return vocabulary rows after padding to a multiple of 128 x tensor_parallel."""
    multiple = _VOCAB_MULTIPLE * layouts.tensor_parallel
    return np.ceil(setup.architecture.vocab_size / multiple) * multiple


def _in_flight(layouts: LayoutArrays, index: Floats) -> Floats:
    """Micro-batches whose activations stage ``index`` holds: 1F1B min(m, p - i), interleaved in stage-fulls."""
    stages, chunks = layouts.pipeline_parallel, layouts.virtual_pipeline
    plain = stages - index
    interleaved = (2 * (stages - index - 1) + (chunks - 1) * stages + 1) / chunks
    return np.minimum(layouts.micro_batches, np.where(chunks > 1, interleaved, plain))


def _stages(setup: Setup, layouts: LayoutArrays) -> tuple[_Stage, ...]:
    """Return the first, a middle and the last stage (the last equals the first without a pipeline)."""
    split, moe = split_layers(setup.architecture, layouts)
    stages = layouts.pipeline_parallel
    hidden = setup.architecture.hidden_size
    table = padded_vocabulary(setup, layouts) * hidden
    positions = setup.architecture.position_embeddings * hidden
    alone = (stages == 1).astype(np.float64)
    output = table * (1.0 - alone * setup.architecture.tied_embedding)
    zero, one = np.zeros_like(alone), np.ones_like(alone)
    inputs = np.maximum(alone, float(setup.architecture.mtp_layers > 0))  # prediction layers embed tokens again
    return (
        _Stage(split.first, moe.first, _in_flight(layouts, zero), table + positions, output * alone, alone),
        _Stage(split.middle, moe.middle, _in_flight(layouts, np.minimum(one, stages - 1)), zero, output * alone, alone),
        _Stage(split.last, moe.last, _in_flight(layouts, stages - one), (table + positions) * inputs, output, one),
    )


def state_bytes(setup: Setup, layouts: LayoutArrays, owned: Owned) -> Floats:
    """Return weights, gradients and optimizer of ``owned`` parameters after sharding, bytes."""
    recipe, level = setup.recipe, layouts.sharding_stage
    parts = ((recipe.weights_bytes, 3), (recipe.gradient_bytes, 2), (recipe.optimizer_bytes, 1))
    return np.asarray(sum(size * owned.sharded(layouts, level >= stage) for size, stage in parts))


def stage_parameters(setup: Setup, layouts: LayoutArrays) -> Owned:
    """Return parameters per accelerator of the stage that holds most."""
    first, *others = (_owned(setup, layouts, stage) for stage in _stages(setup, layouts))
    for other in others:
        if first.routed is NO_EXPERTS:
            first = Owned(np.maximum(first.dense, other.dense), NO_EXPERTS)
        else:
            more = other.total > first.total
            first = Owned(np.where(more, other.dense, first.dense), np.where(more, other.routed, first.routed))
    return first


def _owned(setup: Setup, layouts: LayoutArrays, stage: _Stage) -> Owned:
    tables = stage.embedding + stage.head
    layers = stage.layers * setup.parameters.dense_layer
    if setup.architecture.mtp_layers:
        layers = layers + _joins(setup, stage)
    if setup.architecture.moe is None:
        return Owned(np.asarray((layers + tables) / layouts.tensor_parallel), NO_EXPERTS)
    layers = layers + stage.experts * setup.expert_block.size
    routed = stage.experts * setup.parameters.routed / (layouts.expert_parallel * layouts.expert_tensor_parallel)
    return Owned(np.asarray((layers + tables) / layouts.tensor_parallel), np.asarray(routed))


def _joins(setup: Setup, stage: _Stage) -> Floats:
    """Parameters of multi-token prediction beside its layer: a 2 h x h product on the last stage."""
    return 2.0 * setup.architecture.mtp_layers * setup.architecture.hidden_size**2 * stage.has_head


def _layer_bytes(
    setup: Setup, layouts: LayoutArrays, kept: ActivationBytes, ffn_width: int, attention_bytes: float | None = None
) -> Floats:
    """Activations one layer stores for one micro-batch, without attention scores and routed experts."""
    query, key_value = setup.attention_widths
    hidden = kept.hidden_fp8 if setup.quantised else kept.hidden
    gated = setup.architecture.ffn.gated
    wide = (kept.ffn_gated if gated else kept.ffn_plain) - kept.ffn_fp8_less * setup.quantised
    residual = np.where(layouts.sequence_parallel, layouts.tensor_parallel, 1)
    attention = kept.query * query + kept.key_value * key_value if attention_bytes is None else attention_bytes
    inner = attention + wide * ffn_width
    per_token = hidden * setup.architecture.hidden_size / residual + inner / layouts.tensor_parallel
    return np.asarray(tokens(setup, layouts) * per_token)


def _score_bytes(setup: Setup, layouts: LayoutArrays) -> Floats:
    """Stored s^2 scores of one layer: 5 bytes per head and token pair, none with fused attention."""
    heads = 0 if setup.software.fused_attention else setup.architecture.attention.heads
    return np.asarray(5.0 * heads * setup.sequence_length * tokens(setup, layouts) / layouts.tensor_parallel)


def _visit_bytes(setup: Setup, layouts: LayoutArrays, kept: ActivationBytes) -> Floats:
    """Activations of the routed experts of one layer: per visit k (2 h + 6 f), on the busiest rank."""
    gated, hidden = setup.architecture.ffn.gated, setup.architecture.hidden_size
    wide = (kept.ffn_gated if gated else kept.ffn_plain) - kept.ffn_fp8_less * setup.quantised
    each = setup.expert_costs.visit_hidden * hidden + wide * setup.expert_shape.ffn_hidden_size
    return np.asarray(setup.imbalance * visits(setup, layouts, tokens(setup, layouts)) * each)


def _stored_layer(setup: Setup, layouts: LayoutArrays, *, experts: bool) -> tuple[Floats, Floats]:
    """Return bytes per layer and micro-batch (kept until backward, working set while recomputing)."""
    kept = setup.software.activations
    fewer = setup.software.selective_activations or kept
    width = (setup.expert_block if experts else setup.dense_block).ffn_width
    scores = _score_bytes(setup, layouts)
    everything = _layer_bytes(setup, layouts, kept, width) + scores
    selective = _layer_bytes(setup, layouts, fewer, width)
    if experts:
        everything = everything + _visit_bytes(setup, layouts, kept)
        fewer = setup.expert_costs.selective
        selective = _layer_bytes(setup, layouts, fewer, width, setup.latent_bytes) + _visit_bytes(setup, layouts, fewer)
    residual = np.where(layouts.sequence_parallel, layouts.tensor_parallel, 1)
    inputs = 2.0 * tokens(setup, layouts) * setup.architecture.hidden_size / residual
    stored = np.where(layouts.recompute == 2, inputs, np.where(layouts.recompute == 1, selective, everything))
    return stored, np.where(layouts.recompute == 2, everything, scores * (layouts.recompute == 1))


def _working_set(setup: Setup, layouts: LayoutArrays, recomputed: Floats) -> Floats:
    """Live tensors of the layer being computed: T (6 f / t + 4 h), gathered inputs, the recomputed layer.

    Experts: the same per visit instead of the feed-forward network.
    """
    hidden, width = setup.architecture.hidden_size, setup.architecture.ffn.hidden_size
    gathered = 4.0 * hidden * (layouts.sequence_parallel & (layouts.tensor_parallel > 1))
    wide = 6.0 * width
    if setup.architecture.moe is not None:
        each = 6.0 * setup.expert_shape.ffn_hidden_size + 4.0 * hidden
        wide = max(wide, setup.imbalance * setup.expert_shape.experts_per_token * each)
    per_token = wide / layouts.tensor_parallel + 4.0 * hidden + gathered
    return np.asarray(recomputed + tokens(setup, layouts) * per_token)


def _largest_layer(setup: Setup, layouts: LayoutArrays) -> tuple[Floats, Floats]:
    """Return parameters per accelerator of (a layer's part that every token meets, the whole largest layer)."""
    if setup.architecture.moe is None:
        dense = np.asarray(setup.parameters.dense_layer / layouts.tensor_parallel)
        return dense, dense
    shared = setup.expert_block.size / layouts.tensor_parallel
    routed = setup.parameters.routed / (layouts.expert_parallel * layouts.expert_tensor_parallel)
    return np.asarray(shared), np.asarray(shared + routed)


def _buffers(setup: Setup, layouts: LayoutArrays, stage: _Stage, owned: Owned) -> Floats:
    """Gather buffers of full sharding, communication buckets, unused fused gradients."""
    software, tensor = setup.software, layouts.tensor_parallel
    shared, layer = _largest_layer(setup, layouts)
    tables = (stage.embedding + stage.head) / tensor
    gathered = software.gather_bytes * (2.0 * layer + tables) + software.reduce_bytes * layer
    piped = (software.gather_bytes + software.reduce_bytes) * owned.total
    full = np.where(layouts.sharding_stage == 3, np.where(layouts.pipeline_parallel > 1, piped, gathered), 0.0)
    dummy = 2.0 * shared * (software.dummy_gradient & (layouts.sharding_stage < 3))
    return np.asarray(full + dummy + software.bucket_bytes)


def _states(setup: Setup, layouts: LayoutArrays, stage: _Stage, owned: Owned) -> tuple[Floats, Floats, Floats]:
    """Return (weights, gradients, optimizer) bytes: the recipe, divided by the shard group from stage 3, 2, 1 on."""
    recipe, level = setup.recipe, layouts.sharding_stage
    tables = (stage.embedding + stage.head) / layouts.tensor_parallel
    matrices = owned._replace(dense=owned.dense - tables).sharded(layouts, level >= 3)
    beside = 0.0 if recipe.primary_fp8 else setup.software.fp8_extra_weight_bytes
    extra = beside * setup.quantised * matrices
    return (
        recipe.weights_bytes * owned.sharded(layouts, level >= 3) + extra,
        recipe.gradient_bytes * owned.sharded(layouts, level >= 2),
        recipe.optimizer_bytes * owned.sharded(layouts, level >= 1),
    )


class _Common(NamedTuple):
    """Bytes that are the same on every stage: one dense and one MoE layer's activations, working set, loss."""

    dense: Floats
    experts: Floats
    working: Floats
    loss: Floats


def _common(setup: Setup, layouts: LayoutArrays) -> _Common:
    stored, recomputed = _stored_layer(setup, layouts, experts=False)
    other = NO_EXPERTS
    if setup.architecture.moe is not None:
        other, again = _stored_layer(setup, layouts, experts=True)
        recomputed = np.maximum(recomputed, again)
    logits = tokens(setup, layouts) * padded_vocabulary(setup, layouts) / layouts.tensor_parallel
    split = np.where(layouts.tensor_parallel > 1, setup.software.loss_bytes_split, setup.software.loss_bytes)
    return _Common(stored, other, _working_set(setup, layouts, recomputed), split * logits)


def _stage_memory(setup: Setup, layouts: LayoutArrays, stage: _Stage, common: _Common) -> tuple[Floats, ...]:
    """Return the components of one stage in the order of ``COMPONENTS``."""
    owned = _owned(setup, layouts, stage)
    layers = stage.layers * common.dense
    if setup.architecture.moe is not None:
        layers = layers + stage.experts * common.experts
    activations = np.asarray(stage.in_flight * layers)
    buffers = _buffers(setup, layouts, stage, owned)
    everywhere = np.ones((1,), dtype=np.bool_)
    step_copy = setup.software.step_copy_bytes * owned.sharded(layouts, everywhere)
    transient = np.maximum(np.maximum(common.loss * stage.has_head, common.working), step_copy - activations - buffers)
    workspace = np.full((1,), _WORKSPACE_BYTES)
    return (*_states(setup, layouts, stage, owned), activations, transient, buffers, workspace)


def memory(setup: Setup, layouts: LayoutArrays) -> dict[str, Floats]:
    """Return peak allocated memory of the worst stage, bytes by component.

    peak = states + max(activations + transient + buffers, step copy) + workspace. The arrays broadcast against
    each other and add up to ``peak_bytes``.
    """
    common = _common(setup, layouts)
    stages = [_stage_memory(setup, layouts, stage, common) for stage in _stages(setup, layouts)]
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
    return dict(zip(COMPONENTS, _stage_memory(setup, layouts, first, _common(setup, layouts)), strict=True))


def peak_bytes(components: dict[str, Floats]) -> Floats:
    """Return the sum of the components of ``memory``, bytes."""
    parts = list(components.values())
    return sum(parts[1:], parts[0])
