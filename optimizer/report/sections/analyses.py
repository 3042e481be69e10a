"""What the analyses found, when they were run for this plan; otherwise the command that runs them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from optimizer.analysis.alternatives import Alternative
from optimizer.analysis.breakeven import Breakeven
from optimizer.analysis.pareto import Pareto
from optimizer.analysis.risk import Risk, RiskPlan
from optimizer.analysis.tornado import Sensitivity, SensitivityRow
from optimizer.report.document import (
    Absent,
    Bar,
    Bars,
    Block,
    Cell,
    Column,
    Curves,
    Section,
    Series,
    Span,
    Table,
    Text,
    Value,
    cited,
    count,
    day,
    measured,
    money,
    name,
    names,
    phrase,
    price,
    sentence,
    several,
    share,
    term,
)
from optimizer.report.sections.money import decided
from optimizer.report.sections.options import reason
from optimizer.report.source import Source
from optimizer.results import CompareRow

_SHOWN_INPUTS = 15
"""Inputs drawn in a tornado: what moves the present value less than the fifteenth does not move a decision."""


def platforms(source: Source) -> Section:
    """Return the best plan of each platform, or what rejects it."""
    found = source.analyses.compare
    if found is None:
        return Section("platforms", "part.platforms", (Absent("absent.compare", source.command("compare")),))
    currency = source.currency
    columns = (
        Column("head.platform"),
        Column("head.status"),
        Column("head.total", figure=True, unit=currency),
        Column("head.npv", figure=True, unit=currency),
        Column("head.finish"),
        Column("head.nodes", figure=True),
        Column("head.accelerators", figure=True),
        Column("head.why"),
    )
    priced = sorted((row for row in found.rows if row.npv is not None), key=lambda row: row.npv or 0)
    rows = tuple(_platform(row, currency) for row in (*priced, *(row for row in found.rows if row.npv is None)))
    bars = tuple(Bar(name(row.platform), (_worth(row.npv, currency),)) for row in priced)
    chart: tuple[Block, ...] = (Bars("platform-npv", "chart.platforms", "axis.npv", bars),) if bars else ()
    return Section("platforms", "part.platforms", (*chart, Table("platforms-table", "table.platforms", columns, rows)))


def _platform(row: CompareRow, currency: str) -> tuple[Cell, ...]:
    none = term("word.none")
    figures: tuple[Cell, ...] = (none,) * 5
    if row.npv is not None:
        figures = (
            money(row.total, currency),
            money(row.npv, currency),
            day(row.finish),
            count(row.nodes),
            count(row.accelerators),
        )
    why = reason(row.rejection) if row.rejection else _binding(row)
    return (name(row.platform), term(f"status.{row.status}"), *figures, why)


def _binding(row: CompareRow) -> Cell:
    if row.binding is None:
        return phrase("memo.works")
    return several(term(f"limit.{limit}") for limit in row.binding) if row.binding else term("word.none")


def _worth(npv: Decimal | None, currency: str) -> Span:
    return Span("span.npv", money(Decimal(0), currency), money(npv, currency), money(npv, currency))


def pareto(source: Source) -> Section:
    """Return the front of present value and finish date."""
    found = source.analyses.pareto
    if found is None:
        return Section("pareto", "part.pareto", (Absent("absent.pareto", source.command("pareto")),))
    points = tuple((day(point.finish), money(point.npv, found.currency)) for point in found.points)
    series = (Series(term("chart.front"), "points", points),)
    chart = Curves("pareto-chart", "chart.pareto", "axis.finish", "axis.npv", series)
    state = phrase("memo.front_complete" if found.complete else "memo.front_open", points=count(len(points)))
    return Section("pareto", "part.pareto", (Text(state), chart, _front(found)))


def _front(found: Pareto) -> Table:
    columns = (
        Column("head.finish"),
        Column("head.npv", figure=True, unit=found.currency),
        Column("head.total", figure=True, unit=found.currency),
        Column("head.nodes", figure=True),
        Column("head.platform"),
        Column("head.awards"),
    )
    rows = tuple(
        (
            day(p.finish),
            money(p.npv, found.currency),
            money(p.total, found.currency),
            count(p.nodes),
            name(p.platform),
            names(p.awards),
        )
        for p in found.points
    )
    return Table("pareto-table", "table.pareto", columns, rows)


def tornado(source: Source) -> Section:
    """Return how far each uncertain input moves the present value, and where the decision flips."""
    found = source.analyses.sensitivity
    if found is None:
        return Section("tornado", "part.tornado", (Absent("absent.sensitivity", source.command("sensitivity")),))
    moving = [row for row in found.rows if row.swing is None or row.swing]
    base = money(found.base_npv, found.currency)
    bars = tuple(Bar(sentence(row.input), _ends(row, found)) for row in moving[:_SHOWN_INPUTS])
    line = Span("span.plan", base, base, base)
    chart = Bars("tornado-chart", "chart.tornado", "axis.npv", bars, (line,), from_zero=False)
    rest = phrase("memo.tornado_rest", still=count(len(found.rows) - len(moving)), failed=count(len(found.failed)))
    return Section("tornado", "part.tornado", (chart, _moves(found, moving), Text(rest)))


def _ends(row: SensitivityRow, found: Sensitivity) -> tuple[Span, ...]:
    """Return one span per value tried: from the plan's present value to that there; one without a plan is told."""
    base = money(found.base_npv, found.currency)
    spans = []
    for value, npv in _tried(row):
        end = base if npv is None else money(npv, found.currency)
        outcome = term("word.no_plan") if npv is None else end
        told = phrase("span.input_at", value=value, outcome=outcome)
        spans.append(Span(_direction(npv, found.base_npv), base, end, told))
    return tuple(spans)


