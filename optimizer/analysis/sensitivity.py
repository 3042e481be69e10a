"""One input at a time, each moved to both ends of its range and solved again: what moves the answer, and what flips it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from optimizer.analysis.breakeven import decided, switches
from optimizer.analysis.decisions import Decision, decision
from optimizer.analysis.envelope import envelope
from optimizer.analysis.executors import Row, local
from optimizer.analysis.family import ONE, Family
from optimizer.analysis.optimum import Effort, best_choice, bounds, refuse_other_objectives
from optimizer.analysis.sweep import Sweeping, sweep
from optimizer.analysis.tornado import Cell, End, Flip, Grid, Sensitivity, SensitivityRow
from optimizer.analysis.uncertain import Uncertain, uncertain_inputs
from optimizer.analysis.world import World
from optimizer.api import SolveOptions, inputs_of
from optimizer.errors import InputError, Problem, did_you_mean
from optimizer.io.loaded import Loaded
from optimizer.schema.ranges import Ranges
from optimizer.solver.assemble import priced
from optimizer.solver.backend import Settings
from optimizer.solver.planner import Modes
from optimizer.solver.search import SolverName
from optimizer.version import __version__

HALVINGS = 7
"""Bisection steps for the value of a flip: 1/128 of the way from the scenario's value to the end of the range."""

GRID_STEPS = 5
"""Values of each input on a two-way grid."""

GRID_KEY = "grid "
"""Keys of grid tasks start with it; no input is called so."""

Ends = Mapping[str, tuple[Decimal, Decimal]]
"""Name of an input -> its low and high value, instead of the shipped range."""


@dataclass(frozen=True)
class Task:
    """Everything one input's row is computed from; pickles, so that a pool can compute it.

    Attributes:
        loaded: The scenario.
        ranges: Shipped ranges.
        ends: Ranges given by the user.
        solver: Solver name.
        settings: Its settings.
        platforms: Platforms with a run.
        grid: Two inputs to move together.
        known: Modes; what one process computed goes to the others.
    """

    loaded: Loaded
    ranges: Ranges
    ends: Ends
    solver: SolverName
    settings: Settings
    platforms: tuple[str, ...]
    grid: tuple[str, str] | None = None
    known: Modes = field(default_factory=Modes)

    def __reduce__(self) -> tuple[type[Task], tuple[object, ...]]:
        """Pickle the question only: what is computed from it is computed again where it is needed."""
        return Task, tuple(getattr(self, part.name) for part in fields(self))

    @cached_property
    def world(self) -> World:
        """The scenario as it is."""
        return World(inputs_of(self.loaded))

    @cached_property
    def base(self) -> End:
        """The best plan as it is."""
        return _end(self.world, self.known, Effort(self.solver, self.settings, time.monotonic()))

    @cached_property
    def inputs(self) -> Mapping[str, Uncertain]:
        """The uncertain inputs by name, with the ranges of the user."""
        found = uncertain_inputs(self.world, self.ranges, self.platforms)
        return {item.name: _ranged(item, self.ends) for item in found}

    def __call__(self, name: str) -> Row:
        """Return the row of an input as plain data; ``base`` is the scenario as it is."""
        effort = Effort(self.solver, self.settings, time.monotonic())
        if name == "base":
            return {"end": self.base.model_dump(mode="json"), "proven": effort.proven}
        if name.startswith(GRID_KEY):
            return {"cell": self._cell(name, effort).model_dump(mode="json"), "proven": effort.proven}
        item, base = self.inputs[name], self.base
        low, high = (_at(self, item, value, effort) for value in (item.low, item.high))
        changed = [(end, at) for end, at in ((low, item.low), (high, item.high)) if end.decision != base.decision]
        flips = _exact_flips(self, item, effort) if item.move and changed else []
        flips = flips or [_flip(self, item, at, end.decision, effort) for end, at in changed]
        row = _row(item, base, low, high, flips)
        return {"row": row.model_dump(mode="json"), "proven": effort.proven}

    def _cell(self, key: str, effort: Effort) -> Cell:
        """Return the best plan at one place of the grid."""
        world, values = self.world, []
        for name, step in zip(self.grid or (), key.removeprefix(GRID_KEY).split(), strict=True):
            item = self.inputs[name]
            value = item.low + (item.high - item.low) * int(step) / (GRID_STEPS - 1)
            values.append(Decimal(int(value)) if item.whole else value)
            world = item.apply(world, values[-1])
        return Cell(values=(values[0], values[1]), end=_end(world, self.known, effort))


