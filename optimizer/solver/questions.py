"""What is asked of sets of runs in pools: a bound by the node-day relaxation, or a timetable with its cost.

Answers depend on the question alone, so that several are looked for at a time, each with one worker: CP-SAT and HiGHS
gain little from two, and leave Python's lock while they work.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from decimal import Decimal
from threading import get_ident
from typing import Literal

import numpy as np

from optimizer.solver.backend import Outcome, Settings
from optimizer.solver.bounds import MARGIN
from optimizer.solver.columns import Blocks, Columns, field_of, reduced
from optimizer.solver.cpsat import stop_in
from optimizer.solver.found import Found
from optimizer.solver.highs import lower_bound
from optimizer.solver.outlook import Outlook
from optimizer.solver.parts import Parts, pairs_of
from optimizer.solver.pricing import Market
from optimizer.solver.problem import Problem
from optimizer.solver.relaxation import RelaxedModel, excerpt, lowered, proven
from optimizer.solver.timetable import Timetable, timetable

SECONDS_TO_RELAX = 5.0
"""Longest search for a bound by the relaxation."""

ROUGH = 0.005
"""Relative gap at which a relaxation may stop: it is bounded better soon."""

SECONDS_TO_LIST = 20.0
"""Longest listing of the schedules of an assignment."""

MOST_COLUMNS = 1500
"""Most of them that one model takes."""

BestOf = Callable[[Problem, Outlook, Columns], Found]

RELAXED, TIMED = 1, 2
"""How well a bound is known: by the node-day relaxation; by a timetable."""

AHEAD = 6
"""Questions asked ahead, for each worker."""

STOPPING_S = 0.05
"""Seconds between two calls to stop what is being looked for."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Attributes:
        kind: ``plan``: a better plan, whatever its pools; ``possible``: whether the relaxation leaves any plan; ``relax``: a
            bound of one set of runs by the relaxation of its pool; ``time``: a bound of sets by their timetable, whatever
            else runs there; ``price``: whether any set of some runs costs less in its pool than their prices;
            ``all``: a timetable of all runs, with the limits they share; ``list``: the best plan
            of all their schedules within the room.
        parts: The sets with their pools.
        room: What they may cost at most.
        work: Longest search for a timetable, in seconds as CP-SAT counts its work.
        seconds: The same by the clock.
        known: Timetables of all runs that are left out; with any, energy is priced by the day.
        any_will_do: Whether any timetable within the room will do.
        prices: Price of each run, in the order of the workloads; empty except for ``price``.
        must: Runs, as bits, that each set has that is asked about for ``price``; the part has those that may be in it.
        left_out: Sets that are not asked about.
    """

    kind: Literal["plan", "possible", "price", "relax", "time", "all", "list"]
    parts: Parts
    room: float = np.inf
    work: float = np.inf
    seconds: float = np.inf
    known: Sequence[Timetable] = ()
    any_will_do: bool = False
    prices: Sequence[float] = ()
    must: int = 0
    left_out: Sequence[int] = ()

    @property
    def subject(self) -> tuple[str, Parts, int]:
        """What is asked about: only one question about it is of use at a time."""
        return self.kind, self.parts, self.must


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of it.

    Attributes:
        level: How well the bound is known.
        outcome: What the last solver said.
        bound: Lower bound, at most the room of the question; None when none was found.
        runs: The timetable; empty without one.
        plan: The best plan of a list, or that was found, with its value as bound.
        members: The runs, as bits, that cost less than their prices; none for other questions.
        cost: What they cost.
        interrupted: Whether Ctrl-C ended the search.
    """

    level: int
    outcome: Outcome
    bound: float | None
    runs: Timetable = field(default_factory=dict)
    plan: Found | None = None
    members: int = 0
    cost: float = np.inf
    interrupted: bool = False


