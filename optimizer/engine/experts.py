"""Time of the routed experts of one MoE layer: grouped products, permutation, and the all-to-all that feeds them."""

from __future__ import annotations

import numpy as np

from optimizer.engine.collectives import exchange_rates
from optimizer.engine.layouts import Floats, LayoutArrays
from optimizer.engine.setup import Setup
from optimizer.engine.visits import visits

_BACKWARD = 2.0  # one product for the input, one for the weight; gradients move beside activations


def _inner_width(setup: Setup) -> int:
    """Columns of an expert's first product: gate and up together when gated."""
    return setup.expert_shape.ffn_hidden_size * (2 if setup.architecture.ffn.gated else 1)


def _products(setup: Setup, layouts: LayoutArrays, each: Floats) -> Floats:
    """Forward products of the local experts, ``each`` visits: 2 M h w (1 + width / f) / rate, and reading weights.

    M counts visits of all shards of an expert, whose widths w and f are divided by them; weights are read once per
    pass, whatever the number format, which decides when experts meet few tokens.
    """
    moe, costs, split = setup.expert_shape, setup.expert_costs, layouts.expert_tensor_parallel
    weights = setup.architecture.hidden_size * (_inner_width(setup) + moe.ffn_hidden_size) / split
    narrow = 1.0 + costs.half_width * split / moe.ffn_hidden_size
    products = 2.0 * weights * each * split * narrow / setup.matmul_rate(setup.precision)
    return np.asarray(
        products + costs.weight_bytes * weights * moe.experts / layouts.expert_parallel / setup.memory_rate
    )


def _traffic(setup: Setup, each: Floats) -> Floats:
    """Memory-bound work of a forward pass: permutation, activation function, quantised inputs of the products."""
    hidden, inner, software = setup.architecture.hidden_size, _inner_width(setup), setup.software
    passes = setup.expert_costs.permute_passes * hidden + software.ffn_passes * inner
    widths = 2 * hidden + inner + setup.expert_shape.ffn_hidden_size
    quantised = software.quantisation_bytes * setup.quantised * widths / 2.0
    return np.asarray(each * (2.0 * passes + quantised) / setup.memory_rate)


def expert_time(setup: Setup, layouts: LayoutArrays, rows: Floats) -> tuple[Floats, Floats]:
    """Return seconds of the routed experts of one layer and micro-batch on the busiest accelerator, both directions."""
    each = visits(setup, layouts, rows) * setup.imbalance
    forward = (_products(setup, layouts, each) + _traffic(setup, each)) / setup.expert_release_factor
    return forward, _BACKWARD * forward


def _others(places: Floats, choices: int) -> Floats:
    """Return to how many other places a token goes, each at most once: (n - 1)(1 - (1 - 1/n)^k)."""
    return np.asarray((places - 1.0) * (1.0 - (1.0 - 1.0 / places) ** choices))


def exchange_time(setup: Setup, layouts: LayoutArrays, rows: Floats) -> Floats:
    """Return exposed seconds to send the tokens of one micro-batch to their experts, or back.

    A token crosses to another node once and is copied inside it; the slower of the two decides. Copies inside the
    first tier partly hide behind products, what crosses the fabric does not. Expert-tensor shards stand side by side
    and gather what their expert receives; expert-parallel ranks follow each other.
    """
    costs, choices = setup.expert_costs, setup.expert_shape.experts_per_token
    group, split = layouts.expert_parallel, layouts.expert_tensor_parallel
    inner, outer = exchange_rates(setup, group * split)
    nodes = np.ceil(group * split / (setup.tiers[0].accelerators or 1))
    one = costs.token_bytes * setup.architecture.hidden_size * rows / layouts.tensor_parallel * setup.imbalance
    copies = _others(np.asarray(group, dtype=np.float64), choices) + choices * (split - 1)
    inside = (1.0 - costs.overlap) * one * copies / inner
    outside = one * _others(nodes, choices) / outer
    return np.asarray(np.maximum(inside, outside) + setup.software.collective_latency_s * np.log2(group))


def dispatch_time(setup: Setup, layouts: LayoutArrays, rows: Floats) -> tuple[Floats, Floats]:
    """Return exposed seconds of both exchanges of a layer, forward and backward."""
    both = 2.0 * exchange_time(setup, layouts, rows) / setup.expert_release_factor
    return both, both
