"""Decisions that simpler tools get wrong, each small enough to decide by hand; by every solver alike."""

from __future__ import annotations

from typing import Any

import pytest

from optimizer.solver.found import SolverName
from tests.unit.cost.world import (
    frame,
    hourly,
    lease,
    platform,
    purchase,
    quote,
    reserved,
    site,
    stated,
    workload,
)
from tests.unit.solver.deciding import awarded, decided, planned, starts

SOLVERS: list[SolverName] = ["auto", "highs", "enumerate"]
SMALL: list[SolverName] = ["auto", "highs"]
"""For scenarios too large to enumerate."""


def rack_limit(racks: int) -> dict[str, Any]:
    """One box to a rack."""
    return {"sites": {"hall": site(zones={"a": {"racks": racks, "kw_per_rack": 10, "cooling": "air"}})}}


@pytest.mark.parametrize("solver", SOLVERS)
def test_buying_up_to_the_next_break_may_be_cheaper(solver: SolverName) -> None:
    """60 are needed: 64 x 90 = 5,760 < 60 x 100; where only 60 fit, it is 60."""
    offer = quote(purchase({"all_units": {1: 100, 64: 90}}))
    free = frame(offer, workloads=workload(stated(60, 30)))
    assert awarded(decided(free, solver)) == {"q/node": 64}
    tight = frame(offer, workloads=workload(stated(60, 30)), **rack_limit(60))
    assert awarded(decided(tight, solver)) == {"q/node": 60}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("needed", "ordered"), [(61, 61), (62, 64), (64, 64)])
def test_how_far_below_a_break_it_pays_to_reach_it(solver: SolverName, needed: int, ordered: int) -> None:
    """64 x 421,900 = 27,001,600 lies between 61 and 62 x 437,500."""
    ladder = {"all_units": {1: 452_000, 16: 437_500, 64: 421_900}}
    world = frame(quote(purchase(ladder, units={"max": 80})), workloads=workload(stated(needed, 30)))
    assert awarded(decided(world, solver)) == {"q/node": ordered}


@pytest.mark.parametrize("solver", SMALL)
def test_the_best_plan_may_split_an_order_over_two_quotes(solver: SolverName) -> None:
    """96 nodes: 64 at 90 and 32 at 95 cost 8,800; all of one quote 9,024 or 9,120, the rest of the first at 100 is 8,960."""
    first = quote({"a": purchase({"incremental": {1: 90, 65: 100}})})
    second = quote({"b": purchase({"all_units": {1: 98, 32: 95}})}, "other", vendor="Best")
    found = decided(frame(first, second, workloads=workload(stated(96, 30))), solver)
    assert awarded(found) == {"q/a": 64, "other/b": 32}
    assert found.bound == 8800


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("days", "taken"), [(160, {"q/rent": 1}), (161, {"q/buy": 1})])
def test_renting_is_cheaper_until_3846_hours(solver: SolverName, days: int, taken: dict[str, int]) -> None:
    """25,000 against 6.5 an hour."""
    world = frame(quote({"buy": purchase(25_000), "rent": hourly(6.5)}), workloads=workload(stated(1, days)))
    assert awarded(decided(world, solver)) == taken


def test_a_budget_in_euro_buys_eleven_nodes() -> None:
    """EUR 3.5 M at 298,000 a node: 11, and 222,000 are left."""
    world = frame(
        quote(purchase(298_000), currency="EUR"),
        currency="EUR",
        objective="capacity",
        budget={"total": 3_500_000},
        workloads=workload(stated(1, 30)),
    )
    plan = planned(world)
    assert plan.awards[0].units == 11
    assert {use.name: use.slack for use in plan.limits}["budget"] == 222_000


@pytest.mark.parametrize("solver", SOLVERS)
def test_blank_is_no_limit_and_zero_is_none(solver: SolverName) -> None:
    """The cheaper offer has a blank, then a zero maximum; budget and power likewise."""
    for most, taken in ((None, {"q/a": 2}), (0, {"q/b": 2})):
        offers = {"a": purchase(10, units={"max": most}), "b": purchase(20)}
        assert awarded(decided(frame(quote(offers)), solver)) == taken
    for limits in (
        {"budget": {"total": 0}},
        {"sites": {"hall": site(power=[{"from": "2027-01-01", "kw": 0}])}},
        {"sites": {"hall": site(power=[])}},
    ):
        assert decided(frame(quote(purchase(10)), **limits), solver).status == "infeasible"
    for blank in ({"budget": {"total": None}}, {"sites": {"hall": site(power=None)}}):
        assert decided(frame(quote(purchase(10)), **blank), solver).status == "optimal"


