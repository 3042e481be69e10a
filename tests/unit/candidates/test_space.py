from __future__ import annotations

from dataclasses import fields

import numpy as np

from optimizer.candidates.rules import layout_faults
from optimizer.candidates.space import Grid, divisors, experts_placed, powers_of_two, shapes, take, tensor_domain
from optimizer.engine.layouts import LayoutArrays
from optimizer.io.library import Library
from optimizer.results import Layout
from optimizer.schema.architecture import Architecture


def degrees(made: LayoutArrays, name: str) -> list[int]:
    return sorted(set(getattr(made, name).tolist()))


def test_numbers():
    assert divisors(72) == [1, 2, 3, 4, 6, 8, 9, 12, 18, 24, 36, 72]
    assert powers_of_two(9) == [1, 2, 4, 8]
    assert powers_of_two(0) == []


def test_tensor_parallel_stays_in_the_innermost_tier(library: Library):
    assert tensor_domain(library.platforms["b200-hgx"]) == 8
    assert tensor_domain(library.platforms["gb200-nvl72"]) == 72


def test_headline_degrees(library: Library):
    made = shapes(library.architectures["dense-500b"], library.platforms["b200-hgx"], 8192, Grid())
    assert degrees(made, "tensor_parallel") == [1, 2, 4, 8]
    # 128 layers: without an empty stage, or (128 + 2) / p whole
    assert degrees(made, "pipeline_parallel") == [
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 19, 22, 26, 32, 43, 64, 65, 128,
    ]  # fmt: skip
    assert degrees(made, "context_parallel") == [1, 2, 4, 8, 16, 32, 64]
    assert degrees(made, "micro_batch") == [1, 2, 4, 8, 16, 32, 64]
    eight = take(made, np.flatnonzero(made.pipeline_parallel == 8))
    assert degrees(eight, "virtual_pipeline") == [1, 2, 4, 8, 16]
    ten = take(made, np.flatnonzero(made.pipeline_parallel == 10))
    assert degrees(ten, "virtual_pipeline") == [1, 13]  # 130 = 128 + 2


def test_full_sharding_without_pipeline_and_sequence_parallel_with_tensor(library: Library, small: Architecture):
    made = shapes(small, library.platforms["h100-sxm"], 4096, Grid())
    assert degrees(take(made, np.flatnonzero(made.sharding_stage == 3)), "pipeline_parallel") == [1]
    assert np.array_equal(made.sequence_parallel, made.tensor_parallel > 1)


def test_no_shape_twice_and_all_are_legal(library: Library, small: Architecture, tight_grid: Grid):
    made = shapes(small, library.platforms["h100-sxm"], 4096, tight_grid)
    rows = np.stack([getattr(made, field.name) for field in fields(made)], axis=1)
    assert len(np.unique(rows, axis=0)) == len(rows) > 300
    for place in range(0, len(rows), 7):
        one = made.row(place)
        rounds = one.pipeline_parallel if one.virtual_pipeline > 1 else 1
        layout = one.model_copy(update={"global_batch": one.micro_batch * rounds})
        assert layout_faults(small, 4096, layout) == ()


def test_simple_shapes_come_first(library: Library, small: Architecture, tight_grid: Grid):
    made = shapes(small, library.platforms["h100-sxm"], 4096, tight_grid)
    size, again = made.accelerators, made.recompute
    assert np.all(np.diff(size) >= 0)
    assert np.all(np.diff(again)[np.diff(size) == 0] >= 0)
    first = made.row(0)
    assert first == Layout(sequence_parallel=False)


def test_a_sequence_that_does_not_divide_limits_context_and_tensor(library: Library, small: Architecture):
    made = shapes(small, library.platforms["h100-sxm"], 4100, Grid())  # 4100 = 4 x 1025
    assert degrees(made, "context_parallel") == [1, 2]
    assert degrees(made, "tensor_parallel") == [1, 2, 4]


def test_experts_are_powers_of_two_and_placed_within_the_group(library: Library):
    made = shapes(library.architectures["mixtral-8x7b"], library.platforms["h100-sxm"], 4096, Grid())
    assert degrees(made, "expert_parallel") == [1, 2, 4, 8]
    group = made.expert_parallel * made.expert_tensor_parallel
    assert experts_placed(made).tolist() == (made.tensor_parallel * made.context_parallel % group == 0).tolist()


def test_few_experts_may_be_split_like_a_layer_and_many_are_not(library: Library):
    made = shapes(library.architectures["mixtral-8x7b"], library.platforms["h100-sxm"], 4096, Grid())
    split = take(made, np.flatnonzero(made.expert_tensor_parallel > 1))
    assert degrees(split, "expert_tensor_parallel") == [2, 4, 8]
    assert np.array_equal(split.expert_tensor_parallel, split.tensor_parallel)
    many = shapes(library.architectures["deepseek-v3"], library.platforms["h100-sxm"], 4096, Grid())
    assert degrees(many, "expert_tensor_parallel") == [1]
    assert degrees(many, "expert_parallel") == [1, 2, 4, 8, 16, 32, 64, 128, 256]


def test_the_grid_states_itself():
    stated = Grid(context_max=8, virtual_max=3, recompute=(0, 2)).stated
    for part in (
        "context 1, 2, 4 .. 8;",
        "virtual up to 3 ",
        "micro-batch 1, 2, 4 .. 64;",
        "recompute none, full;",
        "stage 1, 3 ",
    ):
        assert part in stated
