"""What the obvious alternatives to a plan cost: one quote only, today's fleet, renting on demand.

Each is the same problem with fewer offers, solved by the same search, so a plan never costs more than one of them. Units
signed already stay in every one of them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Literal

from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.cost.option import Option
from optimizer.errors import InternalError
from optimizer.results import Baseline, BaselineName, Plan
from optimizer.schema.base import OfferType
from optimizer.solver.assemble import priced
from optimizer.solver.backend import Settings
from optimizer.solver.bounds import bounder
from optimizer.solver.found import Found, SolverName
from optimizer.solver.offers import signed_units
from optimizer.solver.planner import Inputs, Prepared, decide
from optimizer.solver.plans import checked_choice, objective_value
from optimizer.solver.problem import Pool, Problem, supply_nodes, window
from optimizer.units import round_money

SECONDS = 10.0
"""Longest search for an alternative of several runs; it is then called feasible."""

NOISE = Decimal("1e-9")
"""Relative difference of two objectives that a solver's whole units may hide."""

BASELINE_S = 0.5
"""Seconds for a baseline of a plan that is not proven."""

PROMISING_QUOTES = 3
"""Quotes tried alone where not all can be, by their bound."""

LARGE_S = 3.0
"""Seconds for a baseline where runs are too many to list."""

Keep = Callable[[Option], bool]
"""Whether an offer may be awarded beyond what is signed."""


@dataclass(frozen=True)
class _Task:
    """A plan and all that is needed to solve its alternatives."""

    plan: Plan
    prepared: Prepared
    inputs: Inputs
    solver: SolverName
    settings: Settings

    @property
    def problem(self) -> Problem:
        return self.prepared.problem

    @property
    def is_large(self) -> bool:
        """Whether there are several runs: then each baseline has a time limit."""
        return self.problem.several

    def solved(self, problem: Problem) -> Found:
        """Return the best decision of a problem with fewer offers, checked independently."""
        own = replace(self.prepared, problem=problem)
        limit = min(LARGE_S, self.settings.time_limit_s or LARGE_S) if self.is_large else self.settings.time_limit_s
        found = decide(own, self.solver, replace(self.settings, time_limit_s=limit), unique=True)
        if found.choice is not None:
            checked_choice(found.choice, own, self.inputs.with_frame(problem.frame))
        return found


def with_baselines(plan: Plan, prepared: Prepared, inputs: Inputs, solver: SolverName, settings: Settings) -> Plan:
    """Return a proven plan with its baselines under ``analyses.baselines``.

    Raises:
        InternalError: the independent check refuses a baseline.
    """
    task = _Task(plan, prepared, inputs, solver, settings)
    rows = [
        _single_quote(task),
        _owned(task),
        _rented(task, "rented", None),
        _rented(task, "on_demand", OfferType.ON_DEMAND),
    ]
    found = [row.model_dump(mode="json") for row in rows]
    return plan.model_copy(update={"analyses": {**plan.analyses, "baselines": found}})


def no_worse(found: Found, prepared: Prepared, inputs: Inputs, solver: SolverName, settings: Settings) -> Found:
    """Return an unproven plan, or a baseline that is better: a search that was stopped is never worse than the obvious.

    Each baseline gets a moment only; without an answer by then it is passed over.
    """
    if found.status != "feasible" or found.choice is None or solver == "enumerate":
        return found
    quick = replace(settings, time_limit_s=BASELINE_S, progress=None)
    best = found
    for keep in _simple(prepared.problem):
        problem = restricted(prepared.problem, keep)
        other = decide(replace(prepared, problem=problem), solver, quick, unique=False) if problem.profiles else None
        if other is not None and other.choice is not None and _less(other.choice, best.choice, prepared):
            best = replace(found, choice=other.choice, proof=f"{found.proof}; a plan with fewer offers was better")
    return best


def _less(one: Choice, other: Choice | None, prepared: Prepared) -> bool:
    if other is None:
        return True
    first, second = (objective_value(choice, prepared) for choice in (one, other))
    return first > second if prepared.problem.frame.scenario.objective == "capacity" else first < second


def _simple(problem: Problem) -> Iterator[Keep]:
    """Yield what may be awarded in the baselines: nothing new, hours, and each of the most promising quotes."""
    yield lambda option: False
    yield lambda option: option.offer.type == OfferType.ON_DEMAND
    if problem.windows is None:
        quotes = sorted({option.quote.quote for option in problem.options})
        for _, quote, _ in _promising(problem, quotes)[:PROMISING_QUOTES]:
            yield partial(_is_of, quote)


