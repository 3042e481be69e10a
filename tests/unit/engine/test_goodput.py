"""Failures and checkpoints: worked examples with their sources."""

from __future__ import annotations

import numpy as np
import pytest

from optimizer.engine.goodput import (
    checkpoint_overhead,
    daly_interval_s,
    goodput,
    mean_time_between_failures_s,
    young_interval_s,
)

HOUR_S = 3600.0
# Llama 3 405B: 419 unexpected interruptions in 54 days on 16,384 GPUs = 2,048 nodes
LLAMA_RATE = 419 / 54 / 2048 * 1000


def test_failures_of_a_16k_gpu_job():
    mtbf = mean_time_between_failures_s(np.array([2048.0]), LLAMA_RATE)[0]
    assert mtbf / HOUR_S == pytest.approx(3.093, rel=1e-3)
    assert mtbf / HOUR_S * 16_384 == pytest.approx(50_677, rel=1e-3)


def test_time_between_failures_falls_with_the_number_of_parts():
    # 50,000 h per part: 100,000 parts fail every 30 min, a million every 3 min (epoch.ai)
    rate = 1000 / (50_000 / 24)
    hours = mean_time_between_failures_s(np.array([1e5, 1e6]), rate) / 60
    assert hours == pytest.approx([30, 3], rel=1e-3)


def test_intervals_and_overhead_of_a_minute_long_write():
    mtbf = np.array([3.093 * HOUR_S])
    assert young_interval_s(60, mtbf)[0] == pytest.approx(1155.9, rel=1e-3)
    assert daly_interval_s(60, mtbf)[0] == pytest.approx(1116.3, rel=1e-3)
    assert checkpoint_overhead(60, mtbf)[0] == pytest.approx(0.1038, rel=1e-3)
    assert goodput(np.array([2048.0]), LLAMA_RATE, 5.0, 60)[0] == pytest.approx(0.869, rel=1e-3)


def test_a_fast_write_of_nine_terabytes():
    # 9 TB at 2 TB/s = 4.5 s
    mtbf = np.array([3.093 * HOUR_S])
    assert young_interval_s(4.5, mtbf)[0] == pytest.approx(316.6, rel=1e-3)
    assert checkpoint_overhead(4.5, mtbf)[0] == pytest.approx(0.0284, rel=2e-3)
    assert goodput(np.array([2048.0]), LLAMA_RATE, 5.0, 4.5)[0] == pytest.approx(0.945, rel=1e-3)


def test_goodput_falls_with_nodes_and_stays_positive():
    nodes = np.array([[1.0, 100.0], [10_000.0, 1e7]])
    useful = goodput(nodes, 3.0, 15.0, 60.0)
    assert useful.shape == (2, 2)
    assert np.all(np.diff(useful.ravel()) < 0)
    assert useful[1, 1] == 0.01


def test_without_failures_only_the_planned_share_is_lost():
    assert goodput(np.array([64.0]), 0.0, 15.0, 60.0, planned_share=0.02)[0] == pytest.approx(0.98)
    assert goodput(np.array([64.0]), 3.0, 0.0, 0.0)[0] == 1.0


def test_parts_in_series():
    # eight GPUs of 50,000 h and eight NICs of 150,000 h per node: 4,688 h; 1,250 nodes: 3.750 h
    per_hour = 8 / 50_000 + 8 / 150_000
    assert 1 / per_hour == pytest.approx(4688, rel=1e-3)
    hours = mean_time_between_failures_s(np.array([1250.0]), per_hour * 24 * 1000)[0] / HOUR_S
    assert hours == pytest.approx(3.750, rel=1e-3)
