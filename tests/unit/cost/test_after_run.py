"""The fleet after the last run: idle, off, sold, used. The run is from 2027-01-01 to 2027-01-30 unless stated."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from optimizer.cost.after import POLICIES
from optimizer.cost.frame import Frame
from tests.unit.cost.world import (
    cash,
    day,
    frame,
    hourly,
    lease,
    lines,
    option,
    priced,
    purchase,
    quote,
    reserved,
    run,
    site,
)

PAID_HALL = {"hall": site(electricity={"per_kwh": 1}, pue=1, colocation={"per_kw_month": 31})}
STAFF = {"name": "staff", "per": "cluster", "amount": 3100, "every": "month"}
CARE = {"name": "care", "per": "node", "amount": 310, "every": "month"}
USED = {"max_accelerators": 12, "value_per_accelerator_hour": 2, "utilisation": 0.5}


def world(offer: Any = None, **changes: Any) -> Frame:
    return frame(quote(offer or purchase(1000)), **({"sites": PAID_HALL, "costs": [STAFF, CARE]} | changes))


def bought(scene: Frame, policy: Any, units: int = 2) -> dict[str, Decimal]:
    return lines(priced(scene, [(option(scene), units)], policy=policy))


def test_idle_goes_on_to_the_horizon() -> None:
    """2 boxes: 20 kW x 31 x 12; 4 kW x 365 d + 12 kW x 30 d; 12 months of staff; 2 x 12 months of care."""
    assert bought(world(), "idle") == {
        "hardware": 2000,
        "colocation": 7440,
        "energy": (4 * 365 + 12 * 30) * 24,
        "cost:staff": 37_200,
        "cost:care": 7440,
    }


def test_off_ends_energy_with_the_run_and_nothing_else() -> None:
    assert bought(world(), "off") == {
        "hardware": 2000,
        "colocation": 7440,
        "energy": 16 * 30 * 24,
        "cost:staff": 37_200,
        "cost:care": 7440,
    }


def test_selling_ends_hall_energy_and_recurring_costs_with_the_run() -> None:
    """30 of the 31 days of January."""
    assert bought(world(), "sell") == {
        "hardware": 2000,
        "colocation": 600,
        "energy": 16 * 30 * 24,
        "cost:staff": 3000,
        "cost:care": 600,
    }


def test_selling_brings_the_residual_on_the_day_after_the_run() -> None:
    """30 days of the 31 of the first month: 0.5 ^ (30 / 31)."""
    scene = world(finance={"residual": {"months": 1, "share": 0.5}})
    found = cash(priced(scene, [(option(scene), 2)], policy="sell"), "residual")
    assert found == {"2027-01-31": Decimal("-1022.61")}
    idle = cash(priced(scene, [(option(scene), 2)], policy="idle"), "residual")
    assert idle == {"2028-01-01": Decimal("-0.49")}


def test_hardware_delivered_after_the_last_run_is_sold_on_delivery_for_what_it_cost() -> None:
    scene = world(finance={"residual": {"months": 1, "share": 0.5}})
    lots = option(scene, lots=[(1, "2027-01-01"), (None, "2027-06-01")])
    found = priced(scene, [(lots, 3)], policy="sell")
    assert cash(found, "residual")["2027-06-01"] == -2000
    assert lines(found)["colocation"] == 300  # only the first


def test_nothing_is_sold_after_the_horizon() -> None:
    scene = world(finance={"residual": {"months": 12, "share": 0.5}})
    found = priced(scene, [(option(scene), 1)], run(scene, "2027-12-02", days=30), policy="sell")
    assert cash(found, "residual") == {"2028-01-01": -500}


def test_leased_nodes_run_on_when_hardware_is_sold() -> None:
    """Hall, idle draw and care to the end of the lease (03-31), the shared staff to the end of the run."""
    found = bought(world(lease(1000, 3)), "sell")
    assert found == {
        "lease": 6000,
        "colocation": 20 * 31 * 3,
        "energy": (4 * 90 + 12 * 30) * 24,
        "cost:staff": 3000,
        "cost:care": 2 * 310 * 3,
    }


def test_off_ends_the_energy_of_leased_nodes_too() -> None:
    assert bought(world(lease(1000, 3)), "off")["energy"] == 16 * 30 * 24


def test_reserved_terms_are_paid_in_full_under_every_policy() -> None:
    scene = world(reserved(10, 3), costs=[])
    rented = option(scene)
    for policy in ("idle", "off", "sell"):
        assert lines(priced(scene, [(rented, 1)], run(scene, at=rented), policy=policy)) == {"reserved": 21_900}


@pytest.mark.parametrize(
    ("policy", "hall", "energy"), [("idle", 12, 365), ("off", 12, 30), ("sell", Decimal(30) / 31, 30)]
)
def test_owned_nodes_follow_the_policy(policy: Any, hall: Decimal, energy: int) -> None:
    scene = frame(owned=[{"platform": "box", "nodes": 1, "site": "hall"}], sites=PAID_HALL)
    found = lines(priced(scene, [], run(scene, nodes=0), policy=policy))
    assert found == {"colocation": round(310 * hall, 2), "energy": 2 * 24 * energy}


def test_use_earns_from_the_day_after_the_run_up_to_the_cap() -> None:
    """16 accelerators, cap 12: 12 x 24 h x 2 x 0.5 = 288 a day for 335 days; January has one of them."""
    scene = world(after_run={"policy": "use"} | USED)
    found = priced(scene, [(option(scene), 2)])
    assert lines(found)["after_run_value"] == -96_480
    paid = cash(found, "after_run_value")
    assert (paid["2027-01-31"], paid["2027-02-28"]) == (-288, -8064)


def test_fewer_accelerators_than_the_cap_earn_what_they_are() -> None:
    scene = world(after_run={"policy": "use"} | USED)
    assert bought(scene, "use", 1)["after_run_value"] == -8 * 24 * 335


def test_use_goes_on_drawing_idle_power_and_paying_everything_else() -> None:
    scene = world(after_run={"policy": "use"} | USED)
    idle, use = bought(scene, "idle"), bought(scene, "use")
    assert {item: use[item] - idle[item] for item in idle} == dict.fromkeys(idle, 0)
    assert set(use) - set(idle) == {"after_run_value"}


def test_the_value_declines_each_full_year_since_the_run() -> None:
    """Years of 365, 366 (2028-02-29) and 335 days at 1, 0.9 and 0.81."""
    scene = world(after_run={"policy": "use", "decline_per_year": 0.1} | USED, horizon_months=36)
    expected = 288 * (365 + Decimal("0.9") * 366 + Decimal("0.81") * 335)
    assert bought(scene, "use")["after_run_value"] == -expected


def test_capacity_counts_from_its_ready_day_to_the_end_of_its_contract() -> None:
    """A lease of 3 months from 01-01 (to 03-31) and a box ready on 03-11, cap 12: 8, then 12, then 8 in use."""
    scene = frame(
        quote({"lease": lease(1, 3), "buy": purchase(1)}), after_run={"policy": "use"} | USED, sites={"hall": site()}
    )
    leased = option(scene, key=("q", "lease"))
    later = option(scene, "2027-03-01", key=("q", "buy"), ready="2027-03-11")
    found = cash(priced(scene, [(leased, 1), (later, 1)]), "after_run_value")
    assert found["2027-02-28"] == -8 * 24 * 28
    assert found["2027-03-31"] == -(8 * 10 + 12 * 21) * 24
    assert found["2027-04-30"] == -8 * 24 * 30


def test_rented_hours_have_no_value_and_owned_nodes_do() -> None:
    scene = frame(
        quote(hourly(1)), after_run={"policy": "use"} | USED, owned=[{"platform": "box", "nodes": 1, "site": "hall"}]
    )
    rented = option(scene, end="2027-01-30")
    assert lines(priced(scene, [(rented, 2)], run(scene, at=rented)))["after_run_value"] == -8 * 24 * 335


def test_without_a_cap_nothing_is_earned() -> None:
    scene = world(after_run={"value_per_accelerator_hour": 2})
    assert "after_run_value" not in bought(scene, "use")


def test_receipts_are_not_what_budgets_count() -> None:
    scene = world(after_run={"policy": "use"} | USED, finance={"residual": {"months": 12, "share": 0.5}})
    found = priced(scene, [(option(scene), 2)])
    assert found.outflow == found.total + 96_480 + 1000
    assert sum(found.outflow_by_year.values()) == found.outflow


def test_policies_are_the_four_of_the_contract() -> None:
    assert POLICIES == ("idle", "off", "sell", "use")


def test_a_value_in_another_currency() -> None:
    terms = {"policy": "use", "max_accelerators": 8, "value_per_accelerator_hour": "10 CNY"}
    scene = world(after_run=terms, fx={"date": "2026-11-27", "base": "USD", "rates": {"CNY": 0.1}})
    assert scene.horizon == day("2028-01-01")
    assert bought(scene, "use")["after_run_value"] == -8 * 24 * 335
