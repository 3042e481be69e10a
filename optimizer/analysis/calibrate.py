"""Fits a platform's few efficiency parameters to a pilot, and says how far the fit can be trusted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.analysis.backtest import Errors, Library, errors
from optimizer.analysis.pilot import FEWEST_ROWS, Pilot, PilotRow, pilot_of
from optimizer.analysis.pilot_fit import EDGE, LEAST, Fitted, Knob, at_edge, configurations, fit, predicted, turned
from optimizer.engine.bands import Quantiles, as_evidenced
from optimizer.engine.efficiency import Efficiency, efficiency
from optimizer.errors import InputError, Problem
from optimizer.io.runs import RunsFile
from optimizer.results import Result
from optimizer.schema.base import Precision

_ROWS_PER_PARAMETER = 3
_ROOM = 1.1  # clocks above the nominal one: sustained shares up to 1.15 have been fitted
_STILL_OFF = 0.15
_TOLD = 0.8  # uncertainty left of a parameter that the rows say something about
_DEVIATIONS = 2.5631  # p10 to p90 of a normal distribution, in standard deviations


class Parameter(Result):
    """One fitted parameter."""

    name: str
    """Key of the platform's ``efficiency``; ``sustained_share`` counts for all precisions measured."""
    factor: float
    """Fitted over shipped value."""
    low: float
    """Least factor allowed."""
    high: float
    """Largest factor allowed: shares end at 1."""
    prior: float
    """Standard deviation of the logarithm around the shipped value before the pilot."""
    uncertainty: float
    """The same after it."""


class Value(Result):
    """One number that the overlay changes."""

    key: str
    shipped: float
    fitted: float


class RunErrors(Result):
    """Signed errors (predicted / measured - 1) of one run."""

    run_id: str
    measured_step_time_s: float
    before: float
    """With the shipped parameters."""
    after: float
    """Fitted."""
    left_out: float
    """Fitted without this run and its repetitions."""


