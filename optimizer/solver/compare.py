"""One row per platform: the best plan forced to it, or the limit that rejects it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from optimizer.results import CompareRow, Comparison, Rejection
from optimizer.schema.platform import Platform
from optimizer.solver.assemble import priced
from optimizer.solver.backend import Settings
from optimizer.solver.planner import Inputs, Modes, Prepared, decide, prepare
from optimizer.solver.problem import Problem
from optimizer.solver.search import Found, SolverName
from optimizer.solver.why_not import why_not


def compare_platforms(inputs: Inputs, known: Modes, solver: SolverName, settings: Settings) -> Comparison:
    """Return a row for every platform of the library that is not there for evidence only."""
    prepared = prepare(inputs, known)
    platforms = [p for _, p in sorted(inputs.frame.platforms.items()) if not p.evidence_only]
    rows = [_row(platform, prepared, inputs, known, solver, settings) for platform in platforms]
    return Comparison(rows=tuple(sorted(rows, key=_order)))


def _order(row: CompareRow) -> tuple[bool, Decimal, str]:
    return row.npv is None, row.npv or Decimal(0), row.platform


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
        return _planned(platform, found, inputs)
    if found is not None and found.status == "unknown":
        return _empty(platform, "unknown", None)
    return _empty(platform, "rejected", why_not(platform, own, inputs, known, settings))


def _planned(platform: Platform, found: Found, inputs: Inputs) -> CompareRow:
    choice = found.choice
    if choice is None:
        raise TypeError("a planned row needs a choice")
    price = priced(choice, inputs.frame)
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
        binding=None,
        rejection=None,
    )


def _empty(platform: Platform, status: str, rejection: Rejection | None) -> CompareRow:
    return CompareRow(
        platform=platform.id, status=status, total=None, npv=None, finish=None, nodes=None, accelerators=None,
        layout=None, binding=None, rejection=rejection,
    )  # fmt: skip
