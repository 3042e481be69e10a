"""What would make a layout, or a model on some accelerators, fit: single changes, each one predicted before it is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

import numpy as np
from pydantic import ConfigDict

from optimizer.candidates.legal import legal_layouts
from optimizer.candidates.rules import layout_faults
from optimizer.candidates.space import Grid, powers_of_two, tensor_domain
from optimizer.engine.layouts import RECOMPUTE
from optimizer.engine.memory import memory, peak_bytes
from optimizer.engine.predict import predict as predict_row
from optimizer.engine.setup import Setup
from optimizer.engine.verdict import needed_bytes, verdict_codes
from optimizer.errors import InputError
from optimizer.results import Layout, LayoutRow, Result

_MOST_TIMES = 16  # accelerators tried, as a multiple of those asked for, in steps of an eighth


class Change(Result):
    """One change that makes it fit, as predicted with it."""

    what: str
    """A field of the layout, or accelerators, sequence_length or settings."""
    from_: int | str
    to: int | str
    layout: Layout
    """The layout that fits."""
    step_time_s: float
    """Seconds per optimizer step with it."""
    memory_gb: float
    """Its peak memory, 1e9 bytes."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=lambda name: name.rstrip("_"), populate_by_name=True
    )


class Shortage(Result):
    """Why nothing fits, by how much, and what would."""

    limit: str = "memory"
    """The limit that everything breaks."""
    needed_gb: float
    """Memory per accelerator, reserve included, that the least demanding layout needs, 1e9 bytes."""
    available_gb: float
    """Memory of one accelerator, 1e9 bytes."""
    short_by_gb: float
    """The difference."""
    changes: tuple[Change, ...]
    """Changes that make something fit, the nearest of each kind; empty when none of those tried does."""


def _change(what: str, before: int | str, after: int | str, row: LayoutRow) -> Change:
    return Change(
        what=what, from_=before, to=after, layout=row.layout, step_time_s=row.step_time_s, memory_gb=row.memory_gb
    )


def layout_changes(setup: Setup, layout: Layout) -> tuple[Change, ...]:
    """Return single changes of a layout on the same accelerators with which it fits, the fastest of each kind first.

    More recompute, a higher sharding stage, smaller micro-batches, and larger tensor, pipeline or context degrees with
    fewer replicas.
    """
    best: dict[str, Change] = {}
    for what, other in _variants(setup, layout):
        if layout_faults(setup.architecture, setup.sequence_length, other, layout.accelerators):
            continue
        row = predict_row(setup, other)
        known = best.get(what)
        if row.verdict == "fits" and (known is None or row.step_time_s < known.step_time_s):
            best[what] = _change(what, getattr(layout, what), getattr(other, what), row)
    return tuple(sorted(best.values(), key=lambda change: change.step_time_s))


def _variants(setup: Setup, layout: Layout) -> Iterator[tuple[str, Layout]]:
    def changed(**values: object) -> Layout:
        return layout.model_copy(update=values)

    for mode in RECOMPUTE[RECOMPUTE.index(layout.recompute) + 1 :]:
        yield "recompute", changed(recompute=mode)
    for stage in range(layout.sharding_stage + 1, 4):
        yield "sharding_stage", changed(sharding_stage=stage)
    for size in takewhile(lambda size: size < layout.micro_batch, powers_of_two(layout.micro_batch)):
        yield "micro_batch", changed(micro_batch=size)
    for times in powers_of_two(layout.data_parallel)[1:]:
        if layout.data_parallel % times:
            continue
        data = layout.data_parallel // times
        if layout.tensor_parallel * times <= tensor_domain(setup.platform):
            wider = layout.tensor_parallel * times
            yield "tensor_parallel", changed(tensor_parallel=wider, data_parallel=data, sequence_parallel=True)
        yield "pipeline_parallel", changed(pipeline_parallel=layout.pipeline_parallel * times, data_parallel=data)
        yield "context_parallel", changed(context_parallel=layout.context_parallel * times, data_parallel=data)


def shortage(setup: Setup, accelerators: int, global_batch: int, least_peak_bytes: float) -> Shortage:
    """Return by how much memory is short on a number of accelerators and the nearest changes that fit.

    Tried are more accelerators (up to 16 times, in steps of an eighth), shorter sequences (halves), and settings
    outside the grid.
    """
    needed = float(needed_bytes(np.array([least_peak_bytes]))[0]) / 1e9
    available = setup.memory_bytes / 1e9
    changes = (
        _more_accelerators(setup, accelerators, global_batch),
        _shorter_sequence(setup, accelerators, global_batch),
        _every_setting(setup, accelerators, global_batch),
    )
    return Shortage(
        needed_gb=needed,
        available_gb=available,
        short_by_gb=needed - available,
        changes=tuple(change for change in changes if change is not None),
    )


def _fitting(setup: Setup, accelerators: int, global_batch: int, grid: Grid) -> LayoutRow | None:
    """Return a layout that fits with the most room, predicted; None when there is none."""
    try:
        legal = legal_layouts(setup, accelerators, global_batch, grid)
    except InputError:
        return None
    peak = peak_bytes(memory(setup, legal))
    place = int(np.argmin(peak))
    if verdict_codes(peak[[place]], setup.memory_bytes)[0]:
        return None
    return predict_row(setup, legal.row(place, setup.precision.value))


def _more_accelerators(setup: Setup, accelerators: int, global_batch: int) -> Change | None:
    node = setup.platform.accelerators_per_node
    step = max(node, accelerators // 8 // node * node)
    for size in range(accelerators + step, accelerators * _MOST_TIMES + 1, step):
        row = _fitting(setup, size, global_batch, Grid())
        if row:
            return _change("accelerators", accelerators, size, row)
    return None


def _shorter_sequence(setup: Setup, accelerators: int, global_batch: int) -> Change | None:
    length = setup.sequence_length // 2
    while length >= 1:
        row = _fitting(replace(setup, sequence_length=length), accelerators, global_batch, Grid())
        if row:
            return _change("sequence_length", setup.sequence_length, length, row)
        length //= 2
    return None


def _every_setting(setup: Setup, accelerators: int, global_batch: int) -> Change | None:
    row = _fitting(setup, accelerators, global_batch, Grid.every(setup.sequence_length, global_batch))
    return _change("settings", "grid", "every", row) if row else None
