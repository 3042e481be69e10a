"""The objective of a fixed plan as a straight line in a factor, and where such lines meet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from optimizer.analysis.scales import Knob
from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.cost.option import Option
from optimizer.cost.plan_cost import Priced
from optimizer.solver.assemble import priced
from optimizer.units import minor_digits

RELATIVE_TOLERANCE = Decimal("1e-8")
"""Two present values this close are equal: the model counts in integers and is off by less."""


def tolerance(value: Decimal, currency: str) -> Decimal:
    """Return what two present values may differ and still be called equal: two minor units, or 1e-8 of the value."""
    return max(2 * Decimal(1).scaleb(-minor_digits(currency)), RELATIVE_TOLERANCE * abs(value))


def rebound(choice: Choice, frame: Frame) -> Choice:
    """Return a decision with the offers as another frame quotes them."""
    return Choice(tuple(replace(each, option=rebound_option(each.option, frame)) for each in choice.taken), choice.runs)


def rebound_option(option: Option, frame: Frame) -> Option:
    """Return an option as another frame quotes it."""
    quote = frame.quotes[option.quote.quote]
    return replace(option, quote=quote, offer=quote.offers[option.name])


def repriced(choice: Choice, frame: Frame) -> Priced:
    """Return the price of a decision in another frame."""
    return priced(rebound(choice, frame), frame)


@dataclass(frozen=True, eq=False)
class Line:
    """A decision whose present value is ``fixed + slope x factor``.

    Attributes:
        choice: The decision.
        fixed: Present value at factor 0, major units.
        slope: Present value per factor, major units.
        last: Largest factor at which it keeps every budget; None = any.
    """

    choice: Choice
    fixed: Decimal
    slope: Decimal
    last: Decimal | None

    def at(self, factor: Decimal) -> Decimal:
        """Return its present value at a factor."""
        return self.fixed + self.slope * factor

    def affordable(self, factor: Decimal) -> bool:
        """Return whether it keeps the budgets at a factor."""
        return self.last is None or factor <= self.last


def crossing(left: Line, right: Line) -> Decimal:
    """Return the factor at which two lines that are not parallel meet."""
    return (right.fixed - left.fixed) / (left.slope - right.slope)


def line_of(choice: Choice, knob: Knob) -> Line:
    """Return the line of a decision: exact, from its price at factors 1 and 2."""
    one, two = repriced(choice, knob(Decimal(1))), repriced(choice, knob(Decimal(2)))
    return Line(choice, 2 * one.npv - two.npv, two.npv - one.npv, _last_affordable(one, two))


def _last_affordable(one: Priced, two: Priced) -> Decimal | None:
    """Return the largest factor at which outflows, lines in it as well, stay within total and yearly budgets."""
    frame = one.frame
    budget = frame.scenario.budget
    pairs = [(one.outflow, two.outflow, frame.amount(budget.total))] if budget.total else []
    for year, money in budget.by_fiscal_year.items():
        outflows = [priced.outflow_by_year.get(year, Decimal(0)) for priced in (one, two)]
        pairs.append((outflows[0], outflows[1], frame.amount(money)))
    limits = [(limit - (2 * first - second)) / (second - first) for first, second, limit in pairs if second > first]
    return min(limits, default=None)
