"""Purchase orders for an ERP as CSV: what is ordered, lot by lot with its extras, duty and tax; what is paid, day by day.

UTF-8 with a byte order mark (spreadsheets read names in any script), lines end as RFC 4180 says, dates ISO 8601, numbers
plain with a point. Text that a spreadsheet would read as a formula begins with an apostrophe.

Orders come from the plan's cost lines that are paid for the award itself. ``amount`` is what the quote's price comes to: unit
price x priced quantity (pieces, and for rents their months or hours), with tax where the price includes it. ``cost`` is what
the plan counts, without tax that is paid back: the rows of an award add up to its cost, to the minor unit. ``commitment``
says what is owed whatever happens, and what is an expectation of use.
"""

from __future__ import annotations

import csv
import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from io import StringIO
from math import prod
from typing import Literal

from optimizer.cost.charge import BEYOND_COMMITMENT, BY_THE_DAY, WITHOUT_TAX
from optimizer.cost.items import invoices
from optimizer.report.exact import is_exchange_rate, price_factor, product
from optimizer.report.source import Source
from optimizer.report.views import Report
from optimizer.results import Award, CostLine, Factor
from optimizer.schema.quote import Milestone, Quote
from optimizer.units import MONEY_DIGITS, fiscal_year, round_money

Field = str | int | Decimal | dt.date | None
Row = Mapping[str, Field]

_TRIGGERS = ("=", "+", "-", "@", "\t", "\r")
_ORDER_FIELDS = (
    "line", "vendor", "quote", "revision", "offer", "type", "item", "commitment", "quantity", "unit",
    "unit_price", "currency", "price_per", "priced_quantity", "amount", "tax_included", "tax_rate", "cost",
    "cost_currency", "quoted_price", "quoted_currency", "order_date", "lot", "delivery_date", "ready_date",
    "contract_end", "ship_to", "delivery_terms", "payment_terms", "quote_valid_until",
)  # fmt: skip
_PAYMENT_FIELDS = ("vendor", "quote", "offer", "item", "commitment", "date", "fiscal_year", "amount", "currency")


@dataclass(frozen=True, slots=True)
class _Order:
    """A row of the orders: the cost lines of one price for one lot.

    Attributes:
        lot: Position of the lot.
        item: Platform, name of an extra, ``duty`` or ``tax``.
        kind: The offer itself, an extra of its quote, or what is added to either.
        commitment: Whether it is owed whatever is used.
        price: Price of one piece as stated; None for what is added.
        currency: Currency it is stated in.
        per: Piece it is for.
    """

    lot: int
    item: str
    kind: Literal["offer", "extra", "added"]
    commitment: str
    price: Decimal | None
    currency: str
    per: str


def orders_csv(report: Report) -> str:
    """Return a row for each lot and price of each award, its extras, duty, and tax that is not paid back."""
    rows = [row for position in range(len(report.source.plan.awards)) for row in _award(position, report)]
    return _csv(_ORDER_FIELDS, ({"line": at, **row} for at, row in enumerate(rows, start=1)))


def payments_csv(report: Report) -> str:
    """Return what each award is paid, by item and day; the rows of an award add up to its cost."""
    plan = report.source.plan
    sums: dict[tuple[int, dt.date, str, str], Decimal] = defaultdict(Decimal)
    for line in plan.cost.lines if plan.cost else ():
        if line.award is not None and line.schedule is not None and invoices(line.item):
            told = _commitment(line, plan.awards[line.award])
            for part in plan.cost.schedules[line.schedule] if plan.cost else ():
                sums[line.award, part.date, line.item, told] += product(line) * part.share
    moves = sorted(sums.items())
    rows = []
    for position, award in enumerate(plan.awards):
        own = [(key, exact) for key, exact in moves if key[0] == position]
        shown = _adding_up([exact for _, exact in own], report)
        rows += [_payment(report, award, *key[1:], amount) for (key, _), amount in zip(own, shown, strict=True)]
    return _csv(_PAYMENT_FIELDS, rows)


def _payment(report: Report, award: Award, day: dt.date, item: str, commitment: str, amount: Decimal | None) -> Row:
    cost = report.source.plan.cost
    return {
        "vendor": award.vendor,
        "quote": award.quote,
        "offer": award.offer,
        "item": item,
        "commitment": commitment,
        "date": day,
        "fiscal_year": fiscal_year(day, (cost.fiscal_year_start if cost else None) or 1),
        "amount": amount,
        "currency": _shown_currency(report, report.source.currency),
    }


def _award(position: int, report: Report) -> Iterator[Row]:
    source = report.source
    award, cost = source.plan.awards[position], source.plan.cost
    orders: dict[_Order, list[CostLine]] = defaultdict(list)
    for line in cost.lines if cost else ():
        if line.award == position and invoices(line.item):
            orders[_order(line, award)].append(line)
    costs = _adding_up([sum(map(product, lines), Decimal(0)) for lines in orders.values()], report)
    shared = _shared(award, source.quote(award))
    for (order, lines), counted in zip(orders.items(), costs, strict=True):
        kept = {"cost": counted, "cost_currency": _shown_currency(report, source.currency)}
        yield {**shared, **_row(award, order, lines, report), **kept, **_dates(award, source, order.lot)}


