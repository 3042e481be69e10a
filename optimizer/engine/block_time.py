"""Time of one layer, one micro-batch: products, attention, memory-bound work, tensor and context traffic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optimizer.engine.collectives import gather_seconds, shift_bandwidth
from optimizer.engine.experts import dispatch_time, expert_time
from optimizer.engine.layouts import Floats, LayoutArrays
from optimizer.engine.memory import padded_vocabulary
from optimizer.engine.setup import Block, Setup
from optimizer.engine.visits import tokens

_BACKWARD_PRODUCTS = 2.0  # one product for the input, one for the weight
_BACKWARD_FUSED = 2.5  # fused attention recomputes scores: 5 products against 2
_MERGE_BYTES = (
    7.5  # per element of attention output and step: 10 on the rows a balanced causal ring merges, three in four
)
_BACKWARD_TRAFFIC = 2.0  # reads and writes of gradients beside activations


Pair = tuple[Floats, Floats]
"""Seconds forward and backward."""


@dataclass(frozen=True)
class LayerTime:
    """Seconds of one layer and micro-batch, forward and backward; exposed time only for communication.

    Attributes:
        gemm: Matrix products (forward, backward).
        attention: Attention kernel.
        elementwise: Memory-bound kernels, quantisation included.
        tensor: Exposed tensor-parallel traffic.
        context: Exposed context-parallel traffic.
        experts: Products and memory-bound work of routed experts.
        dispatch: Exposed exchange of tokens with them.
        host: Time the accelerator waits: gaps between kernels, or for launches when those take longer than the work.
    """

    gemm: Pair
    attention: Pair
    elementwise: Pair
    tensor: Pair
    context: Pair
    experts: Pair
    dispatch: Pair
    host: Pair

    @cached_property
    def totals(self) -> Pair:
        """Seconds of each direction."""
        parts = (self.gemm, self.attention, self.elementwise, self.tensor, self.context, self.host)
        some = [part for part in (*parts, self.experts, self.dispatch) if part is not NOTHING]
        forward, backward = (sum((part[way] for part in some[1:]), some[0][way]) for way in (0, 1))
        return np.asarray(forward), np.asarray(backward)


NOTHING: Pair = (np.zeros(1), np.zeros(1))
"""What routed experts take in a dense layer."""


def _widths(block: Block) -> tuple[float, float]:
    """Return the summed (replicated, split) dimensions of a layer's matrices."""
    whole = split = 0.0
    for matrix in block.matrices:
        inputs_split, outputs_split = matrix.split == "inputs", matrix.split == "outputs"
        whole += (not inputs_split) * matrix.inputs + (not outputs_split) * matrix.outputs
        split += inputs_split * matrix.inputs + outputs_split * matrix.outputs
    return whole, split


def _gemm(setup: Setup, layouts: LayoutArrays, block: Block, rows: Floats) -> Pair:
    """2 M N K (1 + edge (1/M + 1/N + 1/K)) / rate, summed over the layer's matrices; backward is twice that."""
    whole, split = _widths(block)
    weights = sum(matrix.size for matrix in block.matrices) / layouts.tensor_parallel
    edges = weights + rows * (whole + split / layouts.tensor_parallel)
    forward = 2.0 * (rows * weights + setup.software.gemm_edge_rows * edges) / setup.matmul_rate(setup.precision)
    return forward, _BACKWARD_PRODUCTS * forward


def _attention(setup: Setup, layouts: LayoutArrays, rows: Floats) -> Pair:
    """Causal products T s A per rank on a fused kernel; unfused: full products and s^2 traffic.

    A fused kernel reaches half its rate at the ramp's length, and sees s / c tokens at a time in a ring.
    """
    pairs = rows * setup.parameters.attention_width / layouts.tensor_parallel
    if setup.software.fused_attention:
        ramp = 1.0 + setup.software.attention_ramp_tokens * layouts.context_parallel / setup.sequence_length
        forward = pairs * setup.span * ramp / setup.attention_rate
        return forward, _BACKWARD_FUSED * forward
    product = 2.0 * pairs * setup.sequence_length / setup.matmul_rate(setup.product_precision)
    scores = setup.architecture.attention.heads * setup.sequence_length * rows / layouts.tensor_parallel
    traffic = 2.0 * setup.software.score_passes * scores / setup.memory_rate / 3.0
    return product + traffic, 2.0 * (product + traffic)


def _elementwise(setup: Setup, layouts: LayoutArrays, block: Block, rows: Floats) -> Pair:
    """Two bytes per element and pass over hidden-wide and feed-forward-wide tensors, plus quantisation."""
    software, tensor = setup.software, layouts.tensor_parallel
    residual = np.where(layouts.sequence_parallel, tensor, 1)
    wide = (2 if setup.architecture.ffn.gated else 1) * block.ffn_width + sum(setup.attention_widths)
    passes = software.hidden_passes * setup.architecture.hidden_size / residual + software.ffn_passes * wide / tensor
    whole, split = _widths(block)
    quantised = software.quantisation_bytes * setup.quantised * (whole + split / tensor) / 2.0
    forward = rows * (2.0 * passes + quantised) / setup.memory_rate
    return forward, _BACKWARD_TRAFFIC * forward


