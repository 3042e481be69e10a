"""The best plan of many price samples: few plans are ever best, so few solves find and prove all of them.

Two sweeps: the first finds, part by part, every plan that is best at some sample when money is no limit; the second
solves the samples at which that plan breaks a budget. Both give the same whoever computes them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cached_property

import numpy as np

from optimizer.analysis.candidates import choice_key
from optimizer.analysis.executors import Row
from optimizer.analysis.lines import rebound
from optimizer.analysis.optimum import Effort, best_choice, bounds, several
from optimizer.analysis.outcomes import Outcomes, Played, linear_information_values
from optimizer.analysis.price_bounds import PriceBounds
from optimizer.analysis.price_model import PriceModels, without_budget
from optimizer.analysis.price_parts import RELATIVE, Part, PartValue, parts_of
from optimizer.analysis.price_plans import PricePlan, budgets_of, price_plan, unique
from optimizer.analysis.sampling import points
from optimizer.analysis.scales import by_quote, quote_factors
from optimizer.analysis.sweep import Outcome, Sweeping, sweep
from optimizer.analysis.world import World, stored_modes
from optimizer.api import inputs_of
from optimizer.cost.choice import Choice
from optimizer.engine.layouts import Booleans, Floats, Integers
from optimizer.io.loaded import Loaded
from optimizer.solver.backend import Settings
from optimizer.solver.found import SolverName
from optimizer.solver.planner import Modes, prepare
from optimizer.solver.plans import checked_choice
from optimizer.solver.problem import Problem
from optimizer.units import minor_digits

DIGITS = 6
"""Decimals of a sampled price factor: exact in the cost model, and far below what any price is known to."""


Span = tuple[Decimal, Decimal]
"""Low and high end."""


def price_factors(spans: Mapping[str, Span], first: int, last: int, seed: int) -> dict[str, Floats]:
    """Return quote -> factors of samples ``first`` to ``last`` - 1: uniform between the ends, quotes independent."""
    spread = points(first, last, len(spans), seed)
    return {
        quote: np.round(float(low) + spread[:, column] * float(high - low), DIGITS)
        for column, (quote, (low, high)) in enumerate(spans.items())
    }


@dataclass(frozen=True)
class Market:
    """A scenario whose prices are uncertain, with all that solving it again can reuse; pickles.

    Attributes:
        loaded: The scenario.
        spans: Quote -> least and largest factor of its prices.
        samples: Price samples.
        seed: Of the samples.
        solver: Solver name.
        settings: Its settings.
        known: Modes, which no price changes; what one process computed goes to the others.
    """

    loaded: Loaded
    spans: Mapping[str, Span]
    samples: int
    seed: int
    solver: SolverName
    settings: Settings
    known: Modes = field(default_factory=stored_modes)

    def __reduce__(self) -> tuple[type[Market], tuple[object, ...]]:
        """Pickle the question only."""
        return Market, tuple(getattr(self, part.name) for part in fields(self))

    @cached_property
    def world(self) -> World:
        """The scenario as it is."""
        return World(inputs_of(self.loaded))

    @cached_property
    def problem(self) -> Problem:
        """The decision problem at the prices of today."""
        return self.world.problem(self.known)

    @cached_property
    def bounds(self) -> PriceBounds:
        """Bounds at any prices."""
        return PriceBounds(self.problem, by_quote(self.world.frame))

    @cached_property
    def factors(self) -> dict[str, Floats]:
        """Quote -> its factor in every sample."""
        return price_factors(self.spans, 0, self.samples, self.seed)

    def caps(self, plans: Sequence[PricePlan]) -> Floats:
        """Return what the cheapest of some plans costs in every sample, budgets left out, shape (N,)."""
        return np.asarray(np.stack([plan.figure("npv", self.factors) for plan in plans]).min(axis=0))

    def parts(self, plans: Sequence[PricePlan]) -> dict[str, Part]:
        """Return the parts with runs that might be cheaper than some plans at some sample."""
        low = {quote: float(values.min()) for quote, values in self.factors.items()}
        lowest = self.bounds.at(low, range(len(self.problem.profiles)))
        return parts_of(self.problem, lowest, float(self.caps(plans).max()))

    def effort(self) -> Effort:
        """Return a fresh count of what is spent."""
        return Effort(self.solver, self.settings, time.monotonic())

    def solved(
        self, factors: Mapping[str, Decimal], effort: Effort, incumbent: Decimal | None = None
    ) -> PricePlan | None:
        """Return the best plan at one price vector by the full model; None when none is better than the incumbent."""
        problem = self.world.with_frame(quote_factors(self.world.frame, factors)).problem(self.known)
        choice = best_choice(problem, problem, bounds(problem), incumbent, effort)
        return None if choice is None else self.planned(choice)

    def planned(self, choice: Choice) -> PricePlan:
        """Return a decision as linear functions, checked independently.

        Raises:
            InternalError: the check disagrees.
        """
        key = choice_key(choice)
        if key not in self._planned:
            inputs = self.world.inputs.with_frame(without_budget(self.world.frame))
            checked_choice(rebound(choice, inputs.frame), prepare(inputs, self.known), inputs)
            self._planned[key] = price_plan(choice, self.world.frame)
        return self._planned[key]

    @cached_property
    def _planned(self) -> dict[str, PricePlan]:
        return {}


def today(market: Market) -> tuple[PricePlan, ...]:
    """Return the best plan at the prices of today; empty when there is none."""
    plan = market.solved({quote: Decimal(1) for quote in market.spans}, market.effort())
    return () if plan is None else (plan,)


@dataclass(frozen=True)
class PartTask:
    """Finds the plans of a part that are best at some sample, budgets left out; the key is its name.

    Attributes:
        market: The market.
        plans: Plans known beforehand: what costs more than they do is of no interest.
    """

    market: Market
    plans: tuple[PricePlan, ...]

    def __call__(self, key: str) -> Row:
        """Return the plans of a part."""
        market, effort, caps = self.market, self.market.effort(), self.market.caps(self.plans)
        part = market.parts(self.plans)[key]
        own = [plan for plan in self.plans if set(plan.slopes["npv"]) <= set(part.quotes)]
        models = PriceModels(market.problem, by_quote(market.world.frame))
        value = PartValue(part, market.bounds, models, market.planned, effort, float(caps.max()), own)
        value.settle(np.stack([market.factors[quote] for quote in part.quotes], axis=1), caps)
        return _row(value.plans, effort)


@dataclass(frozen=True)
class SampleTask:
    """Solves a sample by the full model with its budgets; the key is its number.

    Attributes:
        market: The market.
        plans: Plans known beforehand: the best affordable one is the incumbent.
    """

    market: Market
    plans: tuple[PricePlan, ...] = ()

    def __call__(self, key: str) -> Row:
        """Return the best plan of a sample; none where no known plan is beaten, or there is none."""
        effort = self.market.effort()
        return _row([self._best(int(key), effort)], effort)

    def _best(self, sample: int, effort: Effort) -> PricePlan | None:
        market = self.market
        single = {quote: values[sample : sample + 1] for quote, values in market.factors.items()}
        affordable = [plan for plan in self.plans if plan.affordable(budgets_of(market.world.frame), single)[0]]
        incumbent = min((float(plan.figure("npv", single)[0]) for plan in affordable), default=None)
        exact = {quote: Decimal(f"{values[0]:.{DIGITS}f}") for quote, values in single.items()}
        return market.solved(exact, effort, None if incumbent is None else Decimal(repr(incumbent)))


def _row(plans: Sequence[PricePlan | None], effort: Effort) -> Row:
    return {
        "plans": [plan and plan.model_dump(mode="json") for plan in plans],
        "solves": effort.solves,
        "proven": effort.proven,
    }


def plans_in(rows: Mapping[str, Row]) -> list[PricePlan]:
    """Return the plans that tasks found."""
    return [PricePlan.model_validate(plan) for row in rows.values() for plan in row["plans"] if plan is not None]


def over_budget(plans: Sequence[PricePlan], market: Market) -> list[int]:
    """Return the samples at which the cheapest plan, budgets left out, breaks a budget."""
    npv, kept = priced_samples(plans, market)
    best = npv.argmin(axis=1)
    return [int(sample) for sample in np.flatnonzero(~kept[np.arange(len(best)), best])]


def priced_samples(plans: Sequence[PricePlan], market: Market) -> tuple[Floats, Booleans]:
    """Return what every plan costs in every sample and whether it keeps the budgets, both of shape (N, plans)."""
    budgets = budgets_of(market.world.frame)
    npv = np.stack([plan.figure("npv", market.factors) for plan in plans], axis=1)
    return npv, np.stack([plan.affordable(budgets, market.factors) for plan in plans], axis=1)


def played_prices(market: Market, how: Sweeping, signature: str, *, naive: bool = False) -> Played | None:
    """Return every plan that is best at some price sample, re-priced in all of them; None when there is no plan.

    Args:
        market: The scenario, its price ranges and samples.
        how: Who solves.
        signature: Of the question.
        naive: Solve every sample from nothing, to compare with; several runs are always solved so.
    """
    first = today(market)
    if not first:
        return None
    naive = naive or several(market.problem)
    every = range(market.samples)
    parts = Outcome({}, {}) if naive else sweep(list(market.parts(first)), PartTask(market, first), how, signature)
    plans = unique([*first, *plans_in(parts.rows)])
    pending = every if naive or parts.failed else over_budget(plans, market)
    task = SampleTask(market, () if naive else tuple(plans))
    solved = sweep([str(sample) for sample in pending], task, how, signature)
    failed = {int(key) for key in solved.failed}
    kept = np.array([sample for sample in every if sample not in failed], dtype=np.int64)
    rows = [*parts.rows.values(), *solved.rows.values()]
    found = _Found(market, unique([*plans, *plans_in(solved.rows)]), kept)
    return found.played(first[0], solved.failed, sum(row["solves"] for row in rows), all(row["proven"] for row in rows))


@dataclass(frozen=True, eq=False)
class _Found:
    """Plans found, and the samples that were answered."""

    market: Market
    plans: Sequence[PricePlan]
    samples: Integers

    def played(self, first: PricePlan, failures: Mapping[str, str], solves: int, proven: bool) -> Played:
        """Return the plans that are best somewhere, and the plan of today, in all samples."""
        every, kept = priced_samples(self.plans, self.market)
        npv, affordable = every[self.samples], kept[self.samples]
        possible = np.where(affordable | ~affordable.any(axis=1, keepdims=True), npv, np.inf)
        best = possible.min(axis=1)
        close = np.maximum(RELATIVE * np.abs(best), 2.0 * 10.0 ** -minor_digits(self.market.loaded.scenario.currency))
        winning = {int(column) for column in (possible <= (best + close)[:, None]).argmax(axis=1)}
        used = [at for at, plan in enumerate(self.plans) if at in winning or plan.name == first.name]
        plans = [self.plans[at] for at in used]
        budgeted = bool(budgets_of(self.market.world.frame))
        outcomes = Outcomes(
            npv[:, used], best, np.ones_like(npv[:, used], dtype=np.bool_), affordable[:, used] if budgeted else None
        )
        return Played(
            outcomes=outcomes,
            information=self._worth(plans, npv[:, used]),
            plans=[plan.plan for plan in plans],
            samples=self.market.samples,
            failures=failures,
            solves=solves,
            proven=proven,
            against="the best plan of each sample",
        )

    def _worth(self, plans: Sequence[PricePlan], npv: Floats) -> dict[str, float]:
        quotes = self.market.spans
        slopes = {
            f"price.{quote}": np.array([plan.slopes["npv"].get(quote, 0.0) for plan in plans]) for quote in quotes
        }
        inputs = {f"price.{quote}": self.market.factors[quote][self.samples] for quote in quotes}
        return linear_information_values(npv, inputs, slopes)
