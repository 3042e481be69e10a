"""After-run use: what the fleet earns from the day after the last run, capped."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise

from optimizer.cost.frame import DAY
from optimizer.cost.value import breakpoints, value_charges
from optimizer.solver.variables import Builder, Term


def use(builder: Builder) -> None:
    """Between two days on which availability changes: accelerators in use <= cap, and <= what is there.

    One variable per possible last day of the runs, above zero only when that day is chosen: its value per
    accelerator is then a constant.
    """
    cap = builder.frame.scenario.after_run.max_accelerators
    if builder.policy != "use" or cap is None:
        return
    edges = breakpoints([(first, last) for first, last, _ in _presence(builder)], builder.frame)
    first_day = min(builder.ends(), default=builder.frame.last_day) + DAY
    days = [first_day, *(day for day in edges if day > first_day)]
    for first, following in pairwise(days):
        _segment(builder, first, following - DAY, cap)


def _presence(builder: Builder) -> list[tuple[dt.date, dt.date, Term]]:
    """First and last usable day of each piece with its accelerators as a term (owned nodes as a constant)."""
    frame = builder.frame
    found = [
        (frame.today, frame.last_day, (builder.one, pool.owned_nodes * pool.platform.accelerators_per_node))
        for pool in builder.problem.pools
        if pool.owned_nodes
    ]
    for order in builder.orders:
        if not order.option.is_hired:
            per_unit = order.option.platform.accelerators_per_unit
            last = order.option.last_day(frame)
            found += [(var.piece.lot.ready, last, (var.index, per_unit)) for var in order.pieces]
    return found


def _segment(builder: Builder, first: dt.date, last: dt.date, cap: int) -> None:
    used: list[Term] = []
    for end, profiles in builder.ends().items():
        start = max(first, end + DAY)
        charges = list(value_charges(1, start, last, end, builder.frame)) if start <= last else []
        if charges:
            index = builder.model.integer(f"in use {first} after {end}", 0, cap)
            builder.model.add("after_run_use", f"{first} {end}", [(index, 1), *((p, -cap) for p in profiles)], upper=0)
            builder.ledger.book(index, charges)
            used.append((index, 1))
    there = [(index, -count) for ready, gone, (index, count) in _presence(builder) if ready <= first <= gone]
    if used:
        builder.model.add("after_run_use", f"{first} there", [*used, *there], upper=0)
