"""What becomes of a signed plan when reality differs: later deliveries, a slower run, other prices; and what it costs.

The decision is fixed: awards, nodes and layout. A run starts when what it waits for is there, and takes as long as it
takes. What cannot be changed any more is answered by simple recourse:
* a contract that ends before its run is extended by the day at its own price;
* a run that would miss the deadline rents the missing node-days on demand, where its platform is offered by the hour in
  sufficient number; otherwise, or when that is dearer than the stated cost of a late day, it ends late.
Deliveries before the planned day gain nothing: the hall is ready as planned.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil

import numpy as np

from optimizer.analysis.lines import rebound
from optimizer.analysis.scales import quote_factors
from optimizer.analysis.uncertain import slips
from optimizer.candidates.conditions import setup_of
from optimizer.cost.choice import Choice, Run
from optimizer.cost.frame import DAY, Frame
from optimizer.cost.option import Lot, Option, award_pieces, net_amount
from optimizer.cost.plan_cost import Priced
from optimizer.engine.bands import Quantiles, band, factor
from optimizer.engine.goodput import goodput
from optimizer.schema.base import Money, Precision
from optimizer.schema.quote import LeaseOffer, OnDemandOffer, ReservedOffer
from optimizer.solver.assemble import priced
from optimizer.solver.planner import Inputs
from optimizer.units import add_months, fiscal_year

DAY_S = 86_400.0
HOURS = 24
DAYS_PER_MONTH = Decimal("30.4375")
"""365.25 / 12: an extended lease pays by the day."""


@dataclass(frozen=True)
class Sample:
    """One state of the world.

    Attributes:
        prices: Quote -> multiple of its prices.
        quantiles: Platform -> quantile of its duration band that comes true.
        weeks: Quote -> weeks its deliveries are late against the quoted late end.
        extra_compute: Workload -> extra compute as it turns out.
        failures: Node failures per 1,000 node-days.
    """

    prices: Mapping[str, float]
    quantiles: Mapping[str, float]
    weeks: Mapping[str, int]
    extra_compute: Mapping[str, float]
    failures: float


@dataclass(frozen=True)
class Fate:
    """What became of a plan.

    Attributes:
        npv: Present value, recourse included, major units.
        in_time: Whether every run ends by its deadline on what was signed.
        in_budget: Whether total and yearly budgets hold, recourse included; None without a budget.
    """

    npv: float
    in_time: bool
    in_budget: bool | None


@dataclass(frozen=True, eq=False)
class Duration:
    """How long a run takes.

    Attributes:
        days: Days at full goodput and mid band, with the extra compute of the scenario; None: stated days are final.
        band: Quantiles of actual / predicted; None likewise.
        extra_compute: Of the scenario.
    """

    days: float | None
    band: Quantiles | None
    extra_compute: float

    def whole_days(self, run: Run, sample: Sample, frame: Frame) -> int:
        """Return the days the run takes in a sample."""
        if self.days is None or self.band is None:
            return run.candidate.days
        rate = frame.scenario.reliability
        useful = goodput(
            np.array([float(run.candidate.nodes)]), sample.failures, float(rate.restart_minutes),
            float(rate.checkpoint_write_s),
        )  # fmt: skip
        more = (1 + sample.extra_compute.get(run.candidate.workload, self.extra_compute)) / (1 + self.extra_compute)
        quantile = sample.quantiles.get(run.platform.id, float(frame.scenario.policy.performance_quantile))
        return ceil(self.days * more / float(useful[0]) * factor(self.band, quantile))


def duration(run: Run, inputs: Inputs) -> Duration:
    """Return how long a run takes, from its throughput and the band of its platform, model size and scale."""
    mode, workload = run.candidate, inputs.frame.scenario.workloads[run.candidate.workload]
    extra = float(workload.extra_compute or 0)
    rate, layout, tokens = mode.tokens_per_s_per_accelerator, mode.layout, workload.tokens
    if rate is None or layout is None or tokens is None or workload.architecture is None:
        return Duration(None, None, extra)
    precision, model = Precision(layout.precision), inputs.architectures[workload.architecture]
    setup = setup_of(model, run.platform, precision, workload.sequence_length or 1, inputs.software)
    known = band(inputs.bands, run.platform, precision, setup.parameters.total, mode.accelerators)
    return Duration(float(tokens) * (1 + extra) / (rate * mode.accelerators * DAY_S), known, extra)


@dataclass(frozen=True, eq=False)
class Signed:
    """A plan that is signed: only what happens is left to see.

    Attributes:
        choice: The decision.
        durations: Of its runs, by workload.
        inputs: Scenario, quotes and library.
        late_day: Stated cost of a day after a deadline, major units; None: renting is preferred whatever it costs.
    """

    choice: Choice
    durations: Mapping[str, Duration]
    inputs: Inputs
    late_day: Decimal | None

    def fate(self, sample: Sample) -> Fate:
        """Return what becomes of the plan in a sample."""
        exact = {quote: Decimal(f"{value:.6f}") for quote, value in sample.prices.items()}
        frame = quote_factors(self.inputs.frame, exact)
        signed = rebound(self.choice, frame)
        runs = self._runs(signed, sample, frame)
        late = sum(late_days(run, frame) for run in runs)
        outcomes = [self._late(signed, runs, sample, frame, late)]
        rented = self._rented(signed, sample, frame) if late else None
        if rented is not None:
            outcomes = [rented] if self.late_day is None else [*outcomes, rented]
        best = min(outcomes, key=lambda fate: fate.npv)
        return replace(best, in_time=late == 0)

    def _runs(self, signed: Choice, sample: Sample, frame: Frame, *, cut: bool = False) -> tuple[Run, ...]:
        """Return the runs as they happen, in the order of the decision; ``cut``: the rest after a deadline runs elsewhere.

        A run waits for the runs it must follow, and for those planned to leave its pool before it starts.
        """
        happened: list[tuple[Run, Run]] = []
        for run in sorted(signed.runs, key=lambda run: (run.start, run.end)):
            before = [actual.end + DAY for planned, actual in happened if _leads_to(planned, run, frame)]
            actual = self._run(run, before, signed, sample, frame)
            happened.append((run, _until(actual, late_days(actual, frame)) if cut else actual))
        return tuple(next(actual for planned, actual in happened if planned is run) for run in signed.runs)

    def _run(self, run: Run, before: list[dt.date], signed: Choice, sample: Sample, frame: Frame) -> Run:
        awaited = [
            lot.ready
            for taken in signed.taken
            if taken.option.pool == run.pool
            for lot, planned in zip(slipped(taken.option, sample).lots, taken.option.lots, strict=True)
            if planned.ready <= run.start
        ]
        days = self._days(run, sample, frame)
        return replace(run, start=max((run.start, *before, *awaited)), candidate=replace(run.candidate, days=days))

    def _days(self, run: Run, sample: Sample, frame: Frame) -> int:
        return self.durations[run.candidate.workload].whole_days(run, sample, frame)

    def _late(self, signed: Choice, runs: tuple[Run, ...], sample: Sample, frame: Frame, late: int) -> Fate:
        extra = [(run.end, extension(run, signed, sample, frame)) for run in runs]
        penalty = (self.late_day or Decimal(0)) * late
        return _fate(_happened(signed, runs, sample, frame), [*extra, (max(run.end for run in runs), penalty)])

    def _rented(self, signed: Choice, sample: Sample, frame: Frame) -> Fate | None:
        """Return the outcome when what is missing at the deadline is rented; None when too little is offered."""
        ended = self._runs(signed, sample, frame, cut=True)
        days = [self._days(run, sample, frame) for run in signed.runs]
        whole = [replace(r, candidate=replace(r.candidate, days=n)) for r, n in zip(ended, days, strict=True)]
        rents = [rent(run, frame) for run in whole]
        if any(amount is None for amount in rents):
            return None
        paid = [(run.end, amount or Decimal(0)) for run, amount in zip(ended, rents, strict=True)]
        extra = [(run.end, extension(run, signed, sample, frame)) for run in ended]
        return _fate(_happened(signed, ended, sample, frame), [*extra, *paid])


def _leads_to(planned: Run, run: Run, frame: Frame) -> bool:
    """Return whether a run must end before another starts: it is named so, or planned so in the same pool."""
    named = planned.candidate.workload in frame.scenario.workloads[run.candidate.workload].after
    return named or (planned.pool == run.pool and planned.end < run.start)


def late_days(run: Run, frame: Frame) -> int:
    """Return the days a run ends after its deadline; the margin before it is there to be used."""
    deadline = frame.scenario.workloads[run.candidate.workload].deadline
    return max(0, (run.end - deadline).days) if deadline else 0


def _until(run: Run, late: int) -> Run:
    return replace(run, candidate=replace(run.candidate, days=max(1, run.candidate.days - late)))


def slipped(option: Option, sample: Sample) -> Option:
    """Return an option as it is delivered in a sample; a contract runs its whole term from then."""
    by = dt.timedelta(weeks=max(0, sample.weeks.get(option.quote.quote, 0)))
    if not by or not slips(option.offer):
        return option
    lots = tuple(Lot(lot.units, lot.delivery + by, lot.ready + by) for lot in option.lots)
    offer, end = option.offer, option.end
    if isinstance(offer, LeaseOffer | ReservedOffer):
        end = add_months(lots[0].delivery, offer.term_months) - DAY
    return replace(option, lots=lots, end=end)


def _happened(signed: Choice, runs: tuple[Run, ...], sample: Sample, frame: Frame) -> Priced:
    """Return the price of what happened: awards as delivered, hires as long as their run."""
    happened = list(zip(signed.runs, runs, strict=True))
    taken = tuple(replace(item, option=_as_used(item.option, happened, sample)) for item in signed.taken)
    return priced(Choice(taken, runs), frame)


def _as_used(option: Option, runs: list[tuple[Run, Run]], sample: Sample) -> Option:
    """Return an option as delivered; a hire starts and ends with its run, a block that is too short goes on by the day."""
    own = [actual for planned, actual in runs if planned.pool == option.pool and planned.start == option.lots[0].ready]
    if not option.is_hired or not own:
        return slipped(option, sample)
    by = own[0].start - option.lots[0].ready
    lots = tuple(Lot(lot.units, lot.delivery + by, lot.ready + by) for lot in option.lots)
    moved = replace(option, lots=lots)
    return replace(moved, end=moved.hire_end(own[0].end) or own[0].end)


def extension(run: Run, signed: Choice, sample: Sample, frame: Frame) -> Decimal:
    """Return what it costs to keep contracts of a run's pool that end before it does, at their own price."""
    cost = Decimal(0)
    for taken in signed.taken:
        option = slipped(taken.option, sample)
        if option.pool == run.pool and option.end is not None and not option.is_hired:
            missing = max(0, (run.end - option.end).days)
            per_day = 1 / DAYS_PER_MONTH if isinstance(option.offer, LeaseOffer) else Decimal(HOURS)
            for piece, count in award_pieces(option, taken.units, frame) if missing else ():
                cost += piece.unit_price * count * per_day * missing
    return cost