@dataclass(frozen=True)
class Asker:
    """Answers questions about a problem.

    Attributes:
        whole: Its relaxation.
        names: Workloads by position.
        places: Names of pools by position.
        settings: Returns solver settings for a search of so many seconds at most, within what time is left.
        best_of: Returns the best plan of some columns of a problem.
        plans: Gives better and better plans.
    """

    whole: RelaxedModel
    names: Sequence[str]
    places: Sequence[str]
    settings: Callable[[float], Settings]
    best_of: BestOf
    plans: Iterator[Found]
    _markets: dict[str, Market] = field(default_factory=dict)

    def answer(self, question: Question, workers: int) -> Answered:
        """Return what comes of a question; that a relaxation is infeasible is floating point, so a timetable is asked for."""
        if question.kind == "plan":
            return self._better(question)
        if question.kind == "possible":
            return self._possible(question, workers)
        if question.kind == "price":
            return self._priced(question, workers)
        if question.kind == "list":
            return self._listed(question)
        if question.kind == "relax":
            found = self._relaxed(question, workers)
            if found.outcome != "infeasible":
                return found
        return self._timed(question, workers)

    def _better(self, question: Question) -> Answered:
        """Return the best plan that is found in the seconds of a question; none when no more are looked for."""
        ends, best = time.monotonic() + question.seconds, None
        while (plan := next(self.plans, None)) is not None:
            best = plan
            if time.monotonic() >= ends:
                break
        return Answered(TIMED, "unknown", None, plan=best)

    def _possible(self, question: Question, workers: int) -> Answered:
        found = proven(self.whole, self._limits(question, workers), bounded=False)
        return Answered(RELAXED, "infeasible" if found.outcome == "infeasible" else "unknown", None)

    def _relaxed(self, question: Question, workers: int) -> Answered:
        relaxation, pool = excerpt(self.whole, self._named(question.parts)), self.places[question.parts[0][1]]
        ground = next(ground for ground in relaxation.grounds if ground.pool.name == pool)
        paid = {index: relaxation.objective[index] for index in ground.variables if index in relaxation.objective}
        settings = replace(self.settings(SECONDS_TO_RELAX), workers=workers, gap=ROUGH)
        outcome, bound, _ = lower_bound(relaxation.builder.model, paid, settings)
        return Answered(RELAXED, outcome, None if bound is None else float(lowered(bound, relaxation.digits)))

    def _priced(self, question: Question, workers: int) -> Answered:
        (may, pool), names = question.parts[0], self.names
        found = self._market(self.places[pool]).cheaper(
            {name: Decimal(price) for name, price in zip(names, question.prices, strict=True)},
            replace(self._limits(question, workers), light=True),
            must=self._in(question.must),
            never=self._in(~may),
            left_out=[self._in(own) for own in question.left_out],
        )
        members = sum(1 << run for run, name in enumerate(names) if name in found.runs)
        return Answered(RELAXED, found.outcome, None, members=members, cost=found.cost, interrupted=found.interrupted)

    def _market(self, pool: str) -> Market:
        if pool not in self._markets:
            self._markets[pool] = Market.of(self.whole, pool)
        return self._markets[pool]

    def _in(self, members: int) -> list[str]:
        """Return the workloads of a set."""
        return [name for run, name in enumerate(self.names) if members >> run & 1]

    def _limits(self, question: Question, workers: int) -> Settings:
        return replace(self.settings(question.seconds), workers=workers, work=question.work)

    def _timed(self, question: Question, workers: int) -> Answered:
        room, known = question.room, question.known
        found = timetable(
            self.whole,
            self._named(question.parts),
            replace(self._limits(question, workers), light=question.kind != "all"),
            None if np.isinf(room) else Decimal(room),
            free=question.kind != "all",
            exact=bool(known),
            any_will_do=question.any_will_do,
            known=known,
        )
        bound = None if found.bound is None else float(found.bound)
        if found.outcome == "infeasible":
            bound = room
        return Answered(TIMED, found.outcome, bound, found.runs, interrupted=found.interrupted)

    def _listed(self, question: Question) -> Answered:
        """Return the best plan of an assignment within some room, which is there or proven not to be, if time allows."""
        places, problem = self._named(question.parts), self.whole.builder.problem
        some = problem.keep(one for one in problem.profiles if places[one.workload] == one.pool.name)
        limit = self.settings(SECONDS_TO_LIST).time_limit_s or SECONDS_TO_LIST
        blocks = Blocks(field_of(some), time.monotonic() + limit)
        columns = reduced(blocks, question.room + MARGIN * max(1.0, abs(question.room)))
        if not columns.complete:
            return Answered(TIMED, "unknown", None)
        if len(columns) > MOST_COLUMNS:
            return Answered(TIMED, "unknown", min(columns.bound, question.room))
        found = self.best_of(some, blocks.field.outlook, columns) if len(columns) else None
        if found is None or found.status == "infeasible":
            return Answered(TIMED, "infeasible", question.room)
        if found.status != "optimal" or found.bound is None:
            return Answered(TIMED, "unknown", min(columns.bound, question.room))
        return Answered(TIMED, "feasible", min(float(found.bound), question.room), plan=found)

    def _named(self, parts: Parts) -> Mapping[str, str]:
        return {self.names[run]: self.places[pool] for run, pool in pairs_of(parts)}


