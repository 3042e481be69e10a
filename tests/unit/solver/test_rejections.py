"""Which offers cannot be used whatever the plan: one limit each, with what it needs and what there is."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

from optimizer.cost.frame import Frame
from optimizer.results import Rejection
from optimizer.schema.scenario import Zone
from optimizer.solver.offers import rack_kw, rack_positions, units_per_rack
from optimizer.solver.problem import pools
from tests.unit.cost.world import day, frame, hourly, lease, platform, purchase, quote, reserved, site
from tests.unit.solver.deciding import only

ZONED = {"hall": site(zones={"a": {"racks": 4, "kw_per_rack": 25, "cooling": "air"}})}
RACK = {"purchase_unit": "rack", "nodes_per_rack": 18, "accelerators_per_node": 4}


def rejected(world: Frame) -> Rejection:
    """Return why the only offer of a world is not usable."""
    found, rejections = pools(world)
    assert not found
    return only(rejections)


def check(world: Frame, limit: str, needed: object, available: object, reason: str) -> None:
    found = rejected(world)
    assert (found.limit, found.needed, found.available) == (limit, needed, available)
    assert re.search(reason, found.reason), found.reason


def test_a_platform_with_missing_facts() -> None:
    world = frame(quote(purchase()), platforms=[platform(ineligible="peak unknown")])
    check(world, "specification", "complete facts", "unknown", "^peak unknown$")


@pytest.mark.parametrize(
    ("policy", "refused", "stated", "setting"),
    [
        ({"platforms": {"deny": ["box"]}}, "box", "denied", "policy.platforms"),
        ({"platforms": {"allow": ["other"]}}, "box", "not listed", "policy.platforms"),
        ({"vendors": {"deny": ["Acme"]}}, "Acme", "denied", "policy.vendors"),
        ({"vendors": {"allow": ["Best"]}}, "Acme", "not listed", "policy.vendors"),
    ],
)
def test_house_rules_on_platforms_and_vendors(policy: Any, refused: str, stated: str, setting: str) -> None:
    reason = f"{setting} does not allow {refused}"
    check(frame(quote(purchase()), policy=policy), "policy", f"{refused} allowed", stated, reason)


@pytest.mark.parametrize(
    ("terms", "found"),
    [({"kind": "budgetary"}, "budgetary"), ({"kind": "list"}, "list"), ({"valid_until": None}, "undated")],
)
def test_quotes_that_do_not_bind(terms: Any, found: str) -> None:
    offered = quote(purchase(), **terms)
    check(
        frame(offered, policy={"allow_budgetary_quotes": False}),
        "policy", "binding quote", found, f"the quote is {found} and policy.allow_budgetary_quotes is false",
    )  # fmt: skip
    assert pools(frame(offered))[0]


def test_a_quote_is_valid_on_its_last_day_and_not_after() -> None:
    """Opened 2026-12-15 and valid 90 days: until 2027-03-15."""
    offered = quote(purchase(), valid_until="2027-03-15")
    assert pools(frame(offered, earliest_order="2027-03-15"))[0]
    late = frame(offered, earliest_order="2027-03-16")
    check(late, "expired", "2027-03-16", "2027-03-15", "valid until 2027-03-15, the order date is 2027-03-16")
    assert pools(frame(offered, earliest_order="2027-03-16", policy={"allow_expired_quotes": True}))[0]


def test_a_quote_without_a_last_day_is_not_expired() -> None:
    assert pools(frame(quote(purchase(), valid_until=None), earliest_order="2027-12-01"))[0]


def test_a_licence_that_excludes_data_centres() -> None:
    card = platform(licence_excludes_datacentre=True)
    check(
        frame(quote(purchase()), platforms=[card]),
        "licence", "data centre use", "excluded", "policy.allow_excluded_licence lifts this",
    )  # fmt: skip
    assert pools(frame(quote(purchase()), platforms=[card], policy={"allow_excluded_licence": True}))[0]


@pytest.mark.parametrize("state", ["on_request", "no_bid", "redacted", "missing", "ambiguous", "malformed", "option"])
def test_a_price_that_is_no_number(state: str) -> None:
    world = frame(quote(purchase(state)))
    check(world, "price", "a price", state, f"^price {state.replace('_', ' ')}$")


def test_a_line_without_a_price() -> None:
    freight = {"item": "freight", "per": "order", "price": "on_request"}
    world = frame(quote(purchase(lines=[freight])))
    check(world, "price", "a price of freight", "on_request", "price of line freight: on request")


def test_no_units_to_be_had() -> None:
    """A maximum of 0 is none; no maximum is no limit."""
    world = frame(quote(purchase(units={"max": 0})))
    check(world, "supply", Decimal(1), Decimal(0), "smallest order 1, largest 0")
    assert pools(frame(quote(purchase(units={}))))[0]


@pytest.mark.parametrize(
    ("price", "units", "least"),
    [
        (100, {"min": 5, "step": 4, "max": 7}, 8),
        ({"all_units": {10: 100}}, {"max": 9}, 10),
        (100, {"step": 3, "max": 2}, 3),
    ],
)
def test_the_smallest_order_is_above_the_largest(price: Any, units: Any, least: int) -> None:
    world = frame(quote(purchase(price, units=units)))
    check(
        world, "minimum_order", Decimal(least), Decimal(units["max"]), f"smallest order {least}, largest {units['max']}"
    )


def test_an_unknown_lead_time() -> None:
    offer = purchase()
    del offer["lead_weeks"]
    check(frame(quote(offer)), "delivery", "a lead time", "unknown", "lead time unknown")


@pytest.mark.parametrize("offer", [reserved(10, 3), hourly(10)])
def test_a_rental_that_cannot_start_in_its_window(offer: Any) -> None:
    """Six weeks after 2027-01-01 is 02-12, the last possible start is 02-01."""
    late = offer | {"start": ["2027-01-15", "2027-02-01"], "lead_weeks": [2, 6]}
    check(
        frame(quote(late)),
        "delivery",
        "2027-02-01",
        "2027-02-12",
        "cannot start before 2027-02-12, last start 2027-02-01",
    )


def test_no_site_of_ours() -> None:
    for world in (frame(quote(purchase()), sites={}), frame(quote(lease(1, 3, sites=[])))):
        check(world, "region", "a site of ours", "none", "the scenario has no site it can be delivered to")


def test_unknown_power_is_no_power() -> None:
    world = frame(quote(purchase()), platforms=[platform(node_power_kw={})])
    check(world, "specification", "node power", "unknown", "provisioned power unknown, needed at hall")


@pytest.mark.parametrize("space", [{"rack_units": 8}, {"cooling": ["air"]}])
def test_unknown_space_matters_where_racks_are_limited(space: Any) -> None:
    card = platform(space=space)
    world = frame(quote(purchase()), platforms=[card], sites=ZONED)
    check(world, "specification", "space and cooling", "unknown", "space or cooling unknown, needed at hall")
    assert pools(frame(quote(purchase()), platforms=[card]))[0]


def test_a_cooling_class_the_site_does_not_have() -> None:
    world = frame(quote(purchase()), platforms=[platform(space={"rack_units": 8, "cooling": ["liquid"]})], sites=ZONED)
    check(world, "cooling", "liquid", "air", "needs liquid cooling; hall has air")


def test_a_zone_without_racks_cools_nothing() -> None:
    zones = {"a": {"racks": 0, "kw_per_rack": 25, "cooling": "air"}}
    assert rejected(frame(quote(purchase()), sites={"hall": site(zones=zones)})).limit == "cooling"


def test_a_rack_that_cannot_feed_one_unit() -> None:
    world = frame(quote(purchase()), platforms=[platform(node_power_kw={"provisioned": 25.5})], sites=ZONED)
    check(world, "rack_power", Decimal("25.5"), Decimal(25), r"one unit needs 25.5 kW in a rack; hall gives 25")


def test_a_rack_scale_unit_spreads_over_the_positions_it_takes() -> None:
    """18 nodes x 7 kW = 126 kW over 2 positions: 63 kW each."""
    wide = platform(node_power_kw={"provisioned": 7}, space={"racks": 1.5, "cooling": ["air"]}, **RACK)
    world = frame(quote(purchase()), platforms=[wide], sites=ZONED)
    check(world, "rack_power", Decimal(63), Decimal(25), r"one unit needs 63(\.0)? kW in a rack; hall gives 25")
    assert (rack_positions(wide), rack_kw(wide)) == (2, 63)


def test_one_site_that_fits_is_enough() -> None:
    sites = ZONED | {"annex": site(zones={"b": {"racks": 1, "kw_per_rack": 5, "cooling": "air"}})}
    found, rejections = pools(frame(quote(purchase()), sites=sites))
    assert [pool.name for pool in found] == ["box@hall"]
    assert rejections == ()


def test_the_first_reason_speaks_and_names_vendor_and_offer() -> None:
    world = frame(quote(purchase("no_bid", units={"max": 0}), valid_until="2026-12-01"))
    found = rejected(world)
    assert (found.limit, found.vendor, found.quote, found.platform) == ("expired", "Acme", "q/node", "box")


def test_other_offers_of_the_quote_stay_usable() -> None:
    found, rejections = pools(frame(quote({"a": purchase(), "b": purchase("no_bid")})))
    assert [option.name for option in found[0].options] == ["a"]
    assert only(rejections).quote == "q/b"


@pytest.mark.parametrize(
    ("kw", "height", "held"),
    [
        (25, {"rack_units": 8}, 2),
        (100, {"rack_units": 8}, 5),
        (100, {"units_per_rack_max": 3}, 3),
        (9, {"rack_units": 8}, 0),
    ],
)
def test_units_in_a_rack_by_power_and_by_height(kw: int, height: Any, held: int) -> None:
    """10 kW boxes of 8 rack units: floor(kW / 10), at most floor(42 / 8) = 5 or the stated maximum."""
    zone = Zone(racks=1, kw_per_rack=kw, cooling="air")
    assert units_per_rack(platform(space={"cooling": ["air"]} | height), zone) == held


def test_a_rack_scale_unit_is_one_per_rack_and_needs_its_cooling() -> None:
    card = platform(node_power_kw={"provisioned": 7}, space={"racks": 1, "cooling": ["liquid"]}, **RACK)
    assert units_per_rack(card, Zone(racks=1, kw_per_rack=400, cooling="liquid")) == 1
    assert units_per_rack(card, Zone(racks=1, kw_per_rack=125, cooling="liquid")) == 0
    assert units_per_rack(card, Zone(racks=1, kw_per_rack=400, cooling="air")) == 0


def test_the_order_date_is_what_expiry_is_measured_at() -> None:
    world = frame(quote(purchase(), valid_until="2027-01-31"), earliest_order="2027-02-01")
    assert world.order_date == day("2027-02-01")
    assert rejected(world).limit == "expired"
