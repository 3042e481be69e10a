"""Costs of the node-day relaxation: never more than what the same decision costs in a plan.

Recurring costs, sale and energy are counted as if the last run ended on the earliest day on which it can (later is never
cheaper); tables of ``costs`` at their lowest amount; value of use at its highest, as soon as anything can be used.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from optimizer.cost.after import After
from optimizer.cost.charge import Charge
from optimizer.cost.entries import COUNTED, counted_charge, matching, table
from optimizer.cost.frame import DAY, Frame
from optimizer.cost.items import (
    HOURS_PER_DAY,
    energy_charge,
    idle_kw,
    order_charges,
    system_charges,
    training_kw,
    unit_charges,
)
from optimizer.cost.option import Option, Piece, unit_prices
from optimizer.cost.plan_cost import owned_charges, present_value
from optimizer.cost.value import value_charges
from optimizer.solver.ledger import scale_digits
from optimizer.solver.problem import Pool
from optimizer.solver.variables import Builder
from optimizer.units import add_months, fiscal_year, month_end


def book_awards(builder: Builder, earliest_end: dt.date) -> None:
    """Book orders and their units, what we have, and what it may earn."""
    frame = builder.frame
    after = After(frame.scenario.after_run.policy, earliest_end)
    builder.ledger.book(builder.one, owned_charges(after, frame))
    for order in builder.orders:
        builder.ledger.book(order.index, order_charges(order.option, frame))
        for var in order.pieces:
            builder.ledger.book(var.index, unit_charges(var.piece, after, frame))
            builder.ledger.book(var.index, _entries(var.piece, after, frame))
    if after.policy == "use":
        builder.ledger.book(builder.one, _most_value(earliest_end, frame))


def _entries(piece: Piece, after: After, frame: Frame) -> Iterator[Charge]:
    """Yield what one unit pays for counted entries at the lowest amount of their tables."""
    for entry in matching(frame, piece.option):
        if entry.per in COUNTED:
            lowest = min(amount for _, amount in table(entry, frame))
            charge = counted_charge(entry, lowest, piece, after, frame)
            if charge:
                yield charge


def _most_value(earliest_end: dt.date, frame: Frame) -> Iterator[Charge]:
    """Yield receipts of the whole cap from the earliest end to the horizon, without decline."""
    cap = frame.scenario.after_run.max_accelerators or 0
    first = earliest_end + DAY
    while cap and first <= frame.last_day:
        last = min(add_months(first, 12) - DAY, frame.last_day)
        yield from value_charges(cap, first, last, first - DAY, frame)
        first = last + DAY


def hired_rate(options: list[Option], last: dt.date, frame: Frame) -> tuple[Decimal, Decimal]:
    """Return the least present value and the least cash of one node-day hired by the hour or in a block until a day.

    Paid at the latest at the end of the last month. Systems paid by the run cost nothing by the day.
    """
    if any(option.is_dedicated for option in options):
        return Decimal(0), Decimal(0)
    cash = min(_hourly(option, frame) * HOURS_PER_DAY / option.platform.nodes_per_unit for option in options)
    return cash * frame.discount(month_end(last)), cash


def _hourly(option: Option, frame: Frame) -> Decimal:
    """Return the lowest price of a unit and hour, with tax that is not recovered."""
    tax = option.quote.tax
    return min(money for _, money in unit_prices(option, frame)) * (1 if tax.recoverable else 1 + tax.rate)


def book_hours(builder: Builder, variable: int, rate: tuple[Decimal, Decimal]) -> None:
    """Book hired node-days: their value, and their cash in the total budget (no year can be told)."""
    builder.ledger.npv[variable] += rate[0]
    builder.ledger.outflow[variable] += rate[1]


def book_least(builder: Builder, here: int, least: tuple[Decimal, Decimal]) -> None:
    """Book the least present value and the least cash of a run by itself."""
    builder.ledger.npv[here] += least[0]
    builder.ledger.outflow[here] += least[1]


def book_energy(builder: Builder, pool: Pool, days: Mapping[tuple[dt.date, dt.date], int], share: Decimal) -> None:
    """Book what the node-days of a run draw beyond idle power, as if on the last of the days they may be used.

    Args:
        builder: The model.
        pool: The pool of the run.
        days: First and last day -> node-days used.
        share: Least share of its nodes that are no spares.
    """
    frame = builder.frame
    if pool.site is None:
        return
    kw = max(training_kw(pool.platform) - idle_kw(pool.platform), Decimal(0)) * share
    for (first, last), index in days.items():
        charges = list(energy_charge(frame.site(pool.site), kw, "training above idle draw", last, last, frame))
        cash = sum((charge.amount for charge in charges), Decimal(0))
        builder.ledger.npv[index] += sum((present_value(charge, frame) for charge in charges), Decimal(0))
        builder.ledger.outflow[index] += cash
        years = {fiscal_year(month_end(day), frame.scenario.fiscal_year_start) for day in (first, last)}
        if len(years) == 1:  # else no year can be told
            builder.ledger.outflow_by_year[years.pop()][index] += cash


def book_system(builder: Builder, here: int, options: list[Option]) -> None:
    """Book the least price of a run on a dedicated system."""
    frame = builder.frame
    prices = [list(system_charges(option, frame)) for option in options]
    builder.ledger.npv[here] += min(sum((present_value(c, frame) for c in own), Decimal(0)) for own in prices)
    builder.ledger.outflow[here] += min(sum((c.amount for c in own), Decimal(0)) for own in prices)


def budgets(builder: Builder) -> None:
    """Add the rows of the budgets, every coefficient rounded in favour of the plan."""
    limits, frame = builder.frame.scenario.budget, builder.frame
    rows = [("total", builder.ledger.outflow, limits.total)] if limits.total is not None else []
    rows += [
        (year, builder.ledger.outflow_by_year.get(year, {}), money) for year, money in limits.by_fiscal_year.items()
    ]
    for name, booked, money in rows:
        amount = frame.amount(money)
        digits = scale_digits([dict(booked), {builder.one: amount}], builder.model.upper, frame.scenario.currency)
        terms = [(v, floored(paid, digits)) for v, paid in booked.items()]
        upper = int(amount.scaleb(digits).to_integral_value(ROUND_CEILING))
        builder.model.add("budget", name, terms, upper=upper)


def floored(amount: Decimal, digits: int) -> int:
    """Return an amount in whole units of 10^-digits, rounded down."""
    return int(amount.scaleb(digits).to_integral_value(ROUND_FLOOR))
