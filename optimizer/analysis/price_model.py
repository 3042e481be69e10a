"""The compact model of some runs at any prices: built once, since prices change its objective only.

Budgets are left out: without them every present value is linear in the prices and the rows are the same for all. What
is best without budgets and keeps them is best with them; otherwise the caller solves the full model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from optimizer.analysis.lines import rebound_option
from optimizer.analysis.optimum import Effort
from optimizer.analysis.scales import quote_factors
from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.schema.scenario import Budget
from optimizer.solver.ledger import scale_digits, scaled
from optimizer.solver.model import CompactModel, build_model
from optimizer.solver.problem import Problem
from optimizer.solver.search import backend

Bookings = Mapping[int, Decimal]


def at_prices(problem: Problem, kept: Sequence[int], frame: Frame) -> Problem:
    """Return some runs of a problem, and the pools they need, at other prices."""
    reduced = problem.keep(problem.profiles[index] for index in kept)
    pools = {
        id(pool): replace(pool, options=tuple(rebound_option(option, frame) for option in pool.options))
        for pool in reduced.pools
    }
    profiles = tuple(replace(run, pool=pools[id(run.pool)]) for run in reduced.profiles)
    return Problem(frame, tuple(pools.values()), profiles, ())


@dataclass(frozen=True, eq=False)
class PriceModel:
    """A model with its objective as a function of price factors.

    Attributes:
        model: Rows and variables, without budgets.
        today: Present value by variable at the prices of today.
        slopes: Quote -> variable -> present value its prices add.
    """

    model: CompactModel
    today: Bookings
    slopes: Mapping[str, Bookings]

    def best(self, factors: Mapping[str, Decimal], effort: Effort) -> Choice | None:
        """Return the best decision at some prices, budgets left out."""
        booked = dict(self.today)
        for quote, slope in self.slopes.items():
            for variable, amount in slope.items():
                booked[variable] += amount * (factors[quote] - 1)
        linear = self.model.linear
        digits = scale_digits([booked], linear.upper, self.model.builder.frame.scenario.currency)
        answer = backend(effort.solver).solve(linear, scaled(booked, digits), effort.left())
        effort.solves += 1
        effort.proven &= answer.outcome in ("optimal", "infeasible")
        return self.model.choice(answer.values) if answer.values else None


def price_model(problem: Problem, kept: Sequence[int]) -> PriceModel:
    """Return the model of some runs: built at the prices of today, and with each quote of their pools doubled."""
    scenario = problem.frame.scenario.model_copy(update={"budget": Budget()})
    frame = replace(problem.frame, scenario=scenario)
    model = build_model(at_prices(problem, kept, frame))
    today = dict(model.builder.ledger.npv)
    quotes = sorted({option.quote.quote for option in model.builder.problem.options})
    slopes = {}
    for quote in quotes:
        doubled = build_model(at_prices(problem, kept, quote_factors(frame, {quote: Decimal(2)})))
        changes = {variable: amount - today[variable] for variable, amount in doubled.builder.ledger.npv.items()}
        slopes[quote] = {variable: change for variable, change in changes.items() if change}
    return PriceModel(model, today, slopes)
