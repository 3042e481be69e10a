"""A model to train: its shape, from which parameters and FLOPs follow."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from optimizer.schema.base import Frozen, Id, Source


class GroupedQueryAttention(Frozen):
    """Multi-head, grouped-query or multi-query attention."""

    kind: Literal["gqa"] = "gqa"
    """``gqa``; heads = kv_heads is multi-head, kv_heads = 1 multi-query."""
    heads: int = Field(ge=1)
    """Query heads."""
    kv_heads: int = Field(ge=1)
    """Key and value heads."""
    head_dim: int = Field(ge=1)
    """Size of one head; independent of hidden_size / heads."""
    window: int | None = Field(default=None, ge=1)
    """Sliding window in tokens; null = full causal attention."""
    bias: bool = False
    """True when the query, key and value projections have biases."""

    @model_validator(mode="after")
    def _divisible(self) -> GroupedQueryAttention:
        if self.heads % self.kv_heads:
            raise ValueError(f"heads {self.heads} is not a multiple of kv_heads {self.kv_heads}")
        return self


class MultiHeadLatentAttention(Frozen):
    """Low-rank query and key-value attention (DeepSeek)."""

    kind: Literal["mla"]
    """``mla``."""
    heads: int = Field(ge=1)
    """Heads."""
    qk_nope_head_dim: int = Field(ge=1)
    """Part of a query/key head without rotation."""
    qk_rope_head_dim: int = Field(ge=1)
    """Rotated part of a query/key head."""
    v_head_dim: int = Field(ge=1)
    """Size of a value head."""
    q_lora_rank: int | None = Field(default=None, ge=1)
    """Rank of the query; null = full rank."""
    kv_lora_rank: int = Field(ge=1)
    """Rank of keys and values."""


Attention = Annotated[GroupedQueryAttention | MultiHeadLatentAttention, Field(discriminator="kind")]


class FeedForward(Frozen):
    """The dense feed-forward network of a layer."""

    hidden_size: int = Field(ge=1)
    """Inner width."""
    gated: bool
    """True: three matrices (SwiGLU); false: two."""


class MixtureOfExperts(Frozen):
    """Routed experts that replace the dense feed-forward network."""

    experts: int = Field(ge=1)
    """Routed experts per layer."""
    experts_per_token: int = Field(ge=1)
    """Experts each token visits."""
    shared_experts: int = Field(default=0, ge=0)
    """Experts every token visits."""
    ffn_hidden_size: int = Field(ge=1)
    """Inner width of one routed expert."""
    shared_ffn_hidden_size: int | None = Field(default=None, ge=1)
    """Inner width of one shared expert; null = ffn_hidden_size."""
    leading_dense_layers: int = Field(default=0, ge=0)
    """First layers that stay dense."""
    every: int = Field(default=1, ge=1)
    """An MoE layer every n layers."""


class Architecture(Frozen):
    """A decoder-only transformer."""

    id: Id
    """Kebab-case id, equal to the file name."""
    name: str | None = None
    """Display name."""
    layers: int = Field(ge=1)
    """Transformer layers."""
    hidden_size: int = Field(ge=1)
    """Width of the residual stream."""
    vocab_size: int = Field(ge=1)
    """Rows of the embedding table."""
    tied_embedding: bool
    """True: input and output embedding are one table."""
    attention: Attention
    """Attention shape."""
    ffn: FeedForward
    """Dense feed-forward shape."""
    moe: MixtureOfExperts | None = None
    """Experts; null = dense."""
    mtp_layers: int = Field(default=0, ge=0)
    """Multi-token prediction layers."""
    position_embeddings: int = Field(default=0, ge=0)
    """Rows of a learned position table; 0 = none."""
    biases: bool = False
    """True when all linear layers and norms have biases (GPT-3 style)."""
    published_parameters: float | None = Field(default=None, gt=0)
    """Total parameters as published."""
    notes: tuple[str, ...] = ()
    """Remarks."""
    sources: dict[str, Source] = Field(default_factory=dict)
    """Sources by short name."""
