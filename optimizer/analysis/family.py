"""The problems that one move of a scenario makes, solved with every plan found so far as incumbent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from optimizer.analysis.candidates import choice_key
from optimizer.analysis.lines import Line, line_of, rebound, tolerance
from optimizer.analysis.optimum import Effort, best_choice, bounds, several
from optimizer.analysis.price_bounds import PriceBounds
from optimizer.analysis.price_model import PriceModels, without_budget
from optimizer.analysis.scales import SCALED, Grouping, Knob
from optimizer.cost.choice import Choice
from optimizer.solver.planner import Inputs, Modes, prepare
from optimizer.solver.plans import checked_choice
from optimizer.solver.problem import Problem

ONE = Decimal(1)
"""The factor of today."""


@dataclass(eq=False)
class Family:
    """The problems that one move makes, with every plan found so far.

    Attributes:
        inputs: Inputs at factor 1.
        move: Offers whose prices are scaled together; or any other number, as a function of a factor.
        effort: Solver and count.
        known: Modes, which no price changes.
        lines: Plans found, as lines.
    """

    inputs: Inputs
    move: Grouping | Knob
    effort: Effort
    known: Modes
    lines: list[Line] = field(default_factory=list)
    _problems: dict[Decimal, Problem] = field(default_factory=dict)
    _known_lines: dict[str, Line] = field(default_factory=dict)
    _floor: float = float("-inf")

    @cached_property
    def knob(self) -> Knob:
        """Return the scenario at a factor."""
        return self.move.knob() if isinstance(self.move, Grouping) else self.move

    def problem(self, factor: Decimal) -> Problem:
        """Return the decision problem at a factor."""
        if factor not in self._problems:
            self._problems[factor] = prepare(self.inputs.with_frame(self.knob(factor)), self.known).problem
        return self._problems[factor]

    def best(self, factor: Decimal, rows: Decimal) -> Line | None:
        """Return a best line at a factor among the plans affordable at another; None when there is none."""
        value = min((line.at(factor) for line in self.lines if line.affordable(rows)), default=None)
        linear = (
            isinstance(self.move, Grouping) and self.effort.solver != "enumerate" and not several(self.problem(ONE))
        )
        if value is None or not linear:
            return self._solved_anew(factor, rows, value)
        found = self._cheaper(factor, value)
        return self._leading(factor, rows) if found is None else self._affordable(found, factor, rows, value)

    def _affordable(self, found: Line, factor: Decimal, rows: Decimal, value: Decimal) -> Line | None:
        """Return the best line when the best one without budgets is known."""
        if not found.affordable(rows):
            return self._solved_anew(factor, rows, value)
        self.lines.append(found)
        return self._leading(factor, rows)

    def _leading(self, factor: Decimal, rows: Decimal) -> Line | None:
        """Return the best line found so far."""
        affordable = (line for line in self.lines if line.affordable(rows))
        return min(affordable, key=lambda line: line.at(factor), default=None)

    def _solved_anew(self, factor: Decimal, rows: Decimal, value: Decimal | None) -> Line | None:
        """Return the best line by the model of the problem at a factor, its budgets at another."""
        costs = self.problem(factor)
        limits = self.problem(rows) if self.budgeted else costs
        choice = best_choice(limits, costs, bounds(costs), value, self.effort)
        if choice is None:
            return None
        self.lines.append(self._line(choice))
        return self._leading(factor, rows) or self.lines[-1]

    def _cheaper(self, factor: Decimal, value: Decimal) -> Line | None:
        """Return a best line, budgets left out, if one costs less than a value; None when none does.

        Only prices move: rows, and the costs of pools without a scaled offer, are those of today. What such a pool costs
        is at least the best value found at any factor.
        """
        close = float(self.close(value))
        lower = self._prices.at({SCALED: float(factor)}, range(len(self._prices.problem.profiles)))
        bound = [
            max(low, -float("inf") if moves else self._floor) for low, moves in zip(lower, self._moving, strict=True)
        ]
        kept = [index for index, low in enumerate(bound) if low < float(value) - close]
        if not kept:
            return None
        choice = self._models.of(kept).best({SCALED: factor}, self.effort)
        found = None if choice is None else self._line(choice)
        best = float(value) if found is None else min(float(value), float(found.at(factor)))
        if self.effort.proven:
            self._floor = max(self._floor, best - close)
        return found if found is not None and float(found.at(factor)) < float(value) - close else None

    @cached_property
    def _prices(self) -> PriceBounds:
        return PriceBounds(self.problem(ONE), self._grouping)

    @cached_property
    def _models(self) -> PriceModels:
        return PriceModels(self.problem(ONE), self._grouping)

    @cached_property
    def _moving(self) -> Sequence[bool]:
        """Whether the cost of each run may move: an offer of its pool is scaled, or awards elsewhere come with it."""
        if self.problem(ONE).anywhere:
            return [True] * len(self.problem(ONE).profiles)
        moving = {
            pool.name: any(self._grouping.of(option) is not None for option in pool.options)
            for pool in self.problem(ONE).pools
        }
        return [moving[profile.pool.name] for profile in self.problem(ONE).profiles]

    @property
    def _grouping(self) -> Grouping:
        if not isinstance(self.move, Grouping):
            raise TypeError("no price moves")
        return self.move

    def _line(self, choice: Choice) -> Line:
        """Return the line of a decision, checked independently (budgets aside: they hold at other prices)."""
        key = choice_key(choice)
        if key not in self._known_lines:
            inputs = self.inputs.with_frame(without_budget(self.inputs.frame))
            checked_choice(rebound(choice, inputs.frame), prepare(inputs, self.known), inputs)
            self._known_lines[key] = line_of(choice, self.knob)
        return self._known_lines[key]

    def close(self, value: Decimal) -> Decimal:
        """Return the difference below which two values count as equal."""
        return tolerance(value, self.inputs.frame.scenario.currency)

    @property
    def budgeted(self) -> bool:
        """Whether prices decide which plans are allowed."""
        budget = self.inputs.frame.scenario.budget
        return budget.total is not None or bool(budget.by_fiscal_year)
