"""Why no plan meets every limit: one fixture per cause; each names its cause, what it needs and what there is."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from optimizer.cost.frame import Frame
from optimizer.results import Conflict, LimitName
from optimizer.solver.backend import Settings
from optimizer.solver.conflict import explain_infeasible
from optimizer.solver.planner import Modes
from optimizer.solver.relax import RELAXATIONS, Lever, levers, lifted
from tests.unit.cost.world import block, frame, hourly, platform, purchase, quote, reserved, site, workload
from tests.unit.solver.deciding import decided, inputs, prepared

ONE_LOT = [{"units": 1, "date": "2027-01-01"}]
"""One box and no more, whatever the maximum of the offer."""

TALL = {"a": {"racks": 9, "kw_per_rack": 9, "cooling": "air"}}
"""Racks enough, but a box takes 10 kW."""

CAUSES: dict[LimitName, tuple[Frame, Any]] = {
    # two boxes at 100 are needed for 30 days
    "budget": (frame(quote(purchase(100)), budget={"total": 199}), (200, 199, "USD", None)),
    "budget_year": (
        frame(quote(purchase(100)), budget={"total": 500, "by_fiscal_year": {"2027": 199, "2028": 5}}),
        (200, 199, "USD", "2027"),
    ),
    "deadline": (
        frame(quote(purchase(100)), workloads=workload(deadline="2027-01-20")),
        (29, 19, "days from today", "train, until 2027-01-30"),
    ),
    "power": (
        frame(quote(purchase(100)), sites={"hall": site(power=[{"from": "2027-01-01", "kw": 19}])}),
        (20, 19, "kW", "hall on 2027-01-01"),
    ),
    "racks": (
        frame(
            quote(purchase(100)),
            sites={"hall": site(zones={"a": {"racks": 1, "kw_per_rack": 40, "cooling": "air"}})},
            platforms=[platform(space={"rack_units": 42, "cooling": ["air"]})],
        ),
        (2, 1, "racks", "hall"),
    ),
    "rack_power": (
        frame(quote(purchase(100)), sites={"hall": site(zones=TALL)}), (10, 9, "kW per rack", "box, q/node"),
    ),
    "cooling": (
        frame(
            quote(purchase(100)),
            sites={"hall": site(zones={"a": {"racks": 9, "kw_per_rack": 40, "cooling": "liquid"}})},
        ),
        ("air", "liquid", "class", "box, q/node"),
    ),
    "policy": (frame(quote(purchase(100)), policy={"platforms": {"deny": ["box"]}}), ("box allowed", "denied", "", "box, q/node")),
    "supply": (frame(quote(purchase(100, units={"max": 1}))), (2, 1, "nodes", "box@hall")),
    "fabric": (frame(quote(purchase(100, fabric_max_units=1))), (2, 1, "nodes", "box@hall")),
    "vendors": (
        frame(
            quote(purchase(100, lots=ONE_LOT)),
            quote(purchase(100, lots=ONE_LOT), "other", vendor="Best"),
            policy={"vendors": {"max": 1}},
        ),
        (2, 1, "vendors", None),
    ),
    "second_source": (
        frame(quote(purchase(100)), policy={"vendors": {"second_source_share": 0.5}}),
        (Decimal("0.5"), None, "share outside the largest vendor", None),
    ),
    "block_length": (
        frame(quote(block(1, (14, 7)))),
        (30, 14, "days", None),
    ),
    "expired": (
        frame(quote(purchase(100), valid_until="2027-01-04"), earliest_order="2027-01-06"),
        ("2027-01-06", "2027-01-04", "date", "box, q/node"),
    ),
}  # fmt: skip


def explained(world: Frame) -> Conflict:
    assert decided(world).status == "infeasible"
    return explain_infeasible(inputs(world), Modes(), prepared(world), Settings())


def test_there_is_a_fixture_for_every_limit_that_can_be_lifted() -> None:
    assert set(CAUSES) == set(RELAXATIONS) - {"evidence"}  # the minimum does not apply to stated modes


@pytest.mark.parametrize("cause", CAUSES)
def test_a_single_cause_is_named_alone_with_its_need(cause: LimitName) -> None:
    world, figures = CAUSES[cause]
    conflict = explained(world)
    assert [limit.name for limit in conflict.limits] == [cause]
    (limit,) = conflict.limits
    assert (limit.needed, limit.available, limit.unit, limit.period) == figures
    assert conflict.minimal


@pytest.mark.parametrize("cause", CAUSES)
def test_lifting_the_cause_alone_gives_a_plan(cause: LimitName) -> None:
    assert decided(lifted(CAUSES[cause][0], {Lever(cause)})).status == "optimal"


@pytest.mark.parametrize("cause", CAUSES)
def test_lifting_all_other_limits_gives_none(cause: LimitName) -> None:
    world = CAUSES[cause][0]
    others = [lever for lever in levers(world) if lever.name != cause]
    assert decided(lifted(world, others)).status == "infeasible"


def test_two_limits_that_clash_are_both_named() -> None:
    """Rented hours are dear, bought boxes too late: either more money or more time."""
    offers = {"buy": purchase(1000, lead_weeks=10), "rent": hourly(10)}
    world = frame(quote(offers), workloads=workload(deadline="2027-02-15"), budget={"total": 5000})
    conflict = explained(world)
    assert conflict.minimal
    found = {limit.name: (limit.needed, limit.available) for limit in conflict.limits}
    assert found == {"budget": (14_400, 5000), "deadline": (99, 45)}  # 2 x 10 x 720 h; 70 days and 30 less one
    for name in found:
        assert decided(lifted(world, {Lever(name)})).status == "optimal"


def test_two_limits_of_which_each_leaves_no_plan_are_both_named() -> None:
    """19 kW feed one box, and the offer has only one: more power alone changes nothing, more of both does."""
    world = frame(
        quote(purchase(100, units={"max": 1})), sites={"hall": site(power=[{"from": "2027-01-01", "kw": 19}])}
    )
    conflict = explained(world)
    found = {limit.name: (limit.needed, limit.available) for limit in conflict.limits}
    assert found == {"power": (20, 19), "supply": (2, 1)}
    assert not conflict.minimal
    assert (
        decided(lifted(world, {Lever("power")})).status
        == decided(lifted(world, {Lever("supply")})).status
        == "infeasible"
    )
    assert decided(lifted(world, {Lever("power"), Lever("supply")})).status == "optimal"


def test_where_no_limit_can_be_lifted_the_rejections_speak() -> None:
    """Neither more money nor more time makes a price."""
    world = frame(
        quote({"a": purchase("on_request"), "b": reserved(10, 3, start=["2026-12-01", "2026-12-02"])}),
        budget={"total": 1},
    )
    conflict = explained(world)
    assert {limit.name for limit in conflict.limits} == {"price", "delivery"}
    assert not conflict.minimal


def test_the_margin_before_the_deadline_is_part_of_the_need() -> None:
    """30 days and 10 kept free: until 2027-02-09."""
    world = frame(quote(purchase(100)), workloads=workload(deadline="2027-02-05", deadline_margin_days=10))
    (limit,) = explained(world).limits
    assert (limit.name, limit.needed, limit.available, limit.period) == ("deadline", 39, 35, "train, until 2027-02-09")
    for deadline, status in (("2027-02-08", "infeasible"), ("2027-02-09", "optimal")):
        again = frame(quote(purchase(100)), workloads=workload(deadline=deadline, deadline_margin_days=10))
        assert decided(again).status == status


def test_the_budget_named_is_enough_to_the_cent() -> None:
    extras = {"lines": [{"item": "freight", "per": "order", "price": 0.37}], "acceptance_days": 3}
    tax = {"rate": 0.0725, "recoverable": False}
    for total, needed in ((100, "214.90"),):  # 1.0725 x (200 + 0.37) = 214.896825
        world = frame(quote(purchase(100, **extras), tax=tax), budget={"total": total})
        (limit,) = explained(world).limits
        assert limit.needed == Decimal(needed)
        for money, status in ((214.90, "optimal"), (214.89, "infeasible")):
            assert decided(frame(quote(purchase(100, **extras), tax=tax), budget={"total": money})).status == status


def test_of_several_runs_only_the_late_one_is_named() -> None:
    """Both take 2 boxes for 30 days; one is due on day 19, the other in July, and both may have their own boxes."""
    modes = {"modes": [{"platform": "box", "nodes": 2, "days": 30, "source": "x"}]}
    runs = {
        "soon": modes | {"deadline": "2027-01-20", "deadline_margin_days": 3},
        "later": modes | {"deadline": "2027-07-31"},
    }
    conflict = explained(frame(quote(purchase(100)), workloads=runs))
    (limit,) = conflict.limits
    assert conflict.minimal
    assert (limit.name, limit.needed, limit.available, limit.period) == ("deadline", 32, 19, "soon, until 2027-02-02")
    assert limit.reason == (
        "soon can be done by 2027-02-02 at the earliest (3 days of margin included); it is due on 2027-01-20"
    )


def test_a_run_that_no_horizon_holds_is_told_how_long_it_takes() -> None:
    """Far beyond the calendar: ten million years on the only boxes."""
    world = frame(
        quote(purchase(100)), workloads=workload({"platform": "box", "nodes": 2, "days": 3_652_500_000, "source": "x"})
    )
    (limit,) = explained(world).limits
    assert (limit.name, limit.needed, limit.available, limit.unit) == ("deadline", 3_652_500_000, 365, "days")
    assert limit.reason == "train takes 3,652,500,000 days on 2 nodes; the horizon (horizon_months) ends after 365"
