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

from bench_analyses import analyses

from optimizer.candidates.conditions import setup_of
from optimizer.candidates.ranking import layouts
from optimizer.io.library import Library
from optimizer.schema.base import Precision

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
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
