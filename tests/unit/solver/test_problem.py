"""Pools, windows, supply, and the runs that fit."""

from __future__ import annotations

from typing import Any

import pytest

from optimizer.cost.frame import Frame
from optimizer.cost.option import UNLIMITED_UNITS
from optimizer.results import Candidate, Layout
from optimizer.solver.problem import pools, supply_nodes, units_limit, window
from optimizer.solver.profiles import build
from tests.unit.cost.world import (
    candidate,
    day,
    frame,
    hourly,
    lease,
    platform,
    purchase,
    quote,
    reserved,
    site,
    stated,
    workload,
)
from tests.unit.solver.deciding import options, problem

LOTS = [{"units": 4, "date": "2027-02-01"}, {"units": "rest", "date": "2027-05-01"}]


def one(offer: dict[str, Any], **changes: Any) -> Frame:
    return frame(quote(offer), **changes)


def runs(world: Frame) -> list[tuple[int, str]]:
    """Return nodes and start of every profile."""
    return [(profile.nodes_needed, profile.run.start.isoformat()) for profile in problem(world).profiles]


def limit(world: Frame, offer: str = "node") -> int:
    """Return the units an award of an offer never needs to exceed."""
    found = problem(world)
    option = next(option for option in found.options if option.name == offer)
    pool = next(pool for pool in found.pools if option in pool.options)
    return units_limit(pool, option, found)


@pytest.mark.parametrize(
    ("terms", "first", "last"),
    [
        ({}, "2027-01-01", "2027-12-31"),
        ({"release": "2027-02-01", "deadline": "2027-08-31"}, "2027-02-01", "2027-08-31"),
        ({"deadline": "2027-08-31", "deadline_margin_days": 21}, "2027-01-01", "2027-08-10"),
        ({"deadline": "2029-08-31"}, "2027-01-01", "2027-12-31"),
        ({"deadline_margin_days": 1}, "2027-01-01", "2027-12-31"),  # a margin is before a deadline
    ],
)
def test_the_window_of_a_run(terms: dict[str, Any], first: str, last: str) -> None:
    world = one(purchase(), workloads=workload(**terms))
    assert window(world.scenario.workloads["train"], world) == (day(first), day(last))


def test_a_run_starts_on_its_release_or_when_something_becomes_ready() -> None:
    world = one(purchase(lots=LOTS), workloads=workload(stated(4, 30), release="2027-01-15"))
    assert runs(world) == [(4, "2027-02-01"), (4, "2027-05-01")]  # nothing is there on the release
    world = one(purchase(lots=LOTS), workloads=workload(stated(4, 30), release="2027-03-01"))
    assert runs(world) == [(4, "2027-03-01"), (4, "2027-05-01")]


def test_a_run_needs_its_nodes_on_its_first_day() -> None:
    world = one(purchase(lots=LOTS), workloads=workload(stated(5, 30)))
    assert runs(world) == [(5, "2027-05-01")]


@pytest.mark.parametrize(("days", "fits"), [(30, 1), (31, 0)])
def test_the_deadline_day_may_be_used(days: int, fits: int) -> None:
    world = one(purchase(), workloads=workload(stated(2, days), release="2027-03-02", deadline="2027-03-31"))
    assert len(runs(world)) == fits


@pytest.mark.parametrize(("days", "fits"), [(31, 1), (32, 0)])
def test_the_horizon_day_may_not_be_used(days: int, fits: int) -> None:
    world = one(purchase(), workloads=workload(stated(2, days), release="2027-12-01"))
    assert len(runs(world)) == fits


@pytest.mark.parametrize(("days", "fits"), [(90, 1), (91, 0)])
def test_a_lease_covers_all_days_of_a_run_or_does_not_count(days: int, fits: int) -> None:
    """Three months from 2027-01-01 end on 03-31: 90 days."""
    assert len(runs(one(lease(10, 3), workloads=workload(stated(2, days))))) == fits


def test_every_mode_and_every_start_is_a_profile() -> None:
    world = one(purchase(lots=LOTS), workloads=workload(stated(2, 60), stated(4, 30)))
    assert runs(world) == [(2, "2027-02-01"), (2, "2027-05-01"), (4, "2027-02-01"), (4, "2027-05-01")]


def test_a_workload_may_refuse_a_platform() -> None:
    assert runs(one(purchase(), workloads=workload(platforms={"deny": ["box"]}))) == []


def engine_mode(world: Frame, nodes: int) -> Candidate:
    """Return a mode as the engine gives it: with a layout."""
    stated_mode = candidate(nodes, 30, world.platforms["box"])
    return Candidate(**{name: getattr(stated_mode, name) for name in stated_mode.__slots__} | {"layout": Layout()})


def test_spares_are_for_engine_modes_at_sites_of_ours() -> None:
    """64 nodes need 2 spares in our hall; providers replace nodes, and stated modes are final."""
    world = frame(quote({"buy": purchase(), "rent": hourly(10)}))
    found, _ = pools(world)
    mode = engine_mode(world, 64)
    needed = {
        profile.pool.place: profile.nodes_needed for profile in build(world, {"train": [mode]}, found, ()).profiles
    }
    assert needed == {"hall": 66, "Acme/eu": 64}
    assert runs(one(purchase(), workloads=workload(stated(64, 30)))) == [(64, "2027-01-01")]


