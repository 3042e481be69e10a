"""The numbers of the plan: cost lines, cash, years, totals, after-run policies, objective."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TypeVar

from optimizer.results import Cost
from optimizer.schema.quote import BlockOffer, DedicatedOffer, OnDemandOffer
from optimizer.solver.check.after import POLICIES
from optimizer.solver.check.case import Case
from optimizer.solver.check.cash import cash, present_value, total
from optimizer.solver.check.facts import Breach, Breaches, holds, same, same_money
from optimizer.solver.check.lines import line_breaches
from optimizer.solver.check.payments import Payment
from optimizer.solver.check.policy import by_fiscal_year

Key = TypeVar("Key")
GAP_NOISE = Decimal("1e-6")
"""Error of a stated gap that is not zero: its value and bound are rounded to the minor unit."""


def total_breaches(case: Case, cost: Cost, payments: list[Payment]) -> Breaches:
    """Yield a breach for each number of the plan's cost and objective that is not what its facts give."""
    npv = present_value(payments, case.scenario.today, case.scenario.finance.discount_rate)
    yield from same("cost.currency", "", cost.currency, case.currency)
    if cost.discount_rate is not None:
        yield from same("cost.discount_rate", "", cost.discount_rate, case.scenario.finance.discount_rate)
    if cost.fiscal_year_start is not None:
        yield from same("cost.fiscal_year_start", "", cost.fiscal_year_start, case.scenario.fiscal_year_start)
    yield from same_money("cost.total", "", cost.total, total(payments), case.currency)
    yield from same_money("cost.npv", "", cost.npv, npv, case.currency)
    yield from line_breaches(case, cost, payments)
    stated_lines = _grouped((line.item, line.amount) for line in cost.lines)
    yield from _group_breaches("cost.lines", case, stated_lines, _sums((paid.item, paid.amount) for paid in payments))
    stated_cash = _grouped(((paid.date, paid.item), paid.amount) for paid in cost.cash)
    computed_cash = _sums(((paid.day, paid.item), paid.amount) for paid in payments)
    yield from _group_breaches("cost.cash", case, stated_cash, computed_cash)
    years = _grouped(cost.by_fiscal_year.items())
    yield from _group_breaches("cost.by_fiscal_year", case, years, by_fiscal_year(case, payments))
    yield from _after_breaches(case, cost)
    yield from _objective_breaches(case, npv)


def _grouped(pairs: Iterable[tuple[Key, Decimal]]) -> dict[Key, tuple[Decimal, int]]:
    """Return the sum and the number of the amounts of each key."""
    groups: dict[Key, tuple[Decimal, int]] = {}
    for key, amount in pairs:
        before, count = groups.get(key, (Decimal(0), 0))
        groups[key] = (before + amount, count + 1)
    return groups


def _sums(pairs: Iterable[tuple[Key, Decimal]]) -> dict[Key, Decimal]:
    return {key: amount for key, (amount, _) in _grouped(pairs).items()}


def _group_breaches(
    name: str, case: Case, stated: Mapping[Key, tuple[Decimal, int]], computed: Mapping[Key, Decimal]
) -> Breaches:
    for key in sorted(set(stated) | set(computed), key=str):
        amount, count = stated.get(key, (Decimal(0), 1))
        where = " ".join(map(str, key)) if isinstance(key, tuple) else str(key)
        yield from same_money(name, where, amount, computed.get(key, Decimal(0)), case.currency, count)


def _after_breaches(case: Case, cost: Cost) -> Breaches:
    yield from same("cost.after_run", "", sorted(after.policy for after in cost.after_run), sorted(POLICIES))
    for after in cost.after_run:
        paid = cash(case, after.policy)
        npv = None
        if paid is not None:
            npv = present_value(paid, case.scenario.today, case.scenario.finance.discount_rate)
        expected = None if paid is None else total(paid)
        yield from same_money("cost.after_run.total", after.policy, after.total, expected, case.currency)
        yield from same_money("cost.after_run.npv", after.policy, after.npv, npv, case.currency)


def _objective_breaches(case: Case, npv: Decimal) -> Breaches:
    objective = case.plan.objective
    yield from same("objective.kind", "", objective.kind, case.scenario.objective)
    if objective.kind == "cost":
        yield from same_money("objective.value", "", objective.value, npv, case.currency)
        yield from same("objective.currency", "", objective.currency, case.currency)
    elif objective.kind == "time" and objective.unit == "days":
        yield from same("objective.value", "", objective.value, (case.runs_end - case.scenario.today).days)
    elif objective.unit == "accelerators":
        yield from same("objective.value", "", objective.value, fleet_accelerators(case))
    yield from _gap_breaches(case)


def fleet_accelerators(case: Case) -> int:
    """Return the accelerators of all awards that outlast one run, and of owned nodes."""
    owned = sum(
        owned.nodes * case.facts.platforms[owned.platform].accelerators_per_node for owned in case.scenario.owned
    )
    lasting = (
        holding
        for holding in case.holdings
        if not isinstance(holding.offer, BlockOffer | OnDemandOffer | DedicatedOffer)
    )
    return owned + sum(holding.pieces("accelerator", holding.award.units) for holding in lasting)


def _gap_breaches(case: Case) -> Breaches:
    """Hold the gap against |value - bound| / |value|; an optimal plan has none."""
    objective = case.plan.objective
    value, bound, gap = objective.value, objective.bound, objective.gap
    if case.plan.status == "optimal" and gap != 0:
        yield Breach("objective.gap", "", str(gap), "0 for an optimal plan")
    if value is None or bound is None or gap is None:
        return
    if gap == 0:
        yield from same_money("objective.bound", "", bound, value, case.currency)
        return
    expected = abs(value - bound) / (abs(value) or Decimal(1))
    yield from holds(abs(expected - gap) <= GAP_NOISE, "objective.gap", "", gap, f"{expected:.9f}")