def _tensor(setup: Setup, layouts: LayoutArrays, block: Block, rows: Floats, gemm: Pair) -> Pair:
    """Two all-gathers and two reduce-scatters of T h x 2 bytes per pass; sequence parallel gathers once more back.

    The stack hides a share of it, and never more than the products it hides behind take. One of each without a
    feed-forward network that every token meets: tokens go to experts as they are split.
    """
    stride = np.ones_like(layouts.tensor_parallel)
    one = gather_seconds(setup, 2.0 * rows * setup.architecture.hidden_size, layouts.tensor_parallel, stride)
    count = 4.0 if block.ffn_width else 2.0
    forward, backward = count * one, (count + layouts.sequence_parallel) * one
    software = setup.software
    return (
        np.maximum((1.0 - software.tensor_overlap_forward) * forward, forward - gemm[0]),
        np.maximum((1.0 - software.tensor_overlap_backward) * backward, backward - gemm[1]),
    )


def _context(setup: Setup, layouts: LayoutArrays, rows: Floats, attention: Pair) -> Pair:
    """Ring of keys and values: c - 1 hops, each behind the attention of one of c steps, and as many merges of outputs.

    A merge reads and writes the sum in 32 bits and reads the new part in 16: 10 bytes per element. A balanced causal ring
    works on all queries and half of the keys in one half of its steps, and the reverse in the other.
    Backward moves gradients of keys and values too, and adds those of queries.
    """
    size, stride = layouts.context_parallel, layouts.tensor_parallel
    query, key_value = setup.attention_widths
    hop = rows * 4.0 * key_value / stride / shift_bandwidth(setup, size * stride)
    hop = hop + setup.software.collective_latency_s
    merge = _MERGE_BYTES * rows * query / stride / setup.memory_rate
    steps = size - 1
    forward = np.maximum(0.0, hop - attention[0] / size)
    backward = np.maximum(0.0, 2.0 * hop - attention[1] / size)
    return np.asarray(steps * (forward + merge)), np.asarray(steps * (backward + merge))


def layer_time(setup: Setup, layouts: LayoutArrays) -> LayerTime:
    """Return the time of one dense layer for one micro-batch, in the shape of the replica's fields."""
    parts = _shared_parts(setup, layouts, setup.dense_block, tokens(setup, layouts))
    return LayerTime(*parts, NOTHING, NOTHING, _host(parts, setup.software.host_s, setup.software.gap_s))


def expert_layer_time(setup: Setup, layouts: LayoutArrays) -> LayerTime:
    """Return the time of one MoE layer for one micro-batch: what all tokens meet, and the routed experts."""
    rows = tokens(setup, layouts)
    parts = (
        *_shared_parts(setup, layouts, setup.expert_block, rows),
        expert_time(setup, layouts, rows),
        dispatch_time(setup, layouts, rows),
    )
    idle = setup.software.gap_s + setup.expert_costs.sync_s
    return LayerTime(*parts, _host(parts, setup.expert_host_s, idle))


def _shared_parts(
    setup: Setup, layouts: LayoutArrays, block: Block, rows: Floats
) -> tuple[Pair, Pair, Pair, Pair, Pair]:
    """Return products, attention, memory-bound work, tensor and context traffic of what every token meets."""
    attention = _attention(setup, layouts, rows)
    gemm = _gemm(setup, layouts, block, rows)
    return (
        gemm,
        attention,
        _elementwise(setup, layouts, block, rows),
        _tensor(setup, layouts, block, rows, gemm),
        _context(setup, layouts, rows, attention),
    )


def _host(parts: tuple[Pair, ...], least: float, gap: float) -> Pair:
    """Idle time of a layer: gaps between kernels, or what the host takes longer to launch than they run."""
    device = [sum((part[way] for part in parts[1:]), parts[0][way]) for way in (0, 1)]
    return np.maximum(gap, least - device[0]), np.maximum(2.0 * gap, 2.0 * least - device[1])


def repeated_forward(setup: Setup, layer: LayerTime, layouts: LayoutArrays, block: Block, selective: float) -> Floats:
    """Return seconds per layer and micro-batch of forward work done again in the backward pass.

    Full repeats the forward pass, without the last product in stacks that stop when nothing more is needed; selective
    repeats the attention when it is not fused, else the share ``selective`` of the forward pass.
    """
    forward, software = layer.totals[0], setup.software
    some = selective * forward if software.fused_attention else layer.attention[0]
    full = forward
    if software.recompute_stops_early and block.ffn_width:
        full = forward - _last_share(block) * layer.gemm[0]
    return np.asarray(np.where(layouts.recompute == 2, full, np.where(layouts.recompute == 1, some, 0.0)))


def _last_share(block: Block) -> float:
    """Share of the down projection in a layer's products."""
    return block.matrices[-1].size / sum(matrix.size for matrix in block.matrices)


def head_time(setup: Setup, layouts: LayoutArrays) -> Floats:
    """Return seconds of output projection and loss for one micro-batch, forward and backward.

    Every multi-token prediction layer needs them again, and joins two hidden states by a 2 h x h product.
    """
    rows, tensor, hidden = tokens(setup, layouts), layouts.tensor_parallel, setup.architecture.hidden_size
    logits, extra = rows * padded_vocabulary(setup, layouts) / tensor, setup.architecture.mtp_layers
    weights = (1 + extra) * logits * hidden + extra * rows * 2.0 * hidden**2 / tensor
    traffic = (1 + extra) * setup.software.loss_traffic_bytes * logits / setup.memory_rate
    return np.asarray(6.0 * weights / setup.matmul_rate(setup.product_precision) + traffic)
