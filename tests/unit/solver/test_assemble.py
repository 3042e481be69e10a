"""From a decision to the record that is printed."""

from __future__ import annotations

from decimal import Decimal

from optimizer.results import Award, Plan
from tests.unit.cost.world import frame, hourly, lease, platform, purchase, quote, reserved, site, stated, workload
from tests.unit.solver.deciding import planned


def award(plan: Plan) -> Award:
    (found,) = plan.awards
    return found


def test_a_purchase_with_tax_inside_shows_the_quoted_price_and_costs_the_net_one() -> None:
    world = frame(quote(purchase({"all_units": {1: 1130, 2: 1017}}), tax={"included": True, "rate": 0.13}))
    found = award(planned(world))
    assert (found.unit_price, found.tier, found.units, found.cost) == (1017, 2, 2, 1800)


def test_an_incremental_award_shows_the_mean_price_and_the_last_break() -> None:
    """1 x 100 + 2 x 85."""
    world = frame(quote(purchase({"incremental": {1: 100, 2: 85}})), workloads=workload(stated(3, 30)))
    assert (award(planned(world)).unit_price, award(planned(world)).tier) == (90, 2)


def test_the_cost_of_an_award_is_what_the_vendor_and_customs_are_paid() -> None:
    """2 x (1,000 + 100 duty + 60 support) + 40 freight, 10 % tax on all of it; not hall, energy or entries."""
    extras = [{"item": "support", "per": "node", "price": 60}, {"item": "freight", "per": "order", "price": 40}]
    world = frame(
        quote(purchase(1000, lines=extras), tax={"rate": 0.1, "recoverable": False}),
        duty={"rate": 0.1},
        sites={"hall": site(electricity={"per_kwh": 1}, colocation={"per_kw_month": 100})},
        costs=[{"name": "net", "per": "node", "amount": 9, "every": "once"}],
    )
    assert award(planned(world)).cost == Decimal(2596)


def test_a_lease_is_counted_to_the_end_of_its_contract_beyond_the_horizon() -> None:
    found = award(planned(frame(quote(lease(100, 24)))))
    assert (found.cost, str(found.contract_end), str(found.delivery_date)) == (4800, "2028-12-31", "2027-01-01")


def test_hours_beyond_take_or_pay_belong_to_the_award() -> None:
    """30 days are 720 h, half of 2 x 730 h is 730: nothing more; at a tenth, 146 h are committed, 574 more used."""
    assert award(planned(frame(quote(reserved(1, 2, take_or_pay=0.5))))).cost == 1460
    assert award(planned(frame(quote(reserved(1, 2, take_or_pay=0.1))))).cost == 2 * 720


def test_an_hourly_award_ends_with_its_run() -> None:
    found = award(planned(frame(quote(hourly(2, acceptance_days=3)), workloads=workload(release="2027-02-01"))))
    assert (str(found.delivery_date), str(found.contract_end)) == ("2027-01-29", "2027-03-02")
    assert found.cost == 2 * 2 * 24 * 33
    assert (found.place, found.type) == ("Acme/eu", "on_demand")


def test_a_rack_award_counts_nodes_and_accelerators() -> None:
    rack = platform(purchase_unit="rack", nodes_per_rack=18, accelerators_per_node=4)
    found = award(planned(frame(quote(purchase(per="rack")), platforms=[rack], workloads=workload(stated(20, 30)))))
    assert (found.units, found.nodes, found.accelerators) == (2, 36, 144)


def test_the_run_is_reported_with_its_place_pool_and_days() -> None:
    run = planned(frame(quote(purchase(lead_weeks=2)))).workloads["train"]
    assert (run.place, run.pool, str(run.start), str(run.end), run.days) == (
        "hall",
        "box@hall",
        "2027-01-15",
        "2027-02-13",
        30,
    )
    assert (run.layout, run.band, run.architecture) == (None, None, None)


def test_the_same_plan_is_priced_under_every_policy() -> None:
    """16 accelerators from 01-31, cap 8, 1 an hour: 8 x 24 x 335; sold on 01-31 at 0.5 ^ (30 / 31)."""
    world = frame(
        quote(purchase(1000)),
        after_run={"max_accelerators": 8, "value_per_accelerator_hour": 1},
        finance={"residual": {"months": 1, "share": 0.5}},
    )
    cost = planned(world).cost
    assert cost is not None
    totals = {after.policy: round(after.total, 2) for after in cost.after_run if after.total is not None}
    assert totals == {
        "idle": Decimal("1999.51"),
        "off": Decimal("1999.51"),
        "sell": Decimal("977.39"),
        "use": Decimal("-62320.49"),
    }


def test_use_without_a_cap_has_no_price() -> None:
    cost = planned(frame(quote(purchase(1000)))).cost
    assert cost is not None
    assert [(after.policy, after.total) for after in cost.after_run if after.total is None] == [("use", None)]


def test_lines_cash_and_years_agree_with_the_total() -> None:
    world = frame(
        quote(purchase(1000), payment=[{"at": "order", "share": 0.3}, {"at": "delivery", "share": 0.7}]),
        sites={"hall": site(electricity={"per_kwh": 0.3}, colocation={"per_kw_month": 77})},
        horizon_months=30,
        policy={"contingency": 0.03},
    )
    cost = planned(world).cost
    assert cost is not None
    for parts in (
        [line.amount for line in cost.lines],
        [paid.amount for paid in cost.cash],
        list(cost.by_fiscal_year.values()),
    ):
        assert round(sum(parts) - cost.total, 15) == 0
    assert [paid.date for paid in cost.cash] == sorted(paid.date for paid in cost.cash)


def test_a_plan_names_what_was_left_out() -> None:
    plan = planned(frame(quote({"a": purchase(), "b": purchase("on_request")})))
    assert [(rejection.quote, rejection.limit) for rejection in plan.rejections] == [("q/b", "price")]
    assert plan.solve.candidates == 1


def test_without_a_plan_the_record_is_empty_but_says_why() -> None:
    plan = planned(frame(quote(purchase()), budget={"total": 5}))
    assert (plan.status, plan.cost, plan.awards, plan.workloads, plan.objective.value) == (
        "infeasible",
        None,
        (),
        {},
        None,
    )
    assert plan.objective.currency == "USD"


def test_the_objective_is_money_days_or_compute() -> None:
    """The checker holds value and unit against its own count."""
    asked = {"cost": {}, "time": {}, "capacity": {"budget": {"total": 400_000}}}
    found = {
        kind: planned(frame(quote(purchase()), objective=kind, **limits)).objective for kind, limits in asked.items()
    }
    assert {kind: (one.value, one.bound, one.gap, one.currency, one.unit) for kind, one in found.items()} == {
        "cost": (200_000, 200_000, 0, "USD", "USD"),
        "time": (29, 29, 0, None, "days"),
        "capacity": (4 * 8, 4 * 8, 0, None, "accelerators"),
    }
