"""The decision problem: pools with their options, and the profiles (mode, start) a run may take in each."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from math import ceil, lcm

from optimizer.cost.after import After
from optimizer.cost.choice import Run
from optimizer.cost.entries import matching, pieces_per_unit, table
from optimizer.cost.frame import DAY, Frame
from optimizer.cost.items import hire_charges, is_invoiced, unit_charges
from optimizer.cost.option import (
    UNLIMITED_UNITS,
    Option,
    Piece,
    hired,
    maximum,
    pool_name,
    possible_pieces,
    shortest_hire,
)
from optimizer.results import Rejection
from optimizer.schema.platform import Platform
from optimizer.schema.quote import TieredPrice
from optimizer.schema.scenario import CostEntry, Workload
from optimizer.solver.offers import (
    Listed,
    listed,
    rejection,
    rental_options,
    rental_place,
    rental_ready,
    signed_units,
    site_options,
    unit_power_kw,
    units_per_rack,
)
from optimizer.units import counted


@dataclass(frozen=True, eq=False)
class Pool:
    """The nodes of one platform in one place.

    Attributes:
        platform: The platform.
        place: Site, or ``vendor/region``.
        site: Our site; None in a provider's region.
        options: What can be awarded there, in order of offer and delivery.
        owned_nodes: Nodes we have there.
        system: ``quote/offer`` of a dedicated system, which is a pool of its own; empty otherwise.
    """

    platform: Platform
    place: str
    site: str | None
    options: tuple[Option, ...]
    owned_nodes: int
    system: str = ""

    @cached_property
    def name(self) -> str:
        """``platform@place``, and the dedicated system."""
        return pool_name(self.platform.id, self.place, self.system)

    @cached_property
    def starts(self) -> tuple[dt.date, ...]:
        """Days on which some of it becomes usable whatever the runs, ascending."""
        offered = (option for option in self.options if not option.follows)
        return tuple(sorted({lot.ready for option in offered for lot in option.lots}))


@dataclass(frozen=True, eq=False)
class Profile:
    """A workload's run in a pool: mode and start.

    Attributes:
        workload: Name of the workload.
        pool: The pool.
        run: Mode, place and first day.
        nodes_needed: Nodes of the mode and spares.
        follows: Whether it may start on that day only because another run ends on the day before.
    """

    workload: str
    pool: Pool
    run: Run
    nodes_needed: int
    follows: bool = False


@dataclass(frozen=True, eq=False)
class Column:
    """A schedule of runs that depend on each other.

    Attributes:
        profiles: One per run.
        bound: Lower bound on what it costs, what is paid once for all left out.
    """

    profiles: tuple[Profile, ...]
    bound: float


@dataclass(frozen=True, eq=False)
class Problem:
    """What the model is built from.

    Attributes:
        frame: Scenario, dates, rates.
        pools: Pools with at least one option or owned node.
        profiles: Every run that fits its window and could be supplied.
        rejections: Offers and platforms that cannot be used, with the limit.
        wanted: Offers of which one must be awarded; None = no such wish.
        windows: First and last day of each run, where ``profiles`` holds only the earliest run of each mode in each pool
            because there are too many to list; else None.
        columns: The only combinations of profiles that are allowed; None = all.
    """

    frame: Frame
    pools: tuple[Pool, ...]
    profiles: tuple[Profile, ...]
    rejections: tuple[Rejection, ...]
    wanted: frozenset[tuple[str, str]] | None = None
    windows: Mapping[str, tuple[dt.date, dt.date]] | None = None
    columns: tuple[Column, ...] | None = None

    @property
    def options(self) -> tuple[Option, ...]:
        """All options, pool by pool."""
        return tuple(option for pool in self.pools for option in pool.options)

    @property
    def anywhere(self) -> bool:
        """Whether something may be awarded in a pool without a run: capacity is the objective, or units are signed."""
        return self.frame.scenario.objective == "capacity" or bool(self.frame.scenario.fix)

    @property
    def several(self) -> bool:
        """Whether there is more than one run to plan."""
        return len(self.frame.scenario.workloads) > 1

    @cached_property
    def most_needed(self) -> Mapping[str, int]:
        """Most nodes that all runs of a pool can need at once, by name of the pool."""
        largest: dict[tuple[str, str], int] = defaultdict(int)
        for profile in self.profiles:
            key = (profile.pool.name, profile.workload)
            largest[key] = max(largest[key], profile.nodes_needed)
        sums: dict[str, int] = defaultdict(int)
        for (pool, _), nodes in largest.items():
            sums[pool] += nodes
        return sums

    def keep(self, profiles: Iterable[Profile]) -> Problem:
        """Return the problem with fewer profiles, and only the pools in which something may then be awarded."""
        kept = tuple(profiles)
        used = {profile.pool.name for profile in kept}
        pools = tuple(pool for pool in self.pools if self.anywhere or pool.name in used or pool.owned_nodes)
        return replace(self, pools=pools, profiles=kept)

    def with_pools(self, pools: Sequence[Pool]) -> Problem:
        """Return the problem with changed pools, and the profiles that these can still supply."""
        named = {pool.name: pool for pool in pools}
        moved = (replace(profile, pool=named[profile.pool.name]) for profile in self.profiles)
        kept = tuple(p for p in moved if supplied(p))
        return replace(self, pools=tuple(pools), profiles=kept)


def window(workload: Workload, frame: Frame) -> tuple[dt.date, dt.date]:
    """Return the first and last day a workload may use."""
    first = workload.release or frame.today
    if workload.deadline is None:
        return first, frame.last_day
    return first, min(workload.deadline - workload.deadline_margin_days * DAY, frame.last_day)


def margin_days(workload: Workload, frame: Frame) -> int:
    """Return the days kept free before a deadline; none where the horizon ends before it does."""
    deadline = workload.deadline
    if deadline is None or window(workload, frame)[1] < deadline - workload.deadline_margin_days * DAY:
        return 0
    return workload.deadline_margin_days


def days_unit(margin: int) -> str:
    """Return the unit in which a deadline and the end of a run are compared: both count the margin between them."""
    return f"days from today, {counted(margin, 'day')} of margin included" if margin else "days from today"


def pools(frame: Frame) -> tuple[tuple[Pool, ...], tuple[Rejection, ...]]:
    """Return every pool that can be supplied, and the offers that cannot be used."""
    rejected: list[Rejection] = []
    usable: list[Listed] = []
    for entry in listed(frame):
        found = rejection(entry, frame)
        if found:
            rejected.append(found)
        else:
            usable.append(entry)
    options = [option for entry in usable for option in site_options(entry, frame)]
    options += _rentals(usable, options, frame)
    return _grouped(options, frame), tuple(rejected)


def _rentals(usable: Sequence[Listed], site: Sequence[Option], frame: Frame) -> list[Option]:
    """Rentals are offered from the releases and from the days on which others of their pool become ready."""
    releases = {window(workload, frame)[0] for workload in frame.scenario.workloads.values()}
    groups: dict[tuple[str, str, str], list[Listed]] = defaultdict(list)
    for entry in usable:
        place = rental_place(entry)
        if place is not None:
            groups[entry.platform.id, place, entry.system].append(entry)
    found = []
    for entries in groups.values():
        ready = [rental_ready(entry, frame) for entry in entries]
        starts = {max(day, release) for day in ready for release in releases} | releases
        found += [option for entry in entries for option in rental_options(entry, starts, frame)]
    return found


def _grouped(options: Sequence[Option], frame: Frame) -> tuple[Pool, ...]:
    groups: dict[tuple[str, str, str], list[Option]] = defaultdict(list)
    for option in options:
        groups[option.platform.id, option.place, option.system].append(option)
    owned: dict[tuple[str, str, str], int] = defaultdict(int)
    for own in frame.scenario.owned:
        owned[own.platform, own.site, ""] += own.nodes
    found = []
    for key in sorted({*groups, *owned}):
        platform, place, system = key
        site = place if place in frame.scenario.sites else None
        members = tuple(sorted(groups.get(key, []), key=lambda option: option.key))
        found.append(Pool(frame.platforms[platform], place, site, members, owned[key], system))
    return tuple(found)


def supply_nodes(pool: Pool, start: dt.date | None = None, end: dt.date | None = None, run_nodes: int = 0) -> int:
    """Return the most nodes a pool can have (for a run of some nodes between two days).

    Leases and contracts that end before the run, and awards on a fabric smaller than the run, do not count.
    """
    best: dict[tuple[str, str], int] = defaultdict(int)
    for option in pool.options:
        if _stays(option, end) and fabric_nodes(option) >= run_nodes:
            best[option.offer_key] = max(best[option.offer_key], _units_ready(option, start))
    return pool.owned_nodes + pool.platform.nodes_per_unit * sum(best.values())


def leads(before: Profile, profile: Profile, frame: Frame) -> bool:
    """Return whether a run may start because another one ends on the day before: it follows it, or shares its pool."""
    named = before.workload in frame.scenario.workloads[profile.workload].after
    return before.workload != profile.workload and (named or before.pool.name == profile.pool.name)


def supplied(profile: Profile) -> bool:
    """Return whether the pool can have the nodes of a run when it needs them."""
    run = profile.run
    return supply_nodes(profile.pool, run.start, run.end, run.candidate.nodes) >= profile.nodes_needed


def _stays(option: Option, end: dt.date | None) -> bool:
    """Return whether a contract reaches a day, or a hire can."""
    if end is None or option.is_purchase:
        return True
    if option.is_hired:
        return option.hire_end(end) is not None
    return option.end is None or option.end >= end


def fabric_nodes(option: Option) -> int:
    """Return the nodes of the largest run an award of the option allows in its pool."""
    units = option.offer.fabric_max_units
    return UNLIMITED_UNITS if units is None else units * option.platform.nodes_per_unit


def _units_ready(option: Option, start: dt.date | None) -> int:
    most = maximum(option)
    if start is None:
        return most
    ready = [lot for lot in option.lots if lot.ready <= start]
    return sum(most if lot.units is None else min(lot.units, most) for lot in ready)


def units_limit(pool: Pool, option: Option, problem: Problem) -> int:
    """Return a number of units an award never needs to exceed.

    A dedicated system has the units of its mode. Beyond the nodes of the largest run of each workload, the highest
    price break, the minimum, the last fall of a table of ``costs`` and the after-run cap a unit only costs; where
    vendors must share, they follow the largest of them.
    When capacity is the objective, what the budget buys or the site feeds.
    """
    step = option.offer.units.step
    if option.is_dedicated:
        return largest_mode(pool, problem)
    if problem.frame.scenario.objective == "capacity":
        return min(maximum(option), _affordable(option, problem.frame)) // step * step
    units = _worth(pool, option, problem)
    if problem.frame.scenario.policy.vendors.second_source_share and problem.frame.scenario.fix:
        return maximum(option) // step * step  # signed units of another pool may be the largest
    if problem.frame.scenario.policy.vendors.second_source_share:
        largest = max(_worth(pool, other, problem) for other in pool.options)
        units = largest + lcm(*(other.offer.units.step for other in pool.options))
    return min(maximum(option), ceil(units / step) * step)


def largest_mode(pool: Pool, problem: Problem) -> int:
    """Return the units of the largest run of a pool."""
    per_unit = pool.platform.nodes_per_unit
    return max((ceil(p.nodes_needed / per_unit) for p in problem.profiles if p.pool is pool), default=0)


def _worth(pool: Pool, option: Option, problem: Problem) -> int:
    """Return the units beyond which an award by itself gains nothing."""
    needed = ceil(problem.most_needed.get(pool.name, 0) / pool.platform.nodes_per_unit)
    breaks = max(option.offer.price.breaks) if isinstance(option.offer.price, TieredPrice) else 1
    cap = problem.frame.scenario.after_run.max_accelerators or 0
    falls = (_last_fall(entry, option, problem.frame) for entry in matching(problem.frame, option))
    signed = signed_units(problem.frame).get(option.offer_key, 0)
    most_used = ceil(cap / pool.platform.accelerators_per_unit)
    return max(needed, breaks, signed, option.offer.units.min, most_used, *falls)


def _last_fall(entry: CostEntry, option: Option, frame: Frame) -> int:
    """Return the units at which a table of ``costs`` falls for the last time; 0 when it never does."""
    falls = [after[0] for before, after in pairwise(table(entry, frame)) if after[1].value < before[1].value]
    return ceil(max(falls, default=0) / pieces_per_unit(entry, option))


def _affordable(option: Option, frame: Frame) -> int:
    """Return the most units that the budget, or the power and racks of the site, could allow."""
    limits = [UNLIMITED_UNITS]
    budget = frame.scenario.budget
    cash = [frame.amount(budget.total)] if budget.total else []
    if cash:
        cheapest = cheapest_unit(option, frame)
        limits += [int(amount / cheapest) for amount in cash if cheapest > 0]
    if option.site:
        site = frame.site(option.site)
        if site.power is not None:
            most = max((step.kw for step in site.power), default=Decimal(0))
            limits.append(int(most / unit_power_kw(option, frame)))
        if site.zones is not None:
            limits.append(sum(zone.racks * units_per_rack(option.platform, zone) for zone in site.zones.values()))
    return min(limits)


def cheapest_unit(option: Option, frame: Frame, run_days: int = 1) -> Decimal:
    """Return the least cash one unit of an option takes at any of its prices (hired: for a run of some days)."""
    end = option.hire_end(option.lots[0].ready + (run_days - 1) * DAY) if option.is_hired else None
    pieces = possible_pieces(option, frame)
    return min(_outlay(hired(piece, end) if end else piece, frame) for piece in pieces)


def _outlay(piece: Piece, frame: Frame) -> Decimal:
    """Return the least cash one unit takes (hired until no day: one day)."""
    idle = After("idle", frame.last_day)
    rented = piece if piece.option.end else shortest_hire(piece)
    charges = [*unit_charges(piece, idle, frame), *hire_charges(rented)]
    return sum((charge.amount for charge in charges if is_invoiced(charge)), Decimal(0))
