"""Nothing a solver says is taken on trust: what can be recomputed in whole numbers is, and an optimum is asked for twice."""

from __future__ import annotations

from dataclasses import replace

from optimizer.errors import InternalError
from optimizer.solver.backend import Answer, Backend, Settings, evaluated, violated
from optimizer.solver.linear import LinearModel, Terms

ASKED_TWICE = 3_000
"""Variables up to which a second solver is asked whether it knows a better plan: then it answers in well under a second."""

SECOND_OPINION_S = 1.0
"""Seconds it may take."""


def audited(answer: Answer, model: LinearModel, objective: Terms, name: str) -> Answer:
    """Return an answer whose values obey the model and have the objective and bound it states.

    Raises:
        InternalError: they do not; no answer is given.
    """
    if bool(answer.values) != (answer.outcome in ("optimal", "feasible")):
        raise InternalError(f"{name} says {answer.outcome} {'with' if answer.values else 'without'} a solution")
    if not answer.values:
        return answer
    if len(answer.values) != len(model.names):
        raise InternalError(f"{name} gives {len(answer.values)} values for {len(model.names)} variables")
    broken = violated(model, answer.values)
    if broken:
        raise InternalError(f"the solution of {name} breaks a row: {broken}")
    exact = evaluated(model, objective, answer.values)
    if answer.objective != exact:
        raise InternalError(f"{name} states an objective of {answer.objective}, its solution has {exact}")
    if answer.bound is not None and answer.bound > exact:
        raise InternalError(f"{name} states a bound of {answer.bound} above its own solution of {exact}")
    return answer


def ask_again(answer: Answer, model: LinearModel, objective: Terms, other: Backend, settings: Settings) -> None:
    """Let another solver look for a better solution of a small model.

    A better one is checked in whole numbers, so it disproves the optimum whatever the second solver is worth; finding
    none, or failing, says nothing.

    Raises:
        InternalError: there is a better one.
    """
    if answer.objective is None or len(model.names) > ASKED_TWICE:
        return
    limit = min(SECOND_OPINION_S, settings.time_limit_s or SECOND_OPINION_S)
    try:
        second = other.solve(model, objective, replace(settings, time_limit_s=limit, progress=None, workers=1, gap=0.0))
        second = audited(second, model, objective, other.name)
    except InternalError:
        return
    if second.objective is not None and second.objective < answer.objective:
        raise InternalError(
            f"a plan was called optimal at {answer.objective}, {other.name} finds {second.objective}: no answer is given"
        )
