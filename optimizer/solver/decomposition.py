"""Many runs: which pools they take is searched best first, what they cost there is asked of solvers (``questions``).

Sets of runs in a pool have lower bounds, and an assignment of all runs costs at least the sum of its sets. The assignments
with the least sums are looked at: their sets are bounded better, first by the node-day relaxation of their pool, where they
are not small, and then by their timetable; then those that follow each other together; then all of it, with the limits they
share, which gives a plan or a bound. When no assignment may cost less than the best plan, that is proven.
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
from optimizer.solver.assemble import priced
from optimizer.solver.backend import MOMENT, Settings
from optimizer.solver.columns import Columns, field_of
from optimizer.solver.found import Found, SearchInterrupted, SolverName
from optimizer.solver.outlook import Outlook
from optimizer.solver.parts import Cheap, Part, PartBounds, Parts, cheapest, pairs_of, runs_of
from optimizer.solver.problem import Problem
from optimizer.solver.questions import RELAXED, TIMED, Answered, Asker, Question, Queue
from optimizer.solver.relaxation import applies, relaxed_model
from optimizer.solver.relaxed_terms import is_hired_alone
from optimizer.solver.schedules import Schedules
from optimizer.solver.search import best_of, good_plan
from optimizer.solver.timetable import Timetable
from optimizer.units import minor_digits

WORK_FOR_A_PART = 4.0
"""Longest search for what a set of runs costs, in seconds as CP-SAT counts its work; its bound by then counts."""

STEP = 0.02
"""Share of the best plan by which one question raises the bound of large sets at most: little room leaves few ways, so CP-SAT shows far
sooner that nothing costs so little than what the least is (8 runs: 4 % in 0.3 s, where the least is not known in 200)."""

LARGE = 4
"""Most runs in a pool whose least cost is asked for at once."""

MANY_RUNS = 6
"""Runs from which on bounds are raised by prices first: of fewer, the sets that matter are soon asked for one by one."""

STEP_OF_PRICES = 0.03
"""Share by which prices are above what the runs must cost."""

WORTH_A_ROUND = 0.003
"""Share by which the bound of all runs must rise for another round of prices."""

WORK_FOR_PRICES = 1.0
"""Longest search for what the runs of a pool cost less than their prices, as CP-SAT counts its work."""

WORK_FOR_THE_FIRST = 0.8
"""The same for the assignment that is tried first, for each run."""

CROWD = 2
"""Workers for each of those that may be used, there: CP-SAT finds plans in many ways, and better ones with more of them."""

WORK_FOR_ALL = 2.0
"""The same for an assignment of all runs; four times as much each time it is asked again."""

SEVERAL_RUNS = 4
"""Runs from which on a good plan is looked for first."""

SHARE_FOR_A_PLAN = 0.15
"""Most of the time limit for that, and for the assignment that is tried first."""

MOST_RUNS = 10
"""Most runs: every set of them in every pool has a bound, and each run more doubles them (12 runs in 36 pools: 15 s)."""

MOST_PRICED = 12
"""Timetables of an assignment that are priced one after another, while the next may still cost less than the best plan.

