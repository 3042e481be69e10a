"""Ctrl-C while a model is being solved: CP-SAT used to swallow it, and to take Python's own handler away."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from optimizer import api
from optimizer.solver.backend import Settings, SolveInterrupted
from optimizer.solver.cpsat import CpSat
from optimizer.solver.linear import LinearModel
from tests.unit.analysis.small import small


def hard(size: int = 120) -> tuple[LinearModel, dict[int, int]]:
    """Return a market split (Cornuejols and Dawande 1998): plans at once, no proof for hours."""
    draw = random.Random(1)  # noqa: S311 - a reproducible instance
    model = LinearModel()
    picks = [model.boolean(f"x{number}") for number in range(size)]
    costs = {}
    for row in range(9):
        weights = [draw.randint(0, 99) for _ in picks]
        over, under = (model.integer(f"{side}{row}", 0, 10**6) for side in ("over", "under"))
        half = sum(weights) // 2
        model.add("split", str(row), [*zip(picks, weights), (over, -1), (under, 1)], half, half)
        costs |= {over: 1, under: 1}
    return model, costs


def interrupt_after(seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_a_solve_stops_and_keeps_its_incumbent() -> None:
    model, costs = hard()
    before, started = signal.getsignal(signal.SIGINT), time.monotonic()
    interrupt_after(1.0)
    with pytest.raises(SolveInterrupted) as caught:
        CpSat().solve(model, costs, Settings(workers=1))
    assert time.monotonic() - started < 20
    assert caught.value.answer.outcome == "feasible"
    assert caught.value.answer.objective == model.value(costs, caught.value.answer.values)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_solve_leaves_the_handler_of_the_process_alone(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    assert api.solve(small(tmp_path)).status == "optimal"
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_the_best_plan_so_far_is_handed_out_checked(tmp_path: Path) -> None:
    """Ctrl-C comes with the first plan that the solver reports."""

    def interrupt(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.5)  # in the solver's thread: the main one hears the signal meanwhile

    with pytest.raises(api.PlanInterrupted) as caught:
        api.solve(small(tmp_path), progress=interrupt, options=api.SolveOptions(workers=1))
    plan = caught.value.plan
    assert (plan.status, plan.solve.proof) == ("feasible", "interrupted before a proof")
    assert plan.objective.bound is None
    assert plan.awards
