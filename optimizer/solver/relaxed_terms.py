"""Rentals in the node-day relaxation: reserved terms as orders of their own, and what runs in hired pools cost alone.

A reserved term starts on a day on which one is offered, or follows a run that ends the day before. The days of the first
kind are known, so such a term is an order like any other. Those of the second kind are taken together, some weeks at a
time: such a term may serve as early as the first day of its weeks, and costs no more than on the last.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, pairwise

from optimizer.cost.frame import DAY, Frame
from optimizer.cost.items import HOURS_PER_DAY
from optimizer.cost.option import Option, is_incremental, maximum, smallest_order, unit_prices
from optimizer.schema.quote import BlockOffer, ReservedOffer
from optimizer.solver.offers import following_options
from optimizer.solver.problem import Pool, Profile
from optimizer.solver.variables import Builder, Order, orders_of_option
from optimizer.units import add_months, month_end

WEEKS_TOGETHER = 8
"""Most weeks of starts that are taken together: a discount of 8 % a year is then at most 1.2 % off."""


@dataclass(frozen=True, slots=True)
class Term:
    """An order of a reserved offer that starts within some days.

    Attributes:
        order: The order; its option starts on the last of these days.
        first: First day on which a run may use it.
        last: Last day on which a run may use it.
        days: Most days it serves.
        follows: Whether it starts because a run follows another one; else its first day is known.
    """

    order: Order
    first: dt.date
    last: dt.date
    days: int
    follows: bool

    def overlap(self, first: dt.date, last: dt.date) -> int:
        """Return how many of some days it may serve."""
        return max(0, min(self.days, (min(last, self.last) - max(first, self.first)).days + 1))


def terms_of(builder: Builder, pool: Pool, latest: dt.date, *, follow: bool) -> Iterator[Term]:
    """Declare the reserved terms of a pool.

    Args:
        builder: The model.
        pool: The pool.
        latest: Last day on which a run may start.
        follow: Whether a run may start there after another one, where no term is offered by itself.
    """
    groups: dict[tuple[str, str], list[Option]] = {}
    for option in pool.options:
        if isinstance(option.offer, ReservedOffer):
            groups.setdefault(option.offer_key, []).append(option)
    for own in groups.values():
        known = sorted(own, key=lambda option: option.lots[0].delivery)
        for option in known:
            yield from _terms(builder, pool, option, option.lots[0].ready, follows=False)
        for first, last in _weeks(known, latest) if follow else ():
            for option in following_options(known[0], [last], builder.frame):
                yield from _terms(builder, pool, option, first, follows=True)


def _weeks(known: Sequence[Option], latest: dt.date) -> Iterator[tuple[dt.date, dt.date]]:
    """Yield the first and last ready days between those that are known, some weeks at a time."""
    offer = known[0].offer
    wait = known[0].lots[0].ready - known[0].lots[0].delivery
    if isinstance(offer, ReservedOffer) and offer.start:
        latest = min(latest, offer.start[1] + wait)
    for before, after in pairwise([*(option.lots[0].ready for option in known), latest + DAY]):
        first = before + DAY
        while first < after:
            last = min(first + (7 * WEEKS_TOGETHER - 1) * DAY, after - DAY)
            yield first, last
            first = last + DAY


def _terms(builder: Builder, pool: Pool, option: Option, first: dt.date, *, follows: bool) -> Iterator[Term]:
    """Declare the orders of a term, one per price; it is ready on some day from the first to that of its option."""
    ready, end = option.lots[0].ready, option.end
    months = getattr(option.offer, "term_months", 0)
    if end is None or not months:
        raise TypeError(f"{option.name} is no reserved offer")
    wait = ready - option.lots[0].delivery
    starts = (first - wait + number * DAY for number in range((ready - first).days + 1))
    longest = max((add_months(start, months) - start - wait).days for start in starts)
    for order in orders_of_option(builder, pool, option, None, [None]):
        builder.orders.append(order)
        yield Term(order, first, end, longest, follows)


def is_hired_alone(pool: Pool) -> bool:
    """Return whether a pool consists of hires only, so that each run in it pays for its own units and no others."""
    return (
        bool(pool.options) and not (pool.owned_nodes or pool.system) and all(option.is_hired for option in pool.options)
    )


def hired_alone(pool: Pool, profiles: Sequence[Profile], last: dt.date, frame: Frame) -> tuple[Decimal, Decimal] | None:
    """Return the least present value and cash of a run in a pool of hires only; None when none is large enough.

    By the hour it is paid for its days until ``last``, a block on its first day before that; later is never dearer.
    """
    offers = list({option.offer_key: option for option in pool.options}.values())
    later = _discounts(last, frame)
    best: tuple[Decimal, Decimal] | None = None
    for nodes, days in {(profile.nodes_needed, profile.run.candidate.days) for profile in profiles}:
        units = -(-nodes // pool.platform.nodes_per_unit)
        found = [_hire(option, units, days, len(offers) > 1, later, last, frame) for option in offers]
        for value, cash in filter(None, found):
            best = (value, cash) if best is None else (min(best[0], value), min(best[1], cash))
    return best


def hire_rates(pool: Pool, modes: Sequence[tuple[int, int]], frame: Frame) -> dict[tuple[int, int], Decimal] | None:
    """Return what runs hired by the hour pay a day, in a pool of one such offer without days of waiting; else None.

    Args:
        pool: The pool.
        modes: (nodes, days) of the runs; those that cannot be hired must not be among them.
        frame: Dates and rates.
    """
    offers = {option.offer_key: option for option in pool.options}
    option = next(iter(offers.values()))
    waits = option.lots[0].ready > option.lots[0].delivery
    if len(offers) > 1 or waits or isinstance(option.offer, BlockOffer):
        return None
    hourly = {mode: _hourly(option, -(-mode[0] // pool.platform.nodes_per_unit), frame) for mode in modes}
    kept = 1 if option.quote.tax.recoverable else 1 + option.quote.tax.rate
    rates = {mode: price * HOURS_PER_DAY * kept for mode, price in hourly.items() if price is not None}
    return rates if len(rates) == len(modes) else None


def _hire(
    option: Option, units: int, days: int, shared: bool, later: Sequence[Decimal], last: dt.date, frame: Frame
) -> tuple[Decimal, Decimal] | None:
    """Return what some units cost for a run of some days; where several offers may share it, at the lowest price."""
    hourly = min(price for _, price in unit_prices(option, frame)) * units if shared else _hourly(option, units, frame)
    wait = (option.lots[0].ready - option.lots[0].delivery).days
    first = option.lots[0].delivery
    end = option.hire_end(first + (days + wait - 1) * DAY)
    if hourly is None or end is None:
        return None
    tax = option.quote.tax
    daily = hourly * HOURS_PER_DAY * (1 if tax.recoverable else 1 + tax.rate)
    hired = (end - first).days + 1
    if isinstance(option.offer, BlockOffer):
        return daily * hired * frame.discount(last - (days + wait - 1) * DAY), daily * hired
    return daily * (later[min(hired, len(later) - 1)]), daily * hired


def _hourly(option: Option, units: int, frame: Frame) -> Decimal | None:
    """Return the least price of an hour of at least so many units, in one award; None when it is too large."""
    step, most, prices = option.offer.units.step, maximum(option), unit_prices(option, frame)
    sizes = {max(units, smallest_order(option.offer)), *(first for first, _ in prices if first > units)}
    counts = [count for count in (-(-size // step) * step for size in sizes) if count <= most]
    return min((_award(option, count, prices) for count in counts), default=None)


def _award(option: Option, count: int, prices: Sequence[tuple[int, Decimal]]) -> Decimal:
    if not is_incremental(option):
        return count * max(row for row in prices if row[0] <= count)[1]
    following = [first for first, _ in prices[1:]] + [count + 1]
    return sum(
        (
            price * (min(count + 1, after) - first)
            for (first, price), after in zip(prices, following, strict=True)
            if first <= count
        ),
        Decimal(0),
    )


def _discounts(last: dt.date, frame: Frame) -> list[Decimal]:
    """Return the sums of the discount factors of the last 0, 1, 2 … days until a day, each paid at its month's end."""
    days = ((last - number * DAY) for number in range((last - frame.today).days + 1))
    return [Decimal(0), *accumulate(frame.discount(month_end(day)) for day in days)]
