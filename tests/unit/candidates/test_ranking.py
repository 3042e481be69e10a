from __future__ import annotations

import pytest

from optimizer.candidates.conditions import setup_of
from optimizer.candidates.ranking import layouts, predict
from optimizer.candidates.rules import layout_faults
from optimizer.candidates.space import Grid, shapes
from optimizer.engine.setup import Setup
from optimizer.errors import InputError
from optimizer.io.library import Library
from optimizer.results import Layout
from optimizer.schema.architecture import Architecture
from optimizer.schema.base import Precision


@pytest.fixture
def setup(library: Library, small: Architecture) -> Setup:
    return setup_of(small, library.platforms["h100-sxm"], Precision.BF16, 4096, library.software)


def plain_loop(setup: Setup, accelerators: int, batch: int, grid: Grid) -> list[Layout]:
    """Return all legal layouts on the grid, one at a time."""
    replicas = shapes(setup.architecture, setup.platform, setup.sequence_length, grid)
    found = []
    for place in range(len(replicas.tensor_parallel)):
        replica = replicas.row(place, "bf16")
        layout = replica.model_copy(
            update={"data_parallel": accelerators // replica.accelerators, "global_batch": batch}
        )
        if not layout_faults(setup.architecture, setup.sequence_length, layout, accelerators):
            found.append(layout)
    return found


def test_ranking_equals_a_plain_loop(setup: Setup):
    grid = Grid(context_max=1, micro_batch_max=2, virtual_max=2)
    ranking = layouts(setup, 16, 32, top=1000, grid=grid)
    legal = plain_loop(setup, 16, 32, grid)
    rows = sorted((predict(setup, layout) for layout in legal), key=lambda row: row.step_time_s)
    fitting = [row for row in rows if row.verdict == "fits"]
    assert ranking.evaluated == len(legal) > 50
    assert ranking.fitting == len(ranking.rows) == len(fitting)
    assert [row.step_time_s for row in ranking.rows] == pytest.approx([row.step_time_s for row in fitting])
    assert {str(row.layout) for row in ranking.rows} == {str(row.layout) for row in fitting}


def test_rows_occupy_everything_and_use_the_batch(setup: Setup):
    for row in layouts(setup, 24, 48, top=30).rows:
        assert (row.accelerators, row.nodes, row.layout.global_batch) == (24, 3, 48)
        assert sum(row.time.values()) == pytest.approx(row.step_time_s)
        assert sum(row.memory.values()) == pytest.approx(row.memory_gb)


def test_top_and_near_limit_the_rows(setup: Setup):
    best = layouts(setup, 16, 64, top=1).rows
    near = layouts(setup, 16, 64, top=1000, near=0.03).rows
    wide = layouts(setup, 16, 64, top=1000, near=0.3).rows
    assert len(best) == 1 <= len(near) < len(wide)
    assert near[0] == best[0]
    assert near[-1].step_time_s <= 1.03 * best[0].step_time_s * (1 + 1e-9)


def test_tight_rows_only_when_none_fits_and_one_row_when_nothing_does(library: Library, small: Architecture):
    h100 = library.platforms["h100-sxm"]

    def on(memory_bytes: int):
        platform = h100.model_copy(update={"memory_bytes": memory_bytes})
        return layouts(setup_of(small, platform, Precision.BF16, 4096, library.software), 8, 16, top=5)

    least = min(row.memory_gb for row in on(10**12).rows)  # of the five fastest only
    nothing = on(4 * 10**9)
    assert (len(nothing.rows), nothing.fitting, nothing.rows[0].verdict) == (1, 0, "does_not_fit")
    assert nothing.rows[0].memory_gb < least
    need = nothing.rows[0].memory_gb + 1  # the verdict adds a gigabyte, then 5 % + 2.25 GB or 12 % + 2 GB
    tight = on(int((need * 1.05 + 2.26) * 1e9))
    assert (tight.fitting, {row.verdict for row in tight.rows}) == (0, {"tight"})
    fits = on(int((need * 1.12 + 2.01) * 1e9))
    assert fits.fitting >= 1
    assert {row.verdict for row in fits.rows} == {"fits"}


def test_no_legal_layout_names_the_nearest_batch(setup: Setup):
    with pytest.raises(
        InputError, match=r"no layout on 136 accelerators divides a global batch of 33.*nearest.* is 34"
    ):
        layouts(setup, 136, 33, grid=Grid(context_max=1))  # 136 = 8 x 17: replicas are multiples of 17


def test_predict_refuses_with_the_numbers(setup: Setup):
    layout = Layout(tensor_parallel=8, pipeline_parallel=8, data_parallel=23, global_batch=32)
    with pytest.raises(InputError, match="global batch 32 not divisible by DP 23 x MBS 1") as refused:
        predict(setup, layout.model_copy(update={"virtual_pipeline": 9}), 1472)
    assert [problem.location for problem in refused.value.problems] == ["virtual_pipeline", "global_batch"]


def test_predict_takes_layouts_off_the_grid_and_the_precision_of_the_setup(setup: Setup):
    row = predict(setup, Layout(data_parallel=8, micro_batch=3, global_batch=24, sharding_stage=2, precision="fp8"))
    assert (row.layout.precision, row.layout.sharding_stage, row.layout.micro_batch) == ("bf16", 2, 3)
    assert row.tokens_per_s_per_accelerator == pytest.approx(24 * 4096 / row.step_time_s / 8)


def test_numbers_below_one_are_refused_together(setup: Setup):
    with pytest.raises(InputError, match=r"accelerators: 0\. Expected 1 or more") as refused:
        layouts(setup, 0, -1)
    assert [problem.location for problem in refused.value.problems] == ["accelerators", "global_batch"]
