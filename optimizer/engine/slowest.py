"""The pipeline stage that decides a step: kinds of layers, their time, and which stage takes longest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from optimizer.engine.block_time import LayerTime, expert_layer_time, layer_time, repeated_forward
from optimizer.engine.layouts import Floats, LayoutArrays
from optimizer.engine.setup import Setup
from optimizer.engine.stages import StageLayers, split_layers


class Kind(NamedTuple):
    """One kind of layer: its time, what is repeated, how many in all and per stage."""

    time: LayerTime
    again: Floats
    layers: int
    split: StageLayers


class Slowest(NamedTuple):
    """The slowest stage: layers of each kind, time of the head if it has it, seconds per micro-batch, mean over stages."""

    layers: tuple[Floats, ...]
    head: Floats
    forward: Floats
    backward: Floats
    mean: Floats


def layer_kinds(setup: Setup, layouts: LayoutArrays) -> tuple[Kind, ...]:
    """Return dense layers, and MoE layers of a model that has them."""
    dense, experts = split_layers(setup.architecture, layouts)
    counts, extra = setup.parameters, setup.architecture.mtp_layers
    time = layer_time(setup, layouts)
    again = repeated_forward(setup, time, layouts, setup.dense_block, setup.software.selective_recompute_share)
    if setup.architecture.moe is None:
        return (Kind(time, again, counts.dense_layers + extra, dense),)
    other = expert_layer_time(setup, layouts)
    repeated = repeated_forward(setup, other, layouts, setup.expert_block, setup.expert_costs.selective_share)
    return (
        Kind(time, again, counts.dense_layers, dense),
        Kind(other, repeated, counts.moe_layers + extra, experts),
    )


def total(parts: Iterable[Floats]) -> Floats:
    """Return the sum of at least one array."""
    first, *rest = parts
    return np.asarray(sum(rest, first))


def _inner(kinds: tuple[Kind, ...], each: list[Floats]) -> tuple[Floats, ...]:
    """Return layers of each kind on the slower of the first and the middle stage."""
    if len(kinds) == 1:
        return (np.maximum(kinds[0].split.first, kinds[0].split.middle),)
    first, middle = (total(kind.split[place] * one for kind, one in zip(kinds, each, strict=True)) for place in (0, 1))
    later = middle > first
    return tuple(np.where(later, kind.split.middle, kind.split.first) for kind in kinds)


def slowest(layouts: LayoutArrays, kinds: tuple[Kind, ...], head: Floats) -> Slowest:
    """Return the slowest of the first, the middle and the last stage; ``head`` seconds come on top of the last."""
    each = [kind.time.totals[0] + kind.time.totals[1] + kind.again for kind in kinds]
    inner = _inner(kinds, each)
    elsewhere = total(number * one for number, one in zip(inner, each, strict=True))
    last = total(kind.split.last * one for kind, one in zip(kinds, each, strict=True))
    ends = (last + head > elsewhere) | (layouts.pipeline_parallel == 1)
    layers = tuple(np.where(ends, kind.split.last, number) for kind, number in zip(kinds, inner, strict=True))
    mean = total([head, *(kind.layers * one for kind, one in zip(kinds, each, strict=True))])
    with_head = ends * head
    forward = total(number * kind.time.totals[0] for number, kind in zip(layers, kinds, strict=True))
    backward = total(number * (kind.time.totals[1] + kind.again) for number, kind in zip(layers, kinds, strict=True))
    return Slowest(
        layers, with_head, forward + with_head / 3.0, backward + with_head * 2.0 / 3.0, mean / layouts.pipeline_parallel
    )
