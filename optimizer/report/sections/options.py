"""The plan beside what else was possible: runner-up, renting, doing nothing; and why each loser lost."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal

from optimizer.report.document import (
    Absent,
    Block,
    Cell,
    Column,
    Section,
    Table,
    Text,
    capacity,
    count,
    day,
    money,
    name,
    names,
    phrase,
    sentence,
    several,
    term,
)
from optimizer.report.sections.signing import SPELLED_OUT
from optimizer.report.source import Source
from optimizer.results import Baseline, CompareRow, Comparison, Plan, Rejection

_FIGURES = ("head.total", "head.npv", "head.npv_more")


def options(source: Source) -> Section:
    """Return recommendation, runner-up, rental baseline and doing nothing side by side."""
    plan = source.plan
    if plan.cost is None:
        return Section("options", "memo.options", (Text(phrase("memo.no_cost")),))
    currency = plan.cost.currency
    columns = (
        Column("head.option"),
        Column("head.what"),
        *(Column(head, figure=True, unit=currency) for head in _FIGURES),
        Column("head.finish"),
        *([] if plan.objective.kind == "cost" else [Column("head.worse", figure=True)]),
    )
    rows = (_recommended(plan), *_runner_up(source), *(_obvious(each, plan) for each in source.analyses.baselines))
    rows = tuple(row[: len(columns)] for row in rows)
    return Section("options", "memo.options", (Table("options", "table.options", columns, rows), *_missing(source)))


def _recommended(plan: Plan) -> tuple[Cell, ...]:
    finish = max((run.end for run in plan.workloads.values()), default=None)
    best = capacity(Decimal(0), plan.objective.unit)
    return (term("option.recommended"), _taken(plan), *_figures(plan, *_cost(plan)), day(finish), best)


def _taken(plan: Plan) -> Cell:
    """Return what is signed: each award, or how many there are."""
    if len(plan.awards) > SPELLED_OUT:
        vendors = len({award.vendor for award in plan.awards})
        return phrase("memo.taken_many", awards=count(len(plan.awards)), vendors=count(vendors))
    return several(
        phrase("memo.taken", units=count(each.units), platform=name(each.platform), vendor=name(each.vendor))
        for each in plan.awards
    )


def _cost(plan: Plan) -> tuple[Decimal | None, Decimal | None]:
    return (plan.cost.total, plan.cost.npv) if plan.cost else (None, None)


def _figures(plan: Plan, total: Decimal | None, npv: Decimal | None) -> tuple[Cell, ...]:
    """Return total, present value and what the present value is above that of the plan."""
    own = _cost(plan)[1]
    more = None if npv is None or own is None else npv - own
    currency = plan.cost.currency if plan.cost else ""
    return (money(total, currency), money(npv, currency), money(more, currency))


def _runner_up(source: Source) -> tuple[tuple[Cell, ...], ...]:
    """Return the next best plan: of the alternatives, else the best of another platform."""
    plan, kept = source.plan, source.analyses
    if kept.alternatives is not None and len(kept.alternatives.plans) > 1:
        others = kept.alternatives.plans[1:]
        best = min(others, key=lambda each: each.npv) if plan.objective.kind == "cost" else others[0]
        what = names((best.platform, *best.awards))
        return (
            (
                term("option.runner_up"),
                what,
                *_figures(plan, best.total, best.npv),
                day(best.finish),
                term("word.none"),
            ),
        )
    row = next_platform(kept.compare, plan) if kept.compare is not None else None
    if row is None:
        return ()
    what = phrase("memo.nodes_of", nodes=count(row.nodes), platform=name(row.platform))
    return (
        (term("option.other_platform"), what, *_figures(plan, row.total, row.npv), day(row.finish), term("word.none")),
    )


def next_platform(compared: Comparison, plan: Plan) -> CompareRow | None:
    """Return the best plan on a platform that the plan does not use."""
    used = {run.platform for run in plan.workloads.values()}
    others = [row for row in compared.rows if row.platform not in used and row.npv is not None]
    return min(others, key=lambda row: row.npv or Decimal(0), default=None)


def _obvious(each: Baseline, plan: Plan) -> tuple[Cell, ...]:
    """Return an obvious alternative with its figures; one that is impossible says why and has none."""
    label = term(f"option.{each.name}")
    if each.npv is None:
        none = term("word.none")
        why = sentence(each.reason) if each.reason else term(f"status.{each.status}")
        return (label, why, none, none, none, none, none)
    what = name(each.detail) if each.detail else term(f"status.{each.status}")
    return (label, what, *_figures(plan, each.total, each.npv), day(each.finish), capacity(each.difference, each.unit))


def _missing(source: Source) -> tuple[Block, ...]:
    """Return the commands of the options that were not computed."""
    kept, absent = source.analyses, []
    if kept.alternatives is None and kept.compare is None:
        absent.append(Absent("absent.runner_up", source.command("alternatives", "--within", "5%")))
    if not source.analyses.baselines:
        again = f"{source.asked('solve')} --json {shlex.quote(source.file)}"
        absent.append(Absent("absent.obvious", again))
    return tuple(absent)


def losers(source: Source) -> Section:
    """Return why each platform that is not in the plan lost: what it costs more, or the limit that rejects it."""
    compared, plan = source.analyses.compare, source.plan
    if plan.cost is None:
        left_out = plan.conflict.left_out if plan.conflict else ()
        return Section("losers", "memo.refused", (_rejected(plan.rejections or left_out),))
    if compared is None:
        absent = Absent("absent.compare", source.command("compare"))
        return Section("losers", "memo.losers", (_rejected(plan.rejections), absent))
    columns = (
        Column("head.platform"),
        Column("head.npv_more", figure=True, unit=source.currency),
        Column("head.finish"),
        Column("head.why"),
    )
    used = {run.platform for run in plan.workloads.values()}
    others = [row for row in compared.rows if row.platform not in used]
    dearer = sorted((row for row in others if row.npv is not None), key=lambda row: row.npv or Decimal(0))
    refused = [row for row in others if row.npv is None]
    rows = (*(_dearer(row, plan) for row in dearer), *_refused(refused))
    said = _lost(dearer, refused, plan)
    return Section("losers", "memo.losers", (Text(said), Table("losers", "table.losers", columns, rows)))


def _lost(dearer: list[CompareRow], refused: list[CompareRow], plan: Plan) -> Cell:
    """Say how many platforms cost more, the nearest by how much, and how many cannot be used."""
    impossible = phrase("memo.lost_refused", refused=count(len(refused)))
    if not dearer:
        return impossible
    more = _figures(plan, dearer[0].total, dearer[0].npv)[2]
    nearest = phrase("memo.lost_dearer", dearer=count(len(dearer)), platform=name(dearer[0].platform), more=more)
    return several((nearest, impossible), "sentence")


def _dearer(row: CompareRow, plan: Plan) -> tuple[Cell, ...]:
    return (name(row.platform), _figures(plan, row.total, row.npv)[2], day(row.finish), phrase("memo.dearer"))


def _refused(rows: list[CompareRow]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row per reason, those that concern few platforms first: they name a limit one could move."""
    groups: dict[tuple[str, str], list[CompareRow]] = defaultdict(list)
    for row in rows:
        groups[(row.rejection.limit, row.rejection.reason) if row.rejection else ("", "")].append(row)
    for own in sorted(groups.values(), key=len):
        why = reason(own[0].rejection) if own[0].rejection else term("status.unknown")
        yield (names(row.platform for row in own), term("word.none"), term("word.none"), why)


