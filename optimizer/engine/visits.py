"""Tokens an accelerator works on per micro-batch, and how often they visit routed experts."""

from __future__ import annotations

import numpy as np

from optimizer.engine.layouts import Floats, LayoutArrays
from optimizer.engine.setup import Setup


def tokens(setup: Setup, layouts: LayoutArrays) -> Floats:
    """Return tokens of one micro-batch on one accelerator of the context group: T = s b / c."""
    return np.asarray(setup.sequence_length * layouts.micro_batch / layouts.context_parallel, dtype=np.float64)


def visits(setup: Setup, layouts: LayoutArrays, rows: Floats) -> Floats:
    """Return token-expert pairs per accelerator and micro-batch of T = ``rows`` tokens, evenly spread: T k / t."""
    return np.asarray(rows * setup.expert_shape.experts_per_token / layouts.tensor_parallel)
