"""Laws of the analyses over random small problems, against solving every point by itself."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest

from optimizer.analysis.envelope import envelope
from optimizer.analysis.family import Family
from optimizer.analysis.lines import line_of
from optimizer.analysis.optimum import Effort
from optimizer.analysis.pareto import cheapest_by_finish
from optimizer.analysis.scales import one_quote, quote_knob
from optimizer.solver.assemble import priced
from optimizer.solver.backend import Settings
from optimizer.solver.planner import Modes
from tests.property.instances import Instance, instance
from tests.unit.solver.deciding import decided, inputs, problem

LOW, HIGH = Decimal("0.25"), Decimal(4)
CENTS = Decimal("0.05")
SEEDS = range(24)


def least_cost(seed: int) -> Instance:
    def change(found: Instance) -> None:
        found.scenario["objective"] = "cost"

    return instance(seed).changed(change)


def effort() -> Effort:
    return Effort("auto", Settings(), time.monotonic())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_curve_of_optimal_values_matches_independent_solves(seed: int) -> None:
    """Budgets included: 9 factors a problem, each solved from nothing."""
    world = least_cost(seed).frame()
    knob = quote_knob(world, "q0")
    family = Family(inputs(world), one_quote(world, "q0"), effort(), Modes())
    pieces = envelope(LOW, HIGH, family.best, family.close)
    for step in range(9):
        factor = LOW + (HIGH - LOW) * step / 8
        alone = decided(knob(factor))
        own = next(piece for piece in pieces if piece.low <= factor <= piece.high)
        assert (own.line is None) == (alone.choice is None), (seed, factor)
        if own.line and alone.choice:
            value = priced(alone.choice, knob(factor)).npv
            assert abs(own.line.at(factor) - value) <= CENTS + abs(value) * Decimal("2e-8"), (seed, factor)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_budgets_the_curve_is_concave(seed: int) -> None:
    def unlimited(found: Instance) -> None:
        found.scenario.pop("budget", None)

    world = least_cost(seed).changed(unlimited).frame()
    family = Family(inputs(world), one_quote(world, "q0"), effort(), Modes())
    lines = [piece.line for piece in envelope(LOW, HIGH, family.best, family.close) if piece.line]
    slopes = [line.slope for line in lines]
    assert slopes == sorted(slopes, reverse=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fixed_plan_costs_a_straight_line_in_a_price(seed: int) -> None:
    world = least_cost(seed).frame()
    found = decided(world)
    knob = quote_knob(world, "q0")
    if found.choice is not None:
        line = line_of(found.choice, knob)
        assert abs(line.at(Decimal(1)) - priced(found.choice, world).npv) < Decimal("1e-9")
        assert line.slope >= 0


@pytest.mark.parametrize("seed", SEEDS)
def test_points_of_the_front_are_what_each_deadline_alone_gives(seed: int) -> None:
    own = least_cost(seed)
    points = list(cheapest_by_finish(problem(own.frame()), effort()))
    finishes = [point.last_run for point in points]
    assert finishes == sorted(set(finishes), reverse=True)
    for point in points:

        def until(found: Instance, day: str = point.last_run.isoformat()) -> None:
            found.scenario["workloads"]["w"] |= {"deadline": day, "deadline_margin_days": 0}

        world = own.changed(until).frame()
        alone = decided(world)
        assert alone.choice is not None
        assert abs(priced(alone.choice, world).npv - priced(point, world).npv) <= CENTS