def reason(rejection: Rejection) -> Cell:
    """Return the limit that rejects an option, and its reason; a reason that names the limit itself stands alone."""
    if rejection.reason.startswith(f"{rejection.limit}:"):
        return why(rejection)
    return phrase("memo.reason", limit=term(f"limit.{rejection.limit}"), why=why(rejection))


def why(rejection: Rejection) -> Cell:
    """Return the reason of a rejection."""
    return sentence(rejection.reason, rejection.amounts)


def _rejected(rejections: tuple[Rejection, ...]) -> Block:
    """Return the first rejection of each platform; the whole list stands among the details."""
    first = {item.platform or "": item for item in reversed(rejections)}
    columns = (Column("head.platform"), Column("head.quote"), Column("head.why"))
    rows = tuple(
        (name(item.platform or ""), name(item.quote or ""), reason(item))
        for item in rejections
        if first[item.platform or ""] is item
    )
    return Table("losers", "table.losers", columns, rows) if rows else Text(phrase("memo.no_rejections"))


def rejections(source: Source) -> Table:
    """Return every option that is not used with what it needs and what there is."""
    heads = ("head.platform", "head.vendor", "head.quote", "head.limit", "head.why")
    rows = tuple(
        (
            name(each.platform or ""),
            name(each.vendor or ""),
            name(each.quote or ""),
            term(f"limit.{each.limit}"),
            why(each),
        )
        for each in source.plan.rejections
    )
    return Table("rejections", "table.rejections", tuple(Column(head) for head in heads), rows, folded=True)
