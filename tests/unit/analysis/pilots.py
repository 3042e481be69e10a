"""Pilots made by the engine itself, with known efficiencies."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from optimizer.analysis.readings import case_of
from optimizer.engine.predict import predict
from optimizer.io.library import Library
from optimizer.io.runs import Run, RunsFile
from optimizer.schema.platform import Platform

Block = dict[str, object]

RUN = Run(
    run_id="base", model="llama-3-1-8b", platform="h200-sxm", accelerators=32, sequence_length=8192,
    global_batch=256, micro_batch=1, precision="fp8", recompute="none", kind="step",
)  # fmt: skip
LAYOUTS: tuple[Mapping[str, int], ...] = (
    {"tensor_parallel": 1},
    {"tensor_parallel": 2},
    {"tensor_parallel": 2, "pipeline_parallel": 2},
    {"tensor_parallel": 4},
    {"tensor_parallel": 1, "pipeline_parallel": 4},
    {"tensor_parallel": 2, "context_parallel": 2},
)


def scaled(key: str, factor: float) -> Callable[[Block], Block]:
    """Return what scales a share, or all of its precisions."""

    def change(block: Block) -> Block:
        value = block[key]
        new = {name: part * factor for name, part in value.items()} if isinstance(value, dict) else value * factor
        return {**block, key: new}

    return change


def measured(run: Run, library: Library, change: Callable[[Block], Block]) -> Run:
    """Return the run with the step time of a platform with changed efficiency."""
    case = case_of(run, library)
    true = case.setup.platform.model_copy(update={"efficiency": change(dict(case.setup.platform.efficiency))})
    setup = dataclasses.replace(case.setup, platform=true, release=None)
    return dataclasses.replace(run, step_time_s=predict(setup, case.layout).step_time_s)


def pilot_file(runs: Sequence[Run], name: str = "pilot.csv") -> RunsFile:
    """Return runs as a file."""
    return RunsFile(name, "0" * 64, tuple(runs))


def pilot(
    library: Library, change: Callable[[Block], Block], layouts: Sequence[Mapping[str, int]] = LAYOUTS, run: Run = RUN
) -> RunsFile:
    """Return a pilot of several layouts on a platform whose efficiency differs from its card."""
    runs = [dataclasses.replace(run, run_id=f"run-{place}", **layout) for place, layout in enumerate(layouts)]
    return pilot_file([measured(each, library, change) for each in runs])


def block(platform: Platform) -> Block:
    """Return the efficiency of a platform as plain data."""
    return dict(platform.efficiency)
