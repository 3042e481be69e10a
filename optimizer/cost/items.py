"""The registry of cost items of an award: each turns one unit of a piece into charges.

Total, report, spreadsheet and objective iterate over ``UNIT_ITEMS``; a new cost item is one entry there.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from optimizer.cost.after import After
from optimizer.cost.charge import (
    BEYOND_COMMITMENT,
    BY_THE_DAY,
    Cash,
    Charge,
    Factor,
    days,
    months,
    on_day,
    power,
    stated,
)
from optimizer.cost.entries import extra_kw_per_unit
from optimizer.cost.frame import DAY, Frame
from optimizer.cost.option import Lot, Option, Piece, net_stated, per_unit
from optimizer.schema.base import Money
from optimizer.schema.platform import Platform
from optimizer.schema.quote import BlockOffer, LeaseOffer, Milestone, PurchaseOffer, QuoteLine, ReservedOffer, SiteOffer
from optimizer.schema.scenario import Site
from optimizer.units import add_months, month_end, months_between

HOURS_PER_DAY = Decimal(24)
BEYOND = "commitment_beyond_horizon"
INVOICED = frozenset({"hardware", "duty", "tax", "lease", "reserved", "on_demand", "block", "dedicated", BEYOND})
"""Items of the vendor's invoices and what customs adds to them."""


@dataclass(frozen=True, slots=True)
class Item:
    """A cost item.

    Attributes:
        name: Cost line name (or its family).
        charges: Charges of one unit of a piece.
    """

    name: str
    charges: Callable[[Piece, After, Frame], Iterator[Charge]]


def hardware(piece: Piece, after: After, frame: Frame) -> Iterator[Charge]:
    """Yield the purchase price of one unit, by the quote's milestones."""
    if piece.option.is_purchase:
        cash = milestone_cash(piece.option.quote.payment, piece.lot, frame)
        yield Charge("hardware", (_price_factor(piece, "unit"),), cash, contingent=True)


def quote_lines(piece: Piece, after: After, frame: Frame) -> Iterator[Charge]:
    """Yield the quote's own lines that go with each unit."""
    for line in priced_lines(piece.option):
        if line.per != "order":
            yield _line_charge(line, piece.option, piece.lot, frame)


def duty(piece: Piece, after: After, frame: Frame) -> Iterator[Charge]:
    """Yield import duty on the net hardware price, on delivery."""
    offer = piece.option.offer
    applied = (offer.duty if isinstance(offer, PurchaseOffer) else None) or frame.scenario.duty
    if piece.option.is_purchase and applied and applied.rate:
        rate = Factor("duty", applied.rate, "share", "offer duty" if getattr(offer, "duty", None) else "scenario duty")
        yield Charge("duty", (_price_factor(piece, "unit"), rate), on_day(piece.lot.delivery))


def lease(piece: Piece, after: After, frame: Frame) -> Iterator[Charge]:
    """Yield the monthly rent of one unit, in advance, split at the horizon."""
    offer = piece.option.offer
    if isinstance(offer, LeaseOffer):
        yield from _monthly("lease", (_price_factor(piece, "unit and month"),), piece.lot, offer.term_months, frame)


def reserved(piece: Piece, after: After, frame: Frame) -> Iterator[Charge]:
    """Yield the committed hours of one unit: the prepaid share at order, the rest in equal months in advance."""
    offer = piece.option.offer
    if not isinstance(offer, ReservedOffer):
        return
    hours = (
        _price_factor(piece, "unit and hour"),
        Factor("take or pay", offer.take_or_pay, "share", piece.option.source),
        Factor("hours per month", offer.hours_per_month, "h", piece.option.source),
    )
    if offer.prepay:
        prepaid = (Factor("term", Decimal(offer.term_months), "month", piece.option.source), _share(offer.prepay))
        yield Charge("reserved", (*hours, *prepaid), on_day(frame.order_date))
    if offer.prepay < 1:
        yield from _monthly("reserved", (*hours, _share(1 - offer.prepay)), piece.lot, offer.term_months, frame)


