"""Each limit holds at its exact value and is broken one step beyond it."""

from __future__ import annotations

from typing import Any

import pytest

from optimizer.errors import InputError
from optimizer.solver.check import check

Patch = dict[str, Any]
HALL = "scenario.sites.hall."
OFFER = "quotes.q1.offers.node."
AIR = {"racks": 2, "kw_per_rack": 50, "cooling": "air"}
"""Two racks of five 10-kW units of 8 rack units each."""

CASES: list[tuple[str, Patch, set[str]]] = [
    ("platform denied", {"scenario.policy.platforms": {"deny": ["box"]}}, {"policy"}),
    ("platform not in the list", {"scenario.policy.platforms": {"allow": ["cube"]}}, {"policy"}),
    ("platform denied to the run", {"scenario.workloads.train.platforms": {"deny": ["box"]}}, {"policy"}),
    ("vendor denied", {"scenario.policy.vendors": {"deny": ["Acme"]}}, {"policy"}),
    ("no second source", {"scenario.policy.vendors": {"second_source_share": 0.01}}, {"second_source"}),
    ("expired", {"quotes.q1.valid_until": "2026-12-31"}, {"expired"}),
    ("expired, allowed",
     {"quotes.q1.valid_until": "2026-12-31", "scenario.policy.allow_expired_quotes": True}, set()),
    ("undated", {"quotes.q1.valid_until": None}, set()),
    ("undated, not allowed",
     {"quotes.q1.valid_until": None, "scenario.policy.allow_budgetary_quotes": False}, {"policy"}),
    ("list, not allowed", {"quotes.q1.kind": "list", "scenario.policy.allow_budgetary_quotes": False}, {"policy"}),
    ("licence", {"platforms.box.licence_excludes_datacentre": True}, {"licence"}),
    ("licence, allowed",
     {"platforms.box.licence_excludes_datacentre": True, "scenario.policy.allow_excluded_licence": True}, set()),
    ("ineligible", {"platforms.box.ineligible": "no link figures"}, {"specification"}),
    ("maximum", {OFFER + "units": {"max": 10}}, set()),
    ("above the maximum", {OFFER + "units": {"max": 9}}, {"supply"}),
    ("minimum", {OFFER + "units": {"min": 10}}, set()),
    ("below the minimum", {OFFER + "units": {"min": 11}}, {"minimum_order"}),
    ("step", {OFFER + "units": {"step": 5}}, set()),
    ("off the step", {OFFER + "units": {"step": 4}}, {"minimum_order"}),
    ("fabric", {OFFER + "fabric_max_units": 9}, {"fabric"}),
    ("other site", {OFFER + "sites": ["other"]}, {"region"}),
    ("budget", {"scenario.budget": {"total": 1426781.60}}, set()),
    ("above the budget", {"scenario.budget": {"total": 1426781.59}}, {"budget"}),
    ("years", {"scenario.budget": {"by_fiscal_year": {"2026/27": 1252661.60, "2027/28": 174120}}}, set()),
    ("above the first year", {"scenario.budget": {"by_fiscal_year": {"2026/27": 1252661.59}}}, {"budget_year"}),
    ("above the second year", {"scenario.budget": {"by_fiscal_year": {"2027/28": 174119.99}}}, {"budget_year"}),
    ("power", {HALL + "power": [{"from": "2027-02-01", "kw": 62.4}, {"from": "2027-03-01", "kw": 104}]}, set()),
    ("less power", {HALL + "power": [{"from": "2027-02-01", "kw": 103.9}]}, {"power"}),
    ("power a day late", {HALL + "power": [{"from": "2027-02-02", "kw": 104}]}, {"power"}),
    ("power falls",
     {HALL + "power": [{"from": "2027-02-01", "kw": 104}, {"from": "2027-12-31", "kw": 100}]}, {"power"}),
    ("power falls at the horizon",
     {HALL + "power": [{"from": "2027-02-01", "kw": 104}, {"from": "2028-01-01", "kw": 0}]}, set()),
    ("racks", {HALL + "zones": {"a": AIR}}, set()),
    ("one rack less", {HALL + "zones": {"a": AIR | {"racks": 1}}}, {"racks"}),
    ("four units a rack", {HALL + "zones": {"a": AIR | {"kw_per_rack": 49.9}}}, {"racks"}),
    ("no unit a rack", {HALL + "zones": {"a": AIR | {"kw_per_rack": 9.9}}}, {"rack_power"}),
    ("liquid only", {HALL + "zones": {"a": AIR | {"cooling": "liquid"}}}, {"cooling"}),
    ("unknown space", {HALL + "zones": {"a": AIR}, "platforms.box.space": {"cooling": ["air"]}}, {"specification"}),
    ("unknown space without zones", {"platforms.box.space": {}}, set()),
    ("unknown power", {"platforms.box.node_power_kw": {"training": 8, "idle": 2}}, {"specification"}),
    ("deadline", {"scenario.workloads.train.deadline": "2027-04-13"}, set()),
    ("after the deadline", {"scenario.workloads.train.deadline": "2027-04-12"}, {"deadline"}),
    ("margin", {"scenario.workloads.train.deadline": "2027-04-23",
                "scenario.workloads.train.deadline_margin_days": 10}, set()),
    ("margin too long", {"scenario.workloads.train.deadline": "2027-04-23",
                         "scenario.workloads.train.deadline_margin_days": 11}, {"deadline"}),
    ("release", {"scenario.workloads.train.release": "2027-03-15"}, set()),
    ("before the release", {"scenario.workloads.train.release": "2027-03-16"}, {"release"}),
    ("other mode", {"scenario.workloads.train.modes":
                    [{"platform": "box", "nodes": 10, "days": 31, "source": "pilot"}]}, {"mode"}),
    ("available", {"platforms.box.available_from": "2027-02-01"}, set()),
    ("signed", {"scenario.fix": [{"quote": "q1", "offer": "node", "units": 10}]}, set()),
    ("more signed", {"scenario.fix": [{"quote": "q1", "offer": "node", "units": 12}]}, {"minimum_order"}),
    ("signed and expired", {"scenario.fix": [{"quote": "q1", "offer": "node", "units": 10}],
                            "quotes.q1.valid_until": "2026-12-31"}, set()),
    ("price on request", {OFFER + "price": "on_request"}, {"price"}),
    ("incremental tiers with lots", {OFFER + "price": {"incremental": {1: 100_000}}}, {"price"}),
    ("line without a bid", {OFFER + "lines": [{"item": "support", "per": "node", "price": "no_bid"}]}, {"price"}),
]  # fmt: skip


