"""The answer on one screen: takes results, computes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from optimizer.analysis.reasons import grouped
from optimizer.report.sentences import (
    NEGOTIABLE,
    bullets,
    change,
    limits_that_clash,
    reasons,
    rejection_sentence,
    words,
)
from optimizer.report.text import CAPACITY_UNITS, UNKNOWN, amount, capacity, layout_text, number, share
from optimizer.results import Award, Conflict, Cost, LimitUse, Plan, WorkloadPlan
from optimizer.units import counted

if TYPE_CHECKING:
    from optimizer.analysis.backtest import Backtest
    from optimizer.io.understood import Check, UnderstoodOffer
    from optimizer.results import CompareRow, Comparison, Verification

_STATUS_STYLE = {"optimal": "bold green", "feasible": "bold yellow", "infeasible": "bold red", "unknown": "bold red"}
_EACH = {
    "lease": "per month",
    "reserved": "per hour",
    "block": "per hour",
    "on_demand": "per hour",
    "dedicated": "for the run",
}
_GAP = 2
"""Blank columns between two columns of a table."""


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, indent: int = 0) -> RenderableType:
    """Return a plain table: numbers (headers that start with ``>``) to the right, no lines.

    Where the words of a row do not fit side by side, each row becomes a paragraph with its headings in it.
    """
    return Padding(_Rows(tuple(headers), tuple(map(tuple, rows))), (0, 0, 0, indent))


@dataclass(frozen=True, slots=True)
class _Rows:
    """A table that knows how wide it may be only when it is printed."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width - _GAP * (len(self.headers) - 1)
        most = self._widths(cell_len)
        words = self._widths(_longest_word)  # figures stay on one line
        least = [full if head[:1] == ">" else word for head, full, word in zip(self.headers, most, words, strict=True)]
        if sum(least) > room:
            yield self._paragraphs()
        elif self.rows or any(self.headers):
            yield self._grid(_shared(least, most, room))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, options.max_width)

    def _widths(self, measure: Callable[[str], int]) -> list[int]:
        heads = [header.removeprefix(">") for header in self.headers]
        return [max(map(measure, column)) for column in zip(heads, *self.rows, strict=True)]

    def _grid(self, widths: Sequence[int]) -> Table:
        shown = any(header.strip(">") for header in self.headers)
        grid = Table(box=None, pad_edge=False, header_style="bold", show_header=shown)
        for header, width in zip(self.headers, widths, strict=True):
            side: Literal["left", "right"] = "right" if header.startswith(">") else "left"
            grid.add_column(header.removeprefix(">"), justify=side, overflow="fold", width=width)
        for row in self.rows:
            grid.add_row(*row)
        return grid

    def _paragraphs(self) -> Table:
        names = [header.strip(">") for header in self.headers]
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=1)
        grid.add_column(overflow="fold")
        for row in self.rows:
            parts = (f"{name} {cell}" if name else cell for name, cell in zip(names, row, strict=True) if cell)
            grid.add_row("-", "  ".join(parts))
        return grid


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split(" ")))


