"""What only the engine and the preparation can tell about a plan, computed once more and held against what it states.

The independent check shares no code with what made a plan, so it cannot know step times, bands or why an offer was left
out. Here they are made again from the plan's own inputs: an edited figure shows, a fault of the engine does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from optimizer.candidates.conditions import Conditions
from optimizer.candidates.modes import modes
from optimizer.cost.choice import Choice, Taken
from optimizer.cost.option import Option
from optimizer.results import Award, Candidate, Conflict, Plan, Rejection, Result, WorkloadPlan
from optimizer.schema.quote import RentalOffer
from optimizer.solver.assemble import band_of
from optimizer.solver.capacity import Capacity
from optimizer.solver.check import Breach
from optimizer.solver.offers import following_options
from optimizer.solver.planner import Inputs, Modes, Prepared, prepare, unsearched
from optimizer.solver.precheck import NOT_SEARCHED, impossible
from optimizer.solver.problem import Problem

NOISE = 1e-9
"""Relative error of a figure that went through a JSON double, and of sums made in another order."""

FIGURES = (
    "layout", "step_time_s", "tokens_per_s_per_accelerator", "mfu", "memory_gb", "memory_limit_gb", "goodput",
    "days", "evidence",
)  # fmt: skip
"""What a run states of its mode."""


def replay_breaches(plan: Plan, inputs: Inputs, known: Modes | None = None) -> Iterator[Breach]:
    """Yield what a plan states otherwise than it is computed now from the same inputs.

    Args:
        plan: The plan.
        inputs: What it was made from.
        known: Modes computed before from the same inputs; None = none yet.
    """
    scenario, known = inputs.frame.scenario, known or Modes()
    yield from _differs("provenance.today", "", plan.provenance.today, scenario.today)
    yield from _differs("status", "", plan.status, _status(plan))
    yield from (breach for run in plan.workloads.values() for breach in _run_breaches(run, inputs))
    if plan.solve.solver == NOT_SEARCHED.solver:
        prepared = unsearched(inputs.frame)
        yield from _conflict_breaches(plan.conflict, impossible(inputs.frame))
    else:
        prepared = prepare(inputs, known)
    yield from _differs("solve.candidates", "", plan.solve.candidates, prepared.candidates)
    if plan.workloads:  # why there is no plan may have asked for more
        yield from _differs("solve.layouts_evaluated", "", plan.solve.layouts_evaluated, known.layouts_evaluated)
    yield from _rejection_breaches(plan.rejections, prepared.problem.rejections)
    yield from _capacity_breaches(plan, prepared)
    yield from _baseline_breaches(plan)


def _differs(name: str, where: str, stated: object, computed: object) -> Iterator[Breach]:
    if not _same(stated, computed):
        yield Breach(name, where, str(stated), str(computed))


def _same(stated: object, computed: object) -> bool:
    if isinstance(stated, int | float | Decimal) and isinstance(computed, int | float | Decimal):
        return abs(float(stated) - float(computed)) <= NOISE * max(1.0, abs(float(computed)))
    return stated == computed


def _status(plan: Plan) -> str:
    """Return the status a plan can have, as far as its own numbers tell."""
    if plan.status in ("optimal", "feasible"):
        return "feasible" if not plan.workloads or plan.objective.gap else "optimal"
    return "no plan" if plan.workloads else plan.status


def _run_breaches(run: WorkloadPlan, inputs: Inputs) -> Iterator[Breach]:
    """A predicted run is the best the engine finds on its nodes."""
    if run.architecture is None or run.layout is None or run.name not in inputs.frame.scenario.workloads:
        return
    mode = _predicted(run, inputs)
    if mode is None:
        yield Breach("days", run.name, f"a run on {run.nodes} nodes of {run.platform}", "no mode there")
        return
    for figure in FIGURES:
        yield from _differs(figure, run.name, getattr(run, figure), getattr(mode, figure))
    stated, band = dict(run.band or ()), dict(band_of(mode) or ())
    for figure, days in stated.items():
        if days is not None:  # plans of earlier versions state less
            yield from _differs(f"band.{figure}", run.name, days, band.get(figure))


def _predicted(run: WorkloadPlan, inputs: Inputs) -> Candidate | None:
    scenario = inputs.frame.scenario
    workload, platform = scenario.workloads[run.name], inputs.frame.platforms.get(run.platform)
    if workload.architecture is None or platform is None:
        return None
    conditions = Conditions(inputs.software, inputs.bands, scenario.reliability, scenario.policy)
    architecture = inputs.architectures[workload.architecture]
    found = modes(run.name, workload, architecture, platform, conditions, [run.nodes]).candidates
    return found[0] if found else None


def _plain(records: Iterable[Result]) -> list[str]:
    return sorted(str(_rounded(record.model_dump(mode="json"))) for record in records)


def _rounded(value: Any) -> Any:
    """Return a record with its numbers to nine digits: enough to tell, few enough to agree after a JSON double."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.9g}") if isinstance(value, int | float) and not isinstance(value, bool) else value


