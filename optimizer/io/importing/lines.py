"""Drafts -> line records: states instead of zeros, extended prices recomputed, every doubt noted."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from optimizer.io.importing.drafts import Draft
from optimizer.io.importing.money import Price
from optimizer.io.importing.numbers import plain, unscaled
from optimizer.io.importing.reader import Reader, answer_key
from optimizer.io.importing.terms import read_lead, read_lots, read_share_lots
from optimizer.schema.base import Money
from optimizer.schema.price import PriceState
from optimizer.schema.quote_record import LineRecord
from optimizer.units import minor_digits, round_money

NO_CURRENCY = "XXX"
"""ISO 4217 code for no currency: written where a file does not say which one its amounts are in."""

_KEYS = {
    "unit_price": "price", "gross_price": "price", "extended": "printed", "extended_gross": "gross",
    "stock": "availability", "lead_time": "lead_days", "schedule": "lots", "min_quantity": "quantity",
    "more_description": "note",
}  # fmt: skip
_SOLD_IN = re.compile(r"sold (?:only )?in (?:multiples of )?(\d[\d,]*)")
_UNSURE = (PriceState.ESTIMATE, PriceState.LOWER_BOUND)


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for the lines of one quote: its currency and whether its prices include tax, at which rate."""

    currency: str
    tax_included: bool
    tax_rate: Decimal | None


def to_record(draft: Draft, line_id: str, terms: Terms, reader: Reader) -> LineRecord:
    """Return the record of a draft."""
    draft = _settled(_priced(draft, reader), reader)
    price = draft.price
    rate = draft.tax_rate if draft.tax_rate is not None else terms.tax_rate
    included = draft.tax_included if draft.tax_included is not None else terms.tax_included
    computed = _computed(draft, terms.currency)
    values: dict[str, Any] = {
        **_texts(draft),
        **_delivery(draft, reader),
        "id": line_id,
        "role": draft.role or "hardware",
        "quantity": draft.quantity,
        "price": money_of(price, terms.currency),
        "price_per": draft.basis.per_quantity,
        "per": draft.basis.per,
        "accelerators": draft.basis.accelerators,
        "list_price": money_of(draft.list_price, terms.currency) if draft.list_price.amount else None,
        "discount": draft.discount,
        "status": price.state,
        "low": price.low if price.low is not None else (price.amount if price.state in _UNSURE else None),
        "high": price.high,
        "readings": price.options,
        "reason": None if price.state is PriceState.MISSING else price.note or None,
        "printed": draft.printed if draft.printed is not None else draft.printed_gross,
        "computed": computed,
        "tax_rate": draft.tax_rate,
        "net": _net(price, rate, terms.currency) if included and rate else None,
        "gross": _gross(computed, rate, terms.currency) if "extended_gross" in draft.cells and not included else None,
        "months": draft.months,
        "cell": price_place(draft),
        "cells": {_KEYS.get(role, role): cell.place for role, cell in draft.cells.items()},
    }
    record = LineRecord(**values)
    _compare(draft, record, terms, reader)
    return record


def money_of(price: Price, currency: str) -> Money | PriceState:
    """Return an amount, with its code when it is not the quote's currency, or the state."""
    if price.state is not PriceState.PRICED or price.amount is None:
        amount_kept = price.state in (PriceState.OPTION, PriceState.ALTERNATE) and price.amount is not None
        return Money(amount=price.amount, currency=None) if amount_kept and price.amount is not None else price.state
    code = price.currency or NO_CURRENCY
    return Money(amount=price.amount, currency=None if code == currency else code)


def extension(price: Decimal, quantity: Decimal, per: Decimal) -> Decimal:
    """Return quantity x price / quantity of one price."""
    return quantity * price / per


def _priced(draft: Draft, reader: Reader) -> Draft:
    """Fill in a unit price that only the list price with a discount, or the extended price, gives."""
    blank = draft.price.state is PriceState.MISSING
    if blank and draft.discount is not None and draft.list_price.amount:
        amount = draft.list_price.amount * (1 - draft.discount)
        reader.notes.once("price_from_list", draft.place, "unit prices are list price less discount")
        return replace(draft, price=replace(draft.list_price, amount=amount))
    printed = draft.printed if draft.printed is not None else draft.printed_gross
    if blank and printed:
        quantity = draft.quantity if draft.quantity and draft.quantity > 0 else Decimal(1)
        unit = printed / quantity
        exact = unit == round(unit, 4)
        basis = draft.basis if exact else replace(draft.basis, per_quantity=quantity)
        found = Price(
            PriceState.PRICED,
            unscaled(round(unit, 4)) if exact else printed,
            draft.price.currency or _code(draft, reader),
        )
        return replace(draft, price=found, quantity=quantity, basis=basis)
    if blank and not any(role in draft.cells for role in ("unit_price", "gross_price")) and draft.list_price.amount:
        reader.notes.once("list_price_used", draft.place, "the sheet has list prices only; they are read as the prices")
        return replace(draft, price=draft.list_price)
    return draft


