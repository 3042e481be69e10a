"""What to sign, the answer in one sentence, and what else was possible."""

from __future__ import annotations

from decimal import Decimal

from optimizer.report.document import (
    BLANK,
    Block,
    Cell,
    Column,
    Facts,
    Section,
    Table,
    Text,
    capacity,
    count,
    day,
    factor,
    headline,
    money,
    name,
    number,
    phrase,
    price,
    quoted,
    sentence,
    several,
    share,
    term,
)
from optimizer.report.exact import quoted_prices
from optimizer.report.sections.timing import latest
from optimizer.report.source import Source
from optimizer.results import Award, Cost, Plan
from optimizer.schema.quote import Quote

_EACH = {
    "lease": "each.month",
    "reserved": "each.hour",
    "block": "each.hour",
    "on_demand": "each.hour",
    "dedicated": "each.run",
}
SPELLED_OUT = 3
"""Awards that are named in the lead sentence; more are counted there and listed below."""


def signing(source: Source) -> Section:
    """Return what to sign: one sentence per award, or one for many, then the table."""
    awards = source.plan.awards
    leads: list[Block] = [Text(line, "lead") for line in _leads(source)]
    return Section("sign", "memo.sign", (*leads, *([_awards(source)] if awards else [])))


def _leads(source: Source) -> list[Cell]:
    plan = source.plan
    if plan.cost is None:
        return [phrase("memo.sign_nothing")]
    if not plan.awards:
        return [phrase("memo.sign_none_needed")]
    if len(plan.awards) <= SPELLED_OUT:
        return [_lead(award, plan.cost.currency) for award in plan.awards]
    total = sum((award.cost for award in plan.awards), Decimal(0))
    vendors = len({award.vendor for award in plan.awards})
    by = day(min(award.order_date for award in plan.awards))
    amount = headline(total, plan.cost.currency)
    return [phrase("memo.sign_many", awards=count(len(plan.awards)), vendors=count(vendors), amount=amount, by=by)]


def _lead(award: Award, currency: str) -> Cell:
    return phrase(
        "memo.sign_one",
        units=count(award.units),
        platform=name(award.platform),
        type=term(f"offer.{award.type}"),
        vendor=name(award.vendor),
        quote=name(award.quote),
        amount=headline(award.cost, currency),
        by=day(award.order_date),
    )


def _awards(source: Source) -> Table:
    currency = source.currency
    columns = (
        Column("head.vendor"),
        Column("head.quote"),
        Column("head.offer_type"),
        Column("head.units", figure=True),
        Column("head.platform"),
        Column("head.unit_price", figure=True),
        Column("head.amount", figure=True, unit=currency),
        Column("head.order_by"),
        Column("head.valid_until"),
        Column("head.delivery"),
    )
    rows = tuple(_award_row(award, at, source) for at, award in enumerate(source.plan.awards))
    total = money(sum((award.cost for award in source.plan.awards), Decimal(0)), currency)
    foot: tuple[Cell, ...] = (term("word.total"), *[BLANK] * 5, total, *[BLANK] * 3)
    return Table("awards", "table.awards", columns, rows, foot if len(rows) > 1 else (), phrase("note.award_amount"))


def _unit_price(award: Award, position: int, cost: Cost | None) -> Cell:
    """Return the price of a unit as the plan counts it, with what the quote states where that is something else."""
    stated, words = quoted_prices(cost, position) if cost else (), _EACH.get(award.type, "each.unit")
    if {(each.value, each.unit.partition(" per ")[0]) for each in stated} <= {(award.unit_price, award.currency)}:
        return phrase(words, price=quoted(award.unit_price, award.currency))
    counted = phrase(words, price=price(award.unit_price, award.currency))
    return phrase("view.quoted", price=counted, quoted=several(factor(each.value, each.unit) for each in stated))


def _award_row(award: Award, position: int, source: Source) -> tuple[Cell, ...]:
    quote = source.quote(award)
    each = _unit_price(award, position, source.plan.cost)
    return (
        name(award.vendor),
        name(f"{award.quote} / {award.offer}"),
        term(f"offer.{award.type}"),
        count(award.units),
        name(award.platform),
        each,
        money(award.cost, source.currency),
        day(award.order_date),
        valid_until(quote),
        delivery(award),
    )