def colocation(piece: Piece, after: After, frame: Frame) -> Iterator[Charge]:
    """Yield the hall cost of one unit's provisioned power."""
    option = piece.option
    if option.site:
        last = after.last_day_of_costs(option, frame)
        yield from hall_charge(frame.site(option.site), provisioned_kw(option, frame), piece.lot.delivery, last, frame)


def idle_energy(piece: Piece, after: After, frame: Frame) -> Iterator[Charge]:
    """Yield the energy one installed unit draws outside runs, and what its network and storage draw always."""
    option = piece.option
    if not option.site:
        return
    kw = option.platform.nodes_per_unit * idle_kw(option.platform) + extra_kw_per_unit(frame, option)
    last = after.last_day_of_energy(option, frame)
    yield from energy_charge(frame.site(option.site), kw, "idle draw", piece.lot.delivery, last, frame)


def residual(piece: Piece, after: After, frame: Frame) -> Iterator[Charge]:
    """Yield the residual value of one purchased unit (a receipt).

    price x share ^ (age in months / months), on the horizon day or the day of sale.
    """
    terms = frame.scenario.finance.residual
    if terms is None or not piece.option.is_purchase:
        return
    share = terms.platforms.get(piece.option.platform.id, terms.share)
    day = max(after.sale_day(frame), piece.lot.delivery)
    age = months_between(piece.lot.delivery, day) / terms.months
    left = power("residual", share, age, "share", "scenario finance.residual", sign=-1)
    if left.value:
        yield Charge("residual", (_price_factor(piece, "unit"), left), on_day(day), budget=False)


UNIT_ITEMS: tuple[Item, ...] = (
    Item("hardware", hardware),
    Item("line", quote_lines),
    Item("duty", duty),
    Item("lease", lease),
    Item("reserved", reserved),
    Item("colocation", colocation),
    Item("energy", idle_energy),
    Item("residual", residual),
)


def unit_charges(piece: Piece, after: After, frame: Frame) -> list[Charge]:
    """Return the charges of one unit of a piece, with non-recoverable tax, without ``costs`` entries and contingency."""
    charges = [charge for item in UNIT_ITEMS for charge in item.charges(piece, after, frame)]
    return [*charges, *taxes(charges, piece.option)]


def order_charges(option: Option, frame: Frame) -> list[Charge]:
    """Return the charges of an award that do not depend on its quantity, with non-recoverable tax."""
    lines = (line for line in priced_lines(option) if line.per == "order")
    charges = [_line_charge(line, option, option.lots[0], frame) for line in lines]
    return [*system_charges(option, frame), *charges, *taxes(charges, option)]


def system_charges(option: Option, frame: Frame) -> list[Charge]:
    """Return the price of a run on a dedicated system, by the quote's milestones, with non-recoverable tax."""
    if not option.is_dedicated or not isinstance(option.offer.price, Money):
        return []
    price = net_stated("price", option.offer.price, "per run", option.source, option, frame)
    charges = [Charge("dedicated", (price,), milestone_cash(option.quote.payment, option.lots[0], frame))]
    return [*charges, *taxes(charges, option)]


def hire_charges(piece: Piece) -> list[Charge]:
    """Return what one hired unit costs until its end, with non-recoverable tax: monthly by the hour, a block at its start.

    The units of a dedicated system cost nothing by themselves: its price is for the run (``system_charges``).
    """
    if not piece.option.is_hired or piece.option.is_dedicated or piece.option.end is None:
        return []
    count, cash = days(piece.lot.delivery, piece.option.end)
    block = isinstance(piece.option.offer, BlockOffer)
    factors = (
        _price_factor(piece, "unit and hour"),
        Factor(BY_THE_DAY, HOURS_PER_DAY, "h", "calendar"),
        Factor("days", count, "day", "plan"),
    )
    charges = [Charge("block", factors, on_day(piece.lot.delivery)) if block else Charge("on_demand", factors, cash)]
    return [*charges, *taxes(charges, piece.option)]


