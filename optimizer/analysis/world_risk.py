"""Everything uncertain at once: candidate plans played through many states of the world."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cached_property
from math import floor

import numpy as np

from optimizer.analysis.candidates import candidate_plans
from optimizer.analysis.decisions import PlanBrief, brief
from optimizer.analysis.executors import Row
from optimizer.analysis.optimum import Effort
from optimizer.analysis.outcomes import Outcomes, Played, information_values
from optimizer.analysis.price_plans import plan_name
from optimizer.analysis.price_risk import DIGITS, Span
from optimizer.analysis.reality import Sample, Signed, duration
from optimizer.analysis.sampling import points
from optimizer.analysis.sweep import Sweeping, sweep
from optimizer.analysis.uncertain import price_range, slips
from optimizer.analysis.world import World, stored_modes
from optimizer.api import inputs_of
from optimizer.cost.choice import Choice
from optimizer.engine.layouts import Booleans, Floats
from optimizer.errors import InputError, Problem
from optimizer.io.loaded import Loaded
from optimizer.schema.ranges import Ranges
from optimizer.solver.backend import Settings
from optimizer.solver.found import SolverName
from optimizer.solver.planner import Modes, prepare
from optimizer.solver.plans import checked_choice


def price_spans(loaded: Loaded, ranges: Ranges) -> dict[str, Span]:
    """Return quote -> least and largest multiple of its prices, by how firm the quote is."""
    return {name: price_range(quote, ranges).ends(Decimal(1)) for name, quote in loaded.quotes.items()}


BLOCK = 50
"""Samples of one task: long enough to pay for its start, short enough to lose little when killed."""


@dataclass(frozen=True)
class WorldTask:
    """Everything a block of samples is computed from; pickles.

    Attributes:
        loaded: The scenario.
        ranges: How far inputs may move.
        seed: Of the sample.
        solver: Solver name.
        settings: Its settings.
        late_day: Stated cost of a late day; None: none.
        known: Modes; what one process computed goes to the others.
    """

    loaded: Loaded
    ranges: Ranges
    seed: int
    solver: SolverName
    settings: Settings
    late_day: Decimal | None
    known: Modes = field(default_factory=stored_modes)

    def __reduce__(self) -> tuple[type[WorldTask], tuple[object, ...]]:
        """Pickle the question only."""
        return WorldTask, tuple(getattr(self, part.name) for part in fields(self))

    @cached_property
    def world(self) -> World:
        """The scenario as it is."""
        return World(inputs_of(self.loaded))

    @cached_property
    def effort(self) -> Effort:
        """What finding the candidates took."""
        return Effort(self.solver, self.settings, time.monotonic())

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """The candidates, cheapest first, each checked independently."""
        prepared = prepare(self.world.inputs, self.known)
        found = tuple(candidate_plans(prepared.problem, self.effort))
        for choice in found:
            checked_choice(choice, prepared, self.world.inputs)
        return found

    @cached_property
    def plans(self) -> tuple[PlanBrief, ...]:
        """The candidates in a row each."""
        return tuple(map(brief, self.choices))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the candidates."""
        return tuple(map(plan_name, self.plans))

    @cached_property
    def signed(self) -> tuple[Signed, ...]:
        """The candidates, signed."""
        inputs = self.world.inputs
        return tuple(
            Signed(
                choice, {run.candidate.workload: duration(run, inputs) for run in choice.runs}, inputs, self.late_day
            )
            for choice in self.choices
        )

    @cached_property
    def dimensions(self) -> Mapping[str, tuple[float, float]]:
        """Uncertain inputs that concern a candidate -> low and high end, in a fixed order."""
        awards = [taken.option for choice in self.choices for taken in choice.taken]
        spans = price_spans(self.loaded, self.ranges)
        prices = {f"price.{quote}": spans[quote] for quote in sorted({award.quote.quote for award in awards})}
        sites = sorted({a.quote.quote for a in awards if slips(a.offer)})
        delivery = {f"delivery.{q}": self.ranges.delivery.ends(Decimal(0)) for q in sites}
        platforms = sorted({run.platform.id for choice in self.choices for run in choice.runs if run.candidate.layout})
        speed = {f"performance.{p}": (Decimal(0), Decimal(1)) for p in platforms}
        scenario = self.world.frame.scenario
        extra = {
            f"workloads.{name}.extra_compute": self.ranges.extra_compute.ends(work.extra_compute)
            for name, work in scenario.workloads.items()
            if work.extra_compute is not None and work.architecture
        }
        key = "reliability.node_failures_per_1000_days"
        failures = {key: self.ranges.failures.ends(scenario.reliability.node_failures_per_1000_days)}
        ends = prices | delivery | speed | extra | failures
        return {name: (max(float(low), _floor(name)), float(high)) for name, (low, high) in ends.items()}

    def columns(self, first: int, last: int) -> dict[str, Floats]:
        """Return input -> values of samples ``first`` to ``last`` - 1: uniform between the ends, independent."""
        spread = points(first, last, len(self.dimensions), self.seed)
        return {
            name: low + spread[:, column] * (high - low)
            for column, (name, (low, high)) in enumerate(self.dimensions.items())
        }

    def __call__(self, key: str) -> Row:
        """Return what becomes of every candidate in the samples of a block ``first-last``."""
        first, last = map(int, key.split("-"))
        columns = self.columns(first, last)
        samples = [
            self._sample({name: float(values[at]) for name, values in columns.items()}) for at in range(last - first)
        ]
        fates = [[signed.fate(sample) for signed in self.signed] for sample in samples]
        return {
            "npv": [[fate.npv for fate in row] for row in fates],
            "in_time": [[fate.in_time for fate in row] for row in fates],
            "in_budget": [[fate.in_budget for fate in row] for row in fates],
            "proven": self.effort.proven,
        }

    def _sample(self, values: Mapping[str, float]) -> Sample:
        base = float(self.world.frame.scenario.reliability.node_failures_per_1000_days)
        return Sample(
            prices={name: round(value, DIGITS) for name, value in _part(values, "price.").items()},
            quantiles=_part(values, "performance."),
            weeks={name: floor(value + 0.5) for name, value in _part(values, "delivery.").items()},
            extra_compute={n.removesuffix(".extra_compute"): v for n, v in _part(values, "workloads.").items()},
            failures=values.get("reliability.node_failures_per_1000_days", base),
        )


