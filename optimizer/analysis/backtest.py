"""Scores the engine on measured runs: step time, memory, bands and the order of layouts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Protocol

import numpy as np

from optimizer.analysis.readings import Cards, Case, SkippedRun, case_of, measured_step_s
from optimizer.engine.bands import Bands, as_evidenced, band, factor, level
from optimizer.engine.layouts import LayoutArrays
from optimizer.engine.memory import first_stage_memory, memory, peak_bytes
from optimizer.engine.step_time import step_seconds, step_time
from optimizer.engine.verdict import verdict
from optimizer.io.runs import Run
from optimizer.results import Result

_STEP_KINDS = (None, "step")
_RANKED = 1.03  # pairs closer than 3 % are within the noise of published runs
_SWEEP = 3  # fewest layouts of one job that make a ranking
_RESERVED = 1.055  # reserved / allocated, middle of 1.02-1.09 seen in published runs
_OFFLOADED = "states or activations on the host, which the engine does not model"
_SMI_BYTES = 4e9  # context and cache that nvidia-smi counts on top of reserved


class Library(Cards, Protocol):
    """Cards and bands; ``optimizer.io.library.Library`` is one."""

    @property
    def bands(self) -> Bands:
        """Quantiles by situation."""
        ...


class RowScore(Result):
    """One row of the output CSV; None = not predicted or not measured."""

    run_id: str
    predicted_step_time_s: float | None = None
    """Mid prediction, seconds."""
    low_s: float | None = None
    """10th percentile, seconds."""
    high_s: float | None = None
    """90th percentile, seconds."""
    step_time_error: float | None = None
    """predicted / measured - 1."""
    predicted_memory_gb: float | None = None
    """As the row's instrument would read it, 1e9 bytes."""
    memory_error: float | None = None
    """predicted / measured - 1."""
    fits: str | None = None
    """Verdict; None when the row keeps part of its memory on the host."""
    evidence: str | None = None
    """Evidence level."""
    skipped_reason: str | None = None
    """Why the row could not be predicted."""


class Errors(Result):
    """Absolute errors as fractions, and the median signed error."""

    mean: float | None
    median: float | None
    p90: float | None
    bias: float | None
    rows: int


class MemoryErrors(Result):
    """Memory errors as fractions, and wrong verdicts."""

    median: float | None
    mean: float | None
    rows: int
    false_fits: int
    """Rows that ran out of memory, or read more than the card holds, predicted to fit or to be tight."""
    false_ooms: int
    """Rows that ran, predicted not to fit."""
    left_out: dict[str, int]
    """Rows without a memory verdict, counted by reason."""


class Ranking(Result):
    """Order of the layouts of one job, pooled over the jobs of a source."""

    kendall_tau: float
    """Pairs more than 3 % apart in the right order minus wrong order, over all such pairs."""
    regret: float
    """Measured time of the layout predicted fastest over the measured best - 1, mean over jobs."""
    rows: int


class Backtest(Result):
    """What ``backtest`` prints."""

    rows: int
    scored: int
    skipped: dict[str, int]
    readings: dict[str, int]
    """How often each blank cell was read by its rule."""
    step_time: Errors
    memory: MemoryErrors
    coverage: float | None
    """Share of step rows whose measurement lies in the p10-p90 band."""
    by: dict[str, dict[str, Errors]]
    ranking: dict[str, Ranking]


class _Scored:
    """A predicted case beside its row."""

    def __init__(self, case: Case, bands: Bands) -> None:
        arrays = LayoutArrays.of(case.layout)
        self.case = case
        self.seconds = float(step_seconds(step_time(case.setup, arrays))[0])
        self.peak = float(peak_bytes(memory(case.setup, arrays))[0])
        self.verdict = None if case.run.offload else verdict(self.peak, case.setup.memory_bytes)
        platform = as_evidenced(case.setup.platform, case.setup.architecture)
        scale = (platform, case.setup.precision, case.setup.parameters.total, case.layout.accelerators)
        quantiles = band(bands, *scale)
        self.low_s, self.high_s = self.seconds * factor(quantiles, 0.1), self.seconds * factor(quantiles, 0.9)
        self.evidence = level(*scale)
        self.measured_s = measured_step_s(case.run)
        reading = case.run.memory_reading or ""
        where = first_stage_memory if reading.endswith(("first stage", "rank 0")) else memory
        self.memory_gb = read_memory_gb(float(peak_bytes(where(case.setup, arrays))[0]), reading)

    @property
    def error(self) -> float | None:
        """Signed step-time error."""
        return None if self.measured_s is None else self.seconds / self.measured_s - 1.0

    @property
    def memory_error(self) -> float | None:
        """Signed memory error."""
        measured = self.case.run.memory_gb
        return None if measured is None or self.verdict is None else self.memory_gb / measured - 1.0

    @property
    def out_of_memory(self) -> bool:
        """True when the row is known not to fit its card."""
        measured = self.case.run.memory_gb or 0.0
        return self.case.run.kind == "oom" or measured * 1e9 > self.case.setup.memory_bytes * 1.001

    def row(self) -> RowScore:
        """Return the row of the output CSV."""
        return RowScore(
            run_id=self.case.run.run_id,
            predicted_step_time_s=self.seconds,
            low_s=self.low_s,
            high_s=self.high_s,
            step_time_error=self.error,
            predicted_memory_gb=None if self.verdict is None else self.memory_gb,
            memory_error=self.memory_error,
            fits=self.verdict,
            evidence=self.evidence.value,
        )