def committed_hours(option: Option) -> Decimal | None:
    """Return the hours of one reserved unit that are paid whether used or not; None for other offers."""
    offer = option.offer
    if not isinstance(offer, ReservedOffer):
        return None
    return offer.take_or_pay * offer.term_months * offer.hours_per_month


def hours_within_term(option: Option) -> Decimal:
    """Return the hours of the whole term of a contract."""
    if option.end is None:
        return Decimal(0)
    return HOURS_PER_DAY * ((option.end - option.lots[0].delivery).days + 1)


def excess_charges(piece: Piece, run_days: int, paid: dt.date) -> list[Charge]:
    """Return the hours one reserved unit runs beyond what take-or-pay covers, with non-recoverable tax.

    Args:
        piece: What is reserved.
        run_days: Days of all runs it counts for; at most the hours of its term are used.
        paid: When they are paid.
    """
    committed = committed_hours(piece.option)
    if committed is None:
        return []
    hours = min(HOURS_PER_DAY * run_days, hours_within_term(piece.option)) - committed
    return hours_beyond(piece, hours, paid) if hours > 0 else []


def hours_beyond(piece: Piece, hours: Decimal, paid: dt.date) -> list[Charge]:
    """Return what hours beyond the commitment of one reserved unit cost, with non-recoverable tax."""
    factors = (_price_factor(piece, "unit and hour"), Factor(BEYOND_COMMITMENT, hours, "h", "plan"))
    charges = [Charge("reserved", factors, on_day(paid))]
    return [*charges, *taxes(charges, piece.option)]


def excess_paid(option: Option, frame: Frame, only_run_end: dt.date | None) -> dt.date:
    """Return when hours beyond the commitment are paid: at the end of the month in which the only run of a plan ends.

    With several runs (None), on the last day of the contract, or of the horizon.
    """
    return option.last_day(frame) if only_run_end is None else month_end(only_run_end)


def taxes(charges: Iterable[Charge], option: Option) -> Iterator[Charge]:
    """Yield the non-recoverable tax on what the vendor invoices."""
    tax = option.quote.tax
    if tax.recoverable or not tax.rate:
        return
    rate = Factor("tax", tax.rate, "share", f"quote {option.quote.quote}, tax")
    for charge in filter(is_invoiced, charges):
        yield charge.also(BEYOND if charge.item == BEYOND else "tax", rate)


def is_invoiced(charge: Charge) -> bool:
    """Return whether a charge is paid for the award itself: price, lines, duty and tax, not what running it costs."""
    return invoices(charge.item)


def invoices(item: str) -> bool:
    """Return whether a cost line is paid for an award itself."""
    return item in INVOICED or item.startswith("line:")


def priced_lines(option: Option) -> Iterator[QuoteLine]:
    """Yield the lines that cost something (optional, free and included ones do not)."""
    return (line for line in option.offer.lines if not line.optional and isinstance(line.price, Money))


def milestone_cash(payment: tuple[Milestone, ...], lot: Lot, frame: Frame) -> Cash:
    """Return the days and shares of the payments for one lot of a purchase, or for a dedicated system."""
    events = {"order": frame.order_date, "delivery": lot.delivery, "acceptance": lot.ready}
    return tuple(
        (add_months(events[stone.at] + stone.plus_days * DAY, stone.plus_months), stone.share)
        for stone in payment
        if stone.share
    )


def hall_charge(site: Site, kw: Decimal, first: dt.date, last: dt.date, frame: Frame) -> Iterator[Charge]:
    """Yield the colocation cost of provisioned power between two days."""
    if site.colocation is None or last < first or not kw:
        return
    count, cash = months(first, last)
    factors = (
        stated("rate", site.colocation.per_kw_month, "per kW and month", "scenario sites, colocation", frame),
        Factor("provisioned power", kw, "kW", "platform node_power_kw"),
        Factor("months", count, "month", "calendar"),
    )
    yield Charge("colocation", factors, cash)


