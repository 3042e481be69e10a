"""Times of the analyses of the headline scenario, with what solving everything from nothing takes and gives beside them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np

from optimizer.analysis.breakeven import breakeven
from optimizer.analysis.pareto import pareto
from optimizer.analysis.price_risk import Market, SampleTask
from optimizer.analysis.scales import one_platform
from optimizer.analysis.world_risk import price_spans
from optimizer.api import SolveOptions, inputs_of, load
from optimizer.io.loaded import Loaded
from optimizer.solver.assemble import priced
from optimizer.solver.backend import Settings
from optimizer.solver.planner import Inputs, Modes, decide, prepare

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "optimizer.cli"]
SCENARIO = "scenarios/dense-500b.yaml"
PLATFORMS = ("b200-hgx", "b300-hgx", "gb200-nvl72", "gb300-nvl72", "h100-sxm", "h200-sxm", "mi300x", "mi355x")
SAMPLES = 1000
NAIVE = 20
"""Samples solved from nothing: enough to time one."""
CURVE = 200
"""Independent solves that the curve of least cost is held against."""


def once_s(*arguments: str) -> dict[str, float]:
    """Return wall and processor seconds of one command with its processes, for commands that take long."""
    before, started = os.times(), time.perf_counter()
    subprocess.run([*COMMAND, *arguments, "--quiet"], cwd=ROOT, check=True, capture_output=True)
    wall, after = time.perf_counter() - started, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"wall_s": round(wall, 1), "cpu_s": round(cpu, 1)}


def from_nothing(inputs: Inputs, known: Modes) -> float | None:
    """Return the least present value, solved without anything known but the engine's results."""
    choice = decide(prepare(inputs, known), "auto", SolveOptions(workers=1).settings(), unique=False).choice
    return None if choice is None else float(priced(choice, inputs.frame).npv)


def risk_figures(loaded: Loaded) -> dict[str, object]:
    """Return the price sweep, what one sample from nothing takes, and the sweep of everything."""
    spans = price_spans(loaded, loaded.library.ranges)
    task = SampleTask(Market(loaded, spans, NAIVE + 1, 0, "auto", Settings(1)))
    task("0")  # modes are computed once, as in the sweep
    started = time.perf_counter()
    for sample in range(1, NAIVE + 1):
        task(str(sample))
    naive = (time.perf_counter() - started) / NAIVE
    return {
        "prices": once_s("risk", SCENARIO, "--samples", str(SAMPLES), "--vary", "prices"),
        "prices_naive_one_process_wall_s": round(naive * SAMPLES, 1),
        "all": once_s("risk", SCENARIO, "--samples", str(SAMPLES), "--jobs", "2"),
    }


def curve_figures(loaded: Loaded, platform: str = "b200-hgx") -> dict[str, object]:
    """Return the greatest difference of the least-cost curve from independent solves, and the time of both."""
    known, inputs = Modes(), inputs_of(loaded)
    from_nothing(inputs, known)
    started = time.perf_counter()
    found = breakeven(loaded, platform=platform, known=known)
    exact_s = time.perf_counter() - started
    if found is None:
        raise SystemExit("the headline has no plan")
    curve = [(float(point.factor), float(point.npv or 0)) for point in found.curve]
    knob, started, worst = one_platform(inputs.frame, platform).knob(), time.perf_counter(), 0.0
    for step in range(CURVE):
        factor = Decimal("0.25") + Decimal("3.75") * step / (CURVE - 1)
        value = from_nothing(inputs.with_frame(knob(factor)), known)
        worst = max(worst, abs((value or 0) - float(np.interp(float(factor), *zip(*curve, strict=True)))))
    return {
        "exact_wall_s": round(exact_s, 1),
        f"{CURVE}_solves_wall_s": round(time.perf_counter() - started, 1),
        "worst_difference": round(worst, 2),
        "unconfirmed_switches": sum(not switch.verified for switch in found.switches),
    }


def front_figures(loaded: Loaded) -> dict[str, object]:
    """Return the front, and the greatest difference of its points from solving each deadline alone."""
    known, inputs = Modes(), inputs_of(loaded)
    from_nothing(inputs, known)
    started = time.perf_counter()
    front = pareto(loaded, known=known)
    exact_s = time.perf_counter() - started
    if front is None:
        raise SystemExit("the headline has no plan")
    (name, workload), started, worst = next(iter(loaded.scenario.workloads.items())), time.perf_counter(), 0.0
    for point in front.points:
        due = workload.model_copy(update={"deadline": point.finish, "deadline_margin_days": 0})
        frame = replace(inputs.frame, scenario=inputs.frame.scenario.model_copy(update={"workloads": {name: due}}))
        worst = max(worst, abs((from_nothing(inputs.with_frame(frame), known) or 0) - float(point.npv)))
    return {
        "points": len(front.points),
        "exact_wall_s": round(exact_s, 1),
        "one_solve_per_point_wall_s": round(time.perf_counter() - started, 1),
        "worst_difference": round(worst, 2),
    }


def analyses() -> dict[str, object]:
    """Return all figures."""
    loaded = load(ROOT / SCENARIO)
    return {
        "risk_1000": risk_figures(loaded),
        "pareto": once_s("pareto", SCENARIO),
        "pareto_against_epsilon_constraints": front_figures(loaded),
        "breakeven": {name: once_s("breakeven", SCENARIO, "--platform", name) for name in PLATFORMS},
        "curve_against_independent_solves": curve_figures(loaded),
        "sensitivity": once_s("sensitivity", SCENARIO, "--jobs", "2"),
    }
