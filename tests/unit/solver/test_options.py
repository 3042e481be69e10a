"""Where and from which day an offer can be had: deliveries, lots, postponement, rental windows."""

from __future__ import annotations

from typing import Any

from optimizer.cost.frame import Frame
from optimizer.cost.option import Option
from tests.unit.cost.world import day, frame, hourly, lease, platform, purchase, quote, reserved, site, stated, workload
from tests.unit.solver.deciding import options, problem


def days(found: list[Option]) -> list[list[str]]:
    """Return the delivery days of each option."""
    return [[lot.delivery.isoformat() for lot in option.lots] for option in found]


def ready(found: list[Option]) -> list[list[str]]:
    return [[lot.ready.isoformat() for lot in option.lots] for option in found]


def one(offer: dict[str, Any], **changes: Any) -> Frame:
    return frame(quote(offer), **changes)


def test_plans_use_the_late_end_of_a_lead_time() -> None:
    """Ordered 2026-12-15, 16-20 weeks: 2027-04-06 to 2027-05-04."""
    world = one(purchase(lead_weeks=[16, 20]), today="2026-11-30", earliest_order="2026-12-15")
    assert days(options(world)) == [["2027-05-04"]]


def test_stock_is_delivered_on_the_order_date() -> None:
    assert days(options(one(purchase(), earliest_order="2027-01-20"))) == [["2027-01-20"]]


def test_one_number_of_weeks_is_both_ends() -> None:
    assert days(options(one(purchase(lead_weeks=2)))) == [["2027-01-15"]]


def test_nothing_is_delivered_before_anyone_can_have_it() -> None:
    world = one(purchase(lead_weeks=[1, 2]), platforms=[platform(available_from="2027-03-01")])
    assert days(options(world)) == [["2027-03-01"]]


def test_lots_have_their_own_weeks_days_or_date_and_count_instead_of_the_lead_time() -> None:
    lots = [{"units": 4, "weeks": 3}, {"units": 4, "days": 30}, {"units": "rest", "date": "2027-06-01"}]
    world = one(purchase(lead_weeks=[40, 50], lots=lots))
    assert days(options(world)) == [["2027-01-22", "2027-01-31", "2027-06-01"]]
    assert [lot.units for lot in options(world)[0].lots] == [4, 4, None]


def test_a_lot_dated_before_the_order_comes_on_the_order_date() -> None:
    world = one(purchase(lots=[{"units": "rest", "date": "2027-01-05"}]), earliest_order="2027-02-01")
    assert days(options(world)) == [["2027-02-01"]]


def test_acceptance_and_the_delays_of_matching_costs_come_before_readiness() -> None:
    port = {"name": "port", "per": "platform", "amount": 1, "every": "once", "delay_days": 60}
    other = port | {"name": "other", "types": ["lease"], "delay_days": 500}
    world = one(purchase(acceptance_days=21), costs=[port, other])
    assert ready(options(world)) == [["2027-03-23"]]  # 81 days after 2027-01-01


def test_an_offer_goes_to_every_site_it_may_go_to() -> None:
    sites = {"hall": site(), "annex": site(), "far": site()}
    world = one(purchase(sites=["hall", "annex"]), sites=sites)
    assert sorted(option.place for option in options(world)) == ["annex", "hall"]


def test_the_end_of_a_lease_is_the_day_before_the_same_day_months_later() -> None:
    (found,) = options(one(lease(1, 3, lead_weeks=[0, 4])))
    assert (found.lots[0].delivery.isoformat(), found.end.isoformat()) == ("2027-01-29", "2027-04-28")


def test_bought_hardware_has_no_end() -> None:
    assert options(one(purchase()))[0].end is None


STEPS = [{"from": "2027-02-01", "kw": 20}, {"from": "2027-04-01", "kw": 10}, {"from": "2027-06-01", "kw": 90}]


def test_delivery_may_wait_for_every_later_rise_of_power() -> None:
    """In stock, or on 02-01 and 06-01; nothing waits for the fall on 04-01."""
    world = one(purchase(), sites={"hall": site(power=STEPS)})
    assert days(options(world)) == [["2027-01-01"], ["2027-02-01"], ["2027-06-01"]]


def test_only_rises_after_the_delivery_count() -> None:
    world = one(purchase(lots=[{"units": "rest", "date": "2027-02-01"}]), sites={"hall": site(power=STEPS)})
    assert days(options(world)) == [["2027-02-01"], ["2027-06-01"]]