More are only needed where costs depend on what timetables do not know; listing all schedules is then the better way."""

LISTED_TO = (0.3, 1.0)
"""Up to which part of the way from the bound of an assignment to the best plan its schedules are listed, when CP-SAT is
stuck; the nearer the fewer they are."""

MOST_LISTED = 5
"""Most runs in a pool whose schedules are listed."""

FAULT = 1e-6
"""Relative difference by which a plan must be below its bound to show a fault: less may be floating point."""

SMALL, SMALL_IF_RENTED = 1, 3
"""Most runs of a set that is timetabled at once, at a site and in a rented pool."""


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
        columns: The schedules of the last timetable that gave a better plan; None before there is one.
    """

    problem: Problem
    name: SolverName
    settings: Settings
    unique: bool
    best: Found | None = None
    bound: float = -np.inf
    columns: Columns | None = None
    _level: dict[Parts, int] = field(default_factory=dict)
    _tried: dict[Parts, int] = field(default_factory=dict)
    _asked: dict[Parts, float] = field(default_factory=dict)
    _priced: dict[Parts, list[Timetable]] = field(default_factory=dict)
    _climbed: set[Parts] = field(default_factory=set)
    """Assignments of which a little room could not be closed."""
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
        self.asker = Asker(self.whole, self.known.names, self.places, self._left, self._best_of)
        self.bounds = PartBounds(self.known, float(Decimal(paid).scaleb(-self.whole.digits)))

    @property
    def value(self) -> float:
        """What the best plan costs."""
        return np.inf if self.best is None or self.best.bound is None else float(self.best.bound)

    @property
    def limit(self) -> float:
        """What an assignment must cost less than to matter: by half of what money is counted in, so that it would show."""
        return self.value - half_unit(self.problem.frame) if self.best else np.inf

    @property
    def _step(self) -> float:
        """By how much one question raises what large sets cost at most."""
        return STEP * abs(self.limit)

    def try_places(self, places: Mapping[str, str]) -> None:
        """Ask for a plan of an assignment that promises to be good: workload -> name of its pool."""
        parts = self.parts_of(places)
        if parts:
            limit, work = self.settings.time_limit_s or np.inf, WORK_FOR_THE_FIRST * len(self.known.names)
            first = replace(self._of_all(Cheap(parts, -np.inf)), work=work, seconds=limit * SHARE_FOR_A_PLAN)
            self._learn(first, self.asker.answer(first, CROWD * self.settings.workers))

    def parts_of(self, places: Mapping[str, str]) -> Parts | None:
        """Return the parts of an assignment; None where a run cannot be in its pool."""
        masks: dict[int, int] = {}
        for run, name in enumerate(self.known.names):
            pool = self.places.index(places[name]) if places.get(name) in self.places else -1
            if (run, pool) not in self.known.known:
                return None
            masks[pool] = masks.get(pool, 0) | 1 << run
        return tuple((mask, pool) for pool, mask in masks.items())

    def run(self) -> Found:
        """Search until no assignment may cost less than the best plan, or the time limit."""
        queue = Queue(self.asker.answer, self.settings.workers)
        try:
            self._price(queue)
            while not self._is_over() and self._is_open(queue):
                self._learn(*queue.next())
        except KeyboardInterrupt:
            raise SearchInterrupted(replace(self.answer(), interrupted=True)) from None
        finally:
            queue.stop()
        return self.answer()

    def _price(self, queue: Queue) -> None:
        """Raise the bounds of all sets of runs, pool by pool, as long as that raises the bound of all runs."""
        before, many = 0.0, len(self.known.names) >= MANY_RUNS and self.best is not None
        while many and not self._is_over():
            found = cheapest(self.bounds, self._asked, self.limit)
            self.bound = max(self.bound, found[0].value if found else self.limit)
            self._tell()
            if not found or self.bound <= before * (1 + WORTH_A_ROUND):
                return
            before = self.bound
            for answered in queue.each(self._prices()):
                self._learn(*answered)

    def _prices(self) -> list[Question]:
        """Return for each pool the question whether runs cost less there than prices a little above what they must cost."""
        prices = tuple((1 + STEP_OF_PRICES) * price for price in self.bounds.prices())
        asked = []
        for number, pool in enumerate(self.known.outlook.pools):
            own = [part for part in self.bounds.least if part[1] == number]
            below = any(self.bounds.least[part] < sum(prices[run] for run in runs_of(part)) for part in own)
            if below and not is_hired_alone(pool):
                every = sum(part[0] for part in own if part[0].bit_count() == 1)
                asked.append(Question("price", ((every, number),), work=WORK_FOR_PRICES, prices=prices))
        return asked

    def _is_open(self, queue: Queue) -> bool:
        """Ask how to bound the assignments better that cost least; return whether there are any."""
        if not queue.is_short:
            return True
        found = cheapest(self.bounds, self._asked, self.limit, queue.depth)
        self.bound = max(self.bound, min(found[0].value if found else self.limit, self._stuck))
        self._tell()
        queue.ask(map(self._question, found))
        return bool(found)

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

    def _question(self, one: Cheap) -> Question:
        """Return what is asked next of an assignment: where least is known."""
        for part in sorted(one.parts, key=lambda part: -part[0].bit_count()):
            if not self._level.get((part,)):
                return self._first_of(part)
        if self.best is None:  # nothing tells yet what may cost too much
            return self._of_all(one)
        unknown: list[Parts] = [(part,) for part in one.parts if len(one.parts) > 1]
        unknown += [group for group in self.bounds.groups(one.parts) if 1 < len(group) < len(one.parts)]
        group = next((group for group in unknown if self._level.get(group, RELAXED) < TIMED), None)
        if group is None:
            return self._of_all(one)
        before = max(sum(self.bounds.least[part] for part in group), self.bounds.tied.get(group, -np.inf))
        most = self.limit - self.bounds.total(one.parts) + before
        room = min(most, before + self._step) if _is_large(group) else most
        return Question("time", group, room, WORK_FOR_A_PART, climb=room < most)

    def _first_of(self, part: Part) -> Question:
        """Return what is asked first of a set of runs: of few its timetable, of more in a rented pool, which is small, each two.

        A timetable without a limit tells what they cost, and the relaxation is not needed.
        """
        rented = self.known.outlook.pools[part[1]].site is None
        if part[0].bit_count() > (SMALL_IF_RENTED if rented else SMALL):
            two = combinations(runs_of(part), 2) if rented else ()
            pairs = [(1 << one | 1 << other, part[1]) for one, other in two]
            new = next((pair for pair in pairs if not self._level.get((pair,))), None)
            if new is None:
                return Question("relax", (part,), work=WORK_FOR_A_PART)
            part = new
        return Question("time", (part,), work=WORK_FOR_A_PART)

    def _of_all(self, one: Cheap) -> Question:
        """Return the question for a timetable of an assignment: a plan, or a bound."""
        parts = one.parts
        tried = self._tried.get(parts, 0)
        climb = _is_large(parts) and one.value + self._step < self.limit and parts not in self._climbed
        room = (one.value + self._step if climb else self.limit) - self.known.entry(pairs_of(parts))
        known = tuple(self._priced.setdefault(parts, []))
        self._asked[parts] = max(one.value, self._asked.get(parts, -np.inf))
        lists = LISTED_TO if self.best and all(mask.bit_count() <= MOST_LISTED for mask, _ in parts) else ()
        if 0 < tried <= len(lists) and not climb:
            return Question("list", parts, one.value + lists[tried - 1] * (self.limit - one.value))
        return Question("all", parts, room, WORK_FOR_ALL * 4 ** max(0, tried - len(lists)), known=known, climb=climb)

    def _learn(self, question: Question, told: Answered) -> None:
        """Keep what came of a question.

        Raises:
            KeyboardInterrupt: Ctrl-C ended the search.
        """
        if told.interrupted:
            raise KeyboardInterrupt
        parts = question.parts
        if question.kind == "price":
            if told.bound is not None:
                self.bounds.lift(parts[0][1], question.prices, told.bound)
        elif question.kind == "list":
            if told.plan is not None:
                self._hold_to_bounds(parts, told.plan)
            self.offer(told.plan)
            self._asked[parts] = max(self._asked[parts], -np.inf if told.bound is None else told.bound)
            self._tried[parts] += 1
        elif question.kind == "all":
            self._learn_of_all(question, told)
        elif len(parts) == 1:
            self._level[parts] = _level(question, told)
            self.bounds.raise_to(parts[0], -np.inf if told.bound is None else told.bound)
        else:
            self._level[parts] = _level(question, told)
            self.bounds.tied[parts] = max(told.bound or -np.inf, self.bounds.tied.get(parts, -np.inf))

    def _learn_of_all(self, question: Question, told: Answered) -> None:
        parts, value = question.parts, self._asked[question.parts]
        known = self._priced[parts]
        if told.outcome == "infeasible" and not question.climb:
            value = np.inf
        elif told.bound is not None:
            value = max(value, told.bound + self.known.entry(pairs_of(parts)))
        self._asked[parts] = value
        if told.runs:
            known.append(told.runs)
            self._plan(parts, told.runs)
        if len(known) == MOST_PRICED and value < self.limit:
            self._stuck, self._asked[parts] = min(self._stuck, value), np.inf
        if question.climb and told.outcome != "infeasible":
            self._climbed.add(parts)
        elif told.outcome not in ("optimal", "infeasible"):
            self._tried[parts] = self._tried.get(parts, 0) + 1

    def _plan(self, parts: Parts, runs: Timetable) -> None:
        """Keep the best plan of a schedule when it is the best so far."""
        groups = tuple((block, self._schedule(block, runs)) for block in self.known.parts(pairs_of(parts)))
        columns = Columns(groups, -np.inf, complete=False)
        found, before = self._best_of(self.problem, self.known.outlook, columns), self.value
        if found.status != "optimal" or found.bound is None:
            return
        self._hold_to_bounds(parts, found)
        self.offer(found)
        if self.value < before:
            self.columns = columns

    def _hold_to_bounds(self, parts: Parts, plan: Found) -> None:
        """A plan that costs less than the bounds of its runs shows that one of them is wrong.

        Raises:
            InternalError: it does.
        """
        least = self.bounds.total(parts)
        if plan.bound is not None and float(plan.bound) < least - FAULT * abs(least):
            raise InternalError("a plan costs less than the bounds of its runs allow: no answer is given")

    def _best_of(self, problem: Problem, outlook: Outlook, columns: Columns) -> Found:
        return best_of(problem, outlook, columns, self.name, self._left(), unique=self.unique)

    def offer(self, found: Found | None) -> None:
        """Keep a plan when it is the best so far; its bound is its value."""
        if found is not None and found.bound is not None and float(found.bound) < self.value:
            self.best = found
            self._tell()

    def _schedule(self, block: Sequence[tuple[int, int]], runs: Timetable) -> Schedules:
        slots = tuple(self.known.slots[key] for key in block)
        placed = [runs[slot.workload] for slot in slots]
        modes = [
            int(np.flatnonzero((slot.needed == one.nodes) & (slot.days == one.days))[0])
            for slot, one in zip(slots, placed, strict=True)
        ]
        starts = np.array([[one.start for one in placed]], dtype=np.int64)
        return Schedules(slots, starts, np.array([modes], dtype=np.int64), np.zeros(1), np.full(1, -np.inf))


