"""What a plan uses of every limit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from optimizer.cost.frame import Frame
from optimizer.cost.option import Option
from optimizer.results import LimitUse
from optimizer.solver.assemble import priced
from optimizer.solver.usage import installed_kw, usage
from tests.unit.cost.world import day, frame, lease, option, platform, purchase, quote, site, workload
from tests.unit.solver.deciding import chosen

LOTS = [{"units": 2, "date": "2027-01-01"}, {"units": "rest", "date": "2027-03-01"}]


def uses(world: Frame, *awards: tuple[Option, int]) -> dict[tuple[str, str | None], tuple[Any, Any, Any]]:
    """Return (used, available, slack) by limit and period."""
    choice = chosen(world, *awards)
    found: tuple[LimitUse, ...] = usage(choice, priced(choice, world), world)
    assert all(use.binding is None for use in found)
    return {(use.name, use.period): (use.used, use.available, use.slack) for use in found}


def test_without_limits_only_the_deadline_is_used() -> None:
    world = frame(quote(purchase()))
    assert uses(world, (option(world), 2)) == {("deadline", "train"): (29, 364, 335)}


def test_the_margin_before_a_deadline_is_used_up() -> None:
    """Until 03-31, 89 days from today, 21 of them kept free; the run ends on day 29, which takes the margin to 50."""
    world = frame(quote(purchase()), workloads=workload(deadline="2027-03-31", deadline_margin_days=21))
    assert uses(world, (option(world), 2))["deadline", "train"] == (50, 89, 39)


def test_supply_and_fabric_of_each_award() -> None:
    world = frame(quote(purchase(units={"max": 9}, fabric_max_units=4)))
    found = uses(world, (option(world), 3))
    assert found["supply", "quote q, offer node"] == (3, 9, 6)
    assert found["fabric", "quote q, offer node"] == (2, 4, 2)  # the run, not the award


def test_the_fabric_of_racks_is_in_nodes() -> None:
    rack = platform(purchase_unit="rack", nodes_per_rack=18, accelerators_per_node=4)
    world = frame(quote(purchase(fabric_max_units=2)), platforms=[rack])
    assert uses(world, (option(world), 1))["fabric", "quote q, offer node"] == (2, 36, 34)


def test_power_is_the_most_of_each_step() -> None:
    """2 boxes, from 03-01 on 5: 20 kW of 40, and 50 kW of 55 after the step of 02-01."""
    power = [{"from": "2027-01-01", "kw": 40}, {"from": "2027-02-01", "kw": 55}]
    world = frame(quote(purchase(lots=LOTS)), sites={"hall": site(power=power)})
    found = uses(world, (option(world, lots=[(2, "2027-01-01"), (None, "2027-03-01")]), 5))
    assert found["power", "hall from 2027-01-01"] == (20, 40, 20)
    assert found["power", "hall from 2027-02-01"] == (50, 55, 5)


def test_budgets_count_what_goes_out() -> None:
    world = frame(
        quote(purchase(1000)),
        finance={"residual": {"share": 0.5}},
        budget={"total": 3000, "by_fiscal_year": {"2027": 2500, "2028": 1}},
    )
    found = uses(world, (option(world), 2))
    assert found["budget", None] == (2000, 3000, 1000)
    assert found["budget_year", "2027"] == (2000, 2500, 500)
    assert found["budget_year", "2028"] == (0, 1, 1)


def test_vendors_and_the_share_outside_the_largest() -> None:
    rules = {"vendors": {"max": 3, "second_source_share": 0.2}}
    world = frame(quote({"a": purchase()}), quote({"b": purchase()}, "other", vendor="Best"), policy=rules)
    found = uses(world, (option(world, key=("q", "a")), 3), (option(world, key=("other", "b")), 1))
    assert found["vendors", None] == (2, 3, 1)
    assert found["second_source", None] == (Decimal("0.25"), Decimal("0.2"), Decimal("0.05"))


def test_installed_power_counts_owned_nodes_awards_and_entries_while_they_stand() -> None:
    """1 owned box; 3 leased to 03-31 with 8 x 0.1 kW each; 2 kW once for the cluster."""
    entries = [
        {"name": "net", "per": "accelerator", "amount": 1, "every": "once", "kw": 0.1},
        {"name": "storage", "per": "cluster", "amount": 1, "every": "once", "kw": 2},
    ]
    world = frame(
        quote(lease(10, 3)), costs=entries, owned=[{"platform": "box", "nodes": 1, "site": "hall"}],
        sites={"hall": site(), "annex": site()},
    )  # fmt: skip
    choice = chosen(world, (option(world), 3))
    on = {when: installed_kw(choice, "hall", day(when), world) for when in ("2027-01-01", "2027-03-31", "2027-04-01")}
    assert on == {"2027-01-01": Decimal("44.4"), "2027-03-31": Decimal("44.4"), "2027-04-01": 10}
    assert installed_kw(choice, "annex", day("2027-01-01"), world) == 0


def test_power_is_drawn_from_delivery_not_from_readiness() -> None:
    world = frame(quote(purchase(acceptance_days=20)))
    choice = chosen(world, (option(world, "2027-02-01", ready="2027-02-21"), 2))
    on = {when: installed_kw(choice, "hall", day(when), world) for when in ("2027-01-31", "2027-02-01", "2027-02-21")}
    assert on == {"2027-01-31": 0, "2027-02-01": 20, "2027-02-21": 20}
