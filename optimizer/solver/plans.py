"""Plan records: a decision priced, checked and written down; or the conflict when there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from optimizer.cost.choice import Choice
from optimizer.errors import InternalError
from optimizer.results import Conflict, Objective, Plan, Provenance, Rejection, SolveInfo
from optimizer.solver.assemble import award, cost, priced, workload_plan
from optimizer.solver.capacity import Capacity
from optimizer.solver.check import Facts, check
from optimizer.solver.found import Found
from optimizer.solver.planner import Inputs, Prepared
from optimizer.solver.usage import usage


@dataclass(frozen=True, slots=True)
class Report:
    """What a plan record says besides the decision."""

    solve: SolveInfo
    rejections: Sequence[Rejection]
    provenance: Provenance
    conflict: Conflict | None = None


def objective(choice: Choice | None, found: Found, prepared: Prepared) -> Objective:
    """Return the objective of a choice (None: no plan) with its proven bound and gap."""
    frame = prepared.problem.frame
    kind = frame.scenario.objective
    value = None if choice is None else objective_value(choice, prepared)
    bound = value if found.status == "optimal" else found.bound
    if kind == "capacity" and bound is not None:
        bound = abs(bound)  # solvers minimise its negative
    gap = None if bound is None or value is None else abs(value - bound) / max(abs(value), Decimal(1))
    currency = frame.scenario.currency if kind == "cost" else None
    unit = objective_unit(prepared)
    return Objective(kind=kind, value=value, bound=bound, gap=gap, currency=currency, unit=unit)


def objective_unit(prepared: Prepared) -> str:
    """Return the unit of the objective: the currency, days (counted from today), or what capacity is counted in."""
    scenario = prepared.problem.frame.scenario
    if scenario.objective == "capacity":
        return Capacity.of(prepared.problem).unit
    return {"cost": scenario.currency, "time": "days"}[scenario.objective]


def objective_value(choice: Choice, prepared: Prepared) -> Decimal:
    """Return the first objective of a choice: present value, days from today, or effective compute."""
    frame = prepared.problem.frame
    if frame.scenario.objective == "time":
        return Decimal((choice.last_run - frame.today).days)
    if frame.scenario.objective == "capacity":
        return Decimal(Capacity.of(prepared.problem).total(choice))
    return priced(choice, frame).npv


def plan_of(found: Found, prepared: Prepared, inputs: Inputs, report: Report) -> Plan:
    """Return the plan record of what a search found, checked independently.

    Raises:
        InternalError: the independent check disagrees; the plan is not handed out.
    """
    frame = inputs.frame
    choice = found.choice
    if choice is None:
        return _without_plan(found, prepared, report)
    record, own = cost(choice, frame)
    runs = {run.candidate.workload: workload_plan(run, frame.scenario) for run in choice.runs}
    plan = Plan(
        scenario=frame.scenario.name or "scenario",
        status=found.status,
        objective=objective(choice, found, prepared),
        solve=report.solve,
        workloads=runs,
        awards=tuple(award(taken, choice, frame) for taken in choice.taken),
        cost=record,
        limits=usage(choice, own, frame),
        rejections=tuple(report.rejections),
        conflict=None,
        analyses={},
        provenance=report.provenance,
    )
    breaches = check(plan, Facts(frame.scenario, frame.platforms, inputs.architectures, frame.quotes))
    if breaches:
        raise InternalError("the plan found fails its independent check: " + " ".join(map(str, breaches[:5])))
    return plan


def checked_choice(choice: Choice, prepared: Prepared, inputs: Inputs) -> None:
    """Check a choice independently, as a plan is before it is handed out.

    Raises:
        InternalError: the check disagrees.
    """
    found = Found("feasible", choice, None, "none", "checked")
    info = SolveInfo(solver="none", wall_s=0, seed=0, workers=1, candidates=0, layouts_evaluated=0, proof="checked")
    source = Provenance(version="", ortools="", today=inputs.frame.today, inputs=(), assumptions=())
    plan_of(found, prepared, inputs, Report(info, (), source))


def _without_plan(found: Found, prepared: Prepared, report: Report) -> Plan:
    return Plan(
        scenario=prepared.problem.frame.scenario.name or "scenario",
        status=found.status,
        objective=objective(None, found, prepared),
        solve=report.solve,
        workloads={},
        awards=(),
        cost=None,
        limits=(),
        rejections=tuple(report.rejections),
        conflict=report.conflict,
        analyses={},
        provenance=report.provenance,
    )
