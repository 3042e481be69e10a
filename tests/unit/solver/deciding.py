"""From a small world to its decision problem, its answer and its checked plan."""

from __future__ import annotations

from collections.abc import Iterable

from optimizer.cost.choice import Choice, Taken
from optimizer.cost.frame import Frame
from optimizer.cost.option import Option
from optimizer.engine.bands import Bands, Quantiles
from optimizer.results import Plan, Provenance, Rejection, SolveInfo
from optimizer.solver.backend import Settings
from optimizer.solver.found import Found, SolverName
from optimizer.solver.planner import Inputs, Modes, Prepared, decide, prepare
from optimizer.solver.plans import Report, plan_of
from optimizer.solver.problem import Problem

BANDS = Bands(situations={}, beyond_scale=Quantiles(p10=0.9, p50=1, p90=1.1, note="stated modes need none"))


def inputs(world: Frame) -> Inputs:
    """Return the inputs of a world whose workloads have stated modes."""
    return Inputs(world, {}, {}, BANDS)


def prepared(world: Frame) -> Prepared:
    """Return the decision problem with what was left out."""
    return prepare(inputs(world), Modes())


def problem(world: Frame) -> Problem:
    """Return the decision problem."""
    return prepared(world).problem


def decided(world: Frame, solver: SolverName = "auto", settings: Settings | None = None) -> Found:
    """Return what the search finds."""
    return decide(prepared(world), solver, settings or Settings())


def planned(world: Frame, solver: SolverName = "auto", settings: Settings | None = None) -> Plan:
    """Return the plan record, which includes its independent check."""
    ready = prepared(world)
    found = decide(ready, solver, settings or Settings())
    solve = SolveInfo(
        solver=found.solver, wall_s=0, seed=0, workers=1, candidates=ready.candidates, layouts_evaluated=0,
        proof=found.proof,
    )  # fmt: skip
    provenance = Provenance(version="0", ortools="0", today=world.today, inputs=(), assumptions=())
    return plan_of(found, ready, inputs(world), Report(solve, ready.problem.rejections, provenance))


def awarded(found: Found) -> dict[str, int]:
    """Return the units of each offer a search awards, as ``quote/offer``."""
    if found.choice is None:
        return {}
    return {"/".join(taken.option.offer_key): taken.units for taken in found.choice.taken}


def starts(found: Found) -> list[str]:
    """Return the first days of the runs."""
    return [run.start.isoformat() for run in found.choice.runs] if found.choice else []


def chosen(world: Frame, *awards: tuple[Option, int]) -> Choice:
    """Return a choice of awards with the first run of the problem that fits a pool of them."""
    pools = {option.pool for option, _ in awards}
    run = next(profile.run for profile in problem(world).profiles if profile.pool.name in pools)
    return Choice(tuple(Taken(option, units) for option, units in awards), (run,))


def options(world: Frame, offer: str = "node") -> list[Option]:
    """Return the options of one offer name in order of delivery."""
    found = (option for option in problem(world).options if option.name == offer)
    return sorted(found, key=lambda option: option.lots[0].delivery)


def only(rejections: Iterable[Rejection]) -> Rejection:
    """Return the single rejection."""
    (rejection,) = rejections
    return rejection