@dataclass
class Queue:
    """Questions that are looked for at the same time, and answered in the order in which they were asked.

    So the same questions are asked whatever takes how long; but for one that is asked beside, which is answered when it is done.

    Attributes:
        answer: Returns what comes of a question, with so many workers of a solver.
        workers: How many are looked for at a time.
    """

    answer: Callable[[Question, int], Answered]
    workers: int
    _asked: deque[tuple[Question, Future[Answered]]] = field(default_factory=deque)
    _beside: tuple[Question, Future[Answered]] | None = None

    def __post_init__(self) -> None:
        """Start the threads."""
        self._here: set[int] = set()
        self._threads = ThreadPoolExecutor(self.workers, initializer=lambda: self._here.add(get_ident()))

    @property
    def depth(self) -> int:
        """How many questions are asked ahead: enough for the others to go on while one takes long."""
        return AHEAD * self.workers if self.workers > 1 else 1

    @property
    def room(self) -> int:
        """How many more may be asked."""
        return self.depth - len(self._asked)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked that is answered in turn."""
        return not self._asked

    @property
    def is_short(self) -> bool:
        """Whether more should be asked."""
        return len(self._asked) <= self.depth // 2

    def ask(self, questions: Iterable[Question]) -> None:
        """Ask questions until there are enough; those that are asked already are left out."""
        asked = {one.subject for one, _ in self._asked}
        for question in questions:
            if len(self._asked) < self.depth and question.subject not in asked:
                asked.add(question.subject)
                self._asked.append((question, self._threads.submit(self.answer, question, 1)))

    def beside(self, question: Question) -> None:
        """Ask a question that is answered whenever that is done, unless one such is looked for already."""
        if self._beside is None:
            self._beside = question, self._threads.submit(self.answer, question, 1)

    def next(self) -> tuple[Question, Answered]:
        """Return what was asked first, with its answer; before it what was asked beside, once that is done."""
        first = [self._asked[0]] if self._asked else []
        if self._beside is not None:
            wait([future for _, future in (*first, self._beside)], return_when=FIRST_COMPLETED)
            if not first or self._beside[1].done():
                (question, answered), self._beside = self._beside, None
                return question, answered.result()
        question, answered = first[0]
        told = answered.result()
        self._asked.popleft()
        return question, told

    def stop(self) -> None:
        """Return when nothing is looked for any more; a solver that starts only now is stopped too."""
        asked = [*self._asked, *([self._beside] if self._beside else [])]
        running = [future for _, future in asked if not future.cancel()]
        while wait(running, STOPPING_S).not_done:
            stop_in(self._here)
        self._threads.shutdown()