def _tried(row: SensitivityRow) -> list[tuple[Cell, Decimal | None]]:
    """Return the values an input was given, with the present value at each: both ends, or every word."""
    if row.low is None or row.high is None:
        return [(term(f"after_run.{each.value}"), each.npv) for each in row.options]
    return [(measured(row.low, row.unit), row.npv_low), (measured(row.high, row.unit), row.npv_high)]


def _direction(npv: Decimal | None, base: Decimal) -> str:
    if npv is None:
        return "span.no_plan"
    return "span.same" if npv == base else "span.dearer" if npv > base else "span.cheaper"


def _moves(found: Sensitivity, moving: list[SensitivityRow]) -> Table:
    columns = (
        Column("head.input"),
        Column("head.range"),
        Column("head.value_now", figure=True),
        Column("head.npv_low", figure=True, unit=found.currency),
        Column("head.npv_high", figure=True, unit=found.currency),
        Column("head.flips_at"),
        Column("head.source"),
    )
    rows = tuple(_move(row, found) for row in moving)
    return Table("tornado-table", "table.tornado", columns, rows, note=phrase("note.sources"))


def _move(row: SensitivityRow, found: Sensitivity) -> tuple[Cell, ...]:
    flips = tuple(_flips(row, found))
    return (
        sentence(row.input),
        _range(row),
        term("word.none") if row.value is None else measured(row.value, row.unit),
        *(term("word.no_plan") if npv is None else money(npv, found.currency) for npv in (row.npv_low, row.npv_high)),
        several(flips) if flips else term("word.none"),
        cited(row.note),
    )


def _range(row: SensitivityRow) -> Cell:
    if row.low is None or row.high is None:
        return several(value for value, _ in _tried(row))
    return phrase("memo.range", low=measured(row.low, row.unit), high=measured(row.high, row.unit))


def _flips(row: SensitivityRow, found: Sensitivity) -> Iterator[Cell]:
    """Yield the values at which the decision changes, and to what."""
    for flip in row.flips:
        to = decided(flip.to.platform, flip.to.vendors)
        yield phrase("memo.flips_to", value=measured(flip.value, row.unit), to=to)
    for each in row.options:
        if each.decision != found.base_decision:
            to = decided(each.decision.platform, each.decision.vendors)
            yield phrase("memo.flips_to", value=term(f"after_run.{each.value}"), to=to)


def breakeven(source: Source) -> Section:
    """Return, for each price that was asked about, where the decision holds and where it switches."""
    found = source.analyses.breakeven
    if not found:
        used = {run.platform for run in source.plan.workloads.values()}
        command = source.command("breakeven", "--platform", min(used, default="PLATFORM"))
        return Section("breakeven", "part.breakeven", (Absent("absent.breakeven", command),))
    blocks = [block for at, each in enumerate(found) for block in _price(at, each)]
    return Section("breakeven", "part.breakeven", tuple(blocks))


