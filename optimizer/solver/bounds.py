"""Cheap lower bounds on the objective of a profile, so that most never enter the model."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from optimizer.cost.after import After
from optimizer.cost.charge import Charge, with_contingency
from optimizer.cost.choice import Run
from optimizer.cost.entries import COUNTED, counted_charge, matching, shared_charge, table
from optimizer.cost.frame import DAY, Frame
from optimizer.cost.items import hire_charges, system_charges, unit_charges
from optimizer.cost.option import Option, Piece, hired, most_nodes, possible_pieces, shortest_hire
from optimizer.cost.plan_cost import present_value, run_energy, serves
from optimizer.cost.value import value_charges
from optimizer.schema.scenario import AfterRun, CostEntry
from optimizer.solver.problem import Pool, Problem, Profile

MARGIN = 1e-6
"""Relative margin on floating-point bounds before a profile is dropped."""

INFINITE = float("inf")
"""Cost per node of a piece that does not serve a run."""


@dataclass(frozen=True, eq=False)
class PoolBound:
    """Least cost per node in a pool in one after-run situation; float is enough, callers keep a margin.

    Attributes:
        pool: The pool.
        frame: Dates and rates.
        after: The situation; its last day counts only where costs depend on it.
        values: What a node earns between two days after a last run, as far as asked for.
        places: What a place under the cap costs at least from a day on after a last run, as far as asked for.
    """

    pool: Pool
    frame: Frame
    after: After
    values: dict[tuple[dt.date, dt.date, dt.date], float] = field(default_factory=dict)
    places: dict[tuple[dt.date, dt.date], float] = field(default_factory=dict)

    @cached_property
    def rates(self) -> list[tuple[Piece, float]]:
        """Present value per node of one unit of each piece (hourly pieces: without their hours)."""
        pieces = [piece for option in self.pool.options for piece in possible_pieces(option, self.frame)]
        return [(piece, self.per_node(piece)) for piece in pieces]

    def per_node(self, piece: Piece) -> float:
        """Return the present value per node of one unit of a piece (hourly: without its hours)."""
        piece = shortest_hire(piece)  # recurring entries end with the hire: at least its shortest
        charges = unit_charges(piece, self.after, self.frame)
        counted = [self._cheapest(entry, piece) for entry in matching(self.frame, piece.option) if entry.per in COUNTED]
        return self._value(charges) / self.pool.platform.nodes_per_unit + sum(counted)

    def _cheapest(self, entry: CostEntry, piece: Piece) -> float:
        charges = [
            counted_charge(entry, amount, piece, self.after, self.frame) for _, amount in table(entry, self.frame)
        ]
        values = [self._value([charge]) if charge else 0.0 for charge in charges]
        return min(values) / self.pool.platform.nodes_per_unit

    def _value(self, charges: Sequence[Charge]) -> float:
        return float(sum(present_value(charge, self.frame) for charge in with_contingency(charges, self.frame)))

    @cached_property
    def shared(self) -> float:
        """Least present value of the cluster and platform entries that every award of the pool matches."""
        entries = [entry for entry in self.frame.scenario.costs if entry.per in ("cluster", "platform")]
        options = self.pool.options
        common = [e for e in entries if options and all(e in list(matching(self.frame, o)) for o in options)]
        return sum(min(self.span(entry, option) for option in options) for entry in common)

    def span(self, entry: CostEntry, option: Option) -> float:
        """Return the least present value of a shared entry from the first delivery of an option to its last day."""
        if option.is_hired and entry.every != "once":
            return 0.0
        days = [(option, option.lots[0].delivery, option.last_day(self.frame))]
        charges = [shared_charge(entry, amount, days, self.after, self.frame) for _, amount in table(entry, self.frame)]
        return min(self._value([charge]) if charge else 0.0 for charge in charges)

    def of(self, profile: Profile) -> float:
        """Return a lower bound on the present value of any plan with this profile.

        Every node it needs costs at least the cheapest piece that serves the run. After the run each of the places
        under ``max_accelerators`` is filled by one node after another, each until it ends: by a needed node and what
        follows it, or by further nodes alone.
        """
        run = profile.run
        needed = max(0, profile.nodes_needed - self.pool.owned_nodes)
        priced = [(piece, self._serving(piece, known, profile)) for piece, known in self.rates]
        serving = [(piece, rate) for piece, rate in priced if rate < INFINITE]
        fixed = self._energy(run) + (self.shared if needed else 0.0)
        cap = self._cap / self.pool.platform.accelerators_per_node
        valued = min(needed, cap)
        cost = valued * min((self._kept(piece, rate, run.end) for piece, rate in serving), default=0.0)
        cost += (needed - valued) * min((rate for _, rate in serving), default=0.0)
        further = (cap - valued) * self._filled(run.end + DAY, run.end) if cap else 0.0
        return fixed + cost + further - min(cap, self._owned) * self._worth(run.end + DAY, self.frame.last_day, run.end)

    def _energy(self, run: Run) -> float:
        """Return what a run draws beyond idle power; no price of an offer changes it."""
        return self._value(list(run_energy(run, self.frame)))

    @cached_property
    def _owned(self) -> float:
        """All accelerators we have, of whatever platform, in nodes of this one: they earn under the same cap."""
        platforms, owned = self.frame.platforms, self.frame.scenario.owned
        accelerators = sum(own.nodes * platforms[own.platform].accelerators_per_node for own in owned)
        return accelerators / self.pool.platform.accelerators_per_node

    @property
    def _cap(self) -> int:
        terms = self.frame.scenario.after_run
        return (terms.max_accelerators or 0) if terms.policy == "use" else 0

    @cached_property
    def lasting(self) -> dict[tuple[dt.date, dt.date], float]:
        """Least rate of a node that is there from a ready day to a last day, whatever the run."""
        found: dict[tuple[dt.date, dt.date], float] = {}
        for piece, rate in self.rates:
            if not piece.option.is_hired:
                span = (piece.lot.ready, piece.option.last_day(self.frame))
                found[span] = min(rate, found.get(span, INFINITE))
        return found

    def _kept(self, piece: Piece, rate: float, last_run: dt.date) -> float:
        """Return the cost of a node that serves the run and goes on in a place under the cap, less its receipts there."""
        if not self._cap:
            return rate
        last = last_run if piece.option.is_hired else piece.option.last_day(self.frame)
        return rate - self._worth(last_run + DAY, last, last_run) + self._filled(last + DAY, last_run)

    def _filled(self, day: dt.date, last_run: dt.date) -> float:
        """Return the least cost, less receipts, of the nodes that fill one place under the cap from a day on; 0 for none."""
        key = (day, last_run)
        if key not in self.places:
            chains = (
                rate - self._worth(max(day, ready), last, last_run) + self._filled(last + DAY, last_run)
                for (ready, last), rate in self.lasting.items()
                if day <= last
            )
            self.places[key] = min(0.0, min(chains, default=0.0))
        return self.places[key]

    def _worth(self, first: dt.date, last: dt.date, last_run: dt.date) -> float:
        """Return what a node earns between two days after a last run."""
        if not self._cap or last < first:
            return 0.0
        key = (first, last, last_run)
        if key not in self.values:
            receipts = list(value_charges(1, first, last, last_run, self.frame))
            self.values[key] = -self._value(receipts) * self.pool.platform.accelerators_per_node
        return self.values[key]

    def _serving(self, piece: Piece, rate: float, profile: Profile) -> float:
        run = profile.run
        if piece.option.is_hired:
            return rate + self._hire(piece, run.end) if piece.lot.ready == run.start else INFINITE
        return rate if serves(piece, run.start, run.end) else INFINITE

    def _hire(self, piece: Piece, run_end: dt.date) -> float:
        end = piece.option.hire_end(run_end)
        if piece.option.is_dedicated:
            return self._value(system_charges(piece.option, self.frame)) / most_nodes(piece.option)
        return self._value(hire_charges(hired(piece, end))) / self.pool.platform.nodes_per_unit if end else INFINITE


def bounder(problem: Problem) -> Callable[[Profile], float]:
    """Return a function that bounds the first objective of any plan with a profile from below."""
    frame = problem.frame
    if frame.scenario.objective == "time":
        return lambda profile: float((profile.run.end - frame.today).days)
    if frame.scenario.objective == "capacity" or frame.scenario.fix:  # signed units elsewhere may earn money
        return lambda profile: float("-inf")
    if problem.several and frame.scenario.after_run.policy == "use":
        return _used_later_bounder(problem)
    return cost_bounder(problem)


def _used_later_bounder(problem: Problem) -> Callable[[Profile], float]:
    """Return bounds of runs among several, whose fleet is used after the last of them.

    The cost of an idle fleet, less the most that use could bring from the end of this run on: the cap, never declining.
    """
    frame, terms = problem.frame, problem.frame.scenario.after_run
    idle = _changed(frame, terms.model_copy(update={"policy": "idle"}))
    full = _changed(frame, terms.model_copy(update={"decline_per_year": 0}))
    cost = cost_bounder(replace(problem, frame=idle))
    known: dict[dt.date, float] = {}

    def bound(profile: Profile) -> float:
        end = profile.run.end
        if end not in known:
            receipts = value_charges(terms.max_accelerators or 0, end + DAY, frame.last_day, end, full)
            known[end] = float(sum(present_value(charge, frame) for charge in receipts))
        return cost(profile) + known[end]

    return bound


def _changed(frame: Frame, after_run: AfterRun) -> Frame:
    return replace(frame, scenario=frame.scenario.model_copy(update={"after_run": after_run}))


def cost_bounder(problem: Problem) -> Callable[[Profile], float]:
    """Return a function that bounds the present value of any plan with a profile from below, whatever the objective."""
    frame = problem.frame
    policy = frame.scenario.after_run.policy
    known: dict[tuple[str, After], PoolBound] = {}

    def bound(profile: Profile) -> float:
        after = After(policy, profile.run.end)
        key = (profile.pool.name, after if after.matters else After(policy, frame.last_day))
        if key not in known:
            known[key] = PoolBound(profile.pool, frame, key[1])
        return known[key].of(profile)

    return bound
