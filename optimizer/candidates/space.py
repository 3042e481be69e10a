"""The stated grid of layouts: every shape of a model replica that may be offered to the search."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from optimizer.candidates.rules import pipeline_faults, sequence_faults, tensor_faults, virtual_faults
from optimizer.engine.layouts import RECOMPUTE, Booleans, Integers, LayoutArrays
from optimizer.schema.architecture import Architecture
from optimizer.schema.platform import Platform


@dataclass(frozen=True, slots=True)
class Grid:
    """Degrees the search considers; what is not here is not claimed to be optimal.

    Tensor: every divisor of the innermost network tier (or of the node, when that tier spans more or an unknown
    number) that the model divides by. Pipeline: every number of stages without an empty one. Virtual: every number
    of chunks that divides L or L + 2 layers evenly. Context: powers of two. Expert: powers of two that divide the
    experts. Expert-tensor: 1, and the tensor degree when experts are no more than the innermost tier has members (more
    experts fill it without being split). Micro-batch: powers of two. Sharding: stage 1 with any pipeline, stage 3 without. Recompute: none,
    selective, full. Sequence parallelism: on whenever tensor > 1. Data: whatever occupies all accelerators.
    ``Grid.every`` is all that a launcher accepts.

    Attributes:
        context_max: Largest context-parallel degree.
        micro_batch_max: Largest micro-batch, sequences.
        virtual_max: Most chunks per stage.
        sharding_stages: ZeRO stages.
        piped_stage_max: Highest of them beside a pipeline.
        recompute: Codes of ``LayoutArrays.recompute``.
        sequence_parallel: Settings beside a tensor degree above 1.
    """

    context_max: int = 64
    micro_batch_max: int = 64
    virtual_max: int = 32
    sharding_stages: tuple[int, ...] = (1, 3)
    piped_stage_max: int = 1
    recompute: tuple[int, ...] = (0, 1, 2)
    sequence_parallel: tuple[bool, ...] = (True,)

    @classmethod
    def every(cls, sequence_length: int, global_batch: int) -> Grid:
        """Return the grid of all degrees a launcher accepts, for powers of two as sequence length and batch."""
        return cls(
            context_max=sequence_length,
            micro_batch_max=global_batch,
            virtual_max=sys.maxsize,
            sharding_stages=(0, 1, 2, 3),
            piped_stage_max=3,
            sequence_parallel=(True, False),
        )

    @property
    def stated(self) -> str:
        """One sentence for a plan: what "best layout" was searched over."""
        return (
            "tensor: divisors of the innermost network tier that heads and widths divide by; pipeline: every number of "
            f"stages without an empty one; virtual up to {self.virtual_max} when L or L + 2 layers divide; context "
            f"1, 2, 4 .. {self.context_max}; expert 1, 2, 4 .. when it divides the experts, each expert whole or, with few "
            f"experts, split like a layer; micro-batch 1, 2, 4 .. {self.micro_batch_max}; sharding stage "
            f"{', '.join(map(str, self.sharding_stages))} (above {self.piped_stage_max} without pipeline); recompute "
            f"{', '.join(RECOMPUTE[code] for code in self.recompute)}; all accelerators of the nodes in use; the batch "
            "nearest to the target"
        )


def tensor_domain(platform: Platform) -> int:
    """Return accelerators within which tensor parallelism stays: the innermost tier, or the node without one."""
    inner = platform.tiers[0].accelerators if platform.tiers else None
    return inner or platform.accelerators_per_node


def powers_of_two(most: int) -> list[int]:
    """Return 1, 2, 4, ... up to ``most``."""
    return [1 << exponent for exponent in range(max(most, 0).bit_length())]


def divisors(number: int) -> list[int]:
    """Return all divisors, ascending."""
    return [value for value in range(1, number + 1) if number % value == 0]


def _virtual_degrees(architecture: Architecture, pipeline: int, most: int) -> Iterator[int]:
    layers = architecture.layers
    for virtual in range(1, min(most, layers + 2) + 1):
        chunks = pipeline * virtual
        even = virtual == 1 or layers % chunks == 0 or (layers + 2) % chunks == 0
        if even and not any(virtual_faults(architecture, pipeline, virtual)):
            yield virtual


def _expert_degrees(architecture: Architecture) -> list[int]:
    experts = architecture.moe.experts if architecture.moe else 1
    return [degree for degree in powers_of_two(experts) if experts % degree == 0]


def _expert_pairs(architecture: Architecture, domain: int, tensor: int) -> list[tuple[int, int]]:
    """Return (expert, expert-tensor) degrees beside a tensor degree."""
    moe = architecture.moe
    few = moe is not None and moe.experts <= domain and moe.ffn_hidden_size % tensor == 0
    splits = (1, tensor) if few and tensor > 1 else (1,)
    return [(degree, split) for degree in _expert_degrees(architecture) for split in splits]


def _degrees(
    architecture: Architecture, domain: int, sequence_length: int, grid: Grid
) -> Iterator[tuple[int, int, int, int, int, int, int, bool]]:
    """Yield (virtual, tensor, pipeline, context, expert, expert-tensor, sharding stage, sequence parallel)."""
    pipelines = [p for p in range(1, architecture.layers + 1) if not any(pipeline_faults(architecture, p))]
    chunked = [(p, v) for p in pipelines for v in _virtual_degrees(architecture, p, grid.virtual_max)]
    for t in (t for t in divisors(domain) if not any(tensor_faults(architecture, t))):
        experts = _expert_pairs(architecture, domain, t)
        for parallel in grid.sequence_parallel if t > 1 else (False,):
            for c in powers_of_two(grid.context_max):
                if any(sequence_faults(sequence_length, c, t, parallel)):
                    continue
                for p, v in chunked:
                    stages = [stage for stage in grid.sharding_stages if p == 1 or stage <= grid.piped_stage_max]
                    yield from ((v, t, p, c, *pair, stage, parallel) for pair in experts for stage in stages)


def shapes(architecture: Architecture, platform: Platform, sequence_length: int, grid: Grid) -> LayoutArrays:
    """Return every shape on the grid as the layout of one replica doing one micro-batch; arrays of shape (S,).

    Sorted from simple to complex, so that the position breaks ties: fewest accelerators per replica, least
    recompute, fewest chunks, then smallest tensor, pipeline, context, expert and expert-tensor degree, stage and
    micro-batch.
    ``data_parallel`` is 1 and ``global_batch`` the micro-batch: ``replicate`` sets both.
    """
    degrees = np.array(sorted(_degrees(architecture, tensor_domain(platform), sequence_length, grid)), dtype=np.int64)
    micro, again = np.array(powers_of_two(grid.micro_batch_max)), np.array(grid.recompute)
    which, size, code = (axis.ravel() for axis in np.meshgrid(np.arange(len(degrees)), micro, again, indexing="ij"))
    replica = degrees[:, 1] * degrees[:, 2] * degrees[:, 3]
    order = np.argsort(replica[which] * len(RECOMPUTE) + code, kind="stable")  # the rest is in order already
    micro_batch, ones = size[order], np.ones_like(order)
    virtual, tensor, pipeline, context, expert, split, stage, parallel = degrees.T[:, which[order]]
    return LayoutArrays(
        tensor_parallel=tensor,
        pipeline_parallel=pipeline,
        virtual_pipeline=virtual,
        context_parallel=context,
        expert_parallel=expert,
        expert_tensor_parallel=split,
        data_parallel=ones,
        sharding_stage=stage,
        micro_batch=micro_batch,
        global_batch=micro_batch,
        recompute=code[order],
        sequence_parallel=parallel.astype(np.bool_),
    )


def take(layouts: LayoutArrays, index: Integers) -> LayoutArrays:
    """Return the layouts at the given positions; all fields must be of shape (S,)."""
    return LayoutArrays(**{field.name: getattr(layouts, field.name)[index] for field in fields(layouts)})


def replicate(replicas: LayoutArrays, data_parallel: Integers, global_batch: Integers) -> LayoutArrays:
    """Return the shapes with their number of replicas and batch."""
    return replace(replicas, data_parallel=data_parallel, global_batch=global_batch)


def experts_placed(layouts: LayoutArrays) -> Booleans:
    """Return where expert x expert-tensor parallel divides tensor x context x data parallel."""
    group = layouts.tensor_parallel * layouts.context_parallel * layouts.data_parallel
    return np.asarray(group % (layouts.expert_parallel * layouts.expert_tensor_parallel) == 0)
