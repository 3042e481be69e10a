"""Which limits bind: removing one alone would improve the objective, shown by solving again without it."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from optimizer.errors import InputError
from optimizer.results import LimitUse
from optimizer.solver.backend import Settings
from optimizer.solver.found import SolverName
from optimizer.solver.planner import Inputs, Modes, decide, prepare, refuse_unbounded
from optimizer.solver.plans import objective_value
from optimizer.solver.relax import PARTED, RELAXATIONS, Lever, lifted

NEAR = Decimal("0.05")
"""Share of a limit that may be left: whole units rarely use one up, and lifting one with more left rarely pays."""

LEFT_OPEN = frozenset({"supply"})
"""Limits whose lifting asks for many more layouts than a plan may wait for: their ``binding`` stays unknown."""


def with_binding(
    limits: Iterable[LimitUse], value: Decimal, inputs: Inputs, known: Modes, solver: SolverName, settings: Settings
) -> tuple[LimitUse, ...]:
    """Return the limits with ``binding`` set for those a plan nearly uses up; of the others it stays unknown.

    Args:
        limits: Limits of a proven plan.
        value: Its objective.
        inputs: What it was made from.
        known: Modes computed so far.
        solver: Solver to use again.
        settings: Its settings.
    """
    found = list(limits)
    tight = {lever for limit in found if (lever := _lever(limit)) is not None}
    better = {lever: _improves(lever, value, inputs, known, solver, settings) for lever in sorted(tight, key=str)}
    return tuple(
        limit.model_copy(update={"binding": better[lever]}) if (lever := _lever(limit)) in better else limit
        for limit in found
    )


def _lever(limit: LimitUse) -> Lever | None:
    """Return what is lifted to see whether a limit binds; None for one with much slack or not asked."""
    if (
        limit.slack is None
        or limit.available is None
        or limit.slack > limit.available * NEAR
        or limit.name not in RELAXATIONS
        or limit.name in LEFT_OPEN
    ):
        return None
    return Lever(limit.name, limit.period if limit.name in PARTED else None)


def _improves(
    lever: Lever, value: Decimal, inputs: Inputs, known: Modes, solver: SolverName, settings: Settings
) -> bool | None:
    frame = lifted(inputs.frame, [lever])
    try:
        refuse_unbounded(frame)
    except InputError:  # it was all that bounded the capacity
        return True
    prepared = prepare(inputs.with_frame(frame), known)
    found = decide(prepared, solver, settings, unique=False)
    if found.status != "optimal" or found.choice is None:
        return None
    other = objective_value(found.choice, prepared)
    more_is_better = inputs.frame.scenario.objective == "capacity"
    return other > value if more_is_better else other < value
