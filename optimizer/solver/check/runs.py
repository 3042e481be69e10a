"""The run of each workload: window, order, mode, layout, batch, memory and days."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal
from math import ceil

from optimizer.results import Layout, WorkloadPlan
from optimizer.schema.architecture import Architecture
from optimizer.schema.base import EvidenceLevel
from optimizer.schema.platform import Platform, PlatformEvidence
from optimizer.schema.scenario import Workload
from optimizer.solver.check.case import ONE_DAY, Case, Holding
from optimizer.solver.check.facts import Breach, Breaches, close, holds, same

SECONDS_PER_DAY = 86_400
FIGURE_TOLERANCE = 1e-6
"""Relative tolerance of figures that the plan states as doubles."""
STEP_TOLERANCE = 1e-3
"""Relative tolerance of a band against the days at mid band: the engine counts whole steps."""
BAND_FOOT, BAND_TOP = Decimal("0.1"), Decimal("0.9")
"""Quantiles of the lower and of the upper end of a duration band."""
PARAMETER_TOLERANCE = 1.02
"""A model counts as seen up to 2 % above the size of its evidence: published sizes are rounded."""


EMBEDDING_AND_HEAD = 2
"""Chunks that may hold the embedding or the head instead of a layer."""


def run_breaches(case: Case) -> Breaches:
    """Yield the breaches of every run."""
    for run in case.runs:
        workload = case.scenario.workloads[run.name]
        yield from _identity_breaches(case, run, workload)
        yield from _window_breaches(case, run, workload)
        if system := case.system(run):
            yield from _dedicated_breaches(case, run, workload, system)
        elif workload.architecture is None:
            yield from _stated_breaches(run, workload)
        else:
            yield from _engine_breaches(case, run, workload)


def window(case: Case, workload: Workload) -> tuple[dt.date, dt.date]:
    """Return the first and the last day a run may use."""
    last = case.last_day
    if workload.deadline is not None:
        last = min(last, workload.deadline - dt.timedelta(days=workload.deadline_margin_days))
    return workload.release or case.scenario.today, last


def _identity_breaches(case: Case, run: WorkloadPlan, workload: Workload) -> Breaches:
    yield from same("architecture", run.name, run.architecture, workload.architecture)
    yield from same("pool", run.name, run.pool, f"{run.platform}@{run.place}")
    accelerators = run.nodes * case.facts.platforms[run.platform].accelerators_per_node
    yield from same("accelerators", run.name, run.accelerators, accelerators)
    yield from holds(run.nodes >= 1, "nodes", run.name, run.nodes, "at least one node")


def _window_breaches(case: Case, run: WorkloadPlan, workload: Workload) -> Breaches:
    first, last = window(case, workload)
    yield from same("days", run.name, run.days, (run.end - run.start + ONE_DAY).days)
    yield from holds(run.start >= first, "release", run.name, f"start {run.start}", f"not before {first}")
    yield from holds(run.end <= last, "deadline", run.name, f"end {run.end}", f"not after {last}")
    for name in workload.after:
        before = case.plan.workloads[name].end
        yield from holds(
            run.start > before, "release", run.name, f"start {run.start}", f"after {name} ends on {before}"
        )


def _stated_breaches(run: WorkloadPlan, workload: Workload) -> Breaches:
    modes = {(mode.platform, mode.nodes, mode.days) for mode in workload.modes}
    mode = (run.platform, run.nodes, run.days)
    yield from holds(mode in modes, "mode", run.name, mode, f"one of {sorted(modes)}")
    yield from _no_figures(run)


def _dedicated_breaches(case: Case, run: WorkloadPlan, workload: Workload, system: Holding) -> Breaches:
    """The vendor's word stands for days and nodes; it is no more than a claim."""
    yield from same("nodes", run.name, run.nodes, system.nodes(system.award.units))
    minimum = workload.minimum_evidence or case.scenario.policy.minimum_evidence
    claim = EvidenceLevel.VENDOR_CLAIM
    yield from same("evidence", run.name, run.evidence, str(claim))
    yield from holds(claim.rank >= minimum.rank, "evidence", run.name, claim, f"at least {minimum}")
    yield from _no_figures(run)


