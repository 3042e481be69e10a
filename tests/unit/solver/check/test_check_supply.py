"""Nodes of a run: spares, lots that count, contracts, several runs at a time; racks of several platforms."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest
from scipy.stats import binom

from optimizer.schema.platform import Platform
from optimizer.schema.scenario import Reliability, Zone
from optimizer.solver.check.racks import Fit, excess, fit
from optimizer.solver.check.supply import spares, supply_breaches


@pytest.mark.parametrize("nodes", [1, 9, 60, 147, 1000])
@pytest.mark.parametrize("confidence", [0, 0.5, 0.9, 0.95, 0.999])
def test_spares_are_the_smallest_number_that_suffices(nodes: int, confidence: float) -> None:
    k = spares(nodes, Reliability.model_validate({"spare_confidence": confidence}))
    q = 0.009 / 1.009  # 3 failures per 1,000 days x 3 days away
    assert binom.cdf(k, nodes + k, q) >= confidence
    assert k == 0 or binom.cdf(k - 1, nodes + k - 1, q) < confidence


def test_spares_by_hand() -> None:
    """9 nodes all work 0.9225 of the time; of 10, at least 9 do 0.9967."""
    assert spares(9, Reliability.model_validate({"spare_confidence": 0.9225})) == 0
    assert spares(9, Reliability.model_validate({"spare_confidence": 0.9226})) == 1
    assert spares(9, Reliability.model_validate({"node_failures_per_1000_days": 0})) == 0


def short(world: Any) -> list[str]:
    """Return the breaches of supply as sentences."""
    return [str(breach) for breach in supply_breaches(world.case())]


def test_lots_count_when_ready(purchase: Any) -> None:
    assert short(purchase) == []
    purchase.runs[0]["start"] = "2027-03-14"
    assert short(purchase) == [
        "delivery of train in box@hall: the plan has 6 nodes that count, the check finds 10 nodes needed."
    ]
    purchase.runs[0]["nodes"] = 6
    assert short(purchase) == []
    purchase.runs[0]["start"] = "2027-02-14"
    assert "0 nodes that count" in short(purchase)[0]
    purchase.runs[0]["nodes"] = 11
    assert short(purchase)[1].startswith("supply of train")
    assert short(purchase)[0].startswith("fabric of train on q1/node: the plan has 11 nodes, the check finds 10 nodes")


def test_engine_runs_need_spares_at_our_sites(purchase: Any) -> None:
    purchase.scenario["workloads"]["train"] = {
        "architecture": "tiny", "tokens": 1e9, "sequence_length": 1000, "global_batch_tokens": 1e6, "extra_compute": 0,
    }  # fmt: skip
    assert "10 nodes that count, the check finds 11 nodes needed" in short(purchase)[0]
    purchase.runs[0]["nodes"] = 9
    assert short(purchase) == []


def test_owned_nodes_count_from_today(purchase: Any) -> None:
    purchase.scenario["owned"] = [{"platform": "box", "nodes": 4, "site": "hall"}]
    purchase.runs[0]["start"] = "2027-02-15"
    assert short(purchase) == []
    purchase.runs[0]["start"] = "2027-02-14"
    assert "4 nodes that count" in short(purchase)[0]


@pytest.mark.parametrize(("end", "counts"), [("2027-04-13", True), ("2027-04-12", False)])
def test_a_contract_covers_all_days_of_the_run(purchase: Any, end: str, counts: bool) -> None:
    purchase.offers(type="lease", price_per_month=1, term_months=1, lead_weeks="stock")
    purchase.awards[0] |= {"type": "lease", "delivery_date": "2027-01-01", "contract_end": end}
    purchase.runs[0]["start"] = "2027-01-10"
    assert (short(purchase) == []) == counts


def test_runs_at_the_same_time_need_their_nodes_each(purchase: Any) -> None:
    """6 and 4 of the 10 nodes: together they fit, 7 and 4 do not, one after the other they do."""
    mode = purchase.scenario["workloads"]["train"]
    purchase.scenario["workloads"] |= {"second": mode}
    purchase.runs[0]["nodes"] = 6
    purchase.run(name="second", nodes=4)
    assert short(purchase) == []
    purchase.runs[0]["nodes"] = 7
    assert short(purchase) == [
        "supply of train, second in box@hall: the plan has 10 nodes that count, the check finds 11 nodes needed."
    ]
    purchase.runs[1] |= {"start": "2027-04-14", "end": "2027-05-13"}
    assert short(purchase) == []


def test_lots_that_count_for_one_of_two_runs(purchase: Any) -> None:
    """The second lot is ready on 03-15: a run of 6 that started before leaves 4 for the next one."""
    mode = purchase.scenario["workloads"]["train"]
    purchase.scenario["workloads"] |= {"second": mode}
    purchase.runs[0] |= {"start": "2027-02-15", "nodes": 6}
    purchase.run(name="second", nodes=4)
    assert short(purchase) == []
    purchase.runs[1]["nodes"] = 5
    assert len(short(purchase)) == 1


def platform(**values: Any) -> Platform:
    """Return a platform of 10 kW and 8 rack units for air and liquid, with changes."""
    data = {
        "id": "p", "vendor": "v", "accelerators_per_node": 8, "acquisition": ["purchase"],
        "node_power_kw": {"provisioned": 10}, "space": {"rack_units": 8, "cooling": ["air", "liquid"]},
    }  # fmt: skip
    return Platform.model_validate(data | values)


RACK = {"accelerators_per_node": 4, "nodes_per_rack": 18, "purchase_unit": "rack", "id": "r",
        "node_power_kw": {"provisioned": 7}}  # fmt: skip


def zone(racks: int, kw: float, cooling: str = "air") -> Zone:
    """Return a zone."""
    return Zone.model_validate({"racks": racks, "kw_per_rack": kw, "cooling": cooling})


@pytest.mark.parametrize(
    ("hardware", "place", "units", "positions", "limit"),
    [
        ({}, zone(1, 45), 4, 1, ""),  # floor(45 / 10)
        ({}, zone(1, 90), 5, 1, ""),  # floor(42 / 8)
        ({"space": {"rack_units": 8, "units_per_rack_max": 3, "cooling": ["air"]}}, zone(1, 90), 3, 1, ""),
        ({}, zone(1, 9), 0, 1, "rack_power"),
        ({"space": {"rack_units": 8, "cooling": ["liquid"]}}, zone(1, 90), 0, 1, "cooling"),
        # 18 x 7 = 126 kW in one or two positions
        (RACK | {"space": {"racks": 1, "cooling": ["liquid"]}}, zone(1, 126, "liquid"), 1, 1, ""),
        (RACK | {"space": {"racks": 1, "cooling": ["liquid"]}}, zone(1, 125, "liquid"), 0, 1, "rack_power"),
        (RACK | {"space": {"racks": 1.5, "cooling": ["liquid"]}}, zone(1, 63, "liquid"), 1, 2, ""),
    ],
)
def test_units_of_a_rack(hardware: Any, place: Zone, units: int, positions: int, limit: str) -> None:
    found = fit(platform(**hardware), place)
    assert (found.units, found.positions, found.limit) == (units, positions, limit)


ZONES = {"air": zone(3, 45), "liquid": zone(2, 140, "liquid")}
AIR_ONLY = platform(id="a", space={"rack_units": 8, "cooling": ["air"]})
BOTH = platform()
WIDE = platform(**(RACK | {"space": {"racks": 2, "cooling": ["liquid"]}}))


@pytest.mark.parametrize(
    ("units", "limit"),
    [
        ([(BOTH, 22)], ""),  # 3 x 4 + 2 x 5
        ([(BOTH, 23)], "racks"),
        ([(AIR_ONLY, 12)], ""),
        ([(AIR_ONLY, 13)], "racks"),
        # the air-only units take two racks, the others one air and two liquid ones
        ([(BOTH, 14), (AIR_ONLY, 8)], ""),
        ([(BOTH, 14), (AIR_ONLY, 9)], "racks"),
        ([(BOTH, 15), (AIR_ONLY, 8)], "racks"),
        # a double-wide rack takes both liquid positions
        ([(WIDE, 1), (AIR_ONLY, 8), (BOTH, 4)], ""),
        ([(WIDE, 1), (AIR_ONLY, 8), (BOTH, 5)], "racks"),
        ([(WIDE, 2)], "racks"),
        ([], ""),
    ],
)
def test_racks_of_several_zones(units: list[tuple[Platform, int]], limit: str) -> None:
    assert excess(units, ZONES) == limit


def test_no_zone_for_the_platform() -> None:
    assert excess([(WIDE, 1)], {"air": zone(9, 200)}) == "cooling"
    assert excess([(WIDE, 1)], {"air": zone(9, 200), "liquid": zone(9, 62, "liquid")}) == "rack_power"


def test_a_large_hall_is_searched_quickly() -> None:
    """180 racks of 4 units in three zones hold 230 + 230 + 256 units in 58 + 58 + 64 racks, and no 257th."""
    zones = {name: zone(60, 45, cooling) for name, cooling in (("a", "air"), ("b", "liquid"), ("c", "air"))}
    mixed = [(platform(id=name), 230) for name in "xy"]
    assert excess([*mixed, (BOTH, 256)], zones) == ""
    assert excess([*mixed, (BOTH, 257)], zones) == "racks"


@pytest.mark.parametrize(("units", "limit"), [(51, ""), (52, "racks")])
def test_three_zones_that_differ(units: int, limit: str) -> None:
    """By hand: racks of 4, 2 and 1 units; the 7-kW units, liquid only, take 51 = 3 x 17 of the first 20 racks of 3."""
    zones = {"a": zone(17, 21, "liquid"), "b": zone(10, 20), "c": zone(10, 10)}
    liquid = platform(id="l", node_power_kw={"provisioned": 7}, space={"rack_units": 8, "cooling": ["liquid"]})
    assert excess([(liquid, units), (AIR_ONLY, 30)], zones) == limit


def fits_by_trying_all(needs: list[tuple[int, list[Fit]]], racks: tuple[int, ...]) -> bool:
    """Give every number of racks of every zone to the first platform, then the same for the others."""
    if not needs:
        return True
    count, fits = needs[0]
    for given in product(*(range(most + 1) for most in racks)):
        placed = sum(each.units * (some // each.positions) for each, some in zip(fits, given, strict=True))
        left = tuple(most - some for most, some in zip(racks, given, strict=True))
        if placed >= count and fits_by_trying_all(needs[1:], left):
            return True
    return False


def test_search_equals_trying_all() -> None:
    random = Random(7)  # noqa: S311 - a repeatable sample, no secret
    seen = {"": 0, "racks": 0}
    for _ in range(300):
        zones = {
            name: zone(random.randint(0, 3), random.choice([20, 35, 63, 126]), random.choice(["air", "liquid"]))
            for name in "abc"
        }
        hardware = [(made, random.randint(1, 6)) for made in random.sample([AIR_ONLY, BOTH, WIDE], 2)]
        expected = fits_by_trying_all(
            [(count, [fit(made, each) for each in zones.values()]) for made, count in hardware],
            tuple(each.racks for each in zones.values()),
        )
        limit = excess(hardware, zones)
        assert (limit == "") == expected, (hardware, zones)
        seen[limit] = seen.get(limit, 0) + 1
    assert min(seen.values()) > 10