def sensitivity(
    loaded: Loaded,
    *,
    ends: Ends | None = None,
    grid: tuple[str, str] | None = None,
    options: SolveOptions | None = None,
    how: Sweeping | None = None,
) -> Sensitivity | None:
    """Return what each uncertain input does to the best plan, re-solved at both ends of its range.

    Args:
        loaded: The scenario; its objective must be cost.
        ends: Ranges instead of the shipped ones (``models/ranges.yaml``), by input.
        grid: Two inputs to move together as well.
        options: How to solve.
        how: Who solves, and where rows are kept; default this machine with ``options.jobs`` processes.

    Returns:
        None when the scenario as it is has no plan.

    Raises:
        InputError: another objective than cost, an unknown input, or a range that makes no sense; before any solve.
    """
    options, started = options or SolveOptions(), time.monotonic()
    task = replace(task_of(loaded, ends or {}, options), grid=grid)
    check_ends(task, ends or {})
    steps = range(GRID_STEPS) if grid else ()
    cells = [f"{GRID_KEY}{one} {other}" for one in steps for other in steps]
    keys = ["base", *task.inputs, *cells]
    outcome = sweep(keys, task, how or Sweeping(local(options.jobs)), signature(task))
    base = End.model_validate(outcome.rows["base"]["end"])
    if base.total is None or base.npv is None:
        return None
    rows = [SensitivityRow.model_validate(row["row"]) for row in outcome.rows.values() if "row" in row]
    return Sensitivity(
        currency=loaded.scenario.currency,
        base=base.total,
        base_npv=base.npv,
        base_decision=base.decision,
        rows=tuple(sorted(rows, key=lambda row: (row.swing is not None, -(row.swing or 0), row.input))),
        grid=grid and Grid(inputs=grid, cells=tuple(row["cell"] for row in outcome.rows.values() if "cell" in row)),
        failed=dict(outcome.failed),
        proven=all(row["proven"] for row in outcome.rows.values()),
        wall_s=round(time.monotonic() - started, 3),
    )


def task_of(loaded: Loaded, ends: Ends, options: SolveOptions) -> Task:
    """Return the task of a scenario, with the platforms that have a run."""
    settings = replace(
        options.settings(), workers=options.workers or 1
    )  # small models: threads cost more than they gain
    bare = Task(loaded, loaded.library.ranges, ends, options.solver, settings, ())
    problem = bare.world.problem(bare.known)
    refuse_other_objectives(problem, "sensitivity")
    platforms = tuple(sorted({profile.pool.platform.id for profile in problem.profiles}))
    return replace(bare, platforms=platforms)


def signature(task: Task) -> str:
    """Return a hash of everything the rows depend on."""
    files = [(file.path, file.sha256) for file in task.loaded.files]
    text = repr((__version__, files, sorted(task.ends.items()), task.ranges, task.solver, task.settings.gap, task.grid))
    return hashlib.sha256(text.encode()).hexdigest()


def check_ends(task: Task, ends: Ends) -> None:
    """Refuse ranges of the user that make no sense.

    Raises:
        InputError: an unknown input, no finite numbers, low above high, or an amount that may become negative.
    """
    unknown = [name for name in task.grid or () if name not in task.inputs]
    problems = [
        Problem("--grid", f'no uncertain input "{name}"', "", did_you_mean(name, list(task.inputs))) for name in unknown
    ]
    for name, (low, high) in ends.items():
        where = f"--range {name}"
        if name not in task.inputs:
            fix = did_you_mean(name, list(task.inputs))
            problems.append(Problem(where, "no such uncertain input", f"Expected one of {', '.join(task.inputs)}", fix))
        elif not (low.is_finite() and high.is_finite()):
            problems.append(Problem(where, f"{low} to {high}", "Expected finite numbers"))
        elif low > high:
            problems.append(Problem(where, f"low {low} is above high {high}", "Expected LOW:HIGH"))
        elif low < 0 and not task.inputs[name].whole:
            problems.append(Problem(where, f"{low} is below zero", "Expected zero or more"))
    if problems:
        raise InputError(problems)


