"""The variables of the compact model: profiles, awards, and what links them."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from typing import NamedTuple, TypeVar

from optimizer.cost.after import After
from optimizer.cost.frame import Frame
from optimizer.cost.option import Option, Piece, hired, is_incremental, possible_pieces
from optimizer.errors import InputError
from optimizer.errors import Problem as InputProblem
from optimizer.solver.ledger import Ledger
from optimizer.solver.linear import LinearModel
from optimizer.solver.problem import Pool, Problem, Profile, units_limit

Term = tuple[int, int]
Key = TypeVar("Key", bound=Hashable)


class RackKey(NamedTuple):
    """Racks of a zone given to a platform: on one day where leases may end, else for good."""

    site: str
    day: dt.date | None
    platform: str
    zone: str


@dataclass(frozen=True, slots=True)
class PieceVar:
    """Units of a piece: those of all runs (``profile`` None), or hourly units of one profile."""

    piece: Piece
    profile: Profile | None
    index: int
    upper: int


@dataclass(frozen=True, eq=False)
class Order:
    """One option and one price of an award: Boolean ``index`` is 1 when it is taken.

    Attributes:
        option: The option.
        tier: First quantity of an all-units price; None otherwise.
        index: Its Boolean.
        least: Fewest units.
        most: Most units.
        pieces: Units by lot, break and profile.
        workload: The run it is hired for where there are several runs; else None.
    """

    option: Option
    tier: int | None
    index: int
    least: int
    most: int
    pieces: tuple[PieceVar, ...]
    workload: str | None = None

    @property
    def award(self) -> tuple[tuple[str, str], str | None]:
        """Offer and run: at most one order of each is taken."""
        return self.option.offer_key, self.workload

    def units(self, factor: int = 1) -> list[Term]:
        """Return the terms of its units times a factor."""
        return [(var.index, factor) for var in self.pieces]


@dataclass
class Builder:
    """The model while rules add rows to it.

    Attributes:
        problem: What is modelled.
        model: Variables and rows.
        ledger: Money by variable.
        chosen: Profile -> its Boolean.
        orders: All orders.
        one: A variable that is always 1, for constants.
        racks: Where and when -> racks given to a platform.
        last_day: Days from today to the last day of the last run, where there are several; else None.
        lasts: Last day of the last run -> its Boolean, where there are several runs and something asks for it.
    """

    problem: Problem
    model: LinearModel
    ledger: Ledger
    chosen: dict[Profile, int] = field(default_factory=dict)
    orders: list[Order] = field(default_factory=list)
    one: int = -1
    racks: dict[RackKey, int] = field(default_factory=dict)
    last_day: int | None = None
    lasts: dict[dt.date, int] = field(default_factory=dict)
    _split: dict[int, list[tuple[dt.date, int]]] = field(default_factory=dict)

    @property
    def frame(self) -> Frame:
        """Dates and rates."""
        return self.problem.frame

    @property
    def policy(self) -> str:
        """The after-run policy."""
        return self.frame.scenario.after_run.policy

    def orders_of(self, pool: Pool) -> Iterator[Order]:
        """Yield the orders of a pool."""
        return (order for order in self.orders if order.option.pool == pool.name)

    def by_offer(self) -> dict[tuple[str, str], list[Order]]:
        """Return the orders of each offer."""
        groups: dict[tuple[str, str], list[Order]] = defaultdict(list)
        for order in self.orders:
            groups[order.option.offer_key].append(order)
        return dict(groups)

    def profiles_in(self, pool: Pool) -> list[tuple[Profile, int]]:
        """Return the profiles of a pool with their Booleans."""
        return [(profile, index) for profile, index in self.chosen.items() if profile.pool is pool]

    def ends(self, pool: str | None = None) -> dict[dt.date, list[int]]:
        """Return the possible last days of the last run (in a pool) with Booleans of which one is 1 when it is that day.

        With one run these are its profiles; with several, Booleans that the rule ``last_run`` ties to all of them.
        """
        if self.problem.several:
            return {day: [index] for day, index in sorted(self.lasts.items())}
        groups: dict[dt.date, list[int]] = defaultdict(list)
        for profile, index in self.chosen.items():
            if pool in (None, profile.pool.name):
                groups[profile.run.end].append(index)
        return dict(sorted(groups.items()))

    def afters(self, pool: str | None = None) -> list[After]:
        """Return the after-run situations costs may depend on: one when the end does not matter."""
        policy = self.frame.scenario.after_run.policy
        probe = After(policy, self.frame.last_day)
        return [After(policy, end) for end in self.ends(pool)] if probe.matters else [probe]

    def run_pool(self, option: Option) -> str | None:
        """Return the pool whose run alone tells the last day; None where that may be a run of any pool."""
        return None if self.problem.anywhere or self.problem.several else option.pool

    def by_after(self, var: PieceVar) -> list[tuple[After, int]]:
        """Return the variable split by after-run situation: parts add up to it, only the chosen one is above zero.

        Awards stand in the pool of a run, so only the ends of its own runs matter where that is a rule.
        """
        pool = self.run_pool(var.piece.option)
        afters = self.afters(pool)
        if not afters or not afters[0].matters:
            return [(after, var.index) for after in afters]
        if var.index not in self._split:
            self._split[var.index] = self.split(var.index, var.upper, self.ends(pool), "end")
        return [(After(afters[0].policy, end), part) for end, part in self._split[var.index]]

    def split(self, index: int, upper: int, groups: Mapping[Key, list[int]], name: str) -> list[tuple[Key, int]]:
        """Return parts of a variable, one per group; a part is zero unless one of the group's Booleans is 1."""
        parts = [(key, self.model.integer(f"{self.model.names[index]}|{name} {key}", 0, upper)) for key in groups]
        self.model.add("split", self.model.names[index], [(index, -1), *((part, 1) for _, part in parts)], 0, 0)
        for key, part in parts:
            self.model.add("split", self.model.names[part], [(part, 1), *((b, -upper) for b in groups[key])], upper=0)
        return parts