def test_a_postponed_order_moves_each_lot_that_would_come_earlier() -> None:
    lots = [
        {"units": 4, "date": "2027-01-10"},
        {"units": 4, "date": "2027-03-01"},
        {"units": "rest", "date": "2027-07-01"},
    ]
    world = one(purchase(lots=lots, acceptance_days=5), sites={"hall": site(power=STEPS)})
    assert days(options(world)) == [
        ["2027-01-10", "2027-03-01", "2027-07-01"],
        ["2027-02-01", "2027-03-01", "2027-07-01"],
        ["2027-06-01", "2027-06-01", "2027-07-01"],
    ]
    assert ready(options(world))[1] == ["2027-02-06", "2027-03-06", "2027-07-06"]


def test_a_postponed_lease_ends_later() -> None:
    world = one(lease(1, 3), sites={"hall": site(power=STEPS)})
    assert [option.end.isoformat() for option in options(world)] == ["2027-03-31", "2027-04-30", "2027-08-31"]


def test_what_comes_on_the_horizon_day_is_not_counted() -> None:
    assert options(one(purchase(lots=[{"units": "rest", "date": "2028-01-01"}]))) == []
    assert days(options(one(purchase(lots=[{"units": "rest", "date": "2027-12-31"}])))) == [["2027-12-31"]]


RELEASE = workload(stated(2, 30), release="2027-03-01")


def test_a_reserved_term_starts_at_once_or_in_time_for_a_run() -> None:
    """Earliest 01-15 (two weeks), or 7 days of acceptance before the release on 03-01."""
    world = one(reserved(10, 3, lead_weeks=[1, 2], acceptance_days=7), workloads=RELEASE)
    found = options(world)
    assert days(found) == [["2027-01-15"], ["2027-02-22"]]
    assert ready(found) == [["2027-01-22"], ["2027-03-01"]]
    assert [option.end.isoformat() for option in found] == ["2027-04-14", "2027-05-21"]


def test_a_start_window_clips_the_wanted_day() -> None:
    window = {"start": ["2027-01-15", "2027-02-10"], "acceptance_days": 7}
    assert days(options(one(reserved(10, 3, **window), workloads=RELEASE))) == [["2027-01-15"], ["2027-02-10"]]


def test_an_hourly_rental_starts_for_its_run_or_not_at_all() -> None:
    assert days(options(one(hourly(10, acceptance_days=7), workloads=RELEASE))) == [["2027-02-22"]]
    window = {"start": ["2027-01-15", "2027-02-10"], "acceptance_days": 7}
    assert days(options(one(hourly(10, **window), workloads=RELEASE))) == []


def test_rentals_of_one_vendor_and_region_may_wait_for_each_other() -> None:
    """The hourly offer may start on 04-01, when the reserved one of its pool becomes ready."""
    offers = {"node": hourly(10), "term": reserved(10, 6, start=["2027-04-01", "2027-04-01"])}
    world = frame(quote(offers), workloads=RELEASE)
    assert days(options(world)) == [["2027-03-01"], ["2027-04-01"]]


def test_a_rental_is_placed_at_its_vendor_and_region() -> None:
    world = frame(
        quote({"a": reserved(10, 6)}),
        quote({"b": hourly(10)}, "other"),
        quote({"c": hourly(10)}, "third", vendor="Best"),
    )
    assert [pool.name for pool in problem(world).pools] == ["box@Acme/eu", "box@Best/eu"]
    assert {option.site for option in problem(world).options} == {None}


def test_vendors_at_our_site_join_one_pool_and_owned_nodes_too() -> None:
    world = frame(
        quote({"a": purchase()}),
        quote({"b": lease(10, 6)}, "other", vendor="Best"),
        owned=[{"platform": "box", "nodes": 3, "site": "hall"}],
    )
    (pool,) = problem(world).pools
    assert (pool.name, pool.owned_nodes) == ("box@hall", 3)
    assert [option.name for option in pool.options] == ["b", "a"]


def test_an_option_knows_what_one_unit_holds_and_where_its_price_stands() -> None:
    (found,) = options(one(purchase(per="accelerator")))
    assert found.rank_in_unit == (1, 8)
    assert found.source == "quote q, offer node"
    assert found.key == ("q", "node", "hall", day("2027-01-01"))
