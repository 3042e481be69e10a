"""Limits, changes and rejections in words a reader understands without the scenario: one line each, to paste or pass on."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from optimizer.report.text import UNKNOWN
from optimizer.results import Conflict, ConflictLimit, Figure, LimitName, Rejection, Relaxation
from optimizer.units import counted

if TYPE_CHECKING:
    from optimizer.analysis.reasons import ReasonGroup

NEGOTIABLE: tuple[LimitName, ...] = (
    "deadline", "power", "racks", "rack_power", "cooling", "supply", "fabric", "block_length", "budget", "budget_year",
    "vendors", "second_source", "evidence", "policy", "expired",
)  # fmt: skip
"""Limits that a change of the scenario lifts; the others are facts of offers and platforms."""

SHOWN_REASONS = 5
"""Groups of rejections on a screen; all of them are in the JSON."""

SHOWN_NAMES = 4
"""Names of a group on a screen."""


def words(name: str) -> str:
    """Return the name of a limit or cost line as words."""
    return name.replace("_", " ")


def figure(value: Figure) -> str:
    """Return a figure in full: what is printed here is pasted, so nothing is rounded.

    >>> figure(Decimal("230.004")), figure(Decimal("39058560.01")), figure("2027-07-07"), figure(None)
    ('230.004', '39,058,560.01', '2027-07-07', '?')
    """
    if isinstance(value, Decimal):
        text = f"{value:,f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return UNKNOWN if value is None else value


def limit_sentence(limit: ConflictLimit) -> str:
    """Return a limit of a conflict: what is needed and what there is."""
    if limit.reason is not None:
        return f"{words(limit.name)}: {limit.reason}"
    where = f" ({limit.period})" if limit.period else ""
    if limit.needed is None:
        return f"{words(limit.name)}: how much is needed was not found{where}"
    return f"{words(limit.name)}: needs {figure(limit.needed)} {limit.unit}, {figure(limit.available)} available{where}"


def limits_that_clash(conflict: Conflict, subject: str = "No plan meets every limit") -> list[RenderableType]:
    """Return the limits of a conflict with what is proven of them."""
    groups = len({limit.group for limit in conflict.limits})
    if groups > 1:
        head = f"{subject}, for {groups} reasons, each of which leaves none by itself:"
    elif len(conflict.limits) == 1:
        head = f"{subject}. In the way is{' only this (proven)' if conflict.minimal else ''}:"
    else:
        proof = " (proven: none of them can be spared)" if conflict.minimal else ""
        head = f"{subject}. These cannot hold together{proof}:"
    stopped = [Text("  Stopped by the time limit: no figure here is proven to be the least.", style="dim")]
    return [Text(head, style="bold"), grouped_limits(conflict), *(stopped if conflict.cut_short else ())]


def grouped_limits(conflict: Conflict) -> RenderableType:
    """Return the limits of a conflict, numbered by group where there are several."""
    groups: dict[int, list[str]] = {}
    for limit in conflict.limits:
        groups.setdefault(limit.group, []).append(limit_sentence(limit))
    if len(groups) == 1:
        return bullets(line for lines in groups.values() for line in lines)
    return bullets(
        line if place == 0 else f"   and {line}"
        for number, lines in groups.items()
        for place, line in enumerate([f"{number}. {lines[0]}", *lines[1:]])
    )


def rejection_sentence(rejection: Rejection) -> str:
    """Return why something is not in the plan, with the limit."""
    return f"{words(rejection.limit)}: {rejection.reason}"


def bullets(lines: Iterable[str]) -> RenderableType:
    """Return lines, each indented and wrapped under itself."""
    return Group(*(Padding(Text(line), (0, 0, 0, 2)) for line in lines))


def change(found: Relaxation) -> RenderableType:
    """Return a change, and below it what to paste, which never wraps."""
    return Group(Text(f"  {words(found.limit)}: {_from_to(found.from_, found.to, found.unit)}"), paste(found.set))


def paste(setting: str) -> Text:
    """Return a ``--set`` argument as a shell takes it, on one line however long."""
    return Text(f"    --set {shlex.quote(setting)}", style="cyan", no_wrap=True, overflow="ignore")


def _from_to(before: Figure, after: Figure, unit: str) -> str:
    plain = "" if unit in ("date", "class", "evidence level") else f" {unit}"
    return f"{figure(before)} -> {figure(after)}{plain}".rstrip()


def reasons(groups: Sequence[ReasonGroup]) -> RenderableType:
    """Return the groups of rejections that matter most, with how many there are and who they are about."""
    lines = [_reason(group) for group in groups[:SHOWN_REASONS]]
    rest = sum(group.count for group in groups[SHOWN_REASONS:])
    more = [f"and {rest} for {counted(len(groups) - SHOWN_REASONS, 'other limit')}, in --json"] if rest else []
    return bullets([*lines, *more])


def _reason(group: ReasonGroup) -> str:
    first, *others = _listed(group.quotes or group.platforms)
    also = f"; also {', '.join(others)}" if others else ""
    return f"{words(group.limit)}: {first}: {group.reason}{also}"


def _listed(names: Sequence[str]) -> Iterator[str]:
    yield from names[:SHOWN_NAMES]
    if len(names) > SHOWN_NAMES:
        yield f"{len(names) - SHOWN_NAMES} more"