def apply(world: Any, patch: Patch) -> None:
    """Set values by dotted paths."""
    for path, value in patch.items():
        head, *middle, last = path.split(".")
        node = getattr(world, head)
        for key in middle:
            node = node.setdefault(key, {})
        node[last] = value


@pytest.mark.parametrize(("patch", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_limit(purchase: Any, ledgers: Any, patch: Patch, expected: set[str]) -> None:
    apply(purchase, patch)
    found = check(purchase.plan(ledgers), purchase.facts())
    assert {breach.limit_or_number for breach in found} == expected, [str(breach) for breach in found]


def test_platform_not_available_yet(purchase: Any, ledgers: Any) -> None:
    apply(purchase, {"platforms.box.available_from": "2027-03-02"})
    found = [str(breach) for breach in check(purchase.plan(ledgers), purchase.facts())]
    assert "delivery of q1/node: the plan has 2027-03-01, the check finds 2027-03-02." in found


def test_missing_rate_is_bad_input(purchase: Any, ledgers: Any) -> None:
    apply(purchase, {"quotes.q1.currency": "EUR"})
    with pytest.raises(InputError, match="no rate for EUR"):
        check(purchase.plan(ledgers), purchase.facts())


def test_awards_are_made_where_runs_are(purchase: Any, ledgers: Any) -> None:
    purchase.scenario["sites"]["barn"] = purchase.scenario["sites"]["hall"]
    purchase.awards[0]["place"] = "barn"
    found = {breach.limit_or_number for breach in check(purchase.plan(ledgers), purchase.facts())}
    assert {"pool", "supply"} <= found
    purchase.scenario["objective"] = "capacity"
    assert "pool" not in {breach.limit_or_number for breach in check(purchase.plan(ledgers), purchase.facts())}


def test_vendors_are_counted(purchase: Any, ledgers: Any) -> None:
    second = {**purchase.quotes["q1"], "quote": "q2", "vendor": "Best"}
    purchase.quotes["q2"] = second
    purchase.award(quote="q2", vendor="Best", units=4)
    apply(purchase, {"scenario.policy.vendors": {"max": 1, "second_source_share": 0.3}})
    found = {str(breach) for breach in check(purchase.plan(ledgers), purchase.facts())}
    assert "vendors of Acme, Best: the plan has 2 vendors, the check finds at most 1." in found
    # 112 accelerators: 32 outside Acme are less than 33.6
    assert "second_source of Acme: the plan has 32 accelerators of others, the check finds 33.6." in found


def test_postponed_delivery_is_read_from_the_cash(purchase: Any, ledgers: Any) -> None:
    """The first lot waits for power on 02-10; the award states the last lot, which does not move."""
    apply(purchase, {HALL + "power": [{"from": "2027-02-10", "kw": 104}]})
    assert "power" in {breach.limit_or_number for breach in check(purchase.plan(ledgers), purchase.facts())}
    moved = {policy: list(map(_nine_days_later, entries)) for policy, entries in ledgers.items()}
    assert check(purchase.plan(moved), purchase.facts()) == ()


def _nine_days_later(entry: tuple[str, str, str]) -> tuple[str, str, str]:
    """Move the first lot from 02-01 to 02-10, hence ready on 02-24 and its last tenth paid on 03-26."""
    day, item, amount = entry
    if item == "residual":
        # 600,000 x 0.9^(10 22/31) + 400,000 x 0.9^10; sold: 600,000 x 0.9^(2 4/30) + 400,000 x 0.9^(1 13/30)
        return day, item, "-333606.128798" if day == "2028-01-01" else "-823153.692710"
    if day == "2027-02-28":
        return day, item, str(float(amount) * 19 / 28)
    return {"2027-02-01": "2027-02-10", "2027-03-17": "2027-03-26"}.get(day, day), item, amount


@pytest.mark.parametrize("day", ["2027-03-01", "2027-03-05", "2027-04-01"])
def test_an_award_waits_only_for_power(purchase: Any, ledgers: Any, day: str) -> None:
    apply(purchase, {HALL + "power": [{"from": "2027-02-01", "kw": 104}, {"from": "2027-04-01", "kw": 200}]})
    purchase.awards[0]["delivery_date"] = day
    found = check(purchase.plan(ledgers), purchase.facts())
    late = [breach.computed for breach in found if breach.limit_or_number == "delivery" and "q1" in breach.where]
    assert late == ([] if day != "2027-03-05" else ["2027-03-01 or 2027-04-01"])
