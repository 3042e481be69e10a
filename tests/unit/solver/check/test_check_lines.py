"""The cost build-up of a real plan is verified; one changed reference, share, factor or base is not."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from optimizer.api import solve
from optimizer.io.json_text import rounded_plan
from optimizer.io.scenario import reload_scenario
from optimizer.results import Plan
from optimizer.solver.check import Facts, check

COMMITTEE = Path(__file__).parents[3] / "data/documents/committee.yaml"


@cache
def solved() -> tuple[Plan, Facts]:
    plan = rounded_plan(solve(COMMITTEE))
    loaded = reload_scenario(plan.provenance.inputs)
    return plan, Facts(loaded.scenario, loaded.library.platforms, loaded.library.architectures, loaded.quotes)


def broken(**changes: Any) -> set[str]:
    """Return what the checker finds when parts of the cost are changed."""
    plan, facts = solved()
    assert plan.cost is not None
    cost = plan.cost.model_copy(update=changes)
    return {breach.limit_or_number for breach in check(plan.model_copy(update={"cost": cost}), facts)}


def line(at: int, **changes: Any) -> Any:
    cost = solved()[0].cost
    assert cost is not None
    lines = list(cost.lines)
    lines[at] = lines[at].model_copy(update=changes)
    return tuple(lines)


def test_the_plan_is_verified() -> None:
    plan, facts = solved()
    assert check(plan, facts) == ()
    assert broken() == set()


def test_a_line_paid_on_other_days() -> None:
    assert broken(lines=line(0, schedule=2)) == {"cost.schedules"}


def test_a_line_of_another_award() -> None:
    assert broken(lines=line(0, award=1)) == {"cost.lines.award"}


def test_a_line_of_another_lot() -> None:
    assert broken(lines=line(0, lot=1)) == {"cost.lines.lot"}


@pytest.mark.parametrize("key", ["schedule", "award", "lot"])
def test_a_reference_to_nothing(key: str) -> None:
    assert f"cost.lines.{key}" in broken(lines=line(0, **{key: 99}))


def test_shares_that_do_not_add_up() -> None:
    cost = solved()[0].cost
    assert cost is not None
    first, *rest = cost.schedules
    less = (first[0].model_copy(update={"share": first[0].share - Decimal("0.01")}), *first[1:])
    assert broken(schedules=(less, *rest)) == {"cost.schedules"}


def test_a_base_that_does_not_give_the_factor() -> None:
    cost = solved()[0].cost
    assert cost is not None
    factors = list(cost.lines[0].factors)
    at = next(position for position, factor in enumerate(factors) if factor.base is not None)
    factors[at] = factors[at].model_copy(update={"base": Decimal("1.09")})
    assert broken(lines=line(0, factors=tuple(factors))) == {"cost.lines.factors"}


def test_another_discount_rate_or_fiscal_year() -> None:
    assert broken(discount_rate=Decimal("0.1")) == {"cost.discount_rate"}
    assert broken(fiscal_year_start=1) == {"cost.fiscal_year_start"}
