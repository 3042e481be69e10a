"""A training stack: what its kernels, overlaps and buffers cost (``models/software/*.yaml``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from optimizer.schema.base import Frozen, Id

Launch = Literal["eager", "graphs", "fixed"]
"""How the host launches MoE layers: kernel by kernel, by graphs of a layer's parts, with fixed shapes."""


Routing = Literal["real", "forced"]
"""Whether the router spreads tokens as it learns to, or evenly by force, as benchmarks do."""


class ReleaseStep(Frozen):
    """A step in speed with a software release, on some platforms or all."""

    since: float
    """Release as a year."""
    factor: float = Field(gt=0)
    """Speed against the platform's share."""
    platforms: tuple[str, ...] = ()
    """Platforms it is for; empty = all."""


class StateRecipe(Frozen):
    """Bytes per parameter kept between steps; ZeRO stage 1, 2, 3 shards optimizer, gradients, weights in turn."""

    weights_bytes: float = Field(ge=0)
    """Weights used by the forward pass."""
    gradient_bytes: float = Field(ge=0)
    """Gradients."""
    optimizer_bytes: float = Field(ge=0)
    """Master weights, moments and whatever is sharded with them."""
    primary_fp8: bool = False
    """True when the weights are kept in fp8 only, so that fp8 products need no copy beside them."""


class ActivationBytes(Frozen):
    """Bytes stored per token and layer for the backward pass, per element of each width."""

    hidden: float
    """Times hidden size; divided by the tensor group under sequence parallelism."""
    hidden_fp8: float
    """The same with fp8 products."""
    query: float
    """Times heads x head size; divided by the tensor group."""
    key_value: float
    """Times kv_heads x head size; divided by the tensor group."""
    ffn_gated: float
    """Times feed-forward width, gated; divided by the tensor group."""
    ffn_plain: float
    """Times feed-forward width, plain; divided by the tensor group."""
    ffn_fp8_less: float = 0.0
    """Bytes fewer per feed-forward element with fp8 products."""


class ExpertCosts(Frozen):
    """What routed experts cost in a training stack."""

    weight_bytes: float = Field(ge=0)
    """Bytes moved per local expert weight in a forward pass: reading it, in whole or once per tile."""
    half_width: float = Field(ge=0)
    """Expert width at which grouped products take twice their time."""
    permute_passes: float = Field(ge=0)
    """Reads and writes of hidden-wide tensors per visit of a token, forward: permute, copy, combine."""
    token_bytes: float = Field(gt=0)
    """Bytes per element of a token that is sent."""
    overlap: float = Field(ge=0, le=1)
    """Share of the exchange inside the first tier that is hidden."""
    host_s: float = Field(ge=0)
    """Least time of one MoE layer's forward pass: kernel launches by the host, seconds; backward twice."""
    sync_s: float = Field(ge=0)
    """Wait for the counts of routed tokens, per MoE layer and pass, seconds."""
    launch: Launch
    """How MoE layers are launched unless a run says otherwise."""
    eager_on: tuple[str, ...] = ()
    """Platforms on which they are launched kernel by kernel instead."""
    graphs_share: float = Field(ge=0, le=1)
    """What graphs of a layer's parts leave of ``host_s``."""
    fixed_share: float = Field(ge=0, le=1)
    """What is left of it when shapes are fixed because excess tokens are dropped."""
    imbalance: float = Field(ge=1)
    """Load of the busiest rank over the mean under real routing: time of experts and exchange, and their memory."""
    releases: tuple[ReleaseStep, ...] = ()
    """Speed of MoE layers by release and platform; empty = 1."""
    visit_hidden: float = Field(ge=0)
    """Bytes stored for the backward pass per visit, times hidden size; per width as in a dense layer."""
    selective: ActivationBytes
    """Stored activations of MoE layers under selective recompute: norms, activation functions and the expansion of
    low-rank attention are computed again."""
    selective_share: float = Field(ge=0, le=1)
    """Forward work of MoE layers repeated for that."""


