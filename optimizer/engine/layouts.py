"""Arrays of layouts: the same fields as ``results.Layout``, one NumPy array each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optimizer.errors import InputError, Problem
from optimizer.results import Layout

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Recompute = Literal["none", "selective", "full"]

RECOMPUTE: tuple[Recompute, ...] = ("none", "selective", "full")
"""Names of the recompute codes 0, 1, 2."""


@dataclass(frozen=True, eq=False)
class LayoutArrays:
    """Many layouts at once; every field is an array and all fields broadcast against each other.

    Nothing is flattened: with tensor_parallel of shape (S, 1) and data_parallel of shape (S, D), all that depends
    on the shape of a replica only is computed once per row.
    """

    tensor_parallel: Integers
    pipeline_parallel: Integers
    virtual_pipeline: Integers
    context_parallel: Integers
    expert_parallel: Integers
    expert_tensor_parallel: Integers
    data_parallel: Integers
    sharding_stage: Integers
    micro_batch: Integers
    global_batch: Integers
    recompute: Integers
    """0 none, 1 selective, 2 full."""
    sequence_parallel: Booleans

    @classmethod
    def of(cls, layout: Layout) -> LayoutArrays:
        """Return one layout as arrays of shape (1,)."""
        values = {field.name: np.array([getattr(layout, field.name)]) for field in fields(cls)}
        values["recompute"] = np.array([RECOMPUTE.index(layout.recompute)])
        return cls(**values)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape all fields broadcast to."""
        return np.broadcast_shapes(*(getattr(self, field.name).shape for field in fields(self)))

    @property
    def accelerators(self) -> Integers:
        """Accelerators each layout occupies."""
        replica = self.tensor_parallel * self.pipeline_parallel * self.context_parallel
        return np.asarray(replica * self.data_parallel)

    @property
    def shard_group(self) -> Floats:
        """Accelerators that share sharded states: data x context parallel."""
        return np.asarray(self.data_parallel * self.context_parallel, dtype=np.float64)

    @property
    def expert_shard_group(self) -> Floats:
        """Accelerators that share sharded states of routed experts: t c d / (e x etp), at least one."""
        group = self.tensor_parallel * self.context_parallel * self.data_parallel
        return np.maximum(1.0, group / (self.expert_parallel * self.expert_tensor_parallel))

    @property
    def micro_batches(self) -> Floats:
        """Micro-batches per step and replica; not whole when the batch does not divide (see ``legal``)."""
        return np.asarray(self.global_batch / (self.data_parallel * self.micro_batch), dtype=np.float64)

    def row(self, index: int | tuple[int, ...], precision: str = "bf16") -> Layout:
        """Return the layout at an index into ``shape`` (a flat number or one number per axis)."""
        shape = self.shape
        where = np.unravel_index(index, shape) if isinstance(index, (int, np.integer)) else index
        values = {f.name: np.broadcast_to(getattr(self, f.name), shape)[where].item() for f in fields(self)}
        values["recompute"] = RECOMPUTE[values["recompute"]]
        return Layout(**values, precision=precision)


def legal(layouts: LayoutArrays) -> Booleans:
    """Return where the global batch is a whole number of micro-batches on every replica."""
    return np.asarray(layouts.global_batch % (layouts.data_parallel * layouts.micro_batch) == 0)


def require_legal(layout: Layout) -> None:
    """Raise InputError, with the numbers, when the batch does not divide over the replicas."""
    per_pass = layout.data_parallel * layout.micro_batch
    if layout.global_batch % per_pass:
        found = (
            f"global batch {layout.global_batch} is not divisible by data_parallel {layout.data_parallel}"
            f" x micro_batch {layout.micro_batch}"
        )
        raise InputError([Problem("layout", found, f"a multiple of {per_pass} sequences")])
