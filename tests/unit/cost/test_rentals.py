"""What rented capacity costs: lease, reserved terms with take-or-pay and prepayment, capacity by the hour."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.unit.cost.world import cash, frame, hourly, lease, lines, option, priced, purchase, quote, reserved, run


def test_a_lease_is_paid_monthly_in_advance() -> None:
    world = frame(quote(lease(1000, 3)))
    found = priced(world, [(option(world, "2027-01-31"), 2)])
    assert cash(found, "lease") == {"2027-01-31": 2000, "2027-02-28": 2000, "2027-03-31": 2000}


def test_a_lease_priced_per_accelerator() -> None:
    world = frame(quote(lease(100, 2, per="accelerator")))
    assert lines(priced(world, [(option(world), 1)])) == {"lease": 1600}


def test_rent_from_the_horizon_on_stands_on_its_own_line() -> None:
    """14 months from 2027-01-01 in a horizon of 12: the payments of 2028-01-01 and 2028-02-01 are beyond."""
    world = frame(quote(lease(1000, 14)))
    found = priced(world, [(option(world), 1)])
    assert lines(found) == {"lease": 12_000, "commitment_beyond_horizon": 2000}
    assert cash(found, "commitment_beyond_horizon") == {"2028-01-01": 1000, "2028-02-01": 1000}
    assert found.outflow == 14_000


def test_tax_on_rent_beyond_the_horizon_stands_there_too() -> None:
    world = frame(quote(lease(1000, 14), tax={"rate": 0.1, "recoverable": False}))
    assert lines(priced(world, [(option(world), 1)])) == {
        "lease": 12_000, "tax": 1200, "commitment_beyond_horizon": 2200,
    }  # fmt: skip


def test_lines_of_a_lease_are_paid_on_delivery() -> None:
    world = frame(quote(lease(1000, 2, lines=[{"item": "install", "per": "node", "price": 70}])))
    assert cash(priced(world, [(option(world, "2027-03-05"), 3)]), "line:install") == {"2027-03-05": 210}


def test_a_lease_that_repays_ten_million_is_worth_ten_million() -> None:
    """36 payments in advance of 320,005.16 at 10 % / 12 a month are worth 10 M; 0.1 % is left to days over 365."""
    rate = round((1 + Decimal("0.1") / 12) ** 12 - 1, 8)
    world = frame(quote(lease(320_005.16, 36)), horizon_months=36, finance={"discount_rate": rate})
    found = priced(world, [(option(world), 1)])
    assert found.total == Decimal("11520185.76")
    assert float(found.npv) == pytest.approx(10e6, rel=1e-3)


def test_a_reserved_term_with_a_quarter_prepaid() -> None:
    """1,024 accelerators x 2.35 x 730 h x 36 months = 63,240,192, a quarter of it (15,810,048) at order."""
    offer = reserved(2.35, 36, per="accelerator_hour", hours_per_month=730, prepay=0.25)
    world = frame(quote(offer), horizon_months=48, earliest_order="2027-01-10")
    found = priced(world, [(option(world, "2027-03-01"), 128)])
    assert lines(found) == {"reserved": 63_240_192}
    paid = cash(found, "reserved")
    assert paid["2027-01-10"] == 15_810_048
    assert paid["2027-03-01"] == paid["2030-02-01"] == Decimal("1317504.00")  # 47,430,144 / 36
    assert len(paid) == 37


def test_a_term_paid_at_order_leaves_nothing_for_later() -> None:
    world = frame(quote(reserved(10, 2, prepay=1)), earliest_order="2027-01-10")
    assert cash(priced(world, [(option(world, "2027-03-01"), 1)]), "reserved") == {"2027-01-10": 14_600}


def test_hours_per_month_are_for_the_price_only() -> None:
    """4,096 accelerators at 1.84 and 720 h: 5,426,380.80 a month, whatever the month."""
    world = frame(quote(reserved(1.84, 2, per="accelerator_hour", hours_per_month=720)))
    found = priced(world, [(option(world, "2027-02-01"), 512)])
    assert cash(found, "reserved") == {"2027-02-01": Decimal("5426380.80"), "2027-03-01": Decimal("5426380.80")}


def test_hours_beyond_take_or_pay_are_paid_at_the_end_of_the_month_of_the_runs_end() -> None:
    """Half of 2 x 730 h is committed: 730 h; a run of 40 days uses 960 h: 230 h x 10 x 2 units more."""
    world = frame(quote(reserved(10, 2, take_or_pay=0.5)))
    rented = option(world, "2027-01-05")
    found = priced(world, [(rented, 2)], run(world, "2027-01-05", days=40, at=rented))
    assert lines(found) == {"reserved": 2 * 7300 + 4600}
    assert cash(found, "reserved") == {"2027-01-05": 7300, "2027-02-05": 7300, "2027-02-28": 4600}


def test_a_run_within_the_committed_hours_costs_nothing_more() -> None:
    world = frame(quote(reserved(10, 2, take_or_pay=0.5)))
    rented = option(world)
    assert lines(priced(world, [(rented, 1)], run(world, days=30, at=rented))) == {"reserved": 7300}  # 720 h of 730


def test_a_run_through_two_long_months_uses_more_than_their_hours() -> None:
    """July and August have 1,488 h, two months of 730 h are 1,460: 28 h more even when all is committed."""
    world = frame(quote(reserved(10, 2)))
    rented = option(world, "2027-07-01")
    found = priced(world, [(rented, 1)], run(world, "2027-07-01", days=62, at=rented))
    assert lines(found) == {"reserved": 14_600 + 280}


def test_a_run_after_the_end_of_the_term_does_not_use_it() -> None:
    world = frame(quote(reserved(10, 2, take_or_pay=0)))
    rented = option(world, "2027-01-01")
    assert lines(priced(world, [(rented, 1)], run(world, "2027-02-01", days=30, at=rented))) == {}


def test_reserved_payments_from_the_horizon_on_are_beyond_it() -> None:
    """Four months from 2027-11-15 in a horizon to 2028-01-01: two within, two beyond."""
    world = frame(quote(reserved(10, 4)))
    assert lines(priced(world, [(option(world, "2027-11-15"), 1)])) == {
        "reserved": 14_600, "commitment_beyond_horizon": 14_600,
    }  # fmt: skip


def test_lines_of_a_reserved_term_are_paid_on_its_first_day() -> None:
    lines_of_offer = [{"item": "setup", "per": "order", "price": 900}]
    world = frame(quote(reserved(10, 2, lines=lines_of_offer)))
    assert cash(priced(world, [(option(world, "2027-03-01"), 4)]), "line:setup") == {"2027-03-01": 900}


def test_hours_are_paid_by_calendar_month_from_the_first_day_of_setting_up() -> None:
    """01-18 to 02-10: 14 and 10 days x 24 h x 5 x 3 units."""
    world = frame(quote(hourly(5)))
    rented = option(world, "2027-01-18", ready="2027-01-20", end="2027-02-10")
    found = priced(world, [(rented, 3)], run(world, "2027-01-20", days=22, at=rented))
    assert cash(found, "on_demand") == {"2027-01-31": 5040, "2027-02-28": 3600}


def test_tax_on_hours_that_cannot_be_recovered() -> None:
    world = frame(quote(hourly(5), tax={"rate": 0.2, "recoverable": False}))
    rented = option(world, end="2027-01-30")
    assert lines(priced(world, [(rented, 1)])) == {"on_demand": 3600, "tax": 720}


def test_contingency_is_on_lease_rent_but_not_on_rented_hours() -> None:
    world = frame(
        quote({"lease": lease(1000, 2), "term": reserved(10, 2), "hours": hourly(5)}), policy={"contingency": 0.1}
    )
    found = {
        "lease": priced(world, [(option(world, key=("q", "lease")), 1)]),
        "term": priced(world, [(option(world, key=("q", "term")), 1)]),
        "hours": priced(world, [(option(world, key=("q", "hours"), end="2027-01-30"), 1)]),
    }
    assert {name: lines(price).get("contingency") for name, price in found.items()} == {
        "lease": 200, "term": None, "hours": None,
    }  # fmt: skip


@pytest.mark.parametrize(("residual", "days"), [(0, 160), (0.3, 112)])
def test_how_long_renting_is_cheaper_than_buying(residual: float, days: int) -> None:
    """25,000 against 6.5 an hour: 3,846 h (160.3 days); 2,692 h (112.2 days) when 30 % of the price comes back."""
    world = frame(
        quote({"buy": purchase(25_000), "rent": hourly(6.5)}),
        horizon_months=36,
        finance={"residual": {"months": 36, "share": residual}},
    )
    bought = priced(world, [(option(world, key=("q", "buy")), 1)]).total
    last_days = [run(world, days=length).end.isoformat() for length in (days, days + 1)]
    short, longer = (priced(world, [(option(world, key=("q", "rent"), end=end), 1)]).total for end in last_days)
    assert short < bought < longer
