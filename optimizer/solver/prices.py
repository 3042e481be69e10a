"""Prices of budgets: bounds that know that money is short in a year (Lagrangian relaxation).

Every plan within its budgets costs at least what it costs when each unit of money that a budget counts is paid for at a
price of zero or more, less the price of the whole budget. At good prices that is far more than without: what a budget
forbids is no longer cheap. Which prices are good is tried out; any are valid.

Priced are awards that are there from stated days, and what is hired or drawn for a run that has its day. Reserved terms,
entries paid once and runs whose day is open are left at their present value, which is less.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from optimizer.cost.entries import table
from optimizer.cost.frame import Frame
from optimizer.schema.base import Money
from optimizer.solver.problem import Problem
from optimizer.units import fiscal_year

Prices = Mapping[str | None, Decimal]
"""Fiscal year, or None for the budget of all years -> price of one unit of its money."""

STEPS = tuple(map(Decimal, ("0.5", "2", "8")))
"""Prices of each budget that are tried."""


@dataclass(frozen=True, eq=False)
class PricedFrame(Frame):
    """A frame in which money that budgets count has prices besides its present value.

    Attributes:
        prices: Of each budget that has one.
    """

    prices: Prices = field(default_factory=dict)

    def weight(self, day: dt.date) -> Decimal:
        """Return the present value of one unit paid on a day, and the prices of the budgets that count it."""
        zero, year = Decimal(0), fiscal_year(day, self.scenario.fiscal_year_start)
        return self.discount(day) + self.prices.get(None, zero) + self.prices.get(year, zero)

    @property
    def of_budgets(self) -> Decimal:
        """What all the money of the priced budgets costs."""
        limits = self.scenario.budget
        total = [limits.total] if limits.total is not None and None in self.prices else []
        amounts = [(self.prices[None], money) for money in total]
        amounts += [(self.prices[year], money) for year, money in limits.by_fiscal_year.items() if year in self.prices]
        return sum((price * self.amount(money) for price, money in amounts), Decimal(0))


def with_prices(frame: Frame, prices: Prices) -> PricedFrame:
    """Return a frame with prices of its budgets."""
    return PricedFrame(frame.scenario, frame.platforms, frame.quotes, prices=prices)


def without_prices(frame: Frame) -> Frame:
    """Return the frame itself, or that which was given prices."""
    return Frame(frame.scenario, frame.platforms, frame.quotes) if isinstance(frame, PricedFrame) else frame


def may_be_priced(problem: Problem) -> bool:
    """Return whether there are budgets, and nothing comes back: what is left unpriced then costs no less."""
    limits = problem.frame.scenario.budget
    return (limits.total is not None or bool(limits.by_fiscal_year)) and nothing_comes_back(problem)


def nothing_comes_back(problem: Problem) -> bool:
    """Return whether no entry of the scenario and no line of an offer has a negative price."""
    frame = problem.frame
    amounts = (amount.value for entry in frame.scenario.costs for _, amount in table(entry, frame))
    lines = (line.price for option in problem.options for line in option.offer.lines)
    discounts = any(isinstance(price, Money) and price.amount < 0 for price in lines)
    return not discounts and all(amount >= 0 for amount in amounts)


def some_prices(frame: Frame) -> Iterator[Prices]:
    """Yield prices worth a try: some of each budget, the others at nothing; high ones tell what a budget cannot pay at all."""
    limits = frame.scenario.budget
    for label in (*([None] if limits.total is not None else []), *limits.by_fiscal_year):
        yield from ({label: step} for step in STEPS)