def played_worlds(task: WorldTask, samples: int, how: Sweeping, signature: str) -> Played | None:
    """Return candidates played through samples of everything uncertain; None when there is no plan.

    Raises:
        InputError: not one sample could be played through.
    """
    if not task.choices:
        return None
    blocks = [f"{first}-{min(first + BLOCK, samples)}" for first in range(0, samples, BLOCK)]
    outcome = sweep(blocks, task, how, signature)
    if not outcome.rows:
        raise InputError(
            Problem("risk", reason, "no sample could be played through") for reason in set(outcome.failed.values())
        )
    rows = outcome.rows.values()
    npv = np.array([values for row in rows for values in row["npv"]])
    flags: Booleans = np.array([values for row in rows for values in row["in_time"]])
    budgets = [values for row in rows for values in row["in_budget"]]
    in_budget = None if budgets[0][0] is None else np.array(budgets, dtype=np.bool_)
    ends = [(int(first), int(last)) for first, last in (key.split("-") for key in outcome.rows)]
    columns = [task.columns(first, last) for first, last in ends]
    inputs = {name: np.concatenate([part[name] for part in columns]) for name in task.dimensions}
    return Played(
        outcomes=Outcomes(npv, npv.min(axis=1), flags, in_budget),
        information=information_values(npv, inputs),
        plans=task.plans,
        samples=samples,
        failures=outcome.failed,
        solves=None,
        proven=all(row["proven"] for row in rows),
        against="the best candidate of each sample",
    )


def _floor(name: str) -> float:
    """Return the least value an input may take: only deliveries can be early."""
    return float("-inf") if name.startswith("delivery.") else 0.0


def _part(values: Mapping[str, float], prefix: str) -> dict[str, float]:
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
