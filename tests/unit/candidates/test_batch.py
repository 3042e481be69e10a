from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from optimizer.candidates.batch import BatchTarget, batch_unit
from optimizer.engine.layouts import LayoutArrays
from optimizer.results import Layout


def headline() -> BatchTarget:
    """16e6 tokens of 8,192-token sequences are 1953.125 sequences; 5 % allow 1855.47 .. 2050.78."""
    return BatchTarget.of(Decimal("16e6"), Decimal("0.05"), 8192)


def test_whole_sequences_within_the_tolerance():
    target = headline()
    assert (target.low, target.high) == (1856, 2050)
    assert target.allows(np.array([1855, 1856, 2050, 2051])).tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("unit", "nearest"), [(1, 1953), (64, 1984), (75, 1950), (1000, 2000), (1302, 2604), (1303, 1303), (5000, 5000)]
)
def test_nearest_multiple(unit: int, nearest: int):
    assert headline().nearest(np.array([unit])).tolist() == [nearest]


def test_halves_go_up():
    assert BatchTarget.of(Decimal(300), Decimal(0), 10).nearest(np.array([20])).tolist() == [40]


def test_zero_tolerance_of_a_broken_number_of_sequences_allows_nothing():
    target = BatchTarget.of(Decimal("16e6"), Decimal(0), 8192)
    assert not target.allows(np.arange(1900, 2000)).any()


def test_zero_tolerance_of_a_whole_number_allows_exactly_it():
    target = BatchTarget.of(Decimal(2048 * 8192), Decimal(0), 8192)
    assert np.flatnonzero(target.allows(np.arange(4096))).tolist() == [2048]


def test_deviation_is_a_share_of_the_target():
    target = BatchTarget.of(Decimal(1000), Decimal(0), 10)
    assert target.deviation(np.array([100, 90, 125])).tolist() == pytest.approx([0.0, 0.1, 0.25])


@pytest.mark.parametrize(("virtual", "unit"), [(1, 46), (3, 184)])
def test_interleaving_grows_in_rounds_of_the_pipeline(virtual: int, unit: int):
    layout = Layout(pipeline_parallel=4, virtual_pipeline=virtual, data_parallel=23, micro_batch=2)
    assert batch_unit(LayoutArrays.of(layout)).tolist() == [unit]