def _no_figures(run: WorkloadPlan) -> Breaches:
    """A run whose days are stated has none of the engine's figures."""
    figures = (
        "layout",
        "step_time_s",
        "tokens_per_s_per_accelerator",
        "mfu",
        "memory_gb",
        "memory_limit_gb",
        "goodput",
    )
    for figure in figures:
        yield from same(figure, run.name, getattr(run, figure), None)


def _engine_breaches(case: Case, run: WorkloadPlan, workload: Workload) -> Breaches:
    platform = case.facts.platforms[run.platform]
    architecture = case.facts.architectures.get(workload.architecture or "")
    if architecture is None or run.layout is None:
        yield Breach("layout", run.name, str(run.layout), "a layout of a known architecture")
        return
    yield from _layout_breaches(run, run.layout, architecture)
    yield from _batch_breaches(run, run.layout, workload)
    yield from _precision_breaches(run.name, run.layout.precision, workload, platform)
    yield from _memory_breaches(run, platform)
    yield from _evidence_breaches(case, run, run.layout, workload, architecture)
    yield from _speed_breaches(case, run, run.layout, workload)


def _layout_breaches(run: WorkloadPlan, layout: Layout, architecture: Architecture) -> Breaches:
    yield from same("layout", run.name, f"{layout.accelerators} accelerators", f"{run.accelerators} accelerators")
    stages, most = layout.pipeline_parallel * layout.virtual_pipeline, architecture.layers + EMBEDDING_AND_HEAD
    yield from holds(stages <= most, "layout", run.name, f"{stages} chunks", f"at most {most}")
    experts = architecture.moe.experts if architecture.moe else 1
    group = layout.expert_parallel * layout.expert_tensor_parallel
    yield from holds(
        experts % layout.expert_parallel == 0, "layout", run.name, f"expert_parallel {layout.expert_parallel}",
        f"a divisor of {experts} experts",
    )  # fmt: skip
    width = architecture.moe.ffn_hidden_size if architecture.moe else layout.expert_tensor_parallel
    split = width % layout.expert_tensor_parallel == 0
    degree = f"expert_tensor_parallel {layout.expert_tensor_parallel}"
    yield from holds(split, "layout", run.name, degree, f"a divisor of {width}")
    stage = layout.accelerators // layout.pipeline_parallel
    yield from holds(stage % group == 0, "layout", run.name, f"expert group of {group}", f"a divisor of {stage}")


def _batch_breaches(run: WorkloadPlan, layout: Layout, workload: Workload) -> Breaches:
    at_once = layout.data_parallel * layout.micro_batch
    whole = layout.global_batch >= at_once and layout.global_batch % at_once == 0
    yield from holds(whole, "batch", run.name, f"{layout.global_batch} sequences", f"a multiple of {at_once}")
    target, tolerance = workload.global_batch_tokens or Decimal(0), workload.global_batch_tolerance
    tokens = layout.global_batch * (workload.sequence_length or 0)
    near = abs(tokens - target) <= target * tolerance
    yield from holds(near, "batch", run.name, f"{tokens} tokens", f"{target} within {tolerance}")


def _precision_breaches(name: str, precision: str, workload: Workload, platform: Platform) -> Breaches:
    allowed = [known for known in workload.precisions if known in platform.peak_dense_tflops]
    yield from holds(precision in allowed, "precision", name, precision, f"one of {[str(known) for known in allowed]}")


def _memory_breaches(run: WorkloadPlan, platform: Platform) -> Breaches:
    if run.memory_gb is None or run.memory_limit_gb is None or platform.memory_bytes is None:
        yield Breach("memory", run.name, "unknown memory", "a known use and a known limit")
        return
    gb = platform.memory_bytes / 1e9
    yield from close("memory_limit_gb", run.name, run.memory_limit_gb, gb, FIGURE_TOLERANCE)
    fits = run.memory_gb <= run.memory_limit_gb
    yield from holds(fits, "memory", run.name, f"{run.memory_gb} GB", f"at most {run.memory_limit_gb} GB")


