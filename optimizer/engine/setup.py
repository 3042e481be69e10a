"""What a prediction is about: model, platform, number format, sequence length and software, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from optimizer.engine.efficiency import Efficiency, efficiency
from optimizer.engine.flops import attention_span
from optimizer.engine.parameters import (
    Matrix,
    Parameters,
    expert_layer_matrices,
    layer_matrices,
    parameters,
    shared_width,
)
from optimizer.engine.software import ExpertCosts, Launch, ReleaseStep, Routing, Software, StateRecipe
from optimizer.errors import InputError, InternalError, Problem
from optimizer.schema.architecture import Architecture, GroupedQueryAttention, MixtureOfExperts
from optimizer.schema.base import Precision
from optimizer.schema.platform import Platform, Tier

_PEAK_OF = {Precision.MXFP8: Precision.FP8, Precision.NVFP4: Precision.FP4}
"""Block-scaled formats run at the peak of their width."""

LOW_PRECISION = frozenset({Precision.FP8, Precision.MXFP8, Precision.FP4, Precision.NVFP4})
"""Formats that quantise the inputs of layer products; attention, head and loss stay bf16."""


@dataclass(frozen=True)
class Block:
    """What every token meets in one kind of layer; routed experts come on top.

    Attributes:
        matrices: Attention, dense or shared feed-forward network, router.
        ffn_width: Inner width of that network; 0 when all of it is routed.
        size: Parameters, norms and biases included.
    """

    matrices: tuple[Matrix, ...]
    ffn_width: int
    size: int


@dataclass(frozen=True)
class Setup:
    """Everything a step depends on besides the layout.

    Attributes:
        architecture: The model.
        platform: The hardware option.
        precision: Number format of the layer products.
        sequence_length: Tokens per sequence.
        software: Training stack.
        node_network_gb_s: Network of a node, 1e9 bytes per second one way; None = the platform's outermost tier.
        release: Software release as a year; None = the release the platform's shares hold for.
        states: State recipe; None = the stack's default.
        routing: ``forced`` when the router spreads tokens evenly, as benchmarks do; ``real`` charges the busiest expert.
        launch: How the host launches MoE layers; None = the stack's default.

    Raises:
        InputError: A needed fact is unknown (memory, bandwidth, peak or share for this precision, tiers, what experts
            cost in this stack).
    """

    architecture: Architecture
    platform: Platform
    precision: Precision
    sequence_length: int
    software: Software
    node_network_gb_s: float | None = None
    release: float | None = None
    states: StateRecipe | None = None
    routing: Routing = "real"
    launch: Launch | None = None

    def __post_init__(self) -> None:
        """Collect every missing fact and raise them together."""
        problems = _problems(self)
        if problems:
            raise InputError(problems)

    @cached_property
    def efficiency(self) -> Efficiency:
        """Measured shares of the platform."""
        return efficiency(self.platform)

    @cached_property
    def parameters(self) -> Parameters:
        """Parameter counts of the model."""
        return parameters(self.architecture)

    @cached_property
    def dense_block(self) -> Block:
        """A dense layer."""
        model = self.architecture
        return Block(layer_matrices(model), model.ffn.hidden_size, self.parameters.dense_layer)

    @cached_property
    def expert_block(self) -> Block:
        """An MoE layer without its routed experts."""
        size = self.parameters.moe_layer - self.parameters.routed
        return Block(expert_layer_matrices(self.architecture), shared_width(self.architecture), size)

    @property
    def expert_shape(self) -> MixtureOfExperts:
        """Experts of the model; InternalError for a dense one."""
        if self.architecture.moe is None:
            raise InternalError(f"{self.architecture.id} has no experts")
        return self.architecture.moe

    @property
    def expert_costs(self) -> ExpertCosts:
        """What experts cost in this stack; InternalError when unknown (refused for MoE models at the start)."""
        if self.software.experts is None:
            raise InternalError(f"{self.software.id} says nothing about experts")
        return self.software.experts

    @property
    def imbalance(self) -> float:
        """Load of the busiest expert-parallel rank over the mean."""
        return self.expert_costs.imbalance if self.routing == "real" else 1.0

    @cached_property
    def expert_host_s(self) -> float:
        """Least time the host needs for one MoE layer's forward pass, seconds."""
        costs = self.expert_costs
        left = {"eager": 1.0, "graphs": costs.graphs_share, "fixed": costs.fixed_share}
        usual = "eager" if self.platform.id in costs.eager_on else costs.launch
        return costs.host_s * left[self.launch or usual] / self.expert_release_factor

    @cached_property
    def expert_release_factor(self) -> float:
        """Speed of MoE layers in this release of the stack on this platform, as a pilot corrects it."""
        return self._step(self.expert_costs.releases) * self.efficiency.expert_speed

    @property
    def recipe(self) -> StateRecipe:
        """State recipe in force."""
        return self.states or self.software.states

    @property
    def quantised(self) -> bool:
        """True when layer products run below 16 bits."""
        return self.precision in LOW_PRECISION

    @property
    def product_precision(self) -> Precision:
        """Precision of head and attention: the 16-bit format."""
        return Precision.BF16 if self.quantised else self.precision

    @property
    def attention_widths(self) -> tuple[int, int]:
        """Return (query width, key-value width) of one layer: heads x head size and kv_heads x head size."""
        attention = self.architecture.attention
        if isinstance(attention, GroupedQueryAttention):
            return attention.heads * attention.head_dim, attention.kv_heads * attention.head_dim
        return self.parameters.attention_width // 2, self.parameters.attention_width // 2

    @property
    def latent_bytes(self) -> float | None:
        """Bytes per token that low-rank attention keeps when it expands again: ranks and output; None for other kinds.

        2 bytes x (query rank or width + key-value rank + rotated part + heads x value size).
        """
        attention = self.architecture.attention
        if isinstance(attention, GroupedQueryAttention):
            return None
        query = attention.q_lora_rank or attention.heads * (attention.qk_nope_head_dim + attention.qk_rope_head_dim)
        latent = query + attention.kv_lora_rank + attention.qk_rope_head_dim
        return 2.0 * (latent + attention.heads * attention.v_head_dim)

    @property
    def span(self) -> float:
        """Tokens attended to (causal pairs x 2 / tokens), see ``attention_span``."""
        return attention_span(self.architecture, self.sequence_length)

    @property
    def memory_bytes(self) -> int:
        """Memory of one accelerator, bytes."""
        return self.platform.memory_bytes or 0  # never zero: __post_init__ refuses an unknown

    def peak_flops(self, precision: Precision) -> float:
        """Return the dense peak, FLOP per second."""
        return self.platform.peak_dense_tflops[_peak_key(self.platform, precision)] * 1e12

    @cached_property
    def age_factor(self) -> float:
        """Speed against the release the shares hold for: (1 + gain) ^ -(years older), never above 1."""
        years = max(0.0, self.efficiency.release - (self.release or self.efficiency.release))
        return float((1.0 + self.efficiency.release_gain_per_year) ** -years)

    @cached_property
    def release_factor(self) -> float:
        """Speed of this release of the stack against the constants of its card."""
        return self._step(self.software.releases)

    def _step(self, steps: tuple[ReleaseStep, ...]) -> float:
        """Return the factor of the newest step released by then for this platform (the oldest if none is)."""
        release = self.release or self.efficiency.release
        mine = [step for step in steps if not step.platforms or self.platform.id in step.platforms]
        known = [step for step in mine if step.since <= release] or mine[:1]
        return known[-1].factor if known else 1.0

    def matmul_rate(self, precision: Precision) -> float:
        """Return FLOP/s of large products in a step: peak x ceiling x sustained x stack x age."""
        shares = self.efficiency
        rate = self.peak_flops(precision) * shares.matmul_share[precision] * shares.sustained_share[precision]
        return rate * self.software.matmul_factor * self.age_factor * self.release_factor

    @cached_property
    def attention_rate(self) -> float:
        """FLOP/s of the fused attention kernel on long sequences."""
        kernel = self._step(self.software.attention_kernels)
        return self.peak_flops(self.product_precision) * self.efficiency.attention_share * kernel

    @cached_property
    def memory_rate(self) -> float:
        """Bytes per second of memory-bound kernels."""
        bandwidth = (self.platform.memory_bandwidth_gb_s or 0.0) * 1e9
        return bandwidth * self.efficiency.memory_share * self.release_factor

    @cached_property
    def tiers(self) -> tuple[Tier, ...]:
        """Network tiers with the outermost replaced by ``node_network_gb_s`` when given."""
        tiers = self.platform.tiers
        if self.node_network_gb_s is None:
            return tiers
        each = self.node_network_gb_s / self.platform.accelerators_per_node
        return (*tiers[:-1], tiers[-1].model_copy(update={"pair_gb_s": each, "full_domain_gb_s": each}))