@pytest.mark.parametrize("solver", SOLVERS)
def test_power_that_comes_later_is_waited_for(solver: SolverName) -> None:
    """Nothing until 2027-07-01, then 4 MW: delivered that day, not before."""
    world = frame(quote(purchase(lead_weeks=[2, 8])), sites={"hall": site(power=[{"from": "2027-07-01", "kw": 4000}])})
    found = decided(world, solver)
    assert starts(found) == ["2027-07-01"]
    assert found.choice is not None
    assert found.choice.taken[0].option.lots[0].delivery.isoformat() == "2027-07-01"


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("kw", "status"), [(20, "optimal"), (19.9999, "infeasible")])
def test_a_tenth_of_a_watt_too_little_is_too_little(solver: SolverName, kw: float, status: str) -> None:
    """Two boxes of 10 kW."""
    world = frame(quote(purchase(10)), sites={"hall": site(power=[{"from": "2027-01-01", "kw": kw}])})
    assert decided(world, solver).status == status


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_table_that_falls_makes_a_larger_order_cheaper(solver: SolverName) -> None:
    """12 nodes pay 12 x 50 x 8 for the network, 13 reach the break at 100 accelerators: 13 x 8 x 10 less than that."""
    network = {"name": "net", "per": "accelerator", "amount": {1: 50, 100: 10}, "every": "once"}
    world = frame(quote(purchase(100)), workloads=workload(stated(12, 30)), costs=[network])
    found = decided(world, solver)
    assert (awarded(found), found.bound) == ({"q/node": 13}, 1300 + 1040)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_table_that_falls_for_the_whole_cluster(solver: SolverName) -> None:
    storage = {"name": "storage", "per": "cluster", "amount": {1: 900, 24: 100}, "every": "once"}
    found = decided(frame(quote(purchase(100)), costs=[storage]), solver)
    assert (awarded(found), found.bound) == ({"q/node": 3}, 400)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_table_of_a_run_entry_is_read_at_the_accelerators(solver: SolverName) -> None:
    """2 nodes: 200 + 1,000 set-up; 3 nodes reach the row at 24 accelerators: 300 + 50."""
    setup = {"name": "setup", "per": "run", "amount": {1: 1000, 24: 50}, "every": "once"}
    found = decided(frame(quote(purchase(100)), costs=[setup]), solver)
    assert (awarded(found), found.bound) == ({"q/node": 3}, 350)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_second_source_follows_a_large_minimum(solver: SolverName) -> None:
    """5 are needed; one vendor sells at least 8, the other must then have as many."""
    first = quote({"a": purchase(100, units={"min": 8})})
    second = quote({"b": purchase(100)}, "other", vendor="Best")
    rules = {"vendors": {"second_source_share": 0.5}}
    found = decided(frame(first, second, workloads=workload(stated(5, 30)), policy=rules), solver)
    assert awarded(found) == {"q/a": 8, "other/b": 8}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("share", "split"), [(0.25, {"q/a": 3, "other/b": 1}), (0.5, {"q/a": 2, "other/b": 2})])
def test_a_second_source_gets_its_share(solver: SolverName, share: float, split: dict[str, int]) -> None:
    first, second = quote({"a": purchase(100)}), quote({"b": purchase(120)}, "other", vendor="Best")
    rules = {"vendors": {"second_source_share": share}}
    assert awarded(decided(frame(first, second, workloads=workload(stated(4, 30)), policy=rules), solver)) == split


@pytest.mark.parametrize("solver", SOLVERS)
def test_incremental_hours_are_paid_from_the_first_break_on(solver: SolverName) -> None:
    """3 nodes for 10 days: (10 + 10 + 4) x 240, never 3 x 4 x 240."""
    offer = hourly({"incremental": {1: 10, 3: 4}}, units={"max": 5})
    found = decided(frame(quote(offer), workloads=workload(stated(3, 10))), solver)
    assert found.bound == 24 * 240


@pytest.mark.parametrize("solver", SOLVERS)
def test_at_most_so_many_vendors(solver: SolverName) -> None:
    """Two at 100 and two at 120, or all four at 130 from a third vendor."""
    quotes = [
        quote({"a": purchase(100, units={"max": 2})}, "a", vendor="A"),
        quote({"b": purchase(120, units={"max": 2})}, "b", vendor="B"),
        quote({"c": purchase(130)}, "c", vendor="C"),
    ]
    needs = workload(stated(4, 30))
    assert awarded(decided(frame(*quotes, workloads=needs), solver)) == {"a/a": 2, "b/b": 2}
    one = frame(*quotes, workloads=needs, policy={"vendors": {"max": 1}})
    assert awarded(decided(one, solver)) == {"c/c": 4}


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_run_fits_the_smallest_fabric_among_its_awards(solver: SolverName) -> None:
    """3 nodes: a cheap offer on a fabric of 2 cannot take part, not even with one node; on a fabric of 3 it does."""
    for fabric, taken in ((2, {"q/b": 3}), (3, {"q/a": 3})):
        offers = {"a": purchase(10, fabric_max_units=fabric), "b": purchase(100)}
        world = frame(quote(offers), workloads=workload(stated(3, 30)))
        assert awarded(decided(world, solver)) == taken


