"""Ranked layouts of a model on a fixed number of accelerators, and the prediction of one of them."""

from __future__ import annotations

import time

import numpy as np

from optimizer.candidates.legal import legal_layouts
from optimizer.candidates.nearest import Change, Shortage, layout_changes, shortage
from optimizer.candidates.rules import layout_faults
from optimizer.candidates.space import Grid, take
from optimizer.engine.layouts import Integers, LayoutArrays
from optimizer.engine.memory import memory, peak_bytes
from optimizer.engine.predict import predict as predict_row
from optimizer.engine.setup import Setup
from optimizer.engine.step_time import step_seconds, step_time
from optimizer.engine.verdict import VERDICTS, verdict_codes
from optimizer.errors import InputError, Problem
from optimizer.results import Layout, LayoutRow, Result

_NOISE = 0.013  # the same stack and layout repeats within 0.3-1.3 % in published runs


class Ranking(Result):
    """Layouts of a model on a number of accelerators, fastest first."""

    rows: tuple[LayoutRow, ...]
    """The fastest that fit; the fastest tight ones when none fits; else the one that needs least memory."""
    evaluated: int
    """Legal layouts on the grid, all of which were tested for memory."""
    fitting: int
    """How many of them fit."""
    tied: int
    """How many of those that fit best are at most 1.3 % slower than the fastest: as far as runs of one layout differ."""
    wall_s: float
    """Seconds it took."""
    nothing_fits: Shortage | None = None
    """Why nothing fits, not even tightly, and what would; None otherwise."""


class Prediction(LayoutRow):
    """One predicted layout."""

    changes: tuple[Change, ...]
    """Single changes with which it fits, fastest first; none when it fits."""


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
    peak = peak_bytes(memory(setup, legal))
    codes = verdict_codes(peak, setup.memory_bytes)
    nothing = codes.min() == VERDICTS.index("does_not_fit")
    places, tied = (np.array([np.argmin(peak)]), 0) if nothing else _ranked(setup, legal, codes, top, near)
    return Ranking(
        rows=tuple(predict_row(setup, legal.row(int(place), setup.precision.value)) for place in places),
        evaluated=evaluated,
        fitting=int(np.count_nonzero(codes == 0)),
        tied=tied,
        nothing_fits=shortage(setup, accelerators, global_batch, float(peak.min())) if nothing else None,
        wall_s=time.perf_counter() - started,
    )


def predict(setup: Setup, layout: Layout, accelerators: int | None = None) -> Prediction:
    """Return memory and time of one layout, on the grid or not, and what would make it fit.

    Its precision becomes that of ``setup``. Raises InputError with everything a launcher would refuse, all at once;
    ``accelerators`` adds the check that the layout occupies exactly that many.
    """
    faults = layout_faults(setup.architecture, setup.sequence_length, layout, accelerators)
    if faults:
        raise InputError(faults)
    layout = layout.model_copy(update={"precision": setup.precision.value})
    row = predict_row(setup, layout)
    changes = () if row.verdict == "fits" else layout_changes(setup, layout)
    return Prediction(**row.__dict__, changes=changes)


def _require_positive(**numbers: int) -> None:
    small = [Problem(name, str(value), "Expected 1 or more") for name, value in numbers.items() if value < 1]
    if small:
        raise InputError(small)


def _ranked(setup: Setup, legal: LayoutArrays, codes: Integers, top: int, near: float | None) -> tuple[Integers, int]:
    """Return (positions of the rows, fastest first; how many of all with the best verdict are as good as the first)."""
    pool = np.flatnonzero(codes == codes.min())
    seconds = step_seconds(step_time(setup, take(legal, pool)))
    slower = np.round(seconds / seconds.min() - 1, 9)  # shares equal to a billionth are ties
    order = np.argsort(slower, kind="stable")
    kept = order if near is None else order[slower[order] <= near]
    return pool[kept[:top]], int(np.count_nonzero(slower <= _NOISE))
