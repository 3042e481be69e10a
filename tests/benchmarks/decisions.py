"""How long decisions take on random instances: one JSON object per cell (runs x loose or tight), for ``make bench``.

Every solve runs in a process of its own, so that its peak memory is its own. Beside the product's search stand the same
model given to HiGHS and to CP-SAT as one piece, without bounds that leave runs out (``monolith``; several runs of 200 modes
that may follow each other on any day are millions of Booleans, which is told, not tried).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from optimizer.engine.bands import Bands, Quantiles
from optimizer.solver.backend import Settings
from optimizer.solver.cpsat import CpSat
from optimizer.solver.model import build_model
from optimizer.solver.planner import Inputs, Modes, Prepared, decide, prepare
from optimizer.solver.plans import objective_value
from tests.benchmarks.instances import Size, instance

ROOT = Path(__file__).resolve().parents[2]
LOOSE, TIGHT = 2.0, 0.8
"""Shared limits as a multiple of what an economical plan takes."""

CELLS: dict[str, Size] = {
    "1 loose": Size(1, looseness=LOOSE),
    "3 loose": Size(3, looseness=LOOSE),
    "3 tight": Size(3, looseness=TIGHT),
    "4 loose": Size(4, looseness=LOOSE),
    "5 loose": Size(5, looseness=LOOSE),
    "5 tight": Size(5, looseness=TIGHT),
    "8 loose": Size(8, looseness=LOOSE),
}
"""Name (runs and limits) -> size of the instance: 12 platforms, 8 quotes each, 4 price breaks, 200 modes."""

SHORT = {"cells": ("1 loose", "3 loose", "3 tight"), "seeds": 1, "limit_s": 20.0}
FULL = {"cells": tuple(CELLS), "seeds": 10, "limit_s": 60.0}
"""What ``make bench`` measures, and what it does with ``BENCH=full`` (about two hours on two cores)."""

LONGER_S = {"8 loose": 120.0}
"""Limits of cells that get more time with ``BENCH=full``."""

SOLVERS = ("auto", "highs", "monolith")
BANDS = Bands(situations={}, beyond_scale=Quantiles(p10=0.9, p50=1, p90=1.1, note="stated modes need none"))


@dataclass
class Watch:
    """When plans and bounds were found.

    Attributes:
        started: Clock at the start.
        plans: Seconds and objective of each better plan.
        bounds: Seconds and value of each better bound.
    """

    started: float = field(default_factory=time.monotonic)
    plans: list[tuple[float, float]] = field(default_factory=list)
    bounds: list[tuple[float, float]] = field(default_factory=list)

    def __call__(self, incumbent: Any, bound: Any) -> None:
        """Keep what a solver tells (the progress of ``Settings``)."""
        now = time.monotonic() - self.started
        if incumbent is not None and (not self.plans or incumbent < self.plans[-1][1]):
            self.plans.append((now, float(incumbent)))
        if bound is not None and (not self.bounds or bound > self.bounds[-1][1]):
            self.bounds.append((now, float(bound)))

    def within(self, share: float) -> float | None:
        """Return the seconds until a plan and a bound were known to lie within a share of each other."""
        times = sorted(moment for moment, _ in (*self.plans, *self.bounds))
        for moment in times:
            plan = min((value for when, value in self.plans if when <= moment), default=None)
            bound = max((value for when, value in self.bounds if when <= moment), default=None)
            if plan is not None and bound is not None and plan - bound <= share * abs(plan):
                return moment
        return None


def solved(seed: int, size: Size, solver: str, limit_s: float) -> dict[str, Any]:
    """Return what one solve took, from the scenario to the proof."""
    watch = Watch()
    frame = instance(seed, size)
    watch.started = time.monotonic()
    ready = prepare(Inputs(frame, {}, {}, BANDS), Modes())
    settings = Settings(workers=2, time_limit_s=limit_s, progress=watch)
    status, value, bound = _monolith(ready, settings) if solver == "monolith" else _search(ready, solver, settings)
    wall = time.monotonic() - watch.started
    first = watch.plans[0][0] if watch.plans else (wall if value is not None else None)
    proven, close = status in ("optimal", "infeasible"), watch.within(0.01)
    gap = None if value is None or bound is None else round((value - bound) / max(1.0, abs(value)), 4)
    return {
        "status": status,
        "first_plan_s": first,
        "one_percent_s": close or (wall if proven else None),
        "proof_s": wall if proven else None,
        "gap": 0.0 if status == "optimal" else gap,
        "objective": value,
        "runs_modelled": len(ready.problem.profiles),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def _search(ready: Prepared, solver: str, settings: Settings) -> tuple[str, float | None, float | None]:
    found = decide(ready, "highs" if solver == "highs" else "auto", settings, unique=False)
    if found.choice is None:
        return found.status, None, None
    value = float(objective_value(found.choice, ready))
    return found.status, value, value if found.status == "optimal" else found.bound and float(found.bound)


def _monolith(ready: Prepared, settings: Settings) -> tuple[str, float | None, float | None]:
    if ready.problem.windows is not None:
        return "too many runs to list", None, None
    model = build_model(ready.problem)
    unit = 10.0**-model.digits
    watch = settings.progress
    told = Settings(settings.workers, settings.seed, settings.time_limit_s)
    if watch is not None:
        told = Settings(settings.workers, settings.seed, settings.time_limit_s, lambda a, b: watch(a * unit, b * unit))
    answer = CpSat().solve(model.linear, model.objectives()[0], told)
    value = None if answer.objective is None else answer.objective * unit
    return answer.outcome, value, None if answer.bound is None else answer.bound * unit


def measured(cell: str, solver: str, seed: int, limit_s: float) -> dict[str, Any]:
    """Return the figures of one solve in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.decisions", "--cell", cell, "--solver", solver]
    command += ["--seed", str(seed), "--limit", str(limit_s)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=4 * limit_s + 60)
    except subprocess.TimeoutExpired:
        return {"status": "stopped", "first_plan_s": None, "one_percent_s": None, "proof_s": None, "gap": None}
    return dict(json.loads(done.stdout))