def _ranged(item: Uncertain, ends: Ends) -> Uncertain:
    if item.name not in ends:
        return item
    low, high = ends[item.name]
    return replace(item, low=low, high=high, note="--range")


def _end(world: World, known: Modes, effort: Effort) -> End:
    problem = world.problem(known)
    choice = best_choice(problem, problem, bounds(problem), None, effort)
    if choice is None:
        return End(total=None, npv=None, finish=None, decision=decision(None))
    price = priced(choice, problem.frame)
    return End(total=price.total, npv=price.npv, finish=choice.last_run, decision=decision(choice))


def _at(task: Task, item: Uncertain, value: Decimal, effort: Effort) -> End:
    if value == item.base:
        return task.base
    return _end(item.apply(task.world, value), task.known, effort)


def _exact_flips(task: Task, item: Uncertain, effort: Effort) -> list[Flip]:
    """Return the first change on either side of the scenario's value, exactly, where every plan's cost is linear."""
    if item.move is None or not item.base or not item.low < item.base < item.high:
        return []
    family = Family(task.world.inputs, item.move, effort, task.known)
    pieces = envelope(item.low / item.base, item.high / item.base, family.best, family.close)
    steps = list(switches(pieces))
    below = [(step[0], decided(step[1])) for step in steps if step[0] <= ONE][-1:]
    above = [(step[0], decided(step[2])) for step in steps if step[0] > ONE][:1]
    return [Flip(value=factor * item.base, within=Decimal(0), to=to) for factor, to in (*below, *above)]


def _flip(task: Task, item: Uncertain, far: Decimal, to: Decision, effort: Effort) -> Flip:
    """Halve the way between the scenario's value and one with another decision; whole numbers to the last one."""
    near = item.base
    for _ in range(HALVINGS):
        middle = (near + far) / 2
        if item.whole:
            middle = Decimal(int(middle))
        if middle in (near, far):
            break
        found = _at(task, item, middle, effort).decision
        if found == task.base.decision:
            near = middle
        else:
            far, to = middle, found
    return Flip(value=far, within=abs(far - near), to=to)


def _row(item: Uncertain, base: End, low: End, high: End, flips: Sequence[Flip]) -> SensitivityRow:
    moves: list[Any] = [None if end.npv is None or base.npv is None else abs(end.npv - base.npv) for end in (low, high)]
    return SensitivityRow(
        input=item.name,
        low=item.low,
        high=item.high,
        value=item.base,
        unit=item.unit,
        total_low=low.total,
        total_high=high.total,
        npv_low=low.npv,
        npv_high=high.npv,
        decision_low=low.decision,
        decision_high=high.decision,
        swing=None if None in moves else max(moves),
        flips=tuple(flips),
        note=item.note,
    )


def range_of(text: str) -> tuple[str, tuple[Decimal, Decimal]]:
    """Return name and ends of ``NAME=LOW:HIGH``.

    Raises:
        InputError: not of that form.
    """
    name, _, span = text.partition("=")
    low, _, high = span.partition(":")
    try:
        return name, (Decimal(low), Decimal(high))
    except ArithmeticError:
        raise InputError([Problem(f"--range {text}", "no name and two numbers", "Expected NAME=LOW:HIGH")]) from None


def pair_of(text: str) -> tuple[str, str]:
    """Return the two names of ``INPUT,INPUT``.

    Raises:
        InputError: not two different names.
    """
    names = tuple(part.strip() for part in text.split(","))
    if len(names) != 2 or names[0] == names[1]:
        raise InputError([Problem(f"--grid {text}", "not two different inputs", "Expected INPUT,INPUT")])
    return names[0], names[1]
