"""The least a limit would have to be: its excess over what is stated, minimised over a model in which it is lifted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from optimizer.cost.frame import DAY, Frame
from optimizer.results import LimitName
from optimizer.schema.quote import BlockOffer
from optimizer.solver.backend import Settings
from optimizer.solver.cpsat import CpSat
from optimizer.solver.ledger import scaled_up
from optimizer.solver.model import CompactModel, build_model
from optimizer.solver.offers import rack_positions, units_per_rack
from optimizer.solver.problem import Pool, Problem, fabric_nodes, pools, supply_nodes, window
from optimizer.solver.rules.site import WATTS, installed_watts, power_on
from optimizer.units import minor_digits


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


def requirement(name: LimitName, problem: Problem, frame: Frame, settings: Settings) -> Requirement:
    """Return the least need of a limit while all others of ``problem`` hold.

    Args:
        name: The limit, lifted in ``problem``.
        problem: The scenario without it.
        frame: The scenario as stated.
        settings: Solver settings.
    """
    measure = MEASURES.get(name)
    return measure(build_model(problem), frame, settings) if measure else Requirement()


@dataclass(frozen=True, slots=True)
class _Row:
    """Use of one limit in one period: terms, in whole units, against what is allowed."""

    period: str | None
    terms: Mapping[int, int]
    allowed: int


def _least_excess(model: CompactModel, rows: Iterable[_Row], settings: Settings) -> tuple[_Row, int] | None:
    """Return the row with the largest excess, and its use, when the largest excess is as small as possible."""
    kept = list(rows)
    linear = model.linear
    most = max((linear.magnitude(row.terms.items()) for row in kept), default=0)
    excess = linear.integer("excess", 0, most)
    for row in kept:
        linear.add("excess", row.period or "", [*row.terms.items(), (excess, -1)], upper=row.allowed)
    answer = CpSat().solve(linear, {excess: 1}, settings)
    if not answer.values or not kept:
        return None
    uses = [(row, linear.value(row.terms, answer.values)) for row in kept]
    return max(uses, key=lambda use: use[1] - use[0].allowed)


def _deadline(model: CompactModel, frame: Frame, settings: Settings) -> Requirement:
    name, workload = next(iter(frame.scenario.workloads.items()))
    margin = workload.deadline_margin_days
    last = (window(workload, frame)[1] - frame.today).days
    found = _least_excess(model, [_Row(name, model.end(), last)], settings)
    unit = "days from today"
    if found is None:
        return Requirement(None, Decimal(last + margin), unit, name)
    day = frame.today + (found[1] + margin) * DAY
    return Requirement(Decimal(found[1] + margin), Decimal(last + margin), unit, f"{name}, until {day}")


def _budget(model: CompactModel, frame: Frame, settings: Settings) -> Requirement:
    total = frame.scenario.budget.total
    rows = [(None, model.builder.ledger.outflow, frame.amount(total))] if total else []
    return _money(model, rows, frame, settings)


def _budget_year(model: CompactModel, frame: Frame, settings: Settings) -> Requirement:
    years = model.builder.ledger.outflow_by_year
    limits = frame.scenario.budget.by_fiscal_year.items()
    return _money(model, [(year, years.get(year, {}), frame.amount(money)) for year, money in limits], frame, settings)


def _money(
    model: CompactModel,
    rows: Iterable[tuple[str | None, Mapping[int, Decimal], Decimal]],
    frame: Frame,
    settings: Settings,
) -> Requirement:
    currency = frame.scenario.currency
    digits = minor_digits(currency)
    scaled = [_Row(year, scaled_up(booked, digits), int(amount.scaleb(digits))) for year, booked, amount in rows]
    found = _least_excess(model, scaled, settings)
    if found is None:
        return Requirement(unit=currency)
    row, used = found
    return Requirement(Decimal(used).scaleb(-digits), Decimal(row.allowed).scaleb(-digits), currency, row.period)


def _power(model: CompactModel, frame: Frame, settings: Settings) -> Requirement:
    rows = [
        _Row(f"{name} on {day}", dict(terms), int(power_on(site.power, day) * WATTS))
        for name, site in frame.scenario.sites.items()
        if site.power is not None
        for day, terms in installed_watts(model.builder, name)
        if terms
    ]
    found = _least_excess(model, rows, settings)
    if found is None:
        return Requirement(unit="kW")
    row, used = found
    return Requirement(Decimal(used) / WATTS, Decimal(row.allowed) / WATTS, "kW", row.period)


def _racks(model: CompactModel, frame: Frame, settings: Settings) -> Requirement:
    """Rack positions, taken together over the zones of a site that can hold the platforms of the problem."""
    rows = []
    platforms = {pool.platform.id: pool.platform for pool in model.builder.problem.pools}
    for name, site in frame.scenario.sites.items():
        zones = [z for z in (site.zones or {}).values() if any(units_per_rack(p, z) for p in platforms.values())]
        given = {key: index for key, index in model.builder.racks.items() if key.site == name}
        for day in sorted({key.day for key in given}, key=str):
            terms = {index: rack_positions(platforms[key.platform]) for key, index in given.items() if key.day == day}
            rows.append(_Row(f"{name} on {day}" if day else name, terms, sum(zone.racks for zone in zones)))
    found = _least_excess(model, rows, settings)
    if found is None:
        return Requirement(unit="racks")
    return Requirement(Decimal(found[1]), Decimal(found[0].allowed), "racks", found[0].period)


def _supply(model: CompactModel, frame: Frame, settings: Settings) -> Requirement:
    """Nodes of the run that needs fewest, against the most any pool of the scenario as stated can have."""
    nodes = {index: profile.nodes_needed for profile, index in model.builder.chosen.items()}
    most = max(map(supply_nodes, _stated_pools(model, frame)), default=0)
    found = _least_excess(model, [_Row(None, nodes, most)], settings)
    return Requirement(None if found is None else Decimal(found[1]), Decimal(most), "nodes")


def _stated_pools(model: CompactModel, frame: Frame) -> list[Pool]:
    """Return the pools of the model's platforms as the scenario states them."""
    platforms = {pool.platform.id for pool in model.builder.problem.pools}
    return [pool for pool in pools(frame)[0] if pool.platform.id in platforms]


