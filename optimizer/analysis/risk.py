"""The decision fixed now, the world uncertain: chances, costs, regret, and what it is worth to know more before signing."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Literal

import numpy as np

from optimizer.analysis.decisions import PlanBrief
from optimizer.analysis.optimum import refuse_several
from optimizer.analysis.outcomes import Outcomes, information_values, linear_information_values
from optimizer.analysis.price_plans import PricePlan, budgets_of, plan_name, unique
from optimizer.analysis.price_risk import PriceTask, price_factors
from optimizer.analysis.sweep import Outcome, Tell, sweep
from optimizer.analysis.world_risk import WorldTask, price_spans
from optimizer.api import SolveOptions
from optimizer.engine.layouts import Booleans
from optimizer.errors import InputError, Problem
from optimizer.io.loaded import Loaded
from optimizer.json_numbers import Number
from optimizer.results import Result
from optimizer.schema.ranges import Ranges
from optimizer.version import __version__

BLOCK = 50
"""Samples of one task: long enough to pay for its start, short enough to lose little when killed."""

Vary = Literal["prices", "all"]


class CostQuantiles(Result):
    """Present value that is not exceeded in 10, 50 and 90 % of the samples, major units."""

    p10: Number
    p50: Number
    p90: Number


class RiskPlan(Result):
    """One plan under uncertainty."""

    plan: str
    """What is signed, nodes and planned finish."""
    details: PlanBrief
    p_deadline: Number
    """Share of samples in which every deadline is met on what was signed."""
    p_budget: Number | None
    """Share of samples in which every budget holds; None without a budget."""
    cost: CostQuantiles
    mean: Number
    """Mean present value."""
    regret: Number
    """Mean present value above that of the best plan of each sample."""
    max_regret: Number
    p_best: Number
    """Share of samples in which no plan is better."""


class Information(Result):
    """What it is worth to know one input before signing."""

    about: str
    value: Number
    currency: str
    cost: Number | None
    """What finding out costs, where it was given."""


class Risk(Result):
    """The answer of ``risk``."""

    samples: int
    failed: int
    failures: tuple[str, ...]
    """What went wrong, each once."""
    vary: Vary
    seed: int
    currency: str
    plans: tuple[RiskPlan, ...]
    """By mean present value."""
    least_mean: str
    """The plan of least mean present value."""
    min_max_regret: str
    """The plan whose largest regret is least."""
    regret_against: str
    """What regret is measured against."""
    information: tuple[Information, ...]
    """By value."""
    solves: int | None
    """Models solved; None when plans were only played through."""
    proven: bool
    wall_s: float


@dataclass(frozen=True)
class _Played:
    """Samples played through."""

    outcomes: Outcomes
    information: Mapping[str, float]
    plans: Sequence[PlanBrief]
    solves: int | None
    proven: bool
    against: str


def risk(
    loaded: Loaded,
    samples: int,
    *,
    vary: Vary = "all",
    late_day: Decimal | None = None,
    information_costs: Mapping[str, Decimal] | None = None,
    options: SolveOptions | None = None,
    ranges: Ranges | None = None,
    store: Path | None = None,
    tell: Tell | None = None,
    naive: bool = False,
) -> Risk | None:
    """Return what becomes of plans when inputs are uncertain.

    Args:
        loaded: The scenario; its objective must be cost.
        samples: States of the world; the same for every plan.
        vary: ``prices``: only prices move and the best plan of every sample is found and proven; ``all``: prices,
            deliveries, speed, extra compute and failures move and candidate plans are played through.
        late_day: Cost of a day after the deadline, in the scenario's currency; None: renting what is missing is
            preferred where it is offered.
        information_costs: Input -> what finding out costs, to set beside its value.
        options: How to solve; ``jobs`` processes.
        ranges: Instead of those of the library.
        store: Results file to resume from.
        tell: Told about progress.
        naive: Prices only: solve every sample from nothing, to compare with.

    Returns:
        None when there is no plan.

    Raises:
        InputError: another objective than cost, no samples, or a cost that makes no sense; before any solve.
    """
    options, started = options or SolveOptions(), time.monotonic()
    _check(samples, late_day, information_costs or {})
    if loaded.scenario.objective != "cost":
        raise InputError(
            [Problem("objective", loaded.scenario.objective, "risk compares costs", "--set objective=cost")]
        )
    refuse_several(loaded.scenario, "risk")
    ranges = ranges or loaded.library.ranges
    settings = replace(
        options.settings(), workers=options.workers or 1
    )  # small models: threads cost more than they gain
    blocks = [f"{first}-{min(first + BLOCK, samples)}" for first in range(0, samples, BLOCK)]
    task: PriceTask | WorldTask
    if vary == "prices":
        spans = price_spans(loaded, ranges)
        task = PriceTask(loaded, spans, options.seed, options.solver, settings, naive)
        exists = bool(task.first)
    else:
        task = WorldTask(loaded, ranges, options.seed, options.solver, settings, late_day)
        exists = bool(task.choices)
    if not exists:
        return None
    key = _signature(loaded, ranges, options, vary, late_day, naive=naive)
    outcome = sweep(blocks, task, jobs=options.jobs or 1, store=store, signature=key, tell=tell)
    played = _prices(task, outcome) if isinstance(task, PriceTask) else _worlds(task, outcome)
    return _risk(played, loaded, outcome, samples, vary, options.seed, information_costs or {}, started)


def _check(samples: int, late_day: Decimal | None, costs: Mapping[str, Decimal]) -> None:
    problems = [Problem("--samples", str(samples), "Expected 1 or more")] if samples < 1 else []
    stated = {"--late-day": late_day, **{f"--information-cost {name}": cost for name, cost in costs.items()}}
    for where, amount in stated.items():
        if amount is not None and not (amount.is_finite() and amount >= 0):
            problems.append(Problem(where, str(amount), "Expected an amount of zero or more"))
    if problems:
        raise InputError(problems)


def _signature(
    loaded: Loaded, ranges: Ranges, options: SolveOptions, vary: Vary, late_day: Decimal | None, *, naive: bool
) -> str:
    files = [(file.path, file.sha256) for file in loaded.files]
    text = repr((__version__, files, ranges, options.seed, options.solver, options.gap, vary, late_day, naive, BLOCK))
    return hashlib.sha256(text.encode()).hexdigest()


def _blocks(outcome: Outcome) -> list[tuple[int, int]]:
    return [(int(first), int(last)) for first, last in (key.split("-") for key in outcome.rows)]


def _prices(task: PriceTask, outcome: Outcome) -> _Played:
    """Return the samples of a price sweep: every plan found, re-priced in every sample."""
    found = [PricePlan.model_validate(plan) for row in outcome.rows.values() for plan in row["plans"]]
    plans = unique(found or task.first)
    columns = [price_factors(task.spans, first, last, task.seed) for first, last in _blocks(outcome)]
    factors = {quote: np.concatenate([part[quote] for part in columns]) for quote in task.spans}
    npv = np.stack([plan.figure("npv", factors) for plan in plans], axis=1)
    best = np.array([math.nan if v is None else v for row in outcome.rows.values() for v in row["values"]])
    budgets = budgets_of(task.problem.frame)
    in_budget = np.stack([plan.affordable(budgets, factors) for plan in plans], axis=1) if budgets else None
    deadlines = [work.deadline for work in task.loaded.scenario.workloads.values() if work.deadline]
    met = [not deadlines or plan.plan.finish <= max(deadlines) for plan in plans]
    best = np.where(np.isnan(best), npv.min(axis=1), best)
    outcomes = Outcomes(npv, best, np.broadcast_to(np.array(met), npv.shape), in_budget)
    slopes = {
        f"price.{quote}": np.array([plan.slopes["npv"].get(quote, 0.0) for plan in plans]) for quote in task.spans
    }
    inputs = {f"price.{quote}": column for quote, column in factors.items()}
    worth = linear_information_values(npv, inputs, slopes)
    solves = sum(row["solves"] for row in outcome.rows.values())
    proven = all(row["proven"] for row in outcome.rows.values())
    return _Played(outcomes, worth, [plan.plan for plan in plans], solves, proven, "the best plan of each sample")


def _worlds(task: WorldTask, outcome: Outcome) -> _Played:
    """Return the samples in which candidates were played through."""
    npv = np.array([values for row in outcome.rows.values() for values in row["npv"]])
    flags: Booleans = np.array([values for row in outcome.rows.values() for values in row["in_time"]])
    budgets = [values for row in outcome.rows.values() for values in row["in_budget"]]
    in_budget = None if budgets[0][0] is None else np.array(budgets, dtype=np.bool_)
    columns = [task.columns(first, last) for first, last in _blocks(outcome)]
    inputs = {name: np.concatenate([part[name] for part in columns]) for name in task.dimensions}
    proven = all(row["proven"] for row in outcome.rows.values())
    outcomes = Outcomes(npv, npv.min(axis=1), flags, in_budget)
    return _Played(
        outcomes, information_values(npv, inputs), task.plans, None, proven, "the best candidate of each sample"
    )


def _risk(
    played: _Played,
    loaded: Loaded,
    outcome: Outcome,
    samples: int,
    vary: Vary,
    seed: int,
    costs: Mapping[str, Decimal],
    started: float,
) -> Risk:
    outcomes, currency = played.outcomes, loaded.scenario.currency
    names = [plan_name(plan) for plan in played.plans]
    plans = [_plan(outcomes, column, plan) for column, plan in enumerate(played.plans)]
    known = [
        Information(about=name, value=_number(value), currency=currency, cost=costs.get(name))
        for name, value in played.information.items()
    ]
    return Risk(
        samples=len(outcomes.best),
        failed=samples - len(outcomes.best),
        failures=tuple(sorted(set(outcome.failed.values()))),
        vary=vary,
        seed=seed,
        currency=currency,
        plans=tuple(sorted(plans, key=lambda plan: plan.mean)),
        least_mean=names[outcomes.cheapest()],
        min_max_regret=names[outcomes.min_max_regret()],
        regret_against=played.against,
        information=tuple(sorted(known, key=lambda item: (-item.value, item.about))),
        solves=played.solves,
        proven=played.proven,
        wall_s=round(time.monotonic() - started, 3),
    )


def _plan(outcomes: Outcomes, column: int, plan: PlanBrief) -> RiskPlan:
    npv, regret = outcomes.npv[:, column], outcomes.regret[:, column]
    p10, p50, p90 = (_number(value) for value in np.quantile(npv, (0.1, 0.5, 0.9)))
    best = regret <= np.maximum(0.02, 1e-8 * np.abs(outcomes.best))
    return RiskPlan(
        plan=plan_name(plan),
        details=plan,
        p_deadline=_number(outcomes.in_time[:, column].mean(), 6),
        p_budget=None if outcomes.in_budget is None else _number(outcomes.in_budget[:, column].mean(), 6),
        cost=CostQuantiles(p10=p10, p50=p50, p90=p90),
        mean=_number(npv.mean()),
        regret=_number(regret.mean()),
        max_regret=_number(regret.max()),
        p_best=_number(best.mean(), 6),
    )


def _number(value: float, digits: int = 2) -> Decimal:
    """Return a statistic as a number with few digits: it is no exact amount, and equal on every machine."""
    return Decimal(f"{value:.{digits}f}")
