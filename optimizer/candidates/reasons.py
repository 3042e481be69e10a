"""Why a platform, precision or node count offers no mode: one rejection per reason, with the numbers."""

from __future__ import annotations

import numpy as np

from optimizer.candidates.confidence import Confidence
from optimizer.candidates.search import Question, least_memory, legal_pairs, occupying_pairs
from optimizer.candidates.space import take
from optimizer.engine.layouts import Integers, LayoutArrays
from optimizer.engine.memory import memory, peak_bytes
from optimizer.engine.verdict import needed_bytes
from optimizer.errors import InputError
from optimizer.results import Rejection
from optimizer.schema.base import EvidenceLevel, Precision
from optimizer.schema.platform import Platform


def ineligible(platform: Platform) -> Rejection | None:
    """Return why the platform cannot be planned with, or None."""
    if platform.ineligible is None:
        return None
    return Rejection(
        platform=platform.id,
        limit="specification",
        needed="an eligible platform",
        available=None,
        unit="",
        reason=f"{platform.id} cannot be planned with: {platform.ineligible}",
    )


def unpredictable(platform: Platform, precision: Precision, error: InputError) -> Rejection:
    """Return why a precision cannot be predicted: the platform does not compute in it, or a figure is unknown."""
    known = ", ".join(platform.peak_dense_tflops)
    if known and any(problem.location.endswith("peak_dense_tflops") for problem in error.problems):
        return Rejection(
            platform=platform.id,
            limit="precision",
            needed=precision.value,
            available=known,
            unit="number format",
            reason=f"{platform.id} has no {precision.value}; it computes in {known}",
        )
    return Rejection(
        platform=platform.id,
        limit="specification",
        needed=", ".join(problem.location for problem in error.problems),
        available=None,
        unit="",
        reason=f"{platform.id} in {precision.value} cannot be predicted: {'; '.join(map(str, error.problems))}",
    )


def weak_evidence(
    platform: Platform, precision: Precision, needed: EvidenceLevel, known: Confidence, nodes: Integers
) -> Rejection | None:
    """Return the rejection of the node counts whose evidence is below the minimum, or None."""
    weak = np.flatnonzero(known.rank < needed.rank)
    if not len(weak):
        return None
    best = known.levels[weak[np.argmax(known.rank[weak])]].value
    where = "" if len(weak) == len(nodes) else f" on {nodes[weak[0]]} nodes and more"
    return Rejection(
        platform=platform.id,
        limit="evidence",
        needed=needed.value,
        available=best,
        unit="evidence level",
        reason=f"{precision.value} on {platform.id}{where} is known by {best} only; {needed.value} is asked for",
    )


def nothing_legal_or_fitting(question: Question, shapes: LayoutArrays, tolerance: float) -> Rejection:
    """Return why no layout can be used: no batch near the target divides, else none fits in memory."""
    if len(legal_pairs(question, shapes).shape) == 0:
        return _no_batch(question, shapes, tolerance)
    return _no_memory(question, shapes)


def _no_batch(question: Question, shapes: LayoutArrays, tolerance: float) -> Rejection:
    batch, platform = question.batch, question.setup.platform.id
    reachable = occupying_pairs(question, shapes).global_batch
    off = batch.deviation(reachable)
    nearest = int(reachable[np.argmin(off)])
    wanted = batch.tokens / batch.sequence_length
    return Rejection(
        platform=platform,
        limit="batch",
        needed=float(off.min()),
        available=tolerance,
        unit="share of the target batch",
        reason=f"{platform}: the nearest batch a layout divides into is {nearest} sequences, the target {wanted:.1f}",
    )


def _no_memory(question: Question, shapes: LayoutArrays) -> Rejection:
    """Name the least demanding legal layout: of the shape with the smallest lower bound that is legal anywhere."""
    setup = question.setup
    pairs = legal_pairs(question, shapes)
    lowest = peak_bytes(memory(setup, least_memory(question, shapes)))[pairs.shape]
    least = pairs[lowest == lowest.min()]
    peaks = peak_bytes(memory(setup, least.layouts(shapes)))
    layout = take(least.layouts(shapes), np.array([np.argmin(peaks)])).row(0)
    need, have = float(needed_bytes(peaks.min(keepdims=True))[0]) / 1e9, setup.memory_bytes / 1e9
    degrees = f"TP {layout.tensor_parallel}, PP {layout.pipeline_parallel}, CP {layout.context_parallel}"
    return Rejection(
        platform=setup.platform.id,
        limit="memory",
        needed=round(need, 2),
        available=round(have, 2),
        unit="GB",
        reason=f"does not fit: needs {need:.1f} GB with reserve, an accelerator has {have:.1f} GB"
        f" ({setup.precision.value}, least demanding layout: {degrees}, DP {layout.data_parallel})",
    )


def no_stated_mode(workload: str, platform: Platform) -> Rejection:
    """Return the rejection of a platform on which the run's performance is not stated."""
    return Rejection(
        platform=platform.id,
        limit="specification",
        needed="a stated mode",
        available=None,
        unit="",
        reason=f"{workload} states no mode on {platform.id}",
    )


def no_dedicated_mode(workload: str, platform: Platform, system: str) -> Rejection:
    """Return the rejection of a dedicated system that does not say how long the run takes on it."""
    return Rejection(
        platform=platform.id,
        quote=system,
        limit="specification",
        needed="a stated mode",
        available=None,
        unit="",
        reason=f"{system} states no days for {workload}",
    )


def weak_claim(platform: Platform, system: str, needed: EvidenceLevel, known: EvidenceLevel) -> Rejection:
    """Return the rejection of a dedicated system whose stated days are too weakly known."""
    return Rejection(
        platform=platform.id,
        quote=system,
        limit="evidence",
        needed=needed.value,
        available=known.value,
        unit="evidence level",
        reason=f"the days of {system} are known by {known.value} only; {needed.value} is asked for",
    )
