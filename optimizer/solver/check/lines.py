"""The cost build-up: each line the product of its factors, paid by its schedule, owed by its award."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from decimal import Decimal
from math import prod

from optimizer.results import Cost, CostLine, Factor
from optimizer.solver.check.case import Case
from optimizer.solver.check.cash import total
from optimizer.solver.check.facts import Breach, Breaches, close, holds, same_money
from optimizer.solver.check.payments import Payment, award_payments

POWER_NOISE = 1e-12
"""A power in 28 digits against the factor's printed 17 digits."""

NOT_THE_VENDORS = frozenset({"colocation", "energy", "residual", "contingency"})
"""Lines of an award that are no part of its own cost: what running it costs, what it is worth, what is set aside."""


def line_breaches(case: Case, cost: Cost, payments: list[Payment]) -> Breaches:
    """Yield a breach for each line whose factors, days of payment or award do not agree with what was recomputed."""
    exact = [prod((factor.value for factor in line.factors), start=Decimal(1)) for line in cost.lines]
    for index, (line, product) in enumerate(zip(cost.lines, exact, strict=True)):
        where = f"{line.item} [{index}]"
        yield from holds(bool(line.factors), "cost.lines.factors", where, "no factors", "factors to multiply")
        yield from same_money("cost.lines.factors", where, line.amount, product, cost.currency)
        yield from (breach for factor in line.factors for breach in _power_breaches(factor, where))
        yield from _reference_breaches(case, cost, line, where)
    if not any(line.schedule is None for line in cost.lines):
        yield from _schedule_breaches(cost, exact, payments)
        yield from _award_breaches(case, cost, exact)


def _power_breaches(factor: Factor, where: str) -> Breaches:
    if factor.base is not None and factor.exponent is not None:
        power = factor.base**factor.exponent
        yield from close("cost.lines.factors", f"{where} {factor.name}", abs(factor.value), power, POWER_NOISE)


def _reference_breaches(case: Case, cost: Cost, line: CostLine, where: str) -> Breaches:
    if line.schedule is not None and not 0 <= line.schedule < len(cost.schedules):
        yield Breach("cost.lines.schedule", where, str(line.schedule), f"one of {len(cost.schedules)} schedules")
    if line.award is not None and not 0 <= line.award < len(case.plan.awards):
        yield Breach("cost.lines.award", where, str(line.award), f"one of {len(case.plan.awards)} awards")
    elif line.lot is not None:
        yield from _lot_breaches(case, line, line.lot, where)


def _lot_breaches(case: Case, line: CostLine, lot: int, where: str) -> Breaches:
    """Yield a breach when a line is for a lot that its award does not have, or for other units than the lot's."""
    lots = () if line.award is None else case.plan.awards[line.award].lots
    if not 0 <= lot < len(lots):
        yield Breach("cost.lines.lot", where, str(lot), f"one of {len(lots)} lots")
    elif len(lots) > 1 and line.factors and line.factors[0].value != lots[lot].units:
        yield Breach("cost.lines.lot", where, f"{line.factors[0].value} units", f"{lots[lot].units} of lot {lot}")


def _schedule_breaches(cost: Cost, exact: list[Decimal], payments: list[Payment]) -> Breaches:
    """Yield a breach for each day and item on which lines paid by their schedules are not the recomputed cash."""
    stated: dict[tuple[dt.date, str], Decimal] = defaultdict(Decimal)
    for line, product in zip(cost.lines, exact, strict=True):
        known = line.schedule is not None and 0 <= line.schedule < len(cost.schedules)
        for part in cost.schedules[line.schedule or 0] if known else ():
            stated[part.date, line.item] += product * part.share
    computed: dict[tuple[dt.date, str], Decimal] = defaultdict(Decimal)
    for paid in payments:
        computed[paid.day, paid.item] += paid.amount
    for day, item in sorted(stated.keys() | computed.keys()):
        amounts = (stated[day, item], computed[day, item])
        yield from same_money("cost.schedules", f"{day} {item}", *amounts, cost.currency)


def _award_breaches(case: Case, cost: Cost, exact: list[Decimal]) -> Breaches:
    """Yield a breach for each award whose lines are not what its vendor invoices."""
    owed: dict[int | None, Decimal] = defaultdict(Decimal)
    for line, product in zip(cost.lines, exact, strict=True):
        if line.item not in NOT_THE_VENDORS:
            owed[line.award] += product
    for holding in case.holdings:
        expected = total(award_payments(case, holding))
        yield from same_money("cost.lines.award", holding.label, owed[holding.position], expected, cost.currency)
