"""Time of one layer, one micro-batch: products, attention, memory-bound work, tensor and context traffic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optimizer.engine.collectives import gather_seconds, shift_bandwidth
from optimizer.engine.layouts import Floats, LayoutArrays
from optimizer.engine.memory import padded_vocabulary, tokens
from optimizer.engine.setup import Setup

_BACKWARD_PRODUCTS = 2.0  # one product for the input, one for the weight
_BACKWARD_FUSED = 2.5  # fused attention recomputes scores: 5 products against 2
_BACKWARD_TRAFFIC = 2.0  # reads and writes of gradients beside activations


@dataclass(frozen=True)
class LayerTime:
    """Seconds of one layer and micro-batch, forward and backward; exposed time only for communication.

    Attributes:
        gemm: Matrix products (forward, backward).
        attention: Attention kernel.
        elementwise: Memory-bound kernels, quantisation included.
        tensor: Exposed tensor-parallel traffic.
        context: Exposed context-parallel traffic.
        host: Time the accelerator waits: gaps between kernels, or for launches when those take longer than the work.
    """

    gemm: tuple[Floats, Floats]
    attention: tuple[Floats, Floats]
    elementwise: tuple[Floats, Floats]
    tensor: tuple[Floats, Floats]
    context: tuple[Floats, Floats]
    host: tuple[Floats, Floats]

    def total(self, direction: int) -> Floats:
        """Return seconds of one direction: 0 forward, 1 backward."""
        parts = (self.gemm, self.attention, self.elementwise, self.tensor, self.context, self.host)
        return np.asarray(sum((part[direction] for part in parts[1:]), parts[0][direction]))


def _widths(setup: Setup) -> tuple[float, float]:
    """Return the summed (replicated, split) dimensions of a layer's matrices."""
    whole = split = 0.0
    for matrix in setup.matrices:
        inputs_split, outputs_split = matrix.split == "inputs", matrix.split == "outputs"
        whole += (not inputs_split) * matrix.inputs + (not outputs_split) * matrix.outputs
        split += inputs_split * matrix.inputs + outputs_split * matrix.outputs
    return whole, split


def _gemm(setup: Setup, layouts: LayoutArrays, rows: Floats) -> tuple[Floats, Floats]:
    """2 M N K (1 + edge (1/M + 1/N + 1/K)) / rate, summed over the layer's matrices; backward is twice that."""
    whole, split = _widths(setup)
    weights = sum(matrix.size for matrix in setup.matrices) / layouts.tensor_parallel
    edges = weights + rows * (whole + split / layouts.tensor_parallel)
    forward = 2.0 * (rows * weights + setup.software.gemm_edge_rows * edges) / setup.matmul_rate(setup.precision)
    return forward, _BACKWARD_PRODUCTS * forward


def _attention(setup: Setup, layouts: LayoutArrays, rows: Floats) -> tuple[Floats, Floats]:
    """Causal products T s A per rank on a fused kernel; unfused: full products and s^2 traffic."""
    pairs = rows * setup.parameters.attention_width / layouts.tensor_parallel
    if setup.software.fused_attention:
        forward = pairs * setup.span / setup.attention_rate
        return forward, _BACKWARD_FUSED * forward
    product = 2.0 * pairs * setup.sequence_length / setup.matmul_rate(setup.product_precision)
    scores = setup.architecture.attention.heads * setup.sequence_length * rows / layouts.tensor_parallel
    traffic = 2.0 * setup.software.score_passes * scores / setup.memory_rate / 3.0
    return product + traffic, 2.0 * (product + traffic)


