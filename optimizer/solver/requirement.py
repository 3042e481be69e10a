"""The least a limit would have to be: its excess over what is stated, minimised over a model in which it is lifted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from optimizer.cost.frame import DAY, Frame
from optimizer.results import Figure, LimitName, Rejection
from optimizer.schema.platform import Platform
from optimizer.solver.backend import Settings
from optimizer.solver.bounds import MARGIN, cost_bounder
from optimizer.solver.cpsat import CpSat
from optimizer.solver.measures import MEASURES, Row
from optimizer.solver.model import CompactModel, build_model
from optimizer.solver.offers import rack_kw
from optimizer.solver.problem import (
    Problem,
)
from optimizer.solver.relax import Lever
from optimizer.solver.search import PROMISING
from optimizer.solver.viable import feasible, promising, some_plan, viable
from optimizer.units import counted

SAFE_OBJECTIVE = 1 << 58
"""Largest weighted sum of excesses a solver is given."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a limit would have to be.

    Attributes:
        needed: Least value that works; None when it was not found.
        available: What the scenario allows.
        unit: Unit of both.
        period: When or where; None for the whole plan.
        reason: One sentence where figures do not say it all.
    """

    needed: Figure = None
    available: Figure = None
    unit: str = ""
    period: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """A row with what a decision uses of it, in whole parts."""

    row: Row
    used: int

    @property
    def excess(self) -> int:
        """Parts above what is allowed."""
        return self.used - self.row.allowed

    def requirement(self) -> Requirement:
        """Return needed and available in the unit."""
        row = self.row
        needed, available = row.amount(self.used), row.amount(row.allowed)
        if row.day is None or not row.counts_days:
            return Requirement(needed, available, row.unit, row.period)
        end, due = (row.day + int(days) * DAY for days in (needed, available))
        margin = f" ({counted(row.extra, 'day')} of margin included)" if row.extra else ""
        reason = f"{row.period} can be done by {end} at the earliest{margin}; it is due on {due}"
        return Requirement(needed, available, row.unit, f"{row.period}, until {end}", reason)


def requirement(
    lever: Lever, problem: Problem, frame: Frame, settings: Settings, rejections: Collection[Rejection] = ()
) -> Requirement:
    """Return the least need of a limit while all others of ``problem`` hold.

    Args:
        lever: The limit, lifted in ``problem``.
        problem: The scenario without it.
        frame: The scenario as stated.
        settings: Solver settings.
        rejections: Offers and platforms that the scenario as stated leaves out.
    """
    if lever.name == "second_source":
        return _second_source(frame)
    if lever.name not in MEASURES:
        return _shut_out(lever.name, problem, frame, settings, rejections)
    uses = least_uses([lever], problem, frame, settings)
    worst = max(uses.get(lever, ()), key=lambda use: use.excess, default=None)
    return Requirement() if worst is None else worst.requirement()


def least_uses(levers: Collection[Lever], problem: Problem, frame: Frame, settings: Settings) -> dict[Lever, list[Use]]:
    """Return what the decision with the least excess over some limits uses of each; empty when none was found.

    Minimised is the sum over settings (a site's power, one year's budget) of excess / allowed: the relative change.

    Args:
        levers: Limits with a measure, lifted in ``problem``.
        problem: The scenario without them.
        frame: The scenario as stated.
        settings: Solver settings.
    """
    if problem.windows is not None:
        return {}
    problem = viable(problem)
    if {lever.name for lever in levers} == {"deadline"} and not problem.several:
        problem = _until(problem, settings)
    if not problem.profiles:
        return {}
    first = _least(levers, promising(problem), frame, settings) if len(problem.profiles) > PROMISING else None
    if first is not None and {lever.name for lever in levers} == {"budget"}:
        problem = _within(problem, [use for uses in first.uses.values() for use in uses])
    final = _least(levers, problem, frame, settings, first)
    best = final or first
    return best.uses if best else {}


@dataclass(frozen=True, eq=False)
class _Excess:
    """A decision with a small excess over some limits.

    Attributes:
        uses: Rows of each limit with what it uses of them.
        parts: Excess by group of rows.
    """

    uses: dict[Lever, list[Use]]
    parts: Mapping[str, int]


def _least(
    levers: Collection[Lever], problem: Problem, frame: Frame, settings: Settings, known: _Excess | None = None
) -> _Excess | None:
    """Return the decision with the least excess; None when there is none, or none better than a known one."""
    model = build_model(problem)
    rows = {lever: _rows(lever, model, frame) for lever in levers}
    groups: dict[str, list[Row]] = defaultdict(list)
    for lever, own in rows.items():
        for row in own:
            groups[f"{lever.name} {row.group}"].append(row)
    excess = {group: _excess(model, group, own) for group, own in groups.items()}
    objective = _relative(model, excess, groups)
    if known is not None:
        worst = sum(objective[index] * known.parts.get(group, 0) for group, index in excess.items())
        model.linear.add("excess", "better than known", objective.items(), upper=worst - 1)
    answer = CpSat().solve(model.linear, objective, settings)
    if not answer.values:
        return None
    used = {
        lever: [Use(row, model.linear.value(row.terms, answer.values)) for row in own] for lever, own in rows.items()
    }
    return _Excess(used, {group: answer.values[index] for group, index in excess.items()})


def _within(problem: Problem, money: Iterable[Use]) -> Problem:
    """Return the problem with the runs that may cost no more than a known plan."""
    bound, most = cost_bounder(problem), float(max(use.row.amount(use.used) for use in money))
    return problem.keep(p for p in problem.profiles if bound(p) <= most + MARGIN * max(1.0, most))


def _rows(lever: Lever, model: CompactModel, frame: Frame) -> list[Row]:
    """Return what a limit counts, of the part of it that is meant."""
    rows = MEASURES[lever.name](model, frame)
    return [row for row in rows if row.terms and (lever.part is None or row.group == lever.part)]


def _excess(model: CompactModel, group: str, rows: Sequence[Row]) -> int:
    linear = model.linear
    index = linear.integer(f"excess {group}", 0, max(linear.magnitude(row.terms.items()) for row in rows))
    for row in rows:
        linear.add("excess", row.period or group, [*row.terms.items(), (index, -1)], upper=row.allowed)
    return index


def _relative(model: CompactModel, excess: Mapping[str, int], groups: Mapping[str, Sequence[Row]]) -> dict[int, int]:
    """Return the sum of excess / allowed in integers as fine as a solver can take."""
    if len(excess) == 1:
        return dict.fromkeys(excess.values(), 1)
    allowed = {group: max(1, *(row.allowed + row.extra for row in rows)) for group, rows in groups.items()}
    most = sum(Decimal(model.linear.upper[index]) / allowed[group] for group, index in excess.items())
    scale = SAFE_OBJECTIVE / max(most, Decimal(1))
    return {index: max(1, int(scale / allowed[group])) for group, index in excess.items()}


def _until(problem: Problem, settings: Settings) -> Problem:
    """Return the problem with only the runs that end by the earliest day on which any plan can end."""
    ends = sorted({profile.run.end for profile in problem.profiles})
    low, high = 0, len(ends) - 1
    while low < high:
        middle = (low + high) // 2
        kept = problem.keep(profile for profile in problem.profiles if profile.run.end <= ends[middle])
        low, high = (middle + 1, high) if feasible(kept, settings) is False else (low, middle)
    return problem.keep(profile for profile in problem.profiles if profile.run.end <= ends[low]) if ends else problem


def _second_source(frame: Frame) -> Requirement:
    share = Decimal(frame.scenario.policy.vendors.second_source_share)
    reason = f"no plan has {share:.0%} of its accelerators from others than its largest vendor"
    return Requirement(share, None, "share outside the largest vendor", None, reason)


def _shut_out(
    name: LimitName, problem: Problem, frame: Frame, settings: Settings, rejections: Collection[Rejection]
) -> Requirement:
    """Return what an offer lacks that a plan without the limit takes, as the rejection of the offer says."""
    own = [item for item in rejections if item.limit == name]
    choice = some_plan(problem, settings)
    offers = {"/".join(taken.option.offer_key) for taken in choice.taken} if choice else set()
    platforms = {run.platform.id: run.platform for run in choice.runs} if choice else {}
    taken = [item for item in own if item.quote in offers or (item.quote is None and item.platform in platforms)]
    if choice and not taken and name in ("rack_power", "cooling"):
        return Requirement(reason=_zones(name, platforms.values(), frame))
    for item in taken or own:
        where = ", ".join(filter(None, (item.platform, item.quote)))
        return Requirement(item.needed, item.available, item.unit, where, item.reason)
    return Requirement()


def _zones(name: LimitName, platforms: Iterable[Platform], frame: Frame) -> str:
    """Return what platforms need of a zone, and what each zone has: some zones hold them, others could."""
    zones = [(zone, facts) for site in frame.scenario.sites.values() for zone, facts in (site.zones or {}).items()]
    if name == "cooling":
        wanted = (f"{card.id} takes {'/'.join(card.space.cooling or ())} cooling" for card in platforms)
        return f"{', '.join(wanted)}; zones have {', '.join(f'{zone} {facts.cooling}' for zone, facts in zones)}"
    needed = (f"{card.id} needs {rack_kw(card):f} kW in a rack" for card in platforms)
    return f"{', '.join(needed)}; zones give {', '.join(f'{zone} {facts.kw_per_rack:f}' for zone, facts in zones)}"
