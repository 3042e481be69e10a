"""Many runs: which pools they take is searched best first, what they cost there is asked of CP-SAT.

Sets of runs in a pool have lower bounds, and an assignment of all runs costs at least the sum of its sets. The assignment
with the least sum is looked at: its sets are bounded better, one after another, first by the node-day relaxation of their
pool and then by their timetable; then those that follow each other together; then all of it, with the limits they share,
which gives a plan or a bound. When no assignment may cost less than the best plan, that is proven.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import combinations

import numpy as np

from optimizer.cost.entries import COUNTED, table
from optimizer.cost.frame import Frame
from optimizer.errors import InternalError
from optimizer.solver.backend import MOMENT, Settings
from optimizer.solver.columns import Columns, field_of
from optimizer.solver.found import Found, SearchInterrupted, SolverName
from optimizer.solver.highs import lower_bound
from optimizer.solver.parts import Cheapest, Part, PartBounds, Parts, cheapest, pairs_of, runs_of
from optimizer.solver.problem import Problem
from optimizer.solver.relaxation import applies, excerpt, lowered, relaxed_model
from optimizer.solver.schedules import Schedules
from optimizer.solver.search import best_of, good_plan
from optimizer.solver.timetable import Timed, Timetable, timetable
from optimizer.units import minor_digits

WORK_FOR_A_PART = 4.0
"""Longest search for what a set of runs costs, in seconds as CP-SAT counts its work; its bound by then counts."""

WORK_FOR_ALL = 2.0
"""The same for an assignment of all runs; four times as much each time it is asked again."""

SECONDS_TO_RELAX = 5.0
"""Longest search for a bound by the relaxation."""

SEVERAL_RUNS = 4
"""Runs from which on a good plan is looked for first."""

SHARE_FOR_A_PLAN = 0.25
"""Most of the time limit for that."""

MOST_PRICED = 12
"""Timetables of an assignment that are priced one after another, while the next may still cost less than the best plan.

