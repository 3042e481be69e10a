"""One input at a time, each moved to both ends of its range and solved again: what moves the answer, and what flips it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from optimizer.analysis.breakeven import decided, switches
from optimizer.analysis.decisions import Decision, decision
from optimizer.analysis.envelope import envelope
from optimizer.analysis.executors import Row, local
from optimizer.analysis.family import ONE, Family
from optimizer.analysis.optimum import Effort, best_choice, bounds, several, single
from optimizer.analysis.sweep import Sweeping, sweep
from optimizer.analysis.tornado import Cell, End, Flip, Grid, PolicyEnd, Sensitivity, SensitivityRow
from optimizer.analysis.uncertain import POLICY, Uncertain, offered, policies, senseless, uncertain_inputs
from optimizer.analysis.world import World, stored_modes
from optimizer.api import SolveOptions, inputs_of
from optimizer.errors import InputError, Problem, did_you_mean
from optimizer.io.loaded import Loaded
from optimizer.schema.ranges import Ranges
from optimizer.solver.assemble import priced
from optimizer.solver.backend import Settings
from optimizer.solver.found import SolverName
from optimizer.solver.planner import Modes
from optimizer.version import __version__

HALVINGS = 7
"""Bisection steps for the value of a flip: 1/128 of the way from the scenario's value to the end of the range."""

GRID_STEPS = 5
"""Values of each input on a two-way grid."""

SPEED = "performance."
"""Names of the inputs that are speeds start with it."""

NOUGHT = Decimal(0)

NO_PLAN = End(total=None, npv=None, finish=None, decision=decision(None))
"""No plan is possible."""

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
        grid: Two inputs to move together.
        platforms: Platforms whose speed may matter.
        base: The best plan as it is; None while it is looked for.
        known: Modes; what one process computed goes to the others.
    """

    loaded: Loaded
    ranges: Ranges
    ends: Ends
    solver: SolverName
    settings: Settings
    grid: tuple[str, str] | None = None
    platforms: tuple[str, ...] = ()
    base: End = NO_PLAN
    known: Modes = field(default_factory=stored_modes)

    def __reduce__(self) -> tuple[type[Task], tuple[object, ...]]:
        """Pickle the question only: what is computed from it is computed again where it is needed."""
        return Task, tuple(getattr(self, part.name) for part in fields(self))

    @cached_property
    def world(self) -> World:
        """The scenario as it is."""
        return World(inputs_of(self.loaded))

    @cached_property
    def inputs(self) -> Mapping[str, Uncertain]:
        """The uncertain inputs by name, with the ranges of the user."""
        found = uncertain_inputs(self.world, self.ranges, self.platforms)
        return {item.name: _ranged(item, self.ends) for item in found}

    @property
    def keys(self) -> list[str]:
        """One task per input and per place of the grid."""
        steps = range(GRID_STEPS) if self.grid else ()
        return [POLICY, *self.inputs, *(f"{GRID_KEY}{one} {other}" for one in steps for other in steps)]

    def effort(self) -> Effort:
        """Return a fresh count of what is spent."""
        return Effort(self.solver, self.settings, time.monotonic())

    def __call__(self, key: str) -> Row:
        """Return the row of an input, or the cell of a place of the grid, as plain data."""
        effort = self.effort()
        if key.startswith(GRID_KEY):
            return {"cell": self._cell(key, effort).model_dump(mode="json"), "proven": effort.proven}
        row = self._policies(effort) if key == POLICY else self._row(self.inputs[key], effort)
        return {"row": row.model_dump(mode="json"), "proven": effort.proven}

    def _row(self, item: Uncertain, effort: Effort) -> SensitivityRow:
        low, high = (_at(self, item, value, effort) for value in (item.low, item.high))
        changed = [(end, at) for end, at in ((low, item.low), (high, item.high)) if end.decision != self.base.decision]
        flips = _exact_flips(self, item, effort) if item.move and changed else []
        flips = flips or [_flip(self, item, at, end.decision, effort) for end, at in changed]
        return _row(item, self.base, low, high, flips)

    def _policies(self, effort: Effort) -> SensitivityRow:
        """Return the best plan under every after-run policy that can be planned with."""
        today = self.world.frame.scenario.after_run.policy
        ends = [
            PolicyEnd(value=name, **(self.base if name == today else _end(world, self.known, effort)).model_dump())
            for name, world in policies(self.world).items()
        ]
        ends.sort(key=lambda end: (end.npv is None, end.npv or 0, end.value))
        item = Uncertain(POLICY, NOUGHT, NOUGHT, NOUGHT, f"policy, now {today}", "every policy", lambda world, _: world)
        row = _row(item, self.base, ends[0], ends[-1], ())
        return row.model_copy(update={"low": None, "high": None, "value": None, "options": tuple(ends)})

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
        InputError: another objective than cost, an unknown input, or ranges that make no sense; all at once, before any
            solve.
    """
    options, started = options or SolveOptions(), time.monotonic()
    bare = Task(loaded, loaded.library.ranges, ends or {}, options.solver, single(options), grid)
    check_question(bare)
    effort = bare.effort()
    task = _with_base(bare, effort)
    base = task.base
    if base.total is None or base.npv is None:
        return None
    outcome = sweep(task.keys, task, how or Sweeping(local(options.jobs)), signature(task))
    rows = [SensitivityRow.model_validate(row["row"]) for row in outcome.rows.values() if "row" in row]
    return Sensitivity(
        currency=loaded.scenario.currency,
        base=base.total,
        base_npv=base.npv,
        base_decision=base.decision,
        rows=tuple(sorted(rows, key=lambda row: (row.swing is not None, -(row.swing or 0), row.input))),
        grid=grid and Grid(inputs=grid, cells=tuple(row["cell"] for row in outcome.rows.values() if "cell" in row)),
        failed=dict(outcome.failed),
        proven=effort.proven and all(row["proven"] for row in outcome.rows.values()),
        wall_s=round(time.monotonic() - started, 3),
    )


