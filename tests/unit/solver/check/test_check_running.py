"""Operating cost: ``costs`` entries, colocation, energy, residual and use, one rule at a time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pytest

from optimizer.solver.check.after import residual_payments, use_payments
from optimizer.solver.check.costs import cost_payments
from optimizer.solver.check.hall import colocation_payments, draws, energy_payments
from optimizer.solver.check.payments import Payment
from optimizer.solver.check.site import site_breaches
from optimizer.units import round_money

STOP = dt.date(2027, 4, 13)
"""Last day of the run of ``purchase``."""


def by_day(payments: Iterable[Payment]) -> dict[str, str]:
    """Return the sums by day, to the cent, without zeros."""
    sums: dict[str, Decimal] = {}
    for paid in payments:
        sums[str(paid.day)] = sums.get(str(paid.day), Decimal(0)) + paid.amount
    return {day: str(round_money(amount, "USD")) for day, amount in sorted(sums.items()) if amount}


def entry(world: Any, **values: Any) -> None:
    """Make one ``costs`` entry the only one."""
    world.scenario["costs"] = [{"name": "x", "amount": 100, "every": "once", "per": "cluster", **values}]


def cube(world: Any) -> None:
    """Add an award of 2 nodes of 4 accelerators of another platform, leased on 2027-02-15 for one month."""
    world.platforms["cube"] = {**world.platforms["box"], "id": "cube", "accelerators_per_node": 4}
    world.quotes["q2"] = {
        **world.quotes["q1"], "quote": "q2",
        "offers": {"node": {"type": "lease", "platform": "cube", "per": "node", "price_per_month": 1, "term_months": 1,
                            "lead_weeks": "stock"}},
    }  # fmt: skip
    world.scenario["today"] = "2027-02-15"
    world.award(
        quote="q2", platform="cube", type="lease", units=2, accelerators=8, order_date="2027-02-15",
        delivery_date="2027-02-15", contract_end="2027-03-14",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # purchase of 6 and 4 box nodes on 02-15 (moved there by today) and 03-01; lease of 2 cube nodes on 02-15
        ({"per": "accelerator"}, {"2027-02-15": "5600.00", "2027-03-01": "3200.00"}),
        ({"per": "node", "types": ["lease"]}, {"2027-02-15": "200.00"}),
        ({"per": "unit", "platforms": ["box"]}, {"2027-02-15": "600.00", "2027-03-01": "400.00"}),
        ({"per": "cluster"}, {"2027-02-15": "100.00"}),
        ({"per": "platform"}, {"2027-02-15": "200.00"}),
        ({"per": "run"}, {"2027-03-15": "100.00"}),
        ({"per": "run", "platforms": ["cube"]}, {}),
        ({"per": "cluster", "types": ["reserved"]}, {}),
        # 12 nodes in all reach the row at 11
        ({"per": "node", "amount": {1: 10, 11: 8}}, {"2027-02-15": "64.00", "2027-03-01": "32.00"}),
        ({"per": "node", "amount": {1: 10, 13: 8}}, {"2027-02-15": "80.00", "2027-03-01": "40.00"}),
        # 88 accelerators in all, 80 and 8 by platform
        ({"per": "cluster", "amount": {1: 10, 88: 7}}, {"2027-02-15": "7.00"}),
        ({"per": "cluster", "amount": {1: 10, 89: 7}}, {"2027-02-15": "10.00"}),
        ({"per": "platform", "amount": {1: 10, 80: 7}}, {"2027-02-15": "17.00"}),
        ({"per": "run", "amount": {1: 10, 88: 7}}, {"2027-03-15": "7.00"}),
        # 14 of 28 days in February, 14 of 31 in March
        ({"per": "node", "types": ["lease"], "every": "month"}, {"2027-02-28": "100.00", "2027-03-31": "90.32"}),
        ({"per": "platform", "platforms": ["cube"], "every": "year"}, {"2027-02-28": "4.17", "2027-03-31": "3.76"}),
        ({"per": "accelerator", "amount": "100 EUR", "types": ["lease"]}, {"2027-02-15": "1080.00"}),
    ],
)  # fmt: skip
def test_costs(purchase: Any, values: Any, expected: dict[str, str]) -> None:
    cube(purchase)
    purchase.scenario["fx"] = {"date": "2027-01-01", "base": "USD", "rates": {"EUR": 1.35}}
    entry(purchase, **values)
    assert by_day(cost_payments(purchase.case(), None)) == expected


def test_recurring_costs_of_a_cluster_last_as_long_as_any_award(purchase: Any) -> None:
    cube(purchase)
    entry(purchase, every="month")
    months = by_day(cost_payments(purchase.case(), None))
    assert months.pop("2027-02-28") == "50.00"
    assert months.pop("2028-02-29") == "48.28"  # to 02-14: 14 of 29 days
    assert len(months) == 11
    assert set(months.values()) == {"100.00"}


def test_sold_hardware_ends_its_costs_and_a_lease_goes_on(purchase: Any) -> None:
    cube(purchase)
    purchase.awards[1]["contract_end"] = "2027-05-14"
    entry(purchase, per="node", every="month", amount=30)
    assert by_day(cost_payments(purchase.case(), STOP)) == {
        "2027-02-28": "120.00",  # 14 of 28 days of 6 + 2 nodes
        "2027-03-31": "360.00",
        "2027-04-30": "190.00",  # 13 of 30 days of 10 nodes, all of 2
        "2027-05-31": "27.10",  # 14 of 31 days of 2
    }


def test_power_of_costs_entries(purchase: Any) -> None:
    """Once per cluster, per platform and per piece at the site, for the days of what matches."""
    cube(purchase)
    purchase.scenario["costs"] = [
        {"name": name, "per": per, "amount": 0, "every": "once", "kw": kw, **more}
        for name, per, kw, more in (
            ("a", "cluster", 1, {}), ("b", "platform", 2, {}), ("c", "unit", 3, {"types": ["lease"]}),
            ("d", "accelerator", 4, {"types": ["reserved"]}), ("e", "run", 99, {}),
        )
    ]  # fmt: skip
    small = [draw for draw in draws(purchase.case(), "provisioned", None) if draw.kw < 20]
    assert sorted((int(draw.kw), str(draw.first), str(draw.last)) for draw in small) == [
        (1, "2027-02-15", "2028-02-14"),
        (2, "2027-02-15", "2027-03-14"),
        (2, "2027-02-15", "2028-02-14"),
        (6, "2027-02-15", "2027-03-14"),
    ]


def test_power_of_a_cluster_lasts_as_long_as_a_lease(purchase: Any) -> None:
    cube(purchase)
    entry(purchase, kw=1)
    last = {str(draw.last) for draw in draws(purchase.case(), "provisioned", STOP) if draw.kw == 1}
    assert last == {"2027-04-13"}
    purchase.awards[1]["contract_end"] = "2027-05-14"
    last = {str(draw.last) for draw in draws(purchase.case(), "provisioned", STOP) if draw.kw == 1}
    assert last == {"2027-05-14"}


def hours(world: Any) -> None:
    """Owned nodes only: 10 boxes in the hall, the run from 2027-03-15 on, no awards."""
    world.bare()
    world.scenario["owned"] = [{"platform": "box", "nodes": 10, "site": "hall"}]
    world.scenario["sites"]["hall"] = {
        "pue": 1, "electricity": {"per_kwh": 1}, "colocation": {"per_kw_month": 31},
    }  # fmt: skip
    world.run()


def test_owned_nodes_cost_hall_and_energy_from_today(world: Any) -> None:
    hours(world)
    colocation = by_day(colocation_payments(world.case(), None))
    assert len(colocation) == 12
    assert set(colocation.values()) == {"3100.00"}
    energy = by_day(energy_payments(world.case(), None, None))
    assert energy["2027-01-31"] == "14880.00"  # 31 x 24 x 20 kW
    assert energy["2027-03-31"] == "39360.00"  # 24 x (14 x 20 + 17 x 80)
    assert energy["2027-12-31"] == "14880.00"


def test_sold_and_switched_off_owned_nodes(world: Any) -> None:
    hours(world)
    case = world.case()
    assert list(by_day(colocation_payments(case, STOP)))[-1] == "2027-04-30"
    assert by_day(colocation_payments(case, STOP))["2027-04-30"] == "1343.33"  # 13 / 30
    for energy in (energy_payments(case, STOP, None), energy_payments(case, None, STOP)):
        assert list(by_day(energy).items())[-1] == ("2027-04-30", "24960.00")  # 13 x 24 x 80


@pytest.mark.parametrize(
    ("power", "march"),
    [
        ({"provisioned": 10, "training": 8}, "59520.00"),  # idle read as 8: 24 x 31 x 80
        ({"provisioned": 10, "idle": 2}, "47520.00"),  # training read as 10: 24 x (14 x 20 + 17 x 100)
    ],
)
def test_unknown_draw_is_read_as_an_upper_bound(world: Any, power: Any, march: str) -> None:
    hours(world)
    world.platforms["box"]["node_power_kw"] = power
    assert by_day(energy_payments(world.case(), None, None))["2027-03-31"] == march


def test_tariff_periods_are_weighted_by_hours(world: Any) -> None:
    """8 h each at 1.20, 0.75 and 0.35: 0.76667 x 1.25 x 24 h x 20 kW x 31 days."""
    hours(world)
    world.scenario["sites"]["hall"] |= {
        "pue": 1.25,
        "electricity": {"periods": [{"hours": 8, "per_kwh": price} for price in (1.20, 0.75, 0.35)]},
    }
    assert by_day(energy_payments(world.case(), None, None))["2027-01-31"] == "14260.00"


def test_owned_nodes_use_power_and_racks_beside_awards(purchase: Any) -> None:
    """6 and then 10 nodes awarded, with 0.05 kW of network per accelerator, beside 5 owned ones."""
    purchase.scenario["owned"] = [{"platform": "box", "nodes": 5, "site": "hall"}]
    hall = purchase.scenario["sites"]["hall"]
    hall |= {
        "power": [{"from": "2027-02-01", "kw": 154}],
        "zones": {"a": {"racks": 3, "kw_per_rack": 50, "cooling": "air"}},
    }
    assert list(site_breaches(purchase.case())) == []  # owned nodes alone need no power before 02-01
    hall["power"][0]["kw"] = 153.9
    hall["zones"]["a"]["racks"] = 2
    assert [str(breach) for breach in site_breaches(purchase.case())] == [
        "racks of hall on 2027-02-01: the plan has 11 x box, the check finds fewer units fit in its racks.",
        "power of hall on 2027-03-01: the plan has 154 kW, the check finds 153.9 kW.",
        "racks of hall on 2027-03-01: the plan has 15 x box, the check finds fewer units fit in its racks.",
    ]


@pytest.mark.parametrize(
    ("residual", "sale", "expected"),
    [
        ({"months": 10, "share": 0.5}, "2028-01-01", -600_000 * 0.5**1.1 - 400_000 * 0.5),
        ({"months": 10, "share": 0.5, "platforms": {"box": 0.2}}, "2028-01-01", -600_000 * 0.2**1.1 - 80_000),
        ({"months": 10, "share": 0}, "2028-01-01", 0),
        # the second lot comes after the sale: sold at its full price on its delivery
        ({"months": 1, "share": 0.5}, "2027-02-15", -600_000 * 0.5**0.5 - 400_000),
        ({"months": 1, "share": 0}, "2027-02-15", -400_000),
    ],
)
def test_residual(purchase: Any, residual: Any, sale: str, expected: float) -> None:
    purchase.scenario["finance"]["residual"] = residual
    payments = list(residual_payments(purchase.case(), dt.date.fromisoformat(sale)))
    assert float(sum(paid.amount for paid in payments)) == pytest.approx(expected)


def test_residual_is_of_the_net_hardware_price_only(purchase: Any) -> None:
    purchase.quotes["q1"]["tax"] = {"included": True, "rate": 0.25}
    purchase.scenario["finance"]["residual"] = {"months": 10, "share": 1}
    payments = residual_payments(purchase.case(), dt.date(2028, 1, 1))
    assert sum(paid.amount for paid in payments) == -800_000


def test_no_residual_unless_stated(purchase: Any) -> None:
    purchase.scenario.pop("finance")
    assert list(residual_payments(purchase.case(), dt.date(2028, 1, 1))) == []


def test_value_of_use_declines_by_full_years(world: Any) -> None:
    """The run ends on 2027-04-13: full price to 2028-04-13, then 0.9 of it."""
    hours(world)
    world.scenario |= {"horizon_months": 24}
    world.scenario["after_run"] = {
        "max_accelerators": 50, "value_per_accelerator_hour": 1, "utilisation": 0.5, "decline_per_year": 0.1,
    }  # fmt: skip
    months = by_day(use_payments(world.case()) or ())
    assert months["2027-04-30"] == "-10200.00"  # 17 days x 24 x 50 x 0.5
    assert months["2028-03-31"] == "-18600.00"
    assert months["2028-04-30"] == "-16980.00"  # 13 x 600 + 17 x 540
    assert months["2028-12-31"] == "-16740.00"
    assert list(months)[-1] == "2028-12-31"


def test_use_counts_what_is_ready_and_in_contract(purchase: Any) -> None:
    """Lots of 48 and 32 accelerators ready on 02-15 and 03-15; the run is moved to end on 03-09."""
    purchase.scenario["after_run"] = {"max_accelerators": 1000, "value_per_accelerator_hour": 1}
    purchase.runs[0] |= {"start": "2027-02-15", "end": "2027-03-09", "days": 23}
    months = by_day(use_payments(purchase.case()) or ())
    assert months["2027-03-31"] == "-38400.00"  # 24 x (5 x 48 + 17 x 80)
    assert months["2027-04-30"] == "-57600.00"


def test_use_without_cap_is_unknown(purchase: Any) -> None:
    purchase.scenario["after_run"].pop("max_accelerators")
    assert use_payments(purchase.case()) is None
