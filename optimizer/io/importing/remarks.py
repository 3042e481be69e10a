"""What only the lines together show: a part priced twice, a missing description, an attachment ratio that fails."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from optimizer.io.importing.cells import Cell
from optimizer.io.importing.drafts import Draft
from optimizer.io.importing.notes import Notes
from optimizer.io.importing.numbers import plain
from optimizer.schema.base import Money
from optimizer.schema.quote_record import LineRecord

_AS_MANY = re.compile(r"(?:needs?|requires?|takes?) as many as ([\w./-]+)")


def quote_remarks(
    drafts: Sequence[Draft], lines: Sequence[LineRecord], prose: Iterable[Cell], notes: Notes, scale: Decimal
) -> None:
    """Note what the lines of one quote show together; ``scale`` is the factor of the sheet's unit."""
    _priced_twice(lines, notes)
    _undescribed(drafts, notes)
    _ratios(drafts, prose, notes)
    _codes(drafts, notes)
    _merged(drafts, notes)
    if scale != 1:
        _units(drafts, notes)
    _precision(lines, notes)


def _priced_twice(lines: Sequence[LineRecord], notes: Notes) -> None:
    prices: dict[str, dict[object, LineRecord]] = {}
    for line in lines:
        if line.part and isinstance(line.price, Money) and line.capacity is None:
            prices.setdefault(line.part, {}).setdefault(line.price.amount, line)
    for part, found in prices.items():
        if len(found) > 1:
            said = " and ".join(f"{amount:,f}" for amount in found)
            last = list(found.values())[-1]
            notes.warn("part_priced_twice", last.cell or last.id, f"part {part} is priced twice ({said})")


def _undescribed(drafts: Sequence[Draft], notes: Notes) -> None:
    if not any("description" in draft.cells for draft in drafts):
        return
    for draft in drafts:
        if "description" not in draft.cells and draft.price.amount and "part" in draft.cells:
            notes.warn("no_description", draft.place, f"{draft.name}: no description")


def _ratios(drafts: Sequence[Draft], prose: Iterable[Cell], notes: Notes) -> None:
    """Check notes such as ``needs as many as JH-G8`` under an item against the quantities."""
    parts = {draft.text("part"): draft for draft in drafts if draft.text("part")}
    for cell in prose:
        match = _AS_MANY.search(plain(cell.text))
        other = next((draft for part, draft in parts.items() if match and plain(part) == match[1]), None)
        above = [draft for draft in drafts if draft.sheet == cell.sheet and draft.row < cell.row]
        if other is None or not above:
            continue
        item = max(above, key=lambda draft: draft.row)
        if item.quantity != other.quantity and item.quantity is not None and other.quantity is not None:
            said = f"{item.quantity:f} of {item.text('part')} against {other.quantity:f} of {other.text('part')}"
            notes.warn("ratio_note_broken", cell.place, f'{said} breaks the note "{cell.text[:60]}"')


def _codes(drafts: Sequence[Draft], notes: Notes) -> None:
    for draft in drafts:
        stock = draft.cells.get("stock")
        if stock is not None and stock.number is None and re.fullmatch(r"[A-Z]{1,3}", stock.text):
            notes.once("stock_code", stock.place, f'stock "{stock.text}" is a code, not a number')


def _merged(drafts: Sequence[Draft], notes: Notes) -> None:
    for draft in drafts:
        for role, cell in draft.cells.items():
            if cell.origin == "merged":
                notes.once("merged_cell", cell.place, f"{role} is merged over several rows; each gets it")


def _units(drafts: Sequence[Draft], notes: Notes) -> None:
    """Note a price that names its own unit in a sheet with another one."""
    scaled = [draft for draft in drafts if draft.price.scaled and draft.cells.get("unit_price")]
    for draft in scaled:
        if len(scaled) < len(drafts) / 2 and len(drafts) > 1 and re.search("[元円]", draft.cells["unit_price"].text):
            notes.warn(
                "unit_differs",
                draft.place,
                f'{draft.name}: "{draft.cells["unit_price"].text}" names its own unit, unlike the sheet',
            )


def _precision(lines: Sequence[LineRecord], notes: Notes) -> None:
    for line in lines:
        amount = line.printed if line.role == "freight" else None
        if amount is not None and amount != round(amount, 2):
            notes.warn(
                "more_decimals",
                line.cell or line.id,
                f"{line.description}: {amount:f} has more decimals than the currency",
            )
