"""After-run use: what the fleet is worth per accelerator-hour from the day after the last run."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from optimizer.cost.charge import Charge, Factor, days, power, stated
from optimizer.cost.choice import Choice
from optimizer.cost.frame import DAY, Frame
from optimizer.cost.items import HOURS_PER_DAY
from optimizer.cost.option import fill_lots
from optimizer.units import add_months

Presence = tuple[dt.date, dt.date, int]
"""Accelerators usable from the first to the last day."""


def value_charges(
    accelerators: int, first: dt.date, last: dt.date, last_run: dt.date, frame: Frame
) -> Iterator[Charge]:
    """Yield the receipts of accelerators in use between two days, one charge per year since the last run.

    value x utilisation x (1 - decline) ^ (full years since the day after the last run).
    """
    terms = frame.scenario.after_run
    if terms.value_per_accelerator_hour is None:
        return
    value = stated("value", terms.value_per_accelerator_hour, "per accelerator-hour", "scenario after_run", frame)
    kept = 1 - terms.decline_per_year
    for year, start, end in _years(last_run + DAY, first, last):
        count, cash = days(start, end)
        factors = (
            Factor("accelerators", Decimal(-accelerators), "accelerator", "plan, capped by after_run.max_accelerators"),
            Factor("hours", HOURS_PER_DAY * count, "h", "calendar"),
            value,
            Factor("utilisation", terms.utilisation, "share", "scenario after_run"),
            power("decline", kept, Decimal(year), "share", f"scenario after_run, year {year + 1}"),
        )
        yield Charge("after_run_value", factors, cash, budget=False)


def _years(origin: dt.date, first: dt.date, last: dt.date) -> Iterator[tuple[int, dt.date, dt.date]]:
    year = 0
    while add_months(origin, 12 * year) <= last:
        start = max(first, add_months(origin, 12 * year))
        end = min(last, add_months(origin, 12 * (year + 1)) - DAY)
        if start <= end:
            yield year, start, end
        year += 1


def presences(choice: Choice, frame: Frame) -> list[Presence]:
    """Return what owned nodes and every award but the hourly ones can offer, and when."""
    owned = [
        (frame.today, frame.last_day, own.nodes * frame.platforms[own.platform].accelerators_per_node)
        for own in frame.scenario.owned
    ]
    awarded = [
        (lot.ready, taken.option.last_day(frame), units * taken.option.platform.accelerators_per_unit)
        for taken in choice.taken
        if not taken.option.is_hired
        for lot, units in fill_lots(taken.option, taken.units)
    ]
    return owned + awarded


def breakpoints(present: Iterable[tuple[dt.date, dt.date]], frame: Frame) -> list[dt.date]:
    """Return the days on which availability changes, up to and including the horizon, ascending."""
    edges = {edge for first, last in present for edge in (first, last + DAY) if edge < frame.horizon}
    return sorted(edges | {frame.horizon})


def plan_value(choice: Choice, last_run: dt.date, frame: Frame) -> list[Charge]:
    """Return the receipts of a plan under the policy ``use``: never more than ``max_accelerators`` on a day."""
    cap = frame.scenario.after_run.max_accelerators
    if cap is None:
        return []
    present = presences(choice, frame)
    edges = [last_run + DAY, *(day for day in breakpoints(_spans(present), frame) if day > last_run + DAY)]
    charges: list[Charge] = []
    for first, following in zip(edges, edges[1:], strict=False):
        usable = sum(count for ready, last, count in present if ready <= first <= last)
        if min(usable, cap):
            charges += value_charges(min(usable, cap), first, following - DAY, last_run, frame)
    return charges


def _spans(present: Sequence[Presence]) -> list[tuple[dt.date, dt.date]]:
    return [(first, last) for first, last, _ in present]
