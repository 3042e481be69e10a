"""Schedules of a few runs in given pools, as arrays: one a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from optimizer.solver.curves import Costs, Counts
from optimizer.solver.outlook import Slot

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Schedules:
    """Schedules of a block of runs, one a row.

    Attributes:
        slots: The runs with their pools.
        starts: First days, one column per slot; -1 while not placed.
        modes: Modes, likewise.
        running: Present value of what the runs themselves draw or are paid for.
        bound: Lower bound on the present value of everything, entries paid once left out.
        cut: Whether schedules were left out because there were too many.
    """

    slots: tuple[Slot, ...]
    starts: Counts
    modes: Counts
    running: Costs
    bound: Costs
    cut: bool = False

    def __len__(self) -> int:
        """Return how many."""
        return len(self.starts)

    def take(self, rows: Flags | Counts) -> Schedules:
        """Return some of them."""
        return Schedules(
            self.slots, self.starts[rows], self.modes[rows], self.running[rows], self.bound[rows], self.cut
        )

    def needed(self, column: int) -> Counts:
        """Return the nodes of a placed run."""
        return np.asarray(self.slots[column].needed[self.modes[:, column]])

    def ends(self, column: int) -> Counts:
        """Return the last day of a run; -1 where it is not placed."""
        end = self.starts[:, column] + self.slots[column].days[self.modes[:, column]] - 1
        return np.asarray(np.where(self.starts[:, column] < 0, -1, end))

    def last(self) -> Counts:
        """Return the last day of the last placed run."""
        return np.asarray(np.max([self.ends(column) for column in range(len(self.slots))], axis=0))

    def at_once(self, column: int) -> Counts:
        """Return the nodes in use in the pool of a run on its first day."""
        day = self.starts[:, column]
        total = np.zeros(len(self), dtype=np.int64)
        for other, slot in enumerate(self.slots):
            if slot.pool == self.slots[column].pool:
                active = (self.starts[:, other] >= 0) & (self.starts[:, other] <= day) & (self.ends(other) >= day)
                total += np.where(active, self.needed(other), 0)
        return total


def empty(slots: Sequence[Slot]) -> Schedules:
    """Return the one schedule in which nothing is placed."""
    unplaced = np.full((1, len(slots)), -1, dtype=np.int64)
    return Schedules(tuple(slots), unplaced, np.zeros_like(unplaced), np.zeros(1), np.zeros(1))


def joined(parts: Sequence[Schedules]) -> Schedules:
    """Return several schedules of the same runs as one."""
    first = parts[0]
    return Schedules(
        first.slots,
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.modes for part in parts]),
        np.concatenate([part.running for part in parts]),
        np.concatenate([part.bound for part in parts]),
        any(part.cut for part in parts),
    )


def best_of_all(level: dict[frozenset[int], Schedules], most: int) -> dict[frozenset[int], Schedules]:
    """Return the schedules of all sets with the least bounds, at most so many."""
    bounds = np.sort(np.concatenate([state.bound for state in level.values()]))
    highest = bounds[min(most, len(bounds)) - 1] if len(bounds) else np.inf
    return {placed: state.take(state.bound <= highest) for placed, state in level.items()}


def best(found: Schedules, most: int) -> Schedules:
    """Return the schedules with the least bounds, at most so many; in a stated order."""
    keys = [found.modes[:, column] for column in range(len(found.slots))]
    keys += [found.starts[:, column] for column in range(len(found.slots))]
    order = np.lexsort((*keys, found.bound))
    kept = found.take(order[:most])
    if len(order) <= most:
        return kept
    return Schedules(kept.slots, kept.starts, kept.modes, kept.running, kept.bound, cut=True)
