"""A concave function that is dear to compute, bounded everywhere by what is known of it at some points.

The least cost of any plan is such a function of the prices: each plan's cost is linear in them, the least of linear
functions is concave, and no price that rises makes it fall. From below: at a point x it is at least sum(w_i v_i) for
weights w >= 0 that add up to 1 with sum(w_i x_i) <= x, where it is known to be at least v_i at x_i. The best weights are
a linear program with one row per price; its columns are the known points, and it starts from the last basis. From above:
every plan found so far. Where both meet nothing is left to compute; where they do not, the point between the ones with
weight at which they are furthest apart tells most (in one dimension that is where two lines cross: Eisner and Severance,
1976, with any number of prices).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import highspy
import numpy as np

from optimizer.engine.layouts import Floats
from optimizer.solver.highs import QuietHighs

TOLERANCE = 1e-9
"""Of the linear programs, whose values are about 1."""

WEIGHT = 1e-7
"""Weights below are none."""

Point = tuple[float, ...]


def _solver() -> highspy.Highs:
    solver = QuietHighs()  # type: ignore[no-untyped-call]  # highspy leaves its constructor untyped
    options = {
        "output_flag": False,
        "primal_feasibility_tolerance": TOLERANCE,
        "dual_feasibility_tolerance": TOLERANCE,
    }
    for name, value in options.items():
        solver.setOptionValue(name, value)
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    return solver


def _solved(solver: highspy.Highs) -> bool:
    solver.run()
    if solver.getModelStatus() not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible):
        solver.clearSolver()  # a basis that no longer serves
        solver.run()
    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)


@dataclass(frozen=True, eq=False)
class Below:
    """What is known from below about a point.

    Attributes:
        value: The bound; minus infinity when the known points say nothing.
        points: Known points with weight.
        values: What is known at them.
    """

    value: float
    points: tuple[Point, ...] = ()
    values: tuple[float, ...] = ()


@dataclass(eq=False)
class ConcaveBound:
    """Lower bound of a concave function.

    Attributes:
        rising: Per coordinate, whether the function never falls when it grows; a coordinate without that must be met
            exactly.
        unit: Size of its values; the linear programs count in it.
    """

    rising: Sequence[bool]
    unit: float
    points: list[Point] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    _lp: highspy.Highs = field(default_factory=_solver)

    def __post_init__(self) -> None:
        """Start a program without columns: weights add up to 1, and no coordinate is passed."""
        none, nothing = np.empty(0, np.int32), np.empty(0)
        self._lp.addRow(1.0, 1.0, 0, none, nothing)
        for _ in self.rising:
            self._lp.addRow(0.0, 0.0, 0, none, nothing)

    def add(self, point: Point, value: float) -> None:
        """Take in that the function is at least ``value`` at a point."""
        rows = np.arange(1 + len(point), dtype=np.int32)
        self._lp.addCol(value / self.unit, 0.0, highspy.kHighsInf, len(rows), rows, np.array([1.0, *point]))
        self.points.append(point)
        self.values.append(value)

    def at(self, point: Point) -> Below:
        """Return what the known points say about another."""
        for row, (coordinate, rising) in enumerate(zip(point, self.rising, strict=True), start=1):
            self._lp.changeRowBounds(row, -highspy.kHighsInf if rising else coordinate, coordinate)
        if not self.points or not _solved(self._lp):
            return Below(-np.inf)
        weights = np.array(self._lp.getSolution().col_value)
        used = list(np.flatnonzero(weights > WEIGHT))
        value = self.unit * float(self._lp.getInfo().objective_function_value)
        return Below(value, tuple(self.points[i] for i in used), tuple(self.values[i] for i in used))


def furthest(below: Below, above: Floats) -> Floats | None:
    """Return the weights of the point between known ones at which the bounds from above and below are furthest apart.

    Args:
        below: Known points and what is known at them.
        above: Value of every linear function at every point, shape (functions, points).

    Returns:
        Weights, shape (points,); None when they cannot be computed.
    """
    unit, count = max(1.0, float(np.abs(above).max())), len(below.points)
    program = _solver()
    columns = np.arange(count + 1, dtype=np.int32)
    program.addVars(count, np.zeros(count), np.ones(count))
    program.addVar(-highspy.kHighsInf, highspy.kHighsInf)
    program.addRow(1.0, 1.0, count, columns[:count], np.ones(count))
    for line in above:
        program.addRow(0.0, highspy.kHighsInf, count + 1, columns, np.array([*(line / unit), -1.0]))
    program.changeColsCost(count + 1, columns, np.array([*(-np.array(below.values) / unit), 1.0]))
    return np.array(program.getSolution().col_value)[:count] if _solved(program) else None


def corners(low: Sequence[float], high: Sequence[float]) -> list[Point]:
    """Return the corners of a box, the lowest first."""
    points: list[Point] = [()]
    for ends in zip(low, high, strict=True):
        points = [(*point, end) for point in points for end in dict.fromkeys(ends)]
    return sorted(points, key=lambda point: (sum(point), point))
