"""Time of collectives: start-up plus bytes over the bandwidth a group of accelerators sees (alpha-beta)."""

from __future__ import annotations

import numpy as np

from optimizer.engine.layouts import Floats, Integers
from optimizer.engine.setup import Setup
from optimizer.schema.platform import Tier


def _reach(tier: Tier, size: Integers | Floats) -> Floats:
    """Bandwidth per accelerator of ``size`` members inside one tier, bytes per second, before shares.

    A full mesh has one link per pair, so a group of g uses g - 1 links. A torus ring uses both directions of one
    axis up to 16 members and the whole chip beyond (an approximation: axes are not modelled).
    """
    full, pair = tier.full_domain_gb_s * 1e9, tier.pair_gb_s * 1e9
    if tier.topology == "full_mesh":
        return np.minimum(full, pair * np.maximum(size - 1, 1))
    if tier.topology == "torus":
        return np.where(size > 16, full, np.where(size > 2, min(full, 2 * pair), pair))
    return np.full(np.shape(size), full)


def bandwidth(setup: Setup, size: Integers | Floats, stride: Integers) -> Floats:
    """Return the bandwidth per accelerator of a group, bytes per second.

    The members stand ``stride`` apart, so a group of ``size`` spans size x stride accelerators. Inside the first
    tier it sees that tier; beyond it, every node's n members share the traffic that leaves the node:
    min(inner, n x outer), with n = domain / stride (at least 1).
    """
    shares = setup.efficiency
    tiers = setup.tiers
    rate = _reach(tiers[0], size) * shares.inner_network_share
    for inner, outer in zip(tiers, tiers[1:], strict=False):
        domain = inner.accelerators or 1
        members = np.maximum(domain // stride, 1)
        leaving = np.minimum(rate, members * _reach(outer, size) * shares.outer_network_share)
        rate = np.where(size * stride > domain, leaving, rate)
    return rate


def _exchange_reach(tier: Tier, size: Integers) -> Floats:
    """Bandwidth per accelerator when each of ``size`` members sends to all others, bytes per second, before shares.

    A torus passes data on: half of it crosses the middle of an axis of a = size^(1/axes) members over two links
    per row, so 8 x pair / a is left. A full mesh and a switch behave as in a ring.
    """
    if tier.topology != "torus":
        return _reach(tier, size)
    axes = max(1.0, tier.full_domain_gb_s / tier.pair_gb_s / 2.0)
    return np.minimum(tier.full_domain_gb_s, 8.0 * tier.pair_gb_s / np.maximum(size, 1) ** (1.0 / axes)) * 1e9


def exchange_rates(setup: Setup, span: Integers) -> tuple[Floats, Floats]:
    """Return bytes per second and accelerator of an all-to-all over ``span`` neighbours: (in the first tier, beyond).

    Both at the share of other collectives; the second is infinite when the first tier spans the cluster.
    """
    tiers = setup.tiers
    members = np.minimum(span, tiers[0].accelerators or span)
    shares = setup.efficiency
    inner = _exchange_reach(tiers[0], members) * shares.inner_network_share
    outer = np.full(np.shape(span), np.inf)
    for inside, tier in zip(tiers, tiers[1:], strict=False):
        reach = np.minimum(outer, _exchange_reach(tier, span) * shares.outer_network_share)
        outer = np.where(span > (inside.accelerators or 1), reach, outer)
    return inner, outer


def shift_bandwidth(setup: Setup, span: Integers) -> Floats:
    """Return the bandwidth of a send to the next member of a group that spans ``span`` accelerators, bytes/s.

    The slowest hop counts: a group wider than a tier sends over the next one.
    """
    tiers, shares = setup.tiers, setup.efficiency
    rate = np.full(np.shape(span), tiers[0].pair_gb_s * 1e9 * shares.inner_network_share)
    for inner, outer in zip(tiers, tiers[1:], strict=False):
        outside = outer.pair_gb_s * 1e9 * shares.outer_network_share
        rate = np.where(span > (inner.accelerators or 1), np.minimum(rate, outside), rate)
    return rate


def gather_seconds(
    setup: Setup, total_bytes: Floats, size: Integers | Floats, stride: Integers, messages: Floats | float = 1.0
) -> Floats:
    """Return seconds of all-gathers or reduce-scatters of ``total_bytes`` in ``messages`` pieces.

    (g - 1)/g x bytes / bandwidth, and per message the start-up of a ring of g members: g - 1 steps, those that cross to
    another first tier at its latency, the others at the step inside. An all-reduce is one of each.
    """
    members = np.maximum((setup.tiers[0].accelerators or 1) // stride, 1)
    crossings = np.ceil(size / members) - 1.0
    inside = setup.software.ring_step_s * (size - 1 - crossings)
    startup = (inside + setup.software.collective_latency_s * crossings) * messages
    return np.asarray((size - 1) / size * total_bytes / bandwidth(setup, size, stride) + startup)
