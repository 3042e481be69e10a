"""Plans as linear functions of the price level of every quote: present value and what budgets count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np
from pydantic import BaseModel, ConfigDict

from optimizer.analysis.decisions import PlanBrief, brief
from optimizer.analysis.lines import repriced
from optimizer.analysis.scales import quote_factors
from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.cost.plan_cost import Priced
from optimizer.engine.layouts import Booleans, Floats

NPV, OUTFLOW = "npv", "outflow"


class PricePlan(BaseModel):
    """A decision with its figures as linear functions of price factors.

    Figures are ``npv``, ``outflow`` and the outflow of each budgeted fiscal year.
    """

    model_config = ConfigDict(frozen=True)

    plan: PlanBrief
    fixed: dict[str, float]
    """Figure -> its part that no quote's price changes, major units."""
    slopes: dict[str, dict[str, float]]
    """Figure -> quote -> what its prices add at today's level."""

    @property
    def name(self) -> str:
        """What is signed, where it runs and until when: unique."""
        return plan_name(self.plan)

    def figure(self, what: str, factors: Mapping[str, Floats]) -> Floats:
        """Return a figure at factors of shape (N,)."""
        start = np.full(_length(factors), self.fixed[what])
        return sum((slope * factors[quote] for quote, slope in self.slopes[what].items()), start)

    def npv(self, factors: Mapping[str, float]) -> float:
        """Return the present value at one price vector."""
        return self.fixed[NPV] + sum(slope * factors[quote] for quote, slope in self.slopes[NPV].items())

    def affordable(self, budgets: Mapping[str, float], factors: Mapping[str, Floats]) -> Booleans:
        """Return whether every budget is kept, shape (N,)."""
        kept = np.ones(_length(factors), dtype=np.bool_)
        for what, most in budgets.items():
            kept &= self.figure(what, factors) <= most + CENT
        return kept


def plan_name(plan: PlanBrief) -> str:
    """Return what is signed, how many nodes run and until when."""
    return f"{' + '.join(plan.awards) or 'owned'}, {plan.nodes} nodes, {plan.finish}"


CENT = 0.01
"""Floating-point sums of a plan's cash are off by less."""


def _length(factors: Mapping[str, Floats]) -> int:
    return len(next(iter(factors.values())))


def budgets_of(frame: Frame) -> dict[str, float]:
    """Return the limits of a scenario's budgets by figure."""
    budget = frame.scenario.budget
    limits = {OUTFLOW: float(frame.amount(budget.total))} if budget.total else {}
    return limits | {year: float(frame.amount(money)) for year, money in budget.by_fiscal_year.items()}


def price_plan(choice: Choice, frame: Frame) -> PricePlan:
    """Return a decision as linear functions: priced at today's level, and with each of its quotes doubled."""
    today = _figures(repriced(choice, frame))
    quotes = sorted({taken.option.quote.quote for taken in choice.taken})
    slopes: dict[str, dict[str, float]] = {what: {} for what in today}
    for quote in quotes:
        doubled = _figures(repriced(choice, quote_factors(frame, {quote: Decimal(2)})))
        for what, amount in doubled.items():
            slopes[what][quote] = float(amount - today[what])
    fixed = {what: float(amount) - sum(slopes[what].values()) for what, amount in today.items()}
    return PricePlan(plan=brief(choice), fixed=fixed, slopes=slopes)


def _figures(price: Priced) -> dict[str, Decimal]:
    years = price.frame.scenario.budget.by_fiscal_year
    by_year = {year: price.outflow_by_year.get(year, Decimal(0)) for year in years}
    return {NPV: price.npv, OUTFLOW: price.outflow, **by_year}


def unique(plans: Sequence[PricePlan]) -> list[PricePlan]:
    """Return every plan once, ordered by name, so that the order they were found in does not matter."""
    return [plan for _, plan in sorted({plan.name: plan for plan in plans}.items())]
