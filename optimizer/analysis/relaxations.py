"""The smallest changes that make a scenario feasible: of each limit alone, and the smallest joint one.

Limits that the model measures (budget, deadline, power) are minimised in one elastic model; the others are turned
step by step. Nothing is returned before solving again with it has given a plan.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from itertools import combinations

from optimizer.analysis.bench import Bench
from optimizer.analysis.knobs import Knob, knobs, least
from optimizer.cost.frame import DAY, Frame
from optimizer.results import Conflict, ConflictLimit, LimitName, Relaxation
from optimizer.solver.conflict import superfluous
from optimizer.solver.measures import MEASURES
from optimizer.solver.relax import Lever, lifted
from optimizer.solver.requirement import Use, least_uses, requirement
from optimizer.units import minor_digits

MEASURED: tuple[LimitName, ...] = ("deadline", "budget", "budget_year", "power")
"""Limits whose settings are read off the elastic model."""

SMALL = Decimal("0.01")
"""Smallest amount a change is taken relative to."""

LARGEST_JOINT = 3
"""Most limits a joint change is looked for among; more is a different question."""


def with_relaxations(conflict: Conflict, bench: Bench, pinned: Collection[str] = ()) -> Conflict:
    """Return a conflict with the smallest single changes and the smallest joint one.

    Args:
        conflict: Why the scenario has no plan.
        bench: The scenario.
        pinned: Limits that are not negotiable.
    """
    free = [lever for lever in bench.probe.levers if lever.name not in pinned]
    alone = [found for lever in free if bench.probe.without({lever}) for found in _single(lever, bench)]
    singles = sorted(alone, key=partial(relative_change, today=bench.loaded.scenario.today))
    joint = tuple(singles[:1]) if singles else _joint(bench, free)
    limits = tuple(_figured(limit, singles, bench.loaded.scenario.today) for limit in conflict.limits)
    return conflict.model_copy(update={"limits": limits, "relaxations": tuple(singles), "joint": joint})


def _figured(limit: ConflictLimit, singles: Sequence[Relaxation], today: dt.date) -> ConflictLimit:
    """Return a limit that no model measured with the figures of its own smallest change."""
    own = [one for one in singles if one.limit == limit.name and f".{limit.period or ''}" in one.set]
    if limit.needed is not None or limit.reason is not None or not own:
        return limit
    needed, available, unit = own[0].to, own[0].from_, own[0].unit
    if unit == "date":
        unit = "days from today"
        needed, available = (Decimal((dt.date.fromisoformat(str(day)) - today).days) for day in (needed, available))
    return limit.model_copy(update={"needed": needed, "available": available, "unit": unit})


def relative_change(change: Relaxation, today: dt.date) -> Decimal:
    """Return |to - from| / from: of dates in days from today, of a switch or a level 1."""
    if isinstance(change.from_, Decimal) and isinstance(change.to, Decimal):
        return abs(change.to - change.from_) / max(abs(change.from_), SMALL)
    if change.unit != "date":
        return Decimal(1)
    before, after = (Decimal((dt.date.fromisoformat(str(day)) - today).days) for day in (change.from_, change.to))
    return (after - before) / max(before, Decimal(1))


def _single(lever: Lever, bench: Bench) -> Iterator[Relaxation]:
    """Yield the smallest change of a limit alone (of several settings that would do, the one that changes least)."""
    if lever.name in MEASURED:
        yield from _verified(_measured({lever}, bench, ()), bench) or _later(lever, bench)
        return
    found = _turned(lever, bench)
    if found is not None:
        yield found


def _later(lever: Lever, bench: Bench) -> list[Relaxation]:
    """Return the first deadline of one of several runs that gives a plan: runs too many to list have no measure."""
    frame = bench.probe.inputs.frame
    workload = frame.scenario.workloads.get(lever.part or "")
    if lever.name != "deadline" or workload is None or workload.deadline is None or len(frame.scenario.workloads) == 1:
        return []
    days = (frame.last_day - workload.deadline).days + workload.deadline_margin_days
    values = [str(workload.deadline + day * DAY) for day in range(1, days + 1)]
    found = least(Knob("deadline", f"workloads.{lever.part}.deadline", "date", str(workload.deadline), values), bench)
    return [] if found is None else [found]


def _turned(lever: Lever, bench: Bench, also: Sequence[str] = (), free: Collection[Lever] = ()) -> Relaxation | None:
    """Return the smallest change of one setting of a limit, with other changes made and limits lifted."""
    frame = bench.changed(also).frame
    lacking = _lacking(lever, frame, bench, free) if lever.name in MEASURES else None
    tried = (least(knob, bench, also, free) for knob in knobs(lever.name, bench.probe.offered(frame), lacking))
    rank = partial(relative_change, today=frame.today)
    return min((found for found in tried if found is not None), key=rank, default=None)


def _lacking(lever: Lever, frame: Frame, bench: Bench, free: Collection[Lever]) -> Decimal | None:
    """Return what is missing of a limit as a measure of the whole scenario says."""
    problem = bench.probe.prepared(lifted(frame, {lever, *free})).problem
    need = requirement(lever, problem, frame, bench.settings)
    figures = isinstance(need.needed, Decimal) and isinstance(need.available, Decimal)
    return Decimal(need.needed) - Decimal(need.available) if figures else None  # type: ignore[arg-type]


def _verified(changes: Sequence[Relaxation], bench: Bench) -> Sequence[Relaxation]:
    """Return changes that give a plan together; none when they do not."""
    return changes if changes and bench.feasible([change.set for change in changes]) else ()


def _measured(levers: set[Lever], bench: Bench, others: Iterable[Lever]) -> list[Relaxation]:
    """Return the changes of measured limits with the least sum of relative changes, while others are lifted."""
    frame = bench.probe.inputs.frame
    problem = bench.probe.prepared(lifted(frame, {*levers, *others})).problem
    uses = least_uses(levers, problem, frame, bench.settings)
    return [change for lever in sorted(levers, key=str) for change in _changes(lever.name, uses.get(lever, []), frame)]


def _changes(name: LimitName, uses: Sequence[Use], frame: Frame) -> Iterator[Relaxation]:
    short = [use for use in uses if use.excess > 0]
    if not short:
        return
    if name == "power":
        for site in sorted({use.row.group for use in short}):
            yield _power(site, [use for use in short if use.row.group == site], frame)
        return
    for use in short:
        yield _deadline(use, frame) if name == "deadline" else _budget(name, use, frame)


def _deadline(use: Use, frame: Frame) -> Relaxation:
    stated = frame.scenario.workloads[use.row.group].deadline
    day = frame.today + int(use.row.amount(use.used)) * DAY
    key = f"workloads.{use.row.group}.deadline"
    return Relaxation(limit="deadline", from_=str(stated), to=str(day), unit="date", set=f"{key}={day}")


def _budget(name: LimitName, use: Use, frame: Frame) -> Relaxation:
    key = "budget.total" if name == "budget" else f"budget.by_fiscal_year.{use.row.period}"
    needed = use.row.amount(use.used)
    available = use.row.amount(use.row.allowed).quantize(Decimal(1).scaleb(-minor_digits(frame.scenario.currency)))
    return Relaxation(limit=name, from_=available, to=needed, unit=use.row.unit, set=f"{key}={needed:f}")


def _power(site: str, short: Sequence[Use], frame: Frame) -> Relaxation:
    """Raise the steps that are too low to what stands there while they hold; before the first, add one."""
    steps = [(step.from_, step.kw) for step in frame.site(site).power or ()]
    needs: dict[int, Decimal] = {}
    early = [use for use in short if not steps or (use.row.day and use.row.day < steps[0][0])]
    for use in short:
        reached = sum(1 for first, _ in steps if use.row.day and first <= use.row.day) - 1
        needs[reached] = max(needs.get(reached, Decimal(0)), use.row.amount(use.used))
    raised = [(first, max(kw, needs.get(place, kw))) for place, (first, kw) in enumerate(steps)]
    if early:
        raised.insert(0, (min(use.row.day for use in early if use.row.day), needs[-1]))
    worst = max(short, key=lambda use: use.excess)
    if len(needs) == 1 and not early:
        (place,) = needs
        text = f"sites.{site}.power.{place}.kw={needs[place].normalize():f}"
    else:
        text = f"sites.{site}.power=[" + ", ".join(f"{{from: {d}, kw: {kw.normalize():f}}}" for d, kw in raised) + "]"
    available = worst.row.amount(worst.row.allowed)
    return Relaxation(limit="power", from_=available, to=worst.row.amount(worst.used), unit="kW", set=text)


def _joint(bench: Bench, free: Sequence[Lever]) -> tuple[Relaxation, ...]:
    """Return the change of the fewest limits; among those sets the one with the least sum of relative changes."""
    rank = partial(relative_change, today=bench.loaded.scenario.today)
    size = 0
    best: tuple[Relaxation, ...] = ()
    for limits in _smallest_sets(bench, free):
        if best and len(limits) > size:
            break
        found = _together(limits, bench)
        if found and (not best or sum(map(rank, found)) < sum(map(rank, best))):
            best, size = found, len(limits)
    return best


def _smallest_sets(bench: Bench, free: Sequence[Lever]) -> Iterator[tuple[Lever, ...]]:
    """Yield sets of limits whose lifting gives a plan, the smallest first.

    Implicit hitting sets: such a set meets every conflict. One that gives no plan leads to a conflict it misses.
    """
    conflicts: list[set[Lever]] = []
    for size in range(2, LARGEST_JOINT + 1):
        for limits in combinations(free, size):
            if not all(conflict.intersection(limits) for conflict in conflicts):
                continue
            if bench.probe.without(limits):
                yield limits
            else:
                gone, _ = superfluous(bench.probe, limits)
                conflicts.append(set(bench.probe.levers) - gone)


def _together(limits: Sequence[Lever], bench: Bench) -> tuple[Relaxation, ...]:
    """Return the smallest change of a set of limits: the measured ones at once, then the others one by one."""
    measured = {lever for lever in limits if lever.name in MEASURED}
    others = [lever for lever in limits if lever.name not in MEASURED]
    changes = _measured(measured, bench, others) if measured else []
    for place, lever in enumerate(others):
        found = _turned(lever, bench, [change.set for change in changes], others[place + 1 :])
        if found is None:
            return ()
        changes.append(found)
    return tuple(_verified(changes, bench))
