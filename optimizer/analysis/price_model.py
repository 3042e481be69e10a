"""The compact model of some runs at any prices: built once, since prices change its objective only.

Budgets are left out: without them every present value is linear in the prices and the rows are the same for all. What
is best without budgets and keeps them is best with them; otherwise the caller solves the full model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from optimizer.analysis.lines import rebound_option
from optimizer.analysis.optimum import Effort
from optimizer.analysis.scales import Grouping
from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.schema.scenario import Budget
from optimizer.solver.ledger import scale_digits, scaled
from optimizer.solver.model import CompactModel, build_model
from optimizer.solver.problem import Problem
from optimizer.solver.search import backend

Bookings = Mapping[int, Decimal]

SHARED = 20
"""Runs a model may hold beyond those that are needed: solving a few more is cheaper than building another model."""


def at_prices(problem: Problem, kept: Sequence[int], frame: Frame) -> Problem:
    """Return some runs of a problem, and the pools they need, at other prices."""
    reduced = problem.keep(problem.profiles[index] for index in kept)
    pools = {
        id(pool): replace(pool, options=tuple(rebound_option(option, frame) for option in pool.options))
        for pool in reduced.pools
    }
    profiles = tuple(replace(run, pool=pools[id(run.pool)]) for run in reduced.profiles)
    return replace(reduced, frame=frame, pools=tuple(pools.values()), profiles=profiles, rejections=())


def without_budget(frame: Frame) -> Frame:
    """Return a scenario in which any amount may be spent."""
    return replace(frame, scenario=frame.scenario.model_copy(update={"budget": Budget()}))


@dataclass(frozen=True, eq=False)
class PriceModel:
    """A model with its objective as a function of price factors.

    Attributes:
        model: Rows and variables, without budgets.
        today: Present value by variable at the prices of today.
        slopes: Group of offers -> variable -> present value their prices add.
    """

    model: CompactModel
    today: Bookings
    slopes: Mapping[str, Bookings]

    def best(self, factors: Mapping[str, Decimal], effort: Effort) -> Choice | None:
        """Return the best decision at some prices, budgets left out."""
        booked = dict(self.today)
        for group, slope in self.slopes.items():
            for variable, amount in slope.items():
                booked[variable] += amount * (factors[group] - 1)
        linear = self.model.linear
        digits = scale_digits([booked], linear.upper, self.model.builder.frame.scenario.currency)
        answer = backend(effort.solver).solve(linear, scaled(booked, digits), effort.left())
        effort.solves += 1
        effort.proven &= answer.outcome in ("optimal", "infeasible")
        return self.model.choice(answer.values) if answer.values else None


def price_model(problem: Problem, kept: Sequence[int], grouping: Grouping) -> PriceModel:
    """Return the model of some runs: built at the prices of today, and with each group of offers in it doubled."""
    frame = without_budget(grouping.frame)
    model = build_model(at_prices(problem, kept, frame))
    today = dict(model.builder.ledger.npv)
    groups = sorted({group for option in model.builder.problem.options if (group := grouping.of(option)) is not None})
    slopes = {}
    for group in groups:
        dear = without_budget(grouping.at({group: Decimal(2)}))
        doubled = build_model(at_prices(problem, kept, dear))
        changes = {variable: amount - today[variable] for variable, amount in doubled.builder.ledger.npv.items()}
        slopes[group] = {variable: change for variable, change in changes.items() if change}
    return PriceModel(model, today, slopes)


@dataclass
class PriceModels:
    """Models of a problem, each built for as many questions as possible.

    Attributes:
        problem: The problem at the prices of today.
        grouping: Offers whose prices move together.
    """

    problem: Problem
    grouping: Grouping
    _known: dict[frozenset[int], PriceModel] = field(default_factory=dict)

    def of(self, wanted: Sequence[int]) -> PriceModel:
        """Return a model with some runs, and perhaps a few more."""
        kept = frozenset(wanted)
        serving = [known for known in self._known if kept <= known and len(known) <= len(kept) + SHARED]
        if serving:
            return self._known[min(serving, key=lambda known: (len(known), sorted(known)))]
        last = next(reversed(self._known), frozenset())
        joint = kept | last if len(kept | last) <= SHARED else kept
        self._known[joint] = price_model(self.problem, sorted(joint), self.grouping)
        return self._known[joint]
