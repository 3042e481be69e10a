"""What all charges add up to: contingency, fiscal years, budgets, factors."""

from __future__ import annotations

from decimal import Decimal

import pytest

from optimizer.cost.charge import Charge, Factor, spread
from optimizer.cost.plan_cost import by_fiscal_year
from tests.unit.cost.world import cash, day, frame, lines, option, priced, purchase, quote, run, site

HALVES = [{"at": "order", "share": 0.5}, {"at": "delivery", "share": 0.5}]


def test_contingency_is_on_hardware_lines_and_costs_on_the_same_days() -> None:
    """10 % of 1,000 + 200 by halves, and of 300 on delivery; not of hall, energy, duty or tax."""
    world = frame(
        quote(
            purchase(1000, lines=[{"item": "support", "per": "node", "price": 200}]),
            payment=HALVES,
            tax={"rate": 0.2, "recoverable": False},
        ),
        sites={"hall": site(electricity={"per_kwh": 1}, colocation={"per_kw_month": 100})},
        costs=[{"name": "net", "per": "node", "amount": 300, "every": "once"}],
        duty={"rate": 0.1},
        policy={"contingency": 0.1},
    )
    found = priced(world, [(option(world, "2027-03-01"), 1)])
    assert cash(found, "contingency") == {"2027-01-01": 60, "2027-03-01": 90}
    assert lines(found)["tax"] == 260


def test_a_payment_on_the_last_day_of_september_is_in_the_year_that_ends() -> None:
    world = frame(
        quote(purchase(1000), payment=HALVES), today="2026-09-30", fiscal_year_start=10, sites={"hall": site()}
    )
    found = priced(world, [(option(world, "2026-10-01"), 1)], run(world, "2026-10-01"))
    assert found.by_year == {"2025/26": 500, "2026/27": 500}


@pytest.mark.parametrize("start", range(1, 13))
def test_whatever_the_first_month_of_the_year_no_money_is_lost(start: int) -> None:
    world = frame(
        quote(purchase(1000), payment=HALVES),
        fiscal_year_start=start,
        horizon_months=36,
        sites={"hall": site(electricity={"per_kwh": 1}, colocation={"per_kw_month": 100})},
        finance={"residual": {"share": 0.3}},
    )
    found = priced(world, [(option(world, "2027-03-10"), 3)])
    assert sum(found.by_year.values()) == pytest.approx(found.total, abs=Decimal("1e-18"))
    assert all(("/" in label) == (start > 1) for label in found.by_year)


def test_a_year_from_january_has_a_plain_label() -> None:
    charge = Charge("x", (Factor("a", Decimal(10), "", ""),), ((day("2027-12-31"), Decimal(1)),))
    assert by_fiscal_year([charge], frame()) == {"2027": 10}
    assert by_fiscal_year([charge], frame(fiscal_year_start=12)) == {"2027/28": 10}


def test_commitments_beyond_the_horizon_are_in_total_and_budget() -> None:
    world = frame(quote({"type": "lease", "platform": "box", "per": "node", "price_per_month": 10, "term_months": 24,
                         "lead_weeks": "stock"}))  # fmt: skip
    found = priced(world, [(option(world), 1)])
    assert (found.total, found.outflow, found.by_year) == (240, 240, {"2027": 120, "2028": 120})


def test_a_monthly_cost_that_repays_ten_million_in_arrears_is_worth_ten_million() -> None:
    """36 payments at month ends of 322,671.87 at 10 % / 12 a month: 11,616,187 in all, 10 M today."""
    rate = round((1 + Decimal("0.1") / 12) ** 12 - 1, 8)
    world = frame(
        quote(purchase(0.01)),
        horizon_months=36,
        finance={"discount_rate": rate},
        costs=[{"name": "rent", "per": "cluster", "amount": 322_671.87, "every": "month"}],
    )
    found = priced(world, [(option(world), 1)])
    assert round(lines(found)["cost:rent"]) == 11_616_187
    assert float(found.npv) == pytest.approx(10e6, rel=1e-3)


def test_every_line_is_the_product_of_its_factors_and_shares_are_whole() -> None:
    world = frame(
        quote(purchase(333), payment=[{"at": "order", "share": 0.1}, {"at": "delivery", "share": 0.9}]),
        sites={"hall": site(electricity={"per_kwh": 0.07}, colocation={"per_kw_month": 99})},
        costs=[{"name": "net", "per": "accelerator", "amount": 3, "every": "year"}],
        policy={"contingency": 0.07},
    )
    for charge in priced(world, [(option(world, "2027-03-10"), 7)]).charges:
        product = Decimal(1)
        for factor in charge.factors:
            product *= factor.value
        assert charge.amount == product
        assert sum(share for _, share in charge.cash) == pytest.approx(1, abs=Decimal("1e-26"))
        assert all(factor.name and factor.source for factor in charge.factors)


def test_spreading_leaves_out_days_without_weight() -> None:
    total, shares = spread(
        [(day("2027-01-01"), Decimal(1)), (day("2027-02-01"), Decimal(0)), (day("2027-03-01"), Decimal(3))]
    )
    assert total == 4
    assert shares == ((day("2027-01-01"), Decimal("0.25")), (day("2027-03-01"), Decimal("0.75")))
