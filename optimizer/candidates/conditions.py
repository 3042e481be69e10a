"""What a search is about: the run to lay out and the conditions that hold for every platform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from optimizer.candidates.batch import BatchTarget
from optimizer.candidates.space import Grid
from optimizer.engine.bands import Bands
from optimizer.engine.efficiency import efficiency
from optimizer.engine.setup import Setup
from optimizer.engine.software import Software
from optimizer.errors import InputError, InternalError, Problem, did_you_mean
from optimizer.schema.architecture import Architecture
from optimizer.schema.base import EvidenceLevel, Precision
from optimizer.schema.platform import Platform
from optimizer.schema.scenario import Policy, Reliability, Workload


@dataclass(frozen=True, slots=True)
class Conditions:
    """What holds for every workload and platform.

    Attributes:
        software: Training stacks by id; a platform names its own.
        bands: How far reality may be from a prediction.
        reliability: Failures and what they cost.
        policy: Least evidence, performance quantile.
        grid: Layouts considered.
    """

    software: Mapping[str, Software]
    bands: Bands
    reliability: Reliability
    policy: Policy
    grid: Grid = field(default_factory=Grid)


@dataclass(frozen=True, slots=True)
class Run:
    """A workload that names an architecture, its fields known to be there.

    Attributes:
        name: Name of the workload.
        architecture: The model.
        tokens: Training tokens, extra compute included.
        sequence_length: Tokens per sequence.
        batch: Wanted global batch.
        tolerance: Allowed deviation from it, as a share.
        precisions: Allowed number formats, the preferred first.
        minimum_evidence: Least evidence.
    """

    name: str
    architecture: Architecture
    tokens: float
    sequence_length: int
    batch: BatchTarget
    tolerance: float
    precisions: tuple[Precision, ...]
    minimum_evidence: EvidenceLevel

    @classmethod
    def of(cls, name: str, workload: Workload, architecture: Architecture, policy: Policy) -> Run:
        """Return a workload with an architecture; raise InternalError for one with stated modes."""
        tokens, length, batch = workload.tokens, workload.sequence_length, workload.global_batch_tokens
        if tokens is None or length is None or batch is None or workload.extra_compute is None:
            raise InternalError(f"workload {name} names no architecture, so there is nothing to lay out")
        return cls(
            name,
            architecture,
            float(tokens * (1 + workload.extra_compute)),
            length,
            BatchTarget.of(batch, workload.global_batch_tolerance, length),
            float(workload.global_batch_tolerance),
            tuple(dict.fromkeys(workload.precisions)),
            workload.minimum_evidence or policy.minimum_evidence,
        )


def setup_of(
    architecture: Architecture,
    platform: Platform,
    precision: Precision,
    sequence_length: int,
    software: Mapping[str, Software],
) -> Setup:
    """Return what a prediction is about, with the platform's own software.

    Raises InputError when the software is not in the library or a figure is unknown.
    """
    name = efficiency(platform).software
    if name not in software:
        where = f"models/platforms/{platform.id}.yaml, efficiency.software"
        fix = did_you_mean(name, list(software))
        raise InputError([Problem(where, f'no software named "{name}"', "Expected a known one", fix)])
    return Setup(architecture, platform, precision, sequence_length, software[name])
