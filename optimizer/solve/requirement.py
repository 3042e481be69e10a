"""The least a limit would have to be: its use, minimised over a model in which it is lifted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from optimizer.cost.frame import DAY, Frame
from optimizer.results import LimitName
from optimizer.solve.backend import Settings
from optimizer.solve.cpsat import CpSat
from optimizer.solve.ledger import scale_digits, scaled_up
from optimizer.solve.model import CompactModel, build_model
from optimizer.solve.problem import Problem, window
from optimizer.solve.rules.site import WATTS, installed_watts


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a limit would have to be.

    Attributes:
        needed: Least value that works; None when it is not a number.
        available: What the scenario allows.
        unit: Unit of both.
        period: When or where; None for the whole plan.
    """

    needed: Decimal | None
    available: Decimal | None
    unit: str
    period: str | None


def requirement(name: LimitName, problem: Problem, frame: Frame, settings: Settings) -> Requirement:
    """Return the least need of a limit.

    Args:
        name: The limit, lifted in ``problem``.
        problem: The scenario without it.
        frame: The scenario as stated.
        settings: Solver settings.
    """
    measure = MEASURES.get(name)
    return measure(problem, frame, settings) if measure else Requirement(None, None, "", None)


def _least(model: CompactModel, terms: dict[int, int], settings: Settings) -> int | None:
    return CpSat().solve(model.linear, terms, settings).objective


def _deadline(problem: Problem, frame: Frame, settings: Settings) -> Requirement:
    model = build_model(problem)
    name = next(iter(frame.scenario.workloads))
    _, last = window(frame.scenario.workloads[name], frame)
    needed = _least(model, model.end(), settings)
    margin = frame.scenario.workloads[name].deadline_margin_days
    available = Decimal((last - frame.today).days + margin)
    unit = "days from today"
    if needed is None:
        return Requirement(None, available, unit, name)
    day = frame.today + (needed + margin) * DAY
    return Requirement(Decimal(needed + margin), available, unit, f"{name}, until {day}")


def _budget(problem: Problem, frame: Frame, settings: Settings) -> Requirement:
    model = build_model(problem)
    bookings = model.builder.ledger.outflow
    digits = scale_digits([bookings], model.linear.upper, frame.scenario.currency)
    needed = _least(model, scaled_up(bookings, digits), settings)
    total = frame.scenario.budget.total
    available = frame.amount(total) if total else None
    return Requirement(
        None if needed is None else Decimal(needed).scaleb(-digits), available, frame.scenario.currency, None
    )


def _power(problem: Problem, frame: Frame, settings: Settings) -> Requirement:
    """The least peak power over the sites, against the most power stated at the site that peaks."""
    model = build_model(problem)
    top = max((installed_watts(model.builder, site) for site in frame.scenario.sites), key=len, default=[])
    peak = model.linear.integer("peak", 0, max(model.linear.magnitude(terms) for terms in top) if top else 0)
    for terms in top:
        model.linear.add("power", "peak", [*terms, (peak, -1)], upper=0)
    needed = _least(model, {peak: 1}, settings)
    most = [step.kw for site in frame.scenario.sites.values() for step in site.power or ()]
    return Requirement(None if needed is None else Decimal(needed) / WATTS, max(most, default=None), "kW", None)


MEASURES: dict[LimitName, Callable[[Problem, Frame, Settings], Requirement]] = {
    "deadline": _deadline,
    "budget": _budget,
    "power": _power,
}
"""How the need of a limit is measured; limits without an entry are named without a figure."""
