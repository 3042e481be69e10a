"""How layers fall on pipeline stages."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from optimizer.engine.layouts import Floats, LayoutArrays


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