def read_memory_gb(peak_bytes: float, reading: str | None) -> float:
    """Return what an instrument reads when ``peak_bytes`` are allocated, 1e9 bytes.

    reserved = allocated x 1.055; nvidia-smi = reserved + 4 GB; anything else is taken as allocated.
    """
    text = (reading or "").lower()
    if text.startswith("nvidia-smi"):
        return (peak_bytes * _RESERVED + _SMI_BYTES) / 1e9
    return peak_bytes * (_RESERVED if text.startswith("reserved") else 1.0) / 1e9


def errors(values: Iterable[float | None]) -> Errors:
    """Return the usual figures of signed errors; None entries are left out."""
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    if not known.size:
        return Errors(mean=None, median=None, p90=None, bias=None, rows=0)
    size = np.abs(known)
    return Errors(
        mean=float(size.mean()),
        median=float(np.median(size)),
        p90=float(np.quantile(size, 0.9)),
        bias=float(np.median(known)),
        rows=known.size,
    )


def _memory_errors(scored: Sequence[_Scored]) -> MemoryErrors:
    figures = errors(item.memory_error for item in scored)
    ran = [item for item in scored if item.case.run.kind in _STEP_KINDS and not item.out_of_memory]
    return MemoryErrors(
        median=figures.median,
        mean=figures.mean,
        rows=figures.rows,
        false_fits=sum(item.out_of_memory and item.verdict in ("fits", "tight") for item in scored),
        false_ooms=sum(item.verdict == "does_not_fit" for item in ran),
        left_out=dict(Counter(_OFFLOADED for item in scored if item.verdict is None)),
    )


def _model(item: _Scored) -> str:
    return "dense" if item.case.setup.architecture.moe is None else "mixture of experts"


def _grouped(scored: Sequence[_Scored], key: Callable[[_Scored], str | None]) -> dict[str, Errors]:
    groups: dict[str, list[float | None]] = defaultdict(list)
    for item in scored:
        groups[key(item) or "unknown"].append(item.error)
    return {name: errors(values) for name, values in sorted(groups.items())}


def _job(item: _Scored) -> tuple[object, ...]:
    run, setup = item.case.run, item.case.setup
    return (
        run.source or "unknown", setup.architecture.model_dump_json(), setup.platform.id, setup.precision,
        setup.sequence_length, run.accelerators, run.global_batch,
    )  # fmt: skip


def kendall_tau(pairs: Iterable[tuple[tuple[float, float], tuple[float, float]]]) -> float | None:
    """Return (concordant - discordant) / pairs over ((measured, predicted), ...) more than 3 % apart; None if none."""
    apart = [(a, b) for a, b in pairs if max(a[0], b[0]) > _RANKED * min(a[0], b[0])]
    signs = [np.sign((a[0] - b[0]) * (a[1] - b[1])) for a, b in apart]
    return float(np.mean(signs)) if signs else None


def _ranking(scored: Sequence[_Scored]) -> dict[str, Ranking]:
    jobs: dict[tuple[object, ...], list[tuple[float, float]]] = defaultdict(list)
    for item in scored:
        if item.measured_s is not None:
            jobs[_job(item)].append((item.measured_s, item.seconds))
    sources: dict[str, list[list[tuple[float, float]]]] = defaultdict(list)
    for job, times in jobs.items():
        if len(times) >= _SWEEP:
            sources[str(job[0])].append(times)
    found = {}
    for source, sweeps in sorted(sources.items()):
        tau = kendall_tau(pair for times in sweeps for pair in combinations(times, 2))
        if tau is not None:
            regrets = [min(times, key=lambda t: t[1])[0] / min(times)[0] - 1.0 for times in sweeps]
            rows = sum(len(times) for times in sweeps)
            found[source] = Ranking(kendall_tau=tau, regret=float(np.mean(regrets)), rows=rows)
    return found


def _coverage(steps: Sequence[_Scored]) -> float | None:
    inside = [item.low_s <= item.measured_s <= item.high_s for item in steps if item.measured_s is not None]
    return float(np.mean(inside)) if inside else None


def backtest(runs: Sequence[Run], library: Library) -> tuple[Backtest, tuple[RowScore, ...]]:
    """Predict every run and compare with what was measured.

    Step-time figures count rows of kind ``step`` (or blank); ``by.kind`` shows the others. Rows that cannot be
    predicted are counted by reason, never guessed.
    """
    scored: list[_Scored] = []
    rows: list[RowScore] = []
    skipped: Counter[str] = Counter()
    for run in runs:
        try:
            item = _Scored(case_of(run, library), library.bands)
        except SkippedRun as reason:
            skipped[str(reason)] += 1
            rows.append(RowScore(run_id=run.run_id, skipped_reason=str(reason)))
            continue
        scored.append(item)
        rows.append(item.row())
    return _summary(len(runs), scored, skipped), tuple(rows)


def _summary(total: int, scored: Sequence[_Scored], skipped: Counter[str]) -> Backtest:
    steps = [item for item in scored if item.case.run.kind in _STEP_KINDS]
    return Backtest(
        rows=total,
        scored=len(scored),
        skipped=dict(skipped.most_common()),
        readings=dict(Counter(text for item in scored for text in item.case.readings).most_common()),
        step_time=errors(item.error for item in steps),
        memory=_memory_errors(scored),
        coverage=_coverage(steps),
        by={
            "platform": _grouped(steps, lambda item: item.case.run.platform),
            "source": _grouped(steps, lambda item: item.case.run.source),
            "kind": _grouped(scored, lambda item: item.case.run.kind or "step"),
            "model": _grouped(steps, _model),
        },
        ranking=_ranking(steps),
    )
