"""Delivery, payment and validity in words -> days, lots and milestones."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from decimal import Decimal

from optimizer.io.importing.dates import Order, read_date, read_span
from optimizer.io.importing.numbers import plain
from optimizer.schema.price import Lot
from optimizer.schema.quote import Milestone

_STOCK = re.compile(r"\b(in |ex |from )?stock\b|现货|在庫|ab lager|immediate|ex works now")
_VERBAL = re.compile(r"by phone|verbal|by call|tbc|to be confirmed|口头|电话")
_SHARE_LOT = re.compile(r"(\d{1,3}(?:\.\d+)?) ?% ?(?:in |on |by |@ ?|: ?)?([^;,%]{4,30})")
_UNIT_LOT = re.compile(
    r"(?:首批|余|剩余|rest|balance|remaining|first|then|next)?\s*(\d{1,6}|rest|余)\s*(?:台|套|个|units?|nodes?|racks?|pcs)?\s*(?:in|at|after|within|:)\s*([^;,]{2,60})"
)
_PARTS = re.compile(r"[;；\n]")
_SPLIT = re.compile(r"(?<![\d.])(\d{1,3})(?:\s*[/\-:]\s*(\d{1,3}))+(?![\d.])")
_NET = re.compile(r"net ?(\d{1,3})|(\d{1,3}) days? net|n/?(\d{1,3})\b")
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d+)?) ?%")
_EVENTS: tuple[tuple[str, str], ...] = (
    (r"acceptance|验收|sign-?off|abnahme|handover", "acceptance"),
    (r"order|deposit|down ?payment|advance|signature|预付|订金|合同签订|anzahlung|upfront|\bpo\b", "order"),
    (r"deliver|shipment|shipping|arrival|到货|发货|交货|lieferung|balance", "delivery"),
)
_CHINESE_MONTHS = {"满一年": 12, "满两年": 24, "满三年": 36, "满半年": 6}


@dataclass(frozen=True, slots=True)
class Lead:
    """A lead time: earliest and latest days after order, and whether another one was only spoken of."""

    days: tuple[int, int]
    verbal: bool


def read_lead(text: str) -> Lead | None:
    """Return the lead time in a text; None when there is none.

    >>> read_lead("16-20 wks ARO"), read_lead("stock"), read_lead("60 weeks ARO (58 by phone)")
    (Lead(days=(112, 140), verbal=False), Lead(days=(0, 0), verbal=False), Lead(days=(420, 420), verbal=True))
    """
    words = plain(text)
    span = read_span(words)
    if span:
        return Lead((min(span.low_days, span.high_days), span.high_days), bool(_VERBAL.search(words)))
    return Lead((0, 0), verbal=False) if _STOCK.search(words) else None


def read_lots(text: str) -> tuple[Lot, ...]:
    """Return the lots of ``首批8台：合同签订后60日历日；余24台：120日历日`` or ``64 units in 16 weeks; rest in 24 weeks``.

    The last lot is the rest. Empty when the text is not made of lots.
    """
    parts = [part.strip() for part in _PARTS.split(plain(text)) if part.strip()]
    lots: list[Lot] = []
    for part in parts:
        match = _UNIT_LOT.fullmatch(part.strip("."))
        span = read_span(match[2]) if match else None
        date = read_date(match[2].strip()).first if match and not span else None
        if match is None or (span is None and date is None):
            return ()
        units = int(match[1]) if match[1].isdigit() else "rest"
        lots.append(Lot(units=units, days=span.high_days if span else None, date=date))
    return tuple(lots) if len(lots) > 1 else ()


def read_share_lots(text: str, order: Order) -> tuple[tuple[Decimal, dt.date], ...]:
    """Return (share, first day) of ``40% 2027-W07; 60% 2027-W15``; empty when the shares do not add up to one."""
    found = [
        (Decimal(match[1]) / 100, when.first)
        for match in _SHARE_LOT.finditer(plain(text))
        if (when := read_date(match[2].strip(), order)).first
    ]
    lots = tuple((share, day) for share, day in found if day)
    return lots if sum((share for share, _ in lots), Decimal(0)) == 1 else ()


@dataclass(frozen=True, slots=True)
class Payment:
    """Milestones read from payment terms, and the code of what was assumed (empty: stated in full)."""

    milestones: tuple[Milestone, ...]
    code: str


def read_payment(text: str) -> Payment:
    """Return the milestones of payment terms.

    ``net 30`` is delivery plus 30 days. Shares with their events are read as stated; ``30/60/10`` without events as
    order, delivery, acceptance (``30/70`` as order, delivery) under ``payment_events_assumed``. Terms that cannot be
    read are due at order, the dearest reading, under ``payment_unread``.

    >>> [(part.at, str(part.share)) for part in read_payment("50% deposit, balance on shipment").milestones]
    [('order', '0.5'), ('delivery', '0.5')]
    """
    words = plain(text)
    for read in (_in_words, _in_shares, _net):
        if found := read(words):
            return found
    return Payment((Milestone(at="order", share=1),), "payment_unread")


def _in_words(words: str) -> Payment | None:
    """Read shares that stand with their events: ``30% order, 60% acceptance, 10% 12 months after acceptance``."""
    body = re.search(r"[(（](.*%.*)[)）]", words)
    clauses = [part for part in re.split(r"[,，;；]| and ", body[1] if body else words) if part.strip()]
    parts: list[Milestone] = []
    rest = Decimal(1)
    for clause in clauses:
        event = _event(clause)
        shares = _PERCENT.findall(clause)
        balance = re.search(r"balance|rest|remainder|余款", clause)
        if len(shares) > 1 or (not shares and not balance) or event is None:
            return None
        share = Decimal(shares[0]) / 100 if shares else rest
        if not 0 < share <= rest:
            return None
        rest -= share
        parts.append(_milestone(event, share, clause))
    return Payment(tuple(parts), "") if parts and rest == 0 else None


def _event(clause: str) -> str | None:
    found = [event for pattern, event in _EVENTS if re.search(pattern, clause)]
    return found[0] if found else None


def _milestone(event: str, share: Decimal, clause: str) -> Milestone:
    after = re.search(r"after|于|后|plus|\+", clause)
    months = next((number for word, number in _CHINESE_MONTHS.items() if word in clause), 0)
    span = read_span(clause) if after and not months else None
    if span and span.months:
        months = span.months
    days = span.high_days if span and not months else 0
    return Milestone(at=event, share=share, plus_days=days, plus_months=months)


_SHARED_EVENTS: dict[int, tuple[str, ...]] = {2: ("order", "delivery"), 3: ("order", "delivery", "acceptance")}


def _in_shares(words: str) -> Payment | None:
    match = _SPLIT.search(words)
    numbers = [int(part) for part in re.findall(r"\d+", match[0])] if match else []
    if sum(numbers) == 10:
        numbers = [10 * number for number in numbers]
    events = _SHARED_EVENTS.get(len(numbers))
    if events is None or sum(numbers) != 100:
        return None
    parts = tuple(Milestone(at=event, share=Decimal(number) / 100) for event, number in zip(events, numbers))
    return Payment(parts, "payment_events_assumed")


def _net(words: str) -> Payment | None:
    match = _NET.search(words)
    if match is None:
        prepaid = re.search(r"prepa(id|yment)|cash with order|in advance|vorkasse|款到发货", words)
        return Payment((Milestone(at="order", share=1),), "") if prepaid else None
    days = int(next(part for part in match.groups() if part))
    return Payment((Milestone(at="delivery", share=1, plus_days=days),), "")


def valid_until(text: str, issued: dt.date | None, opening: dt.date | None, order: Order) -> tuple[dt.date | None, str]:
    """Return the last valid day of a validity in words, and the code of what is wrong with it (empty: nothing).

    A length of time counts from the day the text names: bid opening, else issue; ``24 hrs`` cannot be dated.

    >>> valid_until("90 days", dt.date(2026, 11, 2), None, "")
    (datetime.date(2027, 1, 31), '')
    """
    when = read_date(text, order)
    if when.last:
        return when.last, ""
    if when.impossible:
        return None, "impossible_date"
    span = read_span(text)
    start = opening if re.search(r"开标|opening", plain(text)) else issued
    if span and start:
        return span.after(start), ""
    if span or re.search(r"\d+ ?(hours?|hrs?|h)\b|小时", plain(text)):
        return None, "validity_relative"
    return None, "validity_unread" if text else ""