def _code(draft: Draft, reader: Reader) -> str:
    role = "extended" if draft.printed is not None else "extended_gross"
    return reader.price(draft.cells[role]).currency


def _settled(draft: Draft, reader: Reader) -> Draft:
    """Settle what one cell alone does not: two readings, zeros, brackets, prices per 100 or 1,000."""
    price = draft.price
    if price.state is PriceState.AMBIGUOUS and "ambiguous_currency" not in price.codes:
        draft = _by_extension(draft)
    if draft.price.state is PriceState.AMBIGUOUS:
        _ask_price(draft, reader)
    elif draft.price.state is PriceState.MALFORMED:
        cell = draft.cells.get("unit_price")
        said = f'"{cell.text[:60]}" is no price' if cell else "no price can be read"
        reader.notes.ask("malformed_price", draft.place, f"{said}; what is the price?", f"cells.{_key(draft)}")
    elif draft.price.amount == 0 and draft.price.state is PriceState.PRICED:
        draft = _zero(draft, reader)
    elif "brackets_negative" in draft.price.codes:
        draft = _bracketed(draft)
    elif draft.price.state is PriceState.PRICED:
        draft = _per_hundred(draft, reader)
    return draft


def _by_extension(draft: Draft) -> Draft:
    """Return the draft with the reading that makes quantity x price = extended, when exactly one does."""
    if draft.printed is None or draft.quantity is None:
        return draft
    numbers = [Decimal(option) for option in draft.price.options if re.fullmatch(r"-?\d+(\.\d+)?", option)]
    fitting = [
        number
        for number in numbers
        if abs(extension(number, draft.quantity, draft.basis.per_quantity) - draft.printed) < Decimal("0.01")
    ]
    if len(fitting) != 1:
        return draft
    return replace(draft, price=replace(draft.price, state=PriceState.PRICED, amount=fitting[0], options=()))


def _ask_price(draft: Draft, reader: Reader) -> None:
    cell = draft.cells.get("unit_price") or draft.cells.get("gross_price")
    text = cell.text[:60] if cell else ""
    code = "ambiguous_currency" if "ambiguous_currency" in draft.price.codes else "ambiguous_price"
    reader.notes.ask(
        code,
        draft.place,
        f'{draft.name}: "{text}" has several readings; which one?',
        f"cells.{_key(draft)}",
        draft.price.options,
    )


def _key(draft: Draft) -> str:
    cell = draft.cells.get("unit_price") or draft.cells.get("gross_price")
    return answer_key(cell) if cell else draft.place


def _zero(draft: Draft, reader: Reader) -> Draft:
    """A printed zero is free with its reason, included where list price says so too, otherwise asked; never just 0."""
    price = draft.price
    if price.note:
        return replace(draft, price=replace(price, state=PriceState.FREE))
    answer = reader.mapping.zero
    if answer:
        state = PriceState(answer)
        return replace(
            draft, price=replace(price, state=state, amount=Decimal(0) if state.is_zero else None, note="as answered")
        )
    if draft.list_price.amount == 0 and draft.quantity:
        said = "a price of zero beside a list price of zero is read as included, not as missing"
        reader.notes.warn("zero_price_included", draft.place, f"{draft.name}: {said}")
        return replace(draft, price=replace(price, state=PriceState.INCLUDED, note="zero price and zero list price"))
    if draft.quantity == 0:
        return replace(draft, price=Price(PriceState.NO_BID, note="quantity and price are zero"))
    reader.notes.ask(
        "zero_price", draft.place, f"{draft.name} is printed with a price of zero: included, free, or not priced?", "zero",
        ("included", "free", "missing"),
    )  # fmt: skip
    return replace(
        draft, price=replace(price, state=PriceState.AMBIGUOUS, amount=None, options=("included", "free", "missing"))
    )


def _bracketed(draft: Draft) -> Draft:
    """Brackets are a negative amount, or an optional price: a line with a quantity whose extension is blank."""
    optional = (
        draft.quantity is not None
        and draft.printed is None
        and "extended" in draft.columns
        and draft.role != "discount"
    )
    if not optional or draft.price.amount is None:
        return draft
    return replace(draft, price=replace(draft.price, state=PriceState.OPTION, amount=-draft.price.amount))


def _per_hundred(draft: Draft, reader: Reader) -> Draft:
    """Read a price as per 100 or 1,000 when only that makes the printed extension."""
    if draft.printed is None or not draft.quantity or not draft.price.amount or draft.basis.per_quantity != 1:
        return draft
    for per in (Decimal(100), Decimal(1000)):
        if abs(extension(draft.price.amount, draft.quantity, per) - draft.printed) < Decimal("0.01"):
            reader.notes.warn(
                "price_per_inferred", draft.place, f"{draft.name}: only a price per {per} gives the printed extension"
            )
            return replace(draft, basis=replace(draft.basis, per_quantity=per))
    return draft


def _computed(draft: Draft, currency: str) -> Decimal | None:
    if draft.price.state.is_zero:
        return Decimal(0)
    known = draft.price.state in (PriceState.PRICED, PriceState.OPTION, PriceState.ALTERNATE)
    if not known or draft.price.amount is None or draft.quantity is None:
        return None
    exact = extension(draft.price.amount, draft.quantity, draft.basis.per_quantity)
    return exact if exact == round_money(exact, currency) else unscaled(exact)


