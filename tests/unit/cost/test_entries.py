"""The scenario's ``costs`` entries: which awards match, how they are counted, when they are paid."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from optimizer.cost.entries import delay_days, extra_kw_per_unit
from optimizer.cost.frame import Frame
from tests.unit.cost.world import (
    cash,
    frame,
    hourly,
    lease,
    lines,
    option,
    platform,
    priced,
    purchase,
    quote,
    reserved,
    run,
    site,
)

OFFERS = {
    "buy": purchase(1000),
    "other": purchase(1000, platform="other"),
    "lease": lease(1000, 3),
    "term": reserved(10, 3),
    "hours": hourly(10),
}
BOTH = [platform(), platform("other", accelerators_per_node=4)]


def entry(per: str, amount: Any, every: str = "once", **terms: Any) -> dict[str, Any]:
    return {"name": "x", "per": per, "amount": amount, "every": every} | terms


def world(*entries: dict[str, Any], **changes: Any) -> Frame:
    return frame(quote(OFFERS), platforms=BOTH, costs=list(entries), **changes)


def paid(scene: Frame, *awards: tuple[str, str, int], **terms: Any) -> dict[str, Any]:
    """Return what the entry costs by day for awards (offer, delivery, units)."""
    taken = [(option(scene, when, key=("q", name)), units) for name, when, units in awards]
    return cash(priced(scene, taken, **terms), "cost:x")


@pytest.mark.parametrize(("per", "amount"), [("accelerator", 1600), ("node", 200), ("unit", 200)])
def test_counted_entries_multiply_pieces(per: str, amount: int) -> None:
    assert paid(world(entry(per, 100)), ("buy", "2027-02-01", 2)) == {"2027-02-01": amount}


def test_a_rack_counts_once_as_unit_and_with_all_nodes_and_accelerators() -> None:
    rack = platform(accelerators_per_node=4, nodes_per_rack=18, purchase_unit="rack")
    found = {}
    for per in ("accelerator", "node", "unit"):
        scene = frame(quote({"buy": purchase(1000, per="rack")}), platforms=[rack], costs=[entry(per, 1)])
        found[per] = sum(paid(scene, ("buy", "2027-02-01", 2)).values())
    assert found == {"accelerator": 144, "node": 36, "unit": 2}


def test_a_table_is_read_at_the_count_of_all_matching_awards() -> None:
    """10 boxes and 5 others are 100 accelerators: the row from 100 on holds for all of them."""
    scene = world(entry("accelerator", {1: 50, 100: 40}))
    awards = [("buy", "2027-02-01", 10), ("other", "2027-03-01", 5)]
    assert paid(scene, *awards) == {"2027-02-01": 3200, "2027-03-01": 800}
    assert paid(scene, awards[0], ("other", "2027-03-01", 4)) == {"2027-02-01": 4000, "2027-03-01": 800}


def test_a_table_of_a_cluster_entry_is_read_at_accelerators_and_paid_once_on_the_first_delivery() -> None:
    scene = world(entry("cluster", {1: 5000, 100: 8000}))
    assert paid(scene, ("buy", "2027-03-01", 12), ("other", "2027-02-01", 1)) == {"2027-02-01": 8000}
    assert paid(scene, ("buy", "2027-03-01", 12)) == {"2027-03-01": 5000}


def test_each_platform_is_counted_and_paid_by_itself() -> None:
    scene = world(entry("platform", {1: 5000, 64: 8000}))
    found = paid(scene, ("buy", "2027-03-01", 8), ("other", "2027-02-01", 8))
    assert found == {"2027-02-01": 5000, "2027-03-01": 8000}


def test_only_matching_types_and_platforms_count() -> None:
    """64 accelerators are bought; 4 on the other platform and 8 leased do not count for the table."""
    scene = world(entry("accelerator", {1: 10, 65: 1}, types=["purchase"], platforms=["box"]))
    awards = [("buy", "2027-02-01", 8), ("other", "2027-02-01", 1), ("lease", "2027-02-01", 1)]
    assert paid(scene, *awards) == {"2027-02-01": 640}


def test_without_a_match_nothing_is_paid() -> None:
    for per in ("cluster", "platform", "accelerator", "run"):
        assert paid(world(entry(per, 100, types=["reserved"])), ("buy", "2027-02-01", 2)) == {}


def test_owned_nodes_never_match() -> None:
    scene = world(entry("cluster", 100), owned=[{"platform": "box", "nodes": 4, "site": "hall"}])
    assert paid(scene) == {}


def test_each_lot_pays_once_on_its_own_delivery() -> None:
    scene = world(entry("node", 100))
    bought = option(scene, key=("q", "buy"), lots=[(5, "2027-03-01"), (None, "2027-05-01")])
    assert cash(priced(scene, [(bought, 7)]), "cost:x") == {"2027-03-01": 500, "2027-05-01": 200}


def test_a_monthly_entry_is_paid_at_month_ends_for_the_days_covered() -> None:
    """3 nodes at 30 a month from 11-21: 10 of 30 days, then December."""
    found = paid(world(entry("node", 30, "month")), ("buy", "2027-11-21", 3))
    assert found == {"2027-11-30": 30, "2027-12-31": 90}


def test_a_year_is_twelve_months() -> None:
    found = paid(world(entry("cluster", 12_000, "year")), ("buy", "2027-01-01", 3))
    assert len(found) == 12
    assert set(found.values()) == {1000}


def test_an_entry_of_a_lease_ends_with_the_lease() -> None:
    """3 months from 02-01: to 04-30."""
    found = paid(world(entry("node", 30, "month")), ("lease", "2027-02-01", 1))
    assert found == {"2027-02-28": 30, "2027-03-31": 30, "2027-04-30": 30}


def test_a_cluster_entry_runs_from_the_first_delivery_to_the_last_day_of_any_match() -> None:
    """Lease to 04-30, term from 06-01 to 08-31: seven months, the month between included."""
    scene = world(entry("cluster", 100, "month"))
    assert list(paid(scene, ("lease", "2027-02-01", 1), ("term", "2027-06-01", 1))) == [
        "2027-02-28", "2027-03-31", "2027-04-30", "2027-05-31", "2027-06-30", "2027-07-31", "2027-08-31",
    ]  # fmt: skip


def test_rented_hours_pay_a_monthly_entry_for_their_run() -> None:
    scene = world(entry("node", 31, "month"))
    rented = option(scene, "2027-01-02", key=("q", "hours"), end="2027-01-31")
    assert cash(priced(scene, [(rented, 2)], run(scene, "2027-01-02", at=rented)), "cost:x") == {"2027-01-31": 60}


def test_a_run_entry_is_paid_on_the_first_day_of_the_run() -> None:
    scene = world(entry("run", {1: 700, 17: 900}))
    assert paid(scene, ("buy", "2027-01-01", 2)) == {"2027-01-01": 700}
    bought = option(scene, key=("q", "buy"))
    assert cash(priced(scene, [(bought, 3)], run(scene, "2027-04-01")), "cost:x") == {"2027-04-01": 900}


def test_a_run_in_a_pool_without_a_matching_award_does_not_pay() -> None:
    scene = world(entry("run", 700, types=["purchase"]))
    bought, rented = option(scene, key=("q", "buy")), option(scene, key=("q", "term"))
    assert cash(priced(scene, [(bought, 1), (rented, 2)], run(scene, at=rented)), "cost:x") == {}


def test_amounts_may_be_in_another_currency() -> None:
    rates = {"date": "2026-11-27", "base": "USD", "rates": {"EUR": 1.25}}
    scene = world(entry("node", {1: "100 EUR", 3: 90}), fx=rates)
    assert paid(scene, ("buy", "2027-02-01", 2)) == {"2027-02-01": 250}
    assert paid(scene, ("buy", "2027-02-01", 3)) == {"2027-02-01": 270}


def test_the_power_of_a_counted_entry_pays_hall_and_energy() -> None:
    """2 boxes with 0.1 kW per accelerator: 21.6 kW x 100; idle 2 x (2 + 0.8) kW x 24 h x 31 days x 1."""
    scene = world(
        entry("accelerator", 0.01, kw=0.1),
        sites={"hall": site(electricity={"per_kwh": 1}, pue=1, colocation={"per_kw_month": 100})},
    )
    bought = option(scene, "2027-12-01", key=("q", "buy"))
    found = lines(priced(scene, [(bought, 2)], run(scene, "2027-12-01", nodes=0)))
    assert found["colocation"] == 2160
    assert found["energy"] == Decimal("4166.40")
    assert extra_kw_per_unit(scene, bought) * 10 == 8


@pytest.mark.parametrize(("per", "kw"), [("cluster", 3), ("platform", 6)])
def test_the_power_of_a_shared_entry_counts_once_at_its_site_or_once_per_platform(per: str, kw: int) -> None:
    scene = world(
        entry(per, 0.01, kw=3),
        sites={"hall": site(electricity={"per_kwh": 1}, pue=1, colocation={"per_kw_month": 100})},
    )
    bare = world(sites={"hall": site(electricity={"per_kwh": 1}, pue=1, colocation={"per_kw_month": 100})})
    awards = [("buy", "2027-12-01", 2), ("other", "2027-12-01", 2)]
    totals = []
    for one in (scene, bare):
        taken = [(option(one, when, key=("q", name)), units) for name, when, units in awards]
        totals.append(lines(priced(one, taken, run(one, "2027-12-01", nodes=0))))
    assert totals[0]["colocation"] - totals[1]["colocation"] == kw * 100
    assert totals[0]["energy"] - totals[1]["energy"] == kw * 24 * 31


def test_a_shared_entry_draws_power_at_each_site_that_has_a_match() -> None:
    hall = site(colocation={"per_kw_month": 100})
    scene = frame(
        quote({"buy": purchase(1, sites=["hall"]), "annex": purchase(1, sites=["annex"])}),
        sites={"hall": hall, "annex": hall},
        costs=[entry("cluster", 0.01, kw=3)],
    )
    here = option(scene, "2027-12-01", key=("q", "buy"))
    there = option(scene, "2027-12-01", key=("q", "annex"), at="annex")
    found = lines(priced(scene, [(here, 1), (there, 1)], run(scene, "2027-12-01")))
    assert found["colocation"] == 2 * (1000 + 300)


def test_delays_of_all_matching_entries_add_up() -> None:
    scene = world(
        entry("platform", 1, platforms=["other"], delay_days=60), entry("node", 1, types=["purchase"], delay_days=5)
    )
    offers = scene.quotes["q"].offers
    box, other = scene.platforms["box"], scene.platforms["other"]
    assert delay_days(scene, offers["other"], other) == 65
    assert delay_days(scene, offers["buy"], box) == 5
    assert delay_days(scene, offers["term"], box) == 0
