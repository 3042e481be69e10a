"""Analyses on one screen: takes results, computes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from optimizer.report.console import table
from optimizer.report.text import amount, number, share

if TYPE_CHECKING:
    from optimizer.analysis.breakeven import Breakeven
    from optimizer.analysis.pareto import Pareto
    from optimizer.analysis.risk import Risk
    from optimizer.analysis.tornado import Grid, Sensitivity, SensitivityRow


def pareto_screen(front: Pareto) -> RenderableType:
    """Return the front, a row per plan."""
    rows = [
        (str(p.finish), amount(p.npv), amount(p.total), number(p.nodes), p.platform, ", ".join(p.awards))
        for p in front.points
    ]
    state = "complete, every point proven and checked" if front.complete else "stopped before it was complete"
    head = Text(
        f"{len(rows)} plans that nothing both cheaper and earlier beats ({state}), {front.currency}", style="bold"
    )
    return Group(head, table(("finish", ">NPV", ">total", ">nodes", "platform", "sign"), rows))


def breakeven_screen(found: Breakeven) -> RenderableType:
    """Return where the decision holds and every switch."""
    what = found.quote or found.platform or found.input
    head = f"{what}: today {number(found.price)} {found.currency} per {found.unit}, {found.decision}"
    basis = Text(f"Prices: {found.basis}", style="dim")
    low, high = found.holds
    holds = f"holds from {number(low)} to {number(high)}; every award stays from {number(found.plan_holds[0])}"
    bounds = f" to {number(found.plan_holds[1])} (searched {number(found.bounds[0])} to {number(found.bounds[1])})"
    rows = [
        (number(s.price), share(s.factor - 1), str(s.to), ", ".join(s.plan.awards) if s.plan else "",
         "verified" if s.verified else "NOT CONFIRMED")
        for s in found.switches
    ]  # fmt: skip
    return Group(
        Text(head, style="bold"),
        basis,
        Text(holds + bounds),
        table((">price", ">change", "to", "sign", ""), rows, indent=2),
    )


def sensitivity_screen(found: Sensitivity) -> RenderableType:
    """Return the inputs by how far they move the present value; those that move nothing are counted."""
    moving = [row for row in found.rows if row.swing is None or row.swing]
    rows = [
        (
            row.input,
            _span(row),
            number(row.value) if row.value is not None else row.unit.removeprefix("policy, now "),
            amount(row.npv_low),
            amount(row.npv_high),
            "; ".join(f"{number(flip.value)}: {flip.to}" for flip in row.flips),
        )
        for row in moving
    ]
    head = f"NPV {amount(found.base_npv)} {found.currency}, {found.base_decision}"
    rest = f"{len(found.rows) - len(moving)} inputs change nothing, {len(found.failed)} failed"
    headers = ("input", "range", ">now", ">NPV low", ">NPV high", "flips at")
    grid = [_grid(found.grid)] if found.grid else []
    return Group(Text(head, style="bold"), table(headers, rows, indent=2), *grid, Text(rest, style="dim"))


def _span(row: SensitivityRow) -> str:
    """Return the range of an input; of one that is no number, its values from the cheapest to the dearest."""
    if row.low is None or row.high is None:
        return ", ".join(option.value for option in row.options)
    return f"{number(row.low)} to {number(row.high)}"


def _grid(grid: Grid) -> RenderableType:
    """Return both values, the present value and the decision of every cell."""
    rows = [(*map(number, cell.values), amount(cell.end.npv), str(cell.end.decision)) for cell in grid.cells]
    return table((f">{grid.inputs[0]}", f">{grid.inputs[1]}", ">NPV", "decision"), rows, indent=2)


def risk_screen(found: Risk) -> RenderableType:
    """Return the plans by mean cost, then what is worth knowing."""
    rows = [
        (
            plan.plan,
            share(plan.p_deadline, 0),
            share(plan.p_budget, 0),
            amount(plan.cost.p10),
            amount(plan.cost.p50),
            amount(plan.cost.p90),
            amount(plan.mean),
            amount(plan.regret),
            amount(plan.max_regret),
        )
        for plan in found.plans
    ]
    headers = ("plan", ">deadline", ">budget", ">NPV P10", ">P50", ">P90", ">mean", ">regret", ">largest")
    head = f"{found.samples:,} samples, {found.failed} failed, {found.vary} vary, {found.currency}; regret against {found.regret_against}"
    worth = [(item.about, amount(item.value), amount(item.cost) if item.cost is not None else "")
             for item in found.information if item.value]  # fmt: skip
    return Group(
        Text(head, style="bold"),
        table(headers, rows, indent=2),
        Text(f"Least mean cost: {found.least_mean}. Least largest regret: {found.min_max_regret}."),
        Text("Worth knowing before signing", style="bold"),
        table(("about", ">worth", ">costs"), worth, indent=2)
        if worth
        else Text("  nothing: no input changes the decision"),
    )