def _shared(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """Return widths between the least and the most of each column that use the room, the short columns first.

    >>> _shared([3, 5, 4], [4, 30, 8], 30)
    [4, 18, 8]
    """
    widths = list(least)
    for left, at in enumerate(sorted(range(len(most)), key=lambda at: most[at] - least[at])):
        widths[at] += min(most[at] - least[at], (room - sum(widths)) // (len(most) - left))
    return widths


def plan_screen(plan: Plan, scenario_file: str) -> RenderableType:
    """Return the answer of ``solve``; amounts of ``plan`` are rounded already."""
    parts: list[RenderableType] = [_headline(plan)]
    if plan.conflict is not None:
        parts.append(conflict_screen(plan.conflict, scenario_file, searched=plan.solve.solver != "none"))
    if plan.awards:
        parts += [Text(f"\nSign by order date {plan.awards[0].order_date}", style="bold"), _awards(plan.awards)]
    if plan.workloads:
        parts += [Text("Train", style="bold"), _workloads(plan)]
    if plan.objective.unit in CAPACITY_UNITS and plan.objective.value is not None:
        own = capacity(plan.objective.value, plan.objective.unit)
        parts.append(Text.assemble(("Capacity  ", "bold"), own, "   the most that can be had (the objective)"))
    if plan.cost is not None:
        parts.append(_cost(plan.cost))
    parts += _baselines(plan)
    parts += _limits(plan.limits)
    parts += _rejections(plan)
    count = counted(len(plan.provenance.assumptions), "assumption")
    parts.append(Text(f"{count} in --json; warnings: clusterbuy check {scenario_file}", style="dim"))
    return Group(*parts)


_BASELINES = {"single_quote": "one quote", "owned": "today's fleet", "rented": "rent only", "on_demand": "on demand"}


def _baselines(plan: Plan) -> list[RenderableType]:
    """Return one line on what the plan saves against the obvious alternatives."""
    rows = plan.analyses.get("baselines", ())
    texts = []
    for row in rows:
        name = _BASELINES[row["name"]] + (f" ({row['detail']})" if row["detail"] else "")
        if row["difference"] is None:
            texts.append(f"{name}: {'not known' if row['status'] == 'unknown' else 'impossible'}")
        else:
            texts.append(f"{name}: {amount(row['difference'])}" if row["difference"] else f"{name}: the same")
    return [Text(f"Saves     {' · '.join(texts)}")] if texts else []


def conflict_screen(conflict: Conflict, scenario_file: str, *, searched: bool = True) -> RenderableType:
    """Return the limits that cannot hold together; where nothing is known of cures, what finds them."""
    if not conflict.limits:
        return Text("No plan meets every limit. Which limits clash was not found in time: raise --time-limit.")
    lines = limits_that_clash(conflict)
    if not searched:
        lines.append(Text("  Known before any search: each need is the very least, a plan may need more.", style="dim"))
    if conflict.relaxations:
        lines += [Text("Smallest changes that work, each alone:", style="bold"), *map(change, conflict.relaxations)]
    elif conflict.joint:
        lines += [Text("Smallest changes that work together:", style="bold"), *map(change, conflict.joint)]
    elif all(limit.name in NEGOTIABLE for limit in conflict.limits):
        lines.append(Text(f"Smallest changes that would work: clusterbuy explain {scenario_file}"))
    return Group(*lines)


def comparison_screen(comparison: Comparison) -> RenderableType:
    """Return one row per platform with a plan, then what rejects those that are offered, then what nobody offers."""
    planned = [row for row in comparison.rows if row.rejection is None]
    refused = [(row.platform, row.rejection) for row in comparison.rows if row.rejection is not None]
    offered = [f"{name}: {rejection_sentence(why)}" for name, why in refused if why.limit != "offer"]
    missing = [name for name, why in refused if why.limit == "offer"]
    parts: list[RenderableType] = [_plans_of_platforms(planned)] if planned else []
    if offered:
        parts += [Text("Rejected", style="bold"), bullets(offered)]
    if missing:
        parts += [Text(f"No quote offers ({len(missing)})", style="bold"), bullets([", ".join(missing)])]
    if comparison.runs > 1:
        parts.insert(0, Text(f"Each row has all {comparison.runs} runs on its platform.", style="bold"))
    return Group(*parts)


def _plans_of_platforms(rows: Sequence[CompareRow]) -> RenderableType:
    units = {row.unit for row in rows if row.unit}
    counted = bool(units & CAPACITY_UNITS)
    first = ("platform", "status", *((">capacity",) if counted else ()))
    headers = (*first, ">total", ">NPV", "finish", ">nodes", ">accelerators", "binds", "layout")
    return table(headers, (_comparison_row(row, counted=counted) for row in rows))


def backtest_screen(result: Backtest) -> RenderableType:
    """Return the errors against measured runs."""
    step, memory = result.step_time, result.memory
    lines = [
        f"{result.scored} of {result.rows} rows scored",
        f"step time  median {share(step.median)}, mean {share(step.mean)}, p90 {share(step.p90)}, bias {share(step.bias)}",
        f"memory     median {share(memory.median)}, false fits {memory.false_fits}, false ooms {memory.false_ooms}",
        *(f"           {count} rows without a verdict: {reason}" for reason, count in memory.left_out.items()),
        f"band holds {share(result.coverage)}",
    ]
    groups = [
        (kind, name, str(errors.rows), share(errors.median), share(errors.p90), share(errors.bias))
        for kind, found in result.by.items()
        for name, errors in found.items()
    ]
    skipped = [(str(count), reason) for reason, count in result.skipped.items()]
    ranked = [(name, f"{r.kendall_tau:.2f}", share(r.regret), str(r.rows)) for name, r in result.ranking.items()]
    return Group(
        *map(Text, lines),
        table(("by", "", ">rows", ">median", ">p90", ">bias"), groups),
        *([table(("ranking", ">Kendall tau", ">regret", ">rows"), ranked)] if ranked else []),
        *([table((">skipped", "reason"), skipped)] if skipped else []),
    )


def verification_screen(result: Verification) -> RenderableType:
    """Return whether a plan holds, each breach, and inputs that changed since."""
    head = Text("verified", style="bold green") if result.ok else Text("does not hold", style="bold red")
    breaches = [Text(f"  {breach}") for breach in result.breaches]
    changed = [Text(f"  changed since: {name}", style="yellow") for name in result.changed_inputs]
    missing = [Text(f"  not found, so not compared: {name}", style="yellow") for name in result.not_found]
    return Group(head, *breaches, *changed, *missing)


def check_screen(result: Check) -> RenderableType:
    """Return what was understood of a scenario, then the warnings."""
    seen = result.understood
    head = (
        f"{seen.scenario}: order on {seen.order_date}, horizon to {seen.horizon_end}, least {seen.objective}, "
        f"budget {'no limit' if seen.budget is None else f'{amount(seen.budget)} {seen.currency}'}"
    )
    work = [
        f"  {item.name}: {item.architecture or f'{item.modes} stated modes'}, {item.release} to {item.last_day}"
        for item in seen.workloads
    ]
    offers = table(
        (
            "quote / offer",
            "vendor",
            "kind",
            "platform",
            "type",
            f">{seen.currency} per accelerator",
            "",
            "available",
            "valid",
        ),
        (_understood_offer(offer) for offer in seen.offers),
        indent=2,
    )
    assumed = table(("assumed", "", ""), ((item.name, item.value, item.source) for item in seen.assumptions), indent=2)
    warned = [Text.assemble((f"{item.location}: ", "yellow"), f"{item.found}. {item.why}.") for item in result.warnings]
    return Group(Text(head, style="bold"), *map(Text, work), offers, assumed, *warned)


def _understood_offer(offer: UnderstoodOffer) -> tuple[str, ...]:
    per = {"once": "", "hour": "per hour", "month": "per month", "run": "per run"}[offer.per]
    return (
        f"{offer.quote} / {offer.offer}",
        offer.vendor,
        offer.kind,
        offer.platform,
        offer.type,
        number(offer.price_per_accelerator),
        per,
        str(offer.available or UNKNOWN),
        str(offer.valid_until or UNKNOWN),
    )


def _headline(plan: Plan) -> Text:
    proof = {
        "optimal": f"optimal, proven in {plan.solve.wall_s:.1f} s",
        "feasible": f"feasible, not proven: at most {_gap(plan)} better may exist ({plan.solve.wall_s:.1f} s{_limit(plan)})",
        "infeasible": f"infeasible, proven in {plan.solve.wall_s:.1f} s",
        "unknown": f"no answer, stopped after {plan.solve.wall_s:.1f} s{_limit(plan)}",
    }[plan.status]
    unit = plan.cost.currency if plan.cost else plan.objective.currency or plan.objective.unit
    return Text.assemble(
        (plan.scenario, "bold"), " · ", (proof, _STATUS_STYLE[plan.status]), f" · {plan.provenance.today}, {unit}"
    )


def _limit(plan: Plan) -> str:
    limit = plan.solve.time_limit_s
    return "" if limit is None else f" (--time-limit {limit:g})"


def _gap(plan: Plan) -> str:
    objective = plan.objective
    if objective.value is None or objective.bound is None:
        return UNKNOWN
    return f"{amount(abs(objective.value - objective.bound))} {objective.unit} ({share(objective.gap)})"


def _awards(awards: Sequence[Award]) -> RenderableType:
    return table(("", "", ">", "", ">", "", ""), map(_award, awards), indent=2)


def _award(award: Award) -> tuple[str, ...]:
    tier = f", tier {award.tier}+" if award.tier else ""
    each = _EACH.get(award.type, "each")
    tax = f" incl. {share(award.tax_included, 0)} tax" if award.tax_included else ""
    until = f" until {award.contract_end}" if award.contract_end else ""
    return (
        f"{award.vendor} {award.quote} / {award.offer}",
        award.type,
        f"{award.units:,}",
        f"x {award.platform}{tier} at {number(award.unit_price)} {award.currency} {each}{tax}",
        amount(award.cost),
        _delivery(award),
        f"at {award.place}{until}",
    )


def _delivery(award: Award) -> str:
    """Return the day an award arrives; with lots, how many come when."""
    if len(award.lots) > 1:
        return ", ".join(f"{lot.units:,} on {lot.delivery_date}" for lot in award.lots)
    return f"from {award.delivery_date}"


def _workloads(plan: Plan) -> RenderableType:
    lines = [
        line
        for work in plan.workloads.values()
        for line in _workload(work, sum(a.nodes for a in plan.awards if f"{a.platform}@{a.place}" == work.pool))
    ]
    return Group(*(Padding(Text(line), (0, 0, 0, 2)) for line in lines))


def _workload(work: WorkloadPlan, awarded: int) -> list[str]:
    of = f" of {awarded:,}" if awarded > work.nodes else ""
    where = f"{work.accelerators:,} {work.platform} ({work.nodes:,}{of} {'node' if work.nodes == 1 and not of else 'nodes'}) in {work.place}"
    how = f"{work.layout.precision}, {layout_text(work.layout)}" if work.layout else layout_text(None)
    lines = [f"{work.name}   {where}   {how}   {counted(work.days, 'day')}   {work.start} -> {work.end}"]
    if work.band is not None:
        band = f"{work.band.low_days:,.0f} to {work.band.high_days:,.0f} days"
        lines.append(f"  planned at your quantile; 8 of 10 such runs take {band} (evidence: {work.evidence})")
    return lines


def _cost(cost: Cost) -> Text:
    after = " · ".join(f"{item.policy} {amount(item.total)}" for item in cost.after_run)
    return Text.assemble(
        ("Cost      ", "bold"),
        f"{amount(cost.total)} {cost.currency} (NPV {amount(cost.npv)})   after the run: {after}",
    )


def _limits(limits: Sequence[LimitUse]) -> list[RenderableType]:
    binding = [limit for limit in limits if limit.binding]
    if not binding:
        return []
    words = " · ".join(
        f"{limit.name}{f' {limit.period}' if limit.period else ''} "
        f"({number(limit.used)} of {number(limit.available)} {limit.unit})"
        for limit in binding
    )
    return [Text.assemble(("Binding   ", "bold"), words)]


def _rejections(plan: Plan) -> list[RenderableType]:
    if not plan.rejections:
        return []
    groups = grouped(plan.rejections, {work.platform for work in plan.workloads.values()})
    return [Text("Not used, and why (all of it in --json)", style="bold"), reasons(groups)]


def _comparison_row(row: CompareRow, *, counted: bool) -> tuple[str, ...]:
    extra = (capacity(row.objective, row.unit),) if counted else ()
    if row.total is None:
        blank = [""] * (len(extra) + 6)
        return (row.platform, row.status, *blank, "no answer within the time limit")
    figures = (amount(row.total), amount(row.npv))
    counts = (number(row.nodes), number(row.accelerators))
    binds = ", ".join(map(words, row.binding or ()))
    return (row.platform, row.status, *extra, *figures, str(row.finish), *counts, binds, layout_text(row.layout))
