"""Many runs: which pools they take is searched best first, what they cost there is asked of solvers (``questions``).

Sets of runs in a pool have lower bounds, and an assignment of all runs costs at least the sum of its sets. The assignments
with the least sums are looked at: their sets are bounded better, first by the node-day relaxation of their pool, where they
are not small, and then by their timetable; then those that follow each other together; then all of it, with the limits they
share, which gives a plan or a bound. When no assignment may cost less than the best plan, that is proven.

What large sets cost is not asked for at once, but whether they fit a little more room than their bound; of a whole
assignment, whether it fits half the way to the best plan. From six runs on ``cells`` bounds all sets before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import combinations

import numpy as np

from optimizer.cost.frame import Frame
from optimizer.errors import InternalError
from optimizer.solver.backend import MOMENT, Settings
from optimizer.solver.cells import Round
from optimizer.solver.columns import Columns, field_of
from optimizer.solver.found import Found, SearchInterrupted, SolverName
from optimizer.solver.improve import Known
from optimizer.solver.outlook import Outlook
from optimizer.solver.parts import Cell, Cheap, Part, PartBounds, Parts, cheapest, pairs_of, runs_of
from optimizer.solver.problem import Problem
from optimizer.solver.questions import RELAXED, TIMED, Answered, Asker, Question, Queue
from optimizer.solver.relaxation import REFUTED, relaxed_model
from optimizer.solver.relaxed_terms import is_hired_alone
from optimizer.solver.schedules import Schedules
from optimizer.solver.search import best_of, good_plans
from optimizer.solver.timetable import Timetable
from optimizer.units import minor_digits

WORK_FOR_A_PART = 4.0
"""Longest search for what a set of runs costs, in seconds as CP-SAT counts its work; its bound by then counts."""

STEP = 0.02
"""Share of the best plan by which one question raises the bound of a large set at most: little room leaves few ways, and
that nothing fits it shows sooner than what the least is (5 of 8 runs at a site: 0.1 s, where the least is not known in 10)."""

STEPS = 2
"""Steps that may fail, each half of the one before, until the least cost of a large set is asked for."""

LARGE = 3
"""Most runs in a pool whose least cost is asked for at once."""

MANY_RUNS = 6
"""Runs from which on bounds are raised by prices first: of fewer, the sets that matter are soon asked for one by one."""

SHARE_OF_RELAXATION = 0.2
"""Most of the time limit for whether the relaxation of many runs leaves any plan."""

WORTH_A_ROUND = 0.005
"""Share by which a round of prices must raise the bound of all plans for another to follow."""

WORTH_A_STEP = 0.002
"""Share of the best plan below which the least cost of an assignment is asked for, not half the way to it."""

WORK_FOR_THE_FIRST = 0.8
"""The same for the assignment that is tried first, for each run."""

WORK_FOR_ALL = 2.0
"""The same for an assignment of all runs; more each time it is asked again."""

SHARE_FOR_A_PLAN = 0.15
"""Most of the time limit for the assignment that is tried first, and for other first plans."""

SHARE_BESIDE = 0.6
"""Part of the time limit in which plans of many runs are looked for beside bounds."""

SECONDS_FOR_PLANS = 2.0
"""Seconds for which better plans are looked for before the best of them is told."""

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

SMALL, SMALL_IF_RENTED = 1, 2
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
        is_refuted: Whether the relaxation proved, twice, that there is no plan.
    """

    problem: Problem
    name: SolverName
    settings: Settings
    unique: bool
    best: Found | None = None
    bound: float = -np.inf
    columns: Columns | None = None
    is_refuted: bool = False
    _level: dict[Parts, int] = field(default_factory=dict)
    _tried: dict[Parts, int] = field(default_factory=dict)
    _asked: dict[Parts, float] = field(default_factory=dict)
    _priced: dict[Parts, list[Timetable]] = field(default_factory=dict)
    _failed: dict[Parts, int] = field(default_factory=dict)
    """Parts -> how often a step of their bound could not be made."""
    _looks: bool = True
    """Whether better plans are looked for besides."""
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
        self.plans = self._good_plans()
        self.asker = Asker(self.whole, self.known.names, self.places, self._left, self._best_of, self.plans)
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
    def is_many(self) -> bool:
        """Whether bounds are raised by prices and steps, and plans are looked for beside them."""
        return len(self.known.names) >= MANY_RUNS

    def try_places(self, places: Mapping[str, str]) -> None:
        """Ask for a plan of an assignment that promises to be good: workload -> name of its pool."""
        parts = self.parts_of(places)
        if parts:
            seconds, work = self.settings.time_limit_s or np.inf, WORK_FOR_THE_FIRST * len(self.known.names)
            self._asked[parts], self._priced[parts] = -np.inf, []
            first = Question("all", parts, work=work, seconds=seconds * SHARE_FOR_A_PLAN)
            self._learn(first, self.asker.answer(first, self.settings.workers))

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
            if self.is_many:
                seconds = (self.settings.time_limit_s or np.inf) * SHARE_OF_RELAXATION
                queue.ask([Question("possible", (), seconds=seconds)])
                self._price(queue)
            while not self._is_over() and self._is_open(queue):
                self._learn(*queue.next())
        except KeyboardInterrupt:
            raise SearchInterrupted(replace(self.answer(), interrupted=True)) from None
        finally:
            self._looks = False
            queue.stop()
        return self.answer()

    def _look(self, queue: Queue) -> None:
        """Ask for better plans beside everything else, where runs are many."""
        if self.is_many and self._looks:
            queue.beside(Question("plan", (), seconds=SECONDS_FOR_PLANS))

    def _price(self, queue: Queue) -> None:
        """Raise the bounds of all sets of runs round by round, while that raises the bound of all plans."""
        pools = {
            number: sum(1 << run for run, place in self.known.known if place == number)
            for number, pool in enumerate(self.known.outlook.pools)
            if not is_hired_alone(pool)
        }
        pools = {pool: runs for pool, runs in pools.items() if runs}
        bound, gained, prices, is_proven = self._bound_now(), np.inf, Round(self.bounds, pools), True
        while bound < self.limit and gained > WORTH_A_ROUND * abs(bound) and is_proven and not self._is_over():
            self._ask_all(queue, prices)
            before, bound = bound, self._bound_now()
            gained, prices, is_proven = bound - before, prices.next(), prices.is_proven

    def _ask_all(self, queue: Queue, prices: Round) -> None:
        """Ask all questions of a round of prices, and for better plans beside."""
        while not (self._is_over() or prices.is_over):
            queue.ask(prices.questions(queue.room))
            if queue.is_empty:
                return
            self._look(queue)
            self._learn(*queue.next(), prices)

    def _bound_now(self) -> float:
        """Return what all runs cost at least by the bounds of sets, and tell it."""
        found = cheapest(self.bounds, self._asked, self.limit)
        self._bound_is(found)
        return found[0].value if found else self.limit

    def _is_open(self, queue: Queue) -> bool:
        """Ask how to bound the assignments better that cost least; return whether there are any."""
        if not queue.is_short:
            return True
        found = cheapest(self.bounds, self._asked, self.limit, queue.depth)
        self._bound_is(found)
        queue.ask(map(self._question, found))
        self._look(queue)
        return bool(found)

    def _good_plans(self) -> Iterator[Found]:
        """Yield better and better plans: with many runs for longer, since bounds are looked for at the same time."""
        limit, workers = self.settings.time_limit_s, self.settings.workers
        share, workers, patience = (SHARE_BESIDE, 1, 4) if self.is_many else (SHARE_FOR_A_PLAN, workers, 2)
        some = replace(self._left(), workers=workers, time_limit_s=limit and limit * share)
        for plan in good_plans(self.problem, self.name, some, self.columns, patience, self._elsewhere):
            yield plan
            if not self._looks:
                return

    def _elsewhere(self) -> Known | None:
        """Return the best plan for those who look for better ones."""
        found = self.best
        return None if found is None or found.choice is None else Known(found.bound or Decimal(0), found.choice)

    def _bound_is(self, found: Sequence[Cheap]) -> None:
        """Keep and tell what every plan costs at least when these assignments cost least."""
        least = min(found[0].value if found else self.limit, self._stuck)
        self.bound = max(self.bound, least)
        self._tell()

    def _tell(self) -> None:
        if self.settings.progress:
            bound = Decimal(self.bound) if np.isfinite(self.bound) else None
            self.settings.progress(None if self.best is None else self.best.bound, bound)

    def _is_over(self) -> bool:
        return self.is_refuted or (self.ends is not None and time.monotonic() > self.ends)

    def _left(self, seconds: float = np.inf) -> Settings:
        left = seconds if self.ends is None else min(seconds, self.ends - time.monotonic())
        return replace(self.settings, time_limit_s=None if np.isinf(left) else max(MOMENT, left), progress=None)

    def answer(self) -> Found:
        """Return what is known."""
        if self.best is None:
            none = np.isinf(self.bound) and self.bound > 0
            if none:
                why = REFUTED if self.is_refuted else "no assignment of the runs to pools has a timetable"
                return Found("infeasible", None, None, "cp-sat", why)
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
        by_size = sorted(one.parts, key=lambda part: -part[0].bit_count())
        for part in by_size:
            if not self._level.get((part,)) and not (self.is_many and self._is_large((part,))):
                return self._first_of(part)
        if self.best is None:  # nothing tells yet what may cost too much
            return self._of_all(one)
        unknown: list[Parts] = [(part,) for part in by_size if len(one.parts) > 1]
        unknown += [group for group in self.bounds.groups(one.parts) if 1 < len(group) < len(one.parts)]
        group = next((group for group in unknown if self._level.get(group, RELAXED) < TIMED), None)
        if group is None:
            return self._of_all(one)
        before = max(sum(float(self.bounds.least[part]) for part in group), self.bounds.tied.get(group, -np.inf))
        most, step = self.limit - self.bounds.total(one.parts) + before, self._step_of(group)
        if most - before < half_unit(self.problem.frame):  # but for rounding there is no room
            return self._of_all(one)
        return Question("time", group, min(most, before + step), WORK_FOR_A_PART, any_will_do=np.isfinite(step))

    def _step_of(self, parts: Parts) -> float:
        """Return by how much one question raises what parts cost at most: half as much where more was too much."""
        failed = self._failed.get(parts, 0)
        return STEP * abs(self.limit) / 2**failed if self._is_large(parts) and failed < STEPS else np.inf

    def _is_large(self, parts: Parts) -> bool:
        """Return whether so many runs share a pool that what they cost is seldom found out at once."""
        return max(mask.bit_count() for mask, _ in parts) > LARGE

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
        """Return the question for a timetable of an assignment: a plan, or a bound.

        Where sets are large any timetable will do that costs less than half way to the best plan: either there is a better
        plan, or a better bound. Where that could not be told, less is asked for, and longer.
        """
        parts, failed = one.parts, self._failed.get(one.parts, 0)
        self._asked[parts] = max(one.value, self._asked.get(parts, -np.inf))
        known, entry = tuple(self._priced.setdefault(parts, [])), self.known.entry(pairs_of(parts))
        step = (self.limit - one.value) / 2 ** (1 + failed)
        if self.best is not None and self._is_large(parts) and failed < STEPS and step > WORTH_A_STEP * abs(self.limit):
            work = WORK_FOR_ALL * 2**failed
            return Question("all", parts, one.value + step - entry, work, known=known, any_will_do=True)
        tried = self._tried.get(parts, 0)
        lists = LISTED_TO if self.best and all(mask.bit_count() <= MOST_LISTED for mask, _ in parts) else ()
        if 0 < tried <= len(lists):
            return Question("list", parts, one.value + lists[tried - 1] * (self.limit - one.value))
        work = WORK_FOR_ALL * 4 ** max(0, tried - len(lists))
        return Question("all", parts, self.limit - entry, work, known=known)

    def _learn(self, question: Question, told: Answered, prices: Round | None = None) -> None:
        """Keep what came of a question.

        Raises:
            InternalError: the relaxation leaves no plan, and there is one.
            KeyboardInterrupt: Ctrl-C ended the search.
        """
        if told.interrupted:
            raise KeyboardInterrupt
        parts = question.parts
        if question.kind == "plan":
            self._looks = told.plan is not None
            self.offer(told.plan)
        elif question.kind == "possible":
            self.is_refuted = told.outcome == "infeasible"
            if self.is_refuted and self.best is not None:
                raise InternalError("a plan was found where the relaxation leaves none: no answer is given")
            self.bound = np.inf if self.is_refuted else self.bound
        elif question.kind == "price":
            if told.outcome == "infeasible":
                (may, pool), must = parts[0], question.must
                self.bounds.lift(pool, question.prices, Cell(must, may), question.left_out)
            if prices is not None:
                prices.learn(question, told)
        elif question.kind == "list":
            if told.plan is not None:
                self._hold_to_bounds(parts, told.plan)
            self.offer(told.plan)
            self._asked[parts] = max(self._asked[parts], -np.inf if told.bound is None else told.bound)
            self._tried[parts] += 1
        elif question.kind == "all":
            self._learn_of_all(question, told)
        else:
            self._learn_of_part(question, told)

    def _learn_of_part(self, question: Question, told: Answered) -> None:
        parts, bound = question.parts, -np.inf if told.bound is None else told.bound
        self._level[parts] = RELAXED if question.any_will_do else told.level
        if question.any_will_do and told.outcome != "infeasible":
            self._failed[parts] = self._failed.get(parts, 0) + 1
        if len(parts) == 1:
            self.bounds.raise_to(parts[0], bound)
        else:
            self.bounds.tied[parts] = max(bound, self.bounds.tied.get(parts, -np.inf))

    def _learn_of_all(self, question: Question, told: Answered) -> None:
        parts, value = question.parts, self._asked[question.parts]
        known, entry = self._priced[parts], self.known.entry(pairs_of(question.parts))
        if told.outcome == "infeasible" and question.room + entry >= self.limit - half_unit(self.problem.frame):
            value = np.inf
        elif told.bound is not None:
            value = max(value, told.bound + entry)
        self._asked[parts] = value
        if told.runs:
            known.append(told.runs)
            self._plan(parts, told.runs)
        if len(known) == MOST_PRICED and value < self.limit:
            self._stuck, self._asked[parts] = min(self._stuck, value), np.inf
        if question.any_will_do:
            self._failed[parts] = self._failed.get(parts, 0) + (told.outcome == "unknown")
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


def half_unit(frame: Frame) -> float:
    """Return half of the smallest amount of the scenario's currency: a plan that costs less by less costs the same."""
    return 0.5 * 10.0 ** -minor_digits(frame.scenario.currency)
