"""What an award costs by its quote: worked examples by number, and one case per acquisition type."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from optimizer.solver.check.awards import award_breaches
from optimizer.solver.check.cash import cash, present_value, total
from optimizer.solver.check.payments import Payment, award_payments
from optimizer.solver.check.prices import net_total, quoted_unit_price, tier
from optimizer.units import round_money

USD = "USD"
BREAKS = {1: 452_000, 16: 437_500, 64: 421_900}


def buy(world: Any, units: int, **offer: Any) -> Any:
    """Return the holding of a purchase from stock without hall, tax and duty."""
    world.bare()
    world.offers(**{"type": "purchase", "lead_weeks": "stock", "price": 100_000} | offer)
    world.award(units=units, delivery_date="2027-01-01")
    world.run(start="2027-01-01", end="2027-01-30")
    return world.case().holdings[0]


def paid(world: Any) -> list[tuple[str, str, str]]:
    """Return the cash of the first award as (day, item, amount to the cent), in order of days."""
    case = world.case()
    payments = sorted(award_payments(case, case.holdings[0]), key=lambda each: (each.day, each.item))
    return [(str(each.day), each.item, str(round_money(each.amount, USD))) for each in payments]


@pytest.mark.parametrize(
    ("units", "price", "expected", "unit_price", "first"),
    [
        # W53: 62 at 437,500 cost more than 64 at 421,900, 61 do not
        (61, {"all_units": BREAKS}, "26687500", "437500", 16),
        (62, {"all_units": BREAKS}, "27125000", "437500", 16),
        (64, {"all_units": BREAKS}, "27001600", "421900", 64),
        # W63: 15 x 452,000 + 47 x 437,500
        (62, {"incremental": {1: 452_000, 16: 437_500}}, "27342500", "441008.06", 16),
        (15, {"incremental": {1: 452_000, 16: 437_500}}, "6780000", "452000", 1),
        # below the first break at its price: 8 x 100 + 2 x 90
        (3, 421_900, "1265700", "421900", None),
        (3, "included", "0", "0", None),
    ],
)
def test_tiers(world: Any, units: int, price: Any, expected: str, unit_price: str, first: int | None) -> None:
    holding = buy(world, units, price=price)
    facts = world.facts()
    assert net_total(holding, facts) == Decimal(expected)
    assert round_money(quoted_unit_price(holding, facts, USD), USD) == Decimal(unit_price)
    assert tier(holding) == first


def test_too_few_units_for_the_first_break_are_not_offered(world: Any) -> None:
    buy(world, 3, price={"all_units": {4: 100}})
    found = [breach for breach in award_breaches(world.case()) if breach.limit_or_number == "minimum_order"]
    assert [breach.computed for breach in found] == ["a price from 4 units on"]


@pytest.mark.parametrize(
    ("per", "expected"),
    [("accelerator", 4 * 72 * 100), ("node", 18 * 4 * 100), ("rack", 4 * 100), ("unit", 4 * 100)],
)
def test_price_per_piece_of_a_rack(world: Any, per: str, expected: int) -> None:
    world.platforms["box"] |= {"accelerators_per_node": 4, "nodes_per_rack": 18, "purchase_unit": "rack"}
    holding = buy(world, 4, per=per, price=100)
    assert net_total(holding, world.facts()) == expected


def test_tax_included_is_taken_out(world: Any) -> None:
    """W49: 3,390,000 with 13 % is 3,000,000 and 390,000 of tax."""
    buy(world, 1, price=3_390_000)
    world.quotes["q1"]["tax"] = {"included": True, "rate": 0.13, "recoverable": False}
    assert paid(world) == [("2027-01-01", "hardware", "3000000.00"), ("2027-01-01", "tax", "390000.00")]
    world.quotes["q1"]["tax"]["recoverable"] = True
    assert paid(world) == [("2027-01-01", "hardware", "3000000.00")]


def test_currency_of_the_quote(world: Any) -> None:
    """W65: CNY 3,180,000 with 13 % at 0.139 is USD 391,168.14."""
    world.scenario["fx"] = {"date": "2026-12-31", "base": "USD", "rates": {"CNY": 0.139, "EUR": 1.08}}
    buy(world, 1, price=3_180_000)
    world.quotes["q1"] |= {"currency": "CNY", "tax": {"included": True, "rate": 0.13}}
    assert paid(world) == [("2027-01-01", "hardware", "391168.14")]
    world.scenario["currency"] = "EUR"  # 391,168.1416 / 1.08
    assert paid(world) == [("2027-01-01", "hardware", "362192.72")]


@pytest.mark.parametrize(("recoverable", "expected"), [(True, 500_000), (False, 565_000)])
def test_duty_and_its_tax(world: Any, recoverable: bool, expected: int) -> None:
    """W64: 400,000 with 25 % duty and 13 % on both."""
    buy(world, 1, price=400_000, duty={"rate": 0.25})
    world.scenario["duty"] = {"rate": 0.5}  # the offer's own duty counts
    world.quotes["q1"]["tax"] = {"rate": 0.13, "recoverable": recoverable}
    case = world.case()
    assert total(award_payments(case, case.holdings[0])) == expected


def test_lead_time_counts_to_the_later_week(world: Any) -> None:
    """W57: ordered on 2026-12-15, 16-20 weeks: planned with 2027-05-04."""
    world.scenario |= {"today": "2026-12-01", "earliest_order": "2026-12-15"}
    buy(world, 1, lead_weeks=[16, 20])
    world.awards[0] |= {"order_date": "2026-12-15", "delivery_date": "2027-05-04"}
    assert "delivery" not in {breach.limit_or_number for breach in award_breaches(world.case())}
    world.awards[0]["delivery_date"] = "2027-04-06"
    late = [breach.computed for breach in award_breaches(world.case()) if breach.limit_or_number == "delivery"]
    assert late == ["2027-05-04"]


@pytest.mark.parametrize(
    ("lots", "units", "agrees"),
    [
        ([{"units": 4, "weeks": 2}, {"units": "rest", "days": 30}], 4, "2027-01-15"),
        ([{"units": 4, "weeks": 2}, {"units": "rest", "days": 30}], 5, "2027-01-31"),
        ([{"units": 4, "weeks": 2}, {"units": 2, "date": "2027-03-01"}], 6, "2027-03-01"),
        ([{"units": 4, "weeks": 2}, {"units": 2, "date": "2027-03-01"}], 7, None),
        ([{"units": 4, "date": "2026-12-01"}], 4, "2027-01-01"),  # never before the order
        ([], 4, None),  # unknown lead time
    ],
)
def test_lots(world: Any, lots: Any, units: int, agrees: str | None) -> None:
    buy(world, units, lead_weeks=None, lots=lots)
    for day in ("2027-01-01", "2027-01-15", "2027-01-31", "2027-03-01"):
        world.awards[0]["delivery_date"] = day
        found = {breach.limit_or_number for breach in award_breaches(world.case())}
        assert ("delivery" in found) == (day != agrees), day


def test_lines_of_a_purchase(world: Any) -> None:
    lines = [
        {"item": "support", "per": "node", "price": 24_000, "months": 36},
        {"item": "licence", "per": "accelerator", "price": 100},
        {"item": "rail", "per": "unit", "price": 50},
        {"item": "freight", "per": "order", "price": 999},
        {"item": "free", "per": "node", "price": "free"},
        {"item": "extra", "per": "node", "price": "on_request", "optional": True},
    ]
    buy(world, 2, lines=lines)
    assert paid(world) == [
        ("2027-01-01", "hardware", "200000.00"),
        ("2027-01-01", "line:freight", "999.00"),
        ("2027-01-01", "line:licence", "1600.00"),
        ("2027-01-01", "line:rail", "100.00"),
        ("2027-01-01", "line:support", "48000.00"),
    ]


def test_an_order_line_follows_the_first_lot(purchase: Any) -> None:
    """Freight of 1,000: 300 at order, 600 on 02-01, 100 a month after acceptance of the first lot."""
    purchase.offer["lines"] = [{"item": "freight", "per": "order", "price": 1000}]
    assert [each for each in paid(purchase) if each[1] == "line:freight"] == [
        ("2027-01-01", "line:freight", "300.00"),
        ("2027-02-01", "line:freight", "600.00"),
        ("2027-03-17", "line:freight", "100.00"),
    ]


def lease(world: Any, **offer: Any) -> None:
    """Lease 2 nodes for 14 months at 1,000 a month, delivered on 2027-01-31."""
    world.bare()
    terms = {"type": "lease", "price_per_month": 1000, "term_months": 14, "lead_weeks": 4, "acceptance_days": 1}
    world.offers(**terms | offer)
    world.scenario["today"] = world.quotes["q1"]["valid_until"] = "2027-01-03"
    world.award(
        units=2, type="lease", order_date="2027-01-03", delivery_date="2027-01-31", contract_end="2028-03-30",
        unit_price=1000, cost=28_000,
    )  # fmt: skip
    world.run(nodes=2, accelerators=16, start="2027-02-01", end="2027-03-02")


def test_lease_is_paid_in_advance_and_beyond_the_horizon(world: Any) -> None:
    """Horizon 2028-01-03: the payments of 2028-01-31 and 2028-02-29 are a commitment beyond it."""
    lease(world)
    payments = paid(world)
    assert payments[:3] == [
        ("2027-01-31", "lease", "2000.00"), ("2027-02-28", "lease", "2000.00"), ("2027-03-31", "lease", "2000.00"),
    ]  # fmt: skip
    assert payments[-2:] == [
        ("2028-01-31", "commitment_beyond_horizon", "2000.00"), ("2028-02-29", "commitment_beyond_horizon", "2000.00"),
    ]  # fmt: skip
    assert len(payments) == 14
    assert list(award_breaches(world.case())) == []


def test_contract_of_a_lease_ends_the_day_before(world: Any) -> None:
    lease(world)
    world.awards[0]["contract_end"] = "2028-03-31"
    assert [str(breach) for breach in award_breaches(world.case())] == [
        "contract_end of q1/node: the plan has 2028-03-31, the check finds 2028-03-30."
    ]


def test_tax_contingency_and_lines_of_a_lease(world: Any, items: Any) -> None:
    lease(world, lines=[{"item": "setup", "per": "order", "price": 300}])
    world.quotes["q1"]["tax"] = {"rate": 0.1, "recoverable": False}
    world.scenario["policy"] = {"contingency": 0.05}
    # rents of 12 months and of 2 beyond the horizon with their tax; contingency on 14 rents
    assert items(cash(world.case(), "idle")) == {
        "lease": 24_000, "commitment_beyond_horizon": 4_400, "line:setup": 300, "tax": 2_430, "contingency": 1_400,
        "energy": 0,
    }  # fmt: skip


def test_present_value_of_a_lease(world: Any) -> None:
    """W23: 10 M over 36 months at 10 % / 12 in advance is 320,005.16 a month (0.1 %: calendar months differ)."""
    lease(world, price_per_month=320_005.16, term_months=36)
    world.awards[0] |= {"units": 1, "nodes": 1, "accelerators": 8, "contract_end": "2030-01-30"}
    case = world.case()
    payments = award_payments(case, case.holdings[0])
    assert total(payments) == Decimal("11520185.76")
    rate = (1 + Decimal("0.1") / 12) ** 12 - 1
    value = present_value(payments, case.holdings[0].first_day, rate)
    assert abs(value / 10_000_000 - 1) < Decimal("0.001")


def test_present_value_at_year_ends() -> None:
    """W21: 100 now, 10 a year for three years, 30 left, 10 %: 102.329."""
    today = dt.date(2027, 1, 1)
    flows = [(0, 100), (365, 10), (730, 10), (1095, 10), (1095, -30)]
    payments = [Payment(today + dt.timedelta(days=days), "x", Decimal(amount)) for days, amount in flows]
    assert round(present_value(payments, today, Decimal("0.1")), 3) == Decimal("102.329")
    assert present_value(payments, today, Decimal(0)) == 100


def reserve(world: Any, **offer: Any) -> None:
    """Reserve 128 nodes (1,024 accelerators) for 36 months at 2.35 per accelerator-hour."""
    world.bare()
    terms = {
        "type": "reserved", "region": "eu-1", "per": "accelerator_hour", "price": 2.35, "term_months": 36,
        "prepay": 0.25, "start": ["2027-02-01", "2027-03-01"],
    }  # fmt: skip
    world.offers(**terms | offer)
    world.award(
        units=128, type="reserved", place="Acme/eu-1", delivery_date="2027-02-01", contract_end="2030-01-31",
        unit_price=18.8, cost=Decimal(63240192),
    )  # fmt: skip
    world.run(
        nodes=128, accelerators=1024, place="Acme/eu-1", pool="box@Acme/eu-1", start="2027-02-01", end="2027-03-02"
    )


def test_reserved_with_prepayment(world: Any, items: Any) -> None:
    """W56: 1,024 x 2.35 x 730 x 36 = 63,240,192; 15,810,048 at order, the rest in 36 parts."""
    reserve(world)
    assert list(award_breaches(world.case())) == []
    payments = paid(world)
    assert payments[0] == ("2027-01-01", "reserved", "15810048.00")
    assert payments[1] == ("2027-02-01", "reserved", "1317504.00")
    assert len(payments) == 37
    # February to December are 11 of 36 parts
    assert items(cash(world.case(), "idle")) == {
        "reserved": Decimal(30302592), "commitment_beyond_horizon": Decimal(32937600),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("day", "end", "limits"),
    [
        ("2027-02-01", "2030-01-31", set()),
        ("2027-03-01", "2030-02-28", set()),
        ("2027-01-31", "2030-01-30", {"delivery"}),
        ("2027-03-02", "2030-03-01", {"delivery"}),
        ("2027-02-01", "2030-02-01", {"contract_end"}),
    ],
)
def test_start_window_of_a_reservation(world: Any, day: str, end: str, limits: set[str]) -> None:
    reserve(world)
    world.awards[0] |= {"delivery_date": day, "contract_end": end}
    assert {breach.limit_or_number for breach in award_breaches(world.case())} == limits


def test_reservation_waits_for_lead_time_and_platform(world: Any) -> None:
    reserve(world, lead_weeks=[2, 6])
    late = [breach.computed for breach in award_breaches(world.case())]
    assert late == ["2027-02-12 to 2027-03-01"]
    world.platforms["box"]["available_from"] = "2027-02-20"
    assert [breach.computed for breach in award_breaches(world.case())] == ["2027-02-20 to 2027-03-01"]


def test_hours_beyond_the_committed_ones(world: Any) -> None:
    """A month of 730 h at 90 % commits 657 h; 30 days use 720 h: 63 h more on the last day of the run's month."""
    reserve(world, term_months=2, take_or_pay=0.45, prepay=0, price=1)
    world.awards[0] |= {"units": 1, "nodes": 1, "accelerators": 8, "contract_end": "2027-03-31"}
    assert paid(world) == [
        ("2027-02-01", "reserved", "2628.00"),  # 8 x 730 x 0.45
        ("2027-03-01", "reserved", "2628.00"),
        ("2027-03-31", "reserved", "504.00"),  # 8 x (720 - 657)
    ]