def _adding_up(exact: Sequence[Decimal], report: Report) -> list[Decimal | None]:
    """Return amounts of the plan as shown, rounded so that they add up to their rounded sum: each is a step of the running one."""
    if not report.priced:
        return [None] * len(exact)
    own, to = report.source.currency, report.conversion
    running, before, shown = Decimal(0), Decimal(0), []
    for amount in exact:
        running += amount
        reached = round_money(running, own) if to is None else to.amount(round_money(running, own), own)
        shown.append(reached - before)
        before = reached
    return list(shown)


def _shown_currency(report: Report, own: str) -> str | None:
    if not report.priced:
        return None
    return own if report.conversion is None else report.conversion.currency


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


def _order(line: CostLine, award: Award) -> _Order:
    """Return the row a cost line belongs to: lines of one price are one order, whenever they are paid."""
    priced, last = price_factor(line), line.factors[-1]
    currency, _, per = priced.unit.partition(" per ") if priced else ("", "", "")
    lot, commitment = line.lot or 0, _commitment(line, award)
    if last.unit == "share" and last.name in ("duty", "tax"):
        return _Order(lot, last.name, "added", commitment, None, currency, "")
    extra = line.item.partition(":")[2]
    price = priced.value if priced else None
    return _Order(lot, extra or award.platform, "extra" if extra else "offer", commitment, price, currency, per)


def _row(award: Award, order: _Order, lines: Sequence[CostLine], report: Report) -> Row:
    """Return what is ordered: item, quantity, price, and what they come to."""
    row: Row = {"item": order.item, "commitment": order.commitment}
    if order.price is None:
        return {
            **row,
            **_money(sum((_added(line, report, award) for line in lines), Decimal(0)), order.currency, report),
        }
    count = sum(map(_priced_quantity, lines), Decimal(0))
    if order.kind == "extra":
        row = {**row, "quantity": count, "unit": order.per}
    elif order.commitment == "committed" or award.type == "on_demand":  # hours beyond a commitment are no more units
        row = {**row, "quantity": _units(lines[0], award), "unit": "unit"}
    money = {**_prices(order.price, order.currency, report), **_money(order.price * count, order.currency, report)}
    return {**row, "price_per": order.per, "priced_quantity": count, **money}


def _units(line: CostLine, award: Award) -> int:
    """Return the units of a line; of a dedicated system, priced by the run, those of the award."""
    return next((int(factor.value) for factor in line.factors if factor.name == "units"), award.units)


def _priced_quantity(line: CostLine) -> Decimal:
    """Return how often a line has its price: units x nodes x months, say."""
    priced = price_factor(line)
    return _product(factor for factor in line.factors if factor is not priced and factor.name != WITHOUT_TAX)


def _added(line: CostLine, report: Report, award: Award) -> Decimal:
    """Return a duty or tax in the quote's currency; zero for a tax that the quote's price includes."""
    quote, names = report.source.quote(award), [factor.name for factor in line.factors]
    if quote is not None and quote.tax.included and names[-1] == "tax" and "duty" not in names:
        return Decimal(0)
    return _product(line.factors)


def _product(factors: Iterable[Factor]) -> Decimal:
    """Return the product of factors in the currency they are stated in."""
    with localcontext() as context:
        context.prec = MONEY_DIGITS
        return prod((factor.value for factor in factors if not is_exchange_rate(factor)), start=Decimal(1)).normalize()


def _commitment(line: CostLine, award: Award) -> str:
    """Return whether a line is owed whatever is used, or an expectation that the invoice follows what is used."""
    names = {factor.name for factor in line.factors}
    by_use = BEYOND_COMMITMENT in names or (award.type == "on_demand" and BY_THE_DAY in names)
    return "expected use" if by_use else "committed"


def _prices(each: Decimal, currency: str, report: Report) -> Row:
    """Return the price of one piece as shown and as quoted."""
    if not report.priced:
        return {}
    to = report.conversion
    shown = (each, currency) if to is None else (to.price(each, currency), to.currency)
    return dict(
        zip(("unit_price", "currency", "quoted_price", "quoted_currency"), (*shown, each, currency), strict=True)
    )


def _money(exact: Decimal, currency: str, report: Report) -> Row:
    """Return an amount of a quote rounded to the minor unit, in the currency of the report; nothing when withheld."""
    if not report.priced:
        return {}
    own, to = round_money(exact, currency), report.conversion
    return {"amount": own if to is None else to.amount(own, currency), "currency": _shown_currency(report, currency)}


def _dates(award: Award, source: Source, lot: int) -> Row:
    delivered = award.lots[lot].delivery_date if lot < len(award.lots) else award.delivery_date
    return {"lot": lot + 1, "delivery_date": delivered, "ready_date": source.ready(award, delivered)}


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
