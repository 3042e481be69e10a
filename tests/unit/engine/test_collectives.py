"""Bandwidth a group sees, by topology and placement."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from optimizer.engine.collectives import bandwidth, exchange_rates, gather_seconds, shift_bandwidth
from optimizer.engine.setup import Setup

Make = Callable[..., Setup]


def seen(setup: Setup, size: int, stride: int) -> float:
    return float(bandwidth(setup, np.array([size]), np.array([stride]))[0])


def test_a_switched_pair_sees_what_the_domain_sees(make: Make):
    setup = make()
    inner = 450e9 * setup.efficiency.inner_network_share
    assert seen(setup, 2, 1) == pytest.approx(inner)
    assert seen(setup, 8, 1) == pytest.approx(inner)


def test_a_full_mesh_pair_sees_one_link(make: Make):
    # MI355X: 76.5 GB/s per link, 7 links = 535.5
    setup = make(platform="mi355x")
    share = setup.efficiency.inner_network_share
    assert seen(setup, 2, 1) == pytest.approx(76.5e9 * share)
    assert seen(setup, 4, 1) == pytest.approx(3 * 76.5e9 * share)
    assert seen(setup, 8, 1) == pytest.approx(535.5e9 * share)


def test_members_of_a_node_share_what_leaves_it(make: Make):
    setup = make()
    fabric = 50e9 * setup.efficiency.outer_network_share
    assert seen(setup, 16, 8) == pytest.approx(fabric)  # one member per node
    assert seen(setup, 16, 2) == pytest.approx(4 * fabric)  # four members per node
    assert seen(setup, 64, 1) == pytest.approx(8 * fabric)  # whole nodes: eight NICs, below NVLink


def test_a_rack_keeps_72_inside(make: Make):
    rack = make(platform="gb200-nvl72")
    assert seen(rack, 64, 1) == pytest.approx(900e9 * rack.efficiency.inner_network_share)
    # two racks, members 8 apart: nine per rack share nine NICs of 50 GB/s
    assert seen(rack, 16, 8) == pytest.approx(9 * 50e9 * rack.efficiency.outer_network_share)


def test_gathering_moves_all_but_the_own_share(make: Make):
    setup = make()
    size, stride = np.array([8]), np.array([1])
    rate = 450e9 * setup.efficiency.inner_network_share
    startup = 7 * setup.software.ring_step_s  # eight in a ring inside one node
    assert gather_seconds(setup, np.array([8e9]), size, stride)[0] == pytest.approx(7e9 / rate + startup)
    assert gather_seconds(setup, np.array([8e9]), np.array([1]), stride)[0] == 0.0


def test_a_ring_over_many_nodes_pays_for_each_step_and_per_message(make: Make):
    setup = make()
    size, stride, nothing = np.array([256]), np.array([2]), np.array([0.0])
    # 512 accelerators = 64 nodes with four members each: 63 steps between nodes, 192 inside
    one = 63 * setup.software.collective_latency_s + 192 * setup.software.ring_step_s
    assert gather_seconds(setup, nothing, size, stride)[0] == pytest.approx(one)
    assert gather_seconds(setup, nothing, size, stride, 10.0)[0] == pytest.approx(10 * one)
    assert gather_seconds(setup, nothing, np.array([1]), np.array([16]))[0] == 0.0


def test_a_ring_wider_than_the_node_sends_over_the_fabric(make: Make):
    setup = make()
    fabric = 50e9 * setup.efficiency.outer_network_share
    assert shift_bandwidth(setup, np.array([16]))[0] == pytest.approx(fabric)
    assert shift_bandwidth(setup, np.array([8]))[0] > fabric


@pytest.mark.parametrize(
    ("platform", "span", "gb_s"),
    [
        # TPU v5p, six neighbours of 90 GB/s: half of an all-to-all crosses the middle of axes of 4 and 8 chips
        ("tpu-v5p", 64, 180.0),
        ("tpu-v5p", 512, 90.0),
        # v6e, four neighbours of 90 GB/s: 16 x 16 chips
        ("tpu-v6e", 256, 45.0),
        ("h100-sxm", 8, 450.0),
        ("mi355x", 2, 76.5),
    ],
)
def test_an_all_to_all_inside_the_first_tier(make: Make, platform: str, span: int, gb_s: float):
    setup = make(platform=platform)
    inner, outer = exchange_rates(setup, np.array([span]))
    assert inner[0] == pytest.approx(gb_s * 1e9 * setup.efficiency.inner_network_share)
    assert outer[0] == np.inf


def test_an_all_to_all_beyond_it_sees_the_fabric(make: Make):
    setup = make()
    inner, outer = exchange_rates(setup, np.array([32]))
    assert inner[0] == pytest.approx(450e9 * setup.efficiency.inner_network_share)
    assert outer[0] == pytest.approx(50e9 * setup.efficiency.outer_network_share)