def test_supply_is_the_sum_over_offers_of_their_largest_order() -> None:
    """5 and 3 bought, one of the leases (6), 2 owned: 16; a second day of the same offer adds nothing."""
    world = frame(
        quote({"a": purchase(units={"max": 5}), "b": purchase(units={"max": 3}), "c": lease(1, 6, units={"max": 6})}),
        owned=[{"platform": "box", "nodes": 2, "site": "hall"}],
        sites={"hall": site(power=[{"from": "2027-01-01", "kw": 100}, {"from": "2027-03-01", "kw": 400}])},
    )
    (pool,) = pools(world)[0]
    assert supply_nodes(pool) == 16
    assert supply_nodes(pool, day("2027-02-01"), day("2027-06-30")) == 16
    assert supply_nodes(pool, day("2027-02-01"), day("2027-09-01")) == 10  # both leases have ended


def test_supply_on_a_day_counts_lots_that_are_ready() -> None:
    (pool,) = pools(one(purchase(lots=LOTS, units={"max": 9})))[0]
    assert [
        supply_nodes(pool, day(when), day("2027-12-31")) for when in ("2027-01-31", "2027-02-01", "2027-05-01")
    ] == [0, 4, 13]


def test_supply_of_racks_is_in_nodes() -> None:
    rack = platform(purchase_unit="rack", nodes_per_rack=18, accelerators_per_node=4)
    (pool,) = pools(one(purchase(units={"max": 3}), platforms=[rack]))[0]
    assert supply_nodes(pool) == 54


def test_no_maximum_is_no_limit() -> None:
    (pool,) = pools(one(purchase()))[0]
    assert supply_nodes(pool) == UNLIMITED_UNITS


@pytest.mark.parametrize(
    ("terms", "changes", "most"),
    [
        ({}, {}, 6),  # the largest run
        ({"units": {"max": 4}}, {}, 3),  # six would never be there
        ({"units": {"min": 9}}, {}, 9),
        ({"units": {"step": 4}}, {}, 8),
        ({"price": {"all_units": {1: 10, 12: 9}}}, {}, 12),
        ({}, {"after_run": {"max_accelerators": 100}}, 13),  # 100 / 8
    ],
)
def test_units_beyond_run_break_minimum_and_cap_are_never_worth_it(
    terms: dict[str, Any], changes: dict[str, Any], most: int
) -> None:
    assert limit(one(purchase(**terms), workloads=workload(stated(6, 30), stated(3, 60)), **changes)) == most


@pytest.mark.parametrize(
    ("changes", "most"),
    [
        ({"budget": {"total": 1_050_000}}, 10),  # 105,000 with the line
        ({"sites": {"hall": site(power=[{"from": "2027-01-01", "kw": 75}])}}, 7),
        ({"sites": {"hall": site(zones={"a": {"racks": 3, "kw_per_rack": 25, "cooling": "air"}})}}, 6),
    ],
)
def test_with_capacity_as_the_objective_money_power_or_racks_say_how_many(changes: dict[str, Any], most: int) -> None:
    world = one(purchase(lines=[{"item": "x", "per": "node", "price": 5000}]), objective="capacity", **changes)
    assert limit(world) == most


def test_hours_for_capacity_cost_at_least_a_day() -> None:
    """2,400 buy 10 boxes at 10 an hour for a day."""
    assert limit(one(hourly(10), objective="capacity", budget={"total": 2400})) == 10


def test_a_pool_knows_on_which_days_something_becomes_usable() -> None:
    world = frame(quote({"a": purchase(lots=LOTS), "b": lease(1, 6, acceptance_days=31)}))
    (pool,) = pools(world)[0]
    assert pool.starts == (day("2027-02-01"), day("2027-05-01"))
    assert pool.name == "box@hall"


def test_keeping_fewer_runs_keeps_the_pools_in_which_something_may_be_awarded() -> None:
    world = frame(
        quote({"a": purchase(), "b": reserved(1, 6), "c": purchase(platform="other")}),
        platforms=[platform(), platform("other")],
        owned=[{"platform": "other", "nodes": 1, "site": "hall"}],
    )
    found = problem(world)
    rented = [profile for profile in found.profiles if profile.pool.site is None]
    assert {pool.name for pool in found.keep(rented).pools} == {"box@Acme/eu", "other@hall"}
    assert found.keep(rented).profiles == tuple(rented)


def test_options_are_ordered_by_quote_offer_place_and_delivery() -> None:
    world = frame(quote({"b": purchase(), "a": purchase()}, "z"), quote({"c": purchase()}, "y"))
    assert [option.offer_key for option in problem(world).options] == [("y", "c"), ("z", "a"), ("z", "b")]
    assert len(options(world, "a")) == 1
