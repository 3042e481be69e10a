"""The smallest changes: each works as printed, and one step less does not."""

from __future__ import annotations

import datetime as dt
import itertools
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from optimizer.analysis.bench import Bench
from optimizer.analysis.relaxations import with_relaxations
from optimizer.cost.frame import Frame
from optimizer.io.scenario import load_scenario
from optimizer.results import Conflict, Relaxation
from optimizer.solver.conflict import conflict_of
from optimizer.solver.relax import RELAXATIONS
from tests.unit.analysis.files import OPTIONS, bench, written
from tests.unit.cost.world import block, frame, hourly, platform, purchase, quote, site, workload
from tests.unit.solver.test_every_cause import trained

ONE_LOT = [{"units": 1, "date": "2027-01-01"}]


def explained(world: Frame, folder: Path, *pinned: str) -> tuple[Conflict, Bench]:
    on = bench(world, folder)
    return with_relaxations(conflict_of(on.probe, on.prepared()), on, pinned), on


def feasible(world: Frame, folder: Path, *sets: str) -> bool | None:
    """Answer from the files, as a user who pastes the changes would."""
    path, library = written(world, folder)
    return Bench(load_scenario(path, sets, library), OPTIONS).feasible(())


def zone(**facts: Any) -> dict[str, Any]:
    return {"hall": site(zones={"a": {"racks": 9, "kw_per_rack": 40, "cooling": "air"} | facts})}


STEPS = [{"from": "2027-01-01", "kw": 5}, {"from": "2027-02-01", "kw": 12}]

SINGLE: dict[str, tuple[Frame, str, str | None]] = {
    # cause -> (world, the change that is expected, the next smaller one)
    "budget": (frame(quote(purchase(100)), budget={"total": 199}), "budget.total=200.00", "budget.total=199.99"),
    "budget_year": (
        frame(quote(purchase(100)), budget={"total": 500, "by_fiscal_year": {"2027": 199}}),
        "budget.by_fiscal_year.2027=200.00",
        "budget.by_fiscal_year.2027=199.99",
    ),
    "deadline": (
        frame(quote(purchase(100)), workloads=workload(deadline="2027-01-20", deadline_margin_days=2)),
        "workloads.train.deadline=2027-02-01",
        "workloads.train.deadline=2027-01-31",
    ),
    "power": (
        frame(quote(purchase(100)), sites={"hall": site(power=STEPS)}, workloads=workload(deadline="2027-03-31")),
        "sites.hall.power.1.kw=20",
        "sites.hall.power.1.kw=19.999",
    ),
    "racks": (
        frame(
            quote(purchase(100)),
            sites=zone(racks=1),
            platforms=[platform(space={"rack_units": 42, "cooling": ["air"]})],
        ),
        "sites.hall.zones.a.racks=2",
        None,
    ),
    "rack_power": (
        frame(quote(purchase(100)), sites=zone(kw_per_rack=9)),
        "sites.hall.zones.a.kw_per_rack=10",
        "sites.hall.zones.a.kw_per_rack=9.999",
    ),
    "cooling": (frame(quote(purchase(100)), sites=zone(cooling="liquid")), "sites.hall.zones.a.cooling=air", None),
    "policy": (
        frame(quote(purchase(100)), policy={"platforms": {"deny": ["other", "box"]}}, platforms=[platform(), platform("other")]),
        'policy.platforms.deny=["other"]',
        None,
    ),
    "supply": (frame(quote(purchase(100, units={"max": 1}))), "quotes.q.offers.node.units.max=2", None),
    "fabric": (
        frame(quote(purchase(100, fabric_max_units=1)), workloads=workload({"platform": "box", "nodes": 4, "days": 9, "source": "x"})),
        "quotes.q.offers.node.fabric_max_units=4",
        "quotes.q.offers.node.fabric_max_units=3",
    ),
    "block_length": (
        frame(quote(block(10, (14, 7))), platforms=[platform(acquisition=["block"])]),
        "quotes.q.offers.node.days.0.to=35",
        "quotes.q.offers.node.days.0.to=34",
    ),
    "vendors": (
        frame(
            quote(purchase(100, lots=ONE_LOT)),
            quote(purchase(100, lots=ONE_LOT), "other", vendor="Best"),
            policy={"vendors": {"max": 1}},
        ),
        "policy.vendors.max=2",
        None,
    ),
    "second_source": (
        frame(
            quote(purchase(100, units={"min": 2, "step": 2, "max": 2})),
            quote(purchase(100, lots=ONE_LOT), "other", vendor="Best"),
            policy={"vendors": {"second_source_share": 0.5}},
        ),
        "policy.vendors.second_source_share=0.3333",
        "policy.vendors.second_source_share=0.3334",
    ),
    "expired": (
        frame(quote(purchase(100), valid_until="2027-01-04"), earliest_order="2027-01-06"),
        "policy.allow_expired_quotes=true",
        None,
    ),
    "evidence": (
        trained(nodes=4, policy={"minimum_evidence": "pilot_multi_node"}),
        "policy.minimum_evidence=public_run",
        "policy.minimum_evidence=pilot_single_node",
    ),
}  # fmt: skip