def _with_base(bare: Task, effort: Effort) -> Task:
    """Return the task with the best plan as it is, and the platforms with a run or a range of the user."""
    problem = bare.world.problem(bare.known)
    runs = {profile.pool.platform.id for profile in problem.profiles}
    named = {name.removeprefix(SPEED) for name in bare.ends if name.startswith(SPEED)}
    return replace(bare, platforms=tuple(sorted(runs | named)), base=_end(bare.world, bare.known, effort))


def signature(task: Task) -> str:
    """Return a hash of everything the rows depend on."""
    files = [(file.path, file.sha256) for file in task.loaded.files]
    text = repr((__version__, files, sorted(task.ends.items()), task.ranges, task.solver, task.settings.gap, task.grid))
    return hashlib.sha256(text.encode()).hexdigest()


def check_question(task: Task) -> None:
    """Refuse what cannot be answered; no engine result is needed for it.

    Raises:
        InputError: another objective than cost, an unknown input, or a range (shipped or given) that makes no sense.
    """
    kind = task.loaded.scenario.objective
    problems = (
        [Problem("objective", kind, "sensitivity compares costs", "--set objective=cost")] if kind != "cost" else []
    )
    inputs = replace(task, platforms=tuple(offered(task.world.frame))).inputs
    asked = [*((f"--range {name}", name) for name in task.ends), *(("--grid", name) for name in task.grid or ())]
    for where, name in asked:
        if name not in inputs:
            expected = f"Expected one of {', '.join(inputs)}"
            problems.append(
                Problem(where, f'no such uncertain input: "{name}"', expected, did_you_mean(name, list(inputs)))
            )
    for item in inputs.values():
        where = f"--range {item.name}" if item.name in task.ends else f"ranges.yaml, {item.name}"
        problems += [Problem(where, wrong, "Expected LOW:HIGH within what makes sense") for wrong in senseless(item)]
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
        return NO_PLAN
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
    if several(task.world.problem(task.known)):
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


def ranges_of(texts: Iterable[str]) -> dict[str, tuple[Decimal, Decimal]]:
    """Return name and ends of every ``NAME=LOW:HIGH``.

    Raises:
        InputError: not of that form, or a name twice; all of them at once.
    """
    found: dict[str, tuple[Decimal, Decimal]] = {}
    problems = []
    for text in texts:
        name, _, span = text.partition("=")
        low, _, high = span.partition(":")
        try:
            ends = Decimal(low), Decimal(high)
        except ArithmeticError:
            problems.append(Problem(f"--range {text}", "no name and two numbers", "Expected NAME=LOW:HIGH"))
            continue
        if name in found:
            problems.append(Problem(f"--range {text}", "a second range of the same input", "Expected one"))
        found[name] = ends
    if problems:
        raise InputError(problems)
    return found


def pair_of(text: str) -> tuple[str, str]:
    """Return the two names of ``INPUT,INPUT``.

    Raises:
        InputError: not two different names.
    """
    names = tuple(part.strip() for part in text.split(","))
    if len(names) != 2 or names[0] == names[1]:
        raise InputError([Problem(f"--grid {text}", "not two different inputs", "Expected INPUT,INPUT")])
    return names[0], names[1]
