"""Dedicated systems: stated days are final, paid once per run, a pool of their own in the vendor's region."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from optimizer.cost.frame import Frame
from optimizer.results import Plan
from optimizer.schema.quote import Quote
from optimizer.solver.backend import Settings
from optimizer.solver.check import Facts, check
from optimizer.solver.compare import compare_platforms
from optimizer.solver.found import SolverName
from optimizer.solver.planner import Modes
from tests.unit.cost.world import (
    cash,
    dedicated,
    frame,
    hourly,
    lines,
    option,
    platform,
    priced,
    purchase,
    quote,
    run,
    wafer,
    workload,
)
from tests.unit.solver.deciding import awarded, decided, inputs, only, planned, prepared, starts

SOLVERS: list[SolverName] = ["auto", "highs", "enumerate"]
HALVES = [{"at": "order", "share": 0.25}, {"at": "acceptance", "plus_days": 30, "share": 0.75}]
ENGINE = {"architecture": "m", "tokens": 1e9, "sequence_length": 1024, "global_batch_tokens": 1e6, "extra_compute": 0.5, "precisions": ["bf16"]}  # fmt: skip
"""A run that nothing but a stated mode can time here."""


def world(*quotes: Quote, **changes: Any) -> Frame:
    return frame(*quotes, platforms=[platform(), wafer()], **changes)


def wafers(price: Any = 900_000, **terms: Any) -> Quote:
    """8 wafers take 30 days, 4 take 60."""
    return quote({"system": dedicated(price, (8, 30), (4, 60), **terms)}, payment=HALVES)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("hour", "taken"), [(624.9, {"q/hours": 2}), (625.1, {"q/system": 4})])
def test_it_is_taken_when_its_price_is_the_least(solver: SolverName, hour: float, taken: dict[str, int]) -> None:
    """2 boxes x 30 days x 24 h at 625 an hour are 900,000; of the two sizes of equal price the smaller is taken."""
    offers = {"system": dedicated(900_000, (8, 30), (4, 60)), "hours": hourly(hour)}
    assert awarded(decided(world(quote(offers)), solver)) == taken


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_deadline_asks_for_the_larger_size(solver: SolverName) -> None:
    found = decided(world(wafers(), workloads=workload(deadline="2027-02-10")), solver)
    assert awarded(found) == {"q/system": 8}


def test_days_and_dates_are_those_stated() -> None:
    """No extra compute, no quantile; the hire starts ten days of acceptance before the run, after the late lead week."""
    terms = {"acceptance_days": 10, "lead_weeks": [1, 4]}
    plan = planned(world(wafers(**terms), workloads={"train": ENGINE}))
    (award,) = plan.awards
    (trained,) = plan.workloads.values()
    assert (trained.days, trained.nodes, trained.evidence) == (60, 4, "vendor_claim")
    assert (trained.layout, trained.step_time_s, trained.goodput, trained.band) == (None, None, None, None)
    assert (award.delivery_date.isoformat(), trained.start.isoformat()) == ("2027-01-29", "2027-02-08")
    assert award.contract_end == trained.end
    assert (award.place, trained.pool, award.type) == ("Acme/eu", "wafer@Acme/eu", "dedicated")
    assert (award.unit_price, award.cost) == (900_000, 900_000)


def test_it_is_paid_once_by_the_quotes_milestones() -> None:
    """A quarter on the order date, the rest 30 days after acceptance; lines too; nothing per unit, hour or month."""
    terms = {"acceptance_days": 10, "lines": [{"item": "data", "per": "node", "price": 100}, {"item": "care", "per": "order", "price": 50}]}  # fmt: skip
    base = world(wafers(**terms), policy={"contingency": 0.5})
    system = option(base, "2027-02-01", key=("q", "system"), ready="2027-02-11", end="2027-04-11")
    found = priced(base, [(system, 4)], run(base, "2027-02-11", 4, 60, at=system))
    assert cash(found, "dedicated") == {"2027-01-01": 225_000, "2027-03-13": 675_000}
    assert cash(found, "line:data") == {"2027-01-01": 100, "2027-03-13": 300}
    assert lines(found) == {"dedicated": 900_000, "line:data": 400, "line:care": 50}


def test_tax_that_cannot_be_recovered_is_on_the_run() -> None:
    taxed = quote({"system": dedicated(900_000, (4, 60))}, tax={"rate": 0.2, "recoverable": False})
    base = world(taxed)
    system = option(base, key=("q", "system"), end="2027-03-01")
    assert lines(priced(base, [(system, 4)], run(base, nodes=4, days=60, at=system))) == {
        "dedicated": 900_000, "tax": 180_000,
    }  # fmt: skip


def test_it_needs_no_power_of_ours_and_earns_nothing_after_the_run() -> None:
    use = {"policy": "use", "max_accelerators": 64, "value_per_accelerator_hour": 10}
    dark = {"hall": {"electricity": {"per_kwh": 1}, "power": []}}
    plan = planned(world(wafers(), sites=dark, after_run=use))
    assert plan.cost is not None
    assert {line.item: line.amount for line in plan.cost.lines} == {"dedicated": 900_000}
    assert {row.total for row in plan.cost.after_run} == {Decimal(900_000)}


@pytest.mark.parametrize("solver", SOLVERS)
def test_two_systems_of_one_vendor_are_told_apart(solver: SolverName) -> None:
    """The days of one are not had at the price of the other."""
    offers = {"slow": dedicated(100, (4, 300)), "quick": dedicated(900, (4, 30)), "rented": hourly(1, platform="wafer")}
    found = decided(world(quote(offers), workloads=workload(deadline="2027-03-31")), solver)
    assert awarded(found) == {"q/quick": 4}


@pytest.mark.parametrize("solver", SOLVERS)
def test_each_system_has_its_own_window(solver: SolverName) -> None:
    late = wafers(start=["2027-03-05", "2027-04-01"])
    assert starts(decided(world(late), solver)) == ["2027-03-05"]
    assert decided(world(late, workloads=workload(deadline="2027-04-02")), solver).status == "infeasible"


@pytest.mark.parametrize(
    ("changes", "limit", "reason"),
    [
        ({"policy": {"minimum_evidence": "public_run"}}, "evidence", "the days of q/system are known by vendor_claim only"),
        ({"workloads": {"other": {"modes": workload()["train"]["modes"]}}}, "specification", "q/system states no days for other"),
    ],
)  # fmt: skip
def test_a_claim_that_is_too_weak_or_about_another_run_is_rejected(
    changes: dict[str, Any], limit: str, reason: str
) -> None:
    found = prepared(world(wafers(), **changes)).problem
    assert not found.profiles
    rejection = only(found.rejections)
    assert (rejection.limit, rejection.quote) == (limit, "q/system")
    assert reason in rejection.reason


def test_compare_shows_the_wafer_with_its_cost_or_its_rejection() -> None:
    offered, dear = world(wafers()), world(wafers("on_request"))
    rows = [
        {row.platform: row for row in compare_platforms(inputs(one), Modes(), "auto", Settings()).rows}["wafer"]
        for one in (offered, dear)
    ]
    assert (rows[0].status, rows[0].total, rows[0].nodes) == ("optimal", 900_000, 4)
    assert rows[1].rejection is not None
    assert rows[1].rejection.limit == "price"


def test_a_system_that_comes_too_late_says_so() -> None:
    late = world(wafers(lead_weeks=[8, 40]), workloads=workload(deadline="2027-06-01"))
    row = {r.platform: r for r in compare_platforms(inputs(late), Modes(), "auto", Settings()).rows}["wafer"]
    assert row.rejection is not None
    assert (row.rejection.limit, row.rejection.needed) == ("delivery", "2027-10-08")
    slow = world(wafers(), workloads=workload(deadline="2027-01-20"))
    row = {r.platform: r for r in compare_platforms(inputs(slow), Modes(), "auto", Settings()).rows}["wafer"]
    assert row.rejection is not None
    assert (row.rejection.limit, row.rejection.needed, row.rejection.available) == ("deadline", 30, 20)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"price": {"all_units": {1: 9, 8: 8}}}, "a run has one price"),
        ({"units": {"min": 6}}, "modes: 4 units are none of the quantities in units"),
        ({"units": {"max": 6}}, "modes: 8 units are none of the quantities in units"),
        ({"units": {"step": 3}}, "modes: 8 units are none of the quantities in units"),
    ],
)
def test_terms_that_contradict_each_other_are_refused(terms: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        quote(dedicated(9, (8, 30), (4, 60)) | terms)


def tampered(plan: Plan, part: str, **changes: Any) -> Plan:
    if part == "award":
        return plan.model_copy(update={"awards": (plan.awards[0].model_copy(update=changes),)})
    runs = {name: one.model_copy(update=changes) for name, one in plan.workloads.items()}
    return plan.model_copy(update={"workloads": runs})


@pytest.mark.parametrize(
    ("part", "changes", "breach"),
    [
        ("run", {"days": 59}, "mode"),
        ("run", {"nodes": 8, "accelerators": 8}, "nodes"),
        ("run", {"evidence": "pilot_multi_node"}, "evidence"),
        ("run", {"mfu": 0.4}, "mfu"),
        ("award", {"units": 8, "nodes": 8, "accelerators": 8}, "mode"),
        ("award", {"cost": Decimal(899_999)}, "cost"),
        ("award", {"place": "hall"}, "region"),
        ("award", {"unit_price": Decimal(1)}, "unit_price"),
    ],
)
def test_the_check_finds_what_was_changed(part: str, changes: dict[str, Any], breach: str) -> None:
    base = world(wafers())
    plan = planned(base)
    facts = Facts(base.scenario, base.platforms, {}, base.quotes)
    assert check(plan, facts) == ()
    assert breach in {found.limit_or_number for found in check(tampered(plan, part, **changes), facts)}


def test_the_check_finds_a_claim_below_the_minimum() -> None:
    base = world(wafers())
    strict = world(wafers(), policy={"minimum_evidence": "pilot_single_node"})
    found = check(planned(base), Facts(strict.scenario, strict.platforms, {}, strict.quotes))
    assert {breach.limit_or_number for breach in found} == {"evidence"}


@pytest.mark.parametrize("solver", SOLVERS)
def test_bought_wafers_do_not_serve_the_days_of_a_system(solver: SolverName) -> None:
    """Its stated days hold for the vendor's system; wafers of ours have no stated days, so they cannot be planned with."""
    offers = {"system": dedicated(900_000, (4, 60)), "buy": purchase(1, platform="wafer")}
    assert awarded(decided(world(quote(offers)), solver)) == {"q/system": 4}
