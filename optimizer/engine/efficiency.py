"""The ``efficiency`` block of a platform: measured shares of the datasheet, each with its evidence."""

from __future__ import annotations

from pydantic import Field, ValidationError

from optimizer.errors import InputError, Problem
from optimizer.schema.base import Frozen, Id, Precision
from optimizer.schema.platform import Platform, PlatformEvidence


class EfficiencyEvidence(Frozen):
    """What a share was read or fitted from."""

    source: str
    """Names of the sources."""
    rows: int = Field(ge=0)
    """Measured rows used; 0 = derived."""
    date: str
    """When it was fitted or derived (ISO)."""
    note: str = ""
    """How."""
    sha256: str | None = None
    """Checksum of the file of measured runs; null when there is none."""


class ExpertEvidence(PlatformEvidence):
    """A mixture-of-experts run seen."""

    architecture: Id
    """Card of the model."""


class Efficiency(Frozen):
    """Few physical shares that turn a datasheet into what training reaches."""

    software: str
    """Id of the default software card."""
    release: float
    """Software release the shares hold for, as a year (2026.25 = 2026-04)."""
    release_gain_per_year: float = Field(ge=0)
    """Speed gained per year of software; older releases are slower by it."""
    matmul_share: dict[Precision, float]
    """Measured ceiling of large matrix products over the dense peak, by precision."""
    sustained_share: dict[Precision, float]
    """What products inside a training step reach of that ceiling (power, clock, fusion), by precision."""
    attention_share: float = Field(gt=0, le=1)
    """Attention kernels over the bf16 dense peak."""
    memory_share: float = Field(gt=0, le=1)
    """Memory-bound kernels over the memory bandwidth."""
    inner_network_share: float = Field(gt=0, le=1)
    """Collectives inside the first tier over its full-domain bandwidth (all-gather, reduce-scatter)."""
    outer_network_share: float = Field(gt=0, le=1)
    """Collectives beyond the first tier over the fabric bandwidth."""
    expert_speed: float = Field(default=1.0, gt=0)
    """Speed of MoE layers against the constants of the training stack, as a pilot found it."""
    bands: dict[Precision, str]
    """Situation of ``models/bands.yaml`` by precision: how far reality may be off."""
    experts: tuple[ExpertEvidence, ...] = ()
    """Runs with experts; the platform's other evidence and bands hold for dense models."""
    derived: dict[str, str] = Field(default_factory=dict)
    """Values without a measurement: name -> how derived."""
    evidence: tuple[EfficiencyEvidence, ...] = Field(min_length=1)
    """Where the shares come from."""


def efficiency(platform: Platform) -> Efficiency:
    """Return the typed efficiency block of a platform; raise InputError naming each missing or wrong key."""
    where = f"models/platforms/{platform.id}.yaml, efficiency"
    if not platform.efficiency:
        raise InputError(
            [Problem(where, "empty", "the engine parameters of this platform", "Add the block, or use stated modes.")]
        )
    try:
        return Efficiency.model_validate(platform.efficiency)
    except ValidationError as error:
        raise InputError(
            Problem(f"{where}.{'.'.join(map(str, e['loc']))}", str(e.get("input")), e["msg"]) for e in error.errors()
        ) from None