def _price(at: int, found: Breakeven) -> list[Block]:
    low, high = (price(edge, found.currency) for edge in found.holds)
    now = price(found.price, found.currency)
    words = {"subject": sentence(found.subject), "price": now, "unit": sentence(found.unit), "low": low, "high": high}
    basis = Text(sentence(found.basis))
    points = tuple(
        (price(v.price, found.currency), money(v.npv, found.currency)) for v in found.curve if v.npv is not None
    )
    series = (
        Series(term("chart.optimal_value"), "line", points),
        Series(term("chart.switches"), "points", _on_curve(found)),
    )
    chart = Curves(f"breakeven-{at}", "chart.breakeven", "axis.price", "axis.npv", tuple(s for s in series if s.points))
    heads = (
        Column("head.price", figure=True),
        Column("head.factor", figure=True),
        Column("head.then"),
        Column("head.verified"),
    )
    rows = tuple(
        (price(s.price, found.currency), share(s.factor - 1), decided(s.to.platform, s.to.vendors),
         term("word.yes" if s.verified else "word.no"))
        for s in found.switches
    )  # fmt: skip
    switches: list[Block] = [Table(f"switches-{at}", "table.switches", heads, rows)] if rows else []
    return [Text(phrase("memo.price_holds", **words)), basis, *([chart] if points else []), *switches]


def _on_curve(found: Breakeven) -> tuple[tuple[Value, Value], ...]:
    """Return the vertices of the curve at which the decision switches."""
    at = {switch.price for switch in found.switches}
    vertices = (vertex for vertex in found.curve if vertex.npv is not None and vertex.price in at)
    return tuple((price(v.price, found.currency), money(v.npv, found.currency)) for v in vertices)


def risk(source: Source) -> Section:
    """Return the plans under uncertainty."""
    found = source.analyses.risk
    if found is None:
        return Section("risk", "part.risk", (Absent("absent.risk", source.command("risk")),))
    intro = phrase(
        "memo.risk", samples=count(found.samples), failed=count(found.failed), vary=sentence(found.vary),
        least=name(found.least_mean), regret=name(found.min_max_regret), against=sentence(found.regret_against),
    )  # fmt: skip
    bars = tuple(_spread(plan, found) for plan in found.plans)
    chart = Bars("risk-chart", "chart.risk", "axis.npv", bars, from_zero=False)
    return Section("risk", "part.risk", (Text(intro), chart, _outcomes(found)))


def _spread(plan: RiskPlan, found: Risk) -> Bar:
    low, middle, high = (money(each, found.currency) for each in (plan.cost.p10, plan.cost.p50, plan.cost.p90))
    span = Span("span.p10_p90", low, high, phrase("span.low_to_high", low=low, high=high))
    return Bar(name(plan.plan), (span,), (Span("span.p50", middle, middle, middle),))


def _outcomes(found: Risk) -> Table:
    columns = (
        Column("head.plan"),
        Column("head.p_deadline", figure=True),
        Column("head.p_budget", figure=True),
        Column("head.p_best", figure=True),
        *(Column(head, figure=True, unit=found.currency) for head in ("head.mean", "head.regret", "head.max_regret")),
    )
    rows = tuple(
        (
            name(plan.plan),
            share(plan.p_deadline),
            term("word.no_limit") if plan.p_budget is None else share(plan.p_budget),
            share(plan.p_best),
            *(money(amount, found.currency) for amount in (plan.mean, plan.regret, plan.max_regret)),
        )
        for plan in found.plans
    )
    return Table("risk-table", "table.risk", columns, rows)


def alternatives(source: Source) -> Section:
    """Return the plans that are nearly as good, with what each gives up and gains."""
    found = source.analyses.alternatives
    if found is None:
        command = source.command("alternatives", "--within", "5%")
        return Section("alternatives", "part.alternatives", (Absent("absent.alternatives", command),))
    currency = source.currency
    columns = (
        Column("head.awards"),
        Column("head.total", figure=True, unit=currency),
        Column("head.npv", figure=True, unit=currency),
        Column("head.finish"),
        Column("head.gives_up"),
        Column("head.gains"),
    )
    rows = tuple(
        (names(p.awards), money(p.total, currency), money(p.npv, currency), day(p.finish),
         _said(p.gives_up, p), _said(p.gains, p))
        for p in found.plans
    )  # fmt: skip
    table = Table("alternatives-table", "table.alternatives", columns, rows)
    return Section("alternatives", "part.alternatives", (table,))


def _said(texts: tuple[str, ...], plan: Alternative) -> Cell:
    return several(sentence(text, plan.amounts) for text in texts)