def _net(price: Price, rate: Decimal, currency: str) -> Decimal | None:
    return (
        round_money(price.amount / (1 + rate), currency) if price.amount and price.state is PriceState.PRICED else None
    )


def _gross(computed: Decimal | None, rate: Decimal | None, currency: str) -> Decimal | None:
    if computed is None or (rate is None and computed):
        return None
    return round_money(computed * (1 + (rate or 0)), currency)


def _texts(draft: Draft) -> dict[str, str | None]:
    notes = "; ".join(text for role in ("more_description", "note") if (text := draft.text(role)))
    price_cell = draft.cells.get("unit_price") or draft.cells.get("gross_price")
    return {
        "offer": draft.text("offer") or None,
        "parent": draft.text("parent") or None,
        "part": draft.text("part") or None,
        "description": draft.text("description") or None,
        "note": notes or None,
        "category": draft.text("category") or None,
        "supplier": draft.text("supplier") or None,
        "unit": draft.text("unit") or None,
        "availability": draft.text("lead_time") or draft.text("stock") or None,
        "text": price_cell.text if price_cell and price_cell.value is None else None,
    }


def _delivery(draft: Draft, reader: Reader) -> dict[str, Any]:
    found: dict[str, Any] = {}
    words = draft.text("lead_time")
    lots = read_lots(words) or read_lots(draft.text("schedule"))
    shares = read_share_lots(draft.text("schedule") or words, reader.evidence.order)
    lead = read_lead(words) if words and not lots else None
    if lots:
        found["lots"] = lots
    if shares:
        found["lot_shares"] = shares
        said = "shares of an order are lots only for a known quantity in whole units; plans use the last date for all of it"
        reader.notes.warn("share_lots", draft.place_of("schedule"), f"{draft.name}: {said}")
    if lead:
        found["lead_days"] = lead.days
        if lead.verbal:
            said = f'"{words}": a lead time that was only spoken of is not contractual; {lead.days[1]} days are used'
            reader.notes.warn("lead_time_not_contractual", draft.place_of("lead_time"), said)
    for role in ("power_w", "weight_kg", "rack_units"):
        number = reader.number(draft.cells.get(role))
        if number is not None and number >= 0:
            found[role] = number
    return found


def _compare(draft: Draft, record: LineRecord, terms: Terms, reader: Reader) -> None:
    """Note what does not add up, is missing or is not a multiple."""
    expected = record.gross if draft.printed is None and record.gross is not None else record.computed
    printed = record.printed
    tolerance = max(Decimal(1).scaleb(-minor_digits(terms.currency)), reader.evidence.scale / 200)
    if printed is not None and expected is not None and abs(printed - expected) > tolerance:
        said = (
            f"{draft.name} prints {printed:,f} but {record.quantity:,f} x {draft.price.amount or 0:,f} = {expected:,f}"
        )
        reader.notes.warn("extended_mismatch", draft.place_of("extended"), f"{said}; the computed value is used")
    if record.status is PriceState.NO_BID:
        reader.notes.warn("no_bid", draft.place, f"{draft.name}: no bid (not free)")
    if record.status is PriceState.MISSING:
        reader.notes.ask_vendor("price_missing", price_place(draft), f"{draft.name}: what is the price?")
    if record.status in (PriceState.ON_REQUEST, PriceState.REDACTED, *_UNSURE, PriceState.RANGE):
        reader.notes.ask_vendor(
            "price_not_firm", draft.place, f"{draft.name} is {record.status}: what is the firm price?"
        )
    match = _SOLD_IN.search(plain(record.note or ""))
    pack = reader.leading(match[1]) if match else None
    if pack and record.quantity and record.quantity % pack:
        said = f"{draft.name}: {record.quantity:,f} is not a multiple of {pack:,f}, the quantity it is sold in"
        reader.notes.warn("not_a_multiple", draft.place_of("quantity"), said)


def price_place(draft: Draft) -> str:
    """Return the cell where the price should stand."""
    return draft.price.note if draft.price.state is PriceState.MISSING and draft.price.note else draft.place


def unique_ids(drafts: list[Draft]) -> list[str]:
    """Return a unique id per draft: its line number, else its offer, else its row."""
    seen: dict[str, int] = {}
    ids = []
    for draft in drafts:
        wanted = " ".join((draft.text("line") or _offer_name(draft) or f"row {draft.row}").split())
        seen[wanted] = seen.get(wanted, 0) + 1
        ids.append(wanted if seen[wanted] == 1 else f"{wanted} ({seen[wanted]})")
    return ids


def _offer_name(draft: Draft) -> str:
    """Return the offer of a row, with its term when one row gave several prices."""
    name, term = draft.text("offer"), draft.cells.get("commitment")
    split = (
        term is not None and draft.cells.get("unit_price") is not None and term.place == draft.cells["unit_price"].place
    )
    return f"{name} {term.text}" if name and split and term else name