def _is_of(quote: str, option: Option) -> bool:
    return option.quote.quote == quote


def restricted(problem: Problem, keep: Keep) -> Problem:
    """Return a problem in which only some offers may be awarded, and units signed already of the others."""
    signed = signed_units(problem.frame)
    kept = [[o for o in pool.options if keep(o) or o.offer_key in signed] for pool in problem.pools]
    capped = {o.offer_key: signed[o.offer_key] for own in kept for o in own if not keep(o)}
    frame = _capped(problem.frame, capped)
    pools = [
        replace(pool, options=tuple(replace(o, offer=frame.quotes[o.quote.quote].offers[o.name]) for o in own))
        for pool, own in zip(problem.pools, kept, strict=True)
    ]
    return replace(problem, frame=frame).with_pools(pools)


def _capped(frame: Frame, most: dict[tuple[str, str], int]) -> Frame:
    """Return a scenario with some offers of so many units, rounded up to their step, and no more."""
    quotes = dict(frame.quotes)
    for (quote, name), units in most.items():
        offers = dict(quotes[quote].offers)
        step = offers[name].units.step
        allowed = offers[name].units.model_copy(update={"max": -(-units // step) * step})
        offers[name] = offers[name].model_copy(update={"units": allowed})
        quotes[quote] = quotes[quote].model_copy(update={"offers": offers})
    return Frame(frame.scenario, frame.platforms, quotes) if most else frame


def _single_quote(task: _Task) -> Baseline:
    """Return the best plan that signs one quote, whichever it is; the plan itself when it does."""
    quotes = sorted({option.quote.quote for option in task.problem.options})
    signed = sorted({award.quote for award in task.plan.awards})
    if not quotes:
        return _none(task, "single_quote", "no quote can be used")
    if len(signed) == 1:
        return _itself(task, signed[0])
    promising = _promising(task.problem, quotes)
    tried = promising[:PROMISING_QUOTES] if task.is_large else promising
    best: tuple[Decimal, str, Found] | None = None
    unknown = len(tried) < len(promising)
    for lower, quote, problem in tried:
        if best is not None and Decimal(str(lower)) > best[0]:
            break
        found = task.solved(problem)
        unknown |= found.status in ("unknown", "feasible")
        if found.choice is not None:
            value = _value(found.choice, task)
            best = min(best, (value, quote, found), key=lambda one: one[:2]) if best else (value, quote, found)
    if best is None:
        reason = "no answer within the time limit" if unknown else "no quote alone meets every limit"
        return _none(task, "single_quote", reason, "unknown" if unknown else "infeasible")
    found = replace(best[2], status="feasible") if unknown else best[2]
    return _row(task, "single_quote", found, detail=best[1])


def _itself(task: _Task, quote: str) -> Baseline:
    """Return the plan as its own baseline."""
    cost, value = task.plan.cost, task.plan.objective.value
    if cost is None or value is None:
        raise TypeError("a plan with awards has a cost and an objective")
    finish = max(run.end for run in task.plan.workloads.values())
    return _stated(task, "single_quote", "optimal", (cost.total, cost.npv, value, finish), quote)


def _promising(problem: Problem, quotes: Iterable[str]) -> list[tuple[float, str, Problem]]:
    """Return bound, quote and problem of each quote in which every workload finds a run, least bound first."""
    workloads = set(problem.frame.scenario.workloads)
    found = []
    for quote in quotes:
        own = restricted(problem, partial(_is_of, quote))
        if {profile.workload for profile in own.profiles} == workloads:
            found.append((min(map(bounder(own), own.profiles)), quote, own))
    return sorted(found, key=lambda one: one[:2])


def _value(choice: Choice, task: _Task) -> Decimal:
    """Return the objective, to be minimised."""
    value = objective_value(choice, task.prepared)
    return -value if task.problem.frame.scenario.objective == "capacity" else value


def _owned(task: _Task) -> Baseline:
    """Return the best plan on the nodes there are, and on units signed already."""
    frame = task.problem.frame
    if not frame.scenario.owned and not frame.scenario.fix:
        return _none(task, "owned", "there are no nodes yet: none owned, none signed")
    return _alone(task, "owned", lambda option: False)


def _rented(task: _Task, name: BaselineName, kind: OfferType | None) -> Baseline:
    """Return the best plan that rents whatever is not there, in one way or (None) in any."""

    def rents(option: Option) -> bool:
        return option.site is None if kind is None else option.offer.type == kind

    if not any(map(rents, task.problem.options)):
        return _none(task, name, f"no {'rental' if kind is None else kind.value.replace('_', '-')} offer can be used")
    return _alone(task, name, rents)


def _alone(task: _Task, name: BaselineName, keep: Keep) -> Baseline:
    problem = restricted(task.problem, keep)
    found = task.solved(problem)
    if found.choice is not None:
        return _row(task, name, found)
    if found.status == "unknown":
        return _none(task, name, "no answer within the time limit", "unknown")
    return _none(task, name, " ".join(_why(problem, task)) or "no plan meets every limit")


def _why(problem: Problem, task: _Task) -> Iterator[str]:
    """Yield, for each workload without a run, the pool that is nearest to having the nodes it needs."""
    having = {profile.workload for profile in problem.profiles}
    for name in problem.frame.scenario.workloads:
        if name not in having:
            short = [found for pool in problem.pools if (found := _shortage(name, pool, task)) is not None]
            yield min(short)[1] if short else f"{name} can run nowhere in time."


def _shortage(name: str, pool: Pool, task: _Task) -> tuple[float, str] | None:
    """Return how short of nodes a pool is for a workload (as a share) and in words; None when it is none or has none."""
    there, modes = supply_nodes(pool), task.prepared.modes.get((name, pool.platform.id))
    if not there or modes is None:
        return None
    first, last = window(task.problem.frame.scenario.workloads[name], task.problem.frame)
    days = (last - max(first, min(pool.starts, default=first))).days + 1
    needed = min((mode.nodes for mode in modes.candidates if mode.days <= days), default=None)
    if needed is None or needed <= there:
        return None
    words = f"{name} needs {needed:,} nodes of {pool.platform.id} to end in time, {pool.place} has {there:,}."
    return needed / there, words


def _none(task: _Task, name: BaselineName, reason: str, status: str = "infeasible") -> Baseline:
    return Baseline(
        name=name, status="unknown" if status == "unknown" else "infeasible", detail=None, total=None, npv=None,
        finish=None, objective=None, difference=None, unit=task.plan.objective.unit, reason=reason,
    )  # fmt: skip


def _behind(name: BaselineName, value: Decimal, task: _Task) -> Decimal:
    """Return how much worse the objective a baseline states is than the one the plan will state.

    Raises:
        InternalError: it is better, so the plan is not the best.
    """
    own = task.plan.objective.value or Decimal(0)
    if task.plan.objective.currency:
        own = round_money(own, task.plan.objective.currency)
    gap = own - value if task.problem.frame.scenario.objective == "capacity" else value - own
    if gap < -NOISE * max(abs(own), Decimal(1)):
        raise InternalError(f"the baseline {name} ({value:,.2f}) is better than the plan called optimal ({own:,.2f})")
    return max(gap, Decimal(0))


def _row(task: _Task, name: BaselineName, found: Found, detail: str | None = None) -> Baseline:
    if found.choice is None:
        raise TypeError("a baseline without a plan has no figures")
    price, value = priced(found.choice, task.problem.frame), objective_value(found.choice, task.prepared)
    status: Literal["optimal", "feasible"] = "optimal" if found.status == "optimal" else "feasible"
    return _stated(task, name, status, (price.total, price.npv, value, found.choice.last_run), detail)


def _stated(
    task: _Task,
    name: BaselineName,
    status: Literal["optimal", "feasible"],
    figures: tuple[Decimal, Decimal, Decimal, dt.date],
    detail: str | None,
) -> Baseline:
    """Return a baseline with its total, present value, objective and finish."""
    total, npv, value, finish = figures
    currency = task.problem.frame.scenario.currency
    stated = round_money(value, currency) if task.plan.objective.currency else value
    return Baseline(
        name=name,
        status=status,
        detail=detail,
        total=round_money(total, currency),
        npv=round_money(npv, currency),
        finish=finish,
        objective=stated,
        difference=_behind(name, stated, task),
        unit=task.plan.objective.unit,
        reason=None,
    )
