"""Screens of ``explain``, ``alternatives`` and ``diff``: take results, compute nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from optimizer.analysis.reasons import grouped
from optimizer.report.console import table
from optimizer.report.sentences import (
    NEGOTIABLE,
    bullets,
    change,
    figure,
    limits_that_clash,
    reasons,
    rejection_sentence,
    words,
)
from optimizer.report.text import CAPACITY_UNITS, amount, capacity, measured, number, share
from optimizer.results import Conflict, Figure
from optimizer.units import counted

if TYPE_CHECKING:
    from optimizer.analysis.alternatives import Alternatives
    from optimizer.analysis.diff import Difference
    from optimizer.analysis.explain import Explanation
    from optimizer.analysis.gap import GapLine
    from optimizer.analysis.nodes import NodeNeed
    from optimizer.analysis.switch import WinIf
    from optimizer.analysis.worth import Worth


SIDES = ("a", "b", "delta")


def infeasible_screen(conflict: Conflict, pinned: Sequence[str] = ()) -> RenderableType:
    """Return the limits that cannot hold together, the smallest change of each alone, and the smallest joint one."""
    if not conflict.limits:
        return Text("No plan meets every limit (proven). Which limits clash was not found: raise --time-limit.")
    parts: list[RenderableType] = [*limits_that_clash(conflict), *_changes(conflict, "gives a plan", pinned)]
    if conflict.left_out:
        parts += [
            Text("Offers and platforms left out for other reasons:", style="bold"),
            reasons(grouped(conflict.left_out)),
        ]
    return Group(*parts)


def _changes(conflict: Conflict, gives: str, pinned: Sequence[str]) -> Iterator[RenderableType]:
    """Yield the changes that work, each of which was solved again."""
    if conflict.relaxations:
        single = len(conflict.relaxations) == 1
        first = f"This change {gives}" if single else f"Any one of these changes {gives}, the smallest first"
        yield Text(f"{first} (solved again):", style="bold")
        yield from map(change, conflict.relaxations)
    elif conflict.joint:
        together = gives.replace("gives", "give").replace("makes", "make")
        yield Text(f"No change of one limit is enough. Together these {together} (solved again):", style="bold")
        yield from map(change, conflict.joint)
    elif conflict.cut_short:
        yield Text(f"Which change {gives} was not found within the time limit: raise --time-limit.", style="bold")
    elif all(limit.name in NEGOTIABLE for limit in conflict.limits):
        held = f" while {', '.join(map(words, pinned))} may not change" if pinned else ""
        yield Text(f"No change of up to three negotiable limits {gives}{held}.", style="bold")
    else:
        yield Text(f"No change of a limit {gives}: what is named are facts of the offers and platforms.", style="bold")


NOTHING_WINS = (
    "Nothing alone makes it win: no price above zero, no delivery from the first day on, no power or racks at a site, "
    "no evidence up to a pilot of this size (each solved again)."
)
"""Said of a dearer option that no change of one thing helps."""


def explanation_screen(result: Explanation) -> RenderableType:
    """Return why something is, or is not, in the plan."""
    if not result.proven:
        first = Text("The plan explained is not proven to be the best: a better one may differ.", style="bold")
        return Group(first, explanation_screen(result.model_copy(update={"proven": True})))
    if result.question == "plan":
        return Group(*_plan(result))
    if result.answer == "rejected":
        return Group(*_rejected(result))
    head = "is in the plan" if result.answer == "chosen" else _worse(result)
    parts: list[RenderableType] = [Text(f"{result.question} {head}", style="bold")]
    if result.gap_lines:
        headers = ("present value by cost line", ">plan", ">with it", ">difference")
        total = ("total", *(number(sum(getattr(line, side) for line in result.gap_lines)) for side in SIDES))
        parts.append(table(headers, [*map(_gap_line, result.gap_lines), total], indent=2))
    if result.would_win_if:
        parts += [Text("It would win with one of these (solved again):", style="bold")]
        parts += [Text(f"  {_win_if(change)}") for change in result.would_win_if]
    elif result.searched and not result.cut_short:
        parts += [Text(NOTHING_WINS, style="bold")]
    if result.cut_short:
        parts += [Text("Not every change was decided: others may make it win too.", style="bold")]
    return Group(*parts)


def _rejected(result: Explanation) -> Iterator[RenderableType]:
    yield Text(f"{result.question} cannot be in any plan", style="bold")
    if result.rejection is not None:
        yield bullets([rejection_sentence(result.rejection)])
    conflict = result.conflict
    if conflict is None or not conflict.limits:
        return
    named = [limit.name for limit in conflict.limits]
    if result.rejection is None or named != [result.rejection.limit]:
        yield from limits_that_clash(conflict, "No plan has it")
    yield from _changes(conflict, "makes it possible", ())
    yield bullets(_thens(result))


def _thens(result: Explanation) -> Iterator[str]:
    """Yield how an option that has become possible compares with the plan."""
    alone = any(item.alone for item in result.would_win_if)
    for item in result.would_win_if if alone else result.would_win_if[:1]:
        if item.then is not None:
            what = f"the change of {words(item.what)}" if item.alone and len(result.would_win_if) > 1 else "that"
            yield f"With {what} it {_compared(item.then, result)}."


def _compared(then: Decimal, result: Explanation) -> str:
    size = measured(abs(then), result.objective_unit)
    if result.objective_unit == result.unit:
        return f"would cost {size} {'more' if then > 0 else 'less'} than the plan as it stands (net present value)"
    return f"would be {'worse' if then > 0 else 'better'} than the plan as it stands by {size}"


def _worse(result: Explanation) -> str:
    if result.objective_unit == result.unit:
        return f"would cost {number(result.gap)} {result.unit} more (net present value)"
    worse = measured(result.objective_gap, result.objective_unit)
    return f"would be worse by {worse}; net present value {number(result.gap)} {result.unit} higher"


def _gap_line(line: GapLine) -> tuple[str, ...]:
    return (words(line.item), number(line.a), number(line.b), number(line.delta))


def _win_if(change: WinIf) -> str:
    if isinstance(change.to, Decimal) and change.unit.startswith("share"):
        lower = share(1 - float(change.to), 2)
        return (
            f"{words(change.what)}: {lower} lower ({share(float(change.to), 2)} of the {change.unit.split()[-2]} price)"
        )
    if change.what == "delivery":
        return f"delivery: {figure(change.to)} {change.unit}"
    text = f"{words(change.what)}: {figure(change.from_)} -> {figure(change.to)} {change.unit}".rstrip()
    return f"{text}  --set '{change.set}'" if change.set else text


def _plan(result: Explanation) -> Iterable[RenderableType]:
    for run in dict.fromkeys(need.workload for need in result.nodes):
        yield Text(f"Why this many nodes for {run}: what each limit alone would need", style="bold")
        own = [need for need in result.nodes if need.workload == run]
        yield table(("limit", ">nodes", "", ""), map(_need, own), indent=2)
    if result.worth:
        yield Text("What one more unit is worth (solved again with each step)", style="bold")
        yield table(("limit", "step", ">worth", ""), map(_worth, result.worth), indent=2)
    if result.reasons:
        yield Text("Not used", style="bold")
        yield reasons(result.reasons)


def _need(need: NodeNeed) -> tuple[str, ...]:
    nodes = "none" if need.nodes is None else number(need.nodes)
    return (words(need.limit), nodes, "binds" if need.binds else "", need.reason)


def _worth(worth: Worth) -> tuple[str, ...]:
    gain = (amount(worth.worth), worth.unit)
    if worth.worth is None:
        gain = ("", "not found in time")
    elif worth.unit in CAPACITY_UNITS:
        gain = (capacity(worth.worth, worth.unit), "")
    return (words(worth.limit), worth.step, *gain)


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
        total = ("total", *(number(sum(getattr(line, side) for line in result.cost)) for side in SIDES))
        headers = (f"Cost, {result.currency}", ">a", ">b", ">difference")
        parts.append(table(headers, [*map(_gap_line, result.cost), total]))
    return Group(*parts)


def _side(value: Figure) -> str:
    return "none" if value is None else figure(value)


def alternatives_screen(result: Alternatives) -> RenderableType:
    """Return near-optimal plans, the best first, with what each gives up and gains against it."""
    parts: list[RenderableType] = []
    for place, plan in enumerate(result.plans, 1):
        vendors = ", ".join(plan.vendors) or "what is owned"
        money = f"{amount(plan.total)} (NPV {amount(plan.npv)})"
        head = f"{place}. {money}   {counted(plan.nodes, 'node')} of {plan.platform} from {vendors}   to {plan.finish}"
        parts.append(Text(head, style="bold"))
        lines = [("takes", plan.awards), ("gives up", plan.gives_up), ("gains", plan.gains)]
        parts.append(bullets(f"{what}: {'; '.join(items)}" for what, items in lines if items))
    return Group(*parts)
