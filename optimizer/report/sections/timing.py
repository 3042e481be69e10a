"""When the runs end and how sure that is; what binds; the calendar of deliveries and runs; power over time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from math import ceil

from optimizer.report.document import (
    Absent,
    Bar,
    Bars,
    Block,
    Cell,
    Column,
    Section,
    Span,
    Table,
    Text,
    count,
    day,
    measured,
    name,
    phrase,
    sentence,
    share,
    term,
)
from optimizer.report.source import Source
from optimizer.results import LimitUse, WorkloadPlan

_ONE_DAY = dt.timedelta(days=1)


def finish(source: Source) -> Section:
    """Return start, finish as planned, at P50 and P80, the latest day allowed and the float of each run."""
    runs = list(source.plan.workloads.values())
    if not runs:
        return Section("finish", "memo.finish", (Text(phrase("memo.no_runs")),))
    columns = (
        Column("head.run"),
        Column("head.start"),
        Column("head.finish_planned"),
        Column("head.p50"),
        Column("head.p80"),
        Column("head.latest"),
        Column("head.float_days", figure=True),
    )
    rows = tuple(_run(run, source) for run in runs)
    table = Table("finish", "table.finish", columns, rows, note=_quantile(source))
    return Section("finish", "memo.finish", (table, *_chances(source)))


def _chances(source: Source) -> tuple[Text, ...]:
    """Return how often the plan meets deadlines and budgets, when its risk was asked for."""
    found, plan = source.analyses.risk, source.plan
    signed = {f"{award.units} x {award.quote}/{award.offer}" for award in plan.awards}
    own = next((each for each in found.plans if set(each.details.awards) == signed), None) if found else None
    if found is None or own is None:
        return ()
    chances = {"samples": count(found.samples), "deadline": share(own.p_deadline)}
    if own.p_budget is None:
        return (Text(phrase("memo.chance", **chances)),)
    return (Text(phrase("memo.chances", budget=share(own.p_budget), **chances)),)


def _quantile(source: Source) -> Cell:
    if source.loaded is None:
        return phrase("memo.inputs_unread")
    return phrase("note.quantile", quantile=share(source.loaded.scenario.policy.performance_quantile))


def _run(run: WorkloadPlan, source: Source) -> tuple[Cell, ...]:
    last = latest(run, source)
    float_days = None if last is None else (last - run.end).days
    band = run.band
    return (
        name(run.name),
        day(run.start),
        day(run.end),
        day(_end_after(run, band.p50_days)) if band and band.p50_days else term("word.stated"),
        day(_end_after(run, band.p80_days)) if band and band.p80_days else term("word.stated"),
        term("word.no_limit") if last is None else day(last),
        term("word.no_limit") if float_days is None else count(float_days),
    )


def _end_after(run: WorkloadPlan, days: Decimal) -> dt.date:
    """Return the last day of a run that takes so many days: whole days are used up."""
    return run.start + dt.timedelta(days=ceil(days)) - _ONE_DAY


def latest(run: WorkloadPlan, source: Source) -> dt.date | None:
    """Return the last day a run may use: the end planned plus the slack of its deadline; None without a deadline."""
    slack = next(
        (each.slack for each in source.plan.limits if each.name == "deadline" and each.period == run.name), None
    )
    return None if slack is None else run.end + dt.timedelta(days=int(slack))


def limits(source: Source) -> Section:
    """Return what binds and what one more unit of each limit is worth."""
    binding = [limit for limit in source.plan.limits if limit.binding]
    blocks: list[Block] = []
    if binding:
        blocks.append(
            Table(
                "binding",
                "table.binding",
                _LIMIT_COLUMNS,
                tuple(_limit(limit, source.currency) for limit in binding),
                note=phrase("note.binding"),
            )
        )
    else:
        tried = any(limit.binding is not None for limit in source.plan.limits)
        proven = "memo.none_used_up" if source.plan.status == "optimal" else "memo.binding_unknown"
        blocks.append(Text(phrase("memo.nothing_binds" if tried else proven)))
    return Section("limits", "memo.limits", (*blocks, _worth(source)))


_LIMIT_COLUMNS = (
    Column("head.limit"),
    Column("head.where"),
    Column("head.used", figure=True),
    Column("head.available", figure=True),
    Column("head.slack", figure=True),
)


def _limit(limit: LimitUse, currency: str) -> tuple[Cell, ...]:
    used, available = (measured(value, limit.unit, currency) for value in (limit.used, limit.available))
    slack = measured(limit.slack, "days" if limit.name == "deadline" else limit.unit, currency)
    return (term(f"limit.{limit.name}"), sentence(limit.period or ""), used, available, slack)


def _worth(source: Source) -> Block:
    """Return the worth of one more unit of each limit, found by solving again with each step."""
    known = [item for each in source.analyses.explain for item in each.worth]
    if not known:
        return Absent("absent.worth", source.command("explain", "--worth"))
    columns = (Column("head.limit"), Column("head.step"), Column("head.worth", figure=True))
    rows = tuple(
        (
            term(f"limit.{item.limit}"),
            sentence(item.step, item.amounts),
            measured(item.worth, item.unit, source.currency),
        )
        for item in known
    )
    return Table("worth", "table.worth", columns, rows, note=phrase("note.worth"))


def all_limits(source: Source) -> Table:
    """Return every limit with what the plan uses of it."""
    columns = (*_LIMIT_COLUMNS, Column("head.binds"))
    words = {True: "word.yes", False: "word.no", None: "word.not_computed"}
    rows = tuple((*_limit(limit, source.currency), term(words[limit.binding])) for limit in source.plan.limits)
    return Table("limits", "table.limits", columns, rows)


def calendar(source: Source) -> Bars:
    """Return deliveries, acceptance, runs and deadlines on one axis of days."""
    plan = source.plan
    bars = [
        Bar(
            phrase(
                "chart.delivery_of", units=count(lot_units), platform=name(award.platform), vendor=name(award.vendor)
            ),
            _award_spans(award.order_date, delivered, source.setup_days(award), award.contract_end),
        )
        for award in plan.awards
        for lot_units, delivered in (
            [(lot.units, lot.delivery_date) for lot in award.lots] or [(award.units, award.delivery_date)]
        )
    ]
    bars += [bar for run in plan.workloads.values() for bar in _run_bars(run, source)]
    today = plan.provenance.today
    start = Span("span.today", day(today), day(today), day(today))
    return Bars("calendar", "chart.calendar", "axis.date", tuple(bars), (start,), from_zero=False)


def _run_bars(run: WorkloadPlan, source: Source) -> Iterator[Bar]:
    """Yield a run as planned, with its deadline, and the days between which 8 of 10 such runs end."""
    yield Bar(
        phrase("chart.run_of", run=name(run.name)), (_days("span.run", run.start, run.end),), _deadline(run, source)
    )
    if run.band is not None:
        ends = (_end_after(run, run.band.low_days), _end_after(run, run.band.high_days))
        yield Bar(phrase("chart.band_of", run=name(run.name)), (_days("span.band", *ends),))


def _days(series: str, first: dt.date, last: dt.date) -> Span:
    """Return a span over whole days, the last one included."""
    return Span(series, day(first), day(last + _ONE_DAY), phrase("span.from_to", first=day(first), last=day(last)))


def _award_spans(ordered: dt.date, delivered: dt.date, setup_days: int, end: dt.date | None) -> tuple[Span, ...]:
    ready = delivered + dt.timedelta(days=setup_days)
    waiting = Span(
        "span.lead", day(ordered), day(delivered), phrase("span.from_to", first=day(ordered), last=day(delivered))
    )
    accepting = Span("span.acceptance", day(delivered), day(ready), phrase("span.ready_on", ready=day(ready)))
    rented = () if end is None else (_days("span.contract", ready, end),)
    return (waiting, *((accepting,) if setup_days else ()), *rented)


def _deadline(run: WorkloadPlan, source: Source) -> tuple[Span, ...]:
    last = latest(run, source)
    return () if last is None else (Span("span.latest", day(last + _ONE_DAY), day(last + _ONE_DAY), day(last)),)
