"""Modes that somebody states: a workload's own, or those of a dedicated system. Their days are final."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from optimizer.candidates.reasons import no_dedicated_mode, no_stated_mode, weak_claim
from optimizer.candidates.result import ModesResult
from optimizer.results import Candidate
from optimizer.schema.base import EvidenceLevel
from optimizer.schema.platform import Platform
from optimizer.schema.quote import DedicatedOffer
from optimizer.schema.scenario import Workload

CLAIM = EvidenceLevel.VENDOR_CLAIM
"""Evidence of a stated mode: nobody can check who stated it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """So many nodes take so many days, says a source."""

    nodes: int
    days: int
    source: str


def stated_modes(name: str, workload: Workload, platform: Platform) -> ModesResult:
    """Return the front of a workload's stated modes on a platform.

    No goodput, quantile or extra compute is applied; nor is a minimum of evidence, since the scenario itself states
    them. A platform without a stated mode is rejected.
    """
    own = (Statement(mode.nodes, mode.days, mode.source) for mode in workload.modes if mode.platform == platform.id)
    found = _front(name, platform, own, "")
    return ModesResult(found, () if found else (no_stated_mode(name, platform),), 0)


def dedicated_modes(
    name: str, offer: DedicatedOffer, platform: Platform, system: str, minimum: EvidenceLevel
) -> ModesResult:
    """Return the front of the modes a dedicated system states for a workload.

    They are the vendor's word: with a higher minimum of evidence the system is rejected.

    Args:
        name: Name of the workload.
        offer: The offer.
        platform: Its platform.
        system: ``quote/offer``.
        minimum: Evidence the run needs.
    """
    per_unit = platform.nodes_per_unit
    own = [Statement(m.units * per_unit, m.days, m.source) for m in offer.modes if m.workload == name]
    if not own:
        return ModesResult((), (no_dedicated_mode(name, platform, system),), 0)
    if CLAIM.rank < minimum.rank:
        return ModesResult((), (weak_claim(platform, system, minimum, CLAIM),), 0)
    return ModesResult(_front(name, platform, own, system), (), 0)


def _front(name: str, platform: Platform, stated: Iterable[Statement], system: str) -> tuple[Candidate, ...]:
    """Return the statements of which none has fewer nodes and no more days, ascending in nodes."""
    ordered = sorted(stated, key=lambda mode: (mode.nodes, mode.days))
    fewest = np.minimum.accumulate([np.inf, *(mode.days for mode in ordered)])
    front = [mode for mode, before in zip(ordered, fewest, strict=False) if mode.days < before]
    return tuple(_candidate(name, platform, mode, system) for mode in front)


def _candidate(name: str, platform: Platform, mode: Statement, system: str) -> Candidate:
    return Candidate(
        workload=name,
        platform=platform.id,
        nodes=mode.nodes,
        accelerators=mode.nodes * platform.accelerators_per_node,
        days=mode.days,
        layout=None,
        step_time_s=None,
        tokens_per_s_per_accelerator=None,
        mfu=None,
        memory_gb=None,
        memory_limit_gb=None,
        goodput=None,
        evidence=CLAIM.value,
        low_days=None,
        high_days=None,
        effective_flop_per_accelerator_day=None,
        source=mode.source,
        system=system,
    )
