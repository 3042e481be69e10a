"""Why there is no plan, and the smallest changes that give one."""

from __future__ import annotations

import shlex
from collections import defaultdict

from optimizer.report.document import (
    Block,
    Cell,
    Column,
    Section,
    Table,
    Text,
    code,
    count,
    name,
    number,
    phrase,
    sentence,
    term,
)
from optimizer.report.source import Source
from optimizer.results import Conflict, ConflictLimit, Figure, Relaxation


def conflict(source: Source) -> Section:
    """Return the limits that cannot hold together; of several groups each leaves no plan by itself."""
    found = source.plan.conflict
    if found is None or not found.limits:
        return Section("conflict", "memo.conflict", (Text(phrase("memo.no_conflict")),))
    heads = (
        Column("head.limit"),
        Column("head.needed", figure=True),
        Column("head.available", figure=True),
        Column("head.where"),
        Column("head.why"),
    )
    proof = phrase("memo.minimal" if found.minimal else "memo.not_minimal")
    groups: dict[int, list[ConflictLimit]] = defaultdict(list)
    for limit in found.limits:
        groups[limit.group].append(limit)
    tables = tuple(
        Table("conflict" if at == 1 else f"conflict-{at}", "table.conflict", heads, tuple(map(_limit, own)), note=proof)
        for at, own in enumerate(groups.values(), 1)
    )
    several = (Text(phrase("memo.groups", groups=count(len(groups)))),) if len(groups) > 1 else ()
    return Section("conflict", "memo.conflict", (*several, *tables))


def _limit(limit: ConflictLimit) -> tuple[Cell, ...]:
    figures = (_figure(value, limit.unit) for value in (limit.needed, limit.available))
    why = sentence(limit.reason) if limit.reason else term("word.none")
    return (term(f"limit.{limit.name}"), *figures, sentence(limit.period or ""), why)


def cures(source: Source) -> Section:
    """Return the smallest change of each limit that gives a plan alone, and the smallest joint change."""
    found = source.plan.conflict
    if found is None or not (found.relaxations or found.joint):
        explain = phrase("memo.no_cure", command=code(source.command("explain")))
        return Section("cures", "memo.cures", (Text(explain),))
    return Section("cures", "memo.cures", tuple(_tables(found, source.currency)))


def _tables(found: Conflict, currency: str) -> list[Block]:
    tables: list[Block] = []
    alone, together = (tuple(_change(each, currency) for each in own) for own in (found.relaxations, found.joint))
    if found.relaxations:
        tables.append(Table("relaxations", "table.relaxations", _HEADS, alone))
    if found.joint and not found.relaxations:
        tables.append(Table("joint", "table.joint", _HEADS, together))
    return tables


_HEADS = (
    Column("head.limit"),
    Column("head.from", figure=True),
    Column("head.to", figure=True),
    Column("head.set"),
    Column("head.verified"),
)


def _change(change: Relaxation, currency: str) -> tuple[Cell, ...]:
    command = code(f"--set {shlex.quote(change.set)}")
    return (
        term(f"limit.{change.limit}"),
        _figure(change.from_, change.unit),
        _figure(change.to, change.unit),
        phrase("memo.option_in", option=command, currency=name(currency)) if change.unit == currency else command,
        term("word.yes" if change.verified else "word.no"),
    )


def _figure(value: Figure, unit: str) -> Cell:
    return sentence(value) if isinstance(value, str) else number(value, unit)
