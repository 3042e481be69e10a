"""Ties: of plans that cost the same, the one that is best by the objectives that follow."""

from __future__ import annotations

from dataclasses import replace

from optimizer.errors import InternalError
from optimizer.solver.backend import Answer, Settings
from optimizer.solver.cpsat import CpSat
from optimizer.solver.model import CompactModel


def unique_answer(model: CompactModel, answer: Answer, settings: Settings) -> Answer:
    """Fix each objective at its optimum and minimise the next: CP-SAT with one worker, since ties need exact integers.

    Raises:
        InternalError: the plan that was proven is lost on the way.
    """
    objectives = model.objectives()
    single = replace(settings, workers=1, progress=None, time_limit_s=None, gap=0.0)
    current = answer
    for fixed, following in zip(objectives, objectives[1:], strict=False):
        model.linear.add("unique", "fixed objective", fixed.items(), upper=model.linear.value(fixed, current.values))
        found = CpSat().solve(model.linear, following, replace(single, hint=current.values))
        if found.outcome != "optimal":
            raise InternalError(f"a proven plan was lost while breaking ties ({found.outcome})")
        current = found
    return current
