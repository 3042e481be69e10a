"""What a plan uses of every limit, for the report: used, available, slack."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal

from optimizer.cost.choice import Choice, Taken
from optimizer.cost.entries import shared_kw_entries
from optimizer.cost.frame import DAY, Frame
from optimizer.cost.items import node_kw
from optimizer.cost.option import fill_lots
from optimizer.cost.plan_cost import Priced
from optimizer.results import LimitName, LimitUse
from optimizer.solver.offers import unit_power_kw
from optimizer.solver.problem import days_unit, margin_days, window
from optimizer.solver.rules.site import power_on


def _use(name: LimitName, used: Decimal | int, available: Decimal | int, unit: str, period: str | None) -> LimitUse:
    slack = Decimal(available) - Decimal(used)
    return LimitUse(
        name=name, used=Decimal(used), available=Decimal(available), unit=unit, slack=slack, binding=None, period=period
    )


def usage(choice: Choice, priced: Priced, frame: Frame) -> tuple[LimitUse, ...]:
    """Return what a choice uses of every limit that is stated."""
    return (
        *_runs(choice, frame),
        *_awards(choice),
        *_power(choice, frame),
        *_budgets(priced, frame),
        *_vendors(choice, frame),
    )


def _runs(choice: Choice, frame: Frame) -> Iterator[LimitUse]:
    for run in choice.runs:
        workload = frame.scenario.workloads[run.candidate.workload]
        margin, last = margin_days(workload, frame), window(workload, frame)[1]
        used, available = ((day - frame.today).days + margin for day in (run.end, last))
        yield _use("deadline", used, available, days_unit(margin), run.candidate.workload)
        memory, limit = run.candidate.memory_gb, run.candidate.memory_limit_gb
        if memory is not None and limit is not None:
            yield _use("memory", Decimal(str(memory)), Decimal(str(limit)), "GB", run.candidate.workload)
        for award in choice.taken:
            most = award.option.offer.fabric_max_units
            if most is not None and award.joins(run):
                nodes = most * run.platform.nodes_per_unit
                yield _use("fabric", run.candidate.nodes, nodes, "nodes", f"{award.option.source}")


def _awards(choice: Choice) -> Iterator[LimitUse]:
    for award in choice.taken:
        units = award.option.offer.units
        if units.max is not None:
            yield _use("supply", award.units, units.max, "units", award.option.source)


def installed_kw(choice: Choice, site: str, day: dt.date, frame: Frame) -> Decimal:
    """Return the provisioned power of what stands at a site on a day, kW."""
    owned = sum(
        (own.nodes * node_kw(frame.platforms[own.platform]) for own in frame.scenario.owned if own.site == site),
        Decimal(0),
    )
    standing = [(award, units) for award in choice.taken if (units := units_on(award, site, day))]
    units_kw = sum((unit_power_kw(award.option, frame) * units for award, units in standing), Decimal(0))
    shared = {
        (entry.name, award.option.platform.id if entry.per == "platform" else ""): entry.kw
        for award, _ in standing
        for entry in shared_kw_entries(frame, award.option)
    }
    return owned + units_kw + sum(shared.values(), Decimal(0))


def units_on(award: Taken, site: str, day: dt.date) -> int:
    """Return the units of an award that stand at a site on a day."""
    option = award.option
    if option.site != site or (option.end is not None and option.end < day):
        return 0
    return sum(units for lot, units in fill_lots(option, award.units) if lot.delivery <= day)


def _power(choice: Choice, frame: Frame) -> Iterator[LimitUse]:
    """One row per power step: the day within it with the least slack."""
    for name, site in frame.scenario.sites.items():
        steps = list(site.power or ())
        for number, step in enumerate(steps):
            end = steps[number + 1].from_ - DAY if number + 1 < len(steps) else frame.last_day
            days = {max(step.from_, frame.today)} | _deliveries(choice, name)
            used = [installed_kw(choice, name, day, frame) for day in days if step.from_ <= day <= end]
            if used:
                yield _use("power", max(used), power_on(steps, step.from_), "kW", f"{name} from {step.from_}")


def _deliveries(choice: Choice, site: str) -> set[dt.date]:
    return {lot.delivery for award in choice.taken if award.option.site == site for lot in award.option.lots}


def _budgets(priced: Priced, frame: Frame) -> Iterator[LimitUse]:
    budget, currency = frame.scenario.budget, frame.scenario.currency
    if budget.total is not None:
        yield _use("budget", priced.outflow, frame.amount(budget.total), currency, None)
    for year, money in budget.by_fiscal_year.items():
        yield _use("budget_year", priced.outflow_by_year.get(year, Decimal(0)), frame.amount(money), currency, year)


def _vendors(choice: Choice, frame: Frame) -> Iterator[LimitUse]:
    rules = frame.scenario.policy.vendors
    accelerators: dict[str, int] = defaultdict(int)
    for award in choice.taken:
        accelerators[award.option.quote.vendor] += award.units * award.option.platform.accelerators_per_unit
    if rules.max is not None:
        yield _use("vendors", len(accelerators), rules.max, "vendors", None)
    if rules.second_source_share and accelerators:
        total = sum(accelerators.values())
        others = Decimal(total - max(accelerators.values())) / total
        needed = Decimal(rules.second_source_share)
        yield LimitUse(
            name="second_source", used=others, available=needed, unit="share outside the largest vendor (at least)",
            slack=others - needed, binding=None, period=None,
        )  # fmt: skip
