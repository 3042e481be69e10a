"""What one more unit of each limit is worth: the scenario solved again with a stated step. Never a dual value."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

from optimizer.analysis.bench import Bench
from optimizer.analysis.switch import earlier
from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.errors import InputError
from optimizer.results import Amount, Number, Result
from optimizer.schema.base import EvidenceLevel
from optimizer.solver.plans import objective_unit, objective_value

MORE_KW = 1000
"""Step of IT power: one megawatt."""

MORE_RACKS = 1
"""Step of rack positions."""

MORE_MONEY = Decimal("1e6")
"""Step of a budget, in the scenario's currency."""

MORE_DAYS = 30
"""Step of a deadline."""


class Worth(Result):
    """What one step of one limit changes."""

    limit: str
    """The limit."""
    step: str
    """What was added."""
    set: str
    """The ``--set`` argument of the step; several are joined by blanks."""
    worth: Number | None
    """Improvement of the objective; zero when nothing improves; None when it was not proven."""
    unit: str
    """Unit of the objective."""
    amounts: tuple[Amount, ...] = ()
    """Amounts of money in the step."""


def worth_of_one_more(choice: Choice, bench: Bench) -> tuple[Worth, ...]:
    """Return what each step is worth, by solving again; the plan's own objective is the reference."""
    frame = bench.inputs.frame
    value = objective_value(choice, bench.prepared())
    return tuple(_worth(limit, step, sets, value, bench) for limit, step, sets in _steps(choice, frame))


def _worth(limit: str, step: str, sets: list[str], value: Decimal, bench: Bench) -> Worth:
    scenario = bench.inputs.frame.scenario
    unit, more_is_better = objective_unit(bench.prepared()), scenario.objective == "capacity"
    amounts = (_more_money(scenario.currency),) if limit in ("budget", "budget_year") else ()
    gain: Decimal | None = None
    try:
        prepared = bench.prepared(bench.changed(sets))
        found = bench.decide(prepared)
    except InputError:
        return Worth(limit=limit, step=step, set=" ".join(sets), worth=None, unit=unit, amounts=amounts)
    if found.choice is not None and found.status == "optimal":
        other = objective_value(found.choice, prepared)
        gain = max(Decimal(0), other - value if more_is_better else value - other)
    return Worth(limit=limit, step=step, set=" ".join(sets), worth=gain, unit=unit, amounts=amounts)


def _more_money(currency: str) -> Amount:
    return Amount.written(MORE_MONEY, currency, ",.0f")


_Step = tuple[str, str, list[str]]


def _steps(choice: Choice, frame: Frame) -> Iterator[_Step]:
    scenario = frame.scenario
    for name, site in scenario.sites.items():
        for place, step in enumerate(site.power or ()):
            key = f"sites.{name}.power.{place}.kw={step.kw + MORE_KW:f}"
            yield "power", f"+{MORE_KW:,} kW at {name} from {step.from_}", [key]
        for zone, room in (site.zones or {}).items():
            key = f"sites.{name}.zones.{zone}.racks={room.racks + MORE_RACKS}"
            yield "racks", f"+{MORE_RACKS} rack in {name}/{zone}", [key]
    budget, money_step = scenario.budget, _more_money(scenario.currency).text
    if budget.total is not None:
        more = frame.amount(budget.total) + MORE_MONEY
        yield "budget", f"+{money_step}", [f"budget.total={more:f}"]
    for year, money in budget.by_fiscal_year.items():
        more = frame.amount(money) + MORE_MONEY
        yield "budget_year", f"+{money_step} in {year}", [f"budget.by_fiscal_year.{year}={more:f}"]
    for name, work in scenario.workloads.items():
        if work.deadline is not None:
            later = work.deadline + dt.timedelta(MORE_DAYS)
            yield "deadline", f"+{MORE_DAYS} days for {name}", [f"workloads.{name}.deadline={later}"]
    yield from _delivery(choice)
    yield from _evidence(frame)


def _delivery(choice: Choice) -> Iterator[_Step]:
    """Yield a week earlier for each awarded offer that has a lead time."""
    for taken in choice.taken:
        quote, name = taken.option.offer_key
        path = f"quotes.{quote}.offers.{name}"
        changes = earlier(taken.option.offer, 1)
        weeks = [f"{path}.lead_weeks=[{w[0]}, {w[1]}]" for w in [changes.get("lead_weeks")] if w]
        lots = [f"{path}.lots.{i}.weeks={lot.weeks}" for i, lot in enumerate(changes.get("lots", ())) if lot.weeks]
        if weeks or lots:
            yield "delivery", f"{quote}/{name} a week earlier", lots or weeks


def _evidence(frame: Frame) -> Iterator[_Step]:
    """Yield one level less wherever a minimum is stated; a datasheet is the least a platform is planned by."""
    own = [(f"workloads.{name}", work.minimum_evidence) for name, work in frame.scenario.workloads.items()]
    for path, level in [("policy", frame.scenario.policy.minimum_evidence), *own]:
        if level is not None and level.rank > EvidenceLevel.DATASHEET.rank:
            below = next(other for other in EvidenceLevel if other.rank == level.rank - 1)
            where = "" if path == "policy" else f" for {path.partition('.')[2]}"
            yield "evidence", f"{below.value} is enough{where}", [f"{path}.minimum_evidence={below.value}"]
