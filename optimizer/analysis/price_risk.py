"""The best plan of many price samples: known plans re-priced exactly, solved again only where another could win."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cached_property

import numpy as np

from optimizer.analysis.candidates import choice_key
from optimizer.analysis.optimum import Effort, best_choice, bounds
from optimizer.analysis.price_bounds import PriceBounds
from optimizer.analysis.price_model import PriceModel, at_prices, price_model
from optimizer.analysis.price_plans import PricePlan, budgets_of, price_plan
from optimizer.analysis.sampling import points
from optimizer.analysis.scales import quote_factors
from optimizer.analysis.sweep import Row
from optimizer.analysis.world import World
from optimizer.api import inputs_of
from optimizer.cost.choice import Choice
from optimizer.engine.layouts import Floats
from optimizer.io.loaded import Loaded
from optimizer.schema.ranges import Range
from optimizer.solver.backend import Settings
from optimizer.solver.bounds import MARGIN
from optimizer.solver.planner import Modes
from optimizer.solver.problem import Problem
from optimizer.solver.search import SolverName
from optimizer.units import minor_digits

DIGITS = 6
"""Decimals of a sampled price factor: exact in the cost model, and far below what any price is known to."""

SHARED = 20
"""Runs a model may hold beyond those a sample needs: solving a few more is cheaper than building another model."""

RELATIVE = 1e-8
"""A plan must be cheaper by this share (or two minor units) to count as better: models round to less."""


def price_factors(spans: Mapping[str, Range], first: int, last: int, seed: int) -> dict[str, Floats]:
    """Return quote -> factors of samples ``first`` to ``last`` - 1: uniform between the ends, quotes independent."""
    spread = points(first, last, len(spans), seed)
    return {
        quote: np.round(float(span.low) + spread[:, column] * float(span.high - span.low), DIGITS)
        for column, (quote, span) in enumerate(spans.items())
    }


@dataclass(frozen=True)
class PriceTask:
    """Everything a block of price samples is computed from; pickles.

    Attributes:
        loaded: The scenario.
        spans: Quote -> range of its price factor.
        seed: Of the sample.
        solver: Solver name.
        settings: Its settings.
        naive: Solve every sample from nothing, to compare with.
        known: Modes, which no price changes; what one process computed goes to the others.
    """

    loaded: Loaded
    spans: Mapping[str, Range]
    seed: int
    solver: SolverName
    settings: Settings
    naive: bool = False
    known: Modes = field(default_factory=Modes)

    def __reduce__(self) -> tuple[type[PriceTask], tuple[object, ...]]:
        """Pickle the question only."""
        return PriceTask, tuple(getattr(self, part.name) for part in fields(self))

    @cached_property
    def world(self) -> World:
        """The scenario as it is."""
        return World(inputs_of(self.loaded))

    @cached_property
    def models(self) -> dict[frozenset[int], PriceModel]:
        """Models by the runs in them."""
        return {}

    @cached_property
    def known_plans(self) -> dict[str, PricePlan]:
        """Decisions as linear functions."""
        return {}

    @cached_property
    def problem(self) -> Problem:
        """The decision problem at the prices of today."""
        return self.world.problem(self.known)

    @cached_property
    def bounds(self) -> PriceBounds:
        """Bounds at any prices."""
        return PriceBounds(self.world, self.known, self.problem)

    @cached_property
    def lowest(self) -> list[float]:
        """Bounds of the profiles with every price at the low end of its range: they hold for every sample."""
        low = {quote: float(span.low) for quote, span in self.spans.items()}
        return self.bounds.at(low, range(len(self.problem.profiles)))

    @cached_property
    def first(self) -> tuple[PricePlan, ...]:
        """The plan at the prices of today; empty when there is none."""
        today = {quote: Decimal(1) for quote in self.spans}
        plan = self._solved(today, Effort(self.solver, self.settings, time.monotonic()))
        return () if plan is None else (plan,)

    def __call__(self, key: str) -> Row:
        """Return the best present values of the samples of a block ``first-last``, and the plans that reach them."""
        first, last = map(int, key.split("-"))
        effort = Effort(self.solver, self.settings, time.monotonic())
        columns = price_factors(self.spans, first, last, self.seed)
        plans = list(self.first)
        values = [self._best(row, plans, effort) for row in rows_of(columns)]
        return {
            "values": values,
            "plans": [plan.model_dump(mode="json") for plan in plans],
            "solves": effort.solves,
            "proven": effort.proven,
        }

    def _best(self, factors: Mapping[str, float], plans: list[PricePlan], effort: Effort) -> float | None:
        """Return the least present value of any plan at one price vector; adds the plan when it is new."""
        budgets = budgets_of(self.problem.frame)
        single = {quote: np.array([factor]) for quote, factor in factors.items()}
        values = [] if self.naive else [plan.npv(factors) for plan in plans if plan.affordable(budgets, single)[0]]
        incumbent = min(values, default=None)
        exact = {quote: Decimal(f"{factor:.{DIGITS}f}") for quote, factor in factors.items()}
        found = self._solved(exact, effort) if incumbent is None else self._better(exact, factors, incumbent, effort)
        if found is None:
            return incumbent
        value = found.npv(factors)
        if incumbent is not None and value >= incumbent - closeness(incumbent, self.loaded.scenario.currency):
            return incumbent
        plans.append(found)
        return value

    def _better(
        self, exact: Mapping[str, Decimal], factors: Mapping[str, float], incumbent: float, effort: Effort
    ) -> PricePlan | None:
        """Return the best plan among the runs whose bound does not exceed the incumbent; None when there is no such run."""
        limit = incumbent + MARGIN * max(1.0, abs(incumbent))
        wanted = [index for index, low in enumerate(self.lowest) if low <= limit]
        lower = self.bounds.at(factors, wanted)
        kept = [index for index in wanted if lower[index] <= limit]
        if not kept:
            return None
        found = self._plan(self._model(frozenset(kept)).best(exact, effort))
        single = {quote: np.array([factor]) for quote, factor in factors.items()}
        if found is None or found.affordable(budgets_of(self.problem.frame), single)[0]:
            return found
        problem = at_prices(self.problem, kept, quote_factors(self.world.frame, exact))
        known = Decimal(repr(incumbent))
        return self._plan(best_choice(problem, problem, [lower[index] for index in kept], known, effort))

    def _model(self, kept: frozenset[int]) -> PriceModel:
        """Return a model with some runs (and perhaps a few more), built for as many samples as possible."""
        serving = [known for known in self.models if kept <= known and len(known) <= len(kept) + SHARED]
        if serving:
            return self.models[min(serving, key=lambda known: (len(known), sorted(known)))]
        last = next(reversed(self.models), frozenset())
        joint = kept | last if len(kept | last) <= SHARED else kept
        self.models[joint] = price_model(self.problem, sorted(joint))
        return self.models[joint]

    def _plan(self, choice: Choice | None) -> PricePlan | None:
        """Return a decision as linear functions, computed once."""
        if choice is None:
            return None
        key = choice_key(choice)
        if key not in self.known_plans:
            self.known_plans[key] = price_plan(choice, self.world.frame)
        return self.known_plans[key]

    def _solved(self, factors: Mapping[str, Decimal], effort: Effort) -> PricePlan | None:
        """Return the best plan at one price vector, solved from nothing."""
        problem = self.world.with_frame(quote_factors(self.world.frame, factors)).problem(self.known)
        choice = best_choice(problem, problem, bounds(problem), None, effort)
        return self._plan(choice)


def closeness(value: float, currency: str) -> float:
    """Return what two present values may differ and still be called equal."""
    return max(RELATIVE * abs(value), 2.0 * 10.0 ** -minor_digits(currency))


def rows_of(columns: Mapping[str, Floats]) -> Sequence[dict[str, float]]:
    """Return one mapping per sample from arrays per name."""
    return [dict(zip(columns, map(float, row), strict=True)) for row in zip(*columns.values(), strict=True)]
