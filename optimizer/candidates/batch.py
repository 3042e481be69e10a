"""The global batch of a run: a target with a tolerance, met exactly by replicas x micro-batch x micro-batches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from optimizer.engine.layouts import Booleans, Floats, Integers, LayoutArrays


@dataclass(frozen=True, slots=True)
class BatchTarget:
    """The global batch a run wants.

    Attributes:
        tokens: Wanted tokens per step.
        sequence_length: Tokens per sequence.
        low: Fewest sequences allowed.
        high: Most sequences allowed.
    """

    tokens: int
    sequence_length: int
    low: int
    high: int

    @classmethod
    def of(cls, tokens: Decimal, tolerance: Decimal, sequence_length: int) -> BatchTarget:
        """Return the whole sequences n within the tolerance: |n x length - tokens| <= tolerance x tokens."""
        low = tokens * (1 - tolerance) / sequence_length
        high = tokens * (1 + tolerance) / sequence_length
        return cls(round(tokens), sequence_length, max(1, math.ceil(low)), math.floor(high))

    def nearest(self, unit: Integers) -> Integers:
        """Return the multiple of ``unit`` sequences nearest to the target, at least one unit; halves go up."""
        step = unit * self.sequence_length
        return np.asarray(np.maximum(1, (2 * self.tokens + step) // (2 * step)) * unit)

    def allows(self, batch: Integers) -> Booleans:
        """Return where a batch, sequences, is within the tolerance."""
        return np.asarray((batch >= self.low) & (batch <= self.high))

    def deviation(self, batch: Integers) -> Floats:
        """Return how far a batch is from the target, as a share of it."""
        return np.asarray(np.abs(batch * self.sequence_length - self.tokens) / self.tokens)


def batch_unit(layouts: LayoutArrays) -> Integers:
    """Return sequences by which a batch grows: d x b, in rounds of p micro-batches when interleaved."""
    rounds = np.where(layouts.virtual_pipeline > 1, layouts.pipeline_parallel, 1)
    return np.asarray(layouts.data_parallel * layouts.micro_batch * rounds)