def _evidence_breaches(
    case: Case, run: WorkloadPlan, layout: Layout, workload: Workload, architecture: Architecture
) -> Breaches:
    minimum = workload.minimum_evidence or case.scenario.policy.minimum_evidence
    if run.evidence not in set(EvidenceLevel):
        yield Breach("evidence", run.name, run.evidence, "a level of evidence")
        return
    stated = EvidenceLevel(run.evidence)
    entries = evidence_entries(case.facts.platforms[run.platform], architecture)
    known = seen(entries, layout.precision, run.accelerators, architecture.published_parameters)
    yield from holds(stated.rank >= minimum.rank, "evidence", run.name, stated, f"at least {minimum}")
    yield from holds(stated.rank <= known.rank, "evidence", run.name, stated, f"at most {known}")


def evidence_entries(platform: Platform, architecture: Architecture) -> list[PlatformEvidence]:
    """Return the runs seen on a platform that count for a model: dense runs, or runs with experts (``efficiency.experts``)."""
    if architecture.moe is None:
        return list(platform.evidence)
    keys = PlatformEvidence.model_fields
    runs = platform.efficiency.get("experts") or ()
    return [PlatformEvidence.model_validate({key: run[key] for key in keys if key in run}) for run in runs]


def seen(
    entries: Iterable[PlatformEvidence], precision: str, accelerators: int, parameters: float | None
) -> EvidenceLevel:
    """Return the strongest evidence among runs for a precision at a model's size and on as many accelerators."""
    levels = [EvidenceLevel.DATASHEET]
    for known in entries:
        enough = known.accelerators_max is None or accelerators <= known.accelerators_max
        if parameters is not None and known.parameters_max is not None:
            enough = enough and parameters <= known.parameters_max * PARAMETER_TOLERANCE
        if known.precision == precision and enough:
            levels.append(known.level)
    return max(levels, key=lambda level: level.rank)


def _speed_breaches(case: Case, run: WorkloadPlan, layout: Layout, workload: Workload) -> Breaches:
    """Hold the days against steps x step time / goodput at mid band; the plan's days are at the policy's quantile."""
    if not run.step_time_s or not run.goodput or run.tokens_per_s_per_accelerator is None or run.mfu is None:
        yield Breach("step_time_s", run.name, "unknown speed", "a step time, throughput, MFU and goodput")
        return
    tokens = layout.global_batch * (workload.sequence_length or 0)
    per_second = tokens / run.step_time_s / run.accelerators
    stated = run.tokens_per_s_per_accelerator
    yield from close("tokens_per_s_per_accelerator", run.name, stated, per_second, FIGURE_TOLERANCE)
    for figure, value in (("mfu", run.mfu), ("goodput", run.goodput)):
        yield from holds(0 < value <= 1, figure, run.name, value, "a share between 0 and 1")
    yield from _band_breaches(case, run, mid_days(run.step_time_s, run.goodput, tokens, workload))


def mid_days(step_time_s: float, goodput: float, batch_tokens: int, workload: Workload) -> float:
    """Return the days of a run at mid band: (1 + extra_compute) x tokens / batch x step time / goodput.

    The last step may be a part of one, so this is a lower bound on whole steps.
    """
    tokens = (workload.tokens or 0) * (1 + (workload.extra_compute or 0))
    return float(tokens) / batch_tokens * step_time_s / goodput / SECONDS_PER_DAY


def _band_breaches(case: Case, run: WorkloadPlan, mid: float) -> Breaches:
    if run.band is None:
        yield Breach("band", run.name, "none", "the band of a predicted run")
        return
    low, high = float(run.band.low_days), float(run.band.high_days)
    inside = low * (1 - STEP_TOLERANCE) <= mid <= high * (1 + STEP_TOLERANCE)
    yield from holds(inside, "band", run.name, f"{low} to {high} days", f"{mid:.3f} days at mid band inside")
    quantile = case.scenario.policy.performance_quantile
    least = low if quantile >= BAND_FOOT else 0
    most = ceil(high) if quantile <= BAND_TOP else run.days
    near = least * (1 - FIGURE_TOLERANCE) <= run.days <= most
    yield from holds(near, "days", run.name, run.days, f"at least {least:.3f} and at most {most}")
