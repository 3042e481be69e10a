"""How layers fall on pipeline stages."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from optimizer.engine.layouts import Floats, LayoutArrays
from optimizer.engine.parameters import moe_layers_before
from optimizer.schema.architecture import Architecture


class StageLayers(NamedTuple):
    """Layers on the first, a middle and the last stage; arrays of the pipeline's shape."""

    first: Floats
    middle: Floats
    last: Floats


def stage_layers(layers: int, layouts: LayoutArrays) -> StageLayers:
    """Return layers per stage.

    Even when L divides over pipeline x virtual chunks; one less at each end when L + 2 does (embedding and head
    count as a layer each); otherwise whole layers rounded up with a short last stage.
    """
    stages = layouts.pipeline_parallel
    chunks = stages * layouts.virtual_pipeline
    even = layers % chunks == 0
    ends = ~even & ((layers + 2) % chunks == 0) & (stages > 1)
    most = np.where(ends, (layers + 2) / stages, np.ceil(layers / stages))
    first = np.where(ends, most - 1, most)
    last = np.where(ends, most - 1, np.maximum(layers - (stages - 1) * most, 1))
    return StageLayers(first, np.where(stages > 2, most, first), np.where(stages > 1, last, first))


def split_layers(architecture: Architecture, layouts: LayoutArrays) -> tuple[StageLayers, StageLayers]:
    """Return (dense layers, MoE layers) per stage; multi-token prediction layers are the last of the last stage.

    Leading dense layers fall on the first stages, so the middle stage is the one before the last.
    """
    whole, extra = stage_layers(architecture.layers, layouts), architecture.mtp_layers
    if architecture.moe is None and not extra:
        return whole, _NONE
    stages = layouts.pipeline_parallel
    last = whole.last + extra
    whole = StageLayers(np.where(stages > 1, whole.first, last), np.where(stages > 1, whole.middle, last), last)
    if architecture.moe is None:
        return whole, _NONE
    moe = _expert_layers(architecture, layouts, whole)
    return StageLayers(*(np.asarray(all_ - some) for all_, some in zip(whole, moe, strict=True))), moe


_NONE = StageLayers(*(np.zeros(1) for _ in range(3)))


def _expert_layers(architecture: Architecture, layouts: LayoutArrays, whole: StageLayers) -> StageLayers:
    stages, end = layouts.pipeline_parallel, float(architecture.layers + architecture.mtp_layers)
    edge = np.maximum(end - whole.last, 0.0)
    below = moe_layers_before(architecture, edge)
    last = moe_layers_before(architecture, np.asarray(end)) - below
    first = np.where(stages > 1, moe_layers_before(architecture, whole.first), last)
    middle = below - moe_layers_before(architecture, np.maximum(edge - whole.middle, 0.0))
    return StageLayers(first, np.where(stages > 2, middle, first), last)
