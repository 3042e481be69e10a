"""Parameter counts and matrix shapes that follow from an architecture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optimizer.schema.architecture import Architecture, GroupedQueryAttention, MultiHeadLatentAttention

Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Matrix:
    """One weight matrix of a layer.

    Attributes:
        inputs: Rows (the summed dimension of the forward product).
        outputs: Columns.
        split: Dimension divided over the tensor-parallel group; ``none`` is replicated.
        experts_per_token: How many of it one token visits (1 for dense parts).
    """

    inputs: int
    outputs: int
    split: str = "outputs"
    experts_per_token: int = 1

    @property
    def size(self) -> int:
        """Weights."""
        return self.inputs * self.outputs


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameter counts of an architecture.

    Attributes:
        total: All parameters, without multi-token prediction layers.
        active: Parameters one token uses, embedding and head included.
        embedding: Input table and learned positions.
        head: Output table; 0 when tied.
        dense_layer: One dense layer, norms and biases included.
        moe_layer: One MoE layer with all its experts; 0 without experts.
        routed: Routed experts of one MoE layer.
        mtp: Multi-token prediction layers.
        matmul: Weights one token is multiplied with: active layer matrices and the head, without the input table;
            every multi-token prediction layer adds its own, a 2h x h projection and the head again.
        attention_width: heads x (QK head size + V head size): the width of the two attention products.
        dense_layers: Dense layers.
        moe_layers: MoE layers.
    """

    total: int
    active: int
    embedding: int
    head: int
    dense_layer: int
    moe_layer: int
    routed: int
    mtp: int
    matmul: int
    attention_width: int
    dense_layers: int
    moe_layers: int


def _mla_matrices(hidden: int, mla: MultiHeadLatentAttention) -> tuple[Matrix, ...]:
    query = mla.heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim)
    rank = mla.q_lora_rank
    queries = (Matrix(hidden, query),) if rank is None else (Matrix(hidden, rank, "none"), Matrix(rank, query))
    return (
        *queries,
        Matrix(hidden, mla.kv_lora_rank + mla.qk_rope_head_dim, "none"),
        Matrix(mla.kv_lora_rank, mla.heads * (mla.qk_nope_head_dim + mla.v_head_dim)),
        Matrix(mla.heads * mla.v_head_dim, hidden, "inputs"),
    )


def attention_matrices(architecture: Architecture) -> tuple[Matrix, ...]:
    """Return the projections of one layer's attention; keys and values count kv_heads only (GQA)."""
    hidden, attention = architecture.hidden_size, architecture.attention
    if isinstance(attention, MultiHeadLatentAttention):
        return _mla_matrices(hidden, attention)
    query, key_value = attention.heads * attention.head_dim, attention.kv_heads * attention.head_dim
    return Matrix(hidden, query + 2 * key_value), Matrix(query, hidden, "inputs")


def ffn_matrices(hidden: int, width: int, gated: bool, experts_per_token: int = 1) -> tuple[Matrix, ...]:
    """Return the matrices of a feed-forward network: gate and up as one product, then down."""
    inner = (2 if gated else 1) * width
    return (
        Matrix(hidden, inner, "outputs", experts_per_token),
        Matrix(width, hidden, "inputs", experts_per_token),
    )


def layer_matrices(architecture: Architecture) -> tuple[Matrix, ...]:
    """Return all matrices of one dense layer."""
    ffn = architecture.ffn
    return attention_matrices(architecture) + ffn_matrices(architecture.hidden_size, ffn.hidden_size, ffn.gated)


def expert_layer_matrices(architecture: Architecture) -> tuple[Matrix, ...]:
    """Return what every token meets in an MoE layer: attention, router and shared experts as one network."""
    moe, hidden = architecture.moe, architecture.hidden_size
    if moe is None:
        return ()
    width = shared_width(architecture)
    shared = ffn_matrices(hidden, width, architecture.ffn.gated) if width else ()
    return (*attention_matrices(architecture), Matrix(hidden, moe.experts, "none"), *shared)


def shared_width(architecture: Architecture) -> int:
    """Return the summed width of the shared experts of one MoE layer; 0 without."""
    moe = architecture.moe
    return moe.shared_experts * (moe.shared_ffn_hidden_size or moe.ffn_hidden_size) if moe else 0


