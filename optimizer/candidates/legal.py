"""Every legal layout of a model that occupies a number of accelerators with a batch."""

from __future__ import annotations

import numpy as np

from optimizer.candidates.batch import batch_unit
from optimizer.candidates.space import Grid, experts_placed, replicate, shapes, take
from optimizer.engine.layouts import LayoutArrays
from optimizer.engine.setup import Setup
from optimizer.errors import InputError, Problem


def legal_layouts(setup: Setup, accelerators: int, global_batch: int, grid: Grid) -> LayoutArrays:
    """Return every legal layout on the grid that occupies ``accelerators`` with ``global_batch`` sequences, simplest first.

    Raises InputError when there is none.
    """
    replicas = shapes(setup.architecture, setup.platform, setup.sequence_length, grid)
    spread = _spread(replicas, accelerators, global_batch)
    legal = np.flatnonzero((global_batch % batch_unit(spread) == 0) & experts_placed(spread))
    if not len(legal):
        raise InputError([_nothing_legal(spread, accelerators, global_batch)])
    return take(spread, legal)


def _spread(replicas: LayoutArrays, accelerators: int, global_batch: int) -> LayoutArrays:
    """Return the shapes that divide the accelerators, with their replicas."""
    whole = take(replicas, np.flatnonzero(accelerators % replicas.accelerators == 0))
    return replicate(whole, accelerators // whole.accelerators, np.full_like(whole.data_parallel, global_batch))


def _nothing_legal(spread: LayoutArrays, accelerators: int, global_batch: int) -> Problem:
    unit = batch_unit(spread)
    reachable = np.maximum(1, (2 * global_batch + unit) // (2 * unit)) * unit
    nearest = int(reachable[np.argmin(np.abs(reachable - global_batch))])
    found = f"no layout on {accelerators} accelerators divides a global batch of {global_batch}"
    fix = f"The nearest batch with one is {nearest}"
    return Problem("global_batch", found, "Expected a multiple of DP x micro-batch", fix)
