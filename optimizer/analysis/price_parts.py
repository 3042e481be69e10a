"""The least cost of any plan for one run as a function of prices, part by part, known at every sample after few solves.

One run occupies one pool, and awards are made in its pool only; so the least cost is the least over pools, and a pool
depends on the prices of the few quotes that offer for it. Each pool's least cost is concave (``concave``), so most
samples need no solve: what is known at other prices proves that no plan is better than the best one found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from optimizer.analysis.concave import Below, ConcaveBound, Point, corners, furthest
from optimizer.analysis.optimum import Effort
from optimizer.analysis.price_bounds import PriceBounds
from optimizer.analysis.price_model import PriceModels
from optimizer.analysis.price_plans import PricePlan
from optimizer.cost.choice import Choice
from optimizer.engine.layouts import Floats
from optimizer.solver.problem import Problem
from optimizer.units import minor_digits

RELATIVE = 1e-8
"""A plan must be cheaper by this share (or two minor units) to count as better: models round to less."""

SETTLED = 2
"""A sample is settled within so many times the closeness: one for the models, one for the linear program."""

CORNERS_TO = 3
"""Up to so many prices every corner of their ranges is solved first; beyond, the lowest and the highest."""

BETWEEN_TO = 4
"""Up to so many prices a solve between known points settles more samples than one at the sample itself."""

DIGITS = 12
"""Decimals of the factors at which models are solved."""


def closeness(value: float, currency: str) -> float:
    """Return what two present values may differ and still be called equal."""
    return max(RELATIVE * abs(value), 2.0 * 10.0 ** -minor_digits(currency))


@dataclass(frozen=True, eq=False)
class Part:
    """Runs whose plans depend on the prices of the same quotes.

    Attributes:
        name: Its pool; or what it stands for when plans cannot be told apart by pool.
        runs: Positions of its runs among the profiles of the problem.
        quotes: Quotes with an offer in it.
    """

    name: str
    runs: tuple[int, ...]
    quotes: tuple[str, ...]


def parts_of(problem: Problem, lowest: Sequence[float], most: float) -> dict[str, Part]:
    """Return the parts of a problem with the runs that might cost no more than a known plan.

    Args:
        problem: The problem.
        lowest: Bound of each run with every price at its low end.
        most: What a known plan costs with every price at its high end.
    """
    kept = [index for index, low in enumerate(lowest) if low <= most]
    if problem.anywhere:
        return {"all": Part("all", tuple(kept), tuple(problem.frame.quotes))} if kept else {}
    found = {}
    for pool in problem.pools:
        runs = tuple(index for index in kept if problem.profiles[index].pool is pool)
        if runs:
            found[pool.name] = Part(pool.name, runs, tuple(sorted({option.quote.quote for option in pool.options})))
    return found


@dataclass(eq=False)
class PartValue:
    """The least cost of a part, bounded from both sides.

    Attributes:
        part: The part.
        bounds: Bounds of all runs at any prices.
        models: Models of any runs.
        planned: Turns a decision into linear functions.
        effort: Solver and count.
        cap: What a plan of any part costs at most at any sample; dearer plans of this part are of no interest.
        plans: Plans of the part found so far.
    """

    part: Part
    bounds: PriceBounds
    models: PriceModels
    planned: Callable[[Choice], PricePlan]
    effort: Effort
    cap: float
    plans: list[PricePlan]

    def __post_init__(self) -> None:
        """Start with nothing known from below."""
        self.currency = self.bounds.problem.frame.scenario.currency
        self.below = ConcaveBound(
            [quote not in self.bounds.falling for quote in self.part.quotes], max(1.0, abs(self.cap))
        )

    def settle(self, points: Floats, caps: Floats) -> None:
        """Find plans until at every point none can be cheaper than the best one found, or than the cap there.

        Args:
            points: Factors of the part's quotes, shape (N, quotes).
            caps: What a known plan costs there, shape (N,).
        """
        ends = [tuple(map(float, end)) for end in (points.min(axis=0), points.max(axis=0))]
        first = corners(*ends) if len(self.part.quotes) <= CORNERS_TO else list(dict.fromkeys(ends))
        for point in first:  # the lowest corner first: its model has every run that matters elsewhere
            self._solve(point)
        for point, cap in zip(points, caps, strict=True):
            self._settle_one(tuple(map(float, point)), float(cap))

    def _settle_one(self, point: Point, cap: float) -> None:
        """Solve between known points, then at the point itself, until it is settled."""
        attempts = len(point) + 2 if len(point) <= BETWEEN_TO else 0
        for attempt in range(attempts + 1):
            below = self.below.at(point)
            least = min(self._least(point), cap)
            if below.value >= least - SETTLED * closeness(least, self.currency):
                return
            where = self._between(below) if attempt < attempts else None
            self._solve(where or point)
            if where is None:
                return

    def _between(self, below: Below) -> Point | None:
        """Return where between the points that bound another one most is unknown; None when that is at one of them."""
        if len(below.points) < 2:
            return None
        known = [dict(zip(self.part.quotes, point, strict=True)) for point in below.points]
        lines = [[plan.npv(factors) for factors in known] for plan in self.plans]
        weights = furthest(below, np.array([*lines, [self.cap] * len(known)]))
        if weights is None:
            return None
        found = tuple(round(float(value), DIGITS) for value in weights @ np.array(below.points))
        return None if found in self.below.points else found

    def _least(self, point: Point) -> float:
        """Return the cost of the best plan found, or the cap."""
        factors = dict(zip(self.part.quotes, point, strict=True))
        return min((plan.npv(factors) for plan in self.plans), default=self.cap)

    def _solve(self, point: Point) -> None:
        """Find out what the least cost at a point is, or that it is no less than what is known from above."""
        least = min(self._least(point), self.cap)
        close = closeness(least, self.currency)
        factors = dict(zip(self.part.quotes, point, strict=True))
        lower = self.bounds.at(factors, self.part.runs)
        kept = [index for index in self.part.runs if lower[index] < least - close]
        exact = {quote: Decimal(f"{factor:.{DIGITS}f}") for quote, factor in factors.items()}
        choice = self.models.of(kept).best(exact, self.effort) if kept else None
        if choice is not None:
            plan = self.planned(choice)
            if plan.npv(factors) < least - close:
                self.plans.append(plan)
                least = plan.npv(factors)
        self.below.add(point, least - close)
