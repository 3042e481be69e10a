"""``explain`` on the headline scenario: the cause, and cures that work as pasted."""

from __future__ import annotations

from decimal import Decimal

import pytest

import optimizer as cb
from optimizer.analysis.bench import Bench
from optimizer.analysis.explain import Explanation, Question, explain
from optimizer.api import SolveOptions, load
from optimizer.results import Conflict

NO_RENTALS = 'policy.vendors.deny=["Nimbus Cloud (invented)", "Stratus AI Factory (invented)", AWS, Nebius, TensorWave, "Google Cloud"]'


def feasible(headline: str, *sets: str) -> bool | None:
    return Bench(load(headline, None, sets), SolveOptions()).feasible(())


def infeasible(headline: str, *sets: str, pinned: tuple[str, ...] = ()) -> Conflict:
    found = explain(headline, sets=sets, pinned=pinned)
    assert isinstance(found, Conflict)
    return found


@pytest.mark.parametrize(
    ("sets", "causes"),
    [
        (("workloads.pretrain.deadline=2027-03-15",), {"deadline"}),
        (("budget.total=5e6",), {"budget"}),
        (("sites.hall-a.power=[{from: 2027-03-01, kw: 100}]", NO_RENTALS), {"power", "policy"}),
    ],
)
def test_the_cause_and_every_cure(headline: str, sets: tuple[str, ...], causes: set[str]) -> None:
    conflict = infeasible(headline, *sets)
    assert {limit.name for limit in conflict.limits} == causes
    assert conflict.minimal
    assert {change.limit for change in conflict.relaxations} == causes
    for change in conflict.relaxations:
        assert feasible(headline, *sets, change.set), change.set


def test_a_little_less_is_not_enough(headline: str) -> None:
    (money,) = infeasible(headline, "budget.total=5e6").relaxations
    assert isinstance(money.to, Decimal)
    assert feasible(headline, f"budget.total={money.to - Decimal('0.01')}") is False
    low = "sites.hall-a.power=[{from: 2027-03-01, kw: 100}]"
    (power,) = infeasible(headline, low, NO_RENTALS, pinned=("policy",)).relaxations
    assert isinstance(power.to, Decimal)
    assert feasible(headline, low, NO_RENTALS, f"sites.hall-a.power.0.kw={power.to - Decimal('0.001')}") is False


@pytest.mark.parametrize("platform", ["gb200-nvl72", "h100-sxm", "mi355x", "rubin-nvl72", "cs-3", "rtx-4090"])
def test_why_not_a_platform(headline: str, plan: cb.Plan, platform: str) -> None:
    found = explain(headline, question=Question(platform=platform))
    assert isinstance(found, Explanation)
    row = next(row for row in cb.compare(headline).rows if row.platform == platform)
    if row.rejection is not None:
        assert found.answer == "rejected"
        assert found.rejection == row.rejection
    else:
        assert found.answer == "dearer"
        assert plan.cost is not None
        assert row.npv is not None
        assert found.gap == pytest.approx(row.npv - plan.cost.npv, abs=Decimal("0.01"))
        assert sum(line.delta for line in found.gap_lines) == found.gap


def test_why_this_many_nodes(headline: str, plan: cb.Plan) -> None:
    found = explain(headline)
    assert isinstance(found, Explanation)
    needs = {need.limit: need for need in found.nodes}
    assert needs["deadline"].binds
    assert needs["deadline"].nodes == plan.workloads["pretrain"].nodes
    assert needs["spares"].nodes == sum(award.nodes for award in plan.awards)
    memory, batch = needs["memory"].nodes, needs["batch"].nodes
    assert memory is not None
    assert batch is not None
    assert memory <= batch < plan.workloads["pretrain"].nodes


def test_a_model_too_large_for_the_cards_is_told_so_and_never_to_take_more_time(tmp_path) -> None:
    """500 billion parameters on 256 cards of 24 GB."""
    (tmp_path / "q.yaml").write_text(
        "{quote: cards-1, vendor: Cards, kind: binding, valid_until: 2027-12-31, currency: USD, offers: {card: "
        "{type: purchase, platform: rtx-4090, per: node, price: 30000, lead_weeks: stock, units: {max: 32}}}}"
    )
    (tmp_path / "s.yaml").write_text(
        "{today: 2026-11-30, currency: USD, quotes: [q.yaml], sites: {hall: {electricity: {per_kwh: 0.1}}},"
        "policy: {allow_excluded_licence: true}, workloads: {pretrain: {architecture: dense-500b, tokens: 1e11, "
        "sequence_length: 8192, global_batch_tokens: 16e6, extra_compute: 0, deadline: 2027-12-31}}}"
    )
    conflict = infeasible(str(tmp_path / "s.yaml"))
    memory = conflict.limits[0]
    assert (memory.name, memory.unit) == ("memory", "GB")
    assert memory.needed is not None
    assert memory.needed > memory.available == pytest.approx(Decimal("25.77"))
    assert {change.limit for change in conflict.relaxations} == {"supply"}
