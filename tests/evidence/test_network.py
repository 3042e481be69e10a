"""Collectives against measured bandwidths (``tests/data/network.csv``): the times sharded training is charged with."""

from __future__ import annotations

import csv
from functools import cache

import numpy as np
import pytest

from optimizer.engine.collectives import gather_seconds
from optimizer.engine.setup import Setup
from optimizer.io.library import Library
from optimizer.schema.base import Precision
from tests.evidence.measures import DATA

Row = dict[str, str]
IN_SWITCH = 480 / 361  # 8 H200: all-reduce in the switch against all-gather
BOTH = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1}


@cache
def setup(platform: str) -> Setup:
    library = Library.shipped()
    stack, model = library.software["megatron-core"], library.architectures["llama-3-1-8b"]
    return Setup(model, library.platforms[platform], Precision.BF16, 8192, stack)


def rows(in_switch: str) -> list[Row]:
    with (DATA / "network.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["in_switch"] == in_switch]


def measured_s(row: Row) -> float:
    members = int(row["accelerators"])
    wire = BOTH[row["collective"]] * (members - 1) / members * float(row["message_bytes"])
    return wire / float(row["busbw_gb_s"]) / 1e9


def predicted_s(row: Row) -> float:
    members, size = np.array([int(row["accelerators"])]), np.array([float(row["message_bytes"])])
    return BOTH[row["collective"]] * float(gather_seconds(setup(row["platform"]), size, members, np.array([1]))[0])


@pytest.mark.parametrize("row", rows("0"), ids=lambda row: f"{row['source']} {row['collective']} {row['accelerators']}")
def test_rings_take_as_long_as_measured(row: Row):
    assert predicted_s(row) == pytest.approx(measured_s(row), rel=0.08)


def test_reduction_in_the_switch_is_the_only_gain_not_counted():
    """Training gathers and scatters: an all-reduce the switch adds up may be faster, by its gain and no more."""
    ratios = [predicted_s(row) / measured_s(row) for row in rows("1")]
    assert len(ratios) > 35
    assert max(ratios) < IN_SWITCH * 1.05
    assert min(ratios) > 0.7
    assert np.median(ratios) == pytest.approx(1.2, abs=0.1)


@pytest.mark.parametrize(
    ("source", "members"), [("coreweave-gb200-1rack", 72), ("coreweave-gb200-2rack", 144)], ids=["72", "144"]
)
def test_the_start_of_a_ring_grows_with_its_members(source: str, members: int):
    """What the smallest message of a rack takes beyond its share of the largest one's time is start-up."""
    runs = sorted((row for row in rows("1") if row["source"] == source), key=lambda row: float(row["message_bytes"]))
    small, large = runs[0], runs[-1]
    part = float(small["message_bytes"]) / float(large["message_bytes"])
    startup = (measured_s(small) - part * measured_s(large)) / (1 - part)
    nothing = dict(small, message_bytes="0")
    assert int(small["accelerators"]) == members
    assert predicted_s(nothing) == pytest.approx(startup, rel=0.25)
