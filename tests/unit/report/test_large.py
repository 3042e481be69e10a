"""A plan of many awards: every document stays small, and a plan of an older version is told what it lacks."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from committee import committee

from optimizer.errors import InputError
from optimizer.report.html import page
from optimizer.report.language import Language
from optimizer.report.markdown import markdown
from optimizer.report.orders import orders_csv, payments_csv
from optimizer.report.source import Source
from optimizer.report.views import report_of
from optimizer.report.workbook import workbook

MEGABYTES = 3_000_000
CLEARLY_BELOW = 2_300_000
"""What the HTML page may take: names and terms of real quotes are longer than those of the copies."""

SECONDS = 3
COPIES = 34


def many() -> Source:
    """Return the committee's plan with each award, its quote and its lines 34 times: 204 awards from as many quotes."""
    source = committee()
    plan, cost, loaded = source.plan, source.plan.cost, source.loaded
    assert cost is not None
    assert loaded is not None
    size = len(plan.awards)
    own = [line for line in cost.lines if line.award is not None]
    lines = [
        line.model_copy(update={"award": (line.award or 0) + copy * size}) for copy in range(COPIES) for line in own
    ]
    shared = [line for line in cost.lines if line.award is None]
    big = cost.model_copy(update={"lines": (*lines, *shared)})
    names = [(copy * size + at, award) for copy in range(COPIES) for at, award in enumerate(plan.awards)]
    awards = tuple(award.model_copy(update={"quote": f"{award.quote}-{at}"}) for at, award in names)
    quotes = {f"{each.quote}-{at}": loaded.quotes[each.quote] for at, each in names}
    quotes = {name: quote.model_copy(update={"quote": name}) for name, quote in quotes.items()}
    documents = {f"{each.quote}-{at}": loaded.quote_documents[each.quote] for at, each in names}
    return replace(
        source,
        plan=plan.model_copy(update={"awards": awards, "cost": big}),
        loaded=replace(loaded, quotes=quotes, quote_documents=documents),
    )


def test_two_hundred_awards_of_two_hundred_quotes_are_small_documents() -> None:
    source = many()
    assert len(source.plan.awards) == len({award.quote for award in source.plan.awards}) == 204
    started = time.process_time()
    report = report_of(source, Language())
    html = page(report.document, report.language)
    assert time.process_time() - started <= SECONDS
    assert all(f"{award.quote} / {award.offer}" in html for award in source.plan.awards)
    sizes = {
        "html": len(html.encode()),
        "xlsx": len(workbook(report)),
        "md": len(markdown(report.document, report.language).encode()),
        "orders": len(orders_csv(report).encode()),
        "payments": len(payments_csv(report).encode()),
    }
    assert {name: size for name, size in sizes.items() if size > MEGABYTES} == {}
    assert sizes["html"] < CLEARLY_BELOW
    assert orders_csv(report).count("\r\n") == 1 + 17 * COPIES


def test_a_plan_without_days_of_payment_cannot_become_a_workbook() -> None:
    source = committee()
    cost = source.plan.cost
    assert cost is not None
    lines = tuple(line.model_copy(update={"schedule": None}) for line in cost.lines)
    old = cost.model_copy(update={"lines": lines, "schedules": ()})
    older = replace(source, plan=source.plan.model_copy(update={"cost": old}))
    with pytest.raises(InputError, match="Solve the scenario again"):
        workbook(report_of(older, Language()))
    assert "7," in markdown(report_of(older, Language()).document, Language())