def energy_charge(site: Site, kw: Decimal, name: str, first: dt.date, last: dt.date, frame: Frame) -> Iterator[Charge]:
    """Yield the metered energy of a constant draw between two days."""
    if last < first or not kw:
        return
    count, cash = days(first, last)
    factors = (
        Factor(name, kw, "kW", "platform node_power_kw"),
        Factor("hours", HOURS_PER_DAY * count, "h", "calendar"),
        Factor("pue", site.pue, "kWh/kWh", "scenario sites, pue"),
    )
    for price in prices_per_kwh(site):
        charged = stated("price", price, "per kWh", "scenario sites, electricity", frame)
        yield Charge("energy", (*factors, charged), cash)


def prices_per_kwh(site: Site) -> list[Money]:
    """Return what a kWh costs, one amount per currency; of tariff periods the mean weighted by hours."""
    tariff = site.electricity
    if tariff.per_kwh is not None:
        return [tariff.per_kwh]
    means: dict[str | None, Decimal] = defaultdict(Decimal)
    for period in tariff.periods:
        means[period.per_kwh.currency] += period.hours * period.per_kwh.amount / 24
    return [Money(amount=amount, currency=currency) for currency, amount in means.items()]


def provisioned_kw(option: Option, frame: Frame) -> Decimal:
    """Return the power one unit needs at its site, its network and storage included, kW."""
    return option.platform.nodes_per_unit * node_kw(option.platform) + extra_kw_per_unit(frame, option)


def node_kw(platform: Platform) -> Decimal:
    """Return the provisioned power of one node, kW; options with an unknown one are rejected before."""
    return Decimal(str(platform.node_power_kw.provisioned))


def idle_kw(platform: Platform) -> Decimal:
    """Return the idle draw of one node, kW; an unknown one is read as the training draw (an upper bound)."""
    idle = platform.node_power_kw.idle
    return training_kw(platform) if idle is None else Decimal(str(idle))


def training_kw(platform: Platform) -> Decimal:
    """Return the training draw of one node, kW; an unknown one is read as provisioned (an upper bound)."""
    power = platform.node_power_kw
    return Decimal(str(power.provisioned if power.training is None else power.training))


def _price_factor(piece: Piece, per: str) -> Factor:
    return Factor("unit price", piece.unit_price, f"per {per}", piece.option.source, piece.quoted)


def _share(value: Decimal) -> Factor:
    return Factor("share", Decimal(value), "share", "quote prepay")


def _line_charge(line: QuoteLine, option: Option, lot: Lot, frame: Frame) -> Charge:
    per = f"per {line.per}"
    factors = [net_stated(line.item, line.price, per, option.source, option, frame)]  # type: ignore[arg-type]  # priced
    if line.per != "order":
        factors.append(Factor(f"{line.per}s per unit", Decimal(per_unit(line.per, option)), line.per, "platform"))
    staged = option.is_purchase or option.is_dedicated
    cash = milestone_cash(option.quote.payment, lot, frame) if staged else on_day(lot.delivery)
    return Charge(f"line:{line.item}", tuple(factors), cash, contingent=option.is_purchase)


def _monthly(item: str, factors: tuple[Factor, ...], lot: Lot, term: int, frame: Frame) -> Iterator[Charge]:
    """Yield equal monthly payments in advance; those on or after the horizon stand on their own line."""
    paid = [add_months(lot.delivery, month) for month in range(term)]
    for name, group in (
        (item, [day for day in paid if day < frame.horizon]),
        (BEYOND, [day for day in paid if day >= frame.horizon]),
    ):
        if group:
            count = Factor("months", Decimal(len(group)), "month", "contract term")
            share = Decimal(1) / len(group)
            yield Charge(name, (*factors, count), tuple((day, share) for day in group), contingent=item == "lease")


def site_offer_sites(offer: SiteOffer, frame: Frame) -> tuple[str, ...]:
    """Return the sites an offer can be delivered to."""
    return tuple(frame.scenario.sites) if offer.sites is None else offer.sites
