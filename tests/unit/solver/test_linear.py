"""The linear model: rows, sums, dumps."""

from __future__ import annotations

import pytest

from optimizer.solver.backend import evaluated, violated
from optimizer.solver.linear import LinearModel


@pytest.fixture
def model() -> LinearModel:
    """0 <= x <= 5, y 0 or 1; 2 x - 3 y >= 1 and x + y <= 4 and x between 1 and 4."""
    found = LinearModel()
    x, y = found.integer("x", 0, 5), found.boolean("y")
    found.add("least", "a", [(x, 2), (y, -3)], lower=1)
    found.add("most", "b", [(x, 1), (y, 1)], upper=4)
    found.add("most", "c", [(x, 1)], 1, 4)
    return found


def test_a_dump_has_one_line_per_row_with_rule_name_bounds_and_terms(model: LinearModel) -> None:
    assert model.dump() == "least [a]: 1 <= +2 x -3 y\nmost [b]: +1 x +1 y <= 4\nmost [c]: 1 <= +1 x <= 4"


def test_a_dump_of_one_rule_leaves_out_the_others(model: LinearModel) -> None:
    assert model.dump("least") == "least [a]: 1 <= +2 x -3 y"


def test_terms_of_one_variable_are_summed_and_zeros_left_out() -> None:
    model = LinearModel()
    x, y = model.integer("x", 0, 5), model.integer("y", 0, 5)
    model.add("sum", "", [(x, 2), (y, 1), (x, 3), (y, -1)], upper=9)
    assert model.dump() == "sum []: +5 x <= 9"


def test_the_largest_value_a_sum_can_reach() -> None:
    model = LinearModel()
    x, y = model.integer("x", -7, 5), model.integer("y", 0, 3)
    assert model.magnitude([(x, 2), (y, -10)]) == 44


def test_a_sum_at_values(model: LinearModel) -> None:
    assert evaluated(model, {0: 10**18, 1: 3}, [4, 1]) == 4 * 10**18 + 3


@pytest.mark.parametrize(
    ("values", "broken"),
    [
        ([2, 0], None),
        ([2, 1], None),
        ([1, 1], r"least [a]: -1 outside 1 … 1152921504606846976"),
        ([4, 1], r"most [b]: 5 outside -1152921504606846976 … 4"),
        ([6, 0], "x = 6 outside 0 … 5"),
        ([2, 2], "y = 2 outside 0 … 1"),
    ],
)
def test_the_first_broken_bound_or_row_is_named(model: LinearModel, values: list[int], broken: str | None) -> None:
    assert violated(model, values) == broken