def table(cells: tuple[str, ...], seeds: int, limit_s: float) -> dict[str, Any]:
    """Return, and tell on stderr as they come, medians over seeds per cell and solver: seconds, None where fewer than half got there."""
    rows: dict[str, Any] = {}
    for cell in cells:
        for solver in SOLVERS:
            limit = LONGER_S.get(cell, limit_s)
            found = [measured(cell, solver, seed, limit) for seed in range(seeds if solver == "auto" else 1)]
            rows[f"{cell}, {solver}"] = _summary(found)
            print(f"{cell}, {solver}: {rows[f'{cell}, {solver}']}", file=sys.stderr, flush=True)
    return rows


def _summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {"seeds": len(found), "statuses": sorted(one["status"] for one in found)}
    for key in ("first_plan_s", "one_percent_s", "proof_s"):
        times = sorted(one[key] if one[key] is not None else float("inf") for one in found)
        middle = statistics.median_high(times)
        row[key] = None if middle == float("inf") else round(middle, 2)
    row["worst_gap"] = max((one["gap"] for one in found if one["gap"] is not None), default=None)
    row["peak_mb"] = max((one.get("peak_mb", 0) for one in found), default=0)
    return row


def main() -> None:
    """Measure one solve (``--cell``), or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cell", choices=CELLS)
    parser.add_argument("--solver", choices=SOLVERS, default="auto")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=60.0)
    given = parser.parse_args()
    if given.cell:
        print(json.dumps(solved(given.seed, CELLS[given.cell], given.solver, given.limit)))
    else:
        print(json.dumps(table(**(FULL if os.environ.get("BENCH") == "full" else SHORT)), indent=2))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
