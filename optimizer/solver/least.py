"""The least that runs cost: single ones by their first day, several by their node-days, placed ones by what they need.

Lower bounds on present values, in floating point, from the tables of ``outlook``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.solver.curves import START_STEP_DAYS, Costs, Counts
from optimizer.solver.outlook import Outlook, PoolTable, Slot
from optimizer.solver.schedules import Schedules

FAR = 10**6
"""A day after every day."""

LEAST_STEP_DAYS = 7
"""Days between the first days for which the least cost of a run is known; between two the earlier counts."""


@dataclass(frozen=True, eq=False)
class Least:
    """What single runs cost at least: ``awards`` for its nodes alone, ``running`` for what it draws or is paid.

    Attributes:
        days: Days, ascending; the first is the first on which it may start.
        awards_from: Least awards when it starts on such a day or later.
        running_from: What it draws at least then.
        node_days_from: Least nodes x days then.
    """

    days: Counts
    awards_from: Costs
    running_from: Costs
    node_days_from: Costs

    @property
    def awards(self) -> float:
        """Whenever it starts."""
        return float(self.awards_from[0])

    @property
    def running(self) -> float:
        """Whenever it starts."""
        return float(self.running_from[0])

    def since(self, starts: Counts) -> tuple[Costs, Costs, Costs]:
        """Return awards, running and node-days of a run that starts on such a day or later."""
        place = np.maximum(np.searchsorted(self.days, starts, side="right") - 1, 0)
        return self.awards_from[place], self.running_from[place], self.node_days_from[place]


def least(slot: Slot, outlook: Outlook) -> Least:
    """Return what a run costs at least in a pool by first day; infinite when it cannot be done."""
    ready = outlook.tables[slot.pool].ready
    days = np.arange(slot.first, slot.last + 1, LEAST_STEP_DAYS)
    days = np.union1d([slot.first], np.concatenate([days, *(own[own > slot.first] for own in (slot.starts, ready))]))
    which, modes = np.nonzero(days[:, None] + slot.days - 1 <= slot.last)
    latest = slot.last - slot.days[modes] + 1  # hires and energy are paid later, at a lower present value
    zeros = np.zeros(len(which))
    placed = Schedules((slot,), days[which][:, None], modes[:, None], zeros, zeros)
    awards, running, work = np.full((3, len(days)), np.inf)
    buckets = outlook.buckets(placed.ends(0))
    np.minimum.at(awards, which, pool_awards(placed, slot.pool, buckets, outlook, relaxed=True))
    np.minimum.at(running, which, drawn(slot, modes, latest, outlook))
    np.minimum.at(work, which, (slot.needed * slot.days)[modes])
    return Least(days, *(np.minimum.accumulate(own[::-1])[::-1] for own in (awards, running, work)))


def crowded(slots: Sequence[Slot], outlook: Outlook) -> float:
    """Return what awards cost at least that hold the node-days of runs of a pool, of each window those that lie in it."""
    table = outlook.tables[slots[0].pool]
    if len(slots) < 2 or table.hired:
        return -np.inf
    return max(
        table.supply.awards(
            sum(slot.node_days for slot in slots if slot.first >= first and slot.last <= last), first, last
        )
        for first in {slot.first for slot in slots}
        for last in {slot.last for slot in slots}
    )


def drawn(slot: Slot, modes: Counts, starts: Counts, outlook: Outlook, *, priced: bool = False) -> Costs:
    """Return what runs draw or are paid for: energy, the price of a dedicated system, hires where there is nothing else.

    At the prices of budgets or without.
    """
    total = outlook.energy(slot, modes, starts, priced=priced) + outlook.system(slot)
    if outlook.tables[slot.pool].is_per_run and not outlook.pools[slot.pool].system:
        total = total + outlook.hire(slot, modes, starts, slot.needed[modes], priced=priced)
    return np.asarray(total)


def pool_awards(placed: Schedules, pool: int, buckets: Counts, outlook: Outlook, *, relaxed: bool = False) -> Costs:
    """Return what awards cost at least for what is placed in a pool; infinite when there are not enough.

    Relaxed: hires are paid at their latest, and terms last longer by a step.
    """
    table = outlook.tables[pool]
    columns = [column for column, slot in enumerate(placed.slots) if slot.pool == pool]
    if table.is_per_run:
        return np.zeros(len(placed))
    if table.hired:
        return _hired_awards(placed, pool, columns, buckets, outlook, relaxed=relaxed)
    if table.only_term is not None and len(columns) > 1:
        too_long = _span(placed, columns) > table.only_term + (START_STEP_DAYS if relaxed else 0)
        return np.where(too_long, np.inf, _shared_awards(placed, columns, buckets, table))
    return _shared_awards(placed, columns, buckets, table)


def _span(placed: Schedules, columns: Sequence[int]) -> Counts:
    """Return the days from the first start to the last end of the runs of a pool."""
    starts = np.array([np.where(placed.starts[:, c] < 0, FAR, placed.starts[:, c]) for c in columns])
    ends = np.array([placed.ends(column) for column in columns])
    return np.asarray(ends.max(axis=0) - starts.min(axis=0) + 1)


def _shared_awards(placed: Schedules, columns: Sequence[int], buckets: Counts, table: PoolTable) -> Costs:
    nothing = np.zeros(len(placed), dtype=np.int64)
    cost = table.awards(buckets, nothing + len(table.ready) - 1, nothing)
    for column in columns:
        known = table.awards(buckets, table.classes(placed.starts[:, column]), placed.at_once(column))
        cost = np.where(placed.starts[:, column] < 0, cost, np.maximum(cost, known))
    return cost


def _hired_awards(
    placed: Schedules, pool: int, columns: Sequence[int], buckets: Counts, outlook: Outlook, *, relaxed: bool
) -> Costs:
    """Least over numbers of lasting units: their cost, and hires for what each run needs beyond them."""
    table = outlook.tables[pool]
    per_unit, owned = table.pool.platform.nodes_per_unit, table.pool.owned_nodes
    last_class = np.full(len(placed), len(table.ready) - 1)
    best = np.full(len(placed), np.inf)
    for units in range(table.least.shape[2] if len(table.ready) else 1):
        nodes = np.full(len(placed), owned + units * per_unit)
        cost = table.awards(buckets, last_class, nodes)
        if np.isinf(cost).all():
            break
        for column in columns:
            beyond = np.maximum(placed.needed(column) - nodes, 0)
            slot, modes = placed.slots[column], placed.modes[:, column]
            starts = slot.last - slot.days[modes] + 1 if relaxed else np.maximum(placed.starts[:, column], 0)
            price = outlook.hire(slot, modes, starts, beyond, priced=not relaxed)
            cost = cost + np.where(placed.starts[:, column] < 0, 0.0, price)
        best = np.minimum(best, cost)
    return best
