"""The scenario's ``costs`` entries: one form for network, storage, staff, licences, migration.

``stop`` is the last day of the plan under the ``sell`` policy, None under the others.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

from optimizer.schema.quote import PurchaseOffer
from optimizer.schema.scenario import CostEntry
from optimizer.solver.check.case import Case, Holding
from optimizer.solver.check.payments import Payment
from optimizer.units import calendar_shares

PIECES = ("accelerator", "node", "unit")
"""Entries counted by the piece; the others are paid once per cluster, platform or run."""


def cost_payments(case: Case, stop: dt.date | None) -> Iterator[Payment]:
    """Yield the cash of all ``costs`` entries."""
    for entry in case.scenario.costs:
        matching = case.matching(entry)
        if not matching:
            continue
        if entry.per == "run":
            yield from _per_run(case, entry, matching)
        elif entry.per in PIECES:
            yield from _per_piece(case, entry, matching, stop)
        else:
            for group in groups(entry, matching):
                yield from _per_group(case, entry, group, stop)


def groups(entry: CostEntry, matching: list[Holding]) -> list[list[Holding]]:
    """Return the holdings an amount is paid once for: all of a cluster, or each platform's."""
    if entry.per != "platform":
        return [matching]
    platforms = sorted({holding.platform.id for holding in matching})
    return [[holding for holding in matching if holding.platform.id == platform] for platform in platforms]


def last_of(case: Case, holding: Holding, stop: dt.date | None) -> dt.date:
    """Return the last day a holding is kept: sold hardware goes on the day after ``stop``."""
    last = case.last(holding)
    return min(last, stop) if stop and isinstance(holding.offer, PurchaseOffer) else last


def _amount(case: Case, entry: CostEntry, count: int) -> Decimal:
    """Return the amount, from a table the row of the highest first count <= count."""
    if not isinstance(entry.amount, dict):
        return case.facts.money(entry.amount, case.currency)
    reached = [first for first in entry.amount if first <= count]
    return case.facts.money(entry.amount[max(reached)], case.currency) if reached else Decimal(0)


def _accelerators(matching: list[Holding]) -> int:
    return sum(holding.pieces("accelerator", holding.award.units) for holding in matching)


def _per_run(case: Case, entry: CostEntry, matching: list[Holding]) -> Iterator[Payment]:
    pools = {holding.pool for holding in matching}
    amount = _amount(case, entry, _accelerators(matching))
    for run in case.runs:
        if run.pool in pools:
            yield _payment(entry, run.start, amount)


def _per_piece(case: Case, entry: CostEntry, matching: list[Holding], stop: dt.date | None) -> Iterator[Payment]:
    count = sum(holding.pieces(entry.per, holding.award.units) for holding in matching)
    amount = _amount(case, entry, count)
    for holding in matching:
        for lot in holding.deliveries:
            pieces = holding.pieces(entry.per, lot.units)
            yield from _over(entry, amount * pieces, lot.day, last_of(case, holding, stop))


def _per_group(case: Case, entry: CostEntry, group: list[Holding], stop: dt.date | None) -> Iterator[Payment]:
    last = max(case.last(holding) for holding in group)
    first = min(holding.first_day for holding in group)
    yield from _over(entry, _amount(case, entry, _accelerators(group)), first, min(last, stop) if stop else last)


def _over(entry: CostEntry, amount: Decimal, first: dt.date, last: dt.date) -> Iterator[Payment]:
    """Pay an amount once on the first day, or for each calendar month of the days on its last day."""
    if entry.every == "once":
        yield _payment(entry, first, amount)
        return
    monthly = amount / 12 if entry.every == "year" else amount
    for end, covered, days in calendar_shares(first, last):
        yield _payment(entry, end, monthly * covered / days)


def _payment(entry: CostEntry, day: dt.date, amount: Decimal) -> Payment:
    return Payment(day, f"cost:{entry.name}", amount, contingent=True)
