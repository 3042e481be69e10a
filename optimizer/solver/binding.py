"""Which limits bind: removing one alone would improve the objective, shown by solving again without it."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from optimizer.results import LimitUse
from optimizer.solver.backend import Settings
from optimizer.solver.planner import Inputs, Modes, decide, prepare
from optimizer.solver.plans import objective_value
from optimizer.solver.relax import RELAXATIONS, lifted
from optimizer.solver.search import SolverName

LEFT_OPEN = frozenset({"supply"})
"""Limits whose lifting asks for many more layouts than a plan may wait for: their ``binding`` stays unknown."""


def with_binding(
    limits: Iterable[LimitUse], value: Decimal, inputs: Inputs, known: Modes, solver: SolverName, settings: Settings
) -> tuple[LimitUse, ...]:
    """Return the limits with ``binding`` set for those a plan uses up; of the others it stays unknown.

    Args:
        limits: Limits of a proven plan.
        value: Its objective.
        inputs: What it was made from.
        known: Modes computed so far.
        solver: Solver to use again.
        settings: Its settings.
    """
    found = list(limits)
    tight = {limit.name for limit in found if limit.slack == 0 and limit.name in RELAXATIONS} - LEFT_OPEN
    better = {name: _improves(name, value, inputs, known, solver, settings) for name in sorted(tight)}
    return tuple(
        limit.model_copy(update={"binding": better[limit.name]}) if limit.slack == 0 and limit.name in better else limit
        for limit in found
    )


def _improves(
    name: str, value: Decimal, inputs: Inputs, known: Modes, solver: SolverName, settings: Settings
) -> bool | None:
    prepared = prepare(inputs.with_frame(lifted(inputs.frame, [name])), known)
    found = decide(prepared, solver, settings, unique=False)
    if found.status != "optimal" or found.choice is None:
        return None
    other = objective_value(found.choice, prepared)
    more_is_better = inputs.frame.scenario.objective == "capacity"
    return other > value if more_is_better else other < value
