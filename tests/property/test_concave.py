"""Bounds of concave functions, and what the least cost of many plans needs to be known exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from optimizer.analysis.concave import ConcaveBound, corners, furthest
from optimizer.analysis.outcomes import information_values, linear_information_values
from optimizer.engine.layouts import Floats

SEEDS = st.integers(0, 10**6)


def market(seed: int) -> tuple[Floats, Floats, int]:
    """Return costs of some plans at zero prices and per price, and the number of prices."""
    random = np.random.default_rng(seed)
    prices, plans = int(random.integers(1, 5)), int(random.integers(1, 7))
    slopes = random.uniform(0, 3, (plans, prices)) * (random.random((plans, prices)) < 0.7)
    return 3 - slopes.sum(axis=1) + random.uniform(0, 0.1, plans), slopes, prices


def best(fixed: Floats, slopes: Floats, point: Floats) -> float:
    return float((fixed + slopes @ point).min())


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_a_bound_never_exceeds_the_function_and_meets_it_where_one_plan_is_best_around(seed: int) -> None:
    fixed, slopes, prices = market(seed)
    random = np.random.default_rng(seed)
    bound = ConcaveBound([True] * prices, 3.0)
    for known in (*corners([0.9] * prices, [1.1] * prices), *map(tuple, random.uniform(0.9, 1.1, (5, prices)))):
        bound.add(known, best(fixed, slopes, np.array(known)))
    for point in random.uniform(0.9, 1.1, (20, prices)):
        below, value = bound.at(tuple(point)), best(fixed, slopes, point)
        assert below.value <= value + 1e-7
        around = {int((fixed + slopes @ np.array(known)).argmin()) for known in bound.points}
        if len(around) == 1:
            assert below.value == pytest.approx(value, abs=1e-7)


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_a_bound_is_the_best_there_is(seed: int) -> None:
    """The same linear program by another solver."""
    fixed, slopes, prices = market(seed)
    random = np.random.default_rng(seed)
    rising = [bool(flag) for flag in random.random(prices) < 0.8]
    bound = ConcaveBound(rising, 3.0)
    points = random.uniform(0.9, 1.1, (8, prices))
    values = np.array([best(fixed, slopes, point) for point in points])
    for point, value in zip(points, values, strict=True):
        bound.add(tuple(point), float(value))
    for wanted in random.uniform(0.9, 1.1, (10, prices)):
        up, same = np.array(rising), ~np.array(rising)
        found = linprog(
            -values, A_ub=points.T[up], b_ub=wanted[up], A_eq=np.vstack([np.ones(8), points.T[same]]),
            b_eq=np.array([1.0, *wanted[same]]),
        )  # fmt: skip
        expected = -found.fun if found.success else -np.inf
        assert bound.at(tuple(wanted)).value == pytest.approx(expected, abs=1e-6)


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_between_two_points_the_widest_gap_is_where_the_lines_cross(seed: int) -> None:
    """C0 = a + b t, C1 = c + d t with C0 best at 0 and C1 best at 1."""
    a, rise, fall = np.random.default_rng(seed).uniform(0.1, 1, 3)
    bound = ConcaveBound([True], 1.0)
    bound.add((0.0,), a)
    bound.add((1.0,), a + fall)
    lines = np.array([[a, a + fall + rise], [a + rise, a + fall]])
    weights = furthest(bound.at((0.5,)), lines)
    assert weights is not None
    crossing = weights @ np.array([0.0, 1.0])
    assert lines[0, 0] + (lines[0, 1] - lines[0, 0]) * crossing == pytest.approx(
        lines[1, 0] + (lines[1, 1] - lines[1, 0]) * crossing, abs=1e-6
    )


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_information_is_never_worth_less_than_nothing_nor_more_than_knowing_everything(seed: int) -> None:
    fixed, slopes, prices = market(seed)
    points = np.random.default_rng(seed).uniform(0.8, 1.2, (200, prices))
    npv = fixed + points @ slopes.T
    inputs = {f"x{price}": points[:, price] for price in range(prices)}
    most = float(npv.mean(axis=0).min() - npv.min(axis=1).mean())
    smoothed = information_values(npv, inputs)
    exact = linear_information_values(npv, inputs, {f"x{price}": slopes[:, price] for price in range(prices)})
    for values in (smoothed, exact):
        assert all(0 <= value <= most + 1e-9 for value in values.values())


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_information_is_worth_exactly_nothing_when_the_decision_cannot_change(seed: int) -> None:
    """One plan is made cheaper than every other in every sample."""
    fixed, slopes, prices = market(seed)
    points = np.random.default_rng(seed).uniform(0.8, 1.2, (200, prices))
    npv = fixed + points @ slopes.T
    npv[:, 0] = npv.min(axis=1) - 0.01
    inputs = {f"x{price}": points[:, price] for price in range(prices)}
    assert set(information_values(npv, inputs).values()) == {0.0}
    steady = fixed.copy()
    steady[0] = (fixed + points @ slopes.T).min() - slopes[0] @ points.max(axis=0) - 0.01
    sure = steady + points @ slopes.T
    exact = linear_information_values(sure, inputs, {f"x{price}": slopes[:, price] for price in range(prices)})
    assert set(exact.values()) == {0.0}
