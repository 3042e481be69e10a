from __future__ import annotations

import numpy as np
import pytest

from optimizer.candidates.batch import BatchTarget
from optimizer.candidates.conditions import setup_of
from optimizer.candidates.search import (
    Question,
    _longest_useful,
    legal_pairs,
    occupying_pairs,
    price,
    search,
    whole_days,
)
from optimizer.candidates.space import Grid, shapes
from optimizer.io.library import Library
from optimizer.schema.architecture import Architecture
from optimizer.schema.base import Precision


@pytest.fixture
def question(library: Library, small: Architecture) -> Question:
    setup = setup_of(small, library.platforms["h100-sxm"], Precision.BF16, 4096, library.software)
    batch = BatchTarget(tokens=60 * 4096, sequence_length=4096, low=57, high=63)
    return Question(setup, np.array([8, 24, 40]), batch, np.array([1e6, 1e6, np.inf]))


def test_days_round_up_but_not_for_rounding_errors():
    assert whole_days(np.array([89.2, 90.0, 90.0 + 1e-12, 90.001])).tolist() == [90, 90, 90, 91]


def test_a_useful_run_ends_a_day_before_every_smaller_node_count():
    """10.2 days are 11 whole ones: the next count needs 10; 9.5 are 10, so the last may take 9 and has 8."""
    limits = _longest_useful(np.array([10.2, np.inf, 9.5, 8.0]))
    assert limits.tolist() == pytest.approx([10.2, 10.0, 9.5, 8.0])


def test_pairs_occupy_allowed_counts_exactly(question: Question, library: Library, small: Architecture):
    replicas = shapes(small, library.platforms["h100-sxm"], 4096, Grid(micro_batch_max=2))
    pairs = occupying_pairs(question, replicas)
    layouts = pairs.layouts(replicas)
    assert np.array_equal(layouts.accelerators, question.accelerators[pairs.count])
    assert set(pairs.count.tolist()) == {0, 1}  # the third has infinite weight
    legal = legal_pairs(question, replicas)
    assert 0 < len(legal.shape) < len(pairs.shape)
    assert legal.global_batch.min() >= 57
    assert legal.global_batch.max() <= 63


def test_few_are_priced_and_the_best_is_found(question: Question, library: Library, small: Architecture):
    replicas = shapes(small, library.platforms["h100-sxm"], 4096, Grid())
    everything = price(question, replicas, legal_pairs(question, replicas))
    best = search(question, replicas, np.full(3, np.inf))
    shortest = [everything.days[everything.pairs.count == count].min() for count in (0, 1)]
    assert best.count.tolist() == [0, 1]
    assert best.days.tolist() == pytest.approx(shortest)
    assert best.evaluated - len(replicas.tensor_parallel) < everything.tested / 2


def test_a_ceiling_drops_what_is_longer(question: Question, library: Library, small: Architecture):
    replicas = shapes(small, library.platforms["h100-sxm"], 4096, Grid())
    free = search(question, replicas, np.full(3, np.inf))
    capped = search(question, replicas, np.array([free.days[0] * 0.99, np.inf, np.inf]))
    assert capped.count.tolist() == [1]
    assert capped.days.tolist() == [free.days[1]]