def test_there_is_a_case_for_every_limit_that_can_be_lifted() -> None:
    assert set(SINGLE) == set(RELAXATIONS)


@pytest.mark.parametrize("cause", SINGLE)
def test_the_smallest_change_of_a_single_cause(cause: str, tmp_path: Path) -> None:
    world, expected, smaller = SINGLE[cause]
    conflict, _ = explained(world, tmp_path)
    assert [limit.name for limit in conflict.limits] == [cause]
    assert conflict.minimal
    assert [change.set for change in conflict.relaxations] == [expected]
    assert [change.set for change in conflict.joint] == [expected]
    assert not feasible(world, tmp_path)
    assert feasible(world, tmp_path, expected)
    if smaller:
        assert feasible(world, tmp_path, smaller) is False


def test_a_pinned_limit_is_not_offered(tmp_path: Path) -> None:
    """Rent at 24 x 10 x 30 x 2 = 14,400, or buy boxes that come on 2027-03-12 and end on 2027-04-10."""
    world = frame(
        quote({"buy": purchase(1000, lead_weeks=10), "rent": hourly(10)}),
        workloads=workload(deadline="2027-02-15"),
        budget={"total": 5000},
    )
    sets = {"budget": "budget.total=14400.00", "deadline": "workloads.train.deadline=2027-04-10"}
    conflict, _ = explained(world, tmp_path)
    assert {change.limit: change.set for change in conflict.relaxations} == sets
    pinned, _ = explained(world, tmp_path, "budget")
    assert [change.set for change in pinned.relaxations] == [sets["deadline"]]
    nothing, _ = explained(world, tmp_path, "budget", "deadline")
    assert not nothing.relaxations
    assert not nothing.joint


def test_two_limits_that_must_change_together(tmp_path: Path) -> None:
    """One box fits the power and the money; the run needs two, for 100 each and 10 kW each."""
    world = frame(
        quote(purchase(100)), sites={"hall": site(power=[{"from": "2027-01-01", "kw": 12}])}, budget={"total": 150}
    )
    conflict, _ = explained(world, tmp_path)
    assert not conflict.relaxations
    assert {change.set for change in conflict.joint} == {"budget.total=200.00", "sites.hall.power.0.kw=20"}


def test_the_joint_change_is_the_smallest_in_proportion(tmp_path: Path) -> None:
    """Slow: 2 boxes for 30 days, 200 and day 30; quick: 4 boxes for 10 days, 400 and day 10; allowed 100 and day 9.

    Slow needs +100 % money and +233 % time (days counted from today: 9 to 29 after 8), quick +300 % and +13 %.
    """
    modes = [{"platform": "box", "nodes": n, "days": d, "source": "x"} for n, d in ((2, 30), (4, 10))]
    world = frame(quote(purchase(100)), workloads=workload(*modes, deadline="2027-01-09"), budget={"total": 100})
    conflict, _ = explained(world, tmp_path)
    assert {change.set for change in conflict.joint} == {"budget.total=400.00", "workloads.train.deadline=2027-01-10"}


