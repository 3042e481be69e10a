"""Supply curves: the least a pool's nodes can cost, whatever is scheduled on them. Lower bounds, in floating point.

Awards cost what they cost; a schedule matters to them only through the nodes it needs at a time. For each pool and each
day on which more of it becomes ready, the curve gives the least present value of awards with at least so many units ready
by then: a min-plus convolution over offers, so minimum, step, price breaks and lots are exact. Left out, which only lowers
it: that contracts end, what pools share (budgets, vendors, halls), entries paid once, tables of ``costs``.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil

import numpy as np
import numpy.typing as npt

from optimizer.cost.after import After
from optimizer.cost.charge import with_contingency
from optimizer.cost.frame import DAY, Frame
from optimizer.cost.items import order_charges
from optimizer.cost.option import Option, Piece, fill_lots, is_incremental, maximum, possible_pieces
from optimizer.cost.plan_cost import present_value
from optimizer.schema.quote import ReservedOffer, TieredPrice
from optimizer.solver.bounds import PoolBound
from optimizer.solver.offers import following_options, rack_positions, unit_power_kw, units_per_rack
from optimizer.solver.prices import without_prices
from optimizer.solver.problem import Pool

Costs = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


START_STEP_DAYS = 45
"""Days between the starts of reserved terms that are priced; between two the later, cheaper one counts."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Least cost of a pool's awards by units and day.

    Attributes:
        pool: The pool.
        ready: Days (since today) on which more becomes ready, ascending; class k holds from ``ready[k]`` on.
        least: Class x units -> least cost of awards with at least so many units ready; infinite when impossible.
        whenever: Units -> least cost of awards of at least so many units, ready on any day.
        entry: Least cost of the entries paid once that every award of the pool matches, without prices of budgets.
        priced_entry: The same with them.
        most: Most units there are of all offers.
    """

    pool: Pool
    ready: Counts
    least: Costs
    whenever: Costs
    entry: float
    priced_entry: float
    most: int

    def used(self, value_per_unit: float, most_units: float) -> Curve:
        """Return the curve less receipts, when each unit up to a number earns a value: it may pay to have more.

        Also units that become ready later earn: with t in all, awards cost no less than t units whenever they are ready.
        The table must hold as many units as may earn.
        """
        units = np.arange(self.least.shape[1], dtype=np.float64)
        earned = np.minimum(units, most_units) * value_per_unit
        more = np.append(np.minimum.accumulate((self.whenever - earned)[::-1])[::-1], np.inf)
        same = np.searchsorted(self.whenever, self.least, side="right")  # so many and no more for the same money
        return replace(self, least=_at_least(np.minimum(self.least - earned[same - 1], more[same])))

    def units(self, nodes: Counts) -> Counts:
        """Return the units that must be awarded for some nodes at once."""
        return -(-np.maximum(nodes - self.pool.owned_nodes, 0) // self.pool.platform.nodes_per_unit)


def _at_least(exactly: Costs) -> Costs:
    return np.minimum.accumulate(exactly[..., ::-1], axis=-1)[..., ::-1]


Worth = Callable[[Option], tuple[float, float]]
"""What a unit of an option earns at most after the last run, and how many units may earn it."""


def curve(
    pool: Pool, after: After, most_nodes: int, last_start: int, frame: Frame, worth: Worth | None = None
) -> Curve:
    """Return the supply curve of a pool in an after-run situation, up to some nodes in use at once.

    Args:
        pool: The pool; hires for one run are left out.
        after: The situation; under ``use`` its receipts are left out too.
        most_nodes: Most nodes asked for.
        last_start: Last day (since today) on which a run may start.
        frame: Dates and rates, perhaps with prices of budgets: reserved terms, which may begin on any day, have none.
        worth: What each award may earn, taken off its cost; None = nothing.
    """
    options = _lasting(pool, last_start, frame)
    first = [0] if pool.owned_nodes else []
    ready = sorted({*first, *((lot.ready - frame.today).days for option in options for lot in option.lots)})
    plain, lasting = without_prices(frame), replace(pool, options=tuple(options))
    frames = [plain if isinstance(option.offer, ReservedOffer) else frame for option in options]
    bounds = {own: PoolBound(lasting, own, after) for own in (plain, frame)}
    size = ceil(max(0, most_nodes - pool.owned_nodes) / pool.platform.nodes_per_unit) + 1
    priced = [
        _award_costs(option, _rates(option, bounds[own], own), size, own)
        for option, own in zip(options, frames, strict=True)
    ]
    if worth is not None:
        priced = [_earning(awards, *worth(option)) for option, awards in zip(options, priced, strict=True)]
    rows = [_class_costs(options, priced, frame.today + day * DAY, pool, size, frame) for day in ready]
    least = np.array(rows, dtype=np.float64).reshape(len(rows), size)
    whenever = _class_costs(options, priced, None, pool, size, frame)
    entry, same = bounds[plain].shared if options else 0.0, plain in frames or not options
    priced_entry = entry if same else bounds[frame].shared
    return Curve(pool, np.array(ready, dtype=np.int64), least, whenever, entry, priced_entry, _supply(options))


def _rates(option: Option, bound: PoolBound, frame: Frame) -> list[tuple[Piece, float]]:
    """Return the cost per unit of each piece: linear in its price, so two prices of a lot give all."""
    groups: dict[dt.date, list[Piece]] = defaultdict(list)
    pieces = possible_pieces(option, frame)
    for piece in pieces:
        groups[piece.lot.delivery].append(piece)
    lines = {day: _line(min(own, key=_price), max(own, key=_price), bound) for day, own in groups.items()}
    nodes = option.platform.nodes_per_unit
    return [(piece, nodes * lines[piece.lot.delivery](float(piece.unit_price))) for piece in pieces]


def _price(piece: Piece) -> Decimal:
    return piece.unit_price


def _line(low: Piece, high: Piece, bound: PoolBound) -> Callable[[float], float]:
    start, end, one = float(low.unit_price), float(high.unit_price), bound.per_node(low)
    slope = (bound.per_node(high) - one) / (end - start) if end > start else 0.0
    return lambda price: one + slope * (price - start)


def _supply(options: Sequence[Option]) -> int:
    most: dict[tuple[str, str], int] = defaultdict(int)
    for option in options:
        most[option.offer_key] = max(most[option.offer_key], maximum(option))
    return sum(most.values())


def _lasting(pool: Pool, last_start: int, frame: Frame) -> list[Option]:
    """Return what is not hired for one run; reserved terms also from further days, to the last that may be of use."""
    found = [option for option in pool.options if not option.is_hired and not option.follows]
    for option in {option.offer_key: option for option in found if isinstance(option.offer, ReservedOffer)}.values():
        start = option.offer.start if isinstance(option.offer, ReservedOffer) else None
        last = min(start[1] if start else frame.last_day, frame.today + last_start * DAY)
        wait, first = option.lots[0].ready - option.lots[0].delivery, option.lots[0].delivery
        days = {last - offset * DAY for offset in range(0, max((last - first).days, 0) + 1, START_STEP_DAYS)}
        days -= {other.lots[0].delivery for other in found if other.offer_key == option.offer_key}
        more = following_options(option, [day + wait for day in sorted(days)], frame)
        found += [replace(other, follows=False) for other in more]
    return sorted(found, key=lambda option: option.lots[0].ready)


@dataclass(frozen=True, slots=True)
class _Awards:
    """Awards of an option: units and cost of each."""

    units: Counts
    costs: Costs


def _earning(awards: _Awards, value_per_unit: float, most_units: float) -> _Awards:
    return _Awards(awards.units, awards.costs - np.minimum(awards.units, most_units) * value_per_unit)


def _award_costs(option: Option, pieces: Sequence[tuple[Piece, float]], size: int, frame: Frame) -> _Awards:
    """Return every award up to what may be needed, or up to the next price break beyond it."""
    breaks = max(option.offer.price.breaks) if isinstance(option.offer.price, TieredPrice) else 1
    allowed = option.offer.units
    least = max(allowed.min, pieces[0][0].first, 1)
    most = min(maximum(option), max(size, breaks, least) + allowed.step)
    units = np.arange(ceil(least / allowed.step) * allowed.step, most + 1, allowed.step, dtype=np.int64)
    fixed = float(sum(present_value(c, frame) for c in with_contingency(order_charges(option, frame), frame)))
    if is_incremental(option):
        costs = sum(rate * np.clip(units - piece.first + 1, 0, piece.last - piece.first + 1) for piece, rate in pieces)
        return _Awards(units, fixed + np.asarray(costs, dtype=np.float64))
    costs = np.full(len(units), np.inf)
    for first in sorted({piece.first for piece, _ in pieces}):
        own = [(piece, rate) for piece, rate in pieces if piece.first == first]
        inside = (units >= first) & (units <= own[0][0].last)
        costs[inside] = _filled(units[inside], own)
    return _Awards(units, np.asarray(fixed + costs, dtype=np.float64))


def _filled(units: Counts, own: Sequence[tuple[Piece, float]]) -> Costs:
    """Return the cost of orders whose lots fill one after another."""
    total, left = np.zeros(len(units)), units.copy()
    for piece, rate in own:
        count = left if piece.lot.units is None else np.minimum(left, piece.lot.units)
        total += rate * count
        left = left - count
    total[left > 0] = np.inf
    return total


def _class_costs(
    options: Sequence[Option], priced: Sequence[_Awards], day: dt.date | None, pool: Pool, size: int, frame: Frame
) -> Costs:
    """Return the least cost of at least 0, 1, 2 … units that are ready on a day (None: on any).

    Awards of which nothing is ready may be there for what they earn.
    """
    offers: dict[tuple[str, str], Costs] = {}
    for option, awards in zip(options, priced, strict=True):
        row = np.full(size, np.inf)
        row[0] = 0.0
        ready = awards.units
        if day is not None:
            ready = _ready(option, ready, day) if _counts(option, options, day) else np.zeros_like(ready)
        np.minimum.at(row, np.minimum(ready, size - 1), awards.costs)
        known = offers.get(option.offer_key)
        offers[option.offer_key] = row if known is None else np.minimum(known, row)
    total = np.full(size, np.inf)
    total[0] = 0.0
    for row in offers.values():
        total = _convolved(total, _at_least(row))
    if day is not None:  # contracts that end make room for others
        total[_ceiling(pool, options, day, frame) + 1 :] = np.inf
    return _at_least(total)


def _counts(option: Option, options: Sequence[Option], day: dt.date) -> bool:
    """Return whether an option may serve a run that starts on a day, or before the next class.

    A lease must not have ended. A reserved term may start on any day: from the next known start on it would be cheaper.
    """
    if not isinstance(option.offer, ReservedOffer):
        return option.lots[0].ready <= day and (option.end is None or option.end >= day)
    starts = [other.lots[0].ready for other in options if other.offer_key == option.offer_key]
    before = [start for start in starts if start < option.lots[0].ready]
    return option.lots[0].ready <= day or (bool(before) and max(before) <= day)


def _ready(option: Option, units: Counts, day: dt.date) -> Counts:
    if len(option.lots) == 1:
        return units
    return np.array(
        [sum(count for lot, count in fill_lots(option, int(number)) if lot.ready <= day) for number in units],
        dtype=np.int64,
    )


def _convolved(one: Costs, other: Costs) -> Costs:
    """Return the least sums: result[u] = min over v of one[u - v] + other[v]."""
    size = len(one)
    padded = np.concatenate([np.full(size - 1, np.inf), one])
    shifted = np.lib.stride_tricks.sliding_window_view(padded, size)[:, ::-1]  # row u: one[u], one[u - 1], …
    return np.asarray((shifted + other).min(axis=1), dtype=np.float64)


def _ceiling(pool: Pool, options: Sequence[Option], day: dt.date, frame: Frame) -> int:
    """Return the most units the hall may hold of what is ready by a day: by its power, and by its racks."""
    if pool.site is None or not options:
        return len(options) and 10**9
    site = frame.site(pool.site)
    limits = [10**9]
    if site.power is not None:
        feeding = [step.kw for step in site.power if step.from_ <= day]
        least = min(unit_power_kw(option, frame) for option in options)
        limits.append(int(max(feeding, default=Decimal(0)) // least))
    if site.zones is not None:
        spots = rack_positions(pool.platform)
        limits.append(sum(zone.racks // spots * units_per_rack(pool.platform, zone) for zone in site.zones.values()))
    return min(limits)
