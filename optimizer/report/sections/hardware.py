"""Layout, memory and time of each run, and the hall: power over time against its limits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

from optimizer.api import predict
from optimizer.errors import InputError
from optimizer.report.document import (
    Bar,
    Bars,
    Block,
    Cell,
    Curves,
    Facts,
    Section,
    Series,
    Span,
    Text,
    count,
    day,
    name,
    number,
    phrase,
    share,
    term,
)
from optimizer.report.sections.timing import all_limits
from optimizer.report.source import Source
from optimizer.report.text import layout_text
from optimizer.results import LayoutRow, WorkloadPlan
from optimizer.solver.check.site import SiteStep

_SAME = 0.005
"""Relative difference up to which a breakdown made by this version still explains the plan's own figure."""


def layouts(source: Source) -> Section:
    """Return how each run is laid out, with its memory and time by component."""
    blocks = tuple(block for at, run in enumerate(source.plan.workloads.values()) for block in _run(at, run, source))
    return Section("layout", "part.layout", blocks or (Text(phrase("memo.no_runs")),))


def _run(at: int, run: WorkloadPlan, source: Source) -> tuple[Block, ...]:
    if run.layout is None:
        return (Facts((("fact.run", name(run.name)), *_where(run), ("fact.layout", term("word.as_stated")))),)
    rows = (("fact.run", name(run.name)), *_where(run), *_figures(run))
    found = _breakdown(run, source)
    if isinstance(found, str):
        return (Facts(rows), Text(phrase("memo.no_breakdown", run=name(run.name), why=name(found))))
    return (Facts(rows), _memory(at, run, found), _time(at, run, found))


def _where(run: WorkloadPlan) -> tuple[tuple[str, Cell], ...]:
    return (
        ("fact.model", name(run.architecture) if run.architecture else term("word.stated")),
        ("fact.accelerators", phrase("memo.placed", accelerators=count(run.accelerators), nodes=count(run.nodes),
                                     platform=name(run.platform), place=name(run.place))),
    )  # fmt: skip


def _figures(run: WorkloadPlan) -> tuple[tuple[str, Cell], ...]:
    precision = run.layout.precision if run.layout else ""
    return (
        ("fact.layout", name(f"{precision}, {layout_text(run.layout)}")),
        ("fact.step", number(_rounded(run.step_time_s), "s")),
        ("fact.rate", number(_rounded(run.tokens_per_s_per_accelerator), "tokens/s")),
        ("fact.mfu", share(run.mfu)),
        ("fact.goodput", share(run.goodput)),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _breakdown(run: WorkloadPlan, source: Source) -> LayoutRow | str:
    """Return memory and time by component; or why this version cannot explain the plan's figures."""
    work = source.loaded.scenario.workloads.get(run.name) if source.loaded else None
    if source.loaded is None or work is None or run.layout is None or run.architecture is None:
        return source.unread
    try:
        row = predict(
            architecture=run.architecture, platform=run.platform, layout=run.layout, accelerators=run.accelerators,
            sequence_length=work.sequence_length or 0, library=source.loaded.library,
        )  # fmt: skip
    except InputError as error:
        return str(error)
    stated = run.memory_gb or 0.0
    if abs(row.memory_gb - stated) > _SAME * max(stated, 1.0):
        return f"{row.memory_gb:.1f} GB / {stated:.1f} GB"
    return row


def _stack(parts: dict[str, float], family: str, unit: str) -> tuple[Span, ...]:
    """Return components end to end."""
    spans, at = [], Decimal(0)
    for key, size in parts.items():
        if round(size, 2) <= 0:
            continue
        end = at + Decimal(str(round(size, 4)))
        spans.append(Span(f"{family}.{key}", number(at, unit), number(end, unit), number(round(size, 2), unit)))
        at = end
    return tuple(spans)


def _memory(at: int, run: WorkloadPlan, row: LayoutRow) -> Bars:
    limit = number(round(row.memory_limit_gb, 2), "GB")
    bar = Bar(phrase("chart.memory_of", run=name(run.name)), _stack(row.memory, "memory", "GB"))
    line = Span("span.limit", limit, limit, limit)
    return Bars(f"memory-{at}", "chart.memory", "axis.gb", (bar,), (line,))


def _time(at: int, run: WorkloadPlan, row: LayoutRow) -> Bars:
    bar = Bar(phrase("chart.time_of", run=name(run.name)), _stack(row.time, "time", "s"))
    return Bars(f"time-{at}", "chart.time", "axis.s", (bar,))


def sites(source: Source) -> Section:
    """Return power and racks used and available at each site over time, and every limit."""
    power = _curves("power", "kW", source.power(), source)
    racks = _curves("racks", "", source.racks(), source)
    limits: tuple[Block, ...] = (all_limits(source),) if source.plan.limits else ()
    return Section("sites", "part.sites", (*power, *racks, *limits))


def _curves(what: str, unit: str, steps: Iterable[SiteStep], source: Source) -> tuple[Curves, ...]:
    by_site: dict[str, list[SiteStep]] = defaultdict(list)
    for step in steps:
        by_site[step.site].append(step)
    return tuple(_curve(f"{what}-{place}", what, unit, known, source) for place, known in enumerate(by_site.values()))


def _curve(key: str, what: str, unit: str, steps: list[SiteStep], source: Source) -> Curves:
    """Return what is used and available from today to the horizon."""
    end = source.horizon_end or steps[-1].day
    known, site = [*steps, replace(steps[-1], day=max(end, steps[-1].day))], name(steps[0].site)
    used = tuple((day(step.day), number(step.used, unit)) for step in known)
    limit = tuple((day(step.day), number(step.available, unit)) for step in known if step.available is not None)
    lines = ((f"chart.{what}_used", used), (f"chart.{what}_limit", limit))
    series = tuple(Series(phrase(words, site=site), "steps", points) for words, points in lines if points)
    return Curves(key, f"chart.{what}", "axis.date", f"axis.{what}", series, from_zero=True)
