"""The scenario's ``costs`` entries: which awards match, how they are counted, when they are paid."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from decimal import Decimal

from optimizer.cost.after import After
from optimizer.cost.charge import Charge, Factor, months, on_day, stated
from optimizer.cost.frame import Frame
from optimizer.cost.option import Option, Piece, per_unit
from optimizer.schema.base import Money
from optimizer.schema.platform import Platform
from optimizer.schema.quote import Offer
from optimizer.schema.scenario import CostEntry

COUNTED = ("accelerator", "node", "unit")
"""Entries that multiply with the pieces awarded; the others are paid once per plan, platform or run."""

MONTHS_PER_YEAR = Decimal(12)


def matches(entry: CostEntry, offer: Offer, platform: Platform) -> bool:
    """Return whether an award of the offer counts for the entry."""
    return (entry.types is None or offer.type in entry.types) and (
        entry.platforms is None or platform.id in entry.platforms
    )


def matching(frame: Frame, option: Option) -> Iterator[CostEntry]:
    """Yield the entries an option matches."""
    return (entry for entry in frame.scenario.costs if matches(entry, option.offer, option.platform))


def delay_days(frame: Frame, offer: Offer, platform: Platform) -> int:
    """Return the days that matching entries (migration, for example) delay readiness."""
    return sum(entry.delay_days for entry in frame.scenario.costs if matches(entry, offer, platform))


def pieces_per_unit(entry: CostEntry, option: Option) -> int:
    """Return how much one purchase unit adds to the entry's count."""
    return per_unit(entry.per if entry.per in COUNTED else "accelerator", option)


def table(entry: CostEntry, frame: Frame) -> tuple[tuple[int, Factor], ...]:
    """Return (first count, amount) ascending, in the scenario's currency; one row without a table."""
    rows = {1: entry.amount} if isinstance(entry.amount, Money) else entry.amount
    unit, source = f"per {entry.per}, {entry.every}", f"scenario costs, {entry.name}"
    return tuple((first, stated("amount", money, unit, source, frame)) for first, money in rows.items())


def amount_at(entry: CostEntry, count: int, frame: Frame) -> Factor:
    """Return the amount that holds at a count (all-units)."""
    return max((row for row in table(entry, frame) if row[0] <= count), key=lambda row: row[0])[1]


def extra_kw_per_unit(frame: Frame, option: Option) -> Decimal:
    """Return the IT power that counted entries add per purchase unit at the option's site, kW."""
    counted = (entry for entry in matching(frame, option) if entry.per in COUNTED)
    return sum((entry.kw * pieces_per_unit(entry, option) for entry in counted), Decimal(0))


def shared_kw_entries(frame: Frame, option: Option) -> Iterator[CostEntry]:
    """Yield the entries that add power once at each site with a matching award."""
    return (entry for entry in matching(frame, option) if entry.per in ("cluster", "platform") and entry.kw)


def counted_charge(entry: CostEntry, amount: Factor, piece: Piece, after: After, frame: Frame) -> Charge | None:
    """Return what one unit of a piece pays for a counted entry at a given amount; None when nothing."""
    pieces = Factor(f"{entry.per}s per unit", Decimal(pieces_per_unit(entry, piece.option)), entry.per, "platform")
    last = after.last_day_of_costs(piece.option, frame)
    charge = _charge(entry, amount, piece.lot.delivery, last, frame)
    return charge.times(pieces) if charge else None


def shared_charge(
    entry: CostEntry, amount: Factor, options: Iterable[tuple[Option, dt.date, dt.date]], after: After, frame: Frame
) -> Charge | None:
    """Return what a cluster or platform entry costs for the awards (option, first day, last day) that match."""
    days = list(options)
    first = min(day for _, day, _ in days)
    last = min(max(day for _, _, day in days), after.last_shared_day(frame))
    return _charge(entry, amount, first, last, frame)


def run_charge(entry: CostEntry, amount: Factor, start: dt.date) -> Charge:
    """Return what a ``run`` entry costs for one run."""
    return Charge(_item(entry), (amount,), on_day(start), contingent=True)


def _item(entry: CostEntry) -> str:
    return f"cost:{entry.name}"


def _charge(entry: CostEntry, amount: Factor, first: dt.date, last: dt.date, frame: Frame) -> Charge | None:
    if entry.every == "once":
        return Charge(_item(entry), (amount,), on_day(first), contingent=True)
    if last < first:
        return None
    count, cash = months(first, last)
    periods = count if entry.every == "month" else count / MONTHS_PER_YEAR
    return Charge(
        _item(entry), (amount, Factor(f"{entry.every}s", periods, entry.every, "calendar")), cash, contingent=True
    )
