"""What installed nodes cost: hall, energy, owned nodes; months and days over a leap day."""

from __future__ import annotations

from decimal import Decimal

import pytest

from optimizer.cost.charge import days, months
from optimizer.cost.items import energy_charge, hall_charge, idle_kw, training_kw
from tests.unit.cost.world import (
    cash,
    day,
    frame,
    hourly,
    lines,
    option,
    platform,
    priced,
    purchase,
    quote,
    run,
    site,
)

FREE = purchase(0.01)
ONE_YEAR = {"horizon_months": 12}


def energy(per_kwh: object = 0.1, pue: float = 1) -> dict[str, object]:
    return {"hall": site(electricity={"per_kwh": per_kwh}, pue=pue)}


def test_energy_of_256_nodes_for_a_year() -> None:
    """256 x 10.2 kW x PUE 1.3 x 8,760 h = 29,736,346 kWh; at 0.08: 2,378,908."""
    world = frame(sites=energy(0.08, 1.3))
    first, last = day("2027-01-01"), day("2027-12-31")
    (charge,) = energy_charge(world.site("hall"), 256 * Decimal("10.2"), "full draw", first, last, world)
    assert round(charge.amount / Decimal("0.08")) == 29_736_346
    assert round(charge.amount) == 2_378_908


def test_energy_at_three_tariffs_and_the_hall_for_a_month() -> None:
    """1,000 kW, PUE 1.25, 30 days, 8 h each at 1.20, 0.75, 0.35: 690,000; with 40 per facility kW 740,000 in all."""
    periods = [{"hours": 8, "per_kwh": price} for price in (1.20, 0.75, 0.35)]
    world = frame(sites={"hall": site(electricity={"periods": periods}, colocation={"per_kw_month": 40 * 1.25})})
    hall, first, last = world.site("hall"), day("2027-04-01"), day("2027-04-30")
    (power,) = energy_charge(hall, Decimal(1000), "draw", first, last, world)
    (room,) = hall_charge(hall, Decimal(1000), first, last, world)
    assert round(power.amount, 6) == 690_000
    assert round(room.amount, 6) == 50_000
    assert round((power.amount + room.amount) / 900_000, 4) == Decimal("0.8222")


def test_a_tariff_in_another_currency() -> None:
    world = frame(sites=energy("0.5 CNY"), fx={"date": "2026-11-27", "base": "USD", "rates": {"CNY": 0.14}})
    (charge,) = energy_charge(world.site("hall"), Decimal(10), "x", day("2027-01-01"), day("2027-01-01"), world)
    assert charge.amount == Decimal("16.8")  # 10 kW x 24 h x 0.07


def test_three_years_over_a_leap_day_have_1096_days_and_36_months() -> None:
    first, last = day("2027-03-01"), day("2030-02-28")
    assert days(first, last)[0] == 1096
    assert months(first, last)[0] == 36
    assert dict(days(first, last)[1])[day("2028-02-29")] == Decimal(29) / 1096
    assert dict(months(first, last)[1])[day("2028-02-29")] == Decimal(1) / 36


def test_energy_over_a_leap_day_is_hours_times_draw() -> None:
    """1,096 days x 24 h x 2 kW x 0.1 = 5,260.80; February 2028 has 29 days, the one before 28."""
    world = frame(quote(FREE), today="2027-03-01", horizon_months=36, sites=energy())
    found = priced(world, [(option(world, "2027-03-01"), 1)], run(world, "2027-03-01", nodes=0))
    assert lines(found)["energy"] == Decimal("5260.80")
    paid = cash(found, "energy")
    assert (paid["2028-02-29"], paid["2029-02-28"]) == (Decimal("139.20"), Decimal("134.40"))
    assert len(paid) == 36


def test_the_hall_is_paid_by_whole_months_whatever_their_days() -> None:
    """10 kW x 100 a month for 36 months, the same in February and March."""
    world = frame(
        quote(FREE), today="2027-03-01", horizon_months=36, sites={"hall": site(colocation={"per_kw_month": 100})}
    )
    paid = cash(priced(world, [(option(world, "2027-03-01"), 1)], run(world, "2027-03-01")), "colocation")
    assert len(paid) == 36
    assert set(paid.values()) == {Decimal(1000)}


