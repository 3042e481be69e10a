"""Statistics over samples: quantiles, regret, and what it is worth to know an input before signing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.analysis.decisions import PlanBrief
from optimizer.engine.layouts import Booleans, Floats

DEGREE = 3
"""Degree of the polynomial that a cost difference is smoothed with in one input: monotone effects with one bend."""

NOISE = 1e-9
"""Share of the cost below which a value of information is the rounding of sums, not a value."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What became of P plans in N samples.

    Attributes:
        npv: Present value, shape (N, P).
        best: Least present value of any plan in each sample, shape (N,).
        in_time: Whether the deadline is met, shape (N, P).
        in_budget: Whether the budgets hold, shape (N, P); None without a budget.
    """

    npv: Floats
    best: Floats
    in_time: Booleans
    in_budget: Booleans | None

    @property
    def regret(self) -> Floats:
        """Present value above that of the best plan of the same sample, shape (N, P), never below zero."""
        return np.maximum(0.0, self.npv - self.best[:, None])

    def min_max_regret(self) -> int:
        """Return the plan whose largest regret is least; ties go to the lower mean."""
        worst = self.regret.max(axis=0)
        return int(np.lexsort((self.npv.mean(axis=0), worst))[0])

    def cheapest(self) -> int:
        """Return the plan of least mean present value."""
        return int(np.argmin(self.npv.mean(axis=0)))


@dataclass(frozen=True, eq=False)
class Played:
    """Samples played through.

    Attributes:
        outcomes: What became of every plan.
        information: Input -> what knowing it is worth.
        plans: The plans, in the order of the outcomes.
        samples: Samples asked for.
        failures: What went wrong, by task.
        solves: Models solved; None when plans were only played through.
        proven: Whether every model was solved to proof.
        against: What regret is measured against.
    """

    outcomes: Outcomes
    information: Mapping[str, float]
    plans: Sequence[PlanBrief]
    samples: int
    failures: Mapping[str, str]
    solves: int | None
    proven: bool
    against: str


def information_values(npv: Floats, inputs: Mapping[str, Floats]) -> dict[str, float]:
    """Return what knowing each input before signing is worth: the expected gain of deciding with that knowledge.

    Half of the samples teach what each plan costs given the input (a least-squares polynomial, Strong, Oakley and
    Brennan 2014), the other half show what choosing by it gains over the plan of least mean; then the other way round.
    Chance alone therefore gains nothing, and a decision that cannot change is worth exactly zero. Never negative.

    Args:
        npv: Present value of P plans in N samples, shape (N, P).
        inputs: Input -> its values, shape (N,).
    """
    return {name: max(0.0, _gain(npv, column)) for name, column in inputs.items()}


def _gain(npv: Floats, column: Floats) -> float:
    halves = [np.arange(len(column)) % 2 == side for side in (0, 1)]
    if len(column) < 2 * (DEGREE + 1) or np.ptp(column) == 0.0:
        return 0.0
    chosen = np.empty(len(column), dtype=np.int64)
    for seen, unseen in (halves, halves[::-1]):
        chosen[unseen] = _expected(npv[seen], column[seen], column[unseen]).argmin(axis=1)
    least = npv.mean(axis=0).argmin()
    return float((npv[:, least] - npv[np.arange(len(column)), chosen]).mean())


def _expected(npv: Floats, seen: Floats, wanted: Floats) -> Floats:
    """Return the present value of every plan to expect at wanted values of an input, shape (M, P)."""
    middle, half = (seen.max() + seen.min()) / 2, max(float(np.ptp(seen)) / 2, 1e-12)
    basis = np.polynomial.legendre.legvander((seen - middle) / half, DEGREE)
    weights, *_ = np.linalg.lstsq(basis, npv, rcond=None)
    return np.asarray(np.polynomial.legendre.legvander((wanted - middle) / half, DEGREE) @ weights)


def linear_information_values(
    npv: Floats, inputs: Mapping[str, Floats], slopes: Mapping[str, Floats]
) -> dict[str, float]:
    """Return the same where costs are linear in independent inputs: exact but for the sample of the inputs.

    min_p E[C_p] - E[min_p E[C_p | x]] with E[C_p | x] = E[C_p] + slope_p (x - E[x]); never negative (Jensen), and never
    more than knowing everything would save in the sample (which a sample that is not quite independent might suggest).

    Args:
        npv: Present value of P plans in N samples, shape (N, P).
        inputs: Input -> its values, shape (N,).
        slopes: Input -> present value each plan adds per unit of it, shape (P,).
    """
    mean = npv.mean(axis=0)
    most = float(mean.min() - npv.min(axis=1).mean())
    values = {}
    for name, column in inputs.items():
        expected = mean + (column - column.mean())[:, None] * slopes[name]
        gain = min(most, float(mean.min() - expected.min(axis=1).mean()))
        values[name] = gain if gain > NOISE * max(1.0, abs(float(mean.min()))) else 0.0
    return values