def test_each_fiscal_year_is_a_limit_of_its_own(tmp_path: Path) -> None:
    """200 for two boxes in 2027; 60 a year to run them, at the end of each month of both years."""
    staff = [{"name": "staff", "per": "cluster", "amount": 60, "every": "year"}]
    money: dict[str, Any] = {"total": 900, "by_fiscal_year": {"2027": 260, "2028": 59}}
    world = frame(quote(purchase(100)), costs=staff, horizon_months=24, budget=money)
    conflict, _ = explained(world, tmp_path)
    assert [(limit.name, limit.needed, limit.available, limit.period) for limit in conflict.limits] == [
        ("budget_year", 60, 59, "2028"),
    ]  # fmt: skip
    assert [change.set for change in conflict.relaxations] == ["budget.by_fiscal_year.2028=60.00"]
    money["by_fiscal_year"]["2027"] = 100
    both, _ = explained(frame(quote(purchase(100)), costs=staff, horizon_months=24, budget=money), tmp_path)
    assert not both.relaxations
    assert {change.set for change in both.joint} == {
        "budget.by_fiscal_year.2027=260.00", "budget.by_fiscal_year.2028=60.00",
    }  # fmt: skip
    assert {limit.group for limit in both.limits} == {1, 2}


def smaller(change: Relaxation) -> str | None:
    """Return the same change a little smaller."""
    key, _, value = change.set.partition("=")
    if change.limit == "deadline":
        return f"{key}={dt.date.fromisoformat(value) - dt.timedelta(1)}"
    if change.limit in ("budget", "budget_year"):
        return f"{key}={Decimal(value) - Decimal('0.01')}"
    if change.limit == "power":
        return f"{key}={Decimal(value) - Decimal('0.001')}"
    return f"{key}={int(value) - 1}"


def tight(chosen: tuple[str, str], draw: random.Random) -> Frame:
    """Return a world in which two limits, each by itself, leave no plan; all others are ample."""
    nodes, days, price = draw.randint(2, 6), draw.randint(10, 60), draw.randint(50, 900)
    world: dict[str, Any] = {"workloads": workload({"platform": "box", "nodes": nodes, "days": days, "source": "x"})}
    terms: dict[str, Any] = {}
    for cause in chosen:
        if cause == "budget":
            world["budget"] = {"total": draw.randint(1, nodes * price - 1)}
        elif cause == "deadline":
            end = dt.date(2027, 1, 1) + dt.timedelta(draw.randint(0, days - 2))
            world["workloads"]["train"]["deadline"] = end.isoformat()
        elif cause == "power":
            world["sites"] = {"hall": site(power=[{"from": "2027-01-01", "kw": draw.randint(1, 10 * nodes - 1)}])}
        elif cause == "supply":
            terms["units"] = {"max": draw.randint(1, nodes - 1)}
        else:
            terms["fabric_max_units"] = draw.randint(1, nodes - 1)
    return frame(quote(purchase(price, **terms)), **world)


PAIRS = list(itertools.combinations(("budget", "deadline", "power", "supply", "fabric"), 2))


@pytest.mark.parametrize("number", range(24))
def test_random_pairs_of_causes_are_cured_together_and_by_nothing_less(number: int, tmp_path: Path) -> None:
    causes = PAIRS[number % len(PAIRS)]
    world = tight(causes, random.Random(number))  # noqa: S311 - test data
    conflict, _ = explained(world, tmp_path)
    assert sorted(limit.name for limit in conflict.limits) == sorted(causes)
    assert not conflict.minimal  # either by itself leaves no plan
    assert not conflict.relaxations
    assert {change.limit for change in conflict.joint} == set(causes)
    sets = [change.set for change in conflict.joint]
    assert feasible(world, tmp_path, *sets)
    for place, change in enumerate(conflict.joint):
        less = [*sets[:place], str(smaller(change)), *sets[place + 1 :]]
        assert feasible(world, tmp_path, *less) is False


BOUGHT = ("deadline", "power", "racks", "fabric", "policy", "expired")
"""What may stand in the way of buying."""

RENTED = ("budget", "supply", "policy", "expired")
"""What may stand in the way of renting."""

CLASHES = [pair for pair in itertools.product(BOUGHT, RENTED) if pair[0] != pair[1]]


