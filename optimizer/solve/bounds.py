"""Cheap lower bounds on the objective of a profile, so that most never enter the model."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from optimizer.cost.after import After
from optimizer.cost.charge import Charge, with_contingency
from optimizer.cost.entries import COUNTED, counted_charge, matching, shared_charge, table
from optimizer.cost.frame import DAY, Frame
from optimizer.cost.items import on_demand_charges, unit_charges
from optimizer.cost.option import Option, Piece, hired, possible_pieces
from optimizer.cost.plan_cost import present_value, run_energy, serves
from optimizer.cost.value import value_charges
from optimizer.schema.scenario import CostEntry
from optimizer.solve.problem import Pool, Problem, Profile


@dataclass(frozen=True, eq=False)
class PoolBound:
    """Least cost per node in a pool; float is enough, callers keep a margin.

    Attributes:
        pool: The pool.
        frame: Dates and rates.
        after: The cheapest after-run situation: costs grow and residuals fall with the last day.
    """

    pool: Pool
    frame: Frame
    after: After

    @cached_property
    def rates(self) -> list[tuple[Piece, float]]:
        """Present value per node of one unit of each piece (hourly pieces: without their hours)."""
        pieces = [piece for option in self.pool.options for piece in possible_pieces(option, self.frame)]
        return [(piece, self._per_node(piece)) for piece in pieces]

    def _per_node(self, piece: Piece) -> float:
        if piece.option.is_on_demand:  # recurring entries end with the run: at least one day
            piece = hired(piece, piece.lot.delivery)
        charges = unit_charges(piece, self.after, self.frame)
        counted = [self._cheapest(entry, piece) for entry in matching(self.frame, piece.option) if entry.per in COUNTED]
        return self._value(charges) / self.pool.platform.nodes_per_unit + sum(counted)

    def _cheapest(self, entry: CostEntry, piece: Piece) -> float:
        charges = [counted_charge(entry, amount, piece, self.after, self.frame) for _, amount in table(entry, self.frame)]
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
        return sum(min(self._span(entry, option) for option in options) for entry in common)

    def _span(self, entry: CostEntry, option: Option) -> float:
        if option.is_on_demand and entry.every != "once":
            return 0.0
        days = [(option, option.lots[0].delivery, option.last_day(self.frame))]
        charges = [shared_charge(entry, amount, days, self.after, self.frame) for _, amount in table(entry, self.frame)]
        return min(self._value([charge]) if charge else 0.0 for charge in charges)

    @cached_property
    def cheapest(self) -> float:
        """Least cost per node of any award in the pool that is not rented by the hour."""
        return min((rate for piece, rate in self.rates if not piece.option.is_on_demand), default=float("inf"))

    def of(self, profile: Profile, value_per_accelerator: float) -> float:
        """Return a lower bound on the present value of any plan with this profile."""
        run = profile.run
        needed = max(0, profile.nodes_needed - self.pool.owned_nodes)
        rate = min((self._serving(piece, rate, profile) for piece, rate in self.rates), default=0.0)
        fixed = self._value(list(run_energy(run, self.frame))) + (self.shared if needed else 0.0)
        cap = self.frame.scenario.after_run.max_accelerators or 0
        per_node = self.pool.platform.accelerators_per_node

        def total(extra: float) -> float:
            nodes = needed + extra + self.pool.owned_nodes
            return extra * self.cheapest - value_per_accelerator * min(cap, nodes * per_node)

        more = max(0.0, cap / per_node - needed - self.pool.owned_nodes)
        surplus = min(total(0.0), total(more)) if more and self.cheapest < float("inf") else total(0.0)
        return fixed + (needed * rate if needed else 0.0) + surplus

    def _serving(self, piece: Piece, rate: float, profile: Profile) -> float:
        run = profile.run
        if piece.option.is_on_demand:
            return rate + self._hours(piece, run.start, run.end) if piece.lot.ready == run.start else float("inf")
        return rate if serves(piece, run.start, run.end) else float("inf")

    def _hours(self, piece: Piece, start: dt.date, end: dt.date) -> float:
        return self._value(on_demand_charges(piece, end, self.frame)) / self.pool.platform.nodes_per_unit


def bounder(problem: Problem) -> Callable[[Profile], float]:
    """Return a function that bounds the first objective of any plan with a profile from below."""
    frame = problem.frame
    if frame.scenario.objective == "time":
        return lambda profile: float((profile.run.end - frame.today).days)
    if frame.scenario.objective == "capacity":
        return lambda profile: float("-inf")
    return _cost_bounder(problem)


def _cost_bounder(problem: Problem) -> Callable[[Profile], float]:
    frame = problem.frame
    policy = frame.scenario.after_run.policy
    first_end = min((profile.run.end for profile in problem.profiles), default=frame.last_day)
    bounds = {pool.name: PoolBound(pool, frame, After(policy, first_end)) for pool in problem.pools}

    @lru_cache(maxsize=None)
    def value(end: dt.date) -> float:
        if policy != "use":
            return 0.0
        charges = value_charges(1, end + DAY, frame.last_day, end, frame)
        return -float(sum(present_value(charge, frame) for charge in charges))

    return lambda profile: bounds[profile.pool.name].of(profile, value(profile.run.end))
