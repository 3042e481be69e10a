"""Every run a workload may take: mode, pool and first day; and the rentals that such first days ask for.

A run starts on its release, on a day on which an award of its pool becomes ready, or on the day after the end of a run
that it follows or that shares its pool. Ends of runs are only known with the plan, so a start of the last kind carries
the mark ``follows``, and a rule asks for a chosen run that ends on the day before.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter

from optimizer.cost.choice import Run
from optimizer.cost.frame import DAY, Frame
from optimizer.cost.option import Option
from optimizer.results import Candidate, Rejection
from optimizer.schema.quote import RentalOffer
from optimizer.solver.offers import following_options
from optimizer.solver.problem import Pool, Problem, Profile, supplied, supply_nodes, window
from optimizer.solver.spares import spares

LISTED = 40
"""Most runs (modes x starts, without those that follow others) that are listed one by one where there are several
workloads: the compact model over all of them is then solved at once."""

Candidates = Mapping[str, Sequence[Candidate]]
Window = tuple[dt.date, dt.date]
Days = dict[tuple[str, str], set[dt.date]]
"""Days by workload and name of the pool."""


def build(frame: Frame, candidates: Candidates, found: Sequence[Pool], rejected: Sequence[Rejection]) -> Problem:
    """Return the problem for the candidates of each workload."""
    windows = tightened(frame, candidates)
    if len(windows) > 1 and _size(candidates, found, frame) > LISTED:
        earliest = tuple(_earliest(windows, candidates, found, frame))
        return Problem(frame, tuple(found), earliest, tuple(rejected), windows=windows)
    following = _following(windows, candidates, found, frame) if len(windows) > 1 else {}
    offered = [_with_following(pool, following, frame) for pool in found]
    profiles = tuple(
        profile
        for name in frame.scenario.workloads
        for pool in offered
        for profile in _profiles(name, pool, candidates.get(name, ()), windows[name], following, frame)
    )
    return Problem(frame, tuple(offered), profiles, tuple(rejected))


def _size(candidates: Candidates, found: Sequence[Pool], frame: Frame) -> int:
    """Return the number of modes x starts without those that follow other runs."""
    return sum(
        len(base_starts(name, pool, frame)) * sum(_is_in(mode, pool) for mode in modes)
        for name, modes in candidates.items()
        for pool in found
    )


def _is_in(mode: Candidate, pool: Pool) -> bool:
    return (mode.platform, mode.system) == (pool.platform.id, pool.system)


def _earliest(
    windows: Mapping[str, Window], candidates: Candidates, found: Sequence[Pool], frame: Frame
) -> Iterator[Profile]:
    """Yield one run of each mode in each pool: the earliest that can be supplied."""
    supply = _Supply()
    for name, modes in candidates.items():
        for pool in found:
            own = [mode for mode in modes if _is_in(mode, pool)]
            first, last = windows[name]
            starts = sorted({*(day for day in base_starts(name, pool, frame) if day >= first), first})
            for mode in own:
                needed = mode.nodes + _spare_nodes(mode, pool, frame)
                for start in starts:
                    run = Run(mode, pool.platform, pool.place, pool.site, start, pool.system)
                    if run.end <= last and supply.most(pool, run) >= needed:
                        yield Profile(name, pool, run, needed)
                        break


class _Supply:
    """The most nodes pools can have for runs of some days, asked for once where ends of contracts and fabrics do not matter.

    Rentals are offered for any start, so they count when a run of these days fits their own first one.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, dt.date], int] = {}

    def most(self, pool: Pool, run: Run) -> int:
        """Return the most nodes for a run; rentals whenever they start."""
        if all(one.is_purchase and one.offer.fabric_max_units is None for one in pool.options):
            key = (pool.name, run.start)
            if key not in self._known:
                self._known[key] = supply_nodes(pool, run.start)
            return self._known[key]
        bought = replace(pool, options=tuple(option for option in pool.options if not _is_rental(option)))
        rented = {option.offer_key: 0 for option in pool.options if _is_rental(option)}
        for option in pool.options:
            if _is_rental(option):
                ready = option.lots[0].ready
                alone = replace(pool, options=(option,), owned_nodes=0)
                most = supply_nodes(alone, ready, ready + (run.candidate.days - 1) * DAY, run.candidate.nodes)
                rented[option.offer_key] = max(rented[option.offer_key], most)
        return supply_nodes(bought, run.start, run.end, run.candidate.nodes) + sum(rented.values())


def _is_rental(option: Option) -> bool:
    return isinstance(option.offer, RentalOffer) or option.is_dedicated