@pytest.mark.parametrize("solver", SOLVERS)
def test_racks_of_two_zones_hold_what_their_power_allows(solver: SolverName) -> None:
    """Zone a: 2 racks of 2 boxes; zone b: 1 rack of 1; liquid zone: none. Five boxes fit, six do not."""
    zones = {
        "a": {"racks": 2, "kw_per_rack": 25, "cooling": "air"},
        "b": {"racks": 1, "kw_per_rack": 19, "cooling": "air"},
        "c": {"racks": 9, "kw_per_rack": 200, "cooling": "liquid"},
    }
    for nodes, status in ((5, "optimal"), (6, "infeasible")):
        world = frame(
            quote(purchase(10, units={"max": 8})),
            workloads=workload(stated(nodes, 30)),
            sites={"hall": site(zones=zones)},
        )
        assert decided(world, solver).status == status


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_platform_to_a_rack(solver: SolverName) -> None:
    """Three racks of 2 boxes; one owned box of another platform takes a rack of its own."""
    cards = [platform(), platform("old")]
    zones = {"a": {"racks": 3, "kw_per_rack": 25, "cooling": "air"}}
    owned = [{"platform": "old", "nodes": 1, "site": "hall"}]
    for nodes, status in ((4, "optimal"), (5, "infeasible")):
        world = frame(
            quote(purchase(10, units={"max": 8})),
            platforms=cards, workloads=workload(stated(nodes, 30)), sites={"hall": site(zones=zones)}, owned=owned,
        )  # fmt: skip
        assert decided(world, solver).status == status


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_later_run_ends_before_the_lease_or_takes_a_longer_one(solver: SolverName) -> None:
    """Released 02-15 for 60 days (to 04-15): three months from 01-01 end on 03-31, six do not."""
    offers = {"short": lease(10, 3), "long": lease(15, 6)}
    world = frame(quote(offers), workloads=workload(stated(2, 60), release="2027-02-15"))
    assert awarded(decided(world, solver)) == {"q/long": 2}


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_term_starts_as_late_as_its_run_when_what_is_left_is_worth_something(solver: SolverName) -> None:
    """Six months from the release on reach the end of the year; used hours after the run are worth having."""
    use = {"policy": "use", "max_accelerators": 16, "value_per_accelerator_hour": 1}
    world = frame(quote(reserved(10, 6)), workloads=workload(stated(2, 30), release="2027-07-01"), after_run=use)
    found = decided(world, solver)
    assert found.choice is not None
    assert [str(taken.option.lots[0].delivery) for taken in found.choice.taken] == ["2027-07-01"]


@pytest.mark.parametrize(("value", "units"), [(0.5, 2), (2, 6)])
@pytest.mark.parametrize("solver", SOLVERS)
def test_more_than_the_run_needs_is_bought_only_as_far_as_it_earns_its_price(
    solver: SolverName, value: float, units: int
) -> None:
    """A box at 100,000 earns 8 x 24 x 335 h x value after the run: 32,160 at 0.5, 128,640 at 2; the cap is 48."""
    use = {"policy": "use", "max_accelerators": 48, "value_per_accelerator_hour": value}
    assert awarded(decided(frame(quote(purchase(100_000)), after_run=use), solver)) == {"q/node": units}


@pytest.mark.parametrize("solver", SOLVERS)
def test_budgets_of_years_move_the_delivery(solver: SolverName) -> None:
    """Nothing may be paid in 2026/27 (to 03-31): the order with late payment is dearer and taken."""
    offers = {
        "now": purchase(100, lead_weeks="stock"),
        "later": purchase(110, lots=[{"units": "rest", "date": "2027-04-01"}]),
    }
    limits = {"fiscal_year_start": 4, "budget": {"by_fiscal_year": {"2026/27": 0}}}
    found = decided(frame(quote(offers), **limits), solver)
    assert (awarded(found), starts(found)) == ({"q/later": 2}, ["2027-04-01"])


@pytest.mark.parametrize("solver", SOLVERS)
def test_steps_and_minima_round_an_order_up(solver: SolverName) -> None:
    """5 are needed: in steps of 4 that is 8; from a minimum of 7 it is 7."""
    for units, ordered in (({"step": 4}, 8), ({"min": 7}, 7), ({"min": 3, "step": 2}, 6)):
        world = frame(quote(purchase(10, units=units)), workloads=workload(stated(5, 30)))
        assert awarded(decided(world, solver)) == {"q/node": ordered}


@pytest.mark.parametrize("solver", SOLVERS)
def test_owned_nodes_come_first(solver: SolverName) -> None:
    owned = [{"platform": "box", "nodes": 3, "site": "hall"}]
    world = frame(quote(purchase(10)), workloads=workload(stated(5, 30)), owned=owned)
    assert awarded(decided(world, solver)) == {"q/node": 2}
    assert awarded(decided(frame(quote(purchase(10)), owned=owned), solver)) == {}
