"""What would change the answer, what rests on little evidence, and on which conditions it is signed."""

from __future__ import annotations

from collections.abc import Iterable

from optimizer.analysis.breakeven import Breakeven
from optimizer.analysis.tornado import Sensitivity
from optimizer.report.document import (
    Absent,
    Block,
    Cell,
    Column,
    Facts,
    Section,
    Table,
    Text,
    code,
    count,
    headline,
    measured,
    name,
    number,
    phrase,
    price,
    sentence,
    several,
    share,
    term,
)
from optimizer.report.sections.money import decided
from optimizer.report.sections.signing import valid_until
from optimizer.report.source import Source
from optimizer.results import Award, WorkloadPlan
from optimizer.schema.base import EvidenceLevel
from optimizer.schema.quote import Milestone, Quote

_FACTS = 3
_FIRM = ("binding", "contract")


def facts(source: Source) -> Section:
    """Return three facts that would change the answer, each with the value at which it changes."""
    kept = source.analyses
    flips = list(_flips(kept.sensitivity)) if kept.sensitivity else []
    switches = [line for each in kept.breakeven for line in _switches(each)]
    rows = (*flips, *switches)[:_FACTS]
    blocks: list[Block] = []
    if rows:
        heads = ("head.fact", "head.value_now", "head.value_at", "head.then")
        blocks.append(Table("flips", "table.flips", tuple(Column(head) for head in heads), tuple(rows)))
    elif kept.sensitivity:
        blocks.append(Text(phrase("memo.nothing_flips", inputs=count(len(kept.sensitivity.rows)))))
    if kept.sensitivity is None:
        blocks.append(Absent("absent.sensitivity", source.command("sensitivity")))
    return Section("facts", "memo.facts", tuple(blocks))


def _flips(tornado: Sensitivity) -> Iterable[tuple[Cell, ...]]:
    """Yield the inputs at whose value the decision changes, the strongest first, the nearest change of each."""
    for row in tornado.rows:
        other = next((each for each in row.options if each.decision != tornado.base_decision), None)
        if row.flips:
            flip = row.flips[0]
            to = decided(flip.to.platform, flip.to.vendors)
            yield (sentence(row.input), measured(row.value, row.unit), measured(flip.value, row.unit), to)
        elif other is not None:
            to = decided(other.decision.platform, other.decision.vendors)
            yield (sentence(row.input), term("word.as_stated"), term(f"after_run.{other.value}"), to)


def _switches(found: Breakeven) -> Iterable[tuple[Cell, ...]]:
    """Yield the price switches of one subject, the nearest to today first."""
    subject = found.quote or found.platform or found.input or ""
    for switch in sorted(found.switches, key=lambda each: abs(each.factor - 1)):
        to = decided(switch.to.platform, switch.to.vendors)
        prices = (price(found.price, found.currency), price(switch.price, found.currency))
        yield (phrase("memo.price_of", subject=name(subject)), *prices, to)


def evidence(source: Source) -> Section:
    """Return the evidence behind each run, what a pilot is worth, and quotes that are not firm or end soon."""
    runs = tuple(_evidence(run) for run in source.plan.workloads.values())
    heads = (
        Column("head.run"),
        Column("head.platform"),
        Column("head.evidence"),
        Column("head.band"),
        Column("head.gap"),
    )
    blocks: list[Block] = [Table("evidence", "table.evidence", heads, runs)] if runs else []
    blocks += [_information(source), *_quotes(source)]
    return Section("evidence", "memo.evidence", tuple(blocks))


def _evidence(run: WorkloadPlan) -> tuple[Cell, ...]:
    proven = EvidenceLevel(run.evidence).rank >= EvidenceLevel.PILOT_SINGLE_NODE.rank
    band = run.band
    days = phrase("memo.band", low=number(band.low_days), high=number(band.high_days)) if band else term("word.stated")
    gap = phrase("memo.measured") if proven else phrase("memo.pilot_gap", accelerators=count(run.accelerators))
    return (name(run.name), name(run.platform), term(f"evidence.{run.evidence}"), days, gap)


def _information(source: Source) -> Block:
    """Return what it is worth to know an input before signing, from the risk analysis."""
    risk = source.analyses.risk
    if risk is None:
        return Absent("absent.risk", source.command("risk"))
    known = [item for item in risk.information if item.value]
    if not known:
        return Text(phrase("memo.no_information", samples=count(risk.samples)))
    heads = (Column("head.about"), Column("head.worth", figure=True), Column("head.costs", figure=True))
    rows = tuple(
        (sentence(item.about), headline(item.value, item.currency),
         term("word.not_stated") if item.cost is None else headline(item.cost, item.currency))
        for item in known
    )  # fmt: skip
    return Table("information", "table.information", heads, rows)


