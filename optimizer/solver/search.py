"""The search: a first plan from the most promising profiles, then a proof over all that could be better.

1. Every profile gets a cheap lower bound (``bounds``).
2. The compact model over the most promising profiles gives an incumbent.
3. The compact model over all profiles whose bound does not exceed the incumbent is solved to proof: the others cannot win.
4. Objectives after the first are optimised with the earlier ones fixed, with one worker, so that the plan is unique.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain, islice
from math import ceil, prod
from typing import Literal

import numpy as np

from optimizer.cost.choice import Choice
from optimizer.errors import InternalError
from optimizer.solver.audit import ask_again, audited
from optimizer.solver.backend import Backend, Settings, SolveInterrupted
from optimizer.solver.bounds import MARGIN, bounder
from optimizer.solver.columns import Blocks, Columns, field_of, first_of, guessed, listed, promising, reduced
from optimizer.solver.cpsat import CpSat
from optimizer.solver.effort import Effort, Solved, better, digits, major
from optimizer.solver.found import Found, Proof, SearchInterrupted, SolverName
from optimizer.solver.highs import Highs
from optimizer.solver.improve import Improver, Known, Planned, Solve, first_menus
from optimizer.solver.menus import Menu, Spots, of_menu
from optimizer.solver.model import CompactModel, build_model
from optimizer.solver.outlook import Outlook
from optimizer.solver.prices import may_be_priced, some_prices
from optimizer.solver.problem import Problem, Profile
from optimizer.solver.unique import unique_answer

PROMISING = 24
"""Profiles of the first model: enough to hold a near-optimal plan, few enough to solve at once."""

PROMISING_PER_POOL = 6
"""Most of them in one pool."""

FIRST_TRIES = ((3, 15), (12, 60), (48, 250))
"""Assignments and schedules of each block in the first models of several runs, until one has a plan."""

SHARES = (0.005, 0.02, 0.05, 0.12)
"""Cutoffs above what a plan seems to cost at least, one after another, before the cost of the best plan known."""

PARTS = (0.1, 0.25, 0.5, 0.75)
"""The same as parts of the way to the cost of the best plan known; the nearer counts."""

MOST_COLUMNS = 4000
"""Columns of the largest compact model; with more the best plan known is no proven one."""

SECONDS_TO_IMPROVE = 15.0
"""Longest solve that only improves the plan."""

SECONDS_TO_LIST = 60.0
"""Longest listing of schedules where no bound tells which of them may be best."""

IN_ONE_MODEL = 400
"""Columns of the compact model that improves the first plan before all are tried."""

ROUGHLY = 0.05
"""Relative gap at which the first plan is good enough: better ones are found otherwise."""

PATIENCE = 4
"""Parts of a problem without a better plan, in a row and for each run, after which none is looked for."""

PROVEN_ASSIGNMENTS = 2_000_000
"""Most assignments of runs to pools of which a proof is likely: of more, better plans are looked for first, in half the
time."""

FEW_RUNS = 5
"""Most runs whose schedules are listed to guess what a plan costs at least."""

LEAST_GAIN = Decimal("1e-5")
"""Part of its cost by which a better plan must be better to be looked for."""


def backend(name: SolverName) -> Backend:
    """Return the backend of a solver name (``auto`` is CP-SAT)."""
    return Highs() if name == "highs" else CpSat()


def search(
    problem: Problem, name: SolverName, settings: Settings, *, unique: bool = True, proof: Proof | None = None
) -> Found:
    """Return the best plan of a problem with its proof.

    Args:
        problem: The decision problem.
        name: Solver.
        settings: Its settings.
        unique: Whether ties are broken; without it the choice is one of the best.
        proof: Asked when runs are too many to list and no plan is found at once.

    Raises:
        InternalError: two proofs disagree, or a solver breaks its own model.
        SearchInterrupted: Ctrl-C; it carries the best plan so far.
    """
    solver = backend(name)
    if not problem.profiles:
        return Found("infeasible", None, None, solver.name, "no run fits its window in any pool that can be supplied")
    effort = Effort.starting(settings)
    try:
        return _searched(problem, solver, effort, unique=unique, proof=proof)
    except SearchInterrupted:
        raise
    except KeyboardInterrupt:  # between two solves
        raise SearchInterrupted(_so_far(effort, solver)) from None


def _searched(problem: Problem, solver: Backend, effort: Effort, *, unique: bool, proof: Proof | None) -> Found:
    """Return the best plan of a problem with its proof."""
    if problem.windows is not None:
        return _staged(problem, solver, effort, unique=unique, proof=proof)
    bound = dict(zip(problem.profiles, map(bounder(problem), problem.profiles), strict=True))
    ranked = sorted(problem.profiles, key=bound.__getitem__)
    first = _promising(problem, ranked, solver, effort)
    kept = _could_win(problem.profiles, bound, first)
    final = _solve(problem.keep(kept), solver, effort)
    return _conclude(final, first, solver, effort, dropped=len(problem.profiles) - len(kept), unique=unique)


def _staged(problem: Problem, solver: Backend, effort: Effort, *, unique: bool, proof: Proof | None) -> Found:
    """Return the best plan of runs that are too many to list.

    A first plan; then all columns within a cutoff, which grows from what a plan seems to cost at least. When the best
    plan of these costs no more than the cutoff, no other can be better.
    """
    if not _is_guided(problem):
        return _unguided(problem, solver, effort, unique=unique)
    blocks = Blocks(field_of(problem), effort.ends)
    improver = Improver(problem, blocks.field, effort.settings.seed)
    menus = first_menus(improver.spots)
    best = _of_menus(problem, blocks, islice(menus, 1), solver, effort)
    answer = proof(effort.settings_left()) if best is None and proof is not None else None
    if answer is not None:
        return answer
    best = best or _first_plan(problem, blocks, menus, solver, effort)
    if prod(len(blocks.field.pools_of(run)) for run in range(len(blocks.field.names))) > PROVEN_ASSIGNMENTS:
        best = _improved(improver, best, solver, effort.half())
    least = guessed(blocks) if len(blocks.field.names) <= FEW_RUNS else improver.guessed()
    tried = _Tried(best=best)
    *near, last = _cutoffs(least, best)
    if not _closed(tried, blocks, near, problem, solver, effort):
        if _cutoff(tried.best) > least + SHARES[-1] * abs(least):  # the better the plan, the less is left to try
            tried.best = _improved(improver, tried.best, solver, effort.at_most(SECONDS_TO_IMPROVE))
        _closed(tried, blocks, [last], problem, solver, effort)
    if not tried.columns.complete:
        tried.best = _improved(improver, tried.best, solver, effort)
    columns = replace(tried.columns, bound=max(tried.columns.bound, tried.proven))
    _bounds_hold(tried.final, tried.best, columns)
    return _judged(tried.final, tried.best, columns, solver, effort, unique=unique)


@dataclass
class _Tried:
    """What cutoffs have given.

    Attributes:
        best: The best plan.
        final: The last model over all columns within a cutoff.
        columns: Those columns.
        proven: Highest bound that was proven on every plan.
        priced: The blocks at prices of budgets, once columns were many.
    """

    best: Solved | None
    final: Solved | None = None
    columns: Columns = field(default_factory=lambda: Columns((), -np.inf, complete=False))
    proven: float = -np.inf
    priced: list[Blocks] = field(default_factory=list)


def _closed(
    tried: _Tried, blocks: Blocks, cutoffs: Sequence[float], problem: Problem, solver: Backend, effort: Effort
) -> bool:
    """Try cutoffs, one higher than the other; return whether nothing is left to try.

    That is so when a plan costs no more than a cutoff, when columns are too many, or when the time is over.
    """
    solved: object = None
    for cutoff in cutoffs:
        most = min(cutoff, _cutoff(tried.best))
        columns = reduced(blocks, most, tried.priced)
        if columns.complete:
            tried.proven = max(tried.proven, min(columns.bound, most))
            effort.tell(tried.best, tried.proven)
        if len(columns) > IN_ONE_MODEL and not tried.priced and may_be_priced(problem):
            tried.priced = [Blocks(field_of(problem, prices), effort.ends) for prices in some_prices(problem.frame)]
            columns = reduced(blocks, most, tried.priced)
        if len(columns) > IN_ONE_MODEL and columns.content != solved:
            some = listed(problem, blocks.field.outlook, first_of(columns, IN_ONE_MODEL))
            tried.best = better(tried.best, _solve(some, solver, effort.on_a_part().at_most(SECONDS_TO_IMPROVE)))
            columns = reduced(blocks, min(cutoff, _cutoff(tried.best)), tried.priced)
        tried.columns = columns
        if len(columns) > MOST_COLUMNS:
            tried.columns = replace(columns, complete=False)
            return bool(np.isinf(cutoff))
        if columns.content != solved:
            model = listed(problem, blocks.field.outlook, columns)
            tried.final = _solve(model, solver, effort.on_a_part()) if len(columns) else None
            tried.best, solved = better(tried.best, tried.final), columns.content
        if _cutoff(tried.best) <= cutoff:
            return True
        if effort.is_over:  # a plan may cost more than what was tried and less than the best known
            tried.columns = replace(columns, bound=tried.proven, complete=False)
            return True
    return False


def _is_guided(problem: Problem) -> bool:
    """Return whether bounds on what runs cost tell how good a plan is.

    They do not for another objective, nor where units signed for elsewhere may earn more than they cost.
    """
    scenario = problem.frame.scenario
    return scenario.objective == "cost" and not (scenario.fix and scenario.after_run.policy == "use")


def _unguided(problem: Problem, solver: Backend, effort: Effort, *, unique: bool) -> Found:
    """Return the best plan of all schedules, when these are few; else the best of the promising ones, unproven."""
    blocks = Blocks(field_of(problem), effort.at_most(SECONDS_TO_LIST).ends)
    improver = Improver(problem, blocks.field, effort.settings.seed)
    first = _first_plan(problem, blocks, first_menus(improver.spots), solver, effort)
    best = _improved(improver, first, solver, effort.half())
    every = reduced(blocks, np.inf)
    columns = replace(every, bound=-np.inf, complete=every.complete and len(every) <= MOST_COLUMNS)
    some = columns if columns.complete else first_of(columns, IN_ONE_MODEL)
    final = _solve(listed(problem, blocks.field.outlook, some), solver, effort.on_a_part()) if len(some) else None
    return _judged(final, better(best, final), columns, solver, effort, unique=unique)


def has_plan(problem: Problem, settings: Settings) -> bool | None:
    """Return whether a problem whose runs are not listed has a plan; None when that was not found out."""
    if first_choice(problem, settings) is not None:
        return True
    return False if next(field_of(problem).assignments(), None) is None else None


def first_choice(problem: Problem, settings: Settings) -> Choice | None:
    """Return a plan of a problem whose runs are not listed; None when none was found among promising schedules."""
    effort = Effort.starting(settings)
    blocks = Blocks(field_of(problem), effort.ends)
    menus = first_menus(Spots(blocks.field, settings.seed))
    found = _first_plan(problem, blocks, menus, CpSat(), effort)
    return None if found is None else found.model.choice(found.answer.values)


def good_plans(
    problem: Problem,
    name: SolverName,
    settings: Settings,
    known: Columns | None,
    patience: int,
    elsewhere: Callable[[], Known | None],
) -> Iterator[Found]:
    """Yield better and better plans of a problem whose runs are not listed, without a bound; none when none is found in time.

    Args:
        problem: The problem.
        name: Solver of the compact model.
        settings: Its settings.
        known: Schedules of a plan to begin with; None: one is looked for.
        patience: Parts of the problem without a better plan, in a row and for each run, after which none is looked for.
        elsewhere: Returns the best plan found elsewhere, if any.
    """
    solver, effort = backend(name), Effort.starting(settings)
    blocks = Blocks(field_of(problem), effort.ends)
    improver = Improver(problem, blocks.field, settings.seed)
    if known is None:
        first = _first_plan(problem, blocks, first_menus(improver.spots), solver, effort)
    else:
        first = _solve(listed(problem, blocks.field.outlook, known), solver, effort.on_a_part())
    if first is None or not first.answer.values:
        return
    best: Planned = first
    solve: Solve[Planned] = _over_menu(solver, effort)
    for one in chain([best], improver.improved(best, solve, patience * len(improver.spots.runs), elsewhere)):
        yield Found("feasible", one.choice, one.value, solver.name, "the best plan of neighbourhoods")
        if effort.is_over:
            return


def best_of(
    problem: Problem, outlook: Outlook, columns: Columns, name: SolverName, settings: Settings, *, unique: bool
) -> Found:
    """Return the best plan of some columns of a problem; its proof holds for these only."""
    solver, effort = backend(name), Effort.starting(settings)
    final = _solve(listed(problem, outlook, columns), solver, effort.on_a_part())
    return _conclude(final, None, solver, effort, dropped=0, unique=unique)


def _cutoffs(least: float, best: Solved | None) -> list[float]:
    """Return the cutoffs that are tried: from what a plan seems to cost at least towards the cost of the best known."""
    if best is None or best.value is None:
        return [*(least + share * abs(least) for share in SHARES), np.inf]
    above = max(float(best.value) - least, 0.0)
    return [*(least + min(share * abs(least), part * above) for share, part in zip(SHARES, PARTS, strict=True)), np.inf]


def _of_menus(
    problem: Problem, blocks: Blocks, menus: Iterable[Menu], solver: Backend, effort: Effort
) -> Solved | None:
    """Return a plan of the first menu that has one, not much dearer than its best."""
    solve = _over_menu(solver, effort.roughly(ROUGHLY))
    for menu in menus:
        found = solve(of_menu(problem, blocks.field, menu), None)
        if found is not None or effort.is_over:
            return found
    return None


def _first_plan(
    problem: Problem, blocks: Blocks, menus: Iterable[Menu], solver: Backend, effort: Effort
) -> Solved | None:
    """Return a plan of some menus, or of promising schedules, of more and more of them until there is one."""
    found = _of_menus(problem, blocks, menus, solver, effort)
    if found is not None or effort.is_over:
        return found
    for assignments, each in FIRST_TRIES:
        columns = promising(blocks, assignments, each)
        if len(columns):
            found = _solve(listed(problem, blocks.field.outlook, columns), solver, effort.on_a_part())
            if found.answer.values:
                return found
    return None


def _over_menu(solver: Backend, effort: Effort) -> Solve[Solved]:
    """Return what looks for a plan of the model over a menu, within some work."""

    def solve(problem: Problem, below: Decimal | None) -> Solved | None:
        found = _solve(problem, solver, effort.on_menus(), below)
        return found if found.answer.values else None

    return solve


def _improved(improver: Improver, best: Solved | None, solver: Backend, effort: Effort) -> Solved | None:
    """Return a plan no worse than one, after a search in its neighbourhoods."""
    if best is None:
        return None
    improving = improver.improved(best, _over_menu(solver, effort), PATIENCE * len(improver.spots.runs))
    while not effort.is_over:
        found = next(improving, None)
        if found is None:
            break
        best = found
    return best


def _judged(
    final: Solved | None, best: Solved | None, columns: Columns, solver: Backend, effort: Effort, *, unique: bool
) -> Found:
    """Return what the last columns prove: everything when they were complete and solved to the end."""
    if final is not None and columns.complete:
        return _conclude(final, best, solver, effort, dropped=0, unique=unique)
    if best is None and columns.complete:
        return Found("infeasible", None, None, solver.name, "no schedule of all runs fits their windows and pools")
    if best is None:
        return Found("unknown", None, None, solver.name, "the limit was reached before a plan was found")
    bound = None if np.isinf(columns.bound) else min(Decimal(columns.bound), best.value or Decimal(0))
    why = "stopped before all schedules that may cost less were tried"
    return Found("feasible", best.model.choice(best.answer.values), bound, solver.name, why)


def _bounds_hold(final: Solved | None, best: Solved | None, columns: Columns) -> None:
    """A plan that costs less than bounds allow, or that is missing among all columns within its cost, shows a wrong bound.

    Raises:
        InternalError: it does.
    """
    if best is None or best.value is None:
        return
    value = float(best.value) + MARGIN * max(1.0, abs(float(best.value)))
    lost = final is None or (
        final.answer.outcome == "optimal" and final.value is not None and float(final.value) > value
    )
    if columns.bound > value or (lost and columns.complete):
        raise InternalError("a plan is better than the bounds of its runs allow: no answer is given")


def _cutoff(best: Solved | None) -> float:
    """Return what bounds must not exceed: the value of a plan with a margin for floating point."""
    if best is None or best.value is None:
        return float("inf")
    return float(best.value) + MARGIN * max(1.0, abs(float(best.value)))


def _solve(problem: Problem, solver: Backend, effort: Effort, below: Decimal | None = None) -> Solved:
    """Return what a solver finds (below a value)."""
    model = build_model(problem)
    first = model.objectives()[0]
    if below is not None:
        most = ceil((below - LEAST_GAIN * abs(below)).scaleb(digits(model))) - 1
        model.linear.add("below", "the best plan known", list(first.items()), upper=most)
    try:
        answer = solver.solve(model.linear, first, effort.left(model))
    except SolveInterrupted as stop:
        effort.keep(Solved(model, stop.answer))
        raise SearchInterrupted(_so_far(effort, solver)) from None
    solved = Solved(model, audited(answer, model.linear, first, solver.name))
    effort.keep(solved)
    return solved


def _so_far(effort: Effort, solver: Backend) -> Found:
    """Return the best plan of a search that was interrupted."""
    choice = effort.known[0].choice if effort.known else None
    status: Literal["feasible", "unknown"] = "unknown" if choice is None else "feasible"
    # no bound: the model may hold a part of the runs only
    return Found(status, choice, None, solver.name, "interrupted before a proof", interrupted=True)


def _promising(problem: Problem, ranked: Sequence[Profile], solver: Backend, effort: Effort) -> Solved | None:
    """Return the best plan over the most promising profiles; None when there are few, or they hold none."""
    if len(ranked) <= PROMISING:
        return None
    first = set(spread(ranked))
    part = problem.keep(profile for profile in problem.profiles if profile in first)
    solved = _solve(part, solver, effort.on_a_part())
    return solved if solved.answer.values else None


def spread(ranked: Sequence[Profile]) -> list[Profile]:
    """Return the first profiles, but of no pool so many that a limit it cannot meet leaves no plan among them."""
    taken: Counter[str] = Counter()
    kept = []
    for profile in ranked:
        taken[profile.pool.name] += 1
        if taken[profile.pool.name] <= PROMISING_PER_POOL:
            kept.append(profile)
    return kept[:PROMISING]


def _could_win(profiles: Sequence[Profile], bound: dict[Profile, float], first: Solved | None) -> list[Profile]:
    if first is None or first.value is None:
        return list(profiles)
    incumbent = float(first.value)
    limit = incumbent + MARGIN * max(1.0, abs(incumbent))
    return [profile for profile in profiles if bound[profile] <= limit]


def _conclude(
    final: Solved, first: Solved | None, solver: Backend, effort: Effort, *, dropped: int, unique: bool
) -> Found:
    model, answer = final.model, final.answer
    if answer.outcome == "infeasible":
        return _confirm_infeasible(model, solver, effort)
    if answer.outcome == "optimal":
        if first is not None and first.value is not None and float(final.value or 0) > _cutoff(first):
            raise InternalError(f"{solver.name} calls {final.value} optimal and found {first.value} before")
        if unique:
            ask_again(answer, model.linear, model.objectives()[0], _other(solver), effort.left(model))
        values = unique_answer(model, answer, effort.settings).values if unique else answer.values
        runs = len(model.builder.chosen)
        proof = f"{solver.name} proved the compact model of {runs} runs; {dropped} runs cost more by their bound"
        return Found("optimal", model.choice(values), final.value, solver.name, proof)
    plans = [solved for solved in (final, first) if solved is not None and solved.value is not None]
    bound = None if answer.bound is None else major(model, answer.bound)
    if not plans:
        return Found("unknown", None, bound, solver.name, "the limit was reached before a plan was found")
    best = min(plans, key=lambda solved: solved.value or Decimal(0))
    return Found(
        "feasible", best.model.choice(best.answer.values), bound, solver.name, "stopped before a proof at gap 0"
    )


def _other(solver: Backend) -> Backend:
    """Return the solver of a second opinion."""
    return CpSat() if solver.name == "highs" else Highs()


def _confirm_infeasible(model: CompactModel, solver: Backend, effort: Effort) -> Found:
    """Prove infeasibility a second time, with another solver; a disagreement is reported, never printed as an answer.

    Where floating point cannot tell (a solution that breaks a row in whole numbers), CP-SAT is asked again, set up
    differently.
    """
    for other in (_other(solver), CpSat()):
        try:
            second = other.solve(model.linear, {}, replace(effort.left(model), variant=1, workers=1)).outcome
        except InternalError:
            continue
        if second in ("optimal", "feasible"):
            raise InternalError(
                f"{solver.name} calls the scenario infeasible, {other.name} finds a plan: no answer is given"
            )
        if second == "infeasible":
            proof = f"proved infeasible by {solver.name} and by {other.name}"
            return Found("infeasible", None, None, solver.name, proof)
    return Found("unknown", None, None, solver.name, f"{solver.name} proved it infeasible, no other solver finished")
