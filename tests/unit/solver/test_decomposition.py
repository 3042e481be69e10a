"""The search of pools: timetables and bounds of sets of runs against every plan there is; and what it proves in the end."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from itertools import combinations, product

import numpy as np
import pytest
from ortools.sat.python import cp_model

from optimizer.errors import InternalError
from optimizer.solver import decomposition as decomposition_module
from optimizer.solver import profiles as profiles_module
from optimizer.solver import questions as questions_module
from optimizer.solver import timetable as timetable_module
from optimizer.solver.assemble import priced
from optimizer.solver.backend import Settings
from optimizer.solver.by_pools import decomposed, is_decomposable
from optimizer.solver.cells import Round
from optimizer.solver.cpsat import run as run_cpsat
from optimizer.solver.cpsat import stop_in
from optimizer.solver.decomposition import Decomposition
from optimizer.solver.enumerate import enumerate_plans
from optimizer.solver.found import Found, SearchInterrupted
from optimizer.solver.parts import Cell, PartBounds, cheapest, pairs_of
from optimizer.solver.pricing import Market
from optimizer.solver.questions import TIMED, Answered, Asker, Question, Queue
from optimizer.solver.relaxation import REFUTED, relaxed_model
from optimizer.solver.timetable import Timed, timetable
from tests.property.instances import Instance, several
from tests.unit.cost.world import purchase, quote
from tests.unit.solver.deciding import prepared
from tests.unit.solver.programs import (
    AFTER,
    PROGRAMS,
    field,
    fully_listed,
    least_costs,
    offered,
    program,
    run,
    unlisted,
)

QUICK = Settings(workers=1)
NOISE = 2e-6


def world_of(runs: str, offers: str, policy: str):
    terms = {"finance": {"discount_rate": 0.3, "residual": {"share": 0.3}}, "after_run": AFTER[policy]}
    return program(offered(offers), PROGRAMS[runs], **terms)


WORLDS = [
    ("two", "bought", "idle"),
    ("in turn", "leased", "idle"),
    ("two", "hired", "off"),
    ("in turn", "term", "idle"),
    ("two", "rented", "sell"),
    ("in turn", "two pools", "sell"),
]


def test_more_runs_than_sets_can_be_bounded_for_are_searched_otherwise(monkeypatch):
    """Every set of ten runs in a pool has a bound, 1,023 of them; eleven go another way."""
    for number, expected in ((10, True), (11, False)):
        runs = {f"r{one}": run((1, 20), (2, 11)) for one in range(number)}
        problem = unlisted(program(quote(purchase(9000, units={"max": 20})), runs), monkeypatch)
        assert is_decomposable(problem) == expected


def test_a_bound_below_a_plan_by_more_than_shows_is_no_proof(monkeypatch):
    """20 million, and a bound a whole dollar lower, 5e-8 of it: feasible. Lower by less than half a cent: optimal."""
    search = Decomposition(unlisted(world_of(*WORLDS[0]), monkeypatch), "auto", QUICK, unique=False)
    search.best = Found("feasible", None, Decimal(20_000_000), "cp-sat", "")
    for short, status in ((1.0, "feasible"), (0.006, "feasible"), (0.004, "optimal")):
        search.bound = 20_000_000 - short
        assert search.answer().status == status


@pytest.mark.parametrize(("runs", "offers", "policy"), WORLDS)
def test_a_timetable_never_costs_more_than_the_cheapest_plan_in_its_pools(runs, offers, policy, monkeypatch):
    """Of each assignment of pools; and a set of its runs by itself no more than the whole."""
    world = world_of(runs, offers, policy)
    plans = least_costs(fully_listed(world, monkeypatch))
    whole, asked = relaxed_model(unlisted(world, monkeypatch)), 0
    names = list(world.scenario.workloads)
    for pools in {tuple(one.pool for one in plan) for plan in plans}:
        truth = min(cost for plan, cost in plans.items() if tuple(one.pool for one in plan) == pools)
        places = dict(zip(names, pools, strict=True))
        for exact in (False, True):
            found = timetable(whole, places, QUICK, exact=exact)
            assert found.outcome == "optimal"
            assert float(found.bound) <= truth + 0.01
            asked += 1
        alone = [timetable(whole, {name: place}, QUICK, free=True) for name, place in places.items()]
        assert all(float(one.bound) <= truth + 0.01 for one in alone)
        cut = timetable(whole, places, QUICK, found.bound - 1, exact=True)
        assert (cut.outcome, cut.bound, cut.runs) == ("infeasible", found.bound - 1, {})
    assert asked >= 2


@pytest.mark.parametrize(("runs", "offers", "policy"), WORLDS)
def test_runs_are_dearer_in_a_pool_than_their_prices_only_where_each_set_is(runs, offers, policy, monkeypatch):
    """For prices of all sizes: against every set, timed by itself; and no plan whose pools are all dearer costs less."""
    world = world_of(runs, offers, policy)
    plans = least_costs(fully_listed(world, monkeypatch))
    whole, names = relaxed_model(unlisted(world, monkeypatch)), list(world.scenario.workloads)
    dearest, met, brief = max(plans.values()), Counter(), replace(QUICK, work=0.2)
    timed: dict[str, list[tuple[tuple[str, ...], Timed]]] = {}
    for ground in whole.grounds:
        pool, here = ground.pool.name, [stay.workload for stay in ground.stays]
        sets = [own for size in range(1, 3) for own in combinations(here, size)]
        timed[pool] = [(own, timetable(whole, dict.fromkeys(own, pool), QUICK, free=True)) for own in sets]
    for first, second in product((0.0, 0.2, 0.5, 1.1), repeat=2):
        prices = dict(zip(names, (Decimal(first * dearest), Decimal(second * dearest)), strict=True))
        dearer = set()
        for pool, known in timed.items():
            market = Market.of(whole, pool)
            outcome = market.cheaper(prices, brief).outcome
            less = [one.bound - sum(prices[run] for run in own) for own, one in known if one.outcome == "optimal"]
            least, small = float(min(less, default=Decimal("inf"))), 0.02 + 2e-7 * dearest
            assert outcome != "infeasible" or least >= -small
            if offers != "term":  # of all runs there it is also known that none follows another from elsewhere
                assert outcome != "feasible" or least <= small
            met[outcome] += 1
            left: list[frozenset[str]] = []  # sets that cost less come one after another, each once
            while (found := market.cheaper(prices, brief, left_out=left)).outcome == "feasible":
                assert found.runs not in left
                assert found.cost < sum(float(prices[run]) for run in found.runs) + small
                again = market.cheaper(prices, brief, must=found.runs, never=set(names) - found.runs)
                assert again.runs in (found.runs, frozenset())
                left.append(found.runs)
            assert outcome == "feasible" or not left
            dearer |= {pool} if outcome == "infeasible" else set()
        for plan, cost in plans.items():
            if {one.pool for one in plan} <= dearer:
                assert cost >= sum(float(price) for price in prices.values()) - 0.01
    assert met["infeasible"]
    assert met["feasible"]


def test_prices_of_runs_are_no_more_than_any_set_costs_and_lift_what_is_cheaper(monkeypatch):
    """Dearest in all: some sets of parts that hold every run cost just their prices, as linear programs have it."""
    bounds = PartBounds(field(world_of("three", "two pools", "idle"), monkeypatch), 0.0)
    prices = bounds.prices(bounds.least.min(axis=1))
    paid = bounds.of_prices(prices)
    assert paid[0b101] == pytest.approx(prices[0] + prices[2])
    assert (paid[:, None] <= bounds.least + 1e-6).all()
    tight = np.flatnonzero((paid[:, None] >= bounds.least - 1e-6).any(axis=1))
    assert {run for mask in tight for run in range(3) if mask >> run & 1} == {0, 1, 2}
    before = bounds.least.copy()
    dear = [2 * price for price in prices]
    assert bounds.is_below(0, dear, Cell(0b001, 0b101))
    bounds.lift(0, dear, Cell(0b001, 0b101), left_out=[0b001])
    assert not bounds.is_below(0, dear, Cell(0b101, 0b101))
    assert bounds.least[0b101, 0] == max(before[0b101, 0], 2 * paid[0b101])
    others = np.delete(np.arange(8), 0b101)
    assert (bounds.least[others] == before[others]).all()
    assert (bounds.least[:, 1:] == before[:, 1:]).all()


def test_a_cell_is_parted_into_every_set_once():
    cell = Cell(0b0010, 0b1111)
    parts = cell.parted([5.0, 9.0, 1.0, 7.0])
    assert parts == [Cell(0b1011, 0b1111), Cell(0b1010, 0b1110), Cell(0b0011, 0b0111), Cell(0b0010, 0b0110)]
    held = [members for members in range(16) for one in parts if one.holds(members)]
    assert sorted(held) == [members for members in range(16) if cell.holds(members)]
    assert Cell(0b0011, 0b0011).parted([1.0, 1.0]) == [Cell(0b0011, 0b0011)]


@pytest.mark.parametrize("is_stuck", [False, True])
@pytest.mark.parametrize(("runs", "offers", "policy"), [WORLDS[0], WORLDS[1], WORLDS[4], WORLDS[5]])
def test_rounds_of_prices_bound_every_set_by_no_more_than_it_costs(is_stuck, runs, offers, policy, monkeypatch):
    """Also where CP-SAT cannot tell about more than one set at a time; and the runs become no cheaper with any round."""
    world = world_of(runs, offers, policy)
    problem = unlisted(world, monkeypatch)
    search = Decomposition(problem, "auto", QUICK, unique=False)
    names, places, bounds = search.known.names, search.places, search.bounds
    pools = {pool: sum(1 << run for run, place in search.known.known if place == pool) for pool in range(len(places))}
    sums, this, asked = [], Round(bounds, pools), 0
    for _ in range(4):
        sums.append(sum(bounds.prices(bounds.least.min(axis=1))))
        while questions := list(this.questions(3)):
            for question in questions:
                asked += 1
                told = search.asker.answer(question, 1)
                if is_stuck and question.must != question.parts[0][0]:
                    told = Answered(TIMED, "unknown", None)
                search._learn(question, told, this)
        assert this.is_proven
        this = this.next()
    assert asked
    assert sums == sorted(sums)
    assert sums[-1] > sums[0] or offers in ("bought", "leased")  # there single runs tell all from the first
    for (members, pool), cost in np.ndenumerate(bounds.least):
        own = {name: places[pool] for run, name in enumerate(names) if members >> run & 1}
        found = timetable(search.whole, own, QUICK, free=True) if own else None
        if found is not None and found.outcome == "optimal":
            assert cost <= float(found.bound) * (1 + 1e-6) + 0.02


def test_what_is_asked_beside_is_answered_when_it_is_done():
    """Before what was asked first, if that takes longer; one at a time."""
    slow, beside = threading.Event(), []

    def answer(question, workers):
        if question.kind == "plan":
            beside.append(question)
        else:
            slow.wait(10)
        return Answered(TIMED, "unknown", None)

    queue = Queue(answer, 2)
    queue.ask([Question("time", ((1, 0),))])
    for _ in range(2):
        queue.beside(Question("plan", ()))
    assert queue.next()[0].kind == "plan"
    slow.set()
    assert queue.next()[0].kind == "time"
    assert queue.is_empty
    assert len(beside) == 1
    queue.stop()


@pytest.mark.parametrize(("runs", "offers", "policy"), [WORLDS[0], WORLDS[1], WORLDS[5]])
def test_that_a_timetable_fits_some_room_is_told_right(runs, offers, policy, monkeypatch):
    """Also where it is told in which segments of time runs are: none below the least cost, one at it."""
    monkeypatch.setattr(timetable_module, "CROWDED", 1)
    world = world_of(runs, offers, policy)
    plans = least_costs(fully_listed(world, monkeypatch))
    whole, names = relaxed_model(unlisted(world, monkeypatch)), list(world.scenario.workloads)
    for pools in {tuple(one.pool for one in plan) for plan in plans}:
        places = dict(zip(names, pools, strict=True))
        monkeypatch.setattr(timetable_module, "CROWDED", 99)
        least = timetable(whole, places, QUICK).bound
        monkeypatch.setattr(timetable_module, "CROWDED", 1)
        assert timetable(whole, places, QUICK).bound == least
        below = timetable(whole, places, QUICK, least - 1, any_will_do=True)
        assert (below.outcome, below.bound, below.runs) == ("infeasible", least - 1, {})
        at = timetable(whole, places, QUICK, least + 1, any_will_do=True)
        assert (at.outcome, at.bound, set(at.runs)) == ("feasible", None, set(names))


def test_bought_nodes_are_timed_exactly_and_a_known_timetable_is_left_out():
    """30 days on one node, then 25: one node at 9,000; the next timetable starts the other run first."""
    offers = quote(purchase(9000, units={"max": 2}))
    world = program(offers, {"a": run((1, 30)), "b": run((1, 25))}, sites={"hall": {"electricity": {"per_kwh": 0}}})
    profiles_module.LISTED, before = 0, profiles_module.LISTED
    try:
        whole = relaxed_model(prepared(world).problem)
    finally:
        profiles_module.LISTED = before
    places = dict.fromkeys(("a", "b"), whole.grounds[0].pool.name)
    first = timetable(whole, places, QUICK)
    assert float(first.bound) == pytest.approx(9000, rel=1e-6)
    second = timetable(whole, places, QUICK, known=[first.runs])
    assert float(second.bound) == pytest.approx(9000, rel=1e-6)
    assert second.runs != first.runs
    third = timetable(whole, places, QUICK, known=[first.runs, second.runs])
    assert float(third.bound) > 17_000  # side by side, on two


def by_cost(one: Instance) -> None:
    one.scenario["objective"] = "cost"
    one.scenario.pop("after_run", None)
    one.scenario.pop("costs", None)


@pytest.mark.parametrize("is_many", [False, True])
def test_what_it_proves_is_the_true_optimum(is_many, monkeypatch):
    """Random problems of two and three runs, as if there were too many to list, against enumeration.

    Also as if they were many: bounds are raised by prices, and by small steps.
    """
    if is_many:
        monkeypatch.setattr(decomposition_module, "MANY_RUNS", 2)
        monkeypatch.setattr(decomposition_module, "LARGE", 1)
    met: Counter[tuple[str, str]] = Counter()
    for seed in range(90_000, 90_014):
        world = several(seed).changed(by_cost).frame()
        truth = enumerate_plans(fully_listed(world, monkeypatch))
        problem = unlisted(world, monkeypatch)
        if problem.windows is None or not is_decomposable(problem):
            continue
        found = decomposed(problem, "auto", replace(QUICK, time_limit_s=3), unique=False)
        met[truth.status, found.status] += 1
        if truth.bound is None:
            assert found.choice is None, seed
        elif found.choice is not None:
            value, room = priced(found.choice, world).npv, Decimal(NOISE) * abs(truth.bound) + Decimal("0.01")
            assert found.bound <= truth.bound + room, seed
            assert value >= truth.bound - room, seed
            assert found.status != "optimal" or value <= truth.bound + room, seed
    assert met["optimal", "optimal"] >= 4
    assert not met["optimal", "infeasible"]
    assert not met["infeasible", "optimal"]


def test_many_runs_that_no_pool_can_hold_are_refuted_by_the_relaxation(monkeypatch):
    """One node for two runs of 100 days that must be over in 150: too few node-days, which HiGHS and CP-SAT prove."""
    monkeypatch.setattr(decomposition_module, "MANY_RUNS", 2)
    runs = {name: run((1, 100), deadline="2027-05-30") for name in ("a", "b")}
    problem = unlisted(program(quote(purchase(9000, units={"max": 1})), runs), monkeypatch)
    found = decomposed(problem, "auto", QUICK, unique=False)
    assert (found.status, found.proof) == ("infeasible", REFUTED)


def test_plans_of_many_runs_are_found_beside_bounds(monkeypatch):
    """Though no timetable of all runs is ever found: the plan is the best there is, and its bound is below it."""
    monkeypatch.setattr(decomposition_module, "MANY_RUNS", 2)
    problem = unlisted(world_of("three", "two pools", "idle"), monkeypatch)
    truth, real = decomposed(problem, "auto", QUICK, unique=False), Asker.answer

    def no_timetable(self, question, workers):
        return Answered(TIMED, "unknown", None) if question.kind == "all" else real(self, question, workers)

    monkeypatch.setattr(Asker, "answer", no_timetable)
    found = decomposed(problem, "auto", replace(QUICK, time_limit_s=8), unique=False)
    assert float(priced(found.choice, problem.frame).npv) == pytest.approx(float(truth.bound), abs=0.01)
    assert float(found.bound) <= float(truth.bound) + 0.01


def test_assignments_come_in_order_of_their_bounds(monkeypatch):
    """Against all of them; no pool is in one twice."""
    known = field(world_of("three", "two pools", "idle"), monkeypatch)
    bounds = PartBounds(known, 0.0)
    bounds.raise_to((0b011, 0), 50_000.0)
    assert bounds.least[0b111, 0] >= 50_000
    found = list(bounds.assignments())
    assert [bound for bound, _ in found] == sorted(bound for bound, _ in found)
    every = {
        pools
        for pools in product(range(2), repeat=3)
        if all((run, pool) in known.known for run, pool in enumerate(pools))
    }
    assert {tuple(pool for _, pool in pairs_of(parts)) for _, parts in found} == every
    values = sorted(bounds.total(parts) for _, parts in found)
    least = cheapest(bounds, {}, np.inf, 3)
    assert [one.value for one in least] == values[:3]
    assert cheapest(bounds, {least[0].parts: np.inf}, np.inf) == [least[1]]
    assert cheapest(bounds, {}, values[0], 3) == []
    assert [one.value for one in cheapest(bounds, {}, values[2], 9)] == [value for value in values if value < values[2]]


def test_what_is_stopped_has_a_bound_below_the_optimum(monkeypatch):
    problem = unlisted(world_of("three", "two pools", "idle"), monkeypatch)
    exact = decomposed(problem, "auto", QUICK, unique=True)
    assert exact.status == "optimal"
    search = Decomposition(problem, "auto", QUICK, unique=False)
    told = []
    search.settings = replace(QUICK, progress=lambda *one: told.append(one))
    looks = iter(range(6))
    monkeypatch.setattr(Decomposition, "_is_over", lambda _: next(looks, None) is None)
    found = search.run()
    assert found.status in ("feasible", "optimal")
    assert found.bound <= exact.bound
    assert told
    assert all(bound is None or bound <= exact.bound for _, bound in told)


def test_ctrl_c_keeps_the_plan(monkeypatch):
    """It comes with the first question after the timetable of all runs that gave a plan."""
    problem = unlisted(world_of("three", "two pools", "idle"), monkeypatch)
    real = questions_module.timetable
    of_all = []

    def stopped(*given, **named):
        if of_all:
            return Timed("unknown", None, {}, interrupted=True)
        of_all.extend([True] * (not named["free"]))
        return real(*given, **named)

    monkeypatch.setattr(questions_module, "timetable", stopped)
    with pytest.raises(SearchInterrupted) as caught:
        decomposed(problem, "auto", QUICK, unique=False)
    assert caught.value.found.choice is not None
    assert caught.value.found.interrupted


def test_ctrl_c_while_the_first_places_are_tried_is_told(monkeypatch):
    problem = unlisted(world_of("two", "two pools", "idle"), monkeypatch)
    places = dict.fromkeys(problem.frame.scenario.workloads, problem.pools[0].name)
    monkeypatch.setattr(questions_module, "timetable", lambda *_, **__: Timed("unknown", None, {}, interrupted=True))
    with pytest.raises(SearchInterrupted) as caught:
        decomposed(problem, "auto", QUICK, unique=False, places=places)
    assert (caught.value.found.status, caught.value.found.interrupted) == ("unknown", True)


@pytest.mark.parametrize(("runs", "offers", "policy"), WORLDS)
def test_answers_hold_for_every_plan(runs, offers, policy, monkeypatch):
    """Each kind of question about each assignment against its cheapest plan; a list has it, or proves that it costs more."""
    world = world_of(runs, offers, policy)
    plans = least_costs(fully_listed(world, monkeypatch))
    search = Decomposition(unlisted(world, monkeypatch), "auto", QUICK, unique=False)
    for pools in {tuple(one.pool for one in plan) for plan in plans}:
        truth = min(cost for plan, cost in plans.items() if tuple(one.pool for one in plan) == pools)
        parts = search.parts_of(dict(zip(world.scenario.workloads, pools, strict=True)))
        assert parts is not None
        for kind in ("relax", "time"):
            bounds = [search.asker.answer(Question(kind, (part,), work=5.0), 1).bound for part in parts]
            assert sum(bounds) <= truth + 0.01
        above = search.asker.answer(Question("list", parts, truth + 1), 1)
        assert above.outcome == "feasible"
        assert float(above.plan.bound) == pytest.approx(truth, abs=0.01)
        assert float(priced(above.plan.choice, world).npv) == pytest.approx(truth, abs=0.01)
        assert above.bound == pytest.approx(truth, abs=0.01)
        below = search.asker.answer(Question("list", parts, truth - 1), 1)
        assert below.bound == truth - 1
        assert below.plan is None or float(below.plan.bound) == pytest.approx(truth, abs=0.01)


def test_an_assignment_that_cp_sat_cannot_close_is_listed(monkeypatch):
    """CP-SAT is given no work for all runs: lists alone prove the same."""
    problem = unlisted(world_of("three", "two pools", "idle"), monkeypatch)
    exact = decomposed(problem, "auto", QUICK, unique=True)
    real, asked = Asker.answer, []

    def unlucky(self, question, workers):
        asked.append(question.kind)
        return Answered(TIMED, "unknown", None) if question.kind == "all" else real(self, question, workers)

    search = Decomposition(problem, "auto", QUICK, unique=True)
    assert search.try_places(dict.fromkeys(search.known.names, search.places[0])) is None
    assert search.best is not None
    monkeypatch.setattr(Asker, "answer", unlucky)
    found = search.run()
    assert (found.status, found.bound) == ("optimal", exact.bound)
    assert "list" in asked


def test_the_places_of_the_relaxation_are_tried_first(monkeypatch):
    """In one pool a plan; where nothing is said, or a pool is unknown, none and no error."""
    search = Decomposition(unlisted(world_of("two", "two pools", "sell"), monkeypatch), "auto", QUICK, unique=False)
    pool = search.known.outlook.pools[1]
    for nothing in ({}, dict.fromkeys(search.known.names, "nowhere")):
        search.try_places(nothing)
        assert search.best is None
    search.try_places(dict.fromkeys(search.known.names, pool.name))
    assert {(one.platform.id, one.place) for one in search.best.choice.runs} == {(pool.platform.id, pool.place)}


def test_questions_are_answered_in_the_order_they_were_asked():
    """Though the first takes longest; each is asked once, and no more at a time than were agreed."""
    begun = []

    def answer(question, workers):
        begun.append(question.parts)
        time.sleep(0.2 if question.parts == ((1, 0),) else 0)
        return Answered(TIMED, "optimal", float(question.parts[0][0]))

    queue = Queue(answer, 2)
    every = [Question("time", ((mask, 0),)) for mask in (1, 2, 2, 3, *range(4, 40))]
    queue.ask(every)
    queue.ask(every)
    told = [queue.next() for _ in range(queue.depth)]
    assert [question.parts[0][0] for question, _ in told] == list(range(1, queue.depth + 1))
    assert [found.bound for _, found in told] == list(range(1, queue.depth + 1))
    assert len(begun) == queue.depth
    assert queue.is_short
    queue.stop()


def market_split() -> cp_model.CpModel:
    """Return a model that takes minutes: five sums of forty numbers, each split in halves at once."""
    native, numbers = cp_model.CpModel(), np.random.default_rng(0).integers(0, 100, (5, 40))
    taken = [native.new_bool_var("") for _ in range(40)]
    for row in numbers:
        native.add(cp_model.LinearExpr.weighted_sum(taken, row.tolist()) == int(row.sum()) // 2)
    return native


def test_stopping_ends_what_is_looked_for():
    """It ends at once, and what waits is not begun; a search of somebody else goes on."""
    begun, outcomes, others = threading.Event(), [], []

    def answer(question, workers):
        begun.set()
        outcomes.append(run_cpsat(market_split(), replace(QUICK, time_limit_s=60))[1])
        return Answered(TIMED, outcomes[-1], None)

    other = threading.Thread(
        target=lambda: others.append(run_cpsat(market_split(), replace(QUICK, time_limit_s=60))[1])
    )
    other.start()
    queue = Queue(answer, 2)
    queue.ask(Question("time", ((mask, 0),)) for mask in range(1, 9))
    assert begun.wait(10)
    queue.stop()
    assert set(outcomes) == {"unknown"}
    assert len(outcomes) <= 4
    assert other.is_alive()
    stop_in({other.ident})
    other.join(20)
    assert others == ["unknown"]


def test_a_plan_below_its_bounds_is_no_answer(monkeypatch):
    problem = unlisted(world_of("two", "bought", "idle"), monkeypatch)
    search = Decomposition(problem, "auto", QUICK, unique=False)
    search.bounds.least *= 100
    with pytest.raises(InternalError, match="bounds of its runs"):
        search.run()


def test_an_infeasible_program_is_proven_twice(monkeypatch):
    """One node for 100 days, in the middle of which one run must be: neither before nor after it the other has 45."""
    fixed = run((1, 40), release="2027-02-09", deadline="2027-03-21")
    runs = {"a": fixed, "b": run((1, 45), deadline="2027-04-19")}
    problem = unlisted(program(quote(purchase(9000, units={"max": 1})), runs), monkeypatch)
    variants = []
    real = questions_module.timetable
    monkeypatch.setattr(
        questions_module, "timetable", lambda *a, **k: (variants.append(a[2].variant), real(*a, **k))[1]
    )
    assert decomposed(problem, "auto", QUICK, unique=False).status == "infeasible"
    assert set(variants) == {0, 1}
