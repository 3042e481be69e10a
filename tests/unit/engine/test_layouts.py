"""Arrays of layouts and back."""

from __future__ import annotations

import numpy as np

from optimizer.engine.layouts import LayoutArrays
from optimizer.results import Layout


def test_a_layout_survives_the_round_trip():
    layout = Layout(
        tensor_parallel=4,
        pipeline_parallel=2,
        virtual_pipeline=3,
        context_parallel=2,
        data_parallel=8,
        sharding_stage=3,
        micro_batch=2,
        global_batch=64,
        recompute="selective",
        sequence_parallel=False,
        precision="fp8",
    )
    arrays = LayoutArrays.of(layout)
    assert arrays.row(0, "fp8") == layout
    assert arrays.accelerators[0] == layout.accelerators == 128
    assert arrays.micro_batches[0] == 4
    assert arrays.shard_group[0] == 16


def test_shape_is_the_broadcast_of_all_fields():
    one = LayoutArrays.of(Layout())
    values = {name: getattr(one, name) for name in one.__dataclass_fields__}
    values["tensor_parallel"] = np.array([[1], [2]])
    values["data_parallel"] = np.array([[1, 2, 4]])
    grid = LayoutArrays(**values)
    assert grid.shape == (2, 3)
    assert grid.row(5).tensor_parallel == 2
    assert grid.row((1, 2)).data_parallel == 4