def _peak_key(platform: Platform, precision: Precision) -> Precision:
    """Return the precision whose datasheet peak applies: its own, else that of its width."""
    return precision if precision in platform.peak_dense_tflops else _PEAK_OF.get(precision, precision)


def _problems(setup: Setup) -> list[Problem]:
    platform = setup.platform
    where = f"models/platforms/{platform.id}.yaml"
    facts = ("memory_bytes", "memory_bandwidth_gb_s", "tiers")
    missing = [name for name in facts if not getattr(platform, name)]
    found = [Problem(f"{where}, {name}", "unknown", "a value with its source") for name in missing]
    for precision in dict.fromkeys((setup.precision, setup.product_precision)):
        found += _rate_problems(setup, precision, where)
    if setup.architecture.moe is not None and setup.software.experts is None:
        where = f"models/software/{setup.software.id}.yaml, experts"
        found.append(Problem(where, "unknown", f"what experts cost in this stack, for {setup.architecture.id}"))
    return found


def _rate_problems(setup: Setup, precision: Precision, where: str) -> list[Problem]:
    peaks, shares = setup.platform.peak_dense_tflops, setup.efficiency
    if _peak_key(setup.platform, precision) not in peaks:
        known = ", ".join(peaks) or "none"
        return [Problem(f"{where}, peak_dense_tflops", f"no {precision}", f"one of: {known}")]
    missing = [name for name in ("matmul_share", "sustained_share") if precision not in getattr(shares, name)]
    return [Problem(f"{where}, efficiency.{name}", f"no {precision}", "a share for this precision") for name in missing]
