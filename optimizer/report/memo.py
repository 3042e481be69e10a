"""The document of a plan: the decision memo a committee signs, then everything it rests on."""

from __future__ import annotations

from optimizer.report.document import Document, Section, Text, day, name, phrase
from optimizer.report.sections import conflict, doubts, money, options, signing, timing
from optimizer.report.source import Source


def document(source: Source) -> Document:
    """Return the memo and the details of a plan; an infeasible one gets its conflict and cures instead of a decision."""
    plan = source.plan
    return Document(
        name=name(plan.scenario),
        today=day(plan.provenance.today),
        currency=source.currency or None,
        status=plan.status,
        memo=_memo(source),
        details=(),
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


def warnings(source: Source) -> tuple[Text, ...]:
    """Return what may void the report: inputs that changed since, or that this version cannot read."""
    changed = (Text(phrase("page.changed", file=name(file)), "warning") for file in source.changed)
    unread = (Text(phrase("page.unread", why=name(source.unread)), "warning"),) if source.unread else ()
    return (*unread, *changed)
