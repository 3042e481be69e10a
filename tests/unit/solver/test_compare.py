"""One row per platform: its best plan, or the limit that rejects it with what it needs and what there is."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

from optimizer.cost.frame import Frame
from optimizer.results import CompareRow
from optimizer.solver.backend import Settings
from optimizer.solver.compare import compare_platforms
from optimizer.solver.planner import Modes
from tests.unit.cost.world import frame, hourly, platform, purchase, quote, site, stated, workload
from tests.unit.solver.deciding import inputs


def rows(world: Frame) -> dict[str, CompareRow]:
    found = compare_platforms(inputs(world), Modes(), "auto", Settings())
    return {row.platform: row for row in found.rows}


def check(world: Frame, limit: str, needed: object, available: object, reason: str) -> None:
    """Hold the row of the box against a limit, its figures and its words."""
    row = rows(world)["box"]
    assert row.status == "rejected"
    assert row.rejection is not None
    assert (row.rejection.limit, row.rejection.needed, row.rejection.available) == (limit, needed, available)
    assert re.search(reason, row.rejection.reason), row.rejection.reason


def test_platforms_with_a_plan_come_first_by_cost() -> None:
    cards = [platform(), platform("cheap"), platform("none"), platform("seen", evidence_only=True)]
    world = frame(
        quote({"a": purchase(100), "b": purchase(50, platform="cheap")}),
        platforms=cards,
        workloads=workload(stated(2, 30), stated(3, 20, "cheap")),
    )
    found = rows(world)
    assert list(found) == ["cheap", "box", "none"]
    assert (found["cheap"].status, found["cheap"].npv, found["cheap"].nodes, found["cheap"].accelerators) == (
        "optimal",
        150,
        3,
        24,
    )
    assert str(found["box"].finish) == "2027-01-30"
    assert found["none"].npv is None


def test_the_plan_of_a_platform_is_the_best_forced_to_it() -> None:
    """The dearer box is planned with its own cheapest offer, not with what the winner would take."""
    cards = [platform(), platform("cheap")]
    offers = {"a": purchase(100), "b": purchase(90), "c": purchase(50, platform="cheap")}
    world = frame(quote(offers), platforms=cards, workloads=workload(stated(2, 30), stated(2, 30, "cheap")))
    assert (rows(world)["box"].total, rows(world)["cheap"].total) == (180, 100)


def test_missing_facts_speak_before_everything_else() -> None:
    check(
        frame(quote(purchase()), platforms=[platform(ineligible="peak unknown")]),
        "specification",
        "complete facts",
        "unknown",
        "^peak unknown$",
    )


def test_no_quote_offers_it() -> None:
    world = frame(quote(purchase(platform="other")), platforms=[platform(), platform("other")])
    check(world, "offer", Decimal(1), Decimal(0), "^no quote offers it$")


def test_an_offer_that_cannot_be_used() -> None:
    check(frame(quote(purchase("on_request"))), "price", "a price", "on_request", "^price on request$")


def test_of_several_rejections_the_hardest_to_change_speaks() -> None:
    world = frame(quote({"a": purchase(100, units={"max": 0}), "b": purchase("no_bid")}))
    check(world, "price", "a price", "no_bid", "price no bid")


def test_capacity_that_comes_too_late() -> None:
    world = frame(quote(purchase(lead_weeks=10)), workloads=workload(deadline="2027-03-11"))
    check(world, "delivery", "2027-03-12", "2027-03-11", "first ready on 2027-03-12; the last usable day is 2027-03-11")


def test_too_few_can_be_had() -> None:
    world = frame(quote(purchase(units={"max": 3})), workloads=workload(stated(5, 30)))
    check(world, "supply", Decimal(5), Decimal(3), "needs 5 nodes to run from 2027-01-01 to 2027-12-31; offers reach 3")


def test_no_number_of_nodes_is_quick_enough() -> None:
    world = frame(quote(purchase()), workloads=workload(stated(5, 90), stated(2, 200), deadline="2027-02-28"))
    check(
        world,
        "deadline",
        Decimal(90),
        Decimal(59),
        "takes 90 days even on 5 nodes; 59 are left from 2027-01-01 to 2027-02-28",
    )


LIMITED: list[tuple[str, dict[str, Any], dict[str, Any], tuple[int, int]]] = [
    ("power", {}, {"sites": {"hall": site(power=[{"from": "2027-01-01", "kw": 15}])}}, (20, 15)),
    ("racks", {}, {"sites": {"hall": site(zones={"a": {"racks": 1, "kw_per_rack": 19, "cooling": "air"}})}}, (2, 1)),
    ("fabric", {"fabric_max_units": 1}, {}, (2, 1)),
    ("budget", {}, {"budget": {"total": 150}}, (200, 150)),
    ("budget_year", {}, {"budget": {"by_fiscal_year": {"2027": 150}}}, (200, 150)),
]


@pytest.mark.parametrize(("limit", "terms", "changes", "figures"), LIMITED)
def test_the_limit_whose_lifting_alone_gives_a_plan(
    limit: str, terms: dict[str, Any], changes: dict[str, Any], figures: tuple[int, int]
) -> None:
    check(
        frame(quote(purchase(100, **terms)), **changes),
        limit,
        *map(Decimal, figures),
        "needs 2",
    )


def test_limits_that_only_together_leave_no_plan() -> None:
    world = frame(
        quote(purchase(100, fabric_max_units=1)), sites={"hall": site(power=[{"from": "2027-01-01", "kw": 15}])}
    )
    row = rows(world)["box"].rejection
    assert row is not None
    assert row.limit in ("fabric", "power")
    assert "needs 2 nodes" in row.reason


def test_a_platform_is_judged_by_its_own_offers_only() -> None:
    """A budget that only hours of the other platform could meet still rejects the box by its own price."""
    cards = [platform(), platform("other")]
    world = frame(
        quote({"a": purchase(100), "b": hourly(0.01, platform="other")}),
        platforms=cards, workloads=workload(stated(2, 30), stated(2, 30, "other")), budget={"total": 150},
    )  # fmt: skip
    check(world, "budget", Decimal(200), Decimal(150), "needs 200.00 USD, 150.00 available")
    assert rows(world)["other"].status == "optimal"


def test_a_row_names_the_limits_that_bind_it() -> None:
    """Two boxes for 30 days end on the deadline; one box would do for 60, at half the price. Crates have time."""
    modes = workload(stated(2, 30), stated(1, 60), stated(2, 10, "crate"), deadline="2027-01-30")
    cards = [platform(), platform("crate"), platform("tub")]
    world = frame(quote({"a": purchase(100), "b": purchase(90, platform="crate")}), platforms=cards, workloads=modes)
    found = rows(world)
    assert {name: found[name].binding for name in ("box", "crate", "tub")} == {
        "box": ("deadline",), "crate": (), "tub": None,
    }  # fmt: skip


def test_rows_are_ordered_by_what_is_optimised() -> None:
    """The budget buys 4 boxes or 5 crates; the run ends with 2 of either, on boxes ten days earlier."""
    modes = workload(stated(2, 30), stated(2, 40, "crate"))
    offers = {"a": purchase(100), "b": purchase(80, platform="crate")}
    cards = [platform(), platform("crate")]
    expected = {"cost": ["crate", "box"], "time": ["box", "crate"], "capacity": ["crate", "box"]}
    for objective, order in expected.items():
        world = frame(quote(offers), platforms=cards, workloads=modes, objective=objective, budget={"total": 400})
        found = compare_platforms(inputs(world), Modes(), "auto", Settings()).rows
        assert [row.platform for row in found] == order
    assert [(row.objective, row.unit) for row in found] == [(40, "accelerators"), (32, "accelerators")]
