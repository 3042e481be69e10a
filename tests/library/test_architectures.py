"""Every architecture card: loads, names its source, and has the published number of parameters."""

from __future__ import annotations

import pytest

from optimizer.engine.parameters import parameters
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


def closed_form(card: Architecture, *, active: bool = False) -> int:
    """Return the weight count (of one token with ``active``) without norms and biases, below 0.1 % of every model here.

    layers x (attention + feed-forward) + tables, with (3 or 2) x hidden x width per feed-forward network.
    """
    h, matrices, moe = card.hidden_size, 3 if card.ffn.gated else 2, card.moe
    dense = matrices * h * card.ffn.hidden_size
    tables = card.vocab_size * h * (1 if card.tied_embedding else 2) + card.position_embeddings * h
    if moe is None:
        return tables + card.layers * (attention_weights(card) + dense)
    shared = matrices * h * (moe.shared_ffn_hidden_size or moe.ffn_hidden_size) * moe.shared_experts
    sparse = matrices * h * moe.ffn_hidden_size * experts_counted(card, active=active) + shared + h * moe.experts
    sparse_layers = (card.layers - moe.leading_dense_layers) // moe.every
    dense_layers = card.layers - sparse_layers
    return tables + card.layers * attention_weights(card) + dense_layers * dense + sparse_layers * sparse


def experts_counted(card: Architecture, *, active: bool) -> int:
    """Return all routed experts, or those one token visits."""
    assert card.moe
    return card.moe.experts_per_token if active else card.moe.experts


def test_the_named_models_are_there() -> None:
    assert set(CARDS) >= {
        "dense-500b", "llama-3-1-8b", "llama-3-1-70b", "llama-3-1-405b", "gpt-3-175b", "deepseek-v3", "mt-nlg-530b",
        "megatron-1008b", "mixtral-8x22b", "qwen-3-235b-a22b", "qwen-3-30b-a3b", "llama-4-scout", "llama-4-maverick",
        "gpt-oss-120b", "nemotron-4-340b", "opt-175b", "bloom-176b", "palm-540b", "kimi-k2", "moonlight-16b-a3b",
        "grok-1", "mistral-nemo-12b", "mistral-7b", "gemma-7b",
    }  # fmt: skip


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
    # the shape of Grok-1's released code is 0.54 % above the rounded count of its announcement
    tolerance = 0.006 if card.id == "grok-1" else 0.005
    assert closed_form(card) == pytest.approx(card.published_parameters, rel=tolerance)
    assert parameters(card).total == pytest.approx(closed_form(card), rel=0.001)


@pytest.mark.parametrize(
    ("name", "published", "without", "tolerance"),
    [
        # Active parameters as published, the tables that the publication leaves out, and its rounding.
        ("mixtral-8x7b", 12.9e9, 0, 0.005),
        ("mixtral-8x22b", 39e9, 0, 0.01),
        ("gpt-oss-120b", 5.13e9, 1, 0.005),
        ("moonlight-16b-a3b", 2.24e9, 2, 0.005),
        ("llama-4-scout", 17e9, 0, 0.015),
        ("llama-4-maverick", 17e9, 0, 0.015),
        ("deepseek-v3", 37e9, 1, 0.015),
        ("kimi-k2", 32e9, 1, 0.015),
        ("qwen-3-235b-a22b", 22e9, 0, 0.015),
        ("qwen-3-30b-a3b", 3.3e9, 0, 0.02),
    ],
)
def test_active_parameters_are_as_published(name: str, published: float, without: int, tolerance: float) -> None:
    card = CARDS[name]
    left_out = without * card.vocab_size * card.hidden_size
    assert closed_form(card, active=True) - left_out == pytest.approx(published, rel=tolerance)
    assert parameters(card).active == pytest.approx(closed_form(card, active=True), rel=0.001)


def test_llama_4_scout_with_its_vision_encoder_is_the_count_of_the_weight_files() -> None:
    # 34 layers of width 1408 (4 h h + 2 h 5632), a patch table 588 x 1408, pixel shuffle 5632 x 4096 + 4096 x 4096,
    # projection 4096 x 5120: 870,490,624; published 108,641,793,536 in all
    layer = 4 * 1408**2 + 2 * 1408 * 5632
    vision = 34 * layer + 588 * 1408 + 5632 * 4096 + 4096**2 + 4096 * 5120
    assert vision == 870_490_624
    assert closed_form(CARDS["llama-4-scout"]) + vision == pytest.approx(108_641_793_536, rel=2e-5)


def test_every_second_layer_of_maverick_has_experts() -> None:
    counts = parameters(CARDS["llama-4-maverick"])
    assert (counts.dense_layers, counts.moe_layers) == (24, 24)
    assert parameters(CARDS["kimi-k2"]).dense_layers == 1
    assert parameters(CARDS["llama-4-scout"]).dense_layers == 0


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        # 32 x (2 x 4096 x 4096 + 2 x 4096 x 1024 + 3 x 4096 x 14336) + 2 x 128256 x 4096
        ("llama-3-1-8b", 8_029_995_008),
        # 128 x (2 x 18432 x 18432 + 2 x 18432 x 1024 + 3 x 18432 x 57344) + 2 x 128256 x 18432
        ("dense-500b", 502_407_364_608),
        # 118 x (2 x 18432 x 12288 + 2 x 18432 x 256 + 3 x 18432 x 73728) + 256000 x 18432
        ("palm-540b", 540_354_281_472),
        # 70 x 12 x 14336 x 14336 + 250880 x 14336
        ("bloom-176b", 176_234_168_320),
        # 96 x (2 x 18432 x 18432 + 2 x 18432 x 1536 + 2 x 18432 x 73728) + 2 x 256000 x 18432
        ("nemotron-4-340b", 341_022_081_024),
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
    # head size chosen apart from the width
    free = {"mistral-nemo-12b", "qwen-3-30b-a3b", "qwen-3-235b-a22b", "gpt-oss-120b", "palm-540b", "gemma-7b"}
    if isinstance(attention, GroupedQueryAttention) and card.id not in free:
        assert attention.heads * attention.head_dim == card.hidden_size