def _rejection_breaches(stated: Iterable[Rejection], computed: Iterable[Rejection]) -> Iterator[Breach]:
    said, found = _plain(stated), _plain(computed)
    extra, missing = [one for one in said if one not in found], [one for one in found if one not in said]
    if extra or missing:
        yield Breach("rejections", "", "; ".join(extra) or "fewer", "; ".join(missing) or "fewer")


def _conflict_breaches(stated: Conflict | None, computed: Conflict | None) -> Iterator[Breach]:
    said = [] if stated is None else _plain(stated.limits)
    found = [] if computed is None else _plain(computed.limits)
    yield from _differs("conflict", "", "; ".join(said) or "none", "; ".join(found) or "none")


def _capacity_breaches(plan: Plan, prepared: Prepared) -> Iterator[Breach]:
    """Compute to the horizon, where that is the objective."""
    if plan.objective.kind != "capacity" or not plan.workloads:
        return
    measure = Capacity.of(prepared.problem)
    choice = _choice(plan, prepared.problem)
    total = None if choice is None else measure.total(choice)
    yield from _differs("objective.value", "", plan.objective.value, total)
    yield from _differs("objective.unit", "", plan.objective.unit, measure.unit)


def _choice(plan: Plan, problem: Problem) -> Choice | None:
    """Return the awards of a plan as a choice; None when an award is none of the options."""
    options = {(option.offer_key, option.place, option.lots[-1].delivery): option for option in problem.options}
    lasts = {(o.offer_key, o.place, lot.delivery): o for o in problem.options for lot in o.lots}
    taken = []
    for award in plan.awards:
        key = ((award.quote, award.offer), award.place, award.delivery_date)
        option = options.get(key) or lasts.get(key) or _following(award, problem)
        if option is None:
            return None
        taken.append(Taken(option, award.units, award.workload))
    return Choice(tuple(taken), ())


def _following(award: Award, problem: Problem) -> Option | None:
    """Return the option of a rental that begins with a run that follows another: not listed where runs are many."""
    for option in problem.options:
        own = (*option.offer_key, option.place) == (award.quote, award.offer, award.place)
        if own and isinstance(option.offer, RentalOffer):
            wait = option.lots[0].ready - option.lots[0].delivery
            return next(following_options(option, [award.delivery_date + wait], problem.frame), None)
    return None


def _baseline_breaches(plan: Plan) -> Iterator[Breach]:
    """A baseline's difference is its objective against the plan's; with cost as objective that is its present value."""
    value, more = plan.objective.value, plan.objective.kind == "capacity"
    for row in plan.analyses.get("baselines", ()):
        own, stated = (_decimal(row.get(key)) for key in ("objective", "difference"))
        if own is None or value is None or stated is None:
            continue
        where, gap = str(row.get("name")), max(Decimal(0), value - own if more else own - value)
        yield from _differs("analyses.baselines.difference", where, stated, gap)
        if plan.objective.kind == "cost":
            yield from _differs("analyses.baselines.npv", where, _decimal(row.get("npv")), own)


def _decimal(value: object) -> Decimal | None:
    return None if value is None else Decimal(str(value))
