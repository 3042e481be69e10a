"""Bounded least squares on the logarithms of step times, with priors: the arithmetic of ``calibrate``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from optimizer.analysis.pilot import PilotRow, predicted_s
from optimizer.analysis.readings import Case
from optimizer.engine.efficiency import Efficiency
from optimizer.engine.layouts import Floats, Integers

LEAST = math.log(0.5)
"""Least logarithm of a factor: half of what was shipped; less is no efficiency."""

EDGE = 1e-3
"""Distance from a bound, in logarithms, within which a parameter counts as pinned."""

_ROW_SD = 0.05  # log error the engine leaves from layout to layout on calibrated platforms (engine README)
_FAR = 3.0  # deviations from which a row is an outlier
_STEPS = 20


class Knob(NamedTuple):
    """A parameter that may be fitted: what it does to the shares, its largest factor and its prior deviation (logs)."""

    name: str
    turn: Callable[[Efficiency, float], Efficiency]
    high: float
    prior: float


class Fitted(NamedTuple):
    """A fit: log factors, their covariance, and what leaving out each row makes of them, shape (rows, parameters)."""

    logs: Floats
    covariance: Floats
    without: Floats


def configurations(rows: Sequence[PilotRow]) -> list[int]:
    """Return the number of each row's configuration: rows of the same setup and layout share one."""
    numbers: dict[tuple[object, ...], int] = {}
    return [numbers.setdefault(_key(row.case), len(numbers)) for row in rows]


def _key(case: Case) -> tuple[object, ...]:
    setup = case.setup
    same = (setup.precision, setup.sequence_length, setup.node_network_gb_s, setup.states, setup.launch)
    return setup.architecture.model_dump_json(), case.layout.model_dump_json(), *map(str, same)


def turned(shares: Efficiency, knobs: Sequence[Knob], logs: Floats) -> Efficiency:
    """Return the shares with every parameter turned by its factor."""
    for knob, value in zip(knobs, logs, strict=True):
        shares = knob.turn(shares, math.exp(value))
    return shares


def predicted(rows: Sequence[PilotRow], shares: Efficiency) -> Floats:
    """Return log predicted seconds of every row with some shares."""
    block = shares.model_dump(mode="json")
    found = []
    for row in rows:
        platform = row.case.setup.platform.model_copy(update={"efficiency": block})
        found.append(math.log(predicted_s(replace(row.case.setup, platform=platform), row.case)))
    return np.array(found)


def fit(rows: Sequence[PilotRow], shipped: Efficiency, knobs: Sequence[Knob]) -> Fitted:
    """Return the bounded Gauss-Newton fit; each left-out fit is one further step without the row's configuration."""
    measured = np.log([row.seconds for row in rows])
    group = np.array(configurations(rows))
    low, high = np.full(len(knobs), LEAST), np.log([knob.high for knob in knobs])
    stiff = np.diag([knob.prior**-2 for knob in knobs])
    logs = np.zeros(len(knobs))
    for _ in range(_STEPS):
        error = predicted(rows, turned(shipped, knobs, logs)) - measured
        slopes = _slopes(rows, shipped, knobs, logs, error + measured)
        weight = _weights(error, group)
        curved = slopes.T @ (weight[:, None] * slopes) + stiff
        moved = np.clip(logs - np.linalg.solve(curved, slopes.T @ (weight * error) + stiff @ logs), low, high)
        settled = np.abs(moved - logs).max() < EDGE / 10
        logs = moved
        if settled:
            break
    without = []
    for own in group:
        kept = group != own
        fewer = slopes[kept].T @ (weight[kept, None] * slopes[kept]) + stiff
        gradient = slopes[kept].T @ (weight * error)[kept] + stiff @ logs
        without.append(np.clip(logs - np.linalg.solve(fewer, gradient), low, high))
    return Fitted(logs, np.asarray(np.linalg.inv(curved), dtype=np.float64), np.array(without))


def _weights(error: Floats, group: Integers) -> Floats:
    """Return what each row counts: repetitions less than other layouts, scattered rows less, outliers least.

    1 / variance, with the deviation of the rows around their median (1.4826 x median distance, at least 5 %), over the
    square root of the repetitions, and falling with the square of the distance from the fit (Cauchy).
    """
    deviation = max(_ROW_SD, 1.4826 * float(np.median(np.abs(error - np.median(error)))))
    far = 1.0 + (error / (_FAR * deviation)) ** 2
    return np.asarray(np.bincount(group)[group] ** -0.5 / deviation**2 / far)


def _slopes(rows: Sequence[PilotRow], shipped: Efficiency, knobs: Sequence[Knob], logs: Floats, here: Floats) -> Floats:
    """Return derivatives of log predictions, shape (rows, parameters); steps lead away from the upper bound."""
    columns = []
    for place in range(len(knobs)):
        moved = logs.copy()
        moved[place] -= EDGE
        columns.append((here - predicted(rows, turned(shipped, knobs, moved))) / EDGE)
    return np.stack(columns, axis=1)


def at_edge(knob: Knob, value: float) -> bool:
    """Return whether a parameter ended at one of its bounds."""
    return value - LEAST < EDGE or math.log(knob.high) - value < EDGE
