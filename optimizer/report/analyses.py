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


def pareto_screen(front: Pareto) -> RenderableType:
    """Return the front, a row per plan."""
    rows = [
        (str(p.finish), amount(p.npv), amount(p.total), number(p.nodes), p.platform, ", ".join(p.awards))
        for p in front.points
    ]
    state = "complete, every point proven" if front.complete else "stopped before it was complete"
    head = Text(
        f"{len(rows)} plans that nothing both cheaper and earlier beats ({state}), {front.currency}", style="bold"
    )
    return Group(head, table(("finish", ">NPV", ">total", ">nodes", "platform", "sign"), rows))


def breakeven_screen(found: Breakeven) -> RenderableType:
    """Return where the decision holds and every switch."""
    what = found.quote or found.platform or found.input
    head = f"{what}: today {number(found.price)} {found.currency} per {found.unit}, {found.decision}"
    low, high = found.holds
    holds = f"holds from {number(low)} to {number(high)}; every award stays from {number(found.plan_holds[0])}"
    bounds = f" to {number(found.plan_holds[1])} (searched {number(found.bounds[0])} to {number(found.bounds[1])})"
    rows = [
        (number(s.price), share(s.factor - 1), str(s.to), ", ".join(s.plan.awards) if s.plan else "",
         "verified" if s.verified else "NOT CONFIRMED")
        for s in found.switches
    ]  # fmt: skip
    return Group(
        Text(head, style="bold"), Text(holds + bounds), table((">price", ">change", "to", "sign", ""), rows, indent=2)
    )
