"""Plans of the compact model over menus: found where runs and limits are many, never worse than before, the same again."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from decimal import Decimal
from itertools import islice

import pytest

from optimizer.cost.frame import Frame
from optimizer.solver import search as search_module
from optimizer.solver.backend import Settings
from optimizer.solver.columns import field_of
from optimizer.solver.cpsat import CpSat
from optimizer.solver.effort import Effort, Solved
from optimizer.solver.found import SearchInterrupted
from optimizer.solver.improve import Improver, Known, first_menus
from optimizer.solver.menus import Spots, of_menu, spots_of
from optimizer.solver.planner import decide
from optimizer.solver.plans import checked_choice, objective_value
from optimizer.solver.problem import Problem
from optimizer.solver.search import first_choice
from tests.benchmarks.instances import Size, instance
from tests.unit.solver.deciding import inputs, planned, prepared
from tests.unit.solver.programs import AFTER, PROGRAMS, fully_listed, offered, program, unlisted

SMALL = Size(4, platforms=3, modes=25, looseness=1.0)
"""Four runs in nine pools, too many to list."""


def solved(problem: Problem, below: Decimal | None = None) -> Solved | None:
    """Return the cheapest plan of a problem (below a value), proven."""
    found = search_module._solve(problem, CpSat(), Effort(Settings(workers=1)), below)
    return found if found.answer.values else None


def least(problem: Problem) -> Decimal:
    found = solved(problem)
    assert found is not None
    assert found.value is not None
    return found.value


@pytest.mark.parametrize(
    ("offers", "runs", "policy"),
    [
        ("bought", "three", "use"), ("leased", "three", "sell"), ("hired", "in turn", "idle"), ("term", "three", "idle"),
        ("rented", "two", "off"), ("two pools", "three", "use"),
    ],
)  # fmt: skip
def test_plans_of_small_programs_are_improved_to_the_best_there_is(offers, runs, policy, monkeypatch):
    world = program(offered(offers), PROGRAMS[runs], after_run=AFTER[policy])
    exact = least(fully_listed(world, monkeypatch))
    problem = unlisted(world, monkeypatch)
    improver = Improver(problem, field_of(problem), seed=0)
    found = next(
        filter(
            None,
            (solved(of_menu(problem, improver.spots.field, menu)) for menu in first_menus(improver.spots)),
        )
    )
    *_, best = improver.improved(found, solved, 20)
    assert best.value is not None
    assert found.value is not None
    assert exact <= best.value <= found.value
    assert best.value <= exact + Decimal("1e-5") * abs(exact)  # less is not looked for


def test_a_plan_is_found_for_eight_runs_under_tight_limits():
    """Good schedules of all runs in few pools, each by itself, break the limits that they share."""
    ready = prepared(instance(1, Size(8, platforms=3, modes=25, looseness=1.0)))
    choice = first_choice(ready.problem, Settings(workers=1))
    assert choice is not None
    checked_choice(choice, ready, inputs(ready.problem.frame))


@pytest.mark.parametrize(("runs", "offers"), [("two", "hired"), ("in turn", "term"), ("three", "two pools")])
def test_every_spot_keeps_its_window_and_starts_on_a_day_of_its_own_or_after_another(runs, offers, monkeypatch):
    problem = unlisted(program(offered(offers), PROGRAMS[runs]), monkeypatch)
    spots = Spots(field_of(problem), 0)
    field = spots.field
    for menu in first_menus(Spots(field, 0)):
        plan = spots_of(solved(of_menu(problem, field, menu)).choice, field)
        near = spots.near(plan, range(-3, 4))
        assert set(plan) <= near
        for spot in menu | near:
            slot = field.slots[spot.workload, spot.pool]
            assert slot.first <= spot.start <= spots.end(spot) <= slot.last
        for spot in plan:
            leading = {one for one in plan if one.pool == spot.pool or one.workload in field.after(spot.workload)}
            after = any(spots.end(one) + 1 == spot.start for one in leading if one.workload != spot.workload)
            assert spot.start in field.slots[spot.workload, spot.pool].starts or after


def test_the_plan_in_hand_is_kept_where_no_part_gives_a_better_one():
    problem = prepared(instance(0, SMALL)).problem
    improver = Improver(problem, field_of(problem), seed=0)
    first = solved(of_menu(problem, improver.spots.field, next(first_menus(improver.spots))))
    asked = []

    def fails(problem: Problem, below: Decimal | None) -> Solved | None:
        asked.append(below)
        return None

    assert list(improver.improved(first, fails, 5)) == [first] * 5
    assert asked == [first.value] * 5


def test_a_better_plan_from_elsewhere_is_taken_up():
    problem = prepared(instance(0, SMALL)).problem
    improver = Improver(problem, field_of(problem), seed=0)
    first = solved(of_menu(problem, improver.spots.field, next(first_menus(improver.spots))))
    better, asked = Known(first.value - 1, first.choice), []
    found = improver.improved(first, lambda _, below: asked.append(below), 3, lambda: better if asked else None)
    assert list(found) == [first, better, better, better]
    assert asked == [first.value, *[first.value - 1] * 3]


def improved(world: Frame, seed: int, parts: int) -> list[tuple[Decimal, str]]:
    """Return the plans of a number of parts, better and better, with what they decide."""
    problem = prepared(world).problem
    improver = Improver(problem, field_of(problem), seed)
    effort = Effort(Settings(workers=1, seed=seed)).on_menus()
    found: list[tuple[Decimal, str]] = []

    def solve(problem: Problem, below: Decimal | None) -> Solved | None:
        plan = search_module._solve(problem, CpSat(), effort, below)
        if plan.value is None:
            return None
        found.append((plan.value, str(plan.choice)))
        return plan

    first = next(
        filter(
            None,
            (solve(of_menu(problem, improver.spots.field, menu), None) for menu in first_menus(improver.spots)),
        )
    )
    list(islice(improver.improved(first, solve, parts), parts))
    return found


def test_plans_get_better_and_the_same_seed_gives_the_same_again():
    world = instance(0, SMALL)
    found = improved(world, seed=0, parts=3)
    assert len(found) > 1
    assert [value for value, _ in found] == sorted((value for value, _ in found), reverse=True)
    assert found == improved(world, seed=0, parts=3)


@pytest.mark.parametrize("runs", [3, 4])
def test_an_interrupted_search_hands_out_its_best_plan(runs):
    """Ctrl-C comes with the third plan, of few runs or of many."""
    ready = prepared(instance(0, replace(SMALL, workloads=runs)))
    told: list[Decimal] = []

    def interrupt(incumbent: Decimal | None, bound: Decimal | None) -> None:
        told.extend([] if incumbent is None else [incumbent])
        if len(told) == 3:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.5)  # in the solver's thread: the main one hears the signal meanwhile

    with pytest.raises(SearchInterrupted) as caught:
        decide(ready, "auto", Settings(workers=1, progress=interrupt))
    found = caught.value.found
    assert (found.status, found.interrupted) == ("feasible", True)
    assert found.choice is not None
    assert found.bound is None or found.bound <= objective_value(found.choice, ready)
    assert objective_value(found.choice, ready) <= min(told) * (1 + Decimal("1e-6"))
    checked_choice(found.choice, ready, inputs(ready.problem.frame))


@pytest.mark.parametrize("runs", PROGRAMS)
def test_a_search_whose_time_ends_between_cutoffs_proves_no_more_than_it_tried(runs, monkeypatch):
    world = program(offered("bought"), PROGRAMS[runs])
    exact = least(fully_listed(world, monkeypatch))
    unlisted(world, monkeypatch)
    monkeypatch.setattr(Effort, "is_over", property(lambda _: True))
    plan = planned(world)
    assert plan.objective.value >= exact - Decimal("0.01")
    assert plan.objective.bound is None or plan.objective.bound <= exact + Decimal("0.01")
    assert plan.status != "optimal" or plan.objective.value == pytest.approx(exact, abs=Decimal("0.01"))
