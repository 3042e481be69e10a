"""All cash of a plan under an after-run policy, and its net present value."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal

from optimizer.solver.check.after import Policy, residual_payments, use_payments
from optimizer.solver.check.case import ONE_DAY, Case
from optimizer.solver.check.costs import cost_payments
from optimizer.solver.check.hall import colocation_payments, energy_payments
from optimizer.solver.check.payments import Payment, award_payments
from optimizer.solver.check.prices import ZERO

DAYS_PER_YEAR = 365
"""Days of a year in the discount factor, by convention also in leap years."""


def cash(case: Case, policy: Policy) -> list[Payment] | None:
    """Return all cash of the plan under a policy; None when ``use`` has no cap or no value."""
    end = case.runs_end
    stop = end if policy == "sell" else None
    used = use_payments(case) if policy == "use" else ()
    if used is None:
        return None
    base = [payment for holding in case.holdings for payment in award_payments(case, holding)]
    base += cost_payments(case, stop)
    share = case.scenario.policy.contingency
    contingency = [Payment(paid.day, "contingency", paid.amount * share) for paid in base if paid.contingent]
    return [
        *base,
        *contingency,
        *colocation_payments(case, stop),
        *energy_payments(case, stop, end if policy == "off" else None),
        *residual_payments(case, end + ONE_DAY if policy == "sell" else case.horizon),
        *used,
    ]


def total(payments: Iterable[Payment]) -> Decimal:
    """Return the plain sum of some cash."""
    return sum((payment.amount for payment in payments), ZERO)


def present_value(payments: Iterable[Payment], today: dt.date, rate: Decimal) -> Decimal:
    """Return the net present value: sum of amount / (1 + rate) ^ (days since today / 365)."""
    by_day: dict[dt.date, Decimal] = {}
    for payment in payments:
        by_day[payment.day] = by_day.get(payment.day, ZERO) + payment.amount
    if not rate:
        return sum(by_day.values(), ZERO)
    return sum((amount / _growth(rate, (day - today).days) for day, amount in by_day.items()), ZERO)


def _growth(rate: Decimal, days: int) -> Decimal:
    return (1 + rate) ** (Decimal(days) / DAYS_PER_YEAR)
