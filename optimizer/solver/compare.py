"""One row per platform: the best plan forced to it, or the limit that rejects it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from optimizer.cost.choice import Choice
from optimizer.results import CompareRow, Comparison, Rejection
from optimizer.schema.platform import Platform
from optimizer.solver.assemble import priced
from optimizer.solver.backend import Settings
from optimizer.solver.binding import with_binding
from optimizer.solver.conflict import on_platforms
from optimizer.solver.found import Found, SolverName
from optimizer.solver.planner import Inputs, Modes, Prepared, decide, prepare
from optimizer.solver.plans import objective_unit, objective_value
from optimizer.solver.problem import Problem
from optimizer.solver.usage import usage
from optimizer.solver.why_not import why_not


def compare_platforms(inputs: Inputs, known: Modes, solver: SolverName, settings: Settings) -> Comparison:
    """Return a row for every platform of the library that is not there for evidence only."""
    prepared = prepare(inputs, known)
    platforms = [p for _, p in sorted(inputs.frame.platforms.items()) if not p.evidence_only]
    rows = [_row(platform, prepared, inputs, known, solver, settings) for platform in platforms]
    sign = -1 if inputs.frame.scenario.objective == "capacity" else 1

    def order(row: CompareRow) -> tuple[bool, Decimal, Decimal, str]:
        return row.objective is None, sign * (row.objective or Decimal(0)), row.npv or Decimal(0), row.platform

    return Comparison(rows=tuple(sorted(rows, key=order)), runs=len(inputs.frame.scenario.workloads))


def only(problem: Problem, platform: str) -> Problem:
    """Return the problem with the pools and profiles of one platform."""
    pools = tuple(pool for pool in problem.pools if pool.platform.id == platform)
    profiles = tuple(profile for profile in problem.profiles if profile.pool.platform.id == platform)
    rejections = tuple(r for r in problem.rejections if r.platform == platform)
    return replace(problem, pools=pools, profiles=profiles, rejections=rejections)


def _row(
    platform: Platform, prepared: Prepared, inputs: Inputs, known: Modes, solver: SolverName, settings: Settings
) -> CompareRow:
    own = Prepared(only(prepared.problem, platform.id), prepared.modes)
    found = decide(own, solver, settings) if own.problem.profiles else None
    if found is not None and found.choice is not None:
        alone = inputs.with_frame(on_platforms([platform.id], inputs.frame))
        binding = _binding(found.choice, own, alone, known, solver, settings) if found.status == "optimal" else None
        return _planned(platform, found, own, binding)
    if found is not None and found.status == "unknown":
        return _empty(platform, "unknown", None)
    return _empty(platform, "rejected", why_not(platform, own, inputs, known, settings))


def _binding(
    choice: Choice, own: Prepared, inputs: Inputs, known: Modes, solver: SolverName, settings: Settings
) -> tuple[str, ...]:
    """Return the limits whose lifting alone would improve the plan of a platform."""
    limits = usage(choice, priced(choice, inputs.frame), inputs.frame)
    found = with_binding(limits, objective_value(choice, own), inputs, known, solver, settings)
    return tuple(dict.fromkeys(limit.name for limit in found if limit.binding))


def _planned(platform: Platform, found: Found, own: Prepared, binding: tuple[str, ...] | None) -> CompareRow:
    choice = found.choice
    if choice is None:
        raise TypeError("a planned row needs a choice")
    price = priced(choice, own.problem.frame)
    run = choice.runs[0]
    return CompareRow(
        platform=platform.id,
        status="optimal" if found.status == "optimal" else "feasible",
        total=price.total,
        npv=price.npv,
        finish=choice.last_run,
        nodes=run.candidate.nodes,
        accelerators=run.candidate.accelerators,
        layout=run.candidate.layout,
        binding=binding,
        rejection=None,
        objective=objective_value(choice, own),
        unit=objective_unit(own),
    )


def _empty(platform: Platform, status: str, rejection: Rejection | None) -> CompareRow:
    return CompareRow(
        platform=platform.id, status=status, total=None, npv=None, finish=None, nodes=None, accelerators=None,
        layout=None, binding=None, rejection=rejection,
    )  # fmt: skip