def _fabric(model: CompactModel, frame: Frame, settings: Settings) -> Requirement:
    nodes = {index: profile.run.candidate.nodes for profile, index in model.builder.chosen.items()}
    most = max((fabric_nodes(option) for pool in _stated_pools(model, frame) for option in pool.options), default=0)
    found = _least_excess(model, [_Row(None, nodes, most)], settings)
    return Requirement(None if found is None else Decimal(found[1]), Decimal(most), "nodes")


def _vendors(model: CompactModel, frame: Frame, settings: Settings) -> Requirement:
    """Vendors with an award: an order of each counts at least its share of one."""
    builder = model.builder
    used: dict[str, int] = {}
    for order in builder.orders:
        vendor = order.option.quote.vendor
        if vendor not in used:
            used[vendor] = model.linear.boolean(f"vendor {vendor}")
        model.linear.add("vendors", vendor, [(used[vendor], 1), (order.index, -1)], lower=0)
    most = frame.scenario.policy.vendors.max or len(used)
    found = _least_excess(model, [_Row(None, dict.fromkeys(used.values(), 1), most)], settings)
    return Requirement(None if found is None else Decimal(found[1]), Decimal(most), "vendors")


def _second_source(model: CompactModel, frame: Frame, settings: Settings) -> Requirement:
    return Requirement(
        Decimal(frame.scenario.policy.vendors.second_source_share), None, "share outside the largest vendor"
    )


def _expired(model: CompactModel, frame: Frame, settings: Settings) -> Requirement:
    """The order date, against the last day of validity of the quote that is valid longest."""
    dates = [quote.valid_until for quote in frame.quotes.values() if quote.valid_until is not None]
    available = Decimal((max(dates) - frame.today).days) if dates else None
    return Requirement(
        Decimal((frame.order_date - frame.today).days), available, "days from today", str(frame.order_date)
    )


def _block_length(model: CompactModel, frame: Frame, settings: Settings) -> Requirement:
    """Days of the shortest run, against the longest block offered."""
    days = {index: profile.run.candidate.days for profile, index in model.builder.chosen.items()}
    offers = [offer for quote in frame.quotes.values() for offer in quote.offers.values()]
    longest = max((row.to for offer in offers if isinstance(offer, BlockOffer) for row in offer.days), default=0)
    found = _least_excess(model, [_Row(None, days, longest)], settings)
    return Requirement(None if found is None else Decimal(found[1]), Decimal(longest), "days")


MEASURES: dict[LimitName, Callable[[CompactModel, Frame, Settings], Requirement]] = {
    "deadline": _deadline,
    "budget": _budget,
    "budget_year": _budget_year,
    "power": _power,
    "racks": _racks,
    "supply": _supply,
    "fabric": _fabric,
    "vendors": _vendors,
    "second_source": _second_source,
    "expired": _expired,
    "block_length": _block_length,
}
"""How the need of each relaxable limit is measured."""
