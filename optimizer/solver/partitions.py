"""Which pools the runs share: columns of schedules that could be in a best plan, by the bounds of their blocks.

A block is a set of runs that must be scheduled together: they share a pool, or follow each other. A plan is a partition of
the runs into blocks with pools; its cost is at least the sum of the blocks' bounds and what is paid once in any case.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from optimizer.cost.frame import DAY, Frame
from optimizer.cost.option import Option
from optimizer.schema.quote import ReservedOffer
from optimizer.solver.curves import Costs, Counts
from optimizer.solver.least import Least, crowded, drawn, least
from optimizer.solver.outlook import Outlook, Slot
from optimizer.solver.placing import Enumeration, OutOfTimeError
from optimizer.solver.problem import Pool
from optimizer.solver.schedules import Schedules
from optimizer.units import add_months

Block = tuple[tuple[int, int], ...]
"""(workload, pool) pairs by position, ascending."""


@dataclass(frozen=True, eq=False)
class Field:
    """All runs with the pools they may take.

    Attributes:
        frame: The scenario.
        outlook: Least costs.
        names: Workloads in order.
        slots: (workload, pool) -> the slot.
        known: (workload, pool) -> what the run costs at least there, alone.
    """

    frame: Frame
    outlook: Outlook
    names: tuple[str, ...]
    slots: Mapping[tuple[int, int], Slot]
    known: Mapping[tuple[int, int], Least]
    _together: dict[Block, float] = field(default_factory=dict)

    @classmethod
    def of(cls, frame: Frame, outlook: Outlook, slots: Sequence[Slot]) -> Field:
        """Return the field of some slots; those in which a run is impossible are left out."""
        names = tuple(frame.scenario.workloads)
        keyed = {(names.index(slot.workload), slot.pool): slot for slot in slots}
        known = {key: least(slot, outlook) for key, slot in keyed.items()}
        possible = {key for key, one in known.items() if np.isfinite(one.awards + one.running)}
        return cls(frame, outlook, names, {k: keyed[k] for k in possible}, {k: known[k] for k in possible})

    def pools_of(self, workload: int) -> list[int]:
        """Return the pools a workload may take, least cost first."""
        own = [(one.awards + one.running, pool) for (name, pool), one in self.known.items() if name == workload]
        return [pool for _, pool in sorted(own)]

    def after(self, workload: int) -> set[int]:
        """Return the positions of the runs that end before a workload starts."""
        return {self.names.index(name) for name in self.frame.scenario.workloads[self.names[workload]].after}

    def quick(self, block: Block) -> float:
        """Return a bound of a block without its schedules: in each pool what its runs need, and what each run draws."""
        pools: dict[int, list[tuple[int, int]]] = {}
        for key in block:
            pools.setdefault(key[1], []).append(key)
        return sum(self._of_pool(tuple(own)) for own in pools.values()) + sum(self.known[key].running for key in block)

    def _of_pool(self, runs: Block) -> float:
        """Return the least awards of some runs in a pool: of the dearest, and of all their node-days in their windows."""
        if runs not in self._together:
            dearest = max(self.known[key].awards for key in runs)
            self._together[runs] = max(dearest, crowded([self.slots[key] for key in runs], self.outlook))
        return self._together[runs]

    def entry(self, block: Iterable[tuple[int, int]]) -> float:
        """Return the least cost of entries paid once, when a run of the block needs awards.

        They are paid from the first award on, of whichever pool: with prices of budgets, which are no lower later on, the
        least of all pools counts.
        """
        tables = [self.outlook.tables[pool] for pool in {pool for _, pool in block}]
        bought = [table for table in tables if not table.pool.owned_nodes]
        if len(bought) < len(tables) or not tables:
            return max((table.entry for table in bought), default=0.0)
        return max(*(table.entry for table in tables), min(table.priced_entry for table in tables))

    def blocks(self, pools: Sequence[int]) -> tuple[Block, ...]:
        """Return the blocks of an assignment of pools to all workloads."""
        return self.parts(tuple(enumerate(pools)))

    def parts(self, runs: Block) -> tuple[Block, ...]:
        """Return the blocks of some runs with their pools."""
        pools, left, found = dict(runs), {workload for workload, _ in runs}, []
        while left:
            block: set[int] = set()
            fresh = {min(left)}
            while fresh:
                block |= fresh
                fresh = {other for other in left - block for one in fresh if self._tied(one, other, pools)}
            left -= block
            found.append(tuple((workload, pools[workload]) for workload in sorted(block)))
        return tuple(found)

    def _tied(self, one: int, other: int, pools: Mapping[int, int]) -> bool:
        return pools[one] == pools[other] or one in self.after(other) or other in self.after(one)

    def assignments(self, ends: float | None = None) -> Iterator[tuple[float, tuple[int, ...]]]:
        """Yield every assignment of pools to the runs with its quick bound, least first.

        Args:
            ends: When (monotonic clock) it stops; None = never.

        Raises:
            OutOfTimeError: the time limit passed, with a bound on all assignments left.
        """
        menus = [self.pools_of(workload) for workload in range(len(self.names))]
        alone = [[self.known[w, p] for p in menu] for w, menu in enumerate(menus)]
        least = [
            min((one.running for one in own), default=np.inf) + min([0.0, *(one.awards for one in own)])
            for own in alone
        ]
        constant = float(self.outlook.constant.min())
        heap: list[tuple[float, int, tuple[int, ...]]] = [(constant + sum(least), 1, ())]
        while heap:
            bound, open_, pools = heappop(heap)
            if ends is not None and time.monotonic() > ends:
                raise OutOfTimeError(bound)
            if not open_:
                yield bound, pools
            elif len(pools) == len(menus):
                heappush(heap, (bound + self.entry(enumerate(pools)), 0, pools))
            else:
                for pool in menus[len(pools)]:
                    grown = (*pools, pool)
                    rest = sum(least[len(grown) :])
                    heappush(heap, (constant + self.quick(tuple(enumerate(grown))) + rest, 1, grown))

    def enumeration(self, block: Block, ends: float | None = None) -> Enumeration:
        """Return the enumeration of the schedules of a block, to the end or to a time."""
        members = [workload for workload, _ in block]
        after = [[members.index(one) for one in self.after(workload) if one in members] for workload in members]
        known = [self.known[key] for key in block]
        found = Enumeration([self.slots[key] for key in block], after, self.outlook, known, ends)
        return found.as_plan(self.entry(block)) if len(block) == len(self.names) else found


def undominated(found: Schedules, field: Field) -> Schedules:
    """Return the schedules that no other one of the block replaces in every plan.

    One replaces another when, in each pool, it needs no more nodes at once by any day on which more becomes ready, runs
    cost no more (in present value and in each budget), and the last run ends no later where that is priced. Where
    contracts end or follow runs, also starts must be the same, and no run needs more nodes, outlasts another contract or
    meets another run.
    """
    if len(found) < 2:
        return found
    vectors = np.column_stack([*_needs(found, field), *_ends(found, field)])
    costs = np.column_stack(list(_spending(found, field)))
    return found.take(_undominated_rows(vectors, costs, _same(found, field)))


def _needs(found: Schedules, field: Field) -> Iterator[Counts]:
    """Yield, per pool and class, the units needed by then; the nodes of the largest run where fabrics are limited."""
    for pool in sorted({slot.pool for slot in found.slots}):
        table = field.outlook.tables[pool]
        columns = [column for column, slot in enumerate(found.slots) if slot.pool == pool]
        units = [table.base.units(found.at_once(column)) for column in columns]
        classes = [table.classes(found.starts[:, column]) for column in columns]
        for known in range(-1, len(table.ready)):
            by_then = [np.where(own <= known, count, 0) for own, count in zip(classes, units, strict=True)]
            yield np.max(by_then, axis=0)
        if any(option.offer.fabric_max_units is not None for option in table.pool.options):
            nodes = [np.array([mode.nodes for mode in found.slots[c].modes])[found.modes[:, c]] for c in columns]
            yield np.max(nodes, axis=0)
        if table.is_timed:
            yield from (found.needed(column) for column in columns)
            yield from (_contracts(found, column, table.pool, field) for column in columns)


def _contracts(found: Schedules, column: int, pool: Pool, field: Field) -> Counts:
    """Return how many ends of contracts a run outlasts, those that start with a run included; of hires its last day."""
    if any(option.is_hired for option in pool.options):
        return found.ends(column)
    today, end = field.frame.today, found.ends(column)
    known = np.array(sorted({(option.end - today).days for option in pool.options if option.end is not None}))
    outlasted = np.searchsorted(known, end, side="left")
    terms = {option.offer_key: option for option in pool.options if isinstance(option.offer, ReservedOffer)}
    for other, slot in enumerate(found.slots):
        if field.outlook.pools[slot.pool] is pool:
            days, where = np.unique(found.starts[:, other], return_inverse=True)
            for option in terms.values():
                last = np.array([_term_end(option, int(day), field.frame) for day in days])
                outlasted = outlasted + (last[where.reshape(-1)] < end)
    return outlasted


def _term_end(option: Option, ready: int, frame: Frame) -> int:
    """Return the last day of a reserved term that becomes ready on a day."""
    wait = option.lots[0].ready - option.lots[0].delivery
    months = option.offer.term_months if isinstance(option.offer, ReservedOffer) else 0
    return (add_months(frame.today + ready * DAY - wait, months) - frame.today).days - 1


def _same(found: Schedules, field: Field) -> Counts | None:
    """Return what must be equal: starts in timed pools, and which runs meet there; None where nothing must."""
    parts: list[Counts] = []
    for column, slot in enumerate(found.slots):
        if field.outlook.tables[slot.pool].is_timed:
            parts.append(found.starts[:, column])
            for other, beside in enumerate(found.slots):
                if other != column and beside.pool == slot.pool:
                    meets = (found.starts[:, other] <= found.starts[:, column]) & (
                        found.ends(other) >= found.starts[:, column]
                    )
                    parts.append(meets.astype(np.int64))
    if field.frame.scenario.after_run.policy == "use":
        parts.append(found.last())
    return np.column_stack(parts) if parts else None


def _ends(found: Schedules, field: Field) -> Iterator[Counts]:
    scenario = field.frame.scenario
    if scenario.after_run.policy in ("off", "sell") or scenario.objective == "time":
        yield found.last()


def _spending(found: Schedules, field: Field) -> Iterator[Costs]:
    """Yield what the runs draw, in present value and of each budget, and what entries paid by the run add."""
    outlook = field.outlook
    yield sum(
        (drawn(slot, found.modes[:, c], found.starts[:, c], outlook) for c, slot in enumerate(found.slots)),
        np.zeros(len(found)),
    )
    for label in outlook.budgets:
        total = np.zeros(len(found))
        for column, slot in enumerate(found.slots):
            total += outlook.drawn(slot, found.modes[:, column], found.starts[:, column], label)
        yield total
    if any(entry.per == "run" for entry in field.frame.scenario.costs):
        for column in range(len(found.slots)):
            yield -found.starts[:, column].astype(np.float64)
            yield found.starts[:, column].astype(np.float64)


def _undominated_rows(vectors: Counts, costs: Costs, same: Counts | None) -> Counts:
    """Return the rows that no other row replaces: none with equal ``same`` and nothing greater. The first of equals."""
    everything = np.column_stack([vectors.astype(np.float64), np.round(costs, 6)])
    groups = np.zeros(len(vectors), dtype=np.int64)
    if same is not None:
        groups = np.unique(same, axis=0, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((*everything.T[::-1], everything.sum(axis=1), groups))
    kept: list[int] = []
    group, known = -1, np.empty((0, everything.shape[1]))
    for row in order:
        if groups[row] != group:
            group, known = groups[row], np.empty((0, everything.shape[1]))
        if not len(known) or not (known <= everything[row]).all(axis=1).any():
            known = np.vstack([known, everything[row]])
            kept.append(int(row))
    return np.array(sorted(kept), dtype=np.int64)
