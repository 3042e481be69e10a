"""Bookings of awards and runs, and the budgets."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from decimal import Decimal

from optimizer.cost.items import excess_charges, hire_charges, order_charges, unit_charges
from optimizer.cost.plan_cost import owned_charges, run_energy, serves
from optimizer.solver.ledger import scale_digits, scaled_up
from optimizer.solver.variables import Builder, Order, PieceVar


def awards(builder: Builder) -> None:
    """Book what each order and each unit costs, by after-run situation where it depends on it."""
    for order in builder.orders:
        builder.ledger.book(order.index, order_charges(order.option, builder.frame))
        for var in order.pieces:
            for after, part in builder.by_after(var):
                builder.ledger.book(part, unit_charges(var.piece, after, builder.frame))
            _usage(builder, order, var)


def _usage(builder: Builder, order: Order, var: PieceVar) -> None:
    """Book hours: hourly units for their run, reserved units beyond what take-or-pay covers."""
    if var.profile is not None:
        builder.ledger.book(var.index, hire_charges(var.piece))
        return
    groups: dict[tuple[dt.date, dt.date], list[int]] = defaultdict(list)
    for profile, index in builder.chosen.items():
        run = profile.run
        served = profile.pool.name == order.option.pool and serves(var.piece, run.start, run.end)
        if served and excess_charges(var.piece, run.start, run.end, builder.frame):
            groups[run.start, run.end].append(index)
    if groups:
        for (start, end), part in _used_parts(builder, var, groups):
            builder.ledger.book(part, excess_charges(var.piece, start, end, builder.frame))


def _used_parts(
    builder: Builder, var: PieceVar, groups: dict[tuple[dt.date, dt.date], list[int]]
) -> list[tuple[tuple[dt.date, dt.date], int]]:
    """All units of the award run for the hours of the run: part = units when its profile is chosen."""
    parts = []
    for key, profiles in groups.items():
        part = builder.model.integer(f"{builder.model.names[var.index]}|run {key[0]} {key[1]}", 0, var.upper)
        terms = [(part, 1), (var.index, -1), *((index, -var.upper) for index in profiles)]
        builder.model.add("award_money", builder.model.names[part], terms, lower=-var.upper)
        parts.append((key, part))
    return parts


def runs(builder: Builder) -> None:
    """Book what each profile draws beyond idle power, and what owned nodes cost."""
    for profile, index in builder.chosen.items():
        builder.ledger.book(index, run_energy(profile.run, builder.frame))
    if not builder.frame.scenario.owned:
        return
    situations = builder.afters()
    if situations and not situations[0].matters:
        builder.ledger.book(builder.one, owned_charges(situations[0], builder.frame))
        return
    ends = builder.ends()
    for after in situations:
        for index in ends[after.last_run]:
            builder.ledger.book(index, owned_charges(after, builder.frame))


def budget(builder: Builder) -> None:
    """Cash out of the whole plan, and of each fiscal year, within its budget."""
    limits = builder.frame.scenario.budget
    if limits.total is not None:
        _budget_row(builder, "total", builder.ledger.outflow, builder.frame.amount(limits.total))
    for year, money in limits.by_fiscal_year.items():
        _budget_row(builder, year, builder.ledger.outflow_by_year.get(year, {}), builder.frame.amount(money))


def _budget_row(builder: Builder, name: str, bookings: dict[int, Decimal], amount: Decimal) -> None:
    digits = scale_digits([bookings, {builder.one: amount}], builder.model.upper, builder.frame.scenario.currency)
    upper = int(amount.scaleb(digits))
    builder.model.add("budget", name, scaled_up(bookings, digits).items(), upper=upper)
