"""What the documents of every shipped scenario must show."""

from __future__ import annotations

import csv
from collections import defaultdict
from decimal import Decimal
from io import StringIO
from pathlib import Path

from foreign import foreign

from optimizer.io.json_text import plan_json
from optimizer.report.language import Language
from optimizer.report.orders import orders_csv, payments_csv
from optimizer.report.source import Source, read_source
from optimizer.report.views import report_of
from optimizer.results import Plan
from optimizer.units import round_money

Sums = dict[tuple[str, str], Decimal]


def written(plan: Plan, folder: Path) -> Source:
    """Return a plan as a report reads it from its file."""
    file = folder / f"{plan.scenario}.json"
    file.write_text(plan_json(plan), encoding="utf-8")
    return read_source(file)


def _sums(text: str, column: str) -> Sums:
    sums: Sums = defaultdict(Decimal)
    for row in csv.DictReader(StringIO(text.removeprefix("\ufeff"))):
        sums[row["quote"], row["offer"]] += Decimal(row[column])
    return dict(sums)


def orders_add_up(source: Source, currency: str | None = None, rate: Decimal = Decimal(1)) -> None:
    """Assert that the rows of each award add up to its cost to the minor unit, in orders and in payments."""
    report, awards = report_of(source, Language(), currency), source.plan.awards
    shown, owed = currency or source.currency, defaultdict(Decimal)
    for award in awards:
        owed[award.quote, award.offer] += round_money(award.cost * rate, shown)
    assert awards
    assert _sums(orders_csv(report), "cost") == _sums(payments_csv(report), "amount") == owed
    rows = list(csv.DictReader(StringIO(orders_csv(report).removeprefix("\ufeff"))))
    assert all(row["amount"] and row["commitment"] in ("committed", "expected use") for row in rows)
    by_use = {(row["quote"], row["offer"]) for row in rows if row["commitment"] == "expected use"}
    assert {(award.quote, award.offer) for award in awards if award.type == "on_demand"} <= by_use


def converts(source: Source, currency: str, rate: Decimal) -> None:
    """Assert that nothing is left in the currency of the plan, and that converted orders add up."""
    for code in ("en", "zh"):
        assert foreign(report_of(source, Language(code), currency), {source.currency}) == []
    orders_add_up(source, currency, rate)
