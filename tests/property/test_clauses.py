"""Every clause of an offer and of a scenario, together with the others: three solvers and the checker agree."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from decimal import Decimal

import pytest

from optimizer.errors import InputError
from optimizer.results import Plan
from optimizer.units import round_money
from tests.property.clauses import clauses
from tests.unit.solver.deciding import planned

SEEDS_PER_BLOCK = 25


def answer(plan: Plan) -> tuple[str, Decimal | None]:
    return plan.status, None if plan.cost is None else round_money(plan.cost.npv, "USD")


def decision(plan: Plan) -> list[object]:
    awards = [(award.quote, award.offer, award.units, award.delivery_date, award.contract_end) for award in plan.awards]
    return [*awards, *((run.pool, run.nodes, run.start, run.end) for run in plan.workloads.values())]


@pytest.mark.parametrize("block", range(2))
def test_three_solvers_agree_to_the_cent_under_every_clause(block: int) -> None:
    compared = 0
    for seed in range(20_000 + SEEDS_PER_BLOCK * block, 20_000 + SEEDS_PER_BLOCK * (block + 1)):
        world = clauses(seed).frame()
        with suppress(InputError):  # too large to enumerate
            oracle, plan, second = planned(world, "enumerate"), planned(world), planned(world, "highs")
            assert answer(plan) == answer(oracle) == answer(second), seed
            assert decision(plan) == decision(oracle), seed
            compared += 1
    assert compared >= SEEDS_PER_BLOCK * 0.7


def test_every_clause_is_met_by_a_plan() -> None:
    """Counted over the plans of many seeds, so that a clause that no instance reaches is noticed."""
    met: Counter[str] = Counter()
    for seed in range(20_000, 20_070):
        world = clauses(seed).frame()
        plan = planned(world)
        lines = {line.item for line in plan.cost.lines if line.amount} if plan.cost else set()
        met.update(award.type for award in plan.awards)
        met.update(lines & {"commitment_beyond_horizon", "cost:migration", "contingency", "duty", "tax"})
        met.update(["several sites"] if len(world.scenario.sites) > 1 and plan.cost else [])
        met.update([f"year from {world.scenario.fiscal_year_start}"] if plan.cost else [])
        met.update(["signed"] if plan.cost and world.scenario.fix else [])
    wanted = {
        "purchase", "lease", "reserved", "block", "on_demand", "dedicated", "commitment_beyond_horizon",
        "cost:migration", "contingency", "duty", "tax", "several sites", "signed",
        "year from 1", "year from 4", "year from 7", "year from 10",
    }  # fmt: skip
    assert {clause for clause in wanted if met[clause] < 2} == set()