class Software(Frozen):
    """Constants of one class of training software; each value is explained in the card."""

    id: Id
    """Kebab-case id, equal to the file name."""
    name: str
    """Display name."""
    release: float
    """Release the constants describe, as a year, for rows without one."""
    since: float = 0.0
    """First release this card describes, as a year."""
    predecessor: Id | None = None
    """Card of releases before ``since``."""
    fused_attention: bool
    """True when scores are never written to memory (no s^2 traffic or storage)."""
    score_passes: float = Field(default=0.0, ge=0)
    """Passes over the s^2 scores per layer, forward and backward, when not fused."""
    attention_kernels: tuple[ReleaseStep, ...] = Field(min_length=1)
    """Attention kernel generations by release."""
    attention_ramp_tokens: float = Field(ge=0)
    """Sequence length at which the attention kernel reaches half of its share."""
    releases: tuple[ReleaseStep, ...] = ()
    """Speed of products and memory-bound kernels by release, beyond the platform's smooth gain; empty = 1."""
    matmul_factor: float = Field(gt=0)
    """Products of this stack against the platform's sustained share."""
    gemm_edge_rows: float = Field(ge=0)
    """Time of an M x N x K product grows by edge x (1/M + 1/N + 1/K): tiles and waves."""
    hidden_passes: float = Field(ge=0)
    """Reads and writes of hidden-wide tensors in one layer's forward pass (norms, residual, dropout)."""
    ffn_passes: float = Field(ge=0)
    """Reads and writes of feed-forward-wide tensors in one layer's forward pass."""
    quantisation_bytes: float = Field(ge=0)
    """Bytes moved per GEMM input element and pass to make fp8 or fp4."""
    loss_traffic_bytes: float = Field(ge=0)
    """Bytes moved per logit, forward and backward."""
    accumulation_bytes: float = Field(ge=0)
    """Bytes moved per parameter and micro-batch to add up gradients."""
    host_s: float = Field(ge=0)
    """Least time of one layer's forward pass: kernel launches by the host, seconds."""
    gap_s: float = Field(ge=0)
    """Idle time between the kernels of one layer's forward pass, seconds; backward twice."""
    tensor_overlap_forward: float = Field(ge=0, le=1)
    """Share of tensor-parallel traffic hidden in the forward pass."""
    tensor_overlap_backward: float = Field(ge=0, le=1)
    """Share hidden in the backward pass."""
    data_overlap: float = Field(ge=0, le=1)
    """Share of the available window that hides data-parallel traffic."""
    point_to_point_exposed: float = Field(ge=0, le=1)
    """Share of stage-to-stage transfers that is not hidden."""
    gather_bytes: float = Field(gt=0)
    """Bytes per parameter when weights are gathered."""
    reduce_bytes: float = Field(gt=0)
    """Bytes per parameter when gradients are reduced."""
    sharding_contention: float = Field(ge=0, le=1)
    """Share of hidden fully-sharded traffic that still slows the products."""
    ring_step_s: float = Field(ge=0)
    """Start-up of a collective per further member inside the first tier, seconds."""
    collective_latency_s: float = Field(ge=0)
    """Start-up of a collective per further first tier it passes, and of a transfer to one neighbour, seconds."""
    optimizer_traffic_bytes: float = Field(ge=0)
    """Bytes moved per owned parameter in the optimizer step."""
    step_overhead_s: float = Field(ge=0)
    """Per step: data loading, logging, gradient norm, seconds."""
    jitter_per_doubling: float = Field(ge=0)
    """Step time added per doubling of accelerators beyond eight, a fraction."""
    recompute_stops_early: bool = False
    """True when full recompute leaves out a layer's last product, whose result the backward pass does not need."""
    selective_recompute_share: float = Field(ge=0, le=1)
    """Forward work repeated under selective recompute."""
    states: StateRecipe
    """Default state recipe."""
    fp8_extra_weight_bytes: float = Field(ge=0)
    """Kept per matrix weight beside the primary weights with fp8 products."""
    activations: ActivationBytes
    """Stored activations without recompute."""
    selective_activations: ActivationBytes | None = None
    """Stored activations under selective recompute; null = the same."""
    loss_bytes: float = Field(ge=0)
    """Held per logit at the loss."""
    loss_bytes_split: float = Field(ge=0)
    """The same when the vocabulary is split over the tensor-parallel group."""
    bucket_bytes: float = Field(ge=0)
    """Communication buckets held all the time."""
    dummy_gradient: bool = False
    """True when fused weight-gradient accumulation keeps one unused gradient per weight shape."""
    step_copy_bytes: float = Field(default=0.0, ge=0)
    """Per owned parameter, held during the optimizer step only."""
    experts: ExpertCosts | None = None
    """What mixture of experts costs; null = unknown, and MoE models are refused."""
    evidence: tuple[str, ...] = Field(min_length=1)
    """Where the constants come from."""


def of_release(cards: Mapping[str, Software], name: str, release: float | None) -> Software:
    """Return the card of a stack at a release: its predecessor for releases before ``since``."""
    card = cards[name]
    if release is None or release >= card.since or card.predecessor is None:
        return card
    return of_release(cards, card.predecessor, release)


def release_year(date: str) -> float:
    """Return ``2026-04`` or ``2026-04-15`` as a year with a fraction (months only)."""
    year, _, rest = date.partition("-")
    month = int(rest[:2]) if rest else 1
    return int(year) + (month - 1) / 12
