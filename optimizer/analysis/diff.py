"""``diff``: what changed between two plans: inputs, decisions, and the cost gap line by line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path

from optimizer.analysis.gap import GapLine, gap_lines
from optimizer.errors import InputError, Problem
from optimizer.io.plans import read_plan
from optimizer.io.scenario import SETS
from optimizer.io.yaml_reader import read_yaml
from optimizer.results import Award, Figure, InputFile, Plan, Result, WorkloadPlan
from optimizer.units import counted


class InputChange(Result):
    """One value of an input that differs."""

    path: str
    """File, and the path of the value in it."""
    a: Figure
    """Value in the first; None when absent."""
    b: Figure
    """Value in the second; None when absent."""


class DecisionChange(Result):
    """One decision that differs."""

    what: str
    """What was decided."""
    a: Figure
    """In the first; None when there is none."""
    b: Figure
    """In the second; None when there is none."""


class Difference(Result):
    """The answer of ``diff``."""

    inputs: tuple[InputChange, ...]
    decisions: tuple[DecisionChange, ...]
    cost: tuple[GapLine, ...]
    """Every cost line; differences add up to that of the totals."""
    currency: str | None
    """Currency of ``cost``; None when a plan has none."""


def diff(a: str | Path, b: str | Path) -> Difference:
    """Return what differs between two plans written by ``solve --json``.

    Raises:
        InputError: not plans, or plans in different currencies.
    """
    first, second = read_plan(a), read_plan(b)
    currency = _currency(first, second, str(b))
    lines = gap_lines(_amounts(first), _amounts(second), currency) if currency else ()
    return Difference(
        inputs=tuple(_inputs(first.provenance.inputs, second.provenance.inputs)),
        decisions=tuple(_decisions(first, second)),
        cost=lines,
        currency=currency,
    )


def _currency(a: Plan, b: Plan, name: str) -> str | None:
    known = [plan.cost.currency for plan in (a, b) if plan.cost is not None]
    if len(set(known)) > 1:
        found = f"costs in {known[1]}, the other plan in {known[0]}"
        raise InputError([Problem(name, found, "Expected two plans in one currency", "Solve again with currency set")])
    return known[0] if known else None


def _amounts(plan: Plan) -> dict[str, Decimal]:
    """Return the amounts by cost line; what rounding of the lines leaves of the total is a line of its own."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for line in plan.cost.lines if plan.cost else ():
        sums[line.item] += line.amount
    rest = (plan.cost.total if plan.cost else Decimal(0)) - sum(sums.values(), Decimal(0))
    return {**sums, "rounding": rest} if rest else dict(sums)


def _inputs(a: Iterable[InputFile], b: Iterable[InputFile]) -> Iterator[InputChange]:
    first, second = ({file.path: file for file in files} for files in (a, b))
    for path in dict.fromkeys([*first, *second]):
        left, right = first.get(path), second.get(path)
        if left is None or right is None or path == SETS:
            yield from _listed(path, left, right)
        elif left.sha256 != right.sha256:
            before, after = (dict(_leaves(read_yaml(file.content, file.path).data)) for file in (left, right))
            for key in dict.fromkeys([*before, *after]):
                if before.get(key) != after.get(key):
                    yield InputChange(path=f"{path}: {key}", a=before.get(key), b=after.get(key))


def _listed(path: str, a: InputFile | None, b: InputFile | None) -> Iterator[InputChange]:
    """Yield a file that only one has; of ``--set`` arguments each that only one has."""
    if path != SETS:
        yield InputChange(path=path, a="read" if a else None, b="read" if b else None)
        return
    before, after = (dict(line.partition("=")[::2] for line in (f.content.splitlines() if f else [])) for f in (a, b))
    for key in dict.fromkeys([*before, *after]):
        if before.get(key) != after.get(key):
            yield InputChange(path=f"{SETS} {key}", a=before.get(key), b=after.get(key))


def _leaves(data: object, path: str = "") -> Iterator[tuple[str, Figure]]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from _leaves(value, f"{path}.{key}".lstrip("."))
    elif isinstance(data, list):
        for place, value in enumerate(data):
            yield from _leaves(value, f"{path}.{place}".lstrip("."))
    else:
        number = isinstance(data, int | float | Decimal) and not isinstance(data, bool)
        yield path, Decimal(str(data)) if number else str(data)


def _decisions(a: Plan, b: Plan) -> Iterator[DecisionChange]:
    if a.status != b.status:
        yield DecisionChange(what="status", a=a.status, b=b.status)
    for name in dict.fromkeys([*a.workloads, *b.workloads]):
        pairs = zip_longest(_run(a.workloads.get(name)), _run(b.workloads.get(name)))
        for left, right in pairs:
            yield from _changed(f"{name}: {(left or right or ('',))[0]}", left and left[1], right and right[1])
    before, after = _awards(a.awards), _awards(b.awards)
    for what in dict.fromkeys([*before, *after]):
        yield from _changed(what, before.get(what), after.get(what))


def _changed(what: str, a: str | None, b: str | None) -> Iterator[DecisionChange]:
    if a != b:
        yield DecisionChange(what=what, a=a, b=b)


def _run(plan: WorkloadPlan | None) -> list[tuple[str, str]]:
    if plan is None:
        return []
    layout = plan.layout.model_dump(mode="json") if plan.layout else {}
    facts = {"platform": plan.platform, "place": plan.place, "nodes": plan.nodes, "start": plan.start, "end": plan.end}
    return [
        (key, str(value)) for key, value in {**facts, "layout": " ".join(f"{k}={v}" for k, v in layout.items())}.items()
    ]


def _awards(awards: Iterable[Award]) -> dict[str, str]:
    """Return units and delivery of each award."""
    return {
        f"{x.quote}/{x.offer} to {x.place}": f"{counted(x.units, 'unit')}, delivered {x.delivery_date}" for x in awards
    }
