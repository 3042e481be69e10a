"""The same items on two sheets are imported once and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from optimizer.io.importing.drafts import Draft
from optimizer.io.importing.notes import Notes

_KEY = ("part", "description")


def once(drafts: Sequence[Draft], notes: Notes) -> list[Draft]:
    """Return the drafts without those of a sheet whose items all stand on an earlier one; what is new is merged."""
    sheets = list(dict.fromkeys(draft.sheet for draft in drafts))
    by_sheet = {sheet: [draft for draft in drafts if draft.sheet == sheet] for sheet in sheets}
    kept: list[str] = []
    for sheet in sheets:
        twin = next((other for other in kept if _same(by_sheet[other], by_sheet[sheet])), None)
        if twin is None:
            kept.append(sheet)
            continue
        said = f'the same items stand on the sheets "{twin}" and "{sheet}"; they are imported once'
        notes.warn("duplicate_sheet", by_sheet[sheet][0].place, said)
        by_sheet[twin] = _merged(by_sheet[twin], by_sheet[sheet], notes)
    return [draft for sheet in kept for draft in by_sheet[sheet]]


def _key(draft: Draft) -> tuple[str, ...]:
    return tuple(draft.text(role).casefold() for role in _KEY)


def _same(one: Sequence[Draft], other: Sequence[Draft]) -> bool:
    """True when all items of the other are items of the one: by part and description, and most by amount too."""
    known = {_key(draft): draft for draft in one}
    if not other or any(_key(draft) not in known for draft in other):
        return False
    equal = sum(draft.quantity == known[_key(draft)].quantity for draft in other)
    return 2 * equal >= len(other)


def _merged(kept: list[Draft], twins: Sequence[Draft], notes: Notes) -> list[Draft]:
    others = {_key(draft): draft for draft in twins}
    merged = []
    for draft in kept:
        twin = others.get(_key(draft))
        if twin is None:
            merged.append(draft)
            continue
        _compare(draft, twin, notes)
        cells = {**twin.cells, **draft.cells}
        months, discount = draft.months or twin.months, draft.discount or twin.discount
        merged.append(replace(draft, cells=cells, months=months, discount=discount))
    return merged


def _compare(one: Draft, other: Draft, notes: Notes) -> None:
    pairs: tuple[tuple[str, Decimal | None, Decimal | None], ...] = (
        ("quantity", one.quantity, other.quantity),
        ("price", one.price.amount, other.price.amount),
    )
    for name, first, second in pairs:
        if first is not None and second is not None and first != second:
            said = f"{one.name}: {name} {first:,f} at {one.place} but {second:,f} at {other.place}; the first is used"
            notes.warn("sheets_differ", other.place, said)
