"""What the headline scenario must show: a real choice, plausible physics and money, one plan."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import pytest
from documents import converts, orders_add_up, written

import optimizer as cb
from optimizer.io.json_text import plan_json


def solved(headline: str, *sets: str) -> cb.Plan:
    return cb.solve(headline, sets=sets)


def kinds(plan: cb.Plan) -> set[str]:
    return {award.type for award in plan.awards}


def test_the_plan_is_proven_and_agrees_with_itself(plan):
    assert plan.status == "optimal"
    assert plan.objective.gap == 0
    assert plan.objective.bound == plan.objective.value == plan.cost.npv
    assert sum(line.amount for line in plan.cost.lines) == pytest.approx(plan.cost.total)
    assert sum(item.amount for item in plan.cost.cash) == pytest.approx(plan.cost.total)
    assert sum(plan.cost.by_fiscal_year.values()) == pytest.approx(plan.cost.total)


def test_highs_finds_the_same_plan(headline, plan):
    other = cb.solve(headline, options=cb.SolveOptions(solver="highs"))
    assert (other.status, other.cost.npv, other.awards) == ("optimal", plan.cost.npv, plan.awards)


def test_five_platforms_have_a_plan_and_five_different_limits_reject_others(headline):
    rows = cb.compare(headline).rows
    assert sum(row.status == "optimal" for row in rows) >= 5
    rejected = {row.rejection.limit for row in rows if row.rejection and row.rejection.limit != "offer"}
    assert {"memory", "power", "racks", "price", "fabric"} <= rejected
    for row in rows:
        assert (row.npv is None) == (row.rejection is not None)
        if row.rejection:
            assert row.rejection.reason
            assert row.rejection.needed is not None


def test_compare_names_every_platform_of_the_library_that_is_not_evidence_only(headline):
    known = {name for name, card in cb.Library.shipped().platforms.items() if not card.evidence_only}
    assert {row.platform for row in cb.compare(headline).rows} == known


def test_the_cheapest_platform_of_compare_is_the_plan(headline, plan):
    best = cb.compare(headline).rows[0]
    assert (best.npv, best.platform) == (plan.cost.npv, plan.workloads["pretrain"].platform)


def test_what_happens_after_the_run_decides_between_buying_and_renting(headline, plan):
    assert kinds(plan) == {"purchase"}
    idle = solved(headline, "after_run.policy=idle")
    assert kinds(idle) == {"reserved"}
    bought = solved(headline, "after_run.policy=idle", 'policy.vendors.deny=["Nimbus Cloud (invented)"]')
    assert idle.cost.npv < bought.cost.npv
    assert {row.policy for row in plan.cost.after_run} == {"idle", "off", "sell", "use"}
    assert all(row.npv is not None for row in plan.cost.after_run)


def test_the_deadline_binds_and_the_run_keeps_its_margin(headline, plan):
    run = plan.workloads["pretrain"]
    assert run.end <= dt.date(2027, 12, 10)
    later = solved(headline, "workloads.pretrain.deadline=2028-03-31")
    assert later.cost.npv < plan.cost.npv


def test_training_energy_is_a_few_per_cent_of_the_purchase(plan):
    drawn = [line for line in plan.cost.lines if line.item == "energy"]
    hardware = sum(line.amount for line in plan.cost.lines if line.item == "hardware")
    run = plan.workloads["pretrain"]
    per_day = Decimal("14.3") * 24 * Decimal("1.25") * Decimal("0.085")
    training = run.nodes * run.days * per_day
    assert Decimal("0.005") * hardware < training < Decimal("0.05") * hardware
    assert sum(line.amount for line in drawn) >= training


def test_b200_in_fp8_needs_about_240_000_accelerator_days(headline):
    """405B was measured at 661 tokens/s per accelerator: 10e12 / (661 x 405 / 502) / 86,400 / 0.9 = 241,000."""
    changes = ("policy.platforms.allow=[b200-hgx]", "workloads.pretrain.precisions=[fp8]")
    run = solved(headline, *changes).workloads["pretrain"]
    seconds = 10e12 / (run.layout.global_batch * 8192) * run.step_time_s
    assert seconds / 86_400 * run.accelerators / 0.9 == pytest.approx(241_000, rel=0.10)


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_workers_do_not_change_a_byte(headline, plan, workers):
    def text(of: cb.Plan) -> str:
        record = json.loads(plan_json(of))
        record["solve"] |= {"wall_s": 0, "workers": 0}
        return json.dumps(record)

    again = cb.solve(headline, options=cb.SolveOptions(workers=workers))
    assert text(again) == text(plan)


def test_infeasible_variants_name_the_limit_and_what_it_needs(headline):
    poor = solved(headline, "budget.total=5e6")
    assert poor.status == "infeasible"
    assert [limit.name for limit in poor.conflict.limits] == ["budget"]
    needed = poor.conflict.limits[0].needed
    assert solved(headline, f"budget.total={needed}").status == "optimal"
    assert solved(headline, f"budget.total={needed - 1}").status == "infeasible"


def test_tables_of_the_plan(plan):
    frame = plan.to_frame("awards")
    assert list(frame["units"]) == [award.units for award in plan.awards]
    assert len(plan.to_frame("cash")) == len(plan.cost.cash)


def test_documents_in_another_currency(plan, tmp_path):
    source = written(plan, tmp_path)
    orders_add_up(source)
    converts(source, "EUR", Decimal("0.925925925926"))
