"""The solver backends on models small enough to solve in the head."""

from __future__ import annotations

import random

import pytest

from optimizer.errors import InternalError
from optimizer.solver.backend import Backend, Settings
from optimizer.solver.cpsat import CpSat, configured, translate
from optimizer.solver.highs import Highs
from optimizer.solver.linear import LinearModel, Terms

BACKENDS: list[Backend] = [CpSat(), Highs()]


def both(backend: Backend) -> str:
    return backend.name


def small(least: int) -> tuple[LinearModel, Terms]:
    """x and y up to 3, x + y >= least, minimise 3 x + 2 y."""
    model = LinearModel()
    x, y = model.integer("x", 0, 3), model.integer("y", 0, 3)
    model.add("least", "", [(x, 1), (y, 1)], lower=least)
    return model, {x: 3, y: 2}


@pytest.mark.parametrize("backend", BACKENDS, ids=both)
def test_the_cheaper_variable_goes_first(backend: Backend) -> None:
    answer = backend.solve(*small(4), Settings())
    assert (answer.outcome, answer.values, answer.objective) == ("optimal", [1, 3], 9)
    assert answer.bound in (8, 9)  # the bound of a floating-point solver is kept on the safe side


@pytest.mark.parametrize("backend", BACKENDS, ids=both)
def test_seven_of_two_times_three_is_infeasible(backend: Backend) -> None:
    answer = backend.solve(*small(7), Settings())
    assert (answer.outcome, answer.values, answer.objective, answer.bound) == ("infeasible", [], None, None)


@pytest.mark.parametrize("backend", BACKENDS, ids=both)
def test_the_objective_may_be_negative_and_stops_at_the_bounds_of_the_variables(backend: Backend) -> None:
    model, _ = small(0)
    answer = backend.solve(model, {0: -5, 1: -1}, Settings())
    assert (answer.outcome, answer.values, answer.objective) == ("optimal", [3, 3], -18)
    assert answer.bound is not None
    assert answer.bound <= -18


@pytest.mark.parametrize("backend", BACKENDS, ids=both)
def test_rows_bound_from_both_sides_and_equalities_hold(backend: Backend) -> None:
    """x + y = 4 and 1 <= y - x <= 2 leaves x = 1, y = 3."""
    model, objective = small(0)
    model.add("sum", "", [(0, 1), (1, 1)], 4, 4)
    model.add("apart", "", [(0, -1), (1, 1)], 1, 2)
    assert backend.solve(model, objective, Settings()).values == [1, 3]


@pytest.mark.parametrize("backend", BACKENDS, ids=both)
def test_an_empty_objective_asks_for_any_solution(backend: Backend) -> None:
    answer = backend.solve(small(6)[0], {}, Settings())
    assert (answer.outcome, answer.values) == ("optimal", [3, 3])


@pytest.mark.parametrize("backend", BACKENDS, ids=both)
def test_small_differences_of_large_amounts_decide(backend: Backend) -> None:
    """900 million in thousandths of a cent, one of them dearer by a thousandth."""
    model = LinearModel()
    x, y = model.integer("x", 0, 1), model.integer("y", 0, 1)
    model.add("one", "", [(x, 1), (y, 1)], 1, 1)
    assert backend.solve(model, {x: 90_000_000_000_001, y: 90_000_000_000_000}, Settings()).values == [0, 1]


@pytest.mark.parametrize("exponent", [40, 52, 54, 56, 57])
def test_an_optimum_beyond_the_integers_of_floating_point_is_still_proven(exponent: int) -> None:
    """Above 2^53 a bound in floating point may lie below an optimum it equals; at gap 0 that is no gap."""
    model, _ = small(2)
    objective = {0: 2**exponent + 1, 1: 2**exponent + 3}
    answer = CpSat().solve(model, objective, Settings())
    assert (answer.outcome, answer.objective, answer.bound) == (
        "optimal",
        2 ** (exponent + 1) + 2,
        2 ** (exponent + 1) + 2,
    )


def test_sums_beyond_64_bits_are_refused_and_not_printed_raw() -> None:
    model = LinearModel()
    x = model.integer("x", 0, 2**40)
    model.add("large", "", [(x, 2**40)], lower=1)
    with pytest.raises(InternalError, match=r"^clusterbuy: CP-SAT refuses the model: [^\n]*$"):
        CpSat().solve(model, {x: 1}, Settings())


def hard(count: int = 200) -> tuple[LinearModel, Terms]:
    """A cover problem that no solver closes at once."""
    r = random.Random(1)  # noqa: S311 - reproducible, no secrets
    model = LinearModel()
    chosen = [model.boolean(f"x{number}") for number in range(count)]
    for number in range(20):
        weights = [r.randint(10**8, 10**9) for _ in chosen]
        model.add("cover", str(number), zip(chosen, weights, strict=True), lower=sum(weights) // 2)
    return model, {index: r.randint(10**13, 10**14) for index in chosen}


@pytest.mark.parametrize("backend", BACKENDS, ids=both)
def test_stopping_within_a_gap_is_no_proof(backend: Backend) -> None:
    answer = backend.solve(*hard(), Settings(gap=0.3))
    assert answer.outcome == "feasible"
    assert answer.bound is not None
    assert answer.objective is not None
    assert 0.7 * answer.objective <= answer.bound < answer.objective


@pytest.mark.parametrize("backend", BACKENDS, ids=both)
def test_a_time_limit_is_never_called_infeasible(backend: Backend) -> None:
    answer = backend.solve(*hard(), Settings(time_limit_s=0.05))
    assert answer.outcome in ("feasible", "unknown")
    assert (answer.outcome == "feasible") == bool(answer.values)
    if answer.objective is not None and answer.bound is not None:
        assert answer.bound < answer.objective


def test_progress_hears_of_incumbents_and_bounds() -> None:
    heard: list[tuple[int, int]] = []
    answer = CpSat().solve(*hard(40), Settings(progress=lambda incumbent, bound: heard.append((incumbent, bound))))
    assert answer.outcome == "optimal"
    assert min(incumbent for incumbent, _ in heard) == answer.objective
    assert all(bound <= incumbent for incumbent, bound in heard)


def test_the_second_proof_uses_another_configuration_with_presolve_on() -> None:
    first, second = configured(Settings(seed=7)).parameters, configured(Settings(seed=7, variant=1)).parameters
    assert (first.random_seed, second.random_seed) == (7, 8)
    assert (second.linearization_level, second.symmetry_level, second.cp_model_probing_level) == (2, 0, 0)
    assert first.cp_model_presolve
    assert second.cp_model_presolve


@pytest.mark.parametrize("variant", [0, 1])
def test_the_guard_against_wrong_optima_is_always_set(variant: int) -> None:
    for workers in (1, 8):
        parameters = configured(Settings(workers=workers, variant=variant)).parameters
        assert parameters.presolve_inclusion_work_limit == 0
        assert parameters.num_workers == workers


def test_a_translation_keeps_order_names_and_bounds() -> None:
    model, objective = small(4)
    native, variables = translate(model, objective)
    assert [variable.name for variable in variables] == ["x", "y"]
    assert [list(variable.proto.domain) for variable in variables] == [[0, 3], [0, 3]]
    assert list(native.proto.objective.coeffs) == [3, 2]
