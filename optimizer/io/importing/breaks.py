"""Quantity breaks: rows of one item at several quantities become one price by quantity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from optimizer.io.importing.drafts import Draft
from optimizer.io.importing.notes import Notes
from optimizer.io.importing.numbers import plain
from optimizer.io.importing.reader import Reader
from optimizer.schema.base import Money
from optimizer.schema.price import PriceState, TieredPrice, Units
from optimizer.schema.quote_record import LineRecord


@dataclass(frozen=True, slots=True)
class Tier:
    """One break: first and last quantity (None: no limit), unit price, and where it stands."""

    first: int
    last: int | None
    amount: Decimal
    place: str


def same_item(one: Draft, other: Draft) -> bool:
    """True when two rows are breaks of one item."""
    if one.breaks[0] is None or other.breaks[0] is None:
        return False
    keys = ("offer", "line") if one.text("offer") else ("quote_id",)
    words = (*keys, "part", "description", "currency", "basis", "commitment")
    return one.sheet == other.sheet and all(one.text(word) == other.text(word) for word in words)


def grouped(drafts: Sequence[Draft]) -> list[list[Draft]]:
    """Return the drafts in order, rows of breaks of one item together."""
    groups: list[list[Draft]] = []
    for draft in drafts:
        if groups and same_item(groups[-1][0], draft):
            groups[-1].append(draft)
        else:
            groups.append([draft])
    return groups


def with_breaks(record: LineRecord, drafts: Sequence[Draft], reader: Reader) -> LineRecord:
    """Return the record with the prices and quantities of all its break rows."""
    units = _units(drafts, reader)
    changes: dict[str, object] = {"units": units} if units else {}
    tiers = [
        Tier(draft.breaks[0], draft.breaks[1], draft.price.amount, draft.place_of("min_quantity"))
        for draft in drafts
        if draft.breaks[0] is not None and draft.price.amount is not None and draft.price.state is PriceState.PRICED
    ]
    if len(tiers) > 1:
        changes["price"] = _tiered(continuous(tiers, reader.notes), drafts, reader)
    return record.model_copy(update=changes)


def continuous(tiers: Sequence[Tier], notes: Notes) -> dict[int, Decimal]:
    """Return first quantity -> price without overlaps and gaps; where rows disagree the dearer price counts.

    >>> rows = [Tier(1, 10, Decimal(468000), "F5"), Tier(10, 50, Decimal(455000), "F6")]
    >>> continuous(rows, Notes())
    {1: Decimal('468000'), 11: Decimal('455000')}
    """
    ordered = sorted(tiers, key=lambda tier: tier.first)
    prices = {ordered[0].first: ordered[0].amount}
    for before, tier in zip(ordered, ordered[1:]):
        first = tier.first
        if before.last is not None and before.last != tier.first - 1:
            first = _border(before, tier, notes)
        elif before.first == tier.first and before.amount != tier.amount:
            notes.warn(
                "breaks_equal", tier.place, f"two prices from {tier.first} on ({before.place}); the dearer is used"
            )
            prices[tier.first] = max(before.amount, tier.amount)
            continue
        prices[first] = tier.amount
    return prices


def _border(before: Tier, tier: Tier, notes: Notes) -> int:
    """Return the first quantity of a row whose neighbour overlaps it or leaves a gap."""
    last = before.last or 0
    overlap = last >= tier.first
    code = "breaks_overlap" if overlap else "breaks_gap"
    said = "overlap at" if overlap else "leave a gap before"
    dearer = max(before.amount, tier.amount)
    notes.warn(
        code,
        tier.place,
        f"breaks {said} {tier.first} ({before.place} and {tier.place}); the dearer {dearer:,f} is used",
    )
    if overlap:
        return last + 1 if before.amount >= tier.amount else tier.first
    return tier.first if before.amount >= tier.amount else last + 1


def _tiered(prices: dict[int, Decimal], drafts: Sequence[Draft], reader: Reader) -> TieredPrice:
    said = plain(" ".join(draft.text("note") for draft in drafts))
    kind = reader.mapping.breaks
    if kind is None:
        kind = "incremental" if any(word in said for word in ("incremental", "marginal", "per bracket")) else None
    if kind is None and "all units" not in said:
        assumed = "breaks are read as all units at the price of the break reached; the sheet does not say"
        reader.notes.once("breaks_all_units_assumed", drafts[0].place, assumed)
    if kind == "incremental" and min(prices) > 1:
        said = f"incremental breaks start at {min(prices)}; the first price is used for the units before it"
        reader.notes.warn("breaks_start_late", drafts[0].place, said)
        prices = {1: prices[min(prices)], **{first: amount for first, amount in prices.items() if first != min(prices)}}
    table = {first: Money(amount=amount) for first, amount in prices.items()}
    return TieredPrice(incremental=table) if kind == "incremental" else TieredPrice(all_units=table)


def _units(drafts: Sequence[Draft], reader: Reader) -> Units | None:
    """Return the allowed quantities of break rows and of minimum, step and maximum columns."""
    first, last = drafts[0], drafts[-1]
    low = first.breaks[0]
    least = reader.number(first.cells.get("min_units"))
    step = reader.number(first.cells.get("unit_step"))
    multiple = reader.number(first.cells.get("moq"))
    if low is None and least is None and step is None and multiple is None and "max_units" not in first.cells:
        return None
    minimum = max(int(number) for number in (low, least, multiple, 1) if number is not None)
    if multiple is not None and low is not None and low != multiple:
        said = f"minimum quantity {low} and order multiple {multiple:f} disagree: {minimum} is used as the minimum"
        reader.notes.warn("moq_conflict", first.place_of("moq"), said)
    ceiling = last.breaks[1] or _maximum(first, reader)
    steps = int(step or multiple or 1)
    return Units(min=minimum, step=max(steps, 1), max=ceiling if ceiling is None or ceiling >= minimum else None)


def _maximum(draft: Draft, reader: Reader) -> int | None:
    cell = draft.cells.get("max_units")
    if cell is None:
        return None
    words = plain(cell.text)
    total = [part for part in words.split(";") if "total" in part]
    number = cell.number if cell.number is not None else reader.leading(total[0] if total else words)
    if number is not None and any(word in words for word in ("contact", "above", "call", "over")):
        said = f'"{cell.text}": above {number:,f} the price is unknown'
        reader.notes.once("price_unknown_above", cell.place, said)
    return int(number) if number is not None else None