def moe_layers_before(architecture: Architecture, layers: Counts) -> Counts:
    """Return how many of the first ``layers`` layers have experts: n / every, less the leading dense ones."""
    moe = architecture.moe
    if moe is None:
        return np.zeros_like(layers)
    leading = moe.leading_dense_layers // moe.every
    return np.maximum(np.asarray(layers, dtype=np.float64) // moe.every - leading, 0.0)


def is_moe_layer(architecture: Architecture, layer: int) -> bool:
    """Return whether the layer (from 0) has experts."""
    moe = architecture.moe
    return moe is not None and layer >= moe.leading_dense_layers and (layer + 1) % moe.every == 0


def _size(matrices: tuple[Matrix, ...]) -> int:
    return sum(matrix.size for matrix in matrices)


def _small(architecture: Architecture, ffn_width: int) -> int:
    """Norms and biases of one layer."""
    hidden, attention = architecture.hidden_size, architecture.attention
    if isinstance(attention, MultiHeadLatentAttention):
        return 2 * hidden + (attention.q_lora_rank or 0) + attention.kv_lora_rank
    qkv = (attention.heads + 2 * attention.kv_heads) * attention.head_dim
    if architecture.biases:
        return 4 * hidden + qkv + hidden + ffn_width + hidden
    return 2 * hidden + (qkv if attention.bias else 0)


def _attention_width(architecture: Architecture) -> int:
    attention = architecture.attention
    if isinstance(attention, GroupedQueryAttention):
        return 2 * attention.heads * attention.head_dim
    return attention.heads * (attention.qk_nope_head_dim + attention.qk_rope_head_dim + attention.v_head_dim)


def _moe_sizes(architecture: Architecture) -> tuple[int, int, int]:
    """Return (all experts, one token's experts, router + shared) matrix weights of one MoE layer."""
    moe, hidden, gated = architecture.moe, architecture.hidden_size, architecture.ffn.gated
    if moe is None:
        return 0, 0, 0
    expert = _size(ffn_matrices(hidden, moe.ffn_hidden_size, gated))
    shared = _size(ffn_matrices(hidden, shared_width(architecture), gated))
    return moe.experts * expert, moe.experts_per_token * expert, hidden * moe.experts + shared


def parameters(architecture: Architecture) -> Parameters:
    """Return the parameter counts of an architecture.

    total = embedding + head + final norm + sum of layers; a layer is its matrices, norms and biases.
    Multi-token prediction: per extra layer one MoE (or dense) layer, a 2h x h projection and two norms.
    """
    hidden = architecture.hidden_size
    attention = _size(attention_matrices(architecture))
    ffn = _size(ffn_matrices(hidden, architecture.ffn.hidden_size, architecture.ffn.gated))
    small = _small(architecture, architecture.ffn.hidden_size)
    routed, visited, fixed = _moe_sizes(architecture)
    moe_layers = sum(is_moe_layer(architecture, layer) for layer in range(architecture.layers))
    dense_layers = architecture.layers - moe_layers
    embedding = (architecture.vocab_size + architecture.position_embeddings) * hidden
    table = architecture.vocab_size * hidden
    head = 0 if architecture.tied_embedding else table
    final_norm = hidden * (2 if architecture.biases else 1)
    dense_layer, moe_rest = attention + ffn + small, attention + fixed + small
    moe_layer = moe_rest + routed if moe_layers else 0
    outer = embedding + head + final_norm
    last_layer = moe_layer or dense_layer
    moe_matmul, extra = attention + fixed + visited, architecture.mtp_layers
    again = extra * ((moe_matmul if moe_layers else attention + ffn) + 2 * hidden * hidden + table)
    return Parameters(
        total=outer + dense_layers * dense_layer + moe_layers * moe_layer,
        active=outer + dense_layers * dense_layer + moe_layers * (moe_rest + visited),
        embedding=embedding,
        head=head,
        dense_layer=dense_layer,
        moe_layer=moe_layer,
        routed=routed,
        mtp=extra * (last_layer + 2 * hidden * hidden + 3 * hidden),
        matmul=table + dense_layers * (attention + ffn) + moe_layers * moe_matmul + again,
        attention_width=_attention_width(architecture),
        dense_layers=dense_layers,
        moe_layers=moe_layers,
    )
