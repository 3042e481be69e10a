"""The cash of one award by its quote: hardware, extra lines, duty, tax, rent.

Outflow is positive; every payment has the day on which it falls due.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from optimizer.schema.quote import (
    BlockOffer,
    DedicatedOffer,
    LeaseOffer,
    Milestone,
    PriceState,
    PurchaseOffer,
    ReservedOffer,
    TieredPrice,
)
from optimizer.solver.check.case import Case, Delivery, Holding
from optimizer.solver.check.prices import ZERO, net, net_line, net_total
from optimizer.units import add_months, calendar_shares, month_end

BEYOND = "commitment_beyond_horizon"


@dataclass(frozen=True, slots=True)
class Payment:
    """Money that moves on one day.

    Attributes:
        day: When.
        item: Cost line.
        amount: Outflow in the scenario's currency, exact.
        award: Index of the award that owes it; None for a line shared by several.
        contingent: True when the contingency is added on it.
    """

    day: dt.date
    item: str
    amount: Decimal
    award: int | None = None
    contingent: bool = False


def award_payments(case: Case, holding: Holding) -> list[Payment]:
    """Return all cash of an award, inside and beyond the horizon, with its duty and non-recoverable tax."""
    offer = holding.offer
    if isinstance(offer, PurchaseOffer):
        paid = list(_purchase(case, holding, offer))
    elif isinstance(offer, LeaseOffer):
        paid = list(_lease(case, holding, offer))
    elif isinstance(offer, ReservedOffer):
        paid = list(_reserved(case, holding, offer))
    elif isinstance(offer, BlockOffer):
        paid = list(_block(case, holding))
    elif isinstance(offer, DedicatedOffer):
        paid = list(_dedicated(case, holding, offer))
    else:
        paid = list(_on_demand(case, holding))
    paid = [replace(payment, award=holding.position) for payment in _with_tax(paid, holding) if payment.amount]
    contract = isinstance(offer, LeaseOffer | ReservedOffer)
    return [replace(payment, item=BEYOND) if contract and payment.day >= case.horizon else payment for payment in paid]


def _with_tax(paid: Iterable[Payment], holding: Holding) -> Iterator[Payment]:
    tax = holding.quote.tax
    for payment in paid:
        yield payment
        if not tax.recoverable:
            yield Payment(payment.day, "tax", payment.amount * tax.rate)


def _purchase(case: Case, holding: Holding, offer: PurchaseOffer) -> Iterator[Payment]:
    hardware = net_total(holding, case.facts)
    yield from _milestones(holding, "hardware", hardware, holding.deliveries)
    for line in offer.lines:
        lots = holding.deliveries[:1] if line.per == "order" else holding.deliveries
        yield from _milestones(holding, f"line:{line.item}", net_line(line, holding, case.facts), lots)
    duty = offer.duty or case.scenario.duty
    for lot in holding.deliveries if duty else ():
        yield Payment(lot.day, "duty", (duty.rate if duty else ZERO) * hardware * lot.units / holding.award.units)


def _milestones(holding: Holding, item: str, amount: Decimal, lots: tuple[Delivery, ...]) -> Iterator[Payment]:
    """Pay an amount by the quote's milestones; on delivery and acceptance in proportion to the units of some lots."""
    units = sum(lot.units for lot in lots)
    for milestone in holding.quote.payment:
        share = amount * milestone.share
        if milestone.at == "order":
            yield Payment(_due(holding.award.order_date, milestone), item, share, contingent=True)
            continue
        for lot in lots:
            event = lot.day if milestone.at == "delivery" else holding.ready(lot)
            yield Payment(_due(event, milestone), item, share * lot.units / units, contingent=True)


def _due(event: dt.date, milestone: Milestone) -> dt.date:
    return add_months(event + dt.timedelta(days=milestone.plus_days), milestone.plus_months)


def _lines(case: Case, holding: Holding) -> Iterator[Payment]:
    for line in holding.offer.lines:
        yield Payment(holding.first_day, f"line:{line.item}", net_line(line, holding, case.facts))


def _lease(case: Case, holding: Holding, offer: LeaseOffer) -> Iterator[Payment]:
    rent = net_total(holding, case.facts)
    for month in range(offer.term_months):
        yield Payment(add_months(holding.first_day, month), "lease", rent, contingent=True)
    yield from _lines(case, holding)


def _reserved(case: Case, holding: Holding, offer: ReservedOffer) -> Iterator[Payment]:
    hourly = net_total(holding, case.facts)
    hours = offer.take_or_pay * offer.term_months * offer.hours_per_month
    yield Payment(holding.award.order_date, "reserved", hourly * hours * offer.prepay)
    monthly = hourly * hours * (1 - offer.prepay) / offer.term_months
    for month in range(offer.term_months):
        yield Payment(add_months(holding.first_day, month), "reserved", monthly)
    yield from _excess_hours(case, holding, hourly, hours)
    yield from _lines(case, holding)


def _excess_hours(case: Case, holding: Holding, hourly: Decimal, committed_h: Decimal) -> Iterator[Payment]:
    """Hours of all runs it counts for (at most those of its term) beyond the committed ones.

    Paid at the end of the month of the only run; with several runs on the last counted day of the contract.
    """
    runs = [run for run in case.runs if any(case.covers(holding, lot, run) for lot in holding.deliveries)]
    end = holding.award.contract_end or holding.first_day
    used_h = min(24 * sum(run.days for run in runs), 24 * ((end - holding.first_day).days + 1))
    if used_h > committed_h:
        paid = month_end(case.runs_end) if len(case.runs) == 1 else case.last(holding)
        yield Payment(paid, "reserved", hourly * (used_h - committed_h))


def _block(case: Case, holding: Holding) -> Iterator[Payment]:
    last = holding.award.contract_end or holding.first_day
    days = (last - holding.first_day).days + 1
    yield Payment(holding.first_day, "block", 24 * days * net_total(holding, case.facts))
    yield from _lines(case, holding)


def _dedicated(case: Case, holding: Holding, offer: DedicatedOffer) -> Iterator[Payment]:
    """The price of a run and the lines of the quote, by its milestones; no contingency."""
    price = ZERO
    if not isinstance(offer.price, PriceState | TieredPrice):
        price = net(case.facts.money(offer.price, holding.quote.currency), holding.quote)
    amounts = [("dedicated", price)]
    amounts += [(f"line:{line.item}", net_line(line, holding, case.facts)) for line in offer.lines]
    for item, amount in amounts:
        for payment in _milestones(holding, item, amount, holding.deliveries):
            yield replace(payment, contingent=False)


def _on_demand(case: Case, holding: Holding) -> Iterator[Payment]:
    hourly = net_total(holding, case.facts)
    last = holding.award.contract_end or holding.first_day
    for end, days, _ in calendar_shares(holding.first_day, last):
        yield Payment(end, "on_demand", 24 * days * hourly)
    yield from _lines(case, holding)
