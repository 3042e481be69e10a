"""Measured figures of this machine as one JSON object: `make bench`.

Whole-process wall times are medians of a few runs, since machines are shared and noisy.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from bench_analyses import analyses, once_s

from optimizer.candidates.conditions import Conditions, setup_of
from optimizer.candidates.legal import legal_layouts
from optimizer.candidates.modes import modes
from optimizer.candidates.ranking import layouts
from optimizer.candidates.space import Grid
from optimizer.engine.memory import memory, peak_bytes
from optimizer.engine.step_time import step_seconds, step_time
from optimizer.io.library import Library
from optimizer.schema.architecture import Architecture, FeedForward, GroupedQueryAttention
from optimizer.schema.base import Precision
from optimizer.schema.scenario import Policy, Reliability, Workload
from tests.benchmarks.decisions import FULL, SHORT, table

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "optimizer.cli"]
RUNS = 5
CACHE = "CLUSTERBUY_CACHE"


def wall_s(*arguments: str) -> dict[str, float]:
    """Return median and range of the wall time of a command."""
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run([*COMMAND, *arguments], cwd=ROOT, check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return {"median": round(statistics.median(times), 2), "min": round(min(times), 2), "max": round(max(times), 2)}


def cached_wall_s(scenario: str) -> dict[str, dict[str, float]]:
    """Return times of one solve that computes every layout and stores the engine's results, and of one that finds them."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[CACHE] = folder
        miss = once_s("solve", scenario)
        hit = once_s("solve", scenario)
        os.environ[CACHE] = "off"
    return {"miss": miss, "hit": hit}


def big_model() -> Architecture:
    """Return the dense model of 522e9 parameters that peers' layout searches were timed with."""
    attention = GroupedQueryAttention(heads=128, kv_heads=128, head_dim=144)
    return Architecture(
        id="dense-522b",
        layers=128,
        hidden_size=18_432,
        vocab_size=51_200,
        tied_embedding=True,
        attention=attention,
        ffn=FeedForward(hidden_size=73_728, gated=False),
    )


def cpu_s(work: Callable[[], object]) -> float:
    """Return the least processor seconds of a piece of work, all threads together; other work only adds to them."""
    times = []
    for _ in range(RUNS):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def layout_space(accelerators: int, grid: Grid) -> dict[str, float]:
    """Return size and time of the layout space of the 522B model on H100: 2,048 sequences of 8,192 tokens.

    ``rank_cpu_s``: listing, testing memory, timing what fits, sorting, as ``layouts`` does. ``evaluate_cpu_s``: memory
    and step time, all components, of every legal layout, whether it fits or not; the rate counts these.
    """
    library = Library.shipped()
    setup = setup_of(big_model(), library.platforms["h100-sxm"], Precision.BF16, 8192, library.software)
    legal = legal_layouts(setup, accelerators, 2048, grid)
    count = len(legal.tensor_parallel)
    full = cpu_s(lambda: (peak_bytes(memory(setup, legal)), step_seconds(step_time(setup, legal))))
    return {
        "layouts": count,
        "fitting": layouts(setup, accelerators, 2048, grid=grid).fitting,
        "rank_cpu_s": round(cpu_s(lambda: layouts(setup, accelerators, 2048, grid=grid)), 3),
        "evaluate_cpu_s": round(full, 4),
        "layouts_per_core_s": round(count / full),
    }


def engine() -> dict[str, object]:
    """Return what the engine's structure reaches: whole layout spaces, and the front of every node count to 600."""
    grids = {"grid": Grid(), "every_setting": Grid.every(8192, 2048)}
    spaces = {f"{name}_{size}": layout_space(size, grid) for size in (1024, 4096) for name, grid in grids.items()}
    library = Library.shipped()
    conditions = Conditions(library.software, library.bands, Reliability(), Policy())
    workload = Workload(
        architecture="dense-522b",
        tokens=Decimal("10e12"),
        sequence_length=8192,
        global_batch_tokens=Decimal(2048 * 8192),
        extra_compute=Decimal(0),
        precisions=(Precision.BF16, Precision.FP8),
    )
    card = library.platforms["h100-sxm"]
    front = cpu_s(lambda: modes("run", workload, big_model(), card, conditions, range(1, 601)))
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {**spaces, "node_counts_1_to_600_two_precisions_cpu_s": round(front, 3), "peak_gb": round(peak_kb / 1e6, 2)}


def reports(scenario: str) -> dict[str, object]:
    """Return the time and the size of each document of a plan."""
    with tempfile.TemporaryDirectory() as folder:
        plan = f"{folder}/plan.json"
        once_s("solve", scenario, "--quiet", "--json", plan)
        outs = {ending: f"{folder}/report.{ending}" for ending in ("html", "xlsx", "md", "csv")}
        return {
            ending: {"wall_s": wall_s("report", plan, "-o", out), "kb": round(Path(out).stat().st_size / 1000)}
            for ending, out in outs.items()
        }


def main() -> None:
    """Print the figures; nothing is taken from the cache but where it is named."""
    os.environ[CACHE] = "off"
    figures = {
        "engine": engine(),
        "cores": os.cpu_count(),
        "runs": RUNS,
        "help_wall_s": wall_s("--help"),
        "solve_dense_500b_wall_s": wall_s("solve", "scenarios/dense-500b.yaml", "--quiet"),
        "compare_dense_500b_wall_s": wall_s("compare", "scenarios/dense-500b.yaml", "--quiet"),
        "cache": {name: cached_wall_s(f"scenarios/{name}.yaml") for name in ("dense-500b", "moe-frontier")},
        "reports_dense_500b": reports("scenarios/dense-500b.yaml"),
        "analyses": analyses(),
        "decisions": table(**(FULL if os.environ.get("BENCH") == "full" else SHORT)),
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
