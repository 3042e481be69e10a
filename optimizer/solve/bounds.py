"""Cheap lower bounds on the objective of a profile, so that most never enter the model."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

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
    """

    pool: Pool
    frame: Frame
    after: After
    values: dict[tuple[dt.date, dt.date, dt.date], float] = field(default_factory=dict)

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
        return sum(min(self._span(entry, option) for option in options) for entry in common)

    def _span(self, entry: CostEntry, option: Option) -> float:
        if option.is_on_demand and entry.every != "once":
            return 0.0
        days = [(option, option.lots[0].delivery, option.last_day(self.frame))]
        charges = [shared_charge(entry, amount, days, self.after, self.frame) for _, amount in table(entry, self.frame)]
        return min(self._value([charge]) if charge else 0.0 for charge in charges)

    def of(self, profile: Profile) -> float:
        """Return a lower bound on the present value of any plan with this profile.

        Every node it needs costs at least the cheapest piece that serves the run; at most ``max_accelerators`` earn
        value, each no more than the best piece does; further nodes are only worth having when they earn their price.
        """
        run = profile.run
        needed = max(0, profile.nodes_needed - self.pool.owned_nodes)
        priced = [(piece, self._serving(piece, known, profile)) for piece, known in self.rates]
        serving = [(piece, rate) for piece, rate in priced if rate < INFINITE]
        lasting = [(piece, rate) for piece, rate in self.rates if not piece.option.is_on_demand]
        fixed = self._value(list(run_energy(run, self.frame))) + (self.shared if needed else 0.0)
        cap = self._cap / self.pool.platform.accelerators_per_node
        valued = min(needed, cap)
        cost = valued * self._least_net(serving, run.end)
        cost += (needed - valued) * min((rate for _, rate in serving), default=0.0)
        surplus = (cap - valued) * min(0.0, self._least_net(lasting, run.end))
        return fixed + cost + surplus - min(cap, self._owned) * self._node_value(run.end + DAY, run.end)

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

    def _least_net(self, rates: Sequence[tuple[Piece, float]], last_run: dt.date) -> float:
        """Least cost of a node less what it can earn after the last run."""
        return min((rate - self._earned(piece, last_run) for piece, rate in rates), default=0.0)

    def _earned(self, piece: Piece, last_run: dt.date) -> float:
        if not self._cap or piece.option.is_on_demand:
            return 0.0
        return self._node_value(max(piece.lot.ready, last_run + DAY), last_run, piece.option.last_day(self.frame))

    def _node_value(self, first: dt.date, last_run: dt.date, last: dt.date | None = None) -> float:
        key = (first, last_run, last or self.frame.last_day)
        if key not in self.values:
            charges = value_charges(1, first, key[2], last_run, self.frame) if self._cap else ()
            self.values[key] = -self._value(list(charges)) * self.pool.platform.accelerators_per_node
        return self.values[key]

    def _serving(self, piece: Piece, rate: float, profile: Profile) -> float:
        run = profile.run
        if piece.option.is_on_demand:
            return rate + self._hours(piece, run.end) if piece.lot.ready == run.start else INFINITE
        return rate if serves(piece, run.start, run.end) else INFINITE

    def _hours(self, piece: Piece, end: dt.date) -> float:
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
    known: dict[tuple[str, After], PoolBound] = {}

    def bound(profile: Profile) -> float:
        after = After(policy, profile.run.end)
        key = (profile.pool.name, after if after.matters else After(policy, frame.last_day))
        if key not in known:
            known[key] = PoolBound(profile.pool, frame, key[1])
        return known[key].of(profile)

    return bound
