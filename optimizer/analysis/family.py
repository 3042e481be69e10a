"""The problems that one knob makes of a scenario, solved with every plan found so far as incumbent."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from optimizer.analysis.lines import Line, line_of, tolerance
from optimizer.analysis.optimum import Effort, best_choice, bounds
from optimizer.analysis.scales import Knob
from optimizer.solver.planner import Inputs, Modes, prepare
from optimizer.solver.problem import Problem

ONE = Decimal(1)
"""The factor of today."""


@dataclass
class Family:
    """The problems that one knob makes, with every plan found so far.

    Attributes:
        inputs: Inputs at factor 1.
        knob: Returns the scenario at a factor.
        effort: Solver and count.
        known: Modes, which no price changes.
        lines: Plans found, as lines.
    """

    inputs: Inputs
    knob: Knob
    effort: Effort
    known: Modes
    lines: list[Line] = field(default_factory=list)
    _problems: dict[Decimal, Problem] = field(default_factory=dict)

    def problem(self, factor: Decimal) -> Problem:
        """Return the decision problem at a factor."""
        if factor not in self._problems:
            self._problems[factor] = prepare(self.inputs.with_frame(self.knob(factor)), self.known).problem
        return self._problems[factor]

    def best(self, factor: Decimal, rows: Decimal) -> Line | None:
        """Return a best line at a factor among the plans affordable at another."""
        costs = self.problem(factor)
        limits = self.problem(rows) if self.budgeted else costs
        values = [line.at(factor) for line in self.lines if line.affordable(rows)]
        choice = best_choice(limits, costs, bounds(costs), min(values, default=None), self.effort)
        if choice is None:
            return None
        found = line_of(choice, self.knob)
        self.lines.append(found)
        return min(
            (line for line in self.lines if line.affordable(rows)), key=lambda line: line.at(factor), default=found
        )

    def close(self, value: Decimal) -> Decimal:
        """Return the difference below which two values count as equal."""
        return tolerance(value, self.inputs.frame.scenario.currency)

    @property
    def budgeted(self) -> bool:
        """Whether prices decide which plans are allowed."""
        budget = self.inputs.frame.scenario.budget
        return budget.total is not None or bool(budget.by_fiscal_year)
