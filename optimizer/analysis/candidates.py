"""Plans worth comparing under uncertainty: the best one, the best of every pool, and some that end earlier."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.analysis.optimum import Effort, best_choice, bounds, several
from optimizer.cost.choice import Choice
from optimizer.cost.frame import DAY
from optimizer.solver.assemble import priced
from optimizer.solver.problem import Problem

FLOATS_DAYS = (14, 28, 56)
"""How much earlier than the cheapest plan a candidate ends: room for a slow cluster or a late delivery."""

MOST = 12
"""Most candidates, cheapest first: sampling prices every one of them on every sample."""


def candidate_plans(problem: Problem, effort: Effort) -> list[Choice]:
    """Return candidate decisions, cheapest first; the first is the best plan as things are."""
    lower = bounds(problem)
    best = best_choice(problem, problem, lower, None, effort)
    if best is None:
        return []
    found = {choice_key(choice): choice for choice in (best, *_others(problem, best, lower, effort))}
    ranked = sorted(found.values(), key=lambda choice: (priced(choice, problem.frame).npv, choice_key(choice)))
    return ranked[:MOST]


def _others(problem: Problem, best: Choice, lower: list[float], effort: Effort) -> Iterator[Choice]:
    tests = [{index for index, run in enumerate(problem.profiles) if run.pool is pool} for pool in problem.pools]
    for days in () if several(problem) else FLOATS_DAYS:  # of several runs not every start is listed
        last = best.last_run - days * DAY
        tests.append({index for index, run in enumerate(problem.profiles) if run.run.end <= last})
    for kept in tests:
        part = problem.keep(problem.profiles[index] for index in sorted(kept))
        choice = best_choice(part, part, [lower[index] for index in sorted(kept)], None, effort) if kept else None
        if choice is not None:
            yield choice


def choice_key(choice: Choice) -> str:
    """Return what tells decisions apart: awards with their units, runs with pool, nodes and start."""
    awards = [(*taken.option.key, taken.units) for taken in choice.taken]
    return repr((awards, [(run.pool, run.candidate.nodes, run.start) for run in choice.runs]))
