"""What the numbers rest on: deliveries, assumptions, what was understood of each quote, and provenance."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal

from optimizer.io.understood import UnderstoodOffer, check_scenario
from optimizer.report.document import (
    Bar,
    Bars,
    Block,
    Cell,
    Column,
    Facts,
    Section,
    Span,
    Table,
    Text,
    code,
    count,
    day,
    money,
    name,
    phrase,
    price,
    sentence,
    term,
)
from optimizer.report.source import Source
from optimizer.results import Award


def deliveries(source: Source) -> Section:
    """Return what comes from whom and when, lot by lot."""
    awards = source.plan.awards
    if not awards:
        return Section("deliveries", "part.deliveries", (Text(phrase("memo.sign_none_needed")),))
    columns = (
        Column("head.vendor"),
        Column("head.quote"),
        Column("head.platform"),
        Column("head.place"),
        Column("head.lot"),
        Column("head.units", figure=True),
        Column("head.accelerators", figure=True),
        Column("head.delivery"),
        Column("head.ready"),
        Column("head.contract_end"),
    )
    rows = tuple(row for award in awards for row in _lots(award, source))
    return Section("deliveries", "part.deliveries", (_vendors(source), Table("lots", "table.lots", columns, rows)))


def _lots(award: Award, source: Source) -> list[tuple[Cell, ...]]:
    lots = [(lot.units, lot.delivery_date) for lot in award.lots] or [(award.units, award.delivery_date)]
    each = award.accelerators // award.units
    end = day(award.contract_end) if award.contract_end else term("word.owned")
    return [
        (
            name(award.vendor),
            name(f"{award.quote} / {award.offer}"),
            name(award.platform),
            name(award.place),
            phrase("word.of", at=count(at), all=count(len(lots))),
            count(units),
            count(units * each),
            day(delivered),
            day(source.ready(award, delivered)),
            end,
        )
        for at, (units, delivered) in enumerate(lots, 1)
    ]


def _vendors(source: Source) -> Bars:
    """Return what is signed with each vendor."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for award in source.plan.awards:
        sums[award.vendor] += award.cost
    currency = source.currency
    bars = tuple(
        Bar(
            name(vendor),
            (Span("span.signed", money(Decimal(0), currency), money(cost, currency), money(cost, currency)),),
        )
        for vendor, cost in sorted(sums.items(), key=lambda pair: -pair[1])
    )
    return Bars("vendors-chart", "chart.vendors", "axis.amount", bars)


def assumptions(source: Source) -> Section:
    """Return every value that nobody stated, with where it comes from."""
    heads = (Column("head.assumption"), Column("head.value"), Column("head.source"))
    known = source.plan.provenance.assumptions
    rows = tuple((sentence(each.name), sentence(each.value), sentence(each.source)) for each in known)
    return Section("assumptions", "part.assumptions", (Table("assumptions-table", "table.assumptions", heads, rows),))


def understood(source: Source) -> Section:
    """Return what was understood of each quote when the plan was made, and what to question."""
    if source.loaded is None:
        return Section(
            "understood", "part.understood", (Text(phrase("page.unread", why=name(source.unread)), "warning"),)
        )
    seen = check_scenario(source.loaded)
    currency = seen.understood.currency
    columns = (
        Column("head.quote"),
        Column("head.vendor"),
        Column("head.firmness"),
        Column("head.platform"),
        Column("head.offer_type"),
        Column("head.per_accelerator", figure=True),
        Column("head.available_from"),
        Column("head.most_units", figure=True),
        Column("head.valid_until"),
    )
    rows = tuple(_offer(offer, currency) for offer in seen.understood.offers)
    table = Table("understood-table", "table.understood", columns, rows, note=phrase("note.understood"))
    warned = tuple(
        (name(each.location), sentence(each.found, each.amounts), sentence(each.why, each.amounts))
        for each in seen.warnings
    )
    heads = (Column("head.where"), Column("head.found"), Column("head.why"))
    remarks: tuple[Block, ...] = (Table("remarks", "table.remarks", heads, warned, folded=True),) if warned else ()
    return Section("understood", "part.understood", (table, *remarks))


def _offer(offer: UnderstoodOffer, currency: str) -> tuple[Cell, ...]:
    per = {"hour": "each.hour", "month": "each.month", "run": "each.run"}.get(offer.per, "each.once")
    known = offer.price_per_accelerator
    return (
        name(f"{offer.quote} / {offer.offer}"),
        name(offer.vendor),
        term(f"kind.{offer.kind}"),
        name(offer.platform),
        term(f"offer.{offer.type}"),
        term("word.no_price") if known is None else phrase(per, price=price(known, currency)),
        day(offer.available) if offer.available else term("word.not_stated"),
        count(offer.units_max) if offer.units_max is not None else term("word.no_limit"),
        day(offer.valid_until) if offer.valid_until else term("word.not_stated"),
    )


def provenance(source: Source) -> Section:
    """Return what is needed to make the plan again, and whether its inputs changed since."""
    made, solved = source.plan.provenance, source.plan.solve
    rows: tuple[tuple[str, Cell], ...] = (
        ("fact.version", name(f"clusterbuy {made.version}, ortools {made.ortools}")),
        (
            "fact.solver",
            phrase("memo.solver", solver=name(solved.solver), seed=count(solved.seed), workers=count(solved.workers)),
        ),
        ("fact.proof", sentence(solved.proof)),
        (
            "fact.searched",
            phrase("memo.searched", candidates=count(solved.candidates), layouts=count(solved.layouts_evaluated)),
        ),
        ("fact.verify", code(source.verify_command)),
    )
    heads = (Column("head.file"), Column("head.since"), Column("head.sha256"))
    since = {**dict.fromkeys(source.changed, "word.changed"), **dict.fromkeys(source.missing, "word.not_found")}
    files = tuple((name(f.path), term(since.get(f.path, "word.unchanged")), code(f.sha256)) for f in made.inputs)
    return Section("provenance", "part.provenance", (Facts(rows), Table("inputs", "table.inputs", heads, files)))
