"""Errors on runs that the fit did not see: refits without each source, platform or model, fast.

The derivatives of a fit are those of its rows, so the matrix made at the fitted constants serves every refit: a few
bounded Gauss-Newton steps with exact predictions. It is made anew for what holds a large part of the rows, where
constants move far. A full refit (``fit.py --leave-out``) takes minutes and differs by a fraction of a point.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from scipy.optimize import lsq_linear

from optimizer.analysis.readings import Case
from tests.evidence.fit import UNFITTED, Fit, current, model, parameters, read_cases, source_family

STORED = Path(__file__).with_name("left_out.csv")
COLUMNS = ("in_sample", "without_source", "without_platform", "without_model")
_STEPS = 4
_LARGE = 1 / 12  # share of the rows from which derivatives are made anew


def platform(case: Case) -> str:
    """Return the platform of a run."""
    return case.setup.platform.id


class LeftOut:
    """A fit with its derivatives at the constants in the cards."""

    def __init__(self, *, experts: bool = False) -> None:
        """Read the cases and differentiate once."""
        self.fit = Fit(read_cases(experts=experts), parameters("experts.yaml" if experts else "parameters.yaml"))
        self.values = current(self.fit.blocks, self.fit.constants)
        self.cases = self.fit.cases
        self.fit.residuals(self.values)
        self.slopes = self.fit.jacobian(self.values)
        self.low, self.high = np.array([(c.low, c.high) for c in self.fit.constants]).T
        self.fitted = np.array([model(case) not in UNFITTED for case in self.cases])

    @property
    def in_sample(self) -> np.ndarray:
        """Return predicted / measured - 1 with the constants in the cards."""
        return self.fit.errors(self.values)

    def without(self, key: Callable[[Case], str]) -> np.ndarray:
        """Return predicted / measured - 1 of every row, by constants fitted without all rows of the same key."""
        names = np.array([key(case) for case in self.cases])
        found = np.empty(len(self.cases))
        for name in np.unique(names):
            own = names == name
            values = self._refit(self.values, self.slopes, self.fitted & ~own)
            if own.mean() > _LARGE:
                self.fit.residuals(values)
                values = self._refit(values, self.fit.jacobian(values), self.fitted & ~own)
            found[own] = self.fit.errors(values)[own]
        return found

    def _refit(self, start: np.ndarray, all_slopes: np.ndarray, kept: np.ndarray) -> np.ndarray:
        rows, scale = np.concatenate([kept, np.ones(len(start), dtype=bool)]), self.high - self.low
        values = np.clip(start, self.low, self.high)
        for _ in range(_STEPS):
            residuals = self.fit.residuals(values)
            weight = (1.0 + residuals**2) ** -0.25  # soft L1 as in the fit: rho' = (1 + r^2)^-0.5
            slopes, off = (all_slopes * weight[:, None])[rows] * scale, (residuals * weight)[rows]
            room = ((self.low - values) / scale - 1e-12, (self.high - values) / scale + 1e-12)
            values = np.clip(values + lsq_linear(slopes, -off, bounds=room, tol=1e-6).x * scale, self.low, self.high)
        return values


def compute() -> dict[str, dict[str, float]]:
    """Return the errors of every dense and MoE step row by ``run_id`` and column."""
    dense, experts = LeftOut(), LeftOut(experts=True)
    tables = (
        (dense, {"in_sample": dense.in_sample, "without_source": dense.without(source_family), "without_platform": dense.without(platform)}),
        (experts, {"in_sample": experts.in_sample, "without_model": experts.without(model)}),
    )  # fmt: skip
    return {
        case.run.run_id: {name: float(errors[place]) for name, errors in table.items()}
        for fit, table in tables
        for place, case in enumerate(fit.cases)
    }


def store(found: Mapping[str, Mapping[str, float]]) -> None:
    """Write the errors for the tests, which have no time for refits."""
    with STORED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("run_id", *COLUMNS))
        for run_id, errors in sorted(found.items()):
            writer.writerow((run_id, *(f"{errors[name]:.4f}" if name in errors else "" for name in COLUMNS)))


def stored() -> dict[str, dict[str, float]]:
    """Return the errors as ``make evidence`` left them."""
    with STORED.open(encoding="utf-8", newline="") as file:
        return {
            row.pop("run_id"): {name: float(text) for name, text in row.items() if text} for row in csv.DictReader(file)
        }
