"""Lower bounds of profiles at many price vectors: what no price changes is computed once."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from optimizer.analysis.price_model import at_prices
from optimizer.analysis.scales import Grouping
from optimizer.cost.after import After
from optimizer.cost.choice import Run
from optimizer.cost.option import Piece
from optimizer.solver.bounds import PoolBound
from optimizer.solver.problem import Problem, Profile

Rate = tuple[float, float]
"""Cost per node of a piece without prices, and what its prices add at factor 1."""


@dataclass(frozen=True, eq=False)
class ScaledBound(PoolBound):
    """The bound of a pool with the prices of each group of offers multiplied.

    Attributes:
        pieces: Pieces with the parts of their rates.
        common: Least cost of the entries that every award of the pool matches.
        grouping: Offers whose prices move together; None only while a class needs a default.
        factors: Group -> multiple of its prices.
        energies: Energy of runs, shared by all price vectors.
        hires: Hire of a piece to a day at factor 1, shared as well.
    """

    pieces: Sequence[tuple[Piece, Rate]] = ()
    common: float = 0.0
    grouping: Grouping | None = None
    factors: Mapping[str, float] = field(default_factory=dict)
    energies: dict[int, float] = field(default_factory=dict)
    hires: dict[tuple[int, dt.date], float] = field(default_factory=dict)

    @cached_property
    def rates(self) -> list[tuple[Piece, float]]:
        """Present value per node of one unit of each piece at these prices."""
        return [(piece, bare + priced * self._factor(piece)) for piece, (bare, priced) in self.pieces]

    @cached_property
    def shared(self) -> float:
        """Least present value of the cluster and platform entries; no price of an offer changes it."""
        return self.common

    def _factor(self, piece: Piece) -> float:
        return self.factors.get((self.grouping and self.grouping.of(piece.option)) or "", 1.0)

    def _energy(self, run: Run) -> float:
        if id(run) not in self.energies:  # runs of one problem, which outlives the bound
            self.energies[id(run)] = super()._energy(run)
        return self.energies[id(run)]

    def _hire(self, piece: Piece, run_end: dt.date) -> float:
        key = (id(piece), run_end)
        if key not in self.hires:
            self.hires[key] = super()._hire(piece, run_end)
        return self.hires[key] * self._factor(piece)


class PriceBounds:
    """Bounds of all profiles of a problem at any multiples of the prices of groups of offers."""

    def __init__(self, problem: Problem, grouping: Grouping) -> None:
        """Take a problem at the prices of today."""
        double = at_prices(problem, range(len(problem.profiles)), grouping.knob()(Decimal(2)))
        self.problem = problem
        self.policy = problem.frame.scenario.after_run.policy
        self.grouping = grouping
        self._base: dict[tuple[str, After], ScaledBound] = {}
        pools = {pool.name: pool for pool in double.pools}
        for profile in problem.profiles:
            key = self._key(profile)
            if key not in self._base:
                today = PoolBound(profile.pool, problem.frame, key[1])
                later = PoolBound(pools[profile.pool.name], double.frame, key[1])
                self._base[key] = _split(today, later, grouping)

    @cached_property
    def falling(self) -> frozenset[str]:
        """Groups of which some piece costs less when its price rises: no hardware we know of, but nothing forbids it."""
        rates = [(piece, priced) for bound in self._base.values() for piece, (_, priced) in bound.pieces]
        return frozenset(group for piece, priced in rates if priced < 0 and (group := self.grouping.of(piece.option)))

    def _key(self, profile: Profile) -> tuple[str, After]:
        after = After(self.policy, profile.run.end)
        return profile.pool.name, after if after.matters else After(self.policy, self.problem.frame.last_day)

    def at(self, factors: Mapping[str, float], wanted: Sequence[int]) -> list[float]:
        """Return the bounds of some profiles (by position); infinite for the others."""
        if self.problem.frame.scenario.fix:  # signed units elsewhere may earn money
            return [-math.inf] * len(self.problem.profiles)
        known: dict[tuple[str, After], ScaledBound] = {}
        lower = [math.inf] * len(self.problem.profiles)
        for index in wanted:
            profile = self.problem.profiles[index]
            key = self._key(profile)
            if key not in known:
                known[key] = _scaled(self._base[key], factors)
            lower[index] = known[key].of(profile)
        return lower


def _split(today: PoolBound, double: PoolBound, grouping: Grouping) -> ScaledBound:
    """Return a bound whose rates are split by what a doubling of prices adds."""
    pairs = zip(today.rates, double.rates, strict=True)
    pieces = tuple((piece, (2 * one - two, two - one)) for (piece, one), (_, two) in pairs)
    return ScaledBound(today.pool, today.frame, today.after, pieces=pieces, common=today.shared, grouping=grouping)


def _scaled(base: ScaledBound, factors: Mapping[str, float]) -> ScaledBound:
    return ScaledBound(
        base.pool, base.frame, base.after, base.values,
        pieces=base.pieces, common=base.common, grouping=base.grouping, factors=factors, energies=base.energies, hires=base.hires,
    )  # fmt: skip