def test_a_part_month_costs_its_days_over_the_days_of_that_month() -> None:
    """From 2028-02-20: 10 of 29 days of February, then March in full."""
    world = frame(sites={"hall": site(colocation={"per_kw_month": 29})})
    (charge,) = hall_charge(world.site("hall"), Decimal(10), day("2028-02-20"), day("2028-03-31"), world)
    assert dict(charge.cash) == {
        day("2028-02-29"): Decimal(10) / 29 / (1 + Decimal(10) / 29),
        day("2028-03-31"): 1 / (1 + Decimal(10) / 29),
    }
    assert round(charge.amount, 9) == 390


def test_no_days_no_charge() -> None:
    world = frame(sites={"hall": site(colocation={"per_kw_month": 29})})
    hall = world.site("hall")
    assert not list(hall_charge(hall, Decimal(10), day("2027-02-02"), day("2027-02-01"), world))
    assert not list(energy_charge(hall, Decimal(10), "x", day("2027-02-02"), day("2027-02-01"), world))
    assert not list(energy_charge(hall, Decimal(0), "x", day("2027-02-01"), day("2027-02-01"), world))


def test_an_own_hall_costs_nothing() -> None:
    world = frame(quote(purchase(1000)), sites={"hall": site()})
    assert lines(priced(world, [(option(world), 1)])) == {"hardware": 1000}


def test_nodes_draw_idle_power_always_and_training_power_while_they_run() -> None:
    """3 boxes at 2 kW from 12-01 (31 days); 2 of them 6 kW more for 10 days: (3 x 2 x 31 + 2 x 6 x 10) x 24 h."""
    world = frame(quote(FREE), sites=energy(1))
    found = priced(world, [(option(world, "2027-12-01"), 3)], run(world, "2027-12-05", nodes=2, days=10))
    assert lines(found)["energy"] == (186 + 120) * 24


def test_pue_multiplies_all_energy() -> None:
    for pue, expected in ((1, 1440), (1.5, 2160)):
        world = frame(quote(FREE), sites=energy(1, pue))
        found = priced(world, [(option(world, "2027-12-02"), 1)], run(world, "2027-12-05", nodes=0))
        assert lines(found)["energy"] == expected  # 30 days x 24 h x 2 kW


def test_twice_the_nodes_double_hardware_hall_and_energy_but_not_what_is_paid_once() -> None:
    world = frame(
        quote(purchase(1000, lines=[{"item": "freight", "per": "order", "price": 70}])),
        sites={"hall": site(electricity={"per_kwh": 0.1}, colocation={"per_kw_month": 100})},
        costs=[{"name": "storage", "per": "cluster", "amount": 5000, "every": "once"}],
    )
    one, two = (lines(priced(world, [(option(world), n)], run(world, nodes=n, days=30))) for n in (4, 8))
    assert {item: two[item] / one[item] for item in one} == {
        "hardware": 2, "colocation": 2, "energy": 2, "line:freight": 1, "cost:storage": 1,
    }  # fmt: skip


def test_rented_capacity_pays_no_hall_and_no_energy() -> None:
    world = frame(quote(hourly(5)), sites={"hall": site(electricity={"per_kwh": 1}, colocation={"per_kw_month": 100})})
    rented = option(world, end="2027-01-30")
    assert lines(priced(world, [(rented, 1)], run(world, at=rented))) == {"on_demand": 3600}


def test_owned_nodes_cost_hall_and_energy_from_today_and_nothing_to_acquire() -> None:
    """4 boxes for 12 months: 40 kW x 12 x 100; 4 x 2 kW x 365 x 24 h x 0.1."""
    world = frame(
        owned=[{"platform": "box", "nodes": 4, "site": "hall"}],
        sites={"hall": site(electricity={"per_kwh": 0.1}, pue=1, colocation={"per_kw_month": 100})},
        finance={"residual": {"share": 0.5}},
        costs=[{"name": "net", "per": "node", "amount": 7, "every": "once"}],
    )
    assert lines(priced(world, [], run(world, nodes=0))) == {"colocation": 48_000, "energy": 7008}


@pytest.mark.parametrize(("known", "expected"), [({"training": 8, "idle": 2}, (8, 2)), ({}, (10, 10))])
def test_an_unknown_draw_is_read_as_provisioned(known: dict[str, float], expected: tuple[int, int]) -> None:
    card = platform(node_power_kw={"provisioned": 10} | known)
    assert (training_kw(card), idle_kw(card)) == expected
