"""Every software card and band of the library."""

from __future__ import annotations

import pytest

from optimizer.engine.software import Software, of_release, release_year
from optimizer.io.library import Library

CARDS = Library.shipped().software


@pytest.mark.parametrize("card", CARDS.values(), ids=str)
def test_a_card_explains_itself_and_its_steps_are_in_order(card: Software):
    assert all(len(text) > 20 for text in card.evidence)
    for steps in (card.attention_kernels, card.releases):
        assert [step.since for step in steps] == sorted(step.since for step in steps)
    assert card.predecessor is None or card.predecessor in CARDS
    assert (card.predecessor is None) == (card.since == 0.0)


def test_unfused_stacks_move_scores_and_fused_ones_do_not():
    assert {name for name, card in CARDS.items() if not card.fused_attention} == {"megatron-2021", "megatron-deepspeed"}
    for card in CARDS.values():
        assert (card.score_passes > 0) == (not card.fused_attention)


def test_an_old_release_is_described_by_its_predecessor():
    assert of_release(CARDS, "pytorch-fsdp", 2023.6).id == "pytorch-fsdp-2023"
    assert of_release(CARDS, "pytorch-fsdp", 2024.0).id == "pytorch-fsdp"
    assert of_release(CARDS, "pytorch-fsdp", None).id == "pytorch-fsdp"
    assert of_release(CARDS, "megatron-core", 2019.0).id == "megatron-core"


def test_dates_as_years():
    assert release_year("2026-04") == 2026.25
    assert release_year("2026-04-30") == 2026.25
    assert release_year("2026") == 2026.0