def either(bought: str, rented: str, draw: random.Random) -> Frame:
    """Return a world in which one limit keeps from buying, another from renting, and nothing else from either."""
    nodes, days, hourly_price = draw.randint(2, 5), draw.randint(10, 60), draw.randint(2, 9)
    run = {"platform": "box", "nodes": nodes, "days": days, "source": "x"}
    world: dict[str, Any] = {
        "workloads": workload(run),
        "platforms": [platform(space={"rack_units": 42, "cooling": ["air"]})],
    }
    limits: dict[str, dict[str, Any]] = {
        "deadline": {"workloads": workload(run, deadline=str(dt.date(2027, 1, 1) + dt.timedelta(days + draw.randint(0, 60))))},
        "power": {"sites": {"hall": site(power=[{"from": "2027-01-01", "kw": draw.randint(1, 10 * nodes - 1)}])}},
        "racks": {"sites": zone(racks=draw.randint(1, nodes - 1))},
        "budget": {"budget": {"total": 24 * days * nodes * hourly_price - draw.randint(1, 99)}},
        "policy": {"policy": {"vendors": {"deny": ["Acme" if bought == "policy" else "Best"]}}},
        "expired": {"earliest_order": "2027-01-02"},
    }  # fmt: skip
    for cause in (bought, rented):
        world |= limits.get(cause, {})
    terms = {"lead_weeks": 10} if bought == "deadline" else {}
    terms |= {"fabric_max_units": draw.randint(1, nodes - 1)} if bought == "fabric" else {}
    units = {"units": {"max": draw.randint(1, nodes - 1)}} if rented == "supply" else {}
    until = {True: "2027-01-01", False: "2027-12-31"}
    return frame(
        quote(purchase(10, **terms), valid_until=until[bought == "expired"]),
        quote(hourly(hourly_price, **units), "rent", vendor="Best", valid_until=until[rented == "expired"]),
        **world,
    )


@pytest.mark.parametrize("number", range(20))
def test_random_clashes_of_two_limits_are_named_and_cured_by_either(number: int, tmp_path: Path) -> None:
    """Buying meets one limit, renting another: together they leave no plan, and a change of either gives one."""
    causes = CLASHES[number % len(CLASHES)]
    world = either(*causes, random.Random(number))  # noqa: S311 - test data
    conflict, on = explained(world, tmp_path)
    assert sorted(limit.name for limit in conflict.limits) == sorted(causes)
    assert conflict.minimal
    named = [lever for lever in on.probe.levers if lever.name in causes]
    others = [lever for lever in on.probe.levers if lever.name not in causes]
    assert on.probe.without(others) is False  # only these two: infeasible
    assert all(on.probe.without([*others, lever]) for lever in named)  # without either: feasible
    assert {change.limit for change in conflict.relaxations} == set(causes)
    for change in conflict.relaxations:
        assert feasible(world, tmp_path, change.set)
        if change.limit not in ("policy", "expired"):
            assert feasible(world, tmp_path, str(smaller(change))) is False


def test_each_deadline_is_a_limit_of_its_own(tmp_path: Path) -> None:
    """Two runs of 30 days on the same two boxes: the second ends on day 60, and either may be the second."""
    modes = {"modes": [{"platform": "box", "nodes": 2, "days": 30, "source": "x"}]}
    runs = {name: modes | {"deadline": "2027-02-15"} for name in ("one", "two")}
    world = frame(quote(purchase(100, units={"max": 2})), workloads=runs)
    conflict, _ = explained(world, tmp_path)
    named = {(limit.name, (limit.period or "").partition(",")[0]) for limit in conflict.limits}
    assert named >= {("deadline", "one"), ("deadline", "two")}
    sets = {change.limit: change.set for change in conflict.relaxations}
    later = {change.set for change in conflict.relaxations if change.limit == "deadline"}
    assert later == {"workloads.one.deadline=2027-03-01", "workloads.two.deadline=2027-03-01"}
    assert sets["supply"] == "quotes.q.offers.node.units.max=4"
    for change in conflict.relaxations:
        assert feasible(world, tmp_path, change.set)
        assert feasible(world, tmp_path, str(smaller(change))) is False