def _quotes(source: Source) -> Iterable[Block]:
    """Yield how firm each quote of the plan is, and how long it holds."""
    if source.loaded is None:
        yield Text(phrase("memo.inputs_unread"), "warning")
        return
    used = {award.quote: award for award in source.plan.awards}
    heads = ("head.quote", "head.vendor", "head.firmness", "head.valid_until", "head.validity")
    known = source.loaded.quotes
    rows = tuple(_firmness(award, known[award.quote]) for award in used.values() if award.quote in known)
    if rows:
        yield Table("quotes-used", "table.quotes_used", tuple(Column(head) for head in heads), rows)


def _firmness(award: Award, quote: Quote) -> tuple[Cell, ...]:
    firm = quote.kind in _FIRM
    left = None if quote.valid_until is None else (quote.valid_until - award.order_date).days
    spare = phrase("memo.validity_unknown") if left is None else phrase("memo.validity_left", days=count(left))
    todo = spare if firm else several((spare, phrase("memo.make_firm")), "sentence")
    return (name(quote.quote), name(quote.vendor), term(f"kind.{quote.kind}"), valid_until(quote), todo)


def conditions(source: Source) -> Section:
    """Return what is signed with: payment, delivery, acceptance, remedy for delay, as the quotes state them."""
    if source.loaded is None:
        return Section("conditions", "memo.conditions", (Text(phrase("memo.inputs_unread"), "warning"),))
    heads = ("head.vendor", "head.quote", "head.payment", "head.delivery_terms", "head.acceptance", "head.remedy")
    rows = tuple(_condition(award, source) for award in source.plan.awards)
    if not rows:
        return Section("conditions", "memo.conditions", (Text(phrase("memo.sign_none_needed")),))
    table = Table(
        "conditions", "table.conditions", tuple(Column(head) for head in heads), rows, note=phrase("note.conditions")
    )
    return Section("conditions", "memo.conditions", (table,))


def _condition(award: Award, source: Source) -> tuple[Cell, ...]:
    quote, offer = source.quote(award), source.offer(award)
    asked = term("word.ask")
    if quote is None or offer is None:
        return (name(award.vendor), name(award.quote), asked, asked, asked, asked)
    accepted = phrase("memo.acceptance_days", days=count(offer.acceptance_days)) if offer.acceptance_days else asked
    terms = {key: name(text) for key, text in quote.terms.items()}
    return (
        name(award.vendor),
        name(f"{award.quote} / {award.offer}"),
        several(map(_milestone, quote.payment)) if award.type == "purchase" else phrase(f"pays.{award.type}"),
        name(quote.delivery) if quote.delivery else asked,
        several((accepted, terms["acceptance"]), "sentence") if "acceptance" in terms else accepted,
        terms.get("penalty", asked),
    )


def _milestone(milestone: Milestone) -> Cell:
    part = {"share": share(milestone.share), "at": term(f"milestone.{milestone.at}")}
    if milestone.plus_months:
        return phrase("memo.milestone_months", months=count(milestone.plus_months), **part)
    if milestone.plus_days:
        return phrase("memo.milestone_days", days=count(milestone.plus_days), **part)
    return phrase("memo.milestone", **part)


_SHORT = 12
"""Digits of a checksum that tell files apart at a glance; all digits stand among the details."""


def signatures(source: Source) -> Section:
    """Return the checksums of what was decided on, and the lines to sign when there is something to sign."""
    inputs = source.plan.provenance.inputs
    used = {document.name for award in source.plan.awards if (document := source.quote_document(award))}
    shown = [file for at, file in enumerate(inputs) if at == 0 or file.path in used]
    rows = tuple(
        ("memo.input", phrase("memo.checksum", file=name(file.path), sha256=code(file.sha256[:_SHORT])))
        for file in shown
    )
    rest = ("memo.inputs_all", phrase("memo.inputs_count", files=count(len(inputs))))
    hashes = Facts((*rows, rest))
    if source.plan.cost is None:
        return Section("signatures", "memo.inputs_of", (hashes,))
    lines = tuple((f"signature.{role}", term("signature.line")) for role in ("procurement", "engineering", "finance"))
    return Section("signatures", "memo.signatures", (hashes, Facts(lines)))
