"""Preparation: grids of node counts, modes computed once, questions without an answer."""

from __future__ import annotations

from typing import Any

import pytest

from optimizer.api import inputs_of, load
from optimizer.cost.frame import Frame
from optimizer.errors import InputError
from optimizer.io.scenario import changed as changed_by
from optimizer.io.shipped import shipped
from optimizer.solver.planner import Modes, node_grid, powered_nodes, prepare, refuse_unbounded
from optimizer.solver.problem import pools
from tests.unit.cost.world import frame, hourly, platform, purchase, quote, site, stated, workload
from tests.unit.solver.deciding import inputs, prepared


def test_every_node_count_to_1024_then_multiples_of_16() -> None:
    grid = node_grid(platform(accelerators_per_node=4), 1100)
    assert grid[:3] == [1, 2, 3]
    assert grid[1022:1026] == [1023, 1024, 1040, 1056]
    assert grid[-1] == 1088


def test_the_grid_ends_at_the_largest_public_run() -> None:
    assert node_grid(platform(accelerators_per_node=8), 10**6)[-1] == 2048
    assert node_grid(platform(accelerators_per_node=1), 10**6)[-1] == 16_384
    assert node_grid(platform(), 3) == [1, 2, 3]


@pytest.mark.parametrize(
    ("steps", "nodes"),
    [
        (None, 16_384),
        ([{"from": "2027-01-01", "kw": 45}], 6),
        ([{"from": "2027-01-01", "kw": 45}, {"from": "2028-06-01", "kw": 95}], 11),
    ],
)
def test_the_most_power_a_site_ever_has_bounds_the_nodes(steps: Any, nodes: int) -> None:
    """10 kW a box, and 2 owned ones on top."""
    world = frame(
        quote(purchase()), sites={"hall": site(power=steps)}, owned=[{"platform": "box", "nodes": 2, "site": "hall"}]
    )
    (pool,) = pools(world)[0]
    assert powered_nodes(pool, world) == nodes


def test_power_bounds_no_rental() -> None:
    (pool,) = pools(frame(quote(hourly(1))))[0]
    assert powered_nodes(pool, frame(quote(hourly(1)))) == 16_384


def test_modes_are_computed_once_for_scenarios_that_differ_in_limits_only() -> None:
    loaded = load(shipped("scenarios") / "lab-7b.yaml")
    known, changed = Modes(), changed_by(loaded, ["budget.total=1"])
    first, second = (prepare(inputs_of(one), known).modes for one in (loaded, changed))
    assert first
    assert all(second[key] is modes for key, modes in first.items())
    other = prepare(inputs_of(changed_by(loaded, ["policy.performance_quantile=0.9"])), known).modes
    assert all(other[key] is not modes for key, modes in first.items())


def test_stated_modes_are_those_of_the_scenario() -> None:
    known = Modes()
    first, other = (
        prepare(inputs(frame(quote(purchase()), workloads=w)), known).modes
        for w in (workload(), workload(stated(3, 30)))
    )
    assert first["train", "box"] != other["train", "box"]


def test_candidates_are_counted_over_all_platforms() -> None:
    cards = [platform(), platform("other")]
    world = frame(
        quote({"a": purchase(), "b": purchase(platform="other")}),
        platforms=cards,
        workloads=workload(stated(2, 30), stated(1, 60), stated(2, 20, "other")),
    )
    assert prepared(world).candidates == 3


def test_a_platform_without_a_mode_is_left_out_with_a_reason() -> None:
    world = frame(quote({"a": purchase(), "b": purchase(platform="other")}), platforms=[platform(), platform("other")])
    assert [rejection.platform for rejection in prepared(world).problem.rejections] == ["other"]


def bounded(**changes: Any) -> Frame:
    return frame(quote(purchase()), **({"objective": "capacity"} | changes))


def test_capacity_without_a_bound_is_refused() -> None:
    with pytest.raises(InputError, match="objective: capacity without a budget"):
        refuse_unbounded(bounded())


@pytest.mark.parametrize(
    "changes",
    [
        {"budget": {"total": 1}},
        {"budget": {"by_fiscal_year": {"2027": 1}}},
        {"sites": {"hall": site(power=[{"from": "2027-01-01", "kw": 1}])}},
        {"sites": {"hall": site(zones={"a": {"racks": 1, "kw_per_rack": 1, "cooling": "air"}})}},
        {"objective": "cost"},
    ],
)
def test_any_budget_or_site_limit_bounds_capacity(changes: dict[str, Any]) -> None:
    assert refuse_unbounded(bounded(**changes)) is None
