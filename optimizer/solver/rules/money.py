"""Bookings of awards and runs, and the budgets."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from decimal import Decimal

from optimizer.cost.items import (
    HOURS_PER_DAY,
    committed_hours,
    excess_charges,
    excess_paid,
    hire_charges,
    hours_beyond,
    hours_within_term,
    order_charges,
    unit_charges,
)
from optimizer.cost.plan_cost import owned_charges, run_energy, serves
from optimizer.solver.ledger import scale_digits, scaled_up
from optimizer.solver.problem import Profile
from optimizer.solver.variables import Builder, Order, PieceVar, Term
from optimizer.units import month_end


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
    committed = committed_hours(order.option)
    if committed is None:
        return
    served = [
        (profile, index)
        for profile, index in builder.chosen.items()
        if profile.pool.name == order.option.pool and serves(var.piece, profile.run.start, profile.run.end)
    ]
    if builder.problem.several:
        _hours_of_all(builder, var, committed, served)
        return
    groups: dict[tuple[dt.date, dt.date], list[int]] = defaultdict(list)
    for profile, index in served:
        if HOURS_PER_DAY * profile.run.candidate.days > committed:
            groups[profile.run.start, profile.run.end].append(index)
    for (start, end), profiles in groups.items():
        part = _used_part(builder, var, f"{start} {end}", profiles)
        builder.ledger.book(part, excess_charges(var.piece, (end - start).days + 1, month_end(end)))


def _used_part(builder: Builder, var: PieceVar, name: str, profiles: list[int]) -> int:
    """All units of the award run for the hours of a run: part = units when one of its profiles is chosen."""
    part = builder.model.integer(f"{builder.model.names[var.index]}|run {name}", 0, var.upper)
    terms = [(part, 1), (var.index, -1), *((index, -var.upper) for index in profiles)]
    builder.model.add("award_money", builder.model.names[part], terms, lower=-var.upper)
    return part


def _hours_of_all(builder: Builder, var: PieceVar, committed: Decimal, served: list[tuple[Profile, int]]) -> None:
    """Book the hours of several runs beyond the committed ones, up to those of the term.

    parts >= units x runs it counts for; excess >= sum of hours x parts - committed x units, or the most there can be.
    Hours are counted in the finest part of one that the commitment asks for.
    """
    whole, parts_of_hour = committed.as_integer_ratio()
    day = int(HOURS_PER_DAY) * parts_of_hour
    groups, longest = _by_length(served)
    within = int(hours_within_term(var.piece.option)) * parts_of_hour - whole
    used = day * sum(longest.values()) - whole
    if min(within, used) <= 0:
        return
    terms: list[Term] = [(var.index, whole)]
    for (name, days), profiles in groups.items():
        terms.append((_used_part(builder, var, f"{name} {days} days", profiles), -day * days))
    model, name = builder.model, builder.model.names[var.index]
    excess = model.integer(f"{name}|beyond", 0, within * var.upper)
    if used > within:
        all_day = model.boolean(f"{name}|all of the term")
        terms.append((all_day, used * var.upper))
        most = [(excess, 1), (var.index, -within), (all_day, -within * var.upper)]
        model.add("award_money", model.names[all_day], most, lower=-within * var.upper)
    model.add("award_money", model.names[excess], [(excess, 1), *terms], lower=0)
    paid = excess_paid(var.piece.option, builder.frame, None)
    builder.ledger.book(excess, hours_beyond(var.piece, Decimal(1) / parts_of_hour, paid))


def _by_length(served: list[tuple[Profile, int]]) -> tuple[dict[tuple[str, int], list[int]], dict[str, int]]:
    """Return the profiles by workload and days, and the longest run of each workload."""
    groups: dict[tuple[str, int], list[int]] = defaultdict(list)
    longest: dict[str, int] = defaultdict(int)
    for profile, index in served:
        days = profile.run.candidate.days
        groups[profile.workload, days].append(index)
        longest[profile.workload] = max(longest[profile.workload], days)
    return groups, longest


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
