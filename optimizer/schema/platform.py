"""A hardware option: what it is, how fast, what it needs, and how it can be acquired."""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal

from pydantic import Field, model_validator

from optimizer.schema.base import EvidenceLevel, Frozen, Id, OfferType, Precision, Source


class Tier(Frozen):
    """One level of the network, from the innermost outwards."""

    name: str
    """Name used in layouts and reports, e.g. ``nvlink``."""
    topology: Literal["switch", "full_mesh", "torus", "pcie"]
    """``full_mesh``: a pair sees one link only; ``torus``: neighbours only."""
    accelerators: int | None = Field(default=None, ge=1)
    """Accelerators that share this tier; null = the whole cluster."""
    pair_gb_s: float = Field(gt=0)
    """One-way bandwidth between two accelerators, 1e9 bytes per second."""
    full_domain_gb_s: float = Field(gt=0)
    """One-way bandwidth per accelerator when the whole domain communicates, 1e9 bytes per second."""


class NodePower(Frozen):
    """Electrical power of one node, kW at the node's inlets."""

    provisioned: float | None = Field(default=None, gt=0)
    """What the site must provide; null = unknown."""
    training: float | None = Field(default=None, gt=0)
    """Average draw during training; null = unknown."""
    idle: float | None = Field(default=None, ge=0)
    """Average draw outside runs; null = unknown."""


class Space(Frozen):
    """Room one purchase unit needs."""

    rack_units: float | None = Field(default=None, gt=0)
    """Rack units (1.75 inch) of one node; null for whole-rack units or unknown."""
    units_per_rack_max: int | None = Field(default=None, ge=1)
    """Most purchase units that fit in one rack by height; null = 42 // rack_units."""
    racks: float | None = Field(default=None, gt=0)
    """Racks one purchase unit occupies, for rack-scale units (a double-wide rack counts 2)."""
    cooling: tuple[Literal["air", "liquid"], ...] = ()
    """Cooling classes the unit is sold for; empty = unknown."""


class PlatformEvidence(Frozen):
    """What is known to have run, per precision; beyond the maxima the level is ``datasheet``."""

    precision: Precision
    """Number format of the runs."""
    level: EvidenceLevel
    """Strength of this evidence."""
    parameters_max: float | None = Field(default=None, gt=0)
    """Largest model it was seen with, total parameters; null = any."""
    accelerators_max: int | None = Field(default=None, ge=1)
    """Most accelerators it was seen on; null = any."""
    architecture: Id | None = None
    """Card of the only model it holds for; null = any of its size."""
    source: str
    """Name in ``sources``, or a citation."""


class Platform(Frozen):
    """One hardware option. A missing number is unknown, never zero."""

    id: Id
    """Kebab-case id, equal to the file name."""
    vendor: str
    """Maker of the accelerator."""
    name: str | None = None
    """Display name."""
    accelerators_per_node: int = Field(ge=1)
    """Accelerators in one node."""
    node_sizes: tuple[int, ...] = ()
    """Accelerators per node as sold; empty = accelerators_per_node only."""
    nodes_per_rack: int | None = Field(default=None, ge=1)
    """Nodes of one rack, for rack-scale platforms only."""
    purchase_unit: Literal["node", "rack", "system", "slice"] = "node"
    """What one unit of an offer is."""
    acquisition: tuple[OfferType, ...]
    """Ways it can be acquired."""
    available_from: dt.date | None = None
    """First day anyone can receive it; null = available."""
    ineligible: str | None = None
    """Reason it cannot be planned with; null = eligible."""
    evidence_only: bool = False
    """True for parts that exist only in measured runs; absent from comparisons."""
    memory_bytes: int | None = Field(default=None, gt=0)
    """Memory of one accelerator as reported by it, bytes."""
    memory_bandwidth_gb_s: float | None = Field(default=None, gt=0)
    """Memory bandwidth of one accelerator, 1e9 bytes per second."""
    peak_dense_tflops: dict[Precision, float] = Field(default_factory=dict)
    """Dense peak by precision, 1e12 FLOP per second; a precision not listed is not supported."""
    tiers: tuple[Tier, ...] = ()
    """Network tiers, innermost first; the last spans the cluster."""
    node_power_kw: NodePower = NodePower()
    """Power of one node."""
    space: Space = Space()
    """Room of one purchase unit."""
    efficiency: dict[str, Any] = Field(default_factory=dict)
    """Engine parameters with their evidence (see optimizer/engine); an overlay may replace them."""
    evidence: tuple[PlatformEvidence, ...] = ()
    """Runs seen; beyond their maxima ``datasheet``."""
    licence_excludes_datacentre: bool = False
    """True when driver licence or warranty excludes data centres."""
    notes: tuple[str, ...] = ()
    """Conflicts between sources and what was decided."""
    sources: dict[str, Source] = Field(default_factory=dict)
    """Sources by short name."""

    @model_validator(mode="after")
    def _consistent(self) -> Platform:
        if self.purchase_unit == "rack" and self.nodes_per_rack is None:
            raise ValueError("purchase_unit is rack: nodes_per_rack must be given")
        if any(value <= 0 for value in self.peak_dense_tflops.values()):
            raise ValueError("peak_dense_tflops must be above zero; leave out what is not supported")
        return self

    @property
    def nodes_per_unit(self) -> int:
        """Nodes in one purchase unit."""
        return self.nodes_per_rack or 1 if self.purchase_unit == "rack" else 1

    @property
    def accelerators_per_unit(self) -> int:
        """Accelerators in one purchase unit."""
        return self.nodes_per_unit * self.accelerators_per_node


class PlatformOverlay(Frozen):
    """What a pilot found out about a platform, beside its card: a file of ``models/platforms`` in a folder of one's own."""

    overlay_of: Id
    """Id of the platform."""
    efficiency: dict[str, Any] = Field(min_length=1)
    """Keys of the platform's ``efficiency`` that are replaced."""
    evidence: tuple[PlatformEvidence, ...] = ()
    """Runs seen, beside those of the card."""
    notes: tuple[str, ...] = ()
    """Notes beside those of the card."""
    sources: dict[str, Source] = Field(default_factory=dict)
    """Sources by short name, beside those of the card."""

    def over(self, platform: Platform) -> Platform:
        """Return the platform with these values."""
        return platform.model_copy(
            update={
                "efficiency": {**platform.efficiency, **self.efficiency},
                "evidence": (*self.evidence, *platform.evidence),
                "notes": (*platform.notes, *self.notes),
                "sources": {**platform.sources, **self.sources},
            }
        )
