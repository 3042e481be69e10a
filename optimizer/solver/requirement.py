"""The least a limit would have to be: its excess over what is stated, minimised over a model in which it is lifted."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal

from optimizer.cost.frame import DAY, Frame
from optimizer.results import LimitName
from optimizer.schema.quote import BlockOffer
from optimizer.solver.backend import Settings
from optimizer.solver.cpsat import CpSat
from optimizer.solver.ledger import scale_digits, scaled_up
from optimizer.solver.model import CompactModel, build_model, feasibility_model
from optimizer.solver.offers import rack_positions, units_per_rack
from optimizer.solver.problem import Pool, Problem, Profile, fabric_nodes, pools, supply_nodes, window
from optimizer.solver.rules.site import WATTS, awarded_watts, owned_kw, usable_watts, watts_needed
from optimizer.units import minor_digits

FROM_TODAY = "days from today"
"""Unit of a deadline."""

SAFE_OBJECTIVE = 1 << 58
"""Largest weighted sum of excesses a solver is given."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a limit would have to be.

    Attributes:
        needed: Least value that works; None when it is not a number or was not found.
        available: What the scenario allows.
        unit: Unit of both.
        period: When or where; None for the whole plan.
    """

    needed: Decimal | None = None
    available: Decimal | None = None
    unit: str = ""
    period: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """Use of one limit in one period: terms, in whole parts of its unit, against what is allowed.

    Attributes:
        period: When or where.
        terms: What the decision uses.
        allowed: What the scenario allows.
        unit: Unit in words.
        parts: Whole parts of one unit.
        rounded: Needs are rounded up to this; zero = not at all.
        extra: Parts that both sides have on top (the margin before a deadline).
        group: Rows of a group are exceeded by the same amount: the setting that would change.
        day: The day the row is about (power), or from which its days are counted (deadline).
    """

    period: str | None
    terms: Mapping[int, int]
    allowed: int
    unit: str
    parts: Decimal = Decimal(1)
    rounded: Decimal = Decimal(0)
    extra: int = 0
    group: str = ""
    day: dt.date | None = None

    def amount(self, parts: int) -> Decimal:
        """Return whole parts as an amount of the unit, rounded up to what can be written."""
        exact = Decimal(parts + self.extra) / self.parts
        return exact.quantize(self.rounded, rounding=ROUND_CEILING) if self.rounded else exact


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
        row, needed = self.row, self.row.amount(self.used)
        until = f", until {row.day + int(needed) * DAY}" if row.day and row.unit == FROM_TODAY else ""
        return Requirement(needed, row.amount(row.allowed), row.unit, f"{row.period}{until}" if row.period else None)


def requirement(name: LimitName, problem: Problem, frame: Frame, settings: Settings) -> Requirement:
    """Return the least need of a limit while all others of ``problem`` hold.

    Args:
        name: The limit, lifted in ``problem``.
        problem: The scenario without it.
        frame: The scenario as stated.
        settings: Solver settings.
    """
    if name in STATED:
        return STATED[name](frame)
    uses = least_uses([name], problem, frame, settings)
    worst = max(uses.get(name, ()), key=lambda use: use.excess, default=None)
    return Requirement() if worst is None else worst.requirement()


def least_uses(
    names: Collection[LimitName], problem: Problem, frame: Frame, settings: Settings
) -> dict[LimitName, list[Use]]:
    """Return what the decision with the least excess over some limits uses of each; empty when none was found.

    Minimised is the sum over settings (a site's power, one year's budget) of excess / allowed: the relative change.

    Args:
        names: Limits with a measure, lifted in ``problem``.
        problem: The scenario without them.
        frame: The scenario as stated.
        settings: Solver settings.
    """
    if not problem.profiles or problem.windows is not None:
        return {}
    soonest = set(names) == {"deadline"} and not problem.several
    model = build_model(_until(problem, settings) if soonest else problem)
    rows = {name: [row for row in MEASURES[name](model, frame) if row.terms] for name in names}
    groups: dict[str, list[Row]] = defaultdict(list)
    for name, own in rows.items():
        for row in own:
            groups[f"{name} {row.group}"].append(row)
    excess = {group: _excess(model, group, own) for group, own in groups.items()}
    answer = CpSat().solve(model.linear, _relative(model, excess, groups), settings)
    if not answer.values:
        return {}
    return {name: [Use(row, model.linear.value(row.terms, answer.values)) for row in own] for name, own in rows.items()}


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
        infeasible = CpSat().solve(feasibility_model(kept), {}, settings).outcome == "infeasible"
        low, high = (middle + 1, high) if infeasible else (low, middle)
    return problem.keep(profile for profile in problem.profiles if profile.run.end <= ends[low]) if ends else problem


def _deadline(model: CompactModel, frame: Frame) -> list[Row]:
    """The last day of each run against the last day it may use, its margin on top of both."""
    rows = []
    for name, workload in frame.scenario.workloads.items():
        ends = {
            index: (profile.run.end - frame.today).days
            for profile, index in model.builder.chosen.items()
            if profile.workload == name
        }
        last = (window(workload, frame)[1] - frame.today).days
        margin = workload.deadline_margin_days
        rows.append(Row(name, ends, last, FROM_TODAY, extra=margin, group=name, day=frame.today))
    return rows


def _budget(model: CompactModel, frame: Frame) -> list[Row]:
    total = frame.scenario.budget.total
    return [_money(model, None, model.builder.ledger.outflow, frame.amount(total))] if total is not None else []


def _budget_year(model: CompactModel, frame: Frame) -> list[Row]:
    years = model.builder.ledger.outflow_by_year
    limits = frame.scenario.budget.by_fiscal_year.items()
    return [_money(model, year, years.get(year, {}), frame.amount(money)) for year, money in limits]


def _money(model: CompactModel, year: str | None, booked: Mapping[int, Decimal], amount: Decimal) -> Row:
    """Return a budget as its rule counts it."""
    builder = model.builder
    currency = builder.frame.scenario.currency
    digits = scale_digits([dict(booked), {builder.one: amount}], builder.model.upper, currency)
    parts, minor = Decimal(1).scaleb(digits), Decimal(1).scaleb(-minor_digits(currency))
    allowed = int(amount.scaleb(digits))
    return Row(year, scaled_up(booked, digits), allowed, currency, parts, minor, group=year or "total")


def _power(model: CompactModel, frame: Frame) -> list[Row]:
    rows = []
    for name, site in frame.scenario.sites.items():
        owned = owned_kw(model.builder, name)
        for day, terms in awarded_watts(model.builder, name) if site.power is not None else ():
            usable = usable_watts(site.power or (), owned, day)
            row = Row(f"{name} on {day}", dict(terms), usable, "kW", Decimal(WATTS), group=name, day=day)
            rows.append(replace(row, extra=watts_needed(owned)))
    return rows


def _racks(model: CompactModel, frame: Frame) -> list[Row]:
    """Rack positions, taken together over the zones of a site that can hold the platforms of the problem."""
    rows = []
    platforms = {profile.pool.platform.id: profile.pool.platform for profile in model.builder.problem.profiles}
    for name, site in frame.scenario.sites.items():
        zones = [z for z in (site.zones or {}).values() if any(units_per_rack(p, z) for p in platforms.values())]
        known = model.builder.racks.items()
        given = {key: index for key, index in known if key.site == name and key.platform in platforms}
        for day in sorted({key.day for key in given}, key=str):
            terms = {index: rack_positions(platforms[key.platform]) for key, index in given.items() if key.day == day}
            where = f"{name} on {day}" if day else name
            rows.append(Row(where, terms, sum(zone.racks for zone in zones), "racks", group=name))
    return rows


def _supply(model: CompactModel, frame: Frame) -> list[Row]:
    """Nodes of a run with its spares, against the most its pool can have as the scenario states it."""
    if model.builder.problem.several:
        return _at_once(model, frame)
    return _by_pool(model, frame, lambda profile: profile.nodes_needed, supply_nodes)


def _fabric(model: CompactModel, frame: Frame) -> list[Row]:
    """Nodes of a run, against the largest fabric of its pool."""

    def largest(pool: Pool) -> int:
        return max((fabric_nodes(option) for option in pool.options), default=0)

    return _by_pool(model, frame, lambda profile: profile.run.candidate.nodes, largest)


def _by_pool(
    model: CompactModel, frame: Frame, needs: Callable[[Profile], int], gives: Callable[[Pool], int]
) -> list[Row]:
    """Return a row for each pool and workload: what its run needs against what the pool gives; one excess for all."""
    stated = {pool.name: gives(pool) for pool in pools(frame)[0]}
    terms: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for profile, index in model.builder.chosen.items():
        terms[profile.pool.name, profile.workload][index] = needs(profile)
    return [Row(name, own, stated.get(name, 0), "nodes") for (name, _), own in terms.items()]


def _at_once(model: CompactModel, frame: Frame) -> list[Row]:
    """Nodes of the runs of a pool on the days on which one of them starts, with their spares, against its supply."""
    stated = {pool.name: supply_nodes(pool) for pool in pools(frame)[0]}
    days = sorted({(profile.pool.name, profile.run.start) for profile in model.builder.chosen})
    rows = []
    for name, day in days:
        terms = {
            index: profile.nodes_needed
            for profile, index in model.builder.chosen.items()
            if profile.pool.name == name and profile.run.start <= day <= profile.run.end
        }
        rows.append(Row(name, terms, stated.get(name, 0), "nodes"))
    return rows


def _vendors(model: CompactModel, frame: Frame) -> list[Row]:
    """Vendors with an award: an order of each counts at least its share of one."""
    builder = model.builder
    used: dict[str, int] = {}
    for order in builder.orders:
        vendor = order.option.quote.vendor
        if vendor not in used:
            used[vendor] = model.linear.boolean(f"vendor {vendor}")
        model.linear.add("vendors", vendor, [(used[vendor], 1), (order.index, -1)], lower=0)
    most = frame.scenario.policy.vendors.max or len(used)
    return [Row(None, dict.fromkeys(used.values(), 1), most, "vendors")]


def _block_length(model: CompactModel, frame: Frame) -> list[Row]:
    """Days of the shortest run, against the longest block offered."""
    days = {index: profile.run.candidate.days for profile, index in model.builder.chosen.items()}
    offers = [offer for quote in frame.quotes.values() for offer in quote.offers.values()]
    longest = max((row.to for offer in offers if isinstance(offer, BlockOffer) for row in offer.days), default=0)
    return [Row(None, days, longest, "days")]


MEASURES: dict[LimitName, Callable[[CompactModel, Frame], list[Row]]] = {
    "deadline": _deadline,
    "budget": _budget,
    "budget_year": _budget_year,
    "power": _power,
    "racks": _racks,
    "supply": _supply,
    "fabric": _fabric,
    "vendors": _vendors,
    "block_length": _block_length,
}
"""How the use of each limit that a model measures is counted."""


def _second_source(frame: Frame) -> Requirement:
    share = Decimal(frame.scenario.policy.vendors.second_source_share)
    return Requirement(share, None, "share outside the largest vendor")


def _expired(frame: Frame) -> Requirement:
    """The order date, against the last day of validity of the quote that is valid longest."""
    dates = [quote.valid_until for quote in frame.quotes.values() if quote.valid_until is not None]
    available = Decimal((max(dates) - frame.today).days) if dates else None
    return Requirement(Decimal((frame.order_date - frame.today).days), available, FROM_TODAY, str(frame.order_date))


def _rack_power(frame: Frame) -> Requirement:
    zones = [zone for site in frame.scenario.sites.values() for zone in (site.zones or {}).values()]
    return Requirement(None, max((zone.kw_per_rack for zone in zones), default=None), "kW per rack")


STATED: dict[LimitName, Callable[[Frame], Requirement]] = {
    "second_source": _second_source,
    "expired": _expired,
    "rack_power": _rack_power,
    "cooling": lambda frame: Requirement(unit="class"),
    "evidence": lambda frame: Requirement(unit="evidence level"),
    "policy": lambda frame: Requirement(),
}
"""Limits that no row measures: what the scenario states of them."""