class Calibration(Result):
    """What ``calibrate`` found."""

    platform: str
    software: str
    """Training stack of the pilot; plans on the overlay use it."""
    file: str
    """Where the rows came from."""
    sha256: str
    """Checksum of that file, which the overlay carries."""
    rows: int
    configurations: int
    """Different setups and layouts among the rows; repetitions count as one."""
    ignored: dict[str, int]
    """Rows that measure no step, by reason."""
    readings: dict[str, int]
    """How often each blank cell was read by its rule."""
    parameters: tuple[Parameter, ...]
    values: tuple[Value, ...]
    before: Errors
    after: Errors
    left_out: Errors
    runs: tuple[RunErrors, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Calibrated:
    """A pilot with its fit.

    Attributes:
        pilot: The measured steps.
        shares: Fitted efficiency of the platform.
        result: What to print.
        file: Where the rows came from.
    """

    pilot: Pilot
    shares: Efficiency
    result: Calibration
    file: RunsFile


def calibrate(file: RunsFile, platform: str, library: Library) -> Calibrated:
    """Return the fit of a platform's efficiency to a file of runs.

    Least squares on log(predicted / measured) with the shipped values as priors, as wide as their band says: few rows
    move them little. At most one parameter per three configurations, all bounded by physics.

    Raises:
        InputError: Rows that cannot be used or cannot be true (see ``pilot_of``); a parameter at its bound.
    """
    pilot = pilot_of(file, platform, library)
    shipped = efficiency(pilot.platform)
    knobs, fitted = _informed(pilot, shipped, _knobs(pilot, shipped, library))
    pinned = [
        _pinned(file, knob, value) for knob, value in zip(knobs, fitted.logs, strict=True) if at_edge(knob, value)
    ]
    if pinned:
        raise InputError(pinned)
    shares = turned(shipped, knobs, fitted.logs)
    return Calibrated(pilot, shares, _result(file, pilot, shipped, shares, knobs, fitted), file)


def _knobs(pilot: Pilot, shares: Efficiency, library: Library) -> list[Knob]:
    """Return the parameters the rows can tell apart, the most important first."""
    rows = pilot.rows
    seen = frozenset(row.case.setup.precision for row in rows)
    dense = [row for row in rows if row.case.setup.architecture.moe is None]
    most = max(1, len(set(configurations(rows))) // _ROWS_PER_PARAMETER)
    best = max(shares.sustained_share[precision] for precision in seen)
    spread = {name: _spread(rows, library, moe=moe) for name, moe in (("dense", False), ("experts", True))}
    beyond = any(row.case.layout.accelerators > (row.case.setup.tiers[0].accelerators or math.inf) for row in rows)
    found = [
        Knob(
            "sustained_share", lambda old, factor: _sustained(old, seen, factor), max(1 / best, _ROOM), spread["dense"]
        ),
        Knob("expert_speed", _scaled("expert_speed"), 2.0, spread["experts"]),
        Knob("outer_network_share", _scaled("outer_network_share"), 1 / shares.outer_network_share, 0.2),
        Knob("attention_share", _scaled("attention_share"), 1 / shares.attention_share, 0.2),
    ]
    wanted = (bool(dense), len(dense) < len(rows), beyond, bool(dense))
    return [knob for knob, needed in zip(found, wanted, strict=True) if needed and knob.high > 1 + EDGE][:most]


def _informed(pilot: Pilot, shipped: Efficiency, knobs: list[Knob]) -> tuple[list[Knob], Fitted]:
    """Fit the parameters the rows say something about: one that stays as uncertain as before is left as shipped."""
    fitted = fit(pilot.rows, shipped, knobs)
    after = np.sqrt(np.diag(fitted.covariance))
    told = [knob for place, knob in enumerate(knobs) if place == 0 or after[place] < _TOLD * knob.prior]
    return (knobs, fitted) if told == knobs else (told, fit(pilot.rows, shipped, told))


def _spread(rows: Sequence[PilotRow], library: Library, *, moe: bool) -> float:
    """Return the deviation of log step times that the shipped bands of some rows state: the prior; 0.1 without rows."""
    sizes = [0.1]
    for row in rows:
        setup = row.case.setup
        if (setup.architecture.moe is not None) == moe:
            shares = efficiency(as_evidenced(setup.platform, setup.architecture))
            sizes.append(_deviation(library.bands.of(shares.bands[setup.precision])))
    return max(sizes)


def _deviation(band: Quantiles) -> float:
    return math.log(band.p90 / band.p10) / _DEVIATIONS


def _sustained(shares: Efficiency, seen: frozenset[Precision], factor: float) -> Efficiency:
    """Scale the precisions measured; the others share a loss but no gain, which nobody measured."""
    scales = {name: factor if name in seen else min(1.0, factor) for name in shares.sustained_share}
    scaled = {name: value * scales[name] for name, value in shares.sustained_share.items()}
    return shares.model_copy(update={"sustained_share": scaled})


def _scaled(name: str) -> Callable[[Efficiency, float], Efficiency]:
    return lambda shares, factor: shares.model_copy(update={name: getattr(shares, name) * factor})


def _pinned(file: RunsFile, knob: Knob, value: float) -> Problem:
    found = f"{knob.name} ends at its bound, {math.exp(value):.3g} times the shipped value"
    fix = "A wrong layout, precision, batch or unit looks like this; see the errors of each run with backtest"
    return Problem(file.name, found, f"Expected a factor between {math.exp(LEAST):.2g} and {knob.high:.3g}", fix)


def _result(
    file: RunsFile, pilot: Pilot, shipped: Efficiency, shares: Efficiency, knobs: Sequence[Knob], fitted: Fitted
) -> Calibration:
    measured = np.log([row.seconds for row in pilot.rows])
    before, after = (np.expm1(predicted(pilot.rows, each) - measured) for each in (shipped, shares))
    alone = [
        float(np.expm1(predicted([row], turned(shipped, knobs, logs))[0] - math.log(row.seconds)))
        for row, logs in zip(pilot.rows, fitted.without, strict=True)
    ]
    runs = tuple(
        RunErrors(run_id=row.case.run.run_id, measured_step_time_s=row.seconds, before=b, after=a, left_out=c)
        for row, b, a, c in zip(pilot.rows, before.tolist(), after.tolist(), alone, strict=True)
    )
    shipped_errors, left_out, different = errors(before), errors(alone), len(set(configurations(pilot.rows)))
    deviations = np.sqrt(np.diag(fitted.covariance))
    parameters = tuple(
        Parameter(
            name=knob.name,
            factor=math.exp(value),
            low=math.exp(LEAST),
            high=knob.high,
            prior=knob.prior,
            uncertainty=sd,
        )
        for knob, value, sd in zip(knobs, fitted.logs, deviations.tolist(), strict=True)
    )
    return Calibration(
        platform=pilot.platform.id,
        software=shares.software,
        file=file.name,
        sha256=file.sha256,
        rows=len(pilot.rows),
        configurations=different,
        ignored=pilot.ignored,
        readings=pilot.readings,
        parameters=parameters,
        values=tuple(_changed(shipped, shares)),
        before=shipped_errors,
        after=errors(after),
        left_out=left_out,
        runs=runs,
        warnings=tuple(_warnings(runs, different, shipped_errors, left_out)),
    )


def _warnings(runs: Sequence[RunErrors], different: int, before: Errors, left_out: Errors) -> Iterator[str]:
    if different < FEWEST_ROWS:
        yield f"{different} different configurations: how well the fit holds for others is not known"
    elif (left_out.mean or 0.0) > (before.mean or 0.0):
        yield "runs that were left out of the fit are predicted worse than with the shipped values: measure more layouts"
    off = sorted((run for run in runs if abs(run.after) > _STILL_OFF), key=lambda run: -abs(run.after))
    if off:
        named = ", ".join(f"{run.run_id} {run.after:+.0%}" for run in off[:3])
        yield f"{len(off)} of {len(runs)} runs are still off by more than 15 % ({named}): look at layout, warm-up, network"


def _changed(shipped: Efficiency, shares: Efficiency) -> list[Value]:
    old, new = _numbers(shipped), _numbers(shares)
    return [Value(key=key, shipped=old[key], fitted=value) for key, value in new.items() if value != old[key]]


def _numbers(shares: Efficiency) -> dict[str, float]:
    data = shares.model_dump(mode="json")
    flat = {key: value for key, value in data.items() if isinstance(value, float)}
    return flat | {f"sustained_share.{name}": value for name, value in data["sustained_share"].items()}