More are only needed where costs depend on what timetables do not know; listing all schedules is then the better way."""

FAULT = 1e-6
"""Relative difference by which a plan must be below its bound to show a fault: less may be floating point."""

ROUGH = 0.005
"""Relative gap at which a relaxation may stop: it is bounded better soon."""

RELAXED, TIMED = 1, 2
"""How well a bound is known: by the node-day relaxation; by a timetable."""


@dataclass
class Decomposition:
    """The search: what is known, and the best plan.

    Attributes:
        problem: The problem.
        name: Solver of the compact model.
        settings: Solver settings.
        unique: Whether ties between equal plans are broken.
        best: The best plan so far with its value as bound.
        bound: Lower bound on every plan.
    """

    problem: Problem
    name: SolverName
    settings: Settings
    unique: bool
    best: Found | None = None
    bound: float = -np.inf
    _level: dict[Parts, int] = field(default_factory=dict)
    _work: dict[Parts, float] = field(default_factory=dict)
    _asked: dict[Parts, float] = field(default_factory=dict)
    _priced: dict[Parts, list[Timetable]] = field(default_factory=dict)
    _stuck: float = np.inf
    """Least bound of the assignments of which no more can be found out."""

    def __post_init__(self) -> None:
        """Start with what single runs cost."""
        limit = self.settings.time_limit_s
        self.ends = None if limit is None else time.monotonic() + limit
        self.known = field_of(self.problem)
        self.places = [pool.name for pool in self.known.outlook.pools]
        self.whole = relaxed_model(self.problem)
        paid = self.whole.objective.get(self.whole.builder.one, 0)
        self.bounds = PartBounds(self.known, float(Decimal(paid).scaleb(-self.whole.digits)))

    @property
    def value(self) -> float:
        """What the best plan costs."""
        return np.inf if self.best is None or self.best.bound is None else float(self.best.bound)

    @property
    def limit(self) -> float:
        """What an assignment must cost less than to matter: by half of what money is counted in, so that it would show."""
        return self.value - half_unit(self.problem.frame) if self.best else np.inf

    def run(self) -> Found:
        """Search until no assignment may cost less than the best plan, or the time limit."""
        try:
            while not self._is_over():
                first = cheapest(self.bounds, self._asked, self.limit)
                self.bound = max(self.bound, min(first.value, self._stuck))
                self._tell()
                if not first.parts:
                    break
                self._look_at(first)
        except KeyboardInterrupt:
            raise SearchInterrupted(replace(self.answer(), interrupted=True)) from None
        return self.answer()

    def _tell(self) -> None:
        if self.settings.progress:
            bound = Decimal(self.bound) if np.isfinite(self.bound) else None
            self.settings.progress(None if self.best is None else self.best.bound, bound)

    def _is_over(self) -> bool:
        return self.ends is not None and time.monotonic() > self.ends

    def _left(self, seconds: float = np.inf) -> Settings:
        left = seconds if self.ends is None else min(seconds, self.ends - time.monotonic())
        return replace(self.settings, time_limit_s=None if np.isinf(left) else max(MOMENT, left), progress=None)

    def answer(self) -> Found:
        """Return what is known."""
        if self.best is None:
            none = np.isinf(self.bound) and self.bound > 0
            if none:
                return Found("infeasible", None, None, "cp-sat", "no assignment of the runs to pools has a timetable")
            return Found("unknown", None, None, "cp-sat", "the limit was reached before a plan was found")
        if self.bound >= self.limit:
            return replace(
                self.best,
                status="optimal",
                proof="cp-sat proved that every assignment of the runs to pools costs no less",
            )
        bound = Decimal(self.bound) if np.isfinite(self.bound) else None
        why = "stopped before all assignments that may cost less were known"
        return replace(self.best, status="feasible", bound=bound, proof=why)

    def _look_at(self, first: Cheapest) -> None:
        """Bound the assignment better, at the place where least is known."""
        for part in sorted(first.parts, key=lambda part: -part[0].bit_count()):
            if not self._level.get((part,)):
                self._relax(part)
                return
        if self.best is None:  # nothing tells yet what may cost too much
            self._ask_all(first)
            return
        unknown: list[Parts] = [(part,) for part in first.parts if len(first.parts) > 1]
        unknown += [group for group in self.bounds.groups(first.parts) if 1 < len(group) < len(first.parts)]
        group = next((group for group in unknown if self._level.get(group, RELAXED) < TIMED), None)
        if group is None:
            self._ask_all(first)
        else:
            self._time(group, first)

    def _relax(self, part: Part) -> None:
        """Bound a set of runs by the node-day relaxation of its pool; of rented pools, which are small, first each two."""
        rented = self.known.outlook.pools[part[1]].site is None
        two = combinations(runs_of(part), 2) if rented else ()
        pairs = [(1 << one | 1 << other, part[1]) for one, other in two]
        for some in dict.fromkeys([*pairs, part]):
            if not self._level.get((some,)) and self.bounds.least[some] < self.limit:
                self._level[(some,)] = RELAXED
                outcome, bound = self._relaxed(some)
                if outcome == "infeasible":  # as floating point says
                    outcome, bound = self._proven(some)
                if bound is not None:
                    self.bounds.raise_to(some, bound)
                if self.bounds.least[part] >= self.limit:
                    break
        self._level[(part,)] = max(RELAXED, self._level.get((part,), RELAXED))

    def _relaxed(self, part: Part) -> tuple[str, float | None]:
        """Return the outcome and the bound of the node-day relaxation of a set of runs in a pool."""
        relaxation = excerpt(self.whole, self._places((part,)))
        ground = next(ground for ground in relaxation.grounds if ground.pool.name == self.places[part[1]])
        paid = {index: relaxation.objective[index] for index in ground.variables if index in relaxation.objective}
        settings = replace(self._left(SECONDS_TO_RELAX), workers=1, gap=ROUGH)
        outcome, bound, _ = lower_bound(relaxation.builder.model, paid, settings)
        return outcome, None if bound is None else float(lowered(bound, relaxation.digits))

    def _proven(self, part: Part) -> tuple[str, float | None]:
        """Return whether CP-SAT too finds no timetable of a set of runs in a pool."""
        found = self._timetable((part,), np.inf, WORK_FOR_A_PART, free=True)
        self._level[(part,)] = TIMED
        if found.outcome == "infeasible":
            return "infeasible", np.inf
        return found.outcome, None if found.bound is None else float(found.bound)

    def _time(self, group: Parts, first: Cheapest) -> None:
        """Bound sets of runs by their timetable: by its cost, or by what they may cost in the assignment at most."""
        before = max(sum(self.bounds.least[part] for part in group), self.bounds.tied.get(group, -np.inf))
        room = self.limit - first.value + before
        found = self._timetable(group, room, WORK_FOR_A_PART, free=True)
        value = None if found.bound is None else float(found.bound)
        if found.outcome == "infeasible":
            value = room
        if value is not None and len(group) == 1:
            self.bounds.raise_to(group[0], value)
        elif value is not None:
            self.bounds.tied[group] = max(value, self.bounds.tied.get(group, -np.inf))
        self._level[group] = TIMED

    def _ask_all(self, first: Cheapest) -> None:
        """Ask for the timetable of an assignment: a plan, or a bound."""
        parts, entry = first.parts, self.known.entry(pairs_of(first.parts))
        work = self._work.get(parts, WORK_FOR_ALL)
        known = self._priced.setdefault(parts, [])
        found = self._timetable(parts, self.limit - entry, work, known=known)
        value = first.value
        if found.outcome == "infeasible":
            value = np.inf
        elif found.bound is not None:
            value = max(value, float(found.bound) + entry)
        self._asked[parts] = value
        if found.runs:
            known.append(found.runs)
            self._plan(parts, found.runs)
        if len(known) == MOST_PRICED and value < self.limit:
            self._stuck, self._asked[parts] = min(self._stuck, value), np.inf
        if found.outcome not in ("optimal", "infeasible"):
            self._work[parts] = 4 * work

    def _timetable(
        self,
        parts: Parts,
        room: float,
        work: float,
        *,
        free: bool = False,
        known: Sequence[Timetable] = (),
    ) -> Timed:
        """Ask for the timetable of some parts; of all with energy priced by the day, once one is known."""
        cutoff, left = None if np.isinf(room) else Decimal(room), self._left()
        places = self._places(parts)
        found = timetable(
            self.whole, places, replace(left, light=True, work=work), cutoff, free=free, exact=bool(known), known=known
        )
        if found.interrupted:
            raise KeyboardInterrupt
        return found

    def _places(self, parts: Parts) -> Mapping[str, str]:
        return {self.known.names[run]: self.places[pool] for run, pool in pairs_of(parts)}

    def _plan(self, parts: Parts, runs: Timetable) -> None:
        """Keep the best plan of a schedule when it is the best so far."""
        groups = tuple((block, self._schedule(block, runs)) for block in self.known.parts(pairs_of(parts)))
        columns = Columns(groups, -np.inf, complete=False)
        left = self._left()
        found = best_of(self.problem, self.known.outlook, columns, self.name, left, unique=self.unique)
        if found.status != "optimal" or found.bound is None:
            return
        if float(found.bound) < self.bounds.total(parts) - FAULT * abs(self.bounds.total(parts)):
            raise InternalError("a plan costs less than the bounds of its runs allow: no answer is given")
        if float(found.bound) < self.value:
            self.best = found

    def _schedule(self, block: Sequence[tuple[int, int]], runs: Timetable) -> Schedules:
        slots = tuple(self.known.slots[key] for key in block)
        placed = [runs[slot.workload] for slot in slots]
        modes = [
            int(np.flatnonzero((slot.needed == one.nodes) & (slot.days == one.days))[0])
            for slot, one in zip(slots, placed, strict=True)
        ]
        starts = np.array([[one.start for one in placed]], dtype=np.int64)
        return Schedules(slots, starts, np.array([modes], dtype=np.int64), np.zeros(1), np.full(1, -np.inf))


def half_unit(frame: Frame) -> float:
    """Return half of the smallest amount of the scenario's currency: a plan that costs less by less costs the same."""
    return 0.5 * 10.0 ** -minor_digits(frame.scenario.currency)


