"""Rented capacity: commitment, block lengths, hours per month, take-or-pay, start window."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from optimizer.io.importing.basis import read_basis
from optimizer.io.importing.dates import read_date, read_span
from optimizer.io.importing.drafts import Draft
from optimizer.io.importing.money import read_price
from optimizer.io.importing.numbers import plain
from optimizer.io.importing.reader import Reader
from optimizer.schema.base import OfferType
from optimizer.schema.price import PriceState
from optimizer.schema.quote_record import CapacityTerms

_BLOCK = re.compile(r"(?:(\d+)\s*(?:-|–|to)\s*|to\s*)(\d+)\s*days?(?:,?\s*(?:in\s+)?step(?:s)?(?:\s+of)?\s*(\d+))?")
_PER_BLOCK = re.compile(r"(\d+) (?:\w+ )?per block")
_SLASH = re.compile(r"\s+/\s+")
_TYPES = {item.value: item for item in OfferType} | {"on-demand": OfferType.ON_DEMAND, "on demand": OfferType.ON_DEMAND}
_KEPT = ("sla", "credits", "termination", "commitment", "start", "prepay", "note", "take_or_pay", "max_units")


def split_prices(draft: Draft, reader: Reader) -> Iterator[Draft]:
    """Yield one draft per price of ``4.10 / 3.30 / 2.75``, priced ``on demand / 1 yr / 3 yr``; else the draft."""
    cell = draft.cells.get("unit_price")
    prices = _SLASH.split(cell.text) if cell and cell.value is None else []
    words = _SLASH.split(draft.basis.words)
    if cell is None or len(prices) < 2 or len(prices) != len(words):
        yield draft
        return
    shared = re.sub(r"\b(on[- ]demand|\d+ ?(yr|years?|months?|mo))\b.*", "", words[0])
    currency = next(
        (code for part in words for code in [reader.price(replace(cell, text=f"{prices[0]}")).currency] if code), ""
    )
    for text, term in zip(prices, words):
        price = replace(read_price(text, reader.evidence.mark), currency=_named(words[0]) or currency)
        basis = replace(read_basis(shared, "", reader.leading), words=term, accelerators=draft.basis.accelerators)
        commitment = replace(cell, text=term.replace(shared, "").strip() or term)
        yield replace(draft, price=price, basis=basis, cells={**draft.cells, "commitment": commitment})


def _named(words: str) -> str:
    from optimizer.io.importing.money import currencies_in  # noqa: PLC0415

    found = currencies_in(words) - {"$", "¥"}
    return next(iter(found)) if len(found) == 1 else ""


def capacity_of(draft: Draft, reader: Reader) -> CapacityTerms | None:
    """Return the rental terms of a draft; None when it is no rental."""
    per = draft.basis.per or ""
    stated = _TYPES.get(plain(draft.text("acquisition")).replace("-", "_")) or _TYPES.get(
        plain(draft.text("acquisition"))
    )
    if not per.endswith(("_hour", "_month")) and stated in (None, OfferType.PURCHASE):
        return None
    words = plain(draft.text("commitment"))
    days = _block_days(words)
    months = _months(words, draft.cells["commitment"].number if "commitment" in draft.cells else None)
    kind = stated or _kind(per, days, months)
    if kind is OfferType.BLOCK and days:
        said = f"the longest block is {days[-1][0]} days: a longer run does not fit one block"
        reader.notes.warn("block_limit", draft.place_of("commitment"), said)
    hours = reader.number(draft.cells.get("hours_per_month"))
    yearly = reader.number(draft.cells.get("hours_per_year"))
    per_block = _PER_BLOCK.search(plain(draft.text("max_units")))
    return CapacityTerms(
        type=kind,
        accelerators=draft.basis.accelerators,
        term_months=months if kind in (OfferType.RESERVED, OfferType.LEASE) else None,
        hours_per_month=yearly / 12 if hours is None and yearly else hours,
        take_or_pay=_take_or_pay(draft, kind, reader),
        prepay=_prepay(draft, reader),
        start=_start(draft, reader),
        days=days if kind is OfferType.BLOCK else (),
        region=draft.text("region") or None,
        block_max_units=int(per_block[1]) if per_block else None,
        texts={role: text for role in _KEPT if (text := draft.text(role))},
    )


def _block_days(words: str) -> tuple[tuple[int, int], ...]:
    """Return (longest, step) of ``1-14 days step 1; to 182 days step 7``."""
    found = [(int(match[2]), int(match[3] or 1)) for match in _BLOCK.finditer(words)]
    return tuple(sorted(found)) if "step" in words or "block" in words or len(found) > 1 else ()


def _months(words: str, number: Decimal | None) -> int | None:
    if number is not None:
        return int(number) if number >= 1 else None
    span = read_span(words)
    return span.months if span else int(words) if words.isdigit() and 0 < int(words) < 200 else None


def _kind(per: str, days: tuple[tuple[int, int], ...], months: int | None) -> OfferType:
    if days:
        return OfferType.BLOCK
    if per.endswith("_month"):
        return OfferType.LEASE
    return OfferType.RESERVED if months else OfferType.ON_DEMAND


def _take_or_pay(draft: Draft, kind: OfferType, reader: Reader) -> Decimal | None:
    if kind is not OfferType.RESERVED or "take_or_pay" not in draft.cells:
        return None
    cell = draft.cells["take_or_pay"]
    if cell.number is not None:
        return reader.share(cell)
    number = re.match(r"(\d{1,3})\s*%", plain(cell.text))
    return Decimal(number[1]) / 100 if number and int(number[1]) <= 100 else None


def _prepay(draft: Draft, reader: Reader) -> Decimal | None:
    cell = draft.cells.get("prepay")
    if cell is None:
        return None
    share = reader.share(cell)
    if share is None:
        said = f'"{cell.text}" is no share of the price; it is kept as text and not paid in plans'
        reader.notes.warn("prepay_unread", cell.place, said)
    return share


def _start(draft: Draft, reader: Reader) -> tuple[dt.date, dt.date] | None:
    """Return the window of first days; relative windows and TBD are unknown and noted."""
    cell = draft.cells.get("start")
    if cell is None:
        return None
    if isinstance(cell.value, dt.date):
        return cell.value, cell.value
    when = read_date(cell.text, reader.evidence.order)
    if when.first and when.last:
        return when.first, when.last
    if read_price(cell.text).state is PriceState.ON_REQUEST:
        reader.notes.ask_vendor("start_unknown", cell.place, f"{draft.name}: from when is the capacity available?")
    elif read_span(cell.text):
        said = f'"{cell.text}" counts from the booking: the start must lie within that time of the order'
        reader.notes.warn("start_window_relative", cell.place, said)
    return None
