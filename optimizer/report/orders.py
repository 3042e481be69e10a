"""Purchase orders for an ERP as CSV: what is ordered, lot by lot with its extras; what is paid, day by day.

UTF-8 with a byte order mark (spreadsheets read names in any script), lines end as RFC 4180 says, dates ISO 8601, numbers
plain with a point. Text that a spreadsheet would read as a formula begins with an apostrophe.
"""

from __future__ import annotations

import csv
import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from io import StringIO

from optimizer.cost.items import invoices
from optimizer.report.exact import product
from optimizer.report.source import Source
from optimizer.report.views import Report
from optimizer.results import Award
from optimizer.schema.base import Money
from optimizer.schema.price import PriceState, TieredPrice
from optimizer.schema.quote import Milestone, Offer, Quote
from optimizer.units import fiscal_year, round_money

Field = str | int | Decimal | dt.date | None
Row = Mapping[str, Field]

_TRIGGERS = ("=", "+", "-", "@", "\t", "\r")
_ORDER_FIELDS = (
    "line", "vendor", "quote", "revision", "offer", "type", "item", "quantity", "unit", "unit_price", "currency",
    "price_per", "amount", "tax_included", "tax_rate", "order_date", "lot", "delivery_date", "ready_date",
    "contract_end", "ship_to", "delivery_terms", "payment_terms", "quote_valid_until",
)  # fmt: skip
_PAYMENT_FIELDS = ("vendor", "quote", "offer", "item", "date", "fiscal_year", "amount", "currency")


@dataclass(frozen=True, slots=True)
class _Priced:
    """Some units of an award at one price, as the quote states it."""

    units: int
    price: Money
    per: str


def orders_csv(report: Report) -> str:
    """Return a row for each lot of each award, and for each priced extra of its quote, in the quote's currency."""
    rows = [row for award in report.source.plan.awards for row in _award(award, report)]
    return _csv(_ORDER_FIELDS, ({"line": at, **row} for at, row in enumerate(rows, start=1)))


def payments_csv(report: Report) -> str:
    """Return what each award is paid, by item and day, in the plan's currency.

    Rows are rounded one by one; the cost of an award is the rounded sum of the exact ones.
    """
    plan = report.source.plan
    sums: dict[tuple[int, dt.date, str], Decimal] = defaultdict(Decimal)
    for line in plan.cost.lines if plan.cost else ():
        if line.award is not None and line.schedule is not None and invoices(line.item):
            for part in plan.cost.schedules[line.schedule] if plan.cost else ():
                sums[line.award, part.date, line.item] += product(line) * part.share
    return _csv(_PAYMENT_FIELDS, (_payment(report, *key, amount) for key, amount in sorted(sums.items())))


def _payment(report: Report, position: int, day: dt.date, item: str, exact: Decimal) -> Row:
    plan = report.source.plan
    award, start = plan.awards[position], plan.cost.fiscal_year_start if plan.cost else None
    amount, currency = _shown(report, exact, report.source.currency)
    return {
        "vendor": award.vendor,
        "quote": award.quote,
        "offer": award.offer,
        "item": item,
        "date": day,
        "fiscal_year": fiscal_year(day, start or 1),
        "amount": amount,
        "currency": currency,
    }


def _award(award: Award, report: Report) -> Iterator[Row]:
    source = report.source
    quote, offer = source.quote(award), source.offer(award)
    lots = [(lot.units, lot.delivery_date) for lot in award.lots] or [(award.units, award.delivery_date)]
    parts = _parts(award, offer)
    shared = _shared(award, quote)
    for at, (units, day) in enumerate(lots, start=1):
        for part in parts:
            ordered = units if len(parts) == 1 else part.units
            yield {**shared, **_hardware(award, part, ordered, report), **_dates(award, source, at, day)}
    for line in offer.lines if quote and offer else ():
        if not line.optional and isinstance(line.price, Money):
            count = 1 if line.per == "order" else _pieces(award, line.per) * award.units
            priced = _money(report, line.price, line.per, count, quote.currency if quote else award.currency)
            yield {
                **shared,
                "item": line.item,
                "quantity": count,
                "unit": line.per,
                **priced,
                **_dates(award, source, 1, lots[0][1]),
            }