def _is_large(parts: Parts) -> bool:
    """Return whether so many runs share a pool that what they cost is seldom found out at once."""
    return max(mask.bit_count() for mask, _ in parts) > LARGE


def _level(question: Question, told: Answered) -> int:
    """Return how well bounds are known: where a little room was shown to be too little, more may be asked for."""
    return RELAXED if question.climb and told.outcome == "infeasible" else told.level


def half_unit(frame: Frame) -> float:
    """Return half of the smallest amount of the scenario's currency: a plan that costs less by less costs the same."""
    return 0.5 * 10.0 ** -minor_digits(frame.scenario.currency)


def is_decomposable(problem: Problem) -> bool:
    """Return whether this search bounds plans of a problem well.

    Its sets of runs are not too many, all costs are of units, and none are earned by their use.
    """
    scenario = problem.frame.scenario
    counted = scenario.objective == "cost" and scenario.after_run.policy != "use"
    units = all(entry.per in COUNTED and len(table(entry, problem.frame)) == 1 for entry in scenario.costs)
    few = len(scenario.workloads) <= MOST_RUNS
    return problem.windows is not None and few and counted and units and applies(problem)


def decomposed(
    problem: Problem,
    name: SolverName,
    settings: Settings,
    *,
    unique: bool,
    known: Found | None = None,
    places: Mapping[str, str] | None = None,
) -> Found:
    """Return the best plan of many runs with its proof; that there is none is proven twice, with CP-SAT set up differently.

    Args:
        problem: The problem; it must be decomposable.
        name: Solver of the compact model.
        settings: Its settings.
        unique: Whether ties between equal plans are broken.
        known: A plan with its value as bound; None: a good one is looked for where runs are several.
        places: Workload -> name of the pool in which it is tried first.

    Raises:
        InternalError: a plan costs less than its bounds allow, or the two proofs disagree.
        SearchInterrupted: Ctrl-C, with the best plan so far.
    """
    started, limit = time.monotonic(), settings.time_limit_s
    first = Decomposition(problem, name, settings, unique, known)
    try:
        first.try_places(places or {})
        if known is None and len(problem.frame.scenario.workloads) >= SEVERAL_RUNS:
            some = replace(settings.since(started), time_limit_s=limit and limit * SHARE_FOR_A_PLAN)
            first.offer(good_plan(problem, name, some, first.columns))
    except KeyboardInterrupt as stop:
        late = stop.found if isinstance(stop, SearchInterrupted) else None
        if late is not None and late.choice is not None:
            first.offer(replace(late, bound=priced(late.choice, problem.frame).npv))
        raise SearchInterrupted(replace(first.answer(), interrupted=True)) from None
    found = first.run()
    if found.status != "infeasible":
        return found
    again = Decomposition(problem, name, replace(settings.since(started), variant=1), unique).run()
    if again.choice is not None:
        raise InternalError(
            "CP-SAT finds no timetable of the runs, and one when it is set up differently: no answer is given"
        )
    return again
