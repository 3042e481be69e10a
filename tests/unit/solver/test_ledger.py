"""Money per variable: present value, outflow, fiscal years; and its rows in integers."""

from __future__ import annotations

from decimal import Decimal

import pytest

from optimizer.cost.charge import Charge, Factor, on_day
from optimizer.solver.ledger import SAFE_MAGNITUDE, Ledger, scale_digits, scaled, scaled_up
from tests.unit.cost.world import day, frame


def charge(amount: int, when: str = "2027-01-01", **terms: bool) -> Charge:
    return Charge("x", (Factor("amount", Decimal(amount), "", ""),), on_day(day(when)), **terms)


def test_bookings_of_a_variable_add_up() -> None:
    ledger = Ledger(frame())
    ledger.book(3, [charge(100), charge(50, "2028-01-01")])
    ledger.book(3, [charge(7)])
    ledger.book(4, [charge(1)])
    assert (ledger.npv, ledger.outflow) == ({3: 157, 4: 1}, {3: 157, 4: 1})
    assert ledger.outflow_by_year == {"2027": {3: 107, 4: 1}, "2028": {3: 50}}


def test_receipts_are_in_the_present_value_but_not_in_the_outflow() -> None:
    ledger = Ledger(frame())
    ledger.book(0, [charge(100), charge(-30, budget=False)])
    assert (ledger.npv, ledger.outflow, ledger.outflow_by_year) == ({0: 70}, {0: 100}, {"2027": {0: 100}})


def test_the_present_value_is_discounted_and_the_outflow_is_not() -> None:
    ledger = Ledger(frame(finance={"discount_rate": 0.25}))
    ledger.book(0, [charge(100, "2028-01-01")])  # 365 days
    assert (ledger.npv, ledger.outflow) == ({0: 80}, {0: 100})


def test_contingency_is_booked_with_what_carries_it() -> None:
    ledger = Ledger(frame(policy={"contingency": 0.1}))
    ledger.book(0, [charge(100, contingent=True), charge(100)])
    assert ledger.outflow == {0: 210}


def test_a_negative_sign_takes_bookings_off() -> None:
    ledger = Ledger(frame())
    ledger.book(0, [charge(100)])
    ledger.book(0, [charge(30)], -1)
    assert ledger.npv == {0: 70}


def test_years_are_kept_without_a_budget_for_them_so_that_a_lifted_one_can_be_measured() -> None:
    ledger = Ledger(frame())
    ledger.book(0, [charge(100)])
    assert ledger.outflow_by_year == {"2027": {0: 100}}


@pytest.mark.parametrize(("currency", "digits"), [("USD", 5), ("JPY", 3), ("KWD", 6)])
def test_ordinary_sums_keep_three_digits_behind_the_minor_unit(currency: str, digits: int) -> None:
    assert scale_digits([{0: Decimal(10**9)}], [100], currency) == digits


@pytest.mark.parametrize(
    ("amount", "units", "digits"), [(10**12, 10**5, 0), (10**15, 10**6, -4), (-(10**15), 10**6, -4)]
)
def test_weak_currencies_are_counted_in_larger_units(amount: int, units: int, digits: int) -> None:
    """2^58 is 2.88e17: 1e17 fits as it is, 1e21 in units of 10^4."""
    found = scale_digits([{0: Decimal(amount)}, {0: Decimal(5)}], [units], "IDR")
    assert found == digits
    assert Decimal(abs(amount) * units).scaleb(found) < SAFE_MAGNITUDE <= Decimal(abs(amount) * units).scaleb(found + 1)


def test_the_objective_is_rounded_to_the_nearest_and_budgets_up() -> None:
    booked = {0: Decimal("1.2345649"), 1: Decimal("1.2345651"), 2: Decimal("-1.2345651")}
    assert scaled(booked, 5) == {0: 123456, 1: 123457, 2: -123457}
    assert scaled_up(booked, 5) == {0: 123457, 1: 123457, 2: -123456}


def test_what_is_left_of_a_division_does_not_cost_a_unit() -> None:
    third = Decimal(1) / 3
    assert scaled_up({0: third * 3 * 100 + Decimal("1e-20")}, 2) == {0: 10000}
    assert scaled_up({0: Decimal("100.0001")}, 2) == {0: 10001}