def is_decomposable(problem: Problem) -> bool:
    """Return whether this search bounds plans of a problem well: all costs are of units, and none are earned by their use."""
    scenario = problem.frame.scenario
    counted = scenario.objective == "cost" and scenario.after_run.policy != "use"
    units = all(entry.per in COUNTED and len(table(entry, problem.frame)) == 1 for entry in scenario.costs)
    return problem.windows is not None and counted and units and applies(problem)


def decomposed(
    problem: Problem, name: SolverName, settings: Settings, *, unique: bool, known: Found | None = None
) -> Found:
    """Return the best plan of many runs with its proof; that there is none is proven twice, with CP-SAT set up differently.

    Args:
        problem: The problem; it must be decomposable.
        name: Solver of the compact model.
        settings: Its settings.
        unique: Whether ties between equal plans are broken.
        known: A plan with its value as bound; None: a good one is looked for where runs are several.

    Raises:
        InternalError: a plan costs less than its bounds allow, or the two proofs disagree.
        SearchInterrupted: Ctrl-C, with the best plan so far.
    """
    started, limit = time.monotonic(), settings.time_limit_s
    best = known
    if best is None and len(problem.frame.scenario.workloads) >= SEVERAL_RUNS:
        best = good_plan(problem, name, replace(settings, time_limit_s=limit and limit * SHARE_FOR_A_PLAN))
    found = Decomposition(problem, name, settings.since(started), unique, best).run()
    if found.status != "infeasible":
        return found
    again = Decomposition(problem, name, replace(settings.since(started), variant=1), unique).run()
    if again.choice is not None:
        raise InternalError(
            "CP-SAT finds no timetable of the runs, and one when it is set up differently: no answer is given"
        )
    return again