def rent(run: Run, frame: Frame) -> Decimal | None:
    """Return what renting a run's missing node-days costs, by the hour at the cheapest offer that has enough.

    0 when nothing is missing; None when no offer has enough nodes from the run's start to its deadline.
    """
    late = late_days(run, frame)
    needed = late * run.candidate.nodes
    if not needed:
        return Decimal(0)
    days = (run.end - run.start).days + 1 - late
    prices = [
        price * run.platform.accelerators_per_node
        for price, nodes in _hourly(run, frame)
        if nodes is None or nodes * days >= needed
    ]
    return min(prices) * HOURS * needed if prices and days > 0 else None


def _hourly(run: Run, frame: Frame) -> list[tuple[Decimal, int | None]]:
    """Return price per accelerator-hour and nodes of every on-demand offer of a run's platform."""
    found = []
    for quote in frame.quotes.values():
        for name, offer in quote.offers.items():
            if (
                isinstance(offer, OnDemandOffer)
                and offer.platform == run.platform.id
                and isinstance(offer.price, Money)
            ):
                option = Option(quote, name, offer, run.platform, offer.region, None, (), None)
                held = {"accelerator_hour": 1, "node_hour": run.platform.accelerators_per_node}
                per = held.get(offer.per, run.platform.accelerators_per_unit)
                most = offer.units.max
                nodes = None if most is None else most * run.platform.nodes_per_unit
                found.append((net_amount(offer.price, option, frame) / per, nodes))
    return found


def _fate(price: Priced, extra: list[tuple[dt.date, Decimal]]) -> Fate:
    frame = price.frame
    npv = price.npv + sum((amount * frame.discount(day) for day, amount in extra), Decimal(0))
    return Fate(float(npv), in_time=True, in_budget=_in_budget(price, extra))


def _in_budget(price: Priced, extra: list[tuple[dt.date, Decimal]]) -> bool | None:
    frame = price.frame
    budget, start = frame.scenario.budget, frame.scenario.fiscal_year_start
    if budget.total is None and not budget.by_fiscal_year:
        return None
    total = price.outflow + sum((amount for _, amount in extra), Decimal(0))
    kept = budget.total is None or total <= frame.amount(budget.total)
    for year, money in budget.by_fiscal_year.items():
        own = sum((amount for day, amount in extra if fiscal_year(day, start) == year), Decimal(0))
        kept &= price.outflow_by_year.get(year, Decimal(0)) + own <= frame.amount(money)
    return kept