def _parts(award: Award, offer: Offer | None) -> list[_Priced]:
    """Return the units of an award by price: one part, or one for each incremental break."""
    price = offer.price if offer else None
    per = offer.per if offer else "unit"
    if isinstance(price, TieredPrice):
        reached = [(first, money) for first, money in price.breaks.items() if first <= award.units]
        if price.all_units is not None:
            return [_Priced(award.units, reached[-1][1], per)]
        ends = [first for first, _ in reached[1:]] + [award.units + 1]
        return [_Priced(end - first, money, per) for (first, money), end in zip(reached, ends, strict=True)]
    if price is None or isinstance(price, PriceState):
        price, per = Money(amount=award.unit_price, currency=award.currency), "unit"
    return [_Priced(award.units, price, per)]


def _shared(award: Award, quote: Quote | None) -> Row:
    return {
        "vendor": award.vendor,
        "quote": award.quote,
        "revision": quote.revision if quote else None,
        "offer": award.offer,
        "type": award.type,
        "tax_included": ("yes" if quote.tax.included else "no") if quote else None,
        "tax_rate": quote.tax.rate if quote else None,
        "order_date": award.order_date,
        "contract_end": award.contract_end,
        "ship_to": award.place,
        "delivery_terms": quote.delivery if quote else None,
        "payment_terms": _terms(quote.payment) if quote and award.type in ("purchase", "dedicated") else None,
        "quote_valid_until": quote.valid_until if quote else None,
    }


def _hardware(award: Award, part: _Priced, units: int, report: Report) -> Row:
    """Return quantity and price of the offer itself; rents have a price and no amount, their length is in the plan."""
    quote = report.source.quote(award)
    currency = quote.currency if quote else award.currency
    priced = 1 if part.per == "run" else units * _pieces(award, part.per)
    money = _money(report, part.price, part.per, priced, currency)
    if award.type not in ("purchase", "dedicated"):
        money = {**money, "amount": None}
    return {"item": award.platform, "quantity": units, "unit": "unit", **money}


def _pieces(award: Award, per: str) -> int:
    """Return how many priced pieces one purchase unit holds."""
    piece = per.removesuffix("_hour")
    return {"accelerator": award.accelerators // award.units, "node": award.nodes // award.units}.get(piece, 1)


def _money(report: Report, price: Money, per: str, count: int, currency: str) -> Row:
    """Return price, currency, and the amount of so many priced pieces."""
    written = price.currency or currency
    each, shown = price.amount, written
    if report.conversion is not None:
        each, shown = report.conversion.price(price.amount, written), report.conversion.currency
    amount, _ = _shown(report, price.amount * count, written)
    return {
        "unit_price": each if report.priced else None,
        "currency": shown if report.priced else None,
        "price_per": per,
        "amount": amount,
    }


def _shown(report: Report, exact: Decimal, currency: str) -> tuple[Decimal | None, str | None]:
    """Return an amount rounded to the minor unit in the currency of the report; nothing when prices are withheld."""
    if not report.priced:
        return None, None
    own = round_money(exact, currency)
    if report.conversion is None:
        return own, currency
    return report.conversion.amount(own, currency), report.conversion.currency


def _dates(award: Award, source: Source, lot: int, delivered: dt.date) -> Row:
    return {"lot": lot, "delivery_date": delivered, "ready_date": source.ready(award, delivered)}


def _terms(payment: Sequence[Milestone]) -> str:
    """Return milestones in short: ``30% order; 60% delivery; 10% acceptance +30 days``."""
    return "; ".join(_milestone(stone) for stone in payment)


def _milestone(stone: Milestone) -> str:
    later = [f"+{stone.plus_days} days"] if stone.plus_days else []
    later += [f"+{stone.plus_months} months"] if stone.plus_months else []
    return " ".join([f"{(stone.share * 100).normalize():f}%", stone.at, *later])


def _csv(fields: Sequence[str], rows: Iterable[Row]) -> str:
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(fields)
    writer.writerows([_text(row.get(name)) for name in fields] for row in rows)
    return "\ufeff" + buffer.getvalue()


def _text(value: Field) -> str:
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_TRIGGERS) else value
    return str(value)
