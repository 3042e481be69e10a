"""The answer on one screen: takes results, computes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from optimizer.report.text import UNKNOWN, amount, layout_text, number, share
from optimizer.results import Award, Conflict, Cost, LayoutRow, LimitUse, Plan, Rejection, WorkloadPlan

if TYPE_CHECKING:
    from optimizer.analysis.backtest import Backtest
    from optimizer.candidates.ranking import Ranking
    from optimizer.io.understood import Check, UnderstoodOffer
    from optimizer.results import CompareRow, Comparison, Verification

_STATUS_STYLE = {"optimal": "bold green", "feasible": "bold yellow", "infeasible": "bold red", "unknown": "bold red"}
_EACH = {"lease": "per month", "reserved": "per hour", "block": "per hour", "on_demand": "per hour"}
_SHOWN_REJECTIONS = 6


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, indent: int = 0) -> RenderableType:
    """Return a plain table: numbers (headers that start with ``>``) to the right, no lines, folding when narrow."""
    grid = Table(
        box=None, pad_edge=False, header_style="bold", show_header=any(header.strip(">") for header in headers)
    )
    for header in headers:
        grid.add_column(
            header.removeprefix(">"), justify="right" if header.startswith(">") else "left", overflow="fold"
        )
    for row in rows:
        grid.add_row(*row)
    return Padding(grid, (0, 0, 0, indent))


def plan_screen(plan: Plan, scenario_file: str) -> RenderableType:
    """Return the answer of ``solve``; amounts of ``plan`` are rounded already."""
    parts: list[RenderableType] = [_headline(plan)]
    if plan.conflict is not None:
        parts.append(conflict_screen(plan.conflict))
    if plan.awards:
        parts += [Text(f"\nSign by order date {plan.awards[0].order_date}", style="bold"), _awards(plan.awards)]
    if plan.workloads:
        parts += [Text("Train", style="bold"), _workloads(plan)]
    if plan.cost is not None:
        parts.append(_cost(plan.cost))
    parts += _limits(plan.limits)
    parts += _rejections(plan.rejections)
    count = len(plan.provenance.assumptions)
    parts.append(Text(f"{count} assumptions in --json; warnings: clusterbuy check {scenario_file}", style="dim"))
    return Group(*parts)


def conflict_screen(conflict: Conflict) -> RenderableType:
    """Return the limits that cannot hold together and the changes that work."""
    named = ", ".join(
        f"{limit.name}{f' in {limit.period}' if limit.period else ''} (needs {number(limit.needed)}, "
        f"available {number(limit.available)} {limit.unit})"
        for limit in conflict.limits
    )
    lines = [Text(f"No plan meets every limit. These cannot hold together: {named}.")]
    if not conflict.minimal:
        lines.append(Text("Not proven to be the fewest limits.", style="dim"))
    changes = [
        (change.limit, f"--set {change.set}", "" if change.verified else "not verified")
        for change in conflict.relaxations
    ]
    if changes:
        lines.append(Text("Smallest changes that work, each alone:", style="bold"))
    joint = [(change.limit, f"--set {change.set}", "") for change in conflict.joint]
    tail: list[RenderableType] = [table(("", "", ""), changes, indent=2)]
    if joint:
        tail += [Text("Together:", style="bold"), table(("", "", ""), joint, indent=2)]
    return Group(*lines, *tail)


def comparison_screen(comparison: Comparison) -> RenderableType:
    """Return one row per platform."""
    headers = ("platform", "status", ">total", ">NPV", "finish", ">nodes", ">accelerators", "layout or reason")
    return table(headers, (_comparison_row(row) for row in comparison.rows))


def layouts_screen(ranking: Ranking) -> RenderableType:
    """Return ranked layouts."""
    headers = ("layout", ">step s", ">tokens/s each", ">MFU", ">memory GB", ">of GB", "verdict")
    rows = [
        (
            layout_text(row.layout),
            f"{row.step_time_s:.3f}",
            f"{row.tokens_per_s_per_accelerator:,.0f}",
            share(row.mfu),
            f"{row.memory_gb:.1f}",
            f"{row.memory_limit_gb:.1f}",
            row.verdict.replace("_", " "),
        )
        for row in ranking.rows
    ]
    summary = f"{ranking.evaluated:,} layouts, {ranking.fitting:,} fit, {ranking.wall_s:.2f} s"
    return Group(table(headers, rows), Text(summary, style="dim"))


def layout_screen(row: LayoutRow) -> RenderableType:
    """Return one predicted layout with its components."""
    head = (
        f"{layout_text(row.layout)} on {row.accelerators:,} accelerators ({row.nodes:,} nodes): "
        f"{row.step_time_s:.3f} s per step, {row.tokens_per_s_per_accelerator:,.0f} tokens/s each, MFU {share(row.mfu)}, "
        f"{row.memory_gb:.1f} of {row.memory_limit_gb:.1f} GB, {row.verdict.replace('_', ' ')}"
    )
    time = [(name, f"{seconds:.4f}") for name, seconds in row.time.items()]
    memory = [(name, f"{gigabytes:.2f}") for name, gigabytes in row.memory.items()]
    return Group(Text(head), table(("time", ">s"), time), table(("memory", ">GB"), memory))


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
    return Group(head, *breaches, *changed)


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
        "feasible": f"feasible, not proven: at most {_gap(plan)} better may exist ({plan.solve.wall_s:.1f} s)",
        "infeasible": f"infeasible, proven in {plan.solve.wall_s:.1f} s",
        "unknown": f"no answer within {plan.solve.wall_s:.1f} s",
    }[plan.status]
    unit = plan.objective.currency or plan.objective.unit
    return Text.assemble(
        (plan.scenario, "bold"), " · ", (proof, _STATUS_STYLE[plan.status]), f" · {plan.provenance.today}, {unit}"
    )


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
    until = f" until {award.contract_end}" if award.contract_end else ""
    return (
        f"{award.vendor} {award.quote} / {award.offer}",
        award.type,
        f"{award.units:,}",
        f"x {award.platform}{tier} at {number(award.unit_price)} {award.currency} {each}",
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
    where = f"{work.accelerators:,} {work.platform} ({work.nodes:,}{of} nodes) in {work.place}"
    how = f"{work.layout.precision}, {layout_text(work.layout)}" if work.layout else layout_text(None)
    lines = [f"{work.name}   {where}   {how}   {work.days:,} days   {work.start} -> {work.end}"]
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


def _rejections(rejections: Sequence[Rejection]) -> list[RenderableType]:
    if not rejections:
        return []
    shown = [
        (rejection.platform or "", rejection.quote or "", rejection.limit, rejection.reason)
        for rejection in rejections[:_SHOWN_REJECTIONS]
    ]
    more = len(rejections) - len(shown)
    rest = [Text(f"  and {more} more in --json", style="dim")] if more > 0 else []
    return [Text("Not used", style="bold"), table(("", "", "", ""), shown, indent=2), *rest]


def _comparison_row(row: CompareRow) -> tuple[str, ...]:
    reason = row.rejection.reason if row.rejection else layout_text(row.layout)
    finish = str(row.finish or "")
    figures = (amount(row.total), amount(row.npv)) if row.total is not None else ("", "")
    counts = (number(row.nodes), number(row.accelerators)) if row.nodes is not None else ("", "")
    return (row.platform, row.status, *figures, finish, *counts, reason)
