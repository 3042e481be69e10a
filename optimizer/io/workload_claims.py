"""Runs that cannot be: more work than the accelerators can do, or more state than their memory holds.

Two things state a run on so many accelerators: a dedicated offer with its days, and a scenario whose offers end at a
number of units while the deadline ends the time. Work is model FLOPs (matrices and causal attention), state 16 bytes
per parameter.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

from optimizer.engine.flops import flops_per_token
from optimizer.engine.parameters import parameters
from optimizer.io.consistency import horizon_end
from optimizer.io.loaded import Loaded
from optimizer.io.remark import Remark
from optimizer.schema.architecture import Architecture
from optimizer.schema.base import Precision
from optimizer.schema.platform import Platform
from optimizer.schema.quote import DedicatedOffer
from optimizer.schema.scenario import Workload

STATE_BYTES_PER_PARAMETER = 16
"""bf16 weights 2, gradients 2, fp32 master weights 4 and two moments 8 (mixed-precision Adam)."""

HIGH_UTILISATION = 0.60
"""Published dense training stays below 60 % of the dense peak."""

LOW_UTILISATION = 0.10
"""Below 10 % the work is probably taken ten times too high (6 x parameters per token is 72 GFLOP for 12e9)."""

SECONDS_PER_DAY = 86_400

COINCIDENCE = 0.005
"""A number of accelerators within 0.5 % of the petaflop/s-days of the run is probably that figure."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A run on so many accelerators in so many days, stated or implied."""

    location: str
    architecture: Architecture
    workload: Workload
    platform: Platform
    accelerators: int
    days: int
    stated: bool

    @property
    def needed_tflops(self) -> float:
        """Model TFLOP/s each accelerator must sustain."""
        work = self.workload
        tokens = float(work.tokens or 0) * (1 if self.stated else 1 + float(work.extra_compute or 0))
        total = flops_per_token(self.architecture, work.sequence_length or 1) * tokens
        return total / (self.accelerators * self.days * SECONDS_PER_DAY) / 1e12

    @property
    def peak(self) -> tuple[float, Precision] | None:
        """Highest dense peak among the precisions allowed; None when no figure is known."""
        peaks = self.platform.peak_dense_tflops
        return max(((peaks[each], each) for each in self.workload.precisions if each in peaks), default=None)

    @property
    def utilisation(self) -> float:
        """Share of the peak that is needed; 0 when no peak is known."""
        return self.needed_tflops / self.peak[0] if self.peak else 0.0

    @property
    def memory_bytes(self) -> int:
        """Memory of all accelerators; 0 when unknown."""
        return self.accelerators * (self.platform.memory_bytes or 0)

    @property
    def state_bytes(self) -> int:
        """Bytes of weights, gradients and optimizer state."""
        return STATE_BYTES_PER_PARAMETER * parameters(self.architecture).total

    @property
    def where(self) -> str:
        """The run in words."""
        return f"{self.accelerators:,} x {self.platform.id} for {self.days:,} days"


def workload_claims(loaded: Loaded) -> Iterator[Remark]:
    """Yield runs that need more than peak, more than was ever measured, or more memory than there is."""
    for claim in _stated(loaded):
        yield from (*_too_fast([claim]), *_too_slow(claim), *_too_large([claim]), *_compute_read_as_count(claim))
    for name, work in loaded.scenario.workloads.items():
        claims = _implied(loaded, name, work)
        yield from (*_too_fast(claims), *_too_large(claims))
        yield from (remark for claim in claims for remark in _compute_read_as_count(claim))


def _stated(loaded: Loaded) -> Iterator[_Claim]:
    for quote_id, name, offer in loaded.offers():
        if not isinstance(offer, DedicatedOffer):
            continue
        platform = loaded.library.platforms[offer.platform]
        for position, mode in enumerate(offer.modes):
            work = loaded.scenario.workloads.get(mode.workload)
            if work and work.architecture:
                place = loaded.quote_documents[quote_id].at(("offers", name, "modes", position))
                model = loaded.library.architectures[work.architecture]
                units = mode.units * platform.accelerators_per_unit
                yield _Claim(place, model, work, platform, units, mode.days, stated=True)


