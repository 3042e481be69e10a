"""What is said to fit does, and is the nearest of its kind."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest

from optimizer.candidates.conditions import setup_of
from optimizer.candidates.nearest import Change
from optimizer.candidates.ranking import layouts, predict
from optimizer.candidates.space import Grid
from optimizer.engine.setup import Setup
from optimizer.engine.verdict import needed_bytes
from optimizer.errors import InputError
from optimizer.io.library import Library
from optimizer.results import Layout
from optimizer.schema.base import Precision


def on(library: Library, memory_gb: float, model: str = "llama-3-1-8b") -> Setup:
    platform = library.platforms["h100-sxm"].model_copy(update={"memory_bytes": int(memory_gb * 1e9)})
    return setup_of(library.architectures[model], platform, Precision.BF16, 8192, library.software)


def by_kind(changes: tuple[Change, ...]) -> dict[str, Change]:
    return {change.what: change for change in changes}


def test_a_layout_that_does_not_fit_gets_single_changes_that_do(library: Library):
    setup = on(library, 80)
    layout = Layout(tensor_parallel=2, data_parallel=4, micro_batch=4, global_batch=64)
    found = predict(setup, layout, 8)
    assert found.verdict == "does_not_fit"
    assert found.headroom_gb < 0
    changes = by_kind(found.changes)
    assert {"recompute", "tensor_parallel", "micro_batch", "context_parallel"} <= changes.keys()
    assert [change.step_time_s for change in found.changes] == sorted(change.step_time_s for change in found.changes)
    for change in found.changes:
        again = predict(setup, change.layout, 8)
        assert (again.verdict, again.step_time_s, again.memory_gb) == ("fits", change.step_time_s, change.memory_gb)
        assert getattr(layout, change.what) == change.from_ != change.to == getattr(change.layout, change.what)
        moved = {name for name, value in layout if value != getattr(change.layout, name)}
        assert moved <= {change.what, "data_parallel", "sequence_parallel", "precision"}


def test_a_layout_that_fits_needs_no_change(library: Library):
    found = predict(on(library, 80), Layout(tensor_parallel=8, global_batch=64))
    assert (found.verdict, found.changes) == ("fits", ())
    assert found.headroom_gb > 0


@pytest.mark.parametrize("more", [-0.01, 0.01])
def test_headroom_is_what_may_be_allocated_before_the_verdict_changes(library: Library, more: float):
    setup = on(library, 80)
    row = predict(setup, Layout(tensor_parallel=8, global_batch=64))
    peak = (row.memory_gb + row.headroom_gb + more) * 1e9
    assert (float(needed_bytes(peak)) <= setup.memory_bytes) == (more < 0)


def test_nothing_fits_on_the_accelerators_asked_for(library: Library):
    """405B needs more than 8 cards of 80 GB; the number told is the first of those tried that fits."""
    setup = on(library, 80, "llama-3-1-405b")
    ranking = layouts(setup, 64, 64)
    short = ranking.nothing_fits
    assert short is not None
    assert (ranking.fitting, ranking.tied, short.limit, short.available_gb) == (0, 0, "memory", 80.0)
    assert short.needed_gb == pytest.approx(float(needed_bytes(ranking.rows[0].memory_gb * 1e9)) / 1e9)
    assert short.short_by_gb == pytest.approx(short.needed_gb - 80)
    more = by_kind(short.changes)["accelerators"]
    assert more.from_ == 64 < more.to
    assert layouts(setup, more.to, 64).fitting > 0
    for size in range(72, more.to, 8):
        with contextlib.suppress(InputError):  # no legal layout on this number
            assert layouts(setup, size, 64, grid=Grid(context_max=1)).fitting == 0


def test_every_change_told_when_nothing_fits_is_verified(library: Library):
    setup = on(library, 24)
    short = layouts(setup, 8, 8).nothing_fits
    assert short is not None
    for change in short.changes:
        length = change.to if change.what == "sequence_length" else setup.sequence_length
        row = predict(replace(setup, sequence_length=length), change.layout)
        assert row.verdict == "fits"
        assert row.memory_gb == change.memory_gb
        if change.what == "accelerators":
            assert row.accelerators == change.to


def test_a_card_that_no_number_helps(library: Library):
    assert layouts(on(library, 3.5, "llama-3-1-405b"), 8, 8).nothing_fits.changes == ()
