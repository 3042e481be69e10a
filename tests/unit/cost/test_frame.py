"""Dates of a scenario, exchange rates and discounting."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from optimizer.cost.charge import Charge, Factor, on_day
from optimizer.cost.frame import exchange_rate
from optimizer.cost.plan_cost import Priced, present_value
from optimizer.errors import InputError
from optimizer.schema.base import Money
from optimizer.schema.scenario import Fx
from tests.unit.cost.world import day, frame

RATES = Fx(date=day("2026-11-27"), base="USD", rates={"CNY": 0.139, "EUR": 1.08})


def test_a_rate_says_how_much_of_the_base_one_unit_is() -> None:
    assert exchange_rate("CNY", "USD", RATES) == Decimal("0.139")
    assert exchange_rate("EUR", "USD", RATES) == Decimal("1.08")


def test_two_foreign_currencies_meet_over_the_base() -> None:
    assert exchange_rate("EUR", "CNY", RATES) == Decimal("1.08") / Decimal("0.139")


def test_the_base_itself_has_rate_one_and_needs_no_entry() -> None:
    assert exchange_rate("USD", "EUR", RATES) == 1 / Decimal("1.08")


def test_one_currency_needs_no_rates() -> None:
    assert exchange_rate("JPY", "JPY", None) == 1


@pytest.mark.parametrize(
    ("source", "target", "rates", "named"),
    [("JPY", "USD", RATES, "JPY"), ("USD", "KRW", RATES, "KRW"), ("EUR", "USD", None, "EUR, USD")],
)
def test_a_missing_rate_is_bad_input_and_names_the_currency(
    source: str, target: str, rates: Fx | None, named: str
) -> None:
    with pytest.raises(InputError, match=f"fx.rates: no rate for {named}. {source} must be converted to {target}"):
        exchange_rate(source, target, rates)


def test_an_amount_without_a_code_is_in_the_currency_of_its_file() -> None:
    """20 USD and 20 JPY differ by the rate; a bare 20 of a quote in JPY is JPY."""
    world = frame(fx={"date": "2026-11-27", "base": "USD", "rates": {"JPY": 0.0065}})
    assert world.amount(Money(amount=20)) == 20
    assert world.amount(Money(amount=20), "JPY") == Decimal("0.13")
    assert world.amount(Money(amount=20, currency="JPY")) == Decimal("0.13")
    assert world.amount(Money(amount=20, currency="USD"), "JPY") == 20


def test_the_horizon_day_is_not_counted() -> None:
    world = frame(today="2027-03-01", horizon_months=36)
    assert world.horizon == day("2030-03-01")
    assert world.last_day == day("2030-02-28")
    assert (world.last_day - world.today).days + 1 == 1096  # with 2028-02-29


def test_a_horizon_from_the_end_of_a_month_ends_on_the_last_day_of_a_shorter_one() -> None:
    assert frame(today="2026-11-30", horizon_months=3).horizon == day("2027-02-28")


def test_the_order_date_is_today_unless_stated() -> None:
    assert frame().order_date == day("2027-01-01")
    assert frame(earliest_order="2027-02-15").order_date == day("2027-02-15")


def test_discounting_counts_days_over_365() -> None:
    """1.1 ^ 5 = 1.61051: a fifth of 365 days is worth 1 / 1.1, in a leap year too."""
    world = frame(finance={"discount_rate": 0.61051})
    assert world.discount(day("2027-01-01")) == 1
    assert round(world.discount(day("2027-03-15")), 9) == Decimal("0.909090909")  # 73 days
    assert round(world.discount(day("2028-01-01")), 9) == Decimal("0.620921323")  # 365 days
    assert round(world.discount(day("2028-12-31")), 9) == Decimal("0.385543289")  # 730 days


def test_rate_zero_is_the_plain_total() -> None:
    assert frame().discount(day("2037-01-01")) == 1


def test_net_present_value_of_a_purchase_with_yearly_cost_and_residual() -> None:
    """100 now, 10 after each of 3 years, 30 received after 3 years, at 10 %: 102.329."""
    world = frame(finance={"discount_rate": 0.10})
    years = [world.today + dt.timedelta(365 * year) for year in range(4)]
    paid = [_charge(100, years[0]), *(_charge(10, year) for year in years[1:]), _charge(-30, years[3])]
    assert round(Priced(tuple(paid), world).npv, 3) == Decimal("102.329")
    assert Priced(tuple(paid), world).total == 100


def test_a_charge_spread_over_days_is_discounted_day_by_day() -> None:
    """Half of 200 now, half after 365 days at 25 %: 100 + 80."""
    world = frame(finance={"discount_rate": 0.25})
    half = Decimal("0.5")
    charge = Charge("x", (Factor("a", Decimal(200), "", ""),), ((world.today, half), (day("2028-01-01"), half)))
    assert round(present_value(charge, world), 9) == 180


def _charge(amount: int, when: dt.date) -> Charge:
    return Charge("x", (Factor("amount", Decimal(amount), "", ""),), on_day(when))
