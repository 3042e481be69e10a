"""Records of a sensitivity analysis: ends, flips, rows, and the grid of two inputs."""

from __future__ import annotations

import datetime as dt

from optimizer.analysis.decisions import Decision
from optimizer.results import Number, Result


class End(Result):
    """The best plan with one input moved."""

    total: Number | None
    """None: no plan is possible."""
    npv: Number | None
    finish: dt.date | None
    decision: Decision


class PolicyEnd(End):
    """The best plan under one of the values of an input that is no number."""

    value: str


class Flip(Result):
    """A value at which the decision changes, coming from the scenario's."""

    value: Number
    """First value seen beyond it; the change lies at most ``within`` before it."""
    within: Number
    to: Decision


class SensitivityRow(Result):
    """One input: the best plan at both ends of its range."""

    input: str
    low: Number | None
    """None, like ``high`` and ``value``, where the input is no number: see ``options``."""
    high: Number | None
    value: Number | None
    """In the scenario."""
    unit: str
    total_low: Number | None
    total_high: Number | None
    npv_low: Number | None
    npv_high: Number | None
    decision_low: Decision
    decision_high: Decision
    swing: Number | None
    """Largest change of the present value; None when an end has no plan (ranked first)."""
    flips: tuple[Flip, ...]
    options: tuple[PolicyEnd, ...] = ()
    """Every value of an input that is no number, cheapest first, those without a plan last; the ends are the first and last."""
    note: str
    """Where the range comes from."""


class Cell(Result):
    """The best plan with two inputs moved."""

    values: tuple[Number, Number]
    end: End


class Grid(Result):
    """Two inputs moved together, from the low to the high end of both."""

    inputs: tuple[str, str]
    cells: tuple[Cell, ...]
    """Row by row: the second input moves fastest."""


class Sensitivity(Result):
    """The answer of ``sensitivity``: rows ranked by how far they move the present value."""

    currency: str
    base: Number
    """Total of the plan as it is."""
    base_npv: Number
    base_decision: Decision
    rows: tuple[SensitivityRow, ...]
    grid: Grid | None
    failed: dict[str, str]
    """Input -> what went wrong."""
    proven: bool
    wall_s: float
