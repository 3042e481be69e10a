"""Bundles: a priced line over components without a price; the group is priced, the components stay for checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from optimizer.io.importing.drafts import Draft
from optimizer.io.importing.money import Price
from optimizer.schema.price import PriceState


def with_bundles(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts with components of a priced line included in it.

    A component names its parent in a column, or by its number: 1.2 is a part of 1.
    """
    priced = {draft.text("line") for draft in drafts if draft.text("line") and draft.price.state is PriceState.PRICED}
    return [_included(draft, parent) if (parent := _parent(draft)) in priced else draft for draft in drafts]


def _parent(draft: Draft) -> str:
    return draft.text("parent") or draft.text("line").rpartition(".")[0]


def _included(draft: Draft, parent: str) -> Draft:
    if draft.price.state is not PriceState.MISSING or draft.printed:
        return draft
    price = Price(PriceState.INCLUDED, Decimal(0), note=f"in the price of line {parent}")
    return replace(draft, price=price)