def _implied(loaded: Loaded, name: str, work: Workload) -> list[_Claim]:
    """Return the most each platform can bring to a workload; none when an offer has no largest quantity."""
    counts = _counts(loaded, work)
    if not work.architecture or counts is None:
        return []
    scenario, model = loaded.scenario, loaded.library.architectures[work.architecture]
    start = max(work.release or scenario.today, scenario.earliest_order or scenario.today)
    last = min((work.deadline or dt.date.max), horizon_end(scenario)) - dt.timedelta(days=work.deadline_margin_days)
    days = max((last - start).days + 1, 1)
    place = loaded.document.at(("workloads", name))
    platforms = loaded.library.platforms
    return [_Claim(place, model, work, platforms[each], count, days, stated=False) for each, count in counts.items()]


def _counts(loaded: Loaded, work: Workload) -> dict[str, int] | None:
    """Return the accelerators offered and owned per allowed platform; None when one of them has no limit."""
    counts: dict[str, int] = {}
    platforms, allowed = loaded.library.platforms, loaded.scenario.policy.platforms
    for _, _, offer in loaded.offers():
        if not (work.platforms.permits(offer.platform) and allowed.permits(offer.platform)):
            continue
        if isinstance(offer, DedicatedOffer) or offer.units.max is None:
            return None
        units = offer.units.max * platforms[offer.platform].accelerators_per_unit
        counts[offer.platform] = counts.get(offer.platform, 0) + units
    for owned in loaded.scenario.owned:
        if work.platforms.permits(owned.platform):
            nodes = owned.nodes * platforms[owned.platform].accelerators_per_node
            counts[owned.platform] = counts.get(owned.platform, 0) + nodes
    return counts


def _too_fast(claims: list[_Claim]) -> Iterator[Remark]:
    """Even the platform that needs the smallest share of its peak needs too much."""
    known = [claim for claim in claims if claim.peak]
    best = min(known, key=lambda claim: claim.utilisation, default=None)
    if best is None or best.peak is None or len(known) < len(claims):
        return
    limit, name = _ceiling(best)
    if best.utilisation > limit:
        peak, precision = best.peak
        found = f"{best.where} need {best.needed_tflops:,.1f} TFLOP/s each"
        why = f"{best.utilisation:.1%} of the dense {precision} peak of {peak:g}: above {name}"
        yield Remark(location=best.location, found=found, why=why)


def _ceiling(claim: _Claim) -> tuple[float, str]:
    """Return the share of peak that is exceeded, and what it is."""
    if claim.utilisation > 1 or claim.peak is None:
        return 1.0, "what the hardware can do"
    shares = claim.platform.efficiency.get("matmul_share", {})
    matmul = float(shares.get(claim.peak[1], 1.0)) if isinstance(shares, dict) else 1.0
    if claim.utilisation > matmul:
        return matmul, f"the {matmul:.0%} that its fastest matrix products reach"
    return HIGH_UTILISATION, f"the {HIGH_UTILISATION:.0%} that published training stays below"


def _too_slow(claim: _Claim) -> Iterator[Remark]:
    if claim.peak and claim.utilisation < LOW_UTILISATION:
        gflop = flops_per_token(claim.architecture, claim.workload.sequence_length or 1) / 1e9
        why = f"{claim.utilisation:.1%} of the dense {claim.peak[1]} peak; one token takes {gflop:,.3g} GFLOP, not ten times that"
        found = f"{claim.where} need only {claim.needed_tflops:,.1f} TFLOP/s each"
        yield Remark(location=claim.location, found=found, why=why)


def _too_large(claims: list[_Claim]) -> Iterator[Remark]:
    """Not even the platform with the most memory holds the state."""
    best = max(claims, key=lambda claim: claim.memory_bytes, default=None)
    if best is None or any(claim.platform.memory_bytes is None for claim in claims):
        return
    if best.memory_bytes < best.state_bytes:
        found = f"{best.accelerators:,} x {best.platform.id} hold {best.memory_bytes / 1e9:,.0f} GB"
        why = f"Weights, gradients and Adam of {best.architecture.id} take {best.state_bytes / 1e9:,.0f} GB: 16 bytes per parameter"
        yield Remark(location=best.location, found=found, why=why)


def _compute_read_as_count(claim: _Claim) -> Iterator[Remark]:
    """3,640 petaflop/s-days of GPT-3 are often told as 3,640 accelerators."""
    flop = 6.0 * parameters(claim.architecture).active * float(claim.workload.tokens or 0)
    petaflop_days = flop / 1e15 / SECONDS_PER_DAY
    if claim.accelerators > 100 and abs(claim.accelerators / petaflop_days - 1) < COINCIDENCE:
        why = f"The run is {petaflop_days:,.0f} petaflop/s-days of compute: that figure is no number of accelerators"
        yield Remark(location=claim.location, found=f"{claim.accelerators:,} x {claim.platform.id}", why=why)
