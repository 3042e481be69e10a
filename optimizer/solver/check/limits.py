"""The plan's table of limits: what is used, what is available, and the slack between them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal

from optimizer.results import LimitUse
from optimizer.schema.base import Money
from optimizer.solver.check.case import Case, exact
from optimizer.solver.check.cash import total
from optimizer.solver.check.facts import Breaches, holds, same_money
from optimizer.solver.check.payments import Payment
from optimizer.solver.check.policy import by_fiscal_year, outflows, vendor_accelerators
from optimizer.solver.check.runs import window
from optimizer.solver.check.site import power_pairs

Pair = tuple[Decimal | int, Decimal | int | None]
"""Used and available."""

NOISE = Decimal("1e-9")
"""Relative error of figures that went through a JSON double."""


def limit_breaches(case: Case, payments: list[Payment]) -> Breaches:
    """Yield a breach for each row whose figures are those of no run, award, site or year of the plan."""
    for limit in case.plan.limits:
        if limit.name in ("budget", "budget_year"):
            yield from _budget_breaches(case, limit, payments)
        else:
            yield from _row_breaches(case, limit)


def _row_breaches(case: Case, limit: LimitUse) -> Breaches:
    where, stated = f"{limit.name} {limit.period or ''}".strip(), f"{limit.used} of {limit.available} {limit.unit}"
    if limit.name in PAIRS:
        pairs = list(PAIRS[limit.name](case))
        known = any(_near(limit.used, used) and _near(limit.available, most) for used, most in pairs)
        yield from holds(known, "limits", where, stated, " or ".join(f"{used} of {most}" for used, most in pairs))
    if limit.used is not None and limit.available is not None:
        slack = abs(limit.available - limit.used)
        near = limit.slack is not None and _near(abs(limit.slack), slack)
        yield from holds(near, "limits.slack", where, limit.slack, slack)


def _near(stated: Decimal | None, computed: Decimal | int | None) -> bool:
    if stated is None or computed is None:
        return stated is computed
    return abs(stated - computed) <= NOISE * max(abs(Decimal(computed)), Decimal(1))


def _deadlines(case: Case) -> Iterator[Pair]:
    """Yield days from today to the end of each run and to its deadline, both with the margin kept free before it."""
    for run in case.runs:
        workload = case.scenario.workloads[run.name]
        _, last = window(case, workload)
        margin = workload.deadline_margin_days
        if workload.deadline is None or last + dt.timedelta(days=margin) != workload.deadline:
            margin = 0  # the horizon ends before
        yield (run.end - case.scenario.today).days + margin, (last - case.scenario.today).days + margin


def _memory(case: Case) -> Iterator[Pair]:
    for run in case.runs:
        if run.memory_gb is not None and run.memory_limit_gb is not None:
            yield exact(run.memory_gb), exact(run.memory_limit_gb)


def _fabric(case: Case) -> Iterator[Pair]:
    for holding in case.holdings:
        for run in case.runs:
            if holding.offer.fabric_max_units is not None and holding.joins(run):
                yield run.nodes, holding.nodes(holding.offer.fabric_max_units)


def _supply(case: Case) -> Iterator[Pair]:
    """Yield the units of each award and the maximum of its offer, as written and in whole steps."""
    for holding in case.holdings:
        units = holding.offer.units
        if units.max is not None:
            yield holding.award.units, units.max
            yield holding.award.units, units.max - units.max % units.step


def _vendors(case: Case) -> Iterator[Pair]:
    yield len(vendor_accelerators(case)), case.scenario.policy.vendors.max


def _second_source(case: Case) -> Iterator[Pair]:
    """Yield the share of the accelerators outside the largest vendor, and the least share."""
    counts = vendor_accelerators(case).values()
    if counts:
        yield Decimal(sum(counts) - max(counts)) / sum(counts), case.scenario.policy.vendors.second_source_share


PAIRS: dict[str, Callable[[Case], Iterator[Pair]]] = {
    "deadline": _deadlines,
    "memory": _memory,
    "fabric": _fabric,
    "supply": _supply,
    "power": power_pairs,
    "vendors": _vendors,
    "second_source": _second_source,
}
"""Figures each limit may state; of the limits that are not here only the slack is recomputed."""


def _budget_breaches(case: Case, limit: LimitUse, payments: list[Payment]) -> Breaches:
    budget, paid = case.scenario.budget, outflows(payments)
    if limit.name == "budget":
        yield from _money_breaches(case, limit, total(paid), budget.total)
    else:
        label = limit.period or ""
        year = by_fiscal_year(case, paid).get(label, Decimal(0))
        yield from _money_breaches(case, limit, year, budget.by_fiscal_year.get(label))


def _money_breaches(case: Case, limit: LimitUse, used: Decimal, most: Money | None) -> Breaches:
    where = f"{limit.name} {limit.period or ''}".strip()
    available = None if most is None else case.facts.money(most, case.currency)
    slack = None if available is None else available - used
    yield from same_money("limits.used", where, limit.used, used, case.currency)
    yield from same_money("limits.available", where, limit.available, available, case.currency)
    yield from same_money("limits.slack", where, limit.slack, slack, case.currency)