def _elementwise(setup: Setup, layouts: LayoutArrays, rows: Floats) -> tuple[Floats, Floats]:
    """Two bytes per element and pass over hidden-wide and feed-forward-wide tensors, plus quantisation."""
    software, tensor = setup.software, layouts.tensor_parallel
    residual = np.where(layouts.sequence_parallel, tensor, 1)
    ffn = setup.architecture.ffn
    wide = (2 if ffn.gated else 1) * ffn.hidden_size + sum(setup.attention_widths)
    passes = software.hidden_passes * setup.architecture.hidden_size / residual + software.ffn_passes * wide / tensor
    whole, split = _widths(setup)
    quantised = software.quantisation_bytes * setup.quantised * (whole + split / tensor) / 2.0
    forward = rows * (2.0 * passes + quantised) / setup.memory_rate
    return forward, _BACKWARD_TRAFFIC * forward


def _tensor(setup: Setup, layouts: LayoutArrays, rows: Floats, gemm: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Two all-gathers and two reduce-scatters of T h x 2 bytes per pass; sequence parallel gathers once more back.

    The stack hides a share of it, and never more than the products it hides behind take.
    """
    stride = np.ones_like(layouts.tensor_parallel)
    one = gather_seconds(setup, 2.0 * rows * setup.architecture.hidden_size, layouts.tensor_parallel, stride)
    forward, backward = 4.0 * one, (4.0 + layouts.sequence_parallel) * one
    software = setup.software
    return (
        np.maximum((1.0 - software.tensor_overlap_forward) * forward, forward - gemm[0]),
        np.maximum((1.0 - software.tensor_overlap_backward) * backward, backward - gemm[1]),
    )


def _context(
    setup: Setup, layouts: LayoutArrays, rows: Floats, attention: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Ring exchange of keys and values, hidden behind the attention of the ring's steps; gradients double it."""
    size, stride = layouts.context_parallel, layouts.tensor_parallel
    hop = rows * 4.0 * setup.attention_widths[1] / stride / shift_bandwidth(setup, size * stride)
    ring = hop * (size - 1) + setup.software.collective_latency_s * (size - 1)
    return np.maximum(0.0, ring - attention[0]), np.maximum(0.0, 2.0 * ring - attention[1])


def layer_time(setup: Setup, layouts: LayoutArrays) -> LayerTime:
    """Return the time of one dense layer for one micro-batch, in the shape of the replica's fields."""
    rows = tokens(setup, layouts)
    attention = _attention(setup, layouts, rows)
    gemm = _gemm(setup, layouts, rows)
    parts = (
        gemm,
        attention,
        _elementwise(setup, layouts, rows),
        _tensor(setup, layouts, rows, gemm),
        _context(setup, layouts, rows, attention),
    )
    device = [sum((part[way] for part in parts[1:]), parts[0][way]) for way in (0, 1)]
    least, gap = setup.software.host_s, setup.software.gap_s
    host = (np.maximum(gap, least - device[0]), np.maximum(2.0 * gap, 2.0 * least - device[1]))
    return LayerTime(*parts, host)


def repeated_forward(setup: Setup, layouts: LayoutArrays, layer: LayerTime) -> Floats:
    """Return seconds per layer and micro-batch of forward work done again in the backward pass.

    Full repeats the stack's share of the forward pass; selective repeats the attention when it is not fused, else the stack's share.
    """
    forward, software = layer.total(0), setup.software
    selective = software.selective_recompute_share * forward if software.fused_attention else layer.attention[0]
    full = software.full_recompute_share * forward
    return np.asarray(np.where(layouts.recompute == 2, full, np.where(layouts.recompute == 1, selective, 0.0)))


def head_time(setup: Setup, layouts: LayoutArrays) -> Floats:
    """Return seconds of output projection and loss for one micro-batch, forward and backward."""
    rows, tensor = tokens(setup, layouts), layouts.tensor_parallel
    logits = rows * padded_vocabulary(setup, layouts) / tensor
    products = 6.0 * logits * setup.architecture.hidden_size / setup.matmul_rate(setup.product_precision)
    return np.asarray(products + setup.software.loss_traffic_bytes * logits / setup.memory_rate)