def tightened(frame: Frame, candidates: Candidates) -> dict[str, Window]:
    """Return the first and last day each run may use, as its shortest predecessors and successors leave them."""
    workloads = frame.scenario.workloads
    windows = {name: window(workload, frame) for name, workload in workloads.items()}
    shortest = {name: min((mode.days for mode in candidates.get(name, ())), default=1) for name in workloads}
    order = list(TopologicalSorter({name: workload.after for name, workload in workloads.items()}).static_order())
    for name in order:
        ends = [windows[before][0] + shortest[before] * DAY for before in workloads[name].after]
        windows[name] = (max([windows[name][0], *ends]), windows[name][1])
    for name in reversed(order):
        for before in workloads[name].after:
            last = windows[name][1] - shortest[name] * DAY
            windows[before] = (windows[before][0], min(windows[before][1], last))
    return windows


def _following(windows: Mapping[str, Window], candidates: Candidates, found: Sequence[Pool], frame: Frame) -> Days:
    """Return the days on which a run may start after another: after one run, after that one's follower, and so on."""
    lengths = {
        (name, pool.name): sorted({mode.days for mode in modes if _is_in(mode, pool)})
        for name, modes in candidates.items()
        for pool in found
    }
    starts: Days = {
        (name, pool.name): {day for day in base_starts(name, pool, frame) if day >= windows[name][0]}
        for name, pool in ((name, pool) for name in candidates for pool in found)
        if lengths[name, pool.name]
    }
    extra: Days = defaultdict(set)
    fresh = starts
    for _ in range(len(windows) - 1):
        later = _next_starts(fresh, lengths, windows, frame)
        fresh = {key: days - starts[key] - extra[key] for key, days in later.items()}
        for key, days in fresh.items():
            extra[key] |= days
    return extra


def _next_starts(
    starts: Days, lengths: Mapping[tuple[str, str], Sequence[int]], windows: Mapping[str, Window], frame: Frame
) -> Days:
    """Return the days after the ends of runs that start on some days, for the runs that may follow them."""
    workloads = frame.scenario.workloads
    ends = {
        (name, pool): {
            day + length * DAY
            for day in days
            for length in lengths[name, pool]
            if day + length * DAY <= windows[name][1] + DAY
        }
        for (name, pool), days in starts.items()
    }
    found: Days = {}
    for (name, pool), known in lengths.items():
        if known:
            first, latest = windows[name][0], windows[name][1] - (known[0] - 1) * DAY
            before = [
                days for (other, place), days in ends.items()
                if other in workloads[name].after or (place == pool and other != name)
            ]  # fmt: skip
            found[name, pool] = {day for days in before for day in days if first <= day <= latest}
    return found


def base_starts(name: str, pool: Pool, frame: Frame) -> set[dt.date]:
    """Return the days on which a run of a workload may start in a pool whatever the other runs."""
    release, _ = window(frame.scenario.workloads[name], frame)
    return {release, *(day for day in pool.starts if day > release)}


def _with_following(pool: Pool, following: Days, frame: Frame) -> Pool:
    days = {day for (_, name), own in following.items() if name == pool.name for day in own}
    return with_following(pool, days, frame)


def with_following(pool: Pool, starts: set[dt.date], frame: Frame) -> Pool:
    """Return a pool with its rentals also offered for runs that start after others."""
    days = starts - set(pool.starts)
    offers: dict[tuple[str, str], Option] = {}
    for option in pool.options:
        if isinstance(option.offer, RentalOffer):
            offers.setdefault(option.offer_key, option)
    if not days or not offers:
        return pool
    known = {(option.offer_key, option.lots[0].delivery) for option in pool.options}
    extra = [
        option
        for one in offers.values()
        for option in following_options(one, days, frame)
        if (option.offer_key, option.lots[0].delivery) not in known
    ]
    return replace(pool, options=tuple(sorted([*pool.options, *extra], key=lambda option: option.key)))


def _profiles(
    name: str, pool: Pool, candidates: Iterable[Candidate], span: Window, following: Days, frame: Frame
) -> Iterator[Profile]:
    first, last = span
    starts = sorted(day for day in base_starts(name, pool, frame) if day >= first)
    days = [*((day, False) for day in starts), *((day, True) for day in sorted(following.get((name, pool.name), ())))]
    for candidate in candidates:
        if not _is_in(candidate, pool):
            continue
        needed = candidate.nodes + _spare_nodes(candidate, pool, frame)
        for start, follows in days:
            if candidate.days > (last - start).days + 1:
                continue
            run = Run(candidate, pool.platform, pool.place, pool.site, start, pool.system)
            profile = Profile(name, pool, run, needed, follows)
            if supplied(profile):
                yield profile


def _spare_nodes(candidate: Candidate, pool: Pool, frame: Frame) -> int:
    """Spares are planned for engine modes at our own sites; stated modes are final and providers replace nodes."""
    if pool.site is None or candidate.layout is None:
        return 0
    return spares(candidate.nodes, frame.scenario.reliability)
