"""Schedules against plain nested loops, and their bounds against every plan priced exactly."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import combinations, product

import numpy as np
import pytest

from optimizer.schema.scenario import Budget
from optimizer.solver.columns import Blocks, field_of
from optimizer.solver.curves import Counts
from optimizer.solver.partitions import Block, Field, undominated
from optimizer.solver.placing import Enumeration
from optimizer.solver.prices import with_prices
from optimizer.solver.problem import Pool
from optimizer.solver.schedules import Schedules
from tests.unit.cost.world import block as blocks_of_days
from tests.unit.cost.world import hourly, purchase, quote, reserved, site
from tests.unit.solver.deciding import planned
from tests.unit.solver.programs import (
    AFTER,
    OFFERS,
    PROGRAMS,
    Row,
    Runs,
    field,
    fully_listed,
    least_costs,
    offered,
    pools_of,
    program,
    row_of,
    rows,
    run,
    unlisted,
)

EVERY = 10**6
EXACT = 1e-6


def nested(block: Block, known: Field) -> set[Row]:
    """Return every schedule: each mode on each day of the windows that is a start, in order of precedence."""
    slots = [known.slots[key] for key in block]
    choices = [
        [(mode, day) for mode, days in enumerate(slot.days) for day in range(slot.first, int(slot.last - days) + 2)]
        for slot in slots
    ]
    return {row for row in product(*choices) if _is_schedule(row, block, known)}


def _is_schedule(row: Row, block: Block, known: Field) -> bool:
    ends = {
        workload: day + int(known.slots[key].days[mode]) - 1
        for key, (mode, day) in zip(block, row, strict=True)
        for workload in key[:1]
    }
    for key, (_, day) in zip(block, row, strict=True):
        workload, pool = key
        leaders = [
            end
            for (other, place) in block
            for end in [ends[other]]
            if other != workload and (place == pool or other in known.after(workload))
        ]
        if day not in known.slots[key].starts and day - 1 not in leaders:
            return False
        if any(ends[other] >= day for other in known.after(workload) if other in ends):
            return False
    return True


SHORT = {
    "two": {"a": run((1, 9), (2, 5), deadline="2027-01-25"), "b": run((1, 7), deadline="2027-01-28")},
    "in turn": {"a": run((1, 8), (2, 6), deadline="2027-01-20"),
                "b": run((1, 9), (2, 4), after=["a"], deadline="2027-01-31")},
    "three": {"a": run((1, 5), deadline="2027-01-18"), "b": run((1, 6), (2, 3), deadline="2027-01-18"),
              "c": run((1, 4), after=["a"], deadline="2027-01-18")},
}  # fmt: skip
SOON = {
    "bought": {"stock": purchase(9000, units={"max": 2}), "soon": purchase(6000, units={"max": 2}, lead_weeks=[1, 1])},
    "hired": {"hour": hourly(3, units={"max": 2}), "block": blocks_of_days(2.5, (14, 1), units={"max": 1})},
    "rented": {"term": reserved(2, 1, units={"max": 3})},
}


@pytest.mark.parametrize("policy", ["idle", "sell"])
@pytest.mark.parametrize("offers", SOON)
@pytest.mark.parametrize("runs", SHORT)
def test_within_a_cutoff_are_all_schedules_of_nested_loops_and_no_others(runs, offers, policy, monkeypatch):
    """Dominance then leaves out none that another one does not replace at a bound no higher."""
    terms = {"finance": {"discount_rate": 0.3, "residual": {"share": 0.3}}, "after_run": AFTER[policy]}
    known = field(program(quote(SOON[offers]), SHORT[runs], **terms), monkeypatch)
    (block,) = known.blocks([0] * len(known.names))
    tried = known.enumeration(block).within(np.inf, EVERY)
    _all_modes(monkeypatch)
    every = known.enumeration(block).within(np.inf, EVERY)
    assert rows(tried).items() <= rows(every).items()
    _replaced(every, tried, known)
    bounds = rows(every)
    assert len(bounds) == len(every) > 3
    possible = {row for row in nested(block, known) if row in bounds}
    assert possible == set(bounds)
    for row in nested(block, known) - possible:
        assert _is_impossible(row, block, known), row
    for cutoff in np.quantile(every.bound, [0, 0.3, 0.7]):
        found = known.enumeration(block).within(float(cutoff) + EXACT, EVERY)
        assert rows(found) == {row: bound for row, bound in bounds.items() if bound <= cutoff + EXACT}
    _replaced(every, undominated(every, known), known)


def _is_impossible(row: Row, block: Block, known: Field) -> bool:
    """Return whether a schedule needs more nodes at once than there are, or lasts longer than its only contract."""
    slots = [known.slots[key] for key in block]
    (pool,) = {known.outlook.pools[slot.pool] for slot in slots}
    spans = [(day, day + int(slot.days[mode]), int(slot.needed[mode]))
             for slot, (mode, day) in zip(slots, row, strict=True)]  # fmt: skip
    crowded = any(
        sum(n for first, end, n in spans if first <= day < end) > _ready(pool, day, known) for day, _, _ in spans
    )
    alone = {option.offer.type.value for option in pool.options} == {"reserved"}
    lasting = max(end for _, end, _ in spans) - min(first for first, _, _ in spans)
    return crowded or (alone and lasting > 31)


def _ready(pool: Pool, day: int, known: Field) -> int:
    """Return how many units of all offers may be ready by a day."""
    most = {}
    for option in pool.options:
        if option.follows or (option.lots[0].ready - known.frame.today).days <= day:
            most[option.offer_key] = option.offer.units.max or 0
    return sum(most.values())


def _all_modes(monkeypatch) -> None:
    """Have the run placed last tried in every mode, also in those that need more nodes and cost no less."""
    monkeypatch.setattr(Enumeration, "_only_nodes_count", lambda *_: False)


def _replaced(every: Schedules, kept: Schedules, known: Field) -> None:
    """For each schedule one is kept that has a bound no higher, never needs more at once, and where sold ends no later."""
    others = [_profile(kept, row, known) for row in range(len(kept))]
    for row in range(len(every)):
        bound, end, use = _profile(every, row, known)
        assert any(b <= bound + EXACT and e <= end and bool((u <= use).all()) for b, e, u in others)


def _profile(found: Schedules, row: int, known: Field) -> tuple[float, int, Counts]:
    """Return bound, last day where it is priced, and the most nodes needed at once by runs that start before more is ready."""
    use = np.zeros(60, dtype=np.int64)
    for column, slot in enumerate(found.slots):
        day, mode = found.starts[row, column], found.modes[row, column]
        use[day : day + slot.days[mode]] += slot.needed[mode]
    starts = found.starts[row]
    until = [*known.outlook.tables[0].ready, 60]
    peaks = np.array([max((use[day] for day in starts if day < more), default=0) for more in until])
    sold = known.frame.scenario.after_run.policy == "sell"
    return float(found.bound[row]), int(found.last()[row]) if sold else 0, peaks


CASES = [
    *((runs, offers, policy) for runs in ("two", "in turn") for offers in OFFERS for policy in ("off", "sell", "use")),
    *(("three", offers, policy) for offers in ("bought", "term", "two pools") for policy in AFTER),
    ("three", "hired", "idle"),
    ("three", "rented", "use"),
]


STAFF = [{"name": "setup", "per": "cluster", "amount": 4000, "every": "once"},
         {"name": "staff", "per": "cluster", "amount": {1: 9000, 2: 12000}, "every": "year"},
         {"name": "hall staff", "per": "cluster", "amount": 5000, "every": "month", "types": ["purchase"]}]  # fmt: skip
"""Entries paid once, and such that recur: for every award, and for some."""


@pytest.mark.parametrize("costs", [[], STAFF], ids=["alone", "staffed"])
@pytest.mark.parametrize(("runs", "offers", "policy"), CASES, ids=lambda name: name.replace(" ", "_"))
def test_no_plan_costs_less_than_the_bounds_of_its_blocks_and_of_their_parts(runs, offers, policy, costs, monkeypatch):
    """Every choice of runs, with the awards that are cheapest for it: its own schedules are there, and cost no more."""
    terms = {"finance": {"discount_rate": 0.3, "residual": {"share": 0.3}}, "after_run": AFTER[policy], "costs": costs}
    world = program(offered(offers), PROGRAMS[runs], **terms)
    _no_bound_is_too_high(least_costs(fully_listed(world, monkeypatch)), field(world, monkeypatch), monkeypatch)


MONEY = {"total": 10**9, "by_fiscal_year": {"2027": 30_000, "2028": 10**9}}
PRICES = [{None: "0.5"}, {"2027": "2"}, {"2028": "8"}, {None: "0.1", "2027": "0.4"}]
"""Prices of budgets: of all money, of what is paid early, of what is paid late."""


@pytest.mark.parametrize("prices", PRICES, ids=["all", "early", "late", "both"])
@pytest.mark.parametrize("offers", OFFERS)
@pytest.mark.parametrize(("runs", "policy"), [("in turn", "idle"), ("two", "use"), ("in turn", "sell")])
def test_no_plan_costs_less_than_its_bound_at_prices_of_budgets(runs, policy, offers, prices, monkeypatch):
    """Cost and priced money of every choice, less the price of the whole budget: of a plan within it, no more than its cost."""
    terms = {"finance": {"discount_rate": 0.1, "residual": {"share": 0.3}}, "after_run": AFTER[policy]}
    world = program(offered(offers), PROGRAMS[runs], **terms, costs=STAFF, budget=MONEY, fiscal_year_start=4)
    at = {label: Decimal(price) for label, price in prices.items()}
    money = with_prices(world, at)
    listed = fully_listed(replace(world, scenario=world.scenario.model_copy(update={"budget": Budget()})), monkeypatch)
    costs = {runs: cost - float(money.of_budgets) for runs, cost in least_costs(listed, money).items()}
    _no_bound_is_too_high(costs, field_of(unlisted(world, monkeypatch), at), monkeypatch)


def _no_bound_is_too_high(costs: dict[Runs, float], known: Field, monkeypatch) -> None:
    blocks, every, constant = Blocks(known), Blocks(known), float(known.outlook.constant.min())
    with monkeypatch.context() as patch:
        _all_modes(patch)
        for pools in {pools_of(chosen, known) for chosen in costs}:
            for block in known.blocks(pools):
                every.within(block, np.inf)
    least: dict[tuple[int, ...], float] = {}
    assert costs
    for chosen, cost in costs.items():
        pools = pools_of(chosen, known)
        paid = constant + known.entry(enumerate(pools))
        bound = paid
        for block in known.blocks(pools):
            bound += rows(every.within(block, np.inf))[row_of(chosen, block, known)]
        assert bound <= cost + EXACT, chosen
        least[pools] = min(cost - paid, least.get(pools, np.inf))
    for pools, cost in least.items():
        assert Blocks(known).bounds(known.blocks(pools), cost + EXACT) <= cost + EXACT, pools
        for own in _parts(known.blocks(pools)):
            assert _with_parts(own, pools, blocks) <= cost + EXACT, (pools, own)


def _parts(blocks: tuple[Block, ...]) -> list[Block]:
    """Return all sets of runs of a block but the empty one and the whole."""
    return [own for block in blocks for size in range(1, len(block)) for own in combinations(block, size)]


def _with_parts(own: Block, pools: tuple[int, ...], blocks: Blocks) -> float:
    """Return a bound of a plan from some of the runs of a block, what the others of it draw, and the other blocks."""
    known = blocks.field
    (whole,) = [block for block in known.blocks(pools) if set(own) <= set(block)]
    total = sum(blocks.part(part, np.inf) for part in known.parts(own))
    total += sum(known.known[key].running for key in whole if key not in own)
    for pool in {pool for _, pool in whole} - {pool for _, pool in own}:  # awards may earn more than they cost
        total += min(0.0, *(known.known[key].awards for key in whole if key[1] == pool))
    return total + sum(blocks.bound(block, np.inf) for block in known.blocks(pools) if block != whole)


def _parts_cost_no_more(world, own: tuple[str, ...], monkeypatch) -> None:
    costs = least_costs(fully_listed(world, monkeypatch))
    known = field(world, monkeypatch)
    blocks, constant = Blocks(known), float(known.outlook.constant.min())
    compared = 0
    for chosen, cost in costs.items():
        pools = pools_of(chosen, known)
        members = {(known.names.index(name), pools[known.names.index(name)]) for name in own}
        if any(members < set(block) for block in known.blocks(pools)):
            bound = constant + known.entry(enumerate(pools)) + _with_parts(tuple(sorted(members)), pools, blocks)
            assert bound <= cost + EXACT
            compared += 1
    assert compared


def test_a_part_may_start_after_a_run_that_is_left_out(monkeypatch):
    """b follows a and runs beside c: without a, b may still start on day 20, on which nothing else happens."""
    runs = {"a": run((1, 20)), "b": run((1, 20), after=["a"], deadline="2027-03-01"), "c": run((1, 50))}
    _parts_cost_no_more(program(quote(purchase(9000, units={"max": 2})), runs), ("b", "c"), monkeypatch)


def test_a_part_is_paid_as_late_as_after_a_run_that_is_left_out(monkeypatch):
    """One node, and a must be first: b and c come 100 days later than without it, and money is worth less by then."""
    runs = {"a": run((1, 100), deadline="2027-04-10"), "b": run((1, 100)), "c": run((1, 100))}
    _parts_cost_no_more(program(quote(purchase(9000, units={"max": 1})), runs), ("b", "c"), monkeypatch)


def test_a_part_is_hired_as_late_as_after_a_run_that_is_left_out(monkeypatch):
    """On the one node bought for next to nothing a takes 150 days, not 20: b is hired no earlier."""
    offers = {"stock": purchase(1, units={"max": 1}), "hour": hourly(3, units={"max": 2})}
    runs = {"a": run((1, 150), (2, 20)), "b": run((1, 100), after=["a"]), "c": run((1, 30))}
    _parts_cost_no_more(program(quote(offers), runs, sites={"hall": site()}), ("b", "c"), monkeypatch)


def test_a_part_in_one_term_may_need_more_nodes_to_end_with_it(monkeypatch):
    """After a, b on one node would outlast the only term, three months; on two nodes it does not."""
    runs = {"a": run((1, 60), deadline="2027-03-10"), "b": run((1, 80), (2, 25), after=["a"]), "c": run((1, 10))}
    _parts_cost_no_more(program(quote({"term": reserved(2, 3, units={"max": 3})}), runs), ("a", "b"), monkeypatch)


@pytest.mark.parametrize("second", [(1, 50), (1, 61)], ids=["fits a term of its own", "too long for any"])
def test_a_term_may_begin_with_a_run_that_follows_another(second, monkeypatch):
    """Two months from the release, 59 days, end before the second run does; a second term covers 50 days, not 61."""
    runs = {"a": run((1, 50)), "b": run(second, after=["a"])}
    world = program(quote({"one": reserved(2, 2, units={"max": 1}), "two": reserved(2, 2, units={"max": 1})}), runs)
    fully_listed(world, monkeypatch)
    oracle = planned(world, "enumerate")
    unlisted(world, monkeypatch)
    found = planned(world)
    assert (found.status, found.objective.value) == (oracle.status, oracle.objective.value)
    assert found.status == ("optimal" if second == (1, 50) else "infeasible")
