"""The figures of the evidence table, from scored rows and left-out errors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from optimizer.analysis.backtest import Backtest, RowScore, backtest, kendall_tau
from optimizer.analysis.readings import case_of
from optimizer.io.library import Library
from optimizer.io.runs import Run, read_runs
from tests.evidence.fit import parameters

DATA = Path(__file__).parents[1] / "data"
LIBRARY = Library.shipped()
LARGE = 300e9

Errors = Mapping[str, Mapping[str, float]]
"""run_id -> column of ``left_out.csv`` -> predicted / measured - 1."""


class Figure(NamedTuple):
    """A figure in sample and left out; None = does not apply."""

    in_sample: float | None
    left_out: float | None
    rows: int | None = None


class Scored(NamedTuple):
    """Every run with its score, those that were never fitted too."""

    result: Backtest
    runs: Mapping[str, Run]
    rows: Mapping[str, RowScore]


def score() -> Scored:
    """Return the scores of all runs among the evidence."""
    runs = [run for name in ("runs", "published_steps", "held_out_steps") for run in read_runs(DATA / f"{name}.csv")]
    result, rows = backtest(runs, LIBRARY)
    return Scored(result, {run.run_id: run for run in runs}, {row.run_id: row for row in rows})


def calibrated() -> set[str]:
    """Return the platforms with fitted constants of their own."""
    return {path.split(".")[0] for constant in parameters() for path in constant.paths} & set(LIBRARY.platforms)


def figures(scored: Scored, errors: Errors) -> dict[str, Figure]:
    """Return all figures that do not depend on the machine."""
    own = calibrated()
    dense = [name for name, row in errors.items() if "without_source" in row]
    mine = [name for name in dense if scored.runs[name].platform in own]
    large = [name for name in mine if _size(scored.runs[name]) >= LARGE]
    experts = [name for name, row in errors.items() if "without_model" in row]
    megatron = [name for name in mine if name.startswith("korthikanti-2022")]
    return {
        "dense_median": _both(errors, mine, "without_source", np.median),
        "dense_mean": _both(errors, mine, "without_source", np.mean),
        "dense_p90": _both(errors, mine, "without_source", lambda sizes: np.quantile(sizes, 0.9)),
        "platforms_mean": _both(errors, mine, "without_platform", np.mean),
        "large_mean": _both(errors, large, "without_source", np.mean),
        "experts_median": _both(errors, experts, "without_model", np.median),
        "experts_mean": _both(errors, experts, "without_model", np.mean),
        "datasheet_coverage": _coverage(scored, [name for name in dense if scored.runs[name].platform not in own]),
        "megatron_mean": _both(errors, megatron, "without_source", np.mean),
        "megatron_worst": _both(errors, megatron, "without_source", np.max),
        **_orders(scored, errors),
        **_memory(scored),
    }


def _size(run: Run) -> float:
    return float(case_of(run, LIBRARY).setup.parameters.total)


def _both(errors: Errors, names: Sequence[str], column: str, of: Callable[[np.ndarray], float]) -> Figure:
    inside, outside = (np.abs([errors[name][key] for name in names]) for key in ("in_sample", column))
    return Figure(float(of(inside)), float(of(outside)), len(names))


def _coverage(scored: Scored, names: Sequence[str]) -> Figure:
    """Return the share of runs within the printed band; nothing was fitted for them."""
    rows = [scored.rows[name] for name in names]
    inside = [row.low_s <= row.predicted_step_time_s / (1 + row.step_time_error) <= row.high_s for row in rows]
    return Figure(None, float(np.mean(inside)), len(rows))


def _orders(scored: Scored, errors: Errors) -> dict[str, Figure]:
    small = [name for name, run in scored.runs.items() if run.source == "vtrain-multi" and run.model == "GPT-3.6B"]
    never = [name for name, run in scored.runs.items() if run.source == "vtrain-175b"]
    tau, regret = _order(scored, small, {name: errors[name]["in_sample"] for name in small})
    tau_out, regret_out = _order(scored, small, {name: errors[name]["without_source"] for name in small})
    fresh = {name: scored.rows[name].step_time_error for name in never}
    tau_175b, regret_175b = _order(scored, never, fresh)
    return {
        "tau_3b": Figure(tau, tau_out, len(small)),
        "regret_3b": Figure(regret, regret_out, len(small)),
        "tau_175b": Figure(None, tau_175b, len(never)),
        "regret_175b": Figure(None, regret_175b, len(never)),
        "mean_175b": Figure(None, float(np.mean(np.abs(list(fresh.values())))), len(never)),
    }


def _order(scored: Scored, names: Sequence[str], errors: Mapping[str, float]) -> tuple[float, float]:
    """Return Kendall tau over pairs more than 3 % apart, and what choosing the layout predicted fastest costs."""
    times = [(scored.runs[name].step_time_s, scored.runs[name].step_time_s * (1 + errors[name])) for name in names]
    chosen = min(times, key=lambda pair: pair[1])
    return kendall_tau(combinations(times, 2)), chosen[0] / min(times)[0] - 1


def _memory(scored: Scored) -> dict[str, Figure]:
    """Return errors of memory readings, and wrong verdicts; one source's readings share one instrument and bias."""
    sources = defaultdict(list)
    for name, row in scored.rows.items():
        if row.memory_error is not None:
            sources[scored.runs[name].source].append(row.memory_error)
    every = np.abs([error for errors in sources.values() for error in errors])
    ran = sum(row.fits is not None and scored.runs[name].kind in (None, "step") for name, row in scored.rows.items())
    wrong = scored.result.memory
    bias = max(abs(float(np.median(errors))) for errors in sources.values())
    return {
        "memory_median": Figure(float(np.median(every)), None, len(every)),
        "memory_mean": Figure(float(np.mean(every)), None, len(every)),
        "memory_bias": Figure(bias, None),
        "false_fits": Figure(wrong.false_fits, None),
        "false_ooms": Figure(wrong.false_ooms / ran, None, ran),
    }
