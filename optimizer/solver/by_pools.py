"""The best plan of many runs by the pools that they take, with its proof (``decomposition``)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from optimizer.cost.entries import COUNTED, table
from optimizer.errors import InternalError
from optimizer.solver.assemble import priced
from optimizer.solver.backend import Settings
from optimizer.solver.decomposition import Decomposition
from optimizer.solver.found import Found, SearchInterrupted, SolverName
from optimizer.solver.problem import Problem
from optimizer.solver.relaxation import applies

SEVERAL_RUNS = 4
"""Runs from which on a good plan is looked for first."""

MOST_RUNS = 10
"""Most runs: every set of them in every pool has a bound, and each run more doubles them (12 runs in 36 pools: 15 s)."""


def is_decomposable(problem: Problem) -> bool:
    """Return whether this search bounds plans of a problem well.

    Its sets of runs are not too many, all costs are of units, and none are earned by their use.
    """
    scenario = problem.frame.scenario
    counted = scenario.objective == "cost" and scenario.after_run.policy != "use"
    units = all(entry.per in COUNTED and len(table(entry, problem.frame)) == 1 for entry in scenario.costs)
    few = len(scenario.workloads) <= MOST_RUNS
    return problem.windows is not None and few and counted and units and applies(problem)


def decomposed(
    problem: Problem,
    name: SolverName,
    settings: Settings,
    *,
    unique: bool,
    known: Found | None = None,
    places: Mapping[str, str] | None = None,
) -> Found:
    """Return the best plan of many runs with its proof; that there is none is proven twice, with CP-SAT set up differently.

    Args:
        problem: The problem; it must be decomposable.
        name: Solver of the compact model.
        settings: Its settings.
        unique: Whether ties between equal plans are broken.
        known: A plan with its value as bound; None: a good one is looked for where runs are several.
        places: Workload -> name of the pool in which it is tried first.

    Raises:
        InternalError: a plan costs less than its bounds allow, or the two proofs disagree.
        SearchInterrupted: Ctrl-C, with the best plan so far.
    """
    started = time.monotonic()
    first = Decomposition(problem, name, settings, unique, known)
    looks = known is None and len(first.known.names) >= SEVERAL_RUNS and not first.is_many
    try:
        first.try_places(places or {})
        for plan in first.plans if looks else ():  # of many runs they are looked for beside bounds
            first.offer(plan)
    except KeyboardInterrupt as stop:
        late = stop.found if isinstance(stop, SearchInterrupted) else None
        if late is not None and late.choice is not None:
            first.offer(replace(late, bound=priced(late.choice, problem.frame).npv))
        raise SearchInterrupted(replace(first.answer(), interrupted=True)) from None
    found = first.run()
    if found.status != "infeasible" or first.is_refuted:
        return found
    again = Decomposition(problem, name, replace(settings.since(started), variant=1), unique).run()
    if again.choice is not None:
        raise InternalError(
            "CP-SAT finds no timetable of the runs, and one when it is set up differently: no answer is given"
        )
    return again
