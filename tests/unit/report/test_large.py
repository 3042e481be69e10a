"""A plan of many awards: every document stays small, and a plan of an older version is told what it lacks."""

from __future__ import annotations

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
COPIES = 34


def many() -> Source:
    """Return the committee's plan with each award and its lines 34 times: 204 awards."""
    source = committee()
    plan, cost = source.plan, source.plan.cost
    assert cost is not None
    size = len(plan.awards)
    own = [line for line in cost.lines if line.award is not None]
    lines = [
        line.model_copy(update={"award": (line.award or 0) + copy * size}) for copy in range(COPIES) for line in own
    ]
    shared = [line for line in cost.lines if line.award is None]
    big = cost.model_copy(update={"lines": (*lines, *shared)})
    return replace(source, plan=plan.model_copy(update={"awards": plan.awards * COPIES, "cost": big}))


def test_two_hundred_awards_are_small_documents() -> None:
    report = report_of(many(), Language())
    assert len(report.source.plan.awards) == 204
    sizes = {
        "html": len(page(report.document, report.language).encode()),
        "xlsx": len(workbook(report)),
        "md": len(markdown(report.document, report.language).encode()),
        "orders": len(orders_csv(report).encode()),
        "payments": len(payments_csv(report).encode()),
    }
    assert {name: size for name, size in sizes.items() if size > MEGABYTES} == {}
    assert orders_csv(report).count("\r\n") == 1 + 10 * COPIES


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
