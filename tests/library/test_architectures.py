"""Every architecture card: loads, names its source, and has the published number of parameters."""

from __future__ import annotations

import pytest

from optimizer.io.library import Library
from optimizer.schema.architecture import Architecture, GroupedQueryAttention

CARDS = Library.shipped().architectures

each = pytest.mark.parametrize("card", CARDS.values(), ids=CARDS.keys())
published = pytest.mark.parametrize(
    "card", [card for card in CARDS.values() if card.published_parameters], ids=lambda card: card.id
)


def attention_weights(card: Architecture) -> int:
    """Return q + k + v + output weights of one layer."""
    h, a = card.hidden_size, card.attention
    if isinstance(a, GroupedQueryAttention):
        return 2 * h * a.heads * a.head_dim + 2 * h * a.kv_heads * a.head_dim
    query_head = a.qk_nope_head_dim + a.qk_rope_head_dim
    query = a.q_lora_rank * (h + a.heads * query_head) if a.q_lora_rank else h * a.heads * query_head
    compressed = h * (a.kv_lora_rank + a.qk_rope_head_dim)
    expanded = a.kv_lora_rank * a.heads * (a.qk_nope_head_dim + a.v_head_dim)
    return query + compressed + expanded + a.heads * a.v_head_dim * h


def closed_form(card: Architecture) -> int:
    """Return the weight count without norms and biases, below 0.1 % of every model here.

    layers x (attention + feed-forward) + tables, with (3 or 2) x hidden x width per feed-forward network.
    """
    h, matrices, moe = card.hidden_size, 3 if card.ffn.gated else 2, card.moe
    dense = matrices * h * card.ffn.hidden_size
    tables = card.vocab_size * h * (1 if card.tied_embedding else 2) + card.position_embeddings * h
    if moe is None:
        return tables + card.layers * (attention_weights(card) + dense)
    sparse = matrices * h * moe.ffn_hidden_size * (moe.experts + moe.shared_experts) + h * moe.experts
    leading = moe.leading_dense_layers
    return tables + card.layers * attention_weights(card) + leading * dense + (card.layers - leading) * sparse


def test_the_named_models_are_there() -> None:
    assert {"dense-500b", "llama-3-1-8b", "llama-3-1-70b", "llama-3-1-405b", "gpt-3-175b", "deepseek-v3"} <= set(CARDS)


@pytest.mark.parametrize("name", CARDS)
def test_id_is_the_file_name(name: str) -> None:
    assert CARDS[name].id == name


@each
def test_has_a_dated_source(card: Architecture) -> None:
    assert card.sources
    for source in card.sources.values():
        assert source.date
        assert source.url or source.confidence == "D"


@published
def test_parameters_are_as_published(card: Architecture) -> None:
    assert closed_form(card) == pytest.approx(card.published_parameters, rel=0.005)


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        # 32 x (2 x 4096 x 4096 + 2 x 4096 x 1024 + 3 x 4096 x 14336) + 2 x 128256 x 4096
        ("llama-3-1-8b", 8_029_995_008),
        # 128 x (2 x 18432 x 18432 + 2 x 18432 x 1024 + 3 x 18432 x 57344) + 2 x 128256 x 18432
        ("dense-500b", 502_407_364_608),
        # 96 x (4 x 12288 x 12288 + 2 x 12288 x 49152) + (50257 + 2048) x 12288
        ("gpt-3-175b", 174_588_899_328),
    ],
)
def test_closed_form_by_hand(name: str, weights: int) -> None:
    assert closed_form(CARDS[name]) == weights


@each
def test_only_the_invented_and_the_rounded_have_no_published_count(card: Architecture) -> None:
    assert bool(card.published_parameters) is (card.id not in {"dense-500b", "megatron-3-6b"})


@each
def test_heads_fill_the_width_unless_said_otherwise(card: Architecture) -> None:
    attention = card.attention
    free = {"mistral-nemo-12b", "qwen-3-30b-a3b", "qwen-3-235b-a22b"}  # head size chosen apart from the width
    if isinstance(attention, GroupedQueryAttention) and card.id not in free:
        assert attention.heads * attention.head_dim == card.hidden_size
