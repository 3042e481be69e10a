"""Sampled schedules of sets of runs against the rules, their tables and every way to part the runs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from optimizer.solver.columns import Blocks
from optimizer.solver.packing import Packed
from optimizer.solver.partitions import Field
from optimizer.solver.sets import parted, sampled, spans
from tests.unit.solver.programs import AFTER, PROGRAMS, field, offered, program

CASES = [("two", "bought"), ("two", "hired"), ("in turn", "leased"), ("three", "two pools"), ("three", "rented")]


def some(known: Field, seed: int = 0) -> list[tuple[float, Packed]]:
    return sampled(known, 60, np.random.default_rng(seed))


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
    found = [
        Packed(float(draw.integers(1, 50)), pool, tuple((run, 0, 0) for run in range(4) if members >> run & 1))
        for pool, members in sets
    ]
    costs = {(one.pool, one.members): one.cost for one in found}
    least: dict[Packed, float] = {}
    for pools in product(range(3), repeat=4):
        own = {pool: sum(1 << run for run in range(4) if pools[run] == pool) for pool in set(pools)}
        if all(key in costs for key in own.items()):
            total = sum(costs[key] for key in own.items())
            for one in found:
                if own.get(one.pool) == one.members:
                    least[one] = min(total, least.get(one, np.inf))
    assert least
    assert {one: total for total, one in parted(found, 4)} == least


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
