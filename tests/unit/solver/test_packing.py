"""Sampled schedules of sets of runs against the rules, their tables and every way to part the runs."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from optimizer.solver.columns import Blocks, field_of
from optimizer.solver.packing import Packed, likely_awards
from optimizer.solver.partitions import Field
from optimizer.solver.schedules import Schedules
from optimizer.solver.sets import OF_A_SET, Partitions, Population, spans
from tests.benchmarks.instances import Size, instance
from tests.unit.cost.world import purchase, quote, site
from tests.unit.solver.deciding import prepared
from tests.unit.solver.programs import AFTER, PROGRAMS, field, offered, program
from tests.unit.solver.programs import run as workload

CASES = [("two", "bought"), ("two", "hired"), ("in turn", "leased"), ("three", "two pools"), ("three", "rented")]


def some(known: Field, seed: int = 0) -> list[tuple[float, Packed]]:
    population = Population(known, 60, np.random.default_rng(seed))
    population.turn_to()
    population.grow()
    return population.ranked()


@pytest.mark.parametrize(("runs", "offers"), CASES)
def test_samples_keep_windows_and_order_and_cost_no_less_than_the_cheapest_schedule(runs, offers, monkeypatch):
    known = field(program(offered(offers), PROGRAMS[runs], after_run=AFTER["idle"]), monkeypatch)
    found = some(known)
    assert found
    for total, one in found:
        slots = {run: known.slots[run, one.pool] for run, _, _ in one.runs}
        ends = {run: start + int(slots[run].days[mode]) - 1 for run, start, mode in one.runs}
        for run, start, _ in one.runs:
            assert slots[run].first <= start <= ends[run] <= slots[run].last
            assert all(ends[leader] < start for leader in known.after(run) & ends.keys())
        if all((run in slots) == (leader in slots) for run in range(len(known.names)) for leader in known.after(run)):
            block = tuple((run, one.pool) for run in sorted(slots))
            assert one.cost >= Blocks(known).bound(block, np.inf) - 1e-6 * abs(one.cost)
        assert total >= one.cost - 1e-6 * abs(one.cost) or min(cost for cost, _ in found) < 0


@pytest.mark.parametrize(("runs", "offers"), CASES)
def test_small_sets_are_sampled_down_to_the_cheapest_schedule(runs, offers, monkeypatch):
    """The runs all in one pool, as the enumeration finds them."""
    known = field(program(offered(offers), PROGRAMS[runs]), monkeypatch)
    best: dict[tuple[tuple[int, int], ...], float] = {}
    for _, one in some(known):
        block = tuple((run, one.pool) for run, _, _ in one.runs)
        best[block] = min(one.cost, best.get(block, np.inf))
    whole = {block: cost for block, cost in best.items() if len(block) == len(known.names)}
    assert whole
    for block, cost in whole.items():
        assert cost == pytest.approx(Blocks(known).bound(block, np.inf), rel=1e-6)


def test_sets_are_parted_as_every_way_to_part_them_shows():
    draw = np.random.default_rng(3)
    sets = [(pool, members) for pool in range(3) for members in range(1, 16) if draw.random() < 0.7]
    costs = np.full((3, 16), np.inf)
    costs[:, 0] = 0.0
    for key in sets:
        costs[key] = float(draw.integers(1, 50))
    least = np.full((3, 16), np.inf)
    for pools in product(range(3), repeat=4):
        own = [sum(1 << run for run in range(4) if pools[run] == pool) for pool in range(3)]
        total = sum(costs[pool, members] for pool, members in enumerate(own))
        for pool, members in enumerate(own):
            least[pool, members] = min(total, least[pool, members])
    assert np.isfinite(least).any()
    assert (Partitions(4).totals(costs) == least).all()


def test_what_is_needed_later_is_bought_later_where_that_costs_less(monkeypatch):
    """A node at 9,000 now or at 6,000 in March, runs of one node each: only then, from now on, and both, the second later.

    Two at once from now on cost 18,000 together; that nodes are needed at two times is not what the dearer of them costs.
    """
    march = [{"units": "rest", "date": "2027-03-15"}]
    later = purchase(6000, units={"max": 2}, lots=march, lead_weeks=None)
    free = {"sites": {"hall": site()}, "finance": {"discount_rate": 0}}
    runs = {"a": workload((1, 200)), "b": workload((1, 30))}
    known = field(program(quote({"now": purchase(9000, units={"max": 2}), "later": later}), runs, **free), monkeypatch)
    outlook, slots = known.outlook, tuple(known.slots[one, 0] for one in (0, 1))
    first, second = (int(day) for day in outlook.tables[0].ready)
    starts = np.array([[-1, second], [first, -1], [first, second], [first, first]])
    zeros = np.zeros(4)
    placed = Schedules(slots, starts, np.minimum(starts, 0), zeros, zeros)
    assert likely_awards(placed, 0, outlook).tolist() == pytest.approx([6000, 9000, 15000, 18000])


def test_the_cheapest_schedules_of_a_set_are_kept_and_a_plan_is_priced(monkeypatch):
    known = field(program(offered("two pools"), PROGRAMS["three"]), monkeypatch)
    population = Population(known, 60, np.random.default_rng(0))
    population.turn_to()
    population.grow()
    found = population.ranked()
    sets = Counter((one.pool, one.members) for _, one in found)
    assert max(sets.values()) == OF_A_SET
    best = next(one for _, one in found)
    fresh = Population(known, 1, np.random.default_rng(0))
    fresh.turn_to([best._replace(cost=0.0)])
    costs = [one.cost for _, one in fresh.ranked() if one.runs == best.runs and one.pool == best.pool]
    assert costs == [pytest.approx(best.cost)]


def test_schedules_that_cross_the_day_between_runs_are_forgotten_when_it_is_drawn_anew(monkeypatch):
    """The second run follows the first: alone in a pool each keeps to its side of the day."""
    known = field(program(offered("two pools"), PROGRAMS["in turn"]), monkeypatch)
    population = Population(known, 60, np.random.default_rng(0))
    for _ in range(5):
        population.turn_to()
        population.grow()
        alone = [one for _, one in population.ranked() if one.members in (1, 2)]
        ends = [
            start + int(known.slots[0, one.pool].days[mode]) - 1
            for one in alone
            for run, start, mode in one.runs
            if not run
        ]
        firsts = [start for one in alone for run, start, _ in one.runs if run]
        assert ends
        assert firsts
        assert max(ends) < min(firsts)


def test_generations_make_all_runs_cheaper():
    problem = prepared(instance(1, Size(5, platforms=4, modes=60))).problem
    population = Population(field_of(problem), 30, np.random.default_rng(0))
    population.turn_to()
    first = population.ranked()[0][0]
    population.grow()
    assert population.ranked()[0][0] < 0.95 * first


def test_a_day_is_drawn_between_a_run_and_the_next(monkeypatch):
    known = field(program(offered("bought"), PROGRAMS["in turn"]), monkeypatch)
    (first, last), (_, end) = (spans_of(known, run) for run in (0, 1))
    for seed in range(20):
        before, after = spans(known, np.random.default_rng(seed))
        assert before[0] == first
        assert before[1] < after[0] <= after[1] == end
        assert before[1] <= last
    near = [spans(known, np.random.default_rng(seed), {0: 40, 1: 100})[1][0] for seed in range(20)]
    assert abs(np.mean(near) - 100) < 20


def spans_of(known: Field, run: int) -> tuple[int, int]:
    slot = next(slot for (one, _), slot in known.slots.items() if one == run)
    return slot.first, slot.last
