"""Ranked layouts of a model on a fixed number of accelerators, and the prediction of one of them."""

from __future__ import annotations

import time

import numpy as np

from optimizer.candidates.batch import batch_unit
from optimizer.candidates.rules import layout_faults
from optimizer.candidates.space import Grid, experts_placed, replicate, shapes, take
from optimizer.engine.layouts import Integers, LayoutArrays
from optimizer.engine.memory import memory, peak_bytes
from optimizer.engine.predict import predict as predict_row
from optimizer.engine.setup import Setup
from optimizer.engine.step_time import step_seconds, step_time
from optimizer.engine.verdict import VERDICTS, verdict_codes
from optimizer.errors import InputError, Problem
from optimizer.results import Layout, LayoutRow, Result


class Ranking(Result):
    """Layouts of a model on a number of accelerators, fastest first."""

    rows: tuple[LayoutRow, ...]
    """The fastest that fit; the fastest tight ones when none fits; else the one that needs least memory."""
    evaluated: int
    """Legal layouts on the grid, all of which were tested for memory."""
    fitting: int
    """How many of them fit."""
    wall_s: float
    """Seconds it took."""


def layouts(
    setup: Setup,
    accelerators: int,
    global_batch: int,
    top: int = 10,
    near: float | None = None,
    grid: Grid | None = None,
) -> Ranking:
    """Return the fastest layouts that occupy exactly ``accelerators`` with exactly ``global_batch`` sequences.

    At most ``top`` rows; with ``near`` only those at most that share slower than the fastest. Ties go to the
    simplest layout. Raises InputError when no layout on the grid is legal, or a number is below one.
    """
    started = time.perf_counter()
    _require_positive(accelerators=accelerators, global_batch=global_batch, top=top)
    legal = legal_layouts(setup, accelerators, global_batch, grid or Grid())
    evaluated = len(legal.tensor_parallel)
    places, fitting = _ranked(setup, legal, top, near)
    rows = tuple(predict_row(setup, legal.row(int(place), setup.precision.value)) for place in places)
    return Ranking(rows=rows, evaluated=evaluated, fitting=fitting, wall_s=time.perf_counter() - started)


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


def predict(setup: Setup, layout: Layout, accelerators: int | None = None) -> LayoutRow:
    """Return memory and time of one layout, on the grid or not; its precision becomes that of ``setup``.

    Raises InputError with everything a launcher would refuse, all at once; ``accelerators`` adds the check that
    the layout occupies exactly that many.
    """
    faults = layout_faults(setup.architecture, setup.sequence_length, layout, accelerators)
    if faults:
        raise InputError(faults)
    return predict_row(setup, layout.model_copy(update={"precision": setup.precision.value}))


def fill_replicas(layout: Layout, accelerators: int) -> Layout:
    """Return the layout with as many replicas as occupy ``accelerators``; raise InputError when it does not divide."""
    replica = layout.tensor_parallel * layout.pipeline_parallel * layout.context_parallel
    if replica < 1 or accelerators % replica:
        found = f"{accelerators} accelerators not divisible by TP x PP x CP = {replica}"
        raise InputError([Problem("data_parallel", found, "Expected a whole number of replicas")])
    return layout.model_copy(update={"data_parallel": accelerators // replica})


def _require_positive(**numbers: int) -> None:
    small = [Problem(name, str(value), "Expected 1 or more") for name, value in numbers.items() if value < 1]
    if small:
        raise InputError(small)


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


def _ranked(setup: Setup, legal: LayoutArrays, top: int, near: float | None) -> tuple[Integers, int]:
    """Return (positions of the rows, fastest first; number of layouts that fit)."""
    peak = peak_bytes(memory(setup, legal))
    codes = verdict_codes(peak, setup.memory_bytes)
    fitting = int(np.count_nonzero(codes == 0))
    if codes.min() == VERDICTS.index("does_not_fit"):
        return np.array([np.argmin(peak)]), fitting
    pool = np.flatnonzero(codes == codes.min())
    seconds = step_seconds(step_time(setup, take(legal, pool)))
    slower = np.round(seconds / seconds.min() - 1, 9)  # shares equal to a billionth are ties
    order = np.argsort(slower, kind="stable")
    kept = order if near is None else order[slower[order] <= near]
    return pool[kept[:top]], fitting
