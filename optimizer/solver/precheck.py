"""Demands that nothing can meet, named before any search: no engine, no solver, a few milliseconds.

Every way to run a workload (a pool, or an offer that was rejected) is held against what it needs at the very least: one
unit, one day, the smallest order. A workload all of whose ways are blocked cannot be run; the fewest limits that block
them all are the causes. Units signed already are held against what is offered, delivered, powered and budgeted.

Silence proves nothing: what passes here may still be infeasible. Needs are lower bounds: the search may ask for more.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, combinations
from math import ceil

from optimizer.cost.entries import table
from optimizer.cost.frame import DAY, Frame
from optimizer.cost.items import node_kw, order_charges
from optimizer.cost.option import Option, maximum, smallest_order
from optimizer.results import Conflict, ConflictLimit, LimitName, Rejection
from optimizer.schema.platform import Platform
from optimizer.schema.quote import BlockOffer, DedicatedOffer
from optimizer.schema.scenario import Workload, Zone
from optimizer.solver.found import Found
from optimizer.solver.offers import rack_positions, signed_units, unit_power_kw, units_per_rack
from optimizer.solver.problem import (
    Pool,
    cheapest_unit,
    days_unit,
    fabric_nodes,
    margin_days,
    pools,
    supply_nodes,
    window,
)
from optimizer.solver.relax import AMPLE_KW, RELAXATIONS

NOT_SEARCHED = Found(
    "infeasible", None, None, "none", "no search was needed: the limits named cannot be met by any plan"
)
"""What a search would have found."""

Obstacle = tuple[ConflictLimit, ...]
"""Limits that together keep a workload out of a pool: each would have to be lifted."""


@dataclass(frozen=True, slots=True)
class Need:
    """The least a workload takes of a pool.

    Attributes:
        name: The workload.
        workload: Its terms.
        pool: The pool.
        nodes: Nodes of its smallest mode; 1 when the engine would have to tell.
        days: Days of its quickest mode; 1 likewise.
        vendors: Vendors with a usable offer anywhere.
        frame: Dates, rates, limits.
    """

    name: str
    workload: Workload
    pool: Pool
    nodes: int
    days: int
    vendors: frozenset[str]
    frame: Frame

    @property
    def units(self) -> int:
        """Units that must be awarded in the pool; 0 when the nodes we have may do."""
        short = max(0, self.nodes - self.pool.owned_nodes)
        least = min((smallest_order(option.offer) for option in self.pool.options), default=1)
        return max(least, ceil(short / self.pool.platform.nodes_per_unit)) if short else 0

    @property
    def latest_start(self) -> dt.date:
        """Last day on which it may start."""
        return window(self.workload, self.frame)[1] - (self.days - 1) * DAY


def impossible(frame: Frame) -> Conflict | None:
    """Return the limits a scenario breaks whatever is decided, with the least each would have to be; None when none is known."""
    found, rejected = pools(frame)
    causes = list(_signed(found, rejected, frame))
    for name, workload in frame.scenario.workloads.items():
        causes += _blocked(name, workload, found, rejected, frame)
    unique = {(limit.name, limit.period): limit for limit in causes}
    return Conflict(limits=tuple(unique.values()), minimal=False) if causes else None


def _blocked(
    name: str, workload: Workload, found: Sequence[Pool], rejected: Iterable[Rejection], frame: Frame
) -> list[ConflictLimit]:
    """Return the fewest limits that block every way to run a workload; empty when one way is open, or there is none."""
    vendors = frozenset(option.quote.vendor for pool in found for option in pool.options)
    needs = [need for pool in found if (need := _need(name, workload, pool, vendors, frame))]
    blocked = [[obstacle for check in OBSTACLES for obstacle in check(need)] for need in needs]
    if not needs or not all(blocked):
        return []
    barred = [r for r in rejected if r.limit in RELAXATIONS and workload.platforms.permits(str(r.platform))]
    return _fewest([*blocked, *([(_rejecting(rejection),)] for rejection in barred)])


def _rejecting(rejection: Rejection) -> ConflictLimit:
    return ConflictLimit(
        name=rejection.limit, needed=rejection.needed, available=rejection.available, unit=rejection.unit,
        period=rejection.quote, reason=rejection.reason,
    )  # fmt: skip


def _fewest(blocked: Sequence[Sequence[Obstacle]]) -> list[ConflictLimit]:
    """Return the fewest limits of which every way meets an obstacle, each as near to what is there as any way needs."""
    names = sorted({limit.name for limit in chain.from_iterable(chain.from_iterable(blocked))})
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            met = [[one for one in way if {limit.name for limit in one} <= set(chosen)] for way in blocked]
            if all(met):
                limits = list(chain.from_iterable(chain.from_iterable(met)))
                return [min((limit for limit in limits if limit.name == name), key=_shortfall) for name in chosen]
    return []


def _shortfall(limit: ConflictLimit) -> Decimal:
    if isinstance(limit.needed, Decimal) and isinstance(limit.available, Decimal):
        return limit.needed - limit.available
    return Decimal("Infinity")


def _need(name: str, workload: Workload, pool: Pool, vendors: frozenset[str], frame: Frame) -> Need | None:
    """Return what a workload needs of a pool; None where it cannot run at all."""
    if not workload.platforms.permits(pool.platform.id):
        return None
    modes = _modes(name, workload, pool)
    if modes is None:
        return Need(name, workload, pool, 1, 1, vendors, frame)
    if not modes:
        return None
    return Need(name, workload, pool, min(n for n, _ in modes), min(days for _, days in modes), vendors, frame)


def _modes(name: str, workload: Workload, pool: Pool) -> list[tuple[int, int]] | None:
    """Return nodes and days of each stated mode; None when only the engine knows them."""
    if pool.system:
        offer = pool.options[0].offer
        rows = offer.modes if isinstance(offer, DedicatedOffer) else ()
        return [(mode.units * pool.platform.nodes_per_unit, mode.days) for mode in rows if mode.workload == name]
    if workload.architecture is not None:
        return None
    return [(mode.nodes, mode.days) for mode in workload.modes if mode.platform == pool.platform.id]


def _limit(name: LimitName, needed: object, available: object, unit: str, period: str | None) -> ConflictLimit:
    return ConflictLimit(
        name=name, needed=Decimal(str(needed)), available=Decimal(str(available)), unit=unit, period=period
    )


def _supply(need: Need) -> Iterator[Obstacle]:
    """The smallest mode has more nodes than all offers of the pool together."""
    most = supply_nodes(need.pool)
    if need.nodes > most:
        yield (_limit("supply", need.nodes, most, "nodes", need.pool.name),)


def _fabric(need: Need) -> Iterator[Obstacle]:
    """The smallest mode has more nodes than the largest fabric joins."""
    most = max((fabric_nodes(option) for option in need.pool.options), default=0)
    if need.units and need.nodes > most:
        yield (_limit("fabric", need.nodes, most, "nodes", need.pool.name),)


def _late(need: Need) -> Iterator[Obstacle]:
    """The quickest mode ends too late even on the first capacity there is."""
    release, last = window(need.workload, need.frame)
    ready = max(release, min(need.pool.starts, default=need.frame.horizon)) if need.units else release
    if ready > need.latest_start:
        yield (_deadline(need, ready, last),)


def _deadline(need: Need, ready: dt.date, last: dt.date) -> ConflictLimit:
    today, margin = need.frame.today, margin_days(need.workload, need.frame)
    end = ready + (need.days - 1) * DAY
    if end > need.frame.last_day:
        left = max(0, (need.frame.last_day - ready).days + 1)
        return _limit("deadline", need.days, left, "days", f"{need.name}, to the end of the horizon")
    until = f"{need.name}, until {end + margin * DAY}"
    return _limit("deadline", (end - today).days + margin, (last - today).days + margin, days_unit(margin), until)


def _power(need: Need) -> Iterator[Obstacle]:
    """The least order draws more than the site ever has, or has in time for the last start."""
    pool, frame = need.pool, need.frame
    steps, ever = frame.site(pool.site).power if pool.site else None, _most_kw(pool.site, frame)
    if steps is None or ever is None or not need.units or not pool.options:
        return
    needed = _owned_kw(pool.site, frame) + need.units * min(unit_power_kw(option, frame) for option in pool.options)
    in_time = max((step.kw for step in steps if step.from_ <= need.latest_start), default=Decimal(0))
    if needed > ever:
        yield (_limit("power", needed, ever, "kW", pool.site),)
    elif needed > in_time:
        first = next(step.from_ for step in steps if step.kw >= needed)
        _, last = window(need.workload, frame)
        yield (
            _limit("power", needed, in_time, "kW", f"{pool.site}, until {need.latest_start}"),
            _deadline(need, first, last),
        )


def _owned_kw(site: str | None, frame: Frame) -> Decimal:
    owned = (own for own in frame.scenario.owned if own.site == site)
    return sum((own.nodes * node_kw(frame.platforms[own.platform]) for own in owned), Decimal(0))


def _racks(need: Need) -> Iterator[Obstacle]:
    """The least order takes more racks than the site has for it."""
    zones = need.frame.site(need.pool.site).zones if need.pool.site else None
    if zones is None or not need.units:
        return
    platform, positions = need.pool.platform, rack_positions(need.pool.platform)
    holding = [zone for zone in zones.values() if units_per_rack(platform, zone)]
    if not holding or _held(platform, zones.values()) >= need.units:
        return
    best, there = max(units_per_rack(platform, zone) for zone in holding), sum(zone.racks for zone in holding)
    racks = _limit("racks", max(ceil(need.units / best) * positions, there + 1), there, "racks", need.pool.site)
    also: list[ConflictLimit] = []  # other limits that keep zones from holding it
    strong = [zone.model_copy(update={"kw_per_rack": Decimal(AMPLE_KW)}) for zone in zones.values()]
    if _held(platform, strong) >= need.units:
        highest = max(zone.kw_per_rack for zone in zones.values())
        also.append(ConflictLimit(name="rack_power", needed=None, available=highest, unit="kW per rack", period=None))
    wet = [zone.model_copy(update={"cooling": platform.space.cooling[0]}) for zone in strong]
    if _held(platform, wet) >= need.units > _held(platform, strong):
        also.append(ConflictLimit(name="cooling", needed=None, available=None, unit="class", period=None))
    yield (racks, *also)


def _held(platform: Platform, zones: Iterable[Zone]) -> int:
    """Return the units of a platform that racks of some zones hold."""
    return sum(zone.racks // rack_positions(platform) * units_per_rack(platform, zone) for zone in zones)


def _budget(need: Need) -> Iterator[Obstacle]:
    """The least order costs more than the whole budget."""
    total, options = need.frame.scenario.budget.total, need.pool.options
    if total is not None and need.units and options:
        least = least_cash([(options, need.units)], need.days, need.frame)
        if least > need.frame.amount(total):
            yield (_limit("budget", least, need.frame.amount(total), need.frame.scenario.currency, None),)


def least_cash(awards: Iterable[tuple[Sequence[Option], int]], days: int, frame: Frame) -> Decimal:
    """Return the least that so many units, each group of any of its options, pay out for a run of some days.

    Discounts per order are granted all at once; other charges per order once, the smallest. With a ``costs`` entry
    below zero nothing is claimed.
    """
    if any(amount.value < 0 for entry in frame.scenario.costs for _, amount in table(entry, frame)):
        return Decimal(0)
    least = Decimal(0)
    for options, units in awards:
        orders = [sum((charge.amount for charge in order_charges(o, frame)), Decimal(0)) for o in options]
        unit = min(cheapest_unit(option, frame, days) for option in options)
        if unit < 0:
            return Decimal(0)
        least += units * unit + max(Decimal(0), min(orders)) + sum((o for o in orders if o < 0), Decimal(0))
    return least


def _block_length(need: Need) -> Iterator[Obstacle]:
    """No block of the pool is as long as the quickest mode."""
    ends = [(o, o.lots[0].ready + (need.days - 1) * DAY) for o in need.pool.options]
    if need.units and ends and all(o.is_hired and o.hire_end(end) is None for o, end in ends):
        longest = max(row.to for o, _ in ends if isinstance(o.offer, BlockOffer) for row in o.offer.days)
        wait = min((o.lots[0].ready - o.lots[0].delivery).days for o, _ in ends)
        yield (_limit("block_length", need.days + wait, longest, "days", None),)


def _second_source(need: Need) -> Iterator[Obstacle]:
    """A share must come from a second vendor, and only one vendor has an offer that can be used."""
    share = need.frame.scenario.policy.vendors.second_source_share
    if share and need.units and len(need.vendors) < 2:
        yield (_limit("second_source", share, 0, "share outside the largest vendor", None),)


def _signed(found: Sequence[Pool], rejected: Sequence[Rejection], frame: Frame) -> Iterator[ConflictLimit]:
    """Yield what units signed already break: more than offered, never delivered, not powered, not paid for."""
    signed = signed_units(frame)
    barred = {rejection.quote: rejection for rejection in rejected}
    kept: list[tuple[Sequence[Option], int]] = []
    for (quote, name), units in signed.items():
        label = f"{quote}/{name}"
        options = [option for pool in found for option in pool.options if option.offer_key == (quote, name)]
        if label in barred:
            yield _rejecting(barred[label])
        elif not options:
            yield ConflictLimit(
                name="delivery", needed=None, available=None, unit="", period=f"{label}, in the horizon"
            )
        else:
            yield from _signed_offer(label, units, options, frame)
            kept.append((options, units))
    yield from _signed_together(kept, frame)


def _signed_offer(label: str, units: int, options: Sequence[Option], frame: Frame) -> Iterator[ConflictLimit]:
    offer = options[0].offer
    needed = max(smallest_order(offer), ceil(units / offer.units.step) * offer.units.step)
    most = max(_units_offered(option) for option in options)
    if needed > most:
        yield _limit("supply", needed, most, "units", label)
    powered = [(option, _most_kw(option.site, frame)) for option in options]
    short = [(_owned_kw(o.site, frame) + needed * unit_power_kw(o, frame), kw) for o, kw in powered if kw is not None]
    if len(short) == len(options) and all(kw_needed > kw for kw_needed, kw in short):
        nearest = min(short, key=lambda pair: pair[0] - pair[1])
        yield _limit("power", *nearest, "kW", label)


def _units_offered(option: Option) -> int:
    """Return the most units of an order: its maximum, and what its lots hold."""
    lots = [lot.units for lot in option.lots]
    return maximum(option) if None in lots else min(maximum(option), sum(units for units in lots if units))


def _most_kw(site: str | None, frame: Frame) -> Decimal | None:
    """Return the most power a site ever has within the horizon; None without a limit."""
    steps = frame.site(site).power if site else None
    if steps is None:
        return None
    return max((step.kw for step in steps if step.from_ < frame.horizon), default=Decimal(0))


def _signed_together(kept: Sequence[tuple[Sequence[Option], int]], frame: Frame) -> Iterator[ConflictLimit]:
    total, most = frame.scenario.budget.total, frame.scenario.policy.vendors.max
    vendors = {options[0].quote.vendor for options, _ in kept}
    if most is not None and len(vendors) > most:
        yield _limit("vendors", len(vendors), most, "vendors", None)
    if total is not None and kept:
        least = least_cash(kept, 1, frame)
        if least > frame.amount(total):
            yield _limit("budget", least, frame.amount(total), frame.scenario.currency, None)


OBSTACLES: tuple[Callable[[Need], Iterator[Obstacle]], ...] = (
    _supply,
    _fabric,
    _late,
    _power,
    _racks,
    _budget,
    _block_length,
    _second_source,
)
"""What may keep a workload out of a pool, each looked at by itself."""