def declare(problem: Problem) -> Builder:
    """Return a builder with all profile and order variables and no rows.

    Raises:
        InputError: the runs are too many to be listed; only a search that chooses among them may build a model.
    """
    if problem.windows is not None:
        found = f"{len(problem.windows)} workloads with more modes than can be listed one by one"
        fix = "Ask this of one workload at a time, or of fewer modes; solve, compare and explain work"
        raise InputError([InputProblem("workloads", found, "few runs for this question", fix)])
    builder = Builder(problem, LinearModel(), Ledger(problem.frame))
    builder.one = builder.model.integer("one", 1, 1)
    for number, profile in enumerate(problem.profiles):
        run = profile.run
        name = f"run {profile.workload} {profile.pool.name} n{run.candidate.nodes} d{run.candidate.days} {run.start} #{number}"
        builder.chosen[profile] = builder.model.boolean(name)
    for pool in problem.pools:
        for option in pool.options:
            for workload, profiles in _served(builder, pool, option):
                builder.orders += orders_of_option(builder, pool, option, workload, profiles)
    return builder


def _served(builder: Builder, pool: Pool, option: Option) -> list[tuple[str | None, list[Profile | None]]]:
    """Return whom an option is taken for: everyone, or (hired) the runs that start on its ready day, each by itself.

    An option that follows a run needs a run that starts then.
    """
    starting: dict[str, list[Profile | None]] = defaultdict(list)
    if option.is_hired or option.follows:
        for profile, _ in builder.profiles_in(pool):
            long_enough = not option.is_hired or option.hire_end(profile.run.end) is not None
            if profile.run.start == option.lots[0].ready and long_enough:
                starting[profile.workload].append(profile)
    if not option.is_hired:
        return [(None, [None])] if starting or not option.follows else []
    if builder.problem.several:
        return list(starting.items())
    return [(None, [profile for own in starting.values() for profile in own])]


def orders_of_option(
    builder: Builder, pool: Pool, option: Option, workload: str | None, profiles: list[Profile | None]
) -> Iterator[Order]:
    """Yield the orders of an option, one per price, with their variables declared.

    Args:
        builder: The model.
        pool: The pool of the option.
        option: The option.
        workload: The run it is hired for where there are several; None = for all.
        profiles: For whom it has units: everyone (None), or each run it is hired for.
    """
    limit = units_limit(pool, option, builder.problem)
    pieces = possible_pieces(option, builder.frame)
    tiers = [None] if is_incremental(option) else list(dict.fromkeys(piece.tier for piece in pieces))
    for tier in tiers:
        own = [piece for piece in pieces if is_incremental(option) or piece.tier == tier]
        least = max(option.offer.units.min, own[0].first, 1)
        most = min(limit, own[-1].last)
        step = option.offer.units.step
        if ceil(least / step) * step <= most:
            yield _order(builder, Order(option, tier, -1, least, most, (), workload), own, profiles)


def _order(builder: Builder, blank: Order, pieces: list[Piece], profiles: list[Profile | None]) -> Order:
    """Return an order with its variables."""
    option, (quote, offer) = blank.option, blank.option.offer_key
    label = f"{quote}/{offer} {option.place} {option.lots[0].delivery}" + (f" tier {blank.tier}" if blank.tier else "")
    label += f" for {blank.workload}" if blank.workload else ""
    index = builder.model.boolean(f"take {label}")
    variables = []
    for piece in pieces:
        most = _piece_upper(piece, blank.most)
        for profile in profiles:
            where = f" {piece.lot.delivery} {piece.first}+" + (f" for #{builder.chosen[profile]}" if profile else "")
            upper = mode_units(profile) if profile and option.is_dedicated else most
            number = builder.model.integer(f"units {label}{where}", 0, upper)
            variables.append(PieceVar(_for(piece, profile), profile, number, upper))
    return replace(blank, index=index, pieces=tuple(variables))


def mode_units(profile: Profile) -> int:
    """Return the units of a dedicated system a run takes: no more are made ready for it."""
    return ceil(profile.nodes_needed / profile.pool.platform.nodes_per_unit)


def _for(piece: Piece, profile: Profile | None) -> Piece:
    end = piece.option.hire_end(profile.run.end) if profile else None
    return hired(piece, end) if end else piece


def _piece_upper(piece: Piece, most: int) -> int:
    upper = min(most, piece.last)
    if is_incremental(piece.option):
        upper = min(most, piece.last) - piece.first + 1
    return max(0, upper if piece.lot.units is None else min(upper, piece.lot.units))
