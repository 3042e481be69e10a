"""The exact pruned search: for every node count the layout with the shortest run among those that fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from optimizer.candidates.batch import BatchTarget, batch_unit
from optimizer.candidates.space import experts_placed, replicate, take
from optimizer.engine.layouts import Booleans, Floats, Integers, LayoutArrays
from optimizer.engine.memory import memory, peak_bytes
from optimizer.engine.setup import Setup
from optimizer.engine.step_time import PER_MICRO_BATCH, step_seconds, step_time
from optimizer.engine.verdict import verdict_codes

TIE = 1e-9
"""Runs whose lengths differ by less than this share are equally long; the simplest layout wins."""

_SLACK = 2 * TIE  # a layout is never dropped because of rounding
_FIRST_REACH = 0.02  # bounds this share above the least of a node count are priced first; doubled each round


@dataclass(frozen=True, slots=True)
class Question:
    """What the search answers.

    Attributes:
        setup: Model, platform, precision, sequence length, software.
        accelerators: Accelerators of each node count, ascending; shape (N,).
        batch: Wanted global batch.
        day_weight: Days = weight x step seconds / global batch, shape (N,); infinite where not allowed.
    """

    setup: Setup
    accelerators: Integers
    batch: BatchTarget
    day_weight: Floats


@dataclass(frozen=True, slots=True)
class Pairs:
    """Shapes on node counts they occupy exactly; arrays of shape (K,).

    Attributes:
        shape: Position in the shapes.
        count: Position in the node counts.
        data_parallel: Replicas.
        global_batch: Sequences per step.
    """

    shape: Integers
    count: Integers
    data_parallel: Integers
    global_batch: Integers

    def __getitem__(self, index: Integers | Booleans) -> Pairs:
        """Return some of the pairs."""
        return Pairs(self.shape[index], self.count[index], self.data_parallel[index], self.global_batch[index])

    def layouts(self, shapes: LayoutArrays) -> LayoutArrays:
        """Return the pairs as layouts."""
        return replicate(take(shapes, self.shape), self.data_parallel, self.global_batch)


@dataclass(frozen=True, slots=True)
class Priced:
    """Layouts that fit, with the length of their runs; arrays of shape (K,).

    Attributes:
        pairs: Shapes on node counts.
        days: Length of the run, not rounded.
        tested: Layouts tested for memory to find them.
    """

    pairs: Pairs
    days: Floats
    tested: int


@dataclass(frozen=True, slots=True)
class Best:
    """The best layout of each node count; arrays of shape (K,).

    Attributes:
        count: Position in the node counts, ascending.
        layouts: The layouts.
        days: Length of the run, not rounded.
        evaluated: Layouts whose memory or time was computed.
    """

    count: Integers
    layouts: LayoutArrays
    days: Floats
    evaluated: int


def fits(setup: Setup, layouts: LayoutArrays) -> Booleans:
    """Return where the verdict is ``fits``."""
    return np.asarray(verdict_codes(peak_bytes(memory(setup, layouts)), setup.memory_bytes) == 0)


def whole_days(days: Floats) -> Floats:
    """Return days rounded up, at least one; a billionth above a whole number is rounding, not a day."""
    return np.asarray(np.maximum(np.ceil(np.round(days, 9)), 1.0))


def occupying_pairs(question: Question, shapes: LayoutArrays) -> Pairs:
    """Return every shape on every allowed node count it occupies exactly, with the batch nearest to the target."""
    allowed = np.isfinite(question.day_weight)
    sizes, group = np.unique(shapes.accelerators, return_inverse=True)
    shape, count = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for position, size in enumerate(sizes):  # a hundred replica sizes at most, not layouts
        members = np.flatnonzero(group == position)
        counts = np.flatnonzero(allowed & (question.accelerators % size == 0))
        shape.append(np.repeat(members, len(counts)))
        count.append(np.tile(counts, len(members)))
    which, at = np.concatenate(shape), np.concatenate(count)
    data = question.accelerators[at] // shapes.accelerators[which]
    return Pairs(which, at, data, question.batch.nearest(batch_unit(shapes)[which] * data))


def legal_pairs(question: Question, shapes: LayoutArrays) -> Pairs:
    """Return the occupying pairs whose batch is within the tolerance and whose experts can be placed.

    Both depend on a few numbers of a shape only, so they are decided once for all shapes that share them.
    """
    kinds, first, kind = np.unique(_kind_key(shapes), return_index=True, return_inverse=True)
    pairs = occupying_pairs(question, take(shapes, first))
    pairs = pairs[question.batch.allows(pairs.global_batch)]
    pairs = pairs[experts_placed(pairs.layouts(take(shapes, first)))]
    members, sizes = np.argsort(kind, kind="stable"), np.bincount(kind, minlength=len(kinds))
    repeats = sizes[pairs.shape]
    which = np.repeat(np.arange(len(repeats)), repeats)
    place = np.arange(len(which)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    spread = pairs[which]
    return replace(spread, shape=members[(np.cumsum(sizes) - sizes)[spread.shape] + place])


def _kind_key(shapes: LayoutArrays) -> Integers:
    """Return one number per (accelerators, batch unit, replica's share of the expert group, experts' group)."""
    key = shapes.accelerators
    group = shapes.tensor_parallel * shapes.context_parallel
    for field in (batch_unit(shapes), group, shapes.expert_parallel * shapes.expert_tensor_parallel):
        key = key * (int(field.max(initial=0)) + 1) + field
    return np.asarray(key)


def least_memory(question: Question, shapes: LayoutArrays) -> LayoutArrays:
    """Return the shapes with the most replicas and the fewest micro-batches any node count allows.

    Memory falls with replicas (sharded states) and rises with micro-batches (in flight), so a shape that does not
    fit like this fits on no node count.
    """
    batch = question.batch
    most = np.minimum(question.accelerators.max() // shapes.accelerators, batch.high // shapes.micro_batch)
    data = np.maximum(most, 1)
    per_pass = data * shapes.micro_batch
    return replicate(shapes, data, np.maximum(1, -(-batch.low // per_pass)) * per_pass)


def least_days(question: Question, shapes: LayoutArrays, pairs: Pairs) -> Floats:
    """Return days no pair can undercut, shape (K,): m x work of the slowest stage + pipeline bubble.

    Both are those of one replica and one micro-batch, computed once per shape; what more replicas add
    (reduction of gradients, optimizer, jitter) is left out.
    """
    one = step_time(question.setup, shapes)
    everywhere = np.zeros(shapes.shape)
    work = sum((one[name] for name in PER_MICRO_BATCH), everywhere)
    bubble = everywhere + one["bubble"]
    micro_batches = pairs.global_batch / (pairs.data_parallel * shapes.micro_batch[pairs.shape])
    seconds = micro_batches * work[pairs.shape] + bubble[pairs.shape]
    return np.asarray(question.day_weight[pairs.count] * seconds / pairs.global_batch)


def price(question: Question, shapes: LayoutArrays, pairs: Pairs) -> Priced:
    """Return the pairs that fit with the length of their runs; memory is tested before time is computed."""
    layouts = pairs.layouts(shapes)
    room = np.flatnonzero(fits(question.setup, layouts))
    inside, layouts = pairs[room], take(layouts, room)
    seconds = step_seconds(step_time(question.setup, layouts))
    days = question.day_weight[inside.count] * seconds / inside.global_batch
    return Priced(inside, np.asarray(days), len(pairs.shape))


def search(question: Question, shapes: LayoutArrays, ceiling_days: Floats) -> Best:
    """Return for every node count on the front the layout with the shortest run; ties go to the first shape.

    Exact on the given shapes: a layout is dropped unpriced only when it cannot fit, when its bound is above the
    best run of its node count, or when it cannot end a whole day before every smaller node count does. Node counts
    off the front may be missing or have a longer run than possible. ``ceiling_days`` (N,), infinite where unknown,
    are runs found before, for another precision: what is longer is dropped.
    """
    possible = take(shapes, np.flatnonzero(fits(question.setup, least_memory(question, shapes))))
    pairs = legal_pairs(question, possible)
    bound = least_days(question, possible, pairs)
    best, priced, reach = ceiling_days.copy(), [], _FIRST_REACH
    while True:
        alive = bound <= _longest_useful(best)[pairs.count]
        pairs, bound = pairs[alive], bound[alive]
        now = bound <= _least(pairs.count, bound, len(best)) * (1 + reach)
        found = price(question, possible, pairs[now])
        np.minimum.at(best, found.pairs.count, found.days)
        priced.append(found)
        pairs, bound, reach = pairs[~now], bound[~now], 2 * reach
        if not len(bound):
            return _winners(possible, priced, best, len(shapes.accelerators))


def _longest_useful(best: Floats) -> Floats:
    """Return the longest run that can be on the front: not above the best, a day below all smaller node counts."""
    smaller = np.minimum.accumulate(np.concatenate([[np.inf], whole_days(best)[:-1]]))
    return np.asarray(np.minimum(best, smaller - 1) * (1 + _SLACK))


def _least(count: Integers, bound: Floats, counts: int) -> Floats:
    """Return the least bound of each pair's node count."""
    least = np.full(counts, np.inf)
    np.minimum.at(least, count, bound)
    return np.asarray(least[count])


def _winners(shapes: LayoutArrays, priced: list[Priced], best: Floats, screened: int) -> Best:
    """Return the simplest of the shortest runs of every node count."""
    shape, count, data, batch = (
        np.concatenate([getattr(found.pairs, name) for found in priced]) for name in Pairs.__slots__
    )
    days = np.concatenate([found.days for found in priced])
    shortest = np.flatnonzero(days <= best[count] * (1 + TIE))
    order = shortest[np.lexsort((shape[shortest], count[shortest]))]
    chosen = order[np.unique(count[order], return_index=True)[1]]
    layouts = Pairs(shape, count, data, batch)[chosen].layouts(shapes)
    return Best(count[chosen], layouts, days[chosen], screened + sum(found.tested for found in priced))
