"""Modes of a workload on a platform: node counts worth offering to the solver, or why there are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.candidates.conditions import Conditions, Run, setup_of
from optimizer.candidates.confidence import Confidence, confidence
from optimizer.candidates.reasons import (
    ineligible,
    nothing_legal_or_fitting,
    unpredictable,
    weak_evidence,
)
from optimizer.candidates.result import ModesResult
from optimizer.candidates.search import TIE, Best, Question, search, whole_days
from optimizer.candidates.space import shapes, take
from optimizer.engine.bands import as_evidenced
from optimizer.engine.flops import flops_per_token
from optimizer.engine.goodput import goodput
from optimizer.engine.layouts import Booleans, Floats, Integers, LayoutArrays
from optimizer.engine.memory import memory, peak_bytes
from optimizer.engine.step_time import step_seconds, step_time
from optimizer.errors import InputError
from optimizer.results import Candidate, Rejection
from optimizer.schema.architecture import Architecture
from optimizer.schema.base import Precision
from optimizer.schema.platform import Platform
from optimizer.schema.scenario import Workload

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class _Scale:
    """One precision at every node count, arrays of shape (N,): what the search asks and candidates report."""

    question: Question
    nodes: Integers
    useful: Floats
    known: Confidence


def modes(
    name: str,
    workload: Workload,
    architecture: Architecture,
    platform: Platform,
    conditions: Conditions,
    node_counts: Sequence[int] | Integers,
) -> ModesResult:
    """Return the front of (nodes, days) of a workload on a platform over all allowed precisions.

    For every node count the layout with the shortest run among those that fit, exact on ``conditions.grid``; node
    counts that do not end a whole day earlier than every smaller one are left out. A layout occupies all
    accelerators of its nodes; its batch is the multiple of data x micro-batch nearest to the target, within the
    tolerance. Ties: fewest nodes, shortest run, first precision, simplest layout (see ``space.shapes``).

    days = ceil(tokens x (1 + extra compute) / batch tokens x step time / goodput x band factor / 86400), the factor
    at the policy's performance quantile. Raises InternalError when the workload has stated modes.
    """
    run = Run.of(name, workload, architecture, conditions.policy)
    nodes = np.unique(np.asarray(node_counts, dtype=np.int64))
    nodes = nodes[nodes >= 1]
    barred = ineligible(platform)
    if barred or not len(nodes):
        return ModesResult((), (barred,) if barred else (), 0)
    answers = [_scale(run, platform, conditions, precision, nodes) for precision in run.precisions]
    scales = [answer for answer in answers if isinstance(answer, _Scale)]
    rejections = [answer for answer in answers if isinstance(answer, Rejection)]
    rejections += _weak(run, platform, scales)
    if not scales:
        return ModesResult((), tuple(rejections), 0)
    layouts = shapes(architecture, platform, run.sequence_length, conditions.grid)
    bests = _search_all([scale.question for scale in scales], layouts)
    candidates = list(_candidates(run, scales, bests))
    if not candidates:
        rejections += _nothing(run, scales, layouts)
    evaluated = sum(best.evaluated for best in bests)
    return ModesResult(tuple(sorted(candidates, key=lambda mode: mode.nodes)), tuple(rejections), evaluated)


def _scale(
    run: Run, platform: Platform, conditions: Conditions, precision: Precision, nodes: Integers
) -> _Scale | Rejection:
    """Return one precision at every node count, or why the platform cannot be predicted in it."""
    accelerators = nodes * platform.accelerators_per_node
    quantile = float(conditions.policy.performance_quantile)
    try:
        setup = setup_of(run.architecture, platform, precision, run.sequence_length, conditions.software)
        total = setup.parameters.total
        evidenced = as_evidenced(platform, run.architecture)
        known = confidence(conditions.bands, evidenced, precision, total, accelerators, quantile)
    except InputError as error:
        return unpredictable(platform, precision, error)
    rate = conditions.reliability
    useful = goodput(
        nodes.astype(np.float64),
        float(rate.node_failures_per_1000_days),
        float(rate.restart_minutes),
        float(rate.checkpoint_write_s),
    )
    allowed = known.rank >= run.minimum_evidence.rank
    weight = run.tokens / run.sequence_length / useful * known.planned / _DAY_S
    question = Question(setup, accelerators, run.batch, np.where(allowed, weight, np.inf))
    return _Scale(question, nodes, useful, known)


def _weak(run: Run, platform: Platform, scales: list[_Scale]) -> Iterator[Rejection]:
    for scale in scales:
        precision = scale.question.setup.precision
        weak = weak_evidence(platform, precision, run.minimum_evidence, scale.known, scale.nodes)
        if weak:
            yield weak


def _nothing(run: Run, scales: list[_Scale], layouts: LayoutArrays) -> Iterator[Rejection]:
    for scale in scales:
        if np.isfinite(scale.question.day_weight).any():
            yield nothing_legal_or_fitting(scale.question, layouts, run.tolerance)


def _search_all(questions: list[Question], layouts: LayoutArrays) -> list[Best]:
    """Search every precision, the fastest first, so that its runs prune the others; answers in the given order."""
    found: dict[int, Best] = {}
    ceiling = np.full(len(questions[0].accelerators), np.inf)
    peaks = [question.setup.peak_flops(question.setup.precision) for question in questions]
    for position in sorted(range(len(questions)), key=lambda place: -peaks[place]):
        best = search(questions[position], layouts, ceiling)
        ceiling[best.count] = np.minimum(ceiling[best.count], best.days)
        found[position] = best
    return [found[position] for position in range(len(questions))]


def _front(bests: list[Best], counts: int) -> list[Booleans]:
    """Return, per precision, which of its best layouts are on the common front of (nodes, whole days)."""
    days = np.full((len(bests), counts), np.inf)
    for row, best in zip(days, bests, strict=True):
        row[best.count] = best.days
    least = days.min(axis=0)
    owner = np.argmax(days <= least * (1 + TIE), axis=0)
    whole = whole_days(least)
    smaller = np.minimum.accumulate(np.concatenate([[np.inf], whole[:-1]]))
    return [(whole < smaller)[best.count] & (owner[best.count] == place) for place, best in enumerate(bests)]


def _candidates(run: Run, scales: list[_Scale], bests: list[Best]) -> Iterator[Candidate]:
    for scale, best, chosen in zip(scales, bests, _front(bests, len(scales[0].nodes)), strict=True):
        where = np.flatnonzero(chosen)
        if len(where):
            yield from _described(run, scale, best.count[where], take(best.layouts, where))


def _described(run: Run, scale: _Scale, count: Integers, layouts: LayoutArrays) -> Iterator[Candidate]:
    """Yield candidates with their step time, memory and band; ``layouts`` (K,) are those of the node counts."""
    question, setup = scale.question, scale.question.setup
    accelerators = question.accelerators[count]
    seconds = step_seconds(step_time(setup, layouts))
    peak_gb = peak_bytes(memory(setup, layouts)) / 1e9
    rate = layouts.global_batch * run.sequence_length / seconds / accelerators
    planned = question.day_weight[count] * seconds / layouts.global_batch
    flops = flops_per_token(run.architecture, run.sequence_length)
    middle = planned / scale.known.planned[count]
    for place, at in enumerate(count):
        yield Candidate(
            workload=run.name,
            platform=setup.platform.id,
            nodes=int(scale.nodes[at]),
            accelerators=int(accelerators[place]),
            days=int(whole_days(planned[place])),
            layout=layouts.row(place, setup.precision.value),
            step_time_s=float(seconds[place]),
            tokens_per_s_per_accelerator=float(rate[place]),
            mfu=float(rate[place] * flops / setup.peak_flops(setup.precision)),
            memory_gb=float(peak_gb[place]),
            memory_limit_gb=setup.memory_bytes / 1e9,
            goodput=float(scale.useful[at]),
            evidence=scale.known.levels[at].value,
            low_days=float(middle[place] * scale.known.low[at]),
            high_days=float(middle[place] * scale.known.high[at]),
            p50_days=float(middle[place] * scale.known.p50[at]),
            p80_days=float(middle[place] * scale.known.p80[at]),
            effective_flop_per_accelerator_day=float(run.tokens * flops / (accelerators[place] * planned[place])),
        )