def valid_until(quote: Quote | None) -> Cell:
    """Return the last valid day of a quote; unknown is said, never left blank."""
    if quote is None or quote.valid_until is None:
        return term("word.not_stated")
    return day(quote.valid_until)


def delivery(award: Award) -> Cell:
    """Return the day an award arrives; with lots, how many arrive until when."""
    if len(award.lots) > 1:
        first, last = award.lots[0].delivery_date, award.lots[-1].delivery_date
        return phrase("memo.in_lots", lots=count(len(award.lots)), first=day(first), last=day(last))
    return day(award.delivery_date)


def answer(source: Source) -> Section:
    """Return the answer in one sentence with its proof, and how exact its total is."""
    plan = source.plan
    blocks: list[Block] = [Text(_answer(plan), "lead"), Text(_proof(plan)), *_tiles(source)]
    blocks += [Text(line) for line in _exactness(plan)]
    return Section("answer", "memo.answer", tuple(blocks))


def _tiles(source: Source) -> list[Block]:
    """Return the figures to see first."""
    plan = source.plan
    if plan.cost is None:
        return []
    currency, runs = plan.cost.currency, list(plan.workloads.values())
    signed = sum((award.cost for award in plan.awards), Decimal(0))
    rows: list[tuple[str, Cell]] = [
        ("tile.sign", headline(signed, currency)),
        ("tile.total", headline(plan.cost.total, currency)),
        ("tile.npv", headline(plan.cost.npv, currency)),
    ]
    if runs:
        last = max(runs, key=lambda run: run.end)
        rows.append(("tile.finish", day(last.end)))
    floats = [(end - run.end).days for run in runs if (end := latest(run, source)) is not None]
    if floats:
        rows.append(("tile.float", phrase("word.days", days=count(min(floats)))))
    return [Facts(tuple(rows), tiles=True)]


def _answer(plan: Plan) -> Cell:
    if plan.cost is None:
        return phrase(f"answer.{plan.status}")
    runs = list(plan.workloads.values())
    last = max((run.end for run in runs), default=None)
    return phrase(
        f"answer.{plan.objective.kind}" if plan.status == "optimal" else "answer.found",
        total=headline(plan.cost.total, plan.cost.currency),
        npv=headline(plan.cost.npv, plan.cost.currency),
        value=capacity(plan.objective.value, plan.objective.unit),
        runs=term("word.run_one") if len(runs) == 1 else phrase("word.runs", runs=count(len(runs))),
        accelerators=count(sum(award.accelerators for award in plan.awards)),
        finish=day(last),
    )


def _proof(plan: Plan) -> Cell:
    objective = plan.objective
    better = None
    if objective.value is not None and objective.bound is not None:
        better = abs(objective.value - objective.bound)
    in_money = objective.currency is not None and objective.kind == "cost"
    possible = headline(better, objective.currency or "") if in_money else capacity(better, objective.unit)
    seconds = number(round(plan.solve.wall_s, 1), "s")
    if plan.status == "infeasible":
        return phrase("proof.infeasible", seconds=seconds, proof=sentence(plan.solve.proof))
    return phrase(
        f"proof.{plan.status}", seconds=seconds, solver=name(plan.solve.solver), better=possible,
        gap=share(objective.gap),
    )  # fmt: skip


def _exactness(plan: Plan) -> list[Cell]:
    """Say of each run that a total exact to the cent stands beside a duration that is a range."""
    return [
        phrase(
            "memo.exactness",
            run=name(run.name),
            days=count(run.days),
            low=number(run.band.low_days.quantize(Decimal(1))),
            high=number(run.band.high_days.quantize(Decimal(1))),
            faster=share(run.band.low_days / run.days - 1),
            slower=share(run.band.high_days / run.days - 1),
        )
        for run in plan.workloads.values()
        if run.band is not None and plan.cost is not None
    ]
