"""Screens of ``explain``, ``alternatives`` and ``diff``: take results, compute nothing."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from optimizer.json_numbers import Figure
from optimizer.report.console import table
from optimizer.report.text import UNKNOWN, amount, number, share
from optimizer.results import Conflict, ConflictLimit, Relaxation

if TYPE_CHECKING:
    from optimizer.analysis.alternatives import Alternatives
    from optimizer.analysis.diff import Difference
    from optimizer.analysis.explain import Explanation
    from optimizer.analysis.gap import GapLine
    from optimizer.analysis.nodes import NodeNeed
    from optimizer.analysis.reasons import ReasonGroup
    from optimizer.analysis.switch import WinIf
    from optimizer.analysis.worth import Worth

_SHOWN_REASONS = 5


def infeasible_screen(conflict: Conflict, pinned: Sequence[str] = ()) -> RenderableType:
    """Return the limits that cannot hold together, the smallest change of each alone, and the smallest joint one."""
    proof = "each of them is needed for that" if conflict.minimal else "not proven to be the fewest"
    parts: list[RenderableType] = [
        Text("No plan meets every limit. These cannot hold together:", style="bold"),
        table(("limit", ">needed", ">available", "unit", "when or where"), map(_limit, conflict.limits), indent=2),
        Text(f"  ({proof})", style="dim"),
    ]
    if conflict.relaxations:
        parts.append(Text("Any one of these changes gives a plan (solved again with each):", style="bold"))
        parts.append(table(("", "", ""), map(_change, conflict.relaxations), indent=2))
    elif conflict.joint:
        parts.append(Text("No change of one limit is enough. Together these give a plan:", style="bold"))
        parts.append(table(("", "", ""), map(_change, conflict.joint), indent=2))
    else:
        held = f" while {', '.join(pinned)} may not change" if pinned else ""
        parts.append(Text(f"No change of up to three negotiable limits gives a plan{held}.", style="bold"))
    if len(conflict.relaxations) > 1:
        parts.append(Text(f"Smallest in proportion: {conflict.joint[0].limit}", style="dim"))
    return Group(*parts)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _limit(limit: ConflictLimit) -> tuple[str, ...]:
    return (_words(limit.name), number(limit.needed), number(limit.available), limit.unit, limit.period or "")


def _figure(value: Figure) -> str:
    return UNKNOWN if value is None else value if isinstance(value, str) else number(value)


def _change(change: Relaxation) -> tuple[str, ...]:
    what = f"{_figure(change.from_)} -> {_figure(change.to)} {change.unit}".rstrip()
    return (_words(change.limit), what, f"--set {shlex.quote(change.set)}")


def explanation_screen(result: Explanation) -> RenderableType:
    """Return why something is, or is not, in the plan."""
    if result.question == "plan":
        return Group(*_plan(result))
    head = {
        "chosen": "is in the plan",
        "rejected": "cannot be in any plan",
        "dearer": _worse(result),
    }[result.answer]
    parts: list[RenderableType] = [Text(f"{result.question} {head}", style="bold")]
    if result.rejection is not None:
        rejection = result.rejection
        parts.append(Text(f"  {_words(rejection.limit)}: {rejection.reason}"))
    if result.gap_lines:
        headers = ("by cost line", ">plan", ">with it", ">difference")
        parts.append(table(headers, map(_gap_line, result.gap_lines), indent=2))
    if result.would_win_if:
        title = "It would win with one of" if result.answer == "dearer" else "It would be possible with"
        parts += [Text(title, style="bold"), table(("", "", ""), map(_win_if, result.would_win_if), indent=2)]
    return Group(*parts)


def _worse(result: Explanation) -> str:
    if result.objective_unit == result.unit:
        return f"would cost {number(result.gap)} {result.unit} more (net present value)"
    worse = f"{number(result.objective_gap)} {result.objective_unit}"
    return f"would be worse by {worse}; net present value {number(result.gap)} {result.unit} higher"


def _gap_line(line: GapLine) -> tuple[str, ...]:
    return (_words(line.item), number(line.a), number(line.b), number(line.delta))


def _win_if(change: WinIf) -> tuple[str, ...]:
    if isinstance(change.to, Decimal) and change.unit.startswith("share"):
        return (_words(change.what), f"{share(1)} -> {share(float(change.to))}", change.unit.removeprefix("share "))
    return (_words(change.what), f"{_figure(change.from_)} -> {_figure(change.to)}", change.unit)


def _plan(result: Explanation) -> Iterable[RenderableType]:
    yield Text("Why this many nodes: what each limit alone would need", style="bold")
    yield table(("limit", ">nodes", "", ""), map(_need, result.nodes), indent=2)
    if result.worth:
        yield Text("What one more unit is worth (solved again with each step)", style="bold")
        yield table(("limit", "step", ">worth", ""), map(_worth, result.worth), indent=2)
    if result.reasons:
        yield Text("Not used", style="bold")
        yield table((">", "limit", "offers", "for example"), map(_reason, result.reasons[:_SHOWN_REASONS]), indent=2)


def _need(need: NodeNeed) -> tuple[str, ...]:
    return (_words(need.limit), number(need.nodes), "binds" if need.binds else "", need.reason)


def _worth(worth: Worth) -> tuple[str, ...]:
    return (_words(worth.limit), worth.step, amount(worth.worth), worth.unit)


def _reason(group: ReasonGroup) -> tuple[str, ...]:
    return (f"{group.count:,}", _words(group.limit), ", ".join(group.quotes or group.platforms), group.reason)


def difference_screen(result: Difference) -> RenderableType:
    """Return what changed between two plans."""
    parts: list[RenderableType] = []
    for title, rows in (
        ("Inputs", [(item.path, _side(item.a), _side(item.b)) for item in result.inputs]),
        ("Decisions", [(item.what, _side(item.a), _side(item.b)) for item in result.decisions]),
    ):
        parts.append(Text(title if rows else f"{title}: the same", style="bold"))
        if rows:
            parts.append(table(("", "a", "b"), rows, indent=2))
    if result.cost:
        total = ("total", *(number(sum(getattr(line, side) for line in result.cost)) for side in ("a", "b", "delta")))
        headers = (f"Cost, {result.currency}", ">a", ">b", ">difference")
        parts.append(table(headers, [*map(_gap_line, result.cost), total]))
    return Group(*parts)


def _side(value: Figure) -> str:
    return "none" if value is None else _figure(value)


def alternatives_screen(result: Alternatives) -> RenderableType:
    """Return near-optimal plans with what each gives up and gains."""
    headers = (">total", ">NPV", "finish", ">nodes", "platform", "vendors", "gives up", "gains")
    rows = [
        (
            amount(plan.total),
            amount(plan.npv),
            str(plan.finish),
            number(plan.nodes),
            plan.platform,
            ", ".join(plan.vendors),
            "; ".join(plan.gives_up),
            "; ".join(plan.gains),
        )
        for plan in result.plans
    ]
    return table(headers, rows)
