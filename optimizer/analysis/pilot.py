"""A pilot's measured runs, made ready for a fit; what cannot be true or cannot be used is refused, all at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from optimizer.analysis.readings import Cards, Case, SkippedRun, case_of, measured_step_s
from optimizer.engine.efficiency import efficiency
from optimizer.engine.flops import flops_per_token
from optimizer.engine.layouts import LayoutArrays
from optimizer.engine.setup import Setup
from optimizer.engine.step_time import step_seconds, step_time
from optimizer.errors import InputError, Problem, did_you_mean
from optimizer.io.runs import Run, RunsFile
from optimizer.schema.platform import Platform

FEWEST_ROWS = 3
_AGREE = 1.03  # step time and tokens per second of one run, both rounded
_BELIEVABLE = 3.0  # measured / predicted, either way: beyond it a unit or a layout is wrong, not an efficiency
_NEAR = 1.1  # how close a disagreement must be to a unit to name it
_LIKE = 2.5  # the same against a prediction, which is off by itself


@dataclass(frozen=True)
class PilotRow:
    """One measured step.

    Attributes:
        where: File, line and run.
        case: The run, predicted as a plan would be: whatever its software date, on the release the shares hold for, so
            that no later gain is assumed on top of what was measured.
        seconds: Measured step time.
    """

    where: str
    case: Case
    seconds: float


@dataclass(frozen=True)
class Pilot:
    """The usable rows of a pilot.

    Attributes:
        platform: The platform, with the training stack the pilot used.
        rows: Measured steps.
        ignored: Rows that measure no step, by reason.
        readings: Blank cells that were read, by reading.
    """

    platform: Platform
    rows: tuple[PilotRow, ...]
    ignored: dict[str, int]
    readings: dict[str, int]


def pilot_of(file: RunsFile, platform: str, cards: Cards) -> Pilot:
    """Return the measured steps of a file of runs on one platform.

    Raises:
        InputError: Every row of another platform, that cannot be predicted or cannot be true; fewer than three rows;
            rows of several training stacks; a file that the platform's parameters rest on already.
    """
    if platform not in cards.platforms:
        fix = did_you_mean(platform, list(cards.platforms))
        raise InputError([Problem("--platform", f'no platform named "{platform}"', "a known platform", fix)])
    card = cards.platforms[platform]
    problems, ignored, rows = [*_known(file, card), *_twice(file)], Counter[str](), []
    for line, run in enumerate(file.runs, start=2):
        where = f"{file.name}:{line}, {run.run_id}"
        reason = _no_step(run)
        if run.platform != platform:
            problems.append(_other_platform(where, run, platform))
        elif reason:
            ignored[reason] += 1
        else:
            row = _row(where, run, cards)
            problems += [row] if isinstance(row, Problem) else _unbelievable(row)
            rows += [] if isinstance(row, Problem) else [row]
    problems += _too_few(file, len(rows), ignored) if not problems else []
    problems += _stacks(file, rows)
    if problems:
        raise InputError(problems)
    readings = Counter(text for row in rows for text in row.case.readings)
    return Pilot(rows[0].case.setup.platform, tuple(rows), dict(ignored), dict(readings))


def _row(where: str, run: Run, cards: Cards) -> PilotRow | Problem:
    try:
        case = case_of(run, cards)
    except SkippedRun as reason:
        return Problem(where, str(reason), "Expected a row that can be predicted", "Complete it or leave it out")
    shares = {**case.setup.platform.efficiency, "software": case.setup.software.id}
    platform = case.setup.platform.model_copy(update={"efficiency": shares})
    setup = replace(case.setup, platform=platform, release=None)
    return PilotRow(where, replace(case, setup=setup), measured_step_s(run) or 0.0)


def _no_step(run: Run) -> str | None:
    """Return why a row measures no step, or None."""
    if run.kind not in (None, "step"):
        return f"kind {run.kind}"
    both = (run.step_time_s, run.tokens_per_s_per_accelerator)
    return "neither step_time_s nor tokens_per_s_per_accelerator" if both == (None, None) else None


def _other_platform(where: str, run: Run, platform: str) -> Problem:
    found, fix = run.platform or "blank", "Keep the rows of one platform and calibrate others on their own"
    return Problem(f"{where}, platform", found, f"Expected {platform}", fix)


def _known(file: RunsFile, card: Platform) -> Iterator[Problem]:
    if any(entry.sha256 == file.sha256 for entry in efficiency(card).evidence):
        found = f"the parameters of {card.id} rest on this very file already"
        yield Problem(file.name, found, "Expected new measurements", "Leave out the folder of its overlay")


def _twice(file: RunsFile) -> Iterator[Problem]:
    for name, times in Counter(run.run_id for run in file.runs).items():
        if times > 1:
            fix = "Give repeated measurements names of their own"
            yield Problem(f"{file.name}, run_id", f'"{name}" {times} times', "Expected each run once", fix)


def _too_few(file: RunsFile, rows: int, ignored: Counter[str]) -> Iterator[Problem]:
    if rows < FEWEST_ROWS:
        left = "".join(f"; {times} with {reason}" for reason, times in ignored.items())
        found = f"{rows} rows with a measured step{left}"
        fix = "Measure other layouts or sizes too; backtest scores any number of rows"
        yield Problem(file.name, found, f"Expected {FEWEST_ROWS} or more", fix)


def _stacks(file: RunsFile, rows: list[PilotRow]) -> Iterator[Problem]:
    names = sorted({row.case.setup.software.id for row in rows})
    if len(names) > 1:
        fix = "Calibrate with the rows of the stack you will train with"
        yield Problem(f"{file.name}, framework", " and ".join(names), "Expected one training stack", fix)


def predicted_s(setup: Setup, case: Case) -> float:
    """Return predicted seconds per step of a run."""
    return float(step_seconds(step_time(setup, LayoutArrays.of(case.layout)))[0])


def _unbelievable(row: PilotRow) -> Iterator[Problem]:
    """Yield the first reason why a measurement cannot be true."""
    run = row.case.run
    if run.step_time_s and run.tokens_per_s_per_accelerator:
        each = run.step_time_s * run.tokens_per_s_per_accelerator * row.case.layout.accelerators
        times = each / (row.case.layout.global_batch * row.case.setup.sequence_length)
        if not 1 / _AGREE < times < _AGREE:
            yield _disagreement(row, times)
            return
    off = row.seconds / predicted_s(row.case.setup, row.case)
    if not 1 / _BELIEVABLE < off < _BELIEVABLE:
        yield _implausible(row, off)
    else:
        yield from _above_ceiling(row)


def _disagreement(row: PilotRow, times: float) -> Problem:
    found = (
        f"step_time_s x tokens_per_s_per_accelerator x accelerators is {times:,.3g} times the tokens of a step"
        f"{_unit(row, times, _NEAR, (*_STEP, *_RATE))}"
    )
    return Problem(row.where, found, "Expected 1, within 3 %", "Correct the units, or leave one of both blank")


def _implausible(row: PilotRow, off: float) -> Problem:
    predicted = row.seconds / off
    unit = _unit(row, off, _LIKE, _STEP) if row.case.run.step_time_s else _unit(row, 1 / off, _LIKE, _RATE)
    found = f"{row.seconds:,.4g} s measured, {predicted:,.4g} s predicted{unit}"
    fix = "Check units, layout, batch and precision: no efficiency explains a factor of three"
    return Problem(row.where, found, f"Expected {predicted / 3:,.3g} to {predicted * 3:,.3g} s", fix)


_STEP = ("step_time_s", "global_batch")
_RATE = ("tokens_per_s_per_accelerator",)


def _unit(row: PilotRow, times: float, near: float, columns: tuple[str, ...]) -> str:
    """Return which wrong unit makes a column ``times`` as large as it should be, as a clause; or nothing."""
    known: tuple[tuple[str, float, str], ...] = (
        ("step_time_s", 1000.0, "step_time_s looks like milliseconds"),
        ("step_time_s", 1 / 60, "step_time_s looks like minutes"),
        ("global_batch", 1 / row.case.setup.sequence_length, "global_batch looks like tokens, it counts sequences"),
        (*_RATE, row.case.layout.accelerators, "tokens per second look like the whole cluster's"),
        (*_RATE, row.case.setup.platform.accelerators_per_node, "tokens per second look like a node's"),
        (*_RATE, 1e-3, "tokens per second look like thousands"),
    )
    fitting = (text for name, size, text in known if name in columns and size != 1 and 1 / near < times / size < near)
    return "".join(f": {text}" for text in [*fitting][:1])


def _above_ceiling(row: PilotRow) -> Iterator[Problem]:
    """Yield that the model FLOP of a step exceed what large matrix products alone reach on this accelerator."""
    setup, layout = row.case.setup, row.case.layout
    rate = layout.global_batch * setup.sequence_length / row.seconds / layout.accelerators
    share = rate * flops_per_token(setup.architecture, setup.sequence_length) / setup.peak_flops(setup.precision)
    ceiling = setup.efficiency.matmul_share[setup.precision]
    if share > ceiling:
        found = f"{rate:,.0f} tokens/s per accelerator are {share:.0%} of the dense {setup.precision} peak"
        expected = f"Expected less than the {ceiling:.0%} that large matrix products alone reach"
        yield Problem(row.where, found, expected, "Check precision, model, accelerators and units")
