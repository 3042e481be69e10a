"""The decision fixed now, the world uncertain: chances, costs, regret, and what it is worth to know more before signing."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Literal

import numpy as np

from optimizer.analysis.decisions import PlanBrief
from optimizer.analysis.executors import local
from optimizer.analysis.optimum import single
from optimizer.analysis.outcomes import Outcomes, Played
from optimizer.analysis.price_plans import plan_name
from optimizer.analysis.price_risk import Market, played_prices
from optimizer.analysis.sweep import Sweeping
from optimizer.analysis.uncertain import offered, senseless, uncertain_inputs
from optimizer.analysis.world import World
from optimizer.analysis.world_risk import WorldTask, played_worlds, price_spans
from optimizer.api import SolveOptions, inputs_of
from optimizer.errors import InputError, Problem, did_you_mean
from optimizer.io.loaded import Loaded
from optimizer.results import Number, Result
from optimizer.schema.ranges import Ranges
from optimizer.version import __version__

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


def risk(
    loaded: Loaded,
    samples: int,
    *,
    vary: Vary = "all",
    late_day: Decimal | None = None,
    information_costs: Mapping[str, Decimal] | None = None,
    options: SolveOptions | None = None,
    ranges: Ranges | None = None,
    how: Sweeping | None = None,
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
        options: How to solve.
        ranges: Instead of those of the library.
        how: Who plays them, and where samples are kept; default this machine with ``options.jobs`` processes.
        naive: Prices only: solve every sample from nothing, to compare with.

    Returns:
        None when there is no plan.

    Raises:
        InputError: another objective than cost, no samples, or a cost that makes no sense; before any solve.
    """
    options, started = options or SolveOptions(), time.monotonic()
    ranges = ranges or loaded.library.ranges
    problems = [
        *_bad_numbers(samples, late_day, information_costs or {}),
        *_bad_inputs(loaded, ranges, information_costs),
    ]
    if problems:
        raise InputError(problems)
    settings = single(options)
    key = _signature(loaded, ranges, samples, options, vary, late_day, naive=naive)
    how = how or Sweeping(local(options.jobs))
    if vary == "prices":
        market = Market(loaded, price_spans(loaded, ranges), samples, options.seed, options.solver, settings)
        played = played_prices(market, how, key, naive=naive or options.solver == "enumerate")
    else:
        task = WorldTask(loaded, ranges, options.seed, options.solver, settings, late_day)
        played = played_worlds(task, samples, how, key)
    return None if played is None else _risk(played, loaded, vary, options.seed, information_costs or {}, started)


def _bad_numbers(samples: int, late_day: Decimal | None, costs: Mapping[str, Decimal]) -> Iterator[Problem]:
    if samples < 1:
        yield Problem("--samples", str(samples), "Expected 1 or more")
    stated = {"--late-day": late_day, **{f"--information-cost {name}": cost for name, cost in costs.items()}}
    for where, amount in stated.items():
        if amount is not None and not (amount.is_finite() and amount >= 0):
            yield Problem(where, str(amount), "Expected an amount of zero or more")


def _bad_inputs(loaded: Loaded, ranges: Ranges, costs: Mapping[str, Decimal] | None) -> Iterator[Problem]:
    """Yield another objective than cost, ranges that make no sense (a price of zero or below), and unknown inputs."""
    kind = loaded.scenario.objective
    if kind != "cost":
        yield Problem("objective", kind, "risk compares costs", "--set objective=cost")
    world = World(inputs_of(loaded))
    inputs = {item.name: item for item in uncertain_inputs(world, ranges, offered(world.frame))}
    for item in inputs.values():
        for wrong in senseless(item):
            yield Problem(f"ranges.yaml, {item.name}", wrong, "Expected a range within what makes sense")
    for name in costs or {}:
        if name not in inputs:
            expected = f"Expected one of {', '.join(inputs)}"
            fix = did_you_mean(name, list(inputs))
            yield Problem(f"--information-cost {name}", "no such uncertain input", expected, fix)


def _signature(
    loaded: Loaded,
    ranges: Ranges,
    samples: int,
    options: SolveOptions,
    vary: Vary,
    late_day: Decimal | None,
    *,
    naive: bool,
) -> str:
    """Return a hash of all that rows depend on; the rows of price parts depend on all samples, others on their own."""
    files = [(file.path, file.sha256) for file in loaded.files]
    counted = samples if vary == "prices" else None
    text = repr((__version__, files, ranges, options.seed, options.solver, options.gap, vary, late_day, naive, counted))
    return hashlib.sha256(text.encode()).hexdigest()


def _risk(
    played: Played,
    loaded: Loaded,
    vary: Vary,
    seed: int,
    costs: Mapping[str, Decimal],
    started: float,
) -> Risk:
    outcomes, currency = played.outcomes, loaded.scenario.currency
    names = [plan_name(plan) for plan in played.plans]
    plans = [_plan(outcomes, column, plan) for column, plan in enumerate(played.plans)]
    worth = {**dict.fromkeys(costs, 0.0), **played.information}  # an input of no candidate is worth nothing
    known = [
        Information(about=name, value=_number(value), currency=currency, cost=costs.get(name))
        for name, value in worth.items()
    ]
    return Risk(
        samples=len(outcomes.best),
        failed=played.samples - len(outcomes.best),
        failures=tuple(sorted(set(played.failures.values()))),
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
