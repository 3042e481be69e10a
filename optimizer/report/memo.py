"""The document of a plan: the decision memo a committee signs, then everything it rests on."""

from __future__ import annotations

from optimizer.report.document import Cell, Document, Section, Text, count, day, name, names, phrase
from optimizer.report.sections import analyses, conflict, doubts, hardware, money, options, signing, timing
from optimizer.report.sections import records as records_of
from optimizer.report.source import Source


def document(source: Source) -> Document:
    """Return the memo and the details of a plan; an infeasible one gets its conflict and cures instead of a decision."""
    plan = source.plan
    return Document(
        name=name(plan.scenario),
        today=day(plan.provenance.today),
        currency=source.currency or None,
        status=plan.status,
        warnings=_warnings(source),
        memo=_memo(source),
        details=_details(source),
    )


def _memo(source: Source) -> tuple[Section, ...]:
    """Return the sections in the order in which they are read: decision, money, time, doubts, conditions, signatures."""
    if source.plan.cost is None:
        parts = (signing.answer(source), conflict.conflict(source), conflict.cures(source), options.losers(source))
        return (*parts, doubts.signatures(source))
    return (
        signing.signing(source),
        signing.answer(source),
        options.options(source),
        money.cash(source),
        timing.finish(source),
        money.after_run(source),
        timing.limits(source),
        doubts.facts(source),
        options.losers(source),
        doubts.evidence(source),
        doubts.conditions(source),
        doubts.signatures(source),
    )


def _details(source: Source) -> tuple[Section, ...]:
    """Return what the memo rests on; sections about an answer are left out when there is none."""
    records = (records_of.assumptions(source), records_of.understood(source), records_of.provenance(source))
    refused = Section("rejections", "part.rejections", (options.rejections(source),))
    if source.plan.cost is None:
        return (refused, *records)
    calendar = Section("calendar", "part.calendar", (timing.calendar(source),))
    answered = (
        records_of.deliveries(source), hardware.layouts(source), money.build_up(source), hardware.sites(source), calendar,
        analyses.platforms(source), refused, analyses.alternatives(source), analyses.pareto(source),
        analyses.tornado(source), analyses.breakeven(source), analyses.risk(source),
    )  # fmt: skip
    return (*answered, *records)


def _warnings(source: Source) -> tuple[Text, ...]:
    """Return what may void the report: inputs that changed since, or that this version cannot read."""
    lines: list[Cell] = []
    if source.unread:
        lines.append(phrase("page.unread", why=name(source.unread)))
    if source.changed:
        lines.append(phrase("page.changed", files=names(source.changed)))
    if source.missing:
        lines.append(phrase("page.missing", count=count(len(source.missing)), files=names(source.missing)))
    return tuple(Text(line, "warning") for line in lines)
