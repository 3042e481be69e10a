"""Rules over the whole plan: platforms of runs, number of vendors, second source, budgets."""

from __future__ import annotations

from decimal import Decimal

from optimizer.solver.check.after import INCOME
from optimizer.solver.check.case import Case
from optimizer.solver.check.cash import total
from optimizer.solver.check.facts import Breach, Breaches, holds
from optimizer.solver.check.payments import Payment
from optimizer.units import fiscal_year, minor_digits


def policy_breaches(case: Case) -> Breaches:
    """Yield the breaches of house rules on runs and vendors."""
    scenario = case.scenario
    for run in case.runs:
        choices = (scenario.policy.platforms, scenario.workloads[run.name].platforms)
        allowed = all(choice.permits(run.platform) for choice in choices)
        yield from holds(allowed, "policy", run.name, run.platform, "a platform allowed for it")
    vendors = scenario.policy.vendors
    accelerators = vendor_accelerators(case)
    if vendors.max is not None and len(accelerators) > vendors.max:
        yield Breach("vendors", ", ".join(accelerators), f"{len(accelerators)} vendors", f"at most {vendors.max}")
    everything = sum(accelerators.values())
    for vendor, count in accelerators.items():
        others, needed = everything - count, vendors.second_source_share * everything
        yield from holds(others >= needed, "second_source", vendor, f"{others} accelerators of others", f"{needed:f}")


def vendor_accelerators(case: Case) -> dict[str, int]:
    """Return the accelerators awarded to each vendor."""
    counts: dict[str, int] = {}
    for holding in case.holdings:
        added = holding.pieces("accelerator", holding.award.units)
        counts[holding.quote.vendor] = counts.get(holding.quote.vendor, 0) + added
    return counts


def outflows(payments: list[Payment]) -> list[Payment]:
    """Return the cash that a budget counts: all but residual and after-run value."""
    return [payment for payment in payments if payment.item not in INCOME]


def by_fiscal_year(case: Case, payments: list[Payment]) -> dict[str, Decimal]:
    """Return the sum of some payments by fiscal year label."""
    years: dict[str, Decimal] = {}
    for payment in payments:
        label = fiscal_year(payment.day, case.scenario.fiscal_year_start)
        years[label] = years.get(label, Decimal(0)) + payment.amount
    return years


def budget_breaches(case: Case, payments: list[Payment]) -> Breaches:
    """Yield a breach for the budget and each fiscal year whose outflows exceed it."""
    budget, currency = case.scenario.budget, case.currency
    if budget.total is not None:
        limit = case.facts.money(budget.total, currency)
        yield from _within("budget", "", total(outflows(payments)), limit, currency)
    years = by_fiscal_year(case, outflows(payments))
    for label, money in budget.by_fiscal_year.items():
        yield from _within(
            "budget_year", label, years.get(label, Decimal(0)), case.facts.money(money, currency), currency
        )


def _within(limit: str, where: str, used: Decimal, available: Decimal, currency: str) -> Breaches:
    digits = minor_digits(currency)
    yield from holds(
        used <= available, limit, where, f"{used:.{digits}f} {currency}", f"{available:.{digits}f} {currency}"
    )
