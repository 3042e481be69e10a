"""The exact amounts behind a plan's rounded ones: products of the factors it states."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from math import prod

from optimizer.cost.charge import EXCHANGE_RATE
from optimizer.cost.items import BEYOND
from optimizer.errors import InputError, Problem
from optimizer.results import CashItem, Cost, CostLine, Factor
from optimizer.units import MONEY_DIGITS

OUTSIDE_BUDGET = frozenset({"residual", "after_run_value"})
"""Receipts that budgets do not count."""

PRICE_ITEMS = frozenset({"hardware", "lease", "reserved", "on_demand", "block", "dedicated", BEYOND})
"""Lines of the price of an offer itself."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Lines that are paid on the same days and count alike for budgets.

    Attributes:
        number: Counted from 1, in the order of the lines.
        budget: Whether budgets count them.
        amount: Their exact sum.
        parts: Day and share of each payment.
    """

    number: int
    budget: bool
    amount: Decimal
    parts: tuple[tuple[dt.date, Decimal], ...]


def product(line: CostLine) -> Decimal:
    """Return the exact amount of a line."""
    with localcontext() as context:
        context.prec = MONEY_DIGITS
        return prod((factor.value for factor in line.factors), start=Decimal(1))


def is_exchange_rate(factor: Factor) -> bool:
    """Return whether a factor turns an amount of one currency into another."""
    return factor.name.startswith(f"{EXCHANGE_RATE} ")


def price_factor(line: CostLine) -> Factor | None:
    """Return the price of one piece as it is stated, with its currency; None when a line has none."""
    return next((each for each in line.factors if " per " in each.unit and not is_exchange_rate(each)), None)


def quoted_prices(cost: Cost, award: int) -> tuple[Factor, ...]:
    """Return the prices an award is signed at, as its quote states them: several where each unit has that of its break."""
    own = (line for line in cost.lines if line.award == award and line.item in PRICE_ITEMS)
    known = {(each.value, each.unit): each for line in own if (each := price_factor(line)) is not None}
    return tuple(known.values())


def streams(cost: Cost) -> tuple[dict[int, int], tuple[Stream, ...]]:
    """Return the stream number of each line (by its position), and the streams.

    Raises:
        InputError: the plan does not say when its lines are paid.
    """
    if cost.discount_rate is None or any(line.schedule is None for line in cost.lines):
        found, fix = "no days of payment or no discount rate", "Solve the scenario again with this version"
        raise InputError([Problem("plan, cost", found, "both, to recompute it in a workbook", fix)])
    groups: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for position, line in enumerate(cost.lines):
        groups[line.schedule or 0, line.item not in OUTSIDE_BUDGET].append(position)
    numbers = {position: number for number, held in enumerate(groups.values(), start=1) for position in held}
    return numbers, tuple(_streams(cost, groups))


def _streams(cost: Cost, groups: dict[tuple[int, bool], list[int]]) -> Iterator[Stream]:
    for number, ((schedule, budget), positions) in enumerate(groups.items(), start=1):
        amount = sum((product(cost.lines[position]) for position in positions), Decimal(0))
        parts = tuple((part.date, part.share) for part in cost.schedules[schedule])
        yield Stream(number, budget, amount, parts)


def by_day(found: tuple[Stream, ...]) -> dict[dt.date, Decimal]:
    """Return the exact cash of each day, ascending."""
    days: dict[dt.date, Decimal] = defaultdict(Decimal)
    for stream in found:
        for day, share in stream.parts:
            days[day] += stream.amount * share
    return dict(sorted(days.items()))


def exact_cash(cost: Cost) -> tuple[CashItem, ...]:
    """Return the plan's cash by day and item before rounding; of a plan of an older version as it is rounded."""
    if any(line.schedule is None for line in cost.lines):
        return cost.cash
    moves: dict[tuple[dt.date, str], Decimal] = defaultdict(Decimal)
    for line in cost.lines:
        amount = product(line)
        for part in cost.schedules[line.schedule or 0]:
            moves[part.date, line.item] += amount * part.share
    return tuple(CashItem(date=day, amount=amount, item=item) for (day, item), amount in sorted(moves.items()))