def rent(world: Any, **offer: Any) -> None:
    """Rent 2 nodes by the hour at 10 per node-hour from 2027-02-25, ready on 03-01, until 03-30."""
    world.bare()
    terms = {"type": "on_demand", "region": "eu-1", "per": "node_hour", "price": 10, "acceptance_days": 4}
    world.offers(**terms | offer)
    world.award(
        units=2, type="on_demand", place="Acme/eu-1", delivery_date="2027-02-25", contract_end="2027-03-30",
        unit_price=10, cost=16_320,
    )  # fmt: skip
    world.run(nodes=2, accelerators=16, place="Acme/eu-1", pool="box@Acme/eu-1", start="2027-03-01", end="2027-03-30")


def test_on_demand_is_paid_by_the_month(world: Any) -> None:
    rent(world, lines=[{"item": "setup", "per": "node", "price": 100}])
    world.awards[0]["cost"] = 16_520
    assert list(award_breaches(world.case())) == []
    assert paid(world) == [
        ("2027-02-25", "line:setup", "200.00"),
        ("2027-02-28", "on_demand", "1920.00"),  # 4 days x 24 x 20
        ("2027-03-31", "on_demand", "14400.00"),  # 30 days x 24 x 20
    ]


@pytest.mark.parametrize(("first", "last"), [("2027-02-26", "2027-03-30"), ("2027-02-25", "2027-03-31")])
def test_on_demand_is_rented_for_one_run(world: Any, first: str, last: str) -> None:
    rent(world)
    world.awards[0] |= {"delivery_date": first, "contract_end": last}
    found = {breach.limit_or_number: breach.computed for breach in award_breaches(world.case())}
    assert found["contract_end"] == "2027-02-25 to 2027-03-30"
