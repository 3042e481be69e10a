"""Measured figures of this machine as one JSON object: `make bench`.

Whole-process wall times are medians of a few runs, since machines are shared and noisy.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from optimizer.analysis.price_risk import PriceTask
from optimizer.analysis.world_risk import price_spans
from optimizer.api import load
from optimizer.candidates.conditions import setup_of
from optimizer.candidates.ranking import layouts
from optimizer.io.library import Library
from optimizer.schema.base import Precision
from optimizer.solver.backend import Settings
from tests.benchmarks.decisions import FULL, SHORT, table

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "optimizer.cli"]
RUNS = 5


def wall_s(*arguments: str) -> dict[str, float]:
    """Return median and range of the wall time of a command."""
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run([*COMMAND, *arguments], cwd=ROOT, check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return {"median": round(statistics.median(times), 2), "min": round(min(times), 2), "max": round(max(times), 2)}


def layout_space() -> dict[str, float]:
    """Return size and time of the whole legal layout space of the 500B model on 4,096 accelerators."""
    library = Library.shipped()
    model, card = library.architectures["dense-500b"], library.platforms["b200-hgx"]
    setup = setup_of(model, card, Precision.FP8, 8192, library.software)
    layouts(setup, 4096, 2048)
    times = [layouts(setup, 4096, 2048) for _ in range(RUNS)]
    return {"layouts": times[0].evaluated, "wall_s": round(statistics.median(ranking.wall_s for ranking in times), 3)}


SCENARIO = "scenarios/dense-500b.yaml"
SAMPLES = 1000
NAIVE = 20
"""Samples solved from nothing: enough to time one, since a thousand would take most of an hour on a slow machine."""


def once_s(*arguments: str) -> dict[str, float]:
    """Return wall and processor seconds of one command with its processes, for commands that take long."""
    before, started = os.times(), time.perf_counter()
    subprocess.run([*COMMAND, *arguments, "--quiet"], cwd=ROOT, check=True, capture_output=True)
    wall, after = time.perf_counter() - started, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"wall_s": round(wall, 1), "cpu_s": round(cpu, 1)}


def naive_price_sample_s() -> float:
    """Return wall seconds of one price sample solved from nothing, its engine results known."""
    loaded = load(ROOT / SCENARIO)
    task = PriceTask(loaded, price_spans(loaded, loaded.library.ranges), 0, "auto", Settings(1), naive=True)
    task("0-1")  # modes are computed once, as in the sweep
    started = time.perf_counter()
    task(f"1-{1 + NAIVE}")
    return (time.perf_counter() - started) / NAIVE


def analyses() -> dict[str, object]:
    """Return times of the analyses of the headline scenario, with re-solving every sample beside the price sweep."""
    naive = naive_price_sample_s()
    sweep = once_s("risk", SCENARIO, "--samples", str(SAMPLES), "--vary", "prices", "--jobs", "2")
    offered = ("b200-hgx", "b300-hgx", "gb200-nvl72", "gb300-nvl72", "h100-sxm", "h200-sxm", "mi300x", "mi355x")
    return {
        "risk_1000_prices": sweep,
        "naive_price_sample_wall_s": round(naive, 3),
        "naive_1000_prices_one_process_wall_s": round(naive * SAMPLES, 1),
        "risk_1000_all": once_s("risk", SCENARIO, "--samples", str(SAMPLES), "--jobs", "2"),
        "pareto": once_s("pareto", SCENARIO),
        "sensitivity": once_s("sensitivity", SCENARIO, "--jobs", "2"),
        "breakeven": {name: once_s("breakeven", SCENARIO, "--platform", name) for name in offered},
    }


def main() -> None:
    """Print the figures."""
    figures = {
        "cores": os.cpu_count(),
        "runs": RUNS,
        "help_wall_s": wall_s("--help"),
        "solve_dense_500b_wall_s": wall_s("solve", "scenarios/dense-500b.yaml", "--quiet"),
        "compare_dense_500b_wall_s": wall_s("compare", "scenarios/dense-500b.yaml", "--quiet"),
        "layout_space_500b_4096": layout_space(),
        "analyses": analyses(),
        "decisions": table(**(FULL if os.environ.get("BENCH") == "full" else SHORT)),
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
