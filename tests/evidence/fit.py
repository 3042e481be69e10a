"""Fits the engine's step-time constants on published runs.

``python tests/evidence/fit.py [--experts] [--write] [--leave-out]``

Bounded least squares on log(predicted / measured) with weak priors; a source with n rows weighs n^0.5 in all.
Constants and bounds are in ``parameters.yaml``. ``--write`` puts the result into the cards, ``--leave-out`` refits
without each source family and scores on it. ``--experts`` fits those of ``experts.yaml`` on the runs with experts,
the dense ones frozen, and leaves out models instead. A constant at its bound is printed: it points to a modelling error.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from optimizer.analysis.readings import Case, SkippedRun, case_of, measured_step_s
from optimizer.engine.layouts import LayoutArrays
from optimizer.engine.software import Software
from optimizer.engine.step_time import step_seconds, step_time
from optimizer.io.library import Library
from optimizer.io.runs import read_runs
from optimizer.io.yaml_reader import read_yaml_file
from optimizer.schema.platform import Platform

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"
RUNS = (ROOT / "tests/data/runs.csv", ROOT / "tests/data/published_steps.csv")
BOUND = 1e-3
UNFITTED = {"gpt-oss-120b"}  # its activation function was not fused in these releases: scored, never fitted


def raw(path: Path) -> Any:
    """Return a YAML file as plain objects."""
    return read_yaml_file(path).data


def raw_cards() -> dict[str, Any]:
    """Return the efficiency block of every platform and every software card by file stem."""
    blocks = {path.stem: raw(path)["efficiency"] for path in (MODELS / "platforms").glob("*.yaml")}
    return deepcopy(blocks | {path.stem: raw(path) for path in (MODELS / "software").glob("*.yaml")})


@dataclass(frozen=True)
class Parameter:
    """One fitted constant."""

    name: str
    paths: tuple[str, ...]
    prior: float
    sd: float
    low: float
    high: float

    @property
    def stems(self) -> set[str]:
        """Cards it touches."""
        return {path.split(".")[0] for path in self.paths}


def parameters(file: str = "parameters.yaml") -> list[Parameter]:
    """Return the constants of a file beside this one."""
    entries = raw(Path(__file__).with_name(file))
    return [Parameter(name, tuple(v["paths"]), v["prior"], v["sd"], v["low"], v["high"]) for name, v in entries.items()]


def _walk(card: Any, keys: list[str]) -> Any:
    for key in keys:
        card = card[int(key)] if isinstance(card, list) else card[key]
    return card


def put(blocks: dict[str, Any], path: str, value: float) -> None:
    """Set one dotted path."""
    stem, *keys = path.split(".")
    target = _walk(blocks[stem], keys[:-1])
    target[keys[-1]] = value


class Fit:
    """Cases grouped by setup, so that one NumPy call predicts all layouts of a group."""

    def __init__(self, cases: list[Case], constants: list[Parameter]) -> None:
        """Group the cases and remember which groups each constant touches."""
        self.constants = constants
        self.blocks = raw_cards()
        self.cards = Library.shipped()
        groups: dict[Any, list[Case]] = defaultdict(list)
        for case in cases:
            setup = case.setup
            key = (
                setup.architecture.model_dump_json(), setup.platform.id, setup.precision, setup.sequence_length,
                setup.software.id, setup.node_network_gb_s, setup.release, str(setup.states), setup.launch,
            )  # fmt: skip
            groups[key].append(case)
        self.groups = list(groups.values())
        self.cases = [case for group in self.groups for case in group]
        counts = Counter(case.run.source for case in self.cases)
        self.weights = np.array([counts[case.run.source] ** -0.25 for case in self.cases])
        self.logs = np.log([measured_step_s(case.run) or np.nan for case in self.cases])
        self.arrays = [_stack(group) for group in self.groups]
        self.touched = [
            [i for i, g in enumerate(self.groups) if {g[0].setup.platform.id, g[0].setup.software.id} & c.stems]
            for c in constants
        ]
        ends = np.cumsum([len(group) for group in self.groups])
        self.slices = [slice(end - len(group), end) for end, group in zip(ends, self.groups, strict=True)]

    def predict(self, values: np.ndarray, only: list[int] | None = None, base: np.ndarray | None = None) -> np.ndarray:
        """Return log predicted seconds; ``only`` recomputes some groups on top of ``base``."""
        for constant, value in zip(self.constants, values, strict=True):
            for path in constant.paths:
                put(self.blocks, path, float(value))
        result = np.empty(len(self.cases)) if base is None else base.copy()
        typed: dict[str, Any] = {}
        for index in range(len(self.groups)) if only is None else only:
            setup = self.groups[index][0].setup
            for stem in (setup.platform.id, setup.software.id):
                if stem not in typed:
                    typed[stem] = self._typed(stem)
            changed = replace(setup, platform=typed[setup.platform.id], software=typed[setup.software.id])
            result[self.slices[index]] = np.log(step_seconds(step_time(changed, self.arrays[index])))
        return result

    def _typed(self, stem: str) -> Platform | Software:
        if stem in self.cards.software:
            return Software.model_validate(self.blocks[stem])
        return self.cards.platforms[stem].model_copy(update={"efficiency": self.blocks[stem]})

    def residuals(self, values: np.ndarray) -> np.ndarray:
        """Weighted log errors and distances from the priors."""
        self.last = (values.copy(), self.predict(values))
        return np.concatenate([(self.last[1] - self.logs) * self.weights / 0.05, self._prior(values)])

    def _prior(self, values: np.ndarray) -> np.ndarray:
        return np.array([(v - c.prior) / c.sd for v, c in zip(values, self.constants, strict=True)])

    def jacobian(self, values: np.ndarray) -> np.ndarray:
        """Forward differences, only over the rows a constant touches."""
        base = self.last[1] if np.array_equal(self.last[0], values) else self.predict(values)
        rows = len(self.cases)
        matrix = np.zeros((rows + len(values), len(values)))
        for index, constant in enumerate(self.constants):
            step = (
                1e-3 * (constant.high - constant.low) * (-1 if 2 * values[index] > constant.low + constant.high else 1)
            )
            moved = values.copy()
            moved[index] += step
            change = self.predict(moved, self.touched[index], base) - base
            matrix[:rows, index] = change / step * self.weights / 0.05
            matrix[rows + index, index] = 1.0 / constant.sd
        return matrix

    def solve(self, start: np.ndarray, steps: int = 25) -> np.ndarray:
        """Return the fitted values."""
        low, high = np.array([c.low for c in self.constants]), np.array([c.high for c in self.constants])
        inside = np.clip(start, low + 1e-6 * (high - low), high - 1e-6 * (high - low))
        found = least_squares(
            self.residuals, inside, jac=self.jacobian, bounds=(low, high), loss="soft_l1", x_scale=high - low,
            max_nfev=steps, ftol=1e-4,
        )  # fmt: skip
        return np.asarray(found.x)

    def errors(self, values: np.ndarray) -> np.ndarray:
        """Return predicted / measured - 1."""
        return np.expm1(self.predict(values) - self.logs)


def _stack(group: list[Case]) -> LayoutArrays:
    singles = [LayoutArrays.of(case.layout) for case in group]
    names = LayoutArrays.__dataclass_fields__
    return LayoutArrays(**{name: np.concatenate([getattr(single, name) for single in singles]) for name in names})


def read_cases(*, experts: bool = False) -> list[Case]:
    """Return the dense or the MoE step rows that can be predicted."""
    found, all_cards = [], Library.shipped()
    for run in (run for path in RUNS for run in read_runs(path)):
        try:
            if run.kind == "step" and measured_step_s(run):
                found.append(case_of(run, all_cards))
        except SkippedRun:
            continue
    return [case for case in found if (case.setup.architecture.moe is not None) == experts]


def source_family(case: Case) -> str:
    """Return the source family: releases of one project belong together."""
    return re.split(r"[-:]", case.run.source or "")[0]


def model(case: Case) -> str:
    """Return the model by card."""
    return case.setup.architecture.id


def current(blocks: dict[str, Any], constants: list[Parameter]) -> np.ndarray:
    """Return the values in the cards."""
    return np.array([_walk(blocks[c.paths[0].split(".")[0]], c.paths[0].split(".")[1:]) for c in constants], float)


def write(constants: list[Parameter], values: np.ndarray) -> None:
    """Put the values into the cards, keeping everything else in the files."""
    for constant, value in zip(constants, values, strict=True):
        for path in constant.paths:
            stem, *keys = path.split(".")
            file = next(p for p in (MODELS / "platforms", MODELS / "software") if (p / f"{stem}.yaml").exists())
            _write_one(file / f"{stem}.yaml", keys, f"{value:.4g}")


def _write_one(file: Path, keys: list[str], text: str) -> None:
    lines = file.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.strip().startswith(f"{keys[0]}:"))
    if lines[at].rstrip().endswith(":") and keys[0] != "efficiency":  # a block of its own: go one level in
        keys = keys[1:]
        at = next(i for i, line in enumerate(lines) if i > at and line.strip().startswith(f"{keys[0]}:"))
    if len(keys) == 1:
        lines[at] = re.sub(r"(:\s*)[-+.\deE]+", rf"\g<1>{text}", lines[at], count=1)
    elif len(keys) == 2:
        lines[at] = re.sub(rf"([{{ ]{keys[1]}: )[-+.\deE]+", rf"\g<1>{text}", lines[at], count=1)
    else:
        entries = lines[at].split("},")
        entries[int(keys[1])] = re.sub(rf"({keys[2]}: )[-+.\deE]+", rf"\g<1>{text}", entries[int(keys[1])], count=1)
        lines[at] = "},".join(entries)
    file.write_text("".join(lines))


def score(errors: np.ndarray) -> str:
    """Return the usual figures of absolute errors."""
    size = np.abs(errors)
    return f"n {len(size)}  median {np.median(size):.3f}  mean {size.mean():.3f}  p90 {np.quantile(size, 0.9):.3f}"


def by(cases: list[Case], errors: np.ndarray, key: Any) -> None:
    """Print figures per group."""
    groups = defaultdict(list)
    for case, error in zip(cases, errors, strict=True):
        groups[key(case)].append(error)
    for name, values in sorted(groups.items()):
        print(f"  {name:58s} bias {np.median(values):+.3f}  {score(np.array(values))}")


def leave_out(cases: list[Case], constants: list[Parameter], start: np.ndarray, key: Callable[[Case], str]) -> None:
    """Refit without each group and print the error on it; platforms that no other group ran are told apart."""
    every, known = [], []
    for name in sorted({key(case) for case in cases}):
        kept = [case for case in cases if key(case) != name and model(case) not in UNFITTED]
        left = Fit([case for case in cases if key(case) == name], constants)
        values = Fit(kept, constants).solve(start, 8)
        errors = left.errors(values)
        seen = {kin(case) for case in kept}
        every.append(errors)
        known.append(errors[[kin(case) in seen for case in left.cases]])
        print(f"  without {name:20s} {score(errors)}", flush=True)
    print("left out:", score(np.concatenate(every)))
    print("left out, on platforms that others ran:", score(np.concatenate(known)))


def kin(case: Case) -> str:
    """Return the platform; cards that differ in memory only are one."""
    return re.sub(r"-(40|80)gb", "", case.setup.platform.id)


def main() -> None:
    """Fit, print, and write when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--leave-out", action="store_true")
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--experts", action="store_true")
    options = parser.parse_args()
    cases = read_cases(experts=options.experts)
    constants = parameters("experts.yaml" if options.experts else "parameters.yaml")
    fit = Fit(cases, constants)
    values = current(fit.blocks, constants)
    print("before:", score(fit.errors(values)))
    if options.steps:
        values = Fit([case for case in cases if model(case) not in UNFITTED], constants).solve(values, options.steps)
    errors = fit.errors(values)
    for constant, value in zip(constants, values, strict=True):
        reach = (constant.high - constant.low) * BOUND
        edge = "  AT BOUND" if value - constant.low < reach or constant.high - value < reach else ""
        print(f"  {constant.name:24s} {value:10.4g}  prior {constant.prior:g} +- {constant.sd:g}{edge}")
    by(fit.cases, errors, lambda case: f"{case.run.source} {case.run.platform} {case.run.precision}")
    print("after:", score(errors))
    if options.write:
        write(constants, values)
    if options.leave_out:
        leave_out(cases, constants, values, model if options.experts else source_family)


if __name__ == "__main__":
    sys.exit(main())
