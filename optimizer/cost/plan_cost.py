"""The price of a concrete choice: every cost line, exact, under any after-run policy."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from optimizer.cost.after import After
from optimizer.cost.charge import Charge, Factor, with_contingency
from optimizer.cost.choice import Choice, Run, Taken
from optimizer.cost.entries import (
    COUNTED,
    amount_at,
    counted_charge,
    matches,
    pieces_per_unit,
    run_charge,
    shared_charge,
)
from optimizer.cost.frame import Frame
from optimizer.cost.items import (
    energy_charge,
    excess_charges,
    excess_paid,
    hall_charge,
    hire_charges,
    idle_kw,
    node_kw,
    order_charges,
    training_kw,
    unit_charges,
)
from optimizer.cost.option import Piece, award_pieces, fill_lots
from optimizer.cost.value import plan_value
from optimizer.schema.scenario import CostEntry
from optimizer.units import fiscal_year


@dataclass(frozen=True)
class Priced:
    """The charges of a choice.

    Attributes:
        charges: Every charge; receipts negative.
        frame: The frame they were computed in.
    """

    charges: tuple[Charge, ...]
    frame: Frame

    @cached_property
    def total(self) -> Decimal:
        """Sum of all cash."""
        return sum((charge.amount for charge in self.charges), Decimal(0))

    @cached_property
    def npv(self) -> Decimal:
        """Net present value at the scenario's rate."""
        return sum((present_value(charge, self.frame) for charge in self.charges), Decimal(0))

    @cached_property
    def outflow(self) -> Decimal:
        """What the total budget counts."""
        return sum((charge.amount for charge in self.charges if charge.budget), Decimal(0))

    @cached_property
    def outflow_by_year(self) -> dict[str, Decimal]:
        """What the yearly budgets count, by fiscal year."""
        return by_fiscal_year((charge for charge in self.charges if charge.budget), self.frame)

    @cached_property
    def by_year(self) -> dict[str, Decimal]:
        """All cash by fiscal year."""
        return by_fiscal_year(self.charges, self.frame)


def present_value(charge: Charge, frame: Frame) -> Decimal:
    """Return amount x sum of share / (1 + rate) ^ (days / 365)."""
    return charge.amount * sum((share * frame.discount(day) for day, share in charge.cash), Decimal(0))


def by_fiscal_year(charges: Iterable[Charge], frame: Frame) -> dict[str, Decimal]:
    """Return the cash of charges by fiscal year label, ascending."""
    years: dict[str, Decimal] = defaultdict(Decimal)
    for charge in charges:
        for day, share in charge.cash:
            years[fiscal_year(day, frame.scenario.fiscal_year_start)] += charge.amount * share
    return dict(sorted(years.items()))


def price(choice: Choice, after: After, frame: Frame) -> Priced:
    """Return every charge of a choice under an after-run policy."""
    charges = [
        *(
            replace(charge, award=index)
            for index, taken in enumerate(choice.taken)
            for charge in award_charges(taken, choice.runs, after, frame)
        ),
        *entry_charges(choice, after, frame),
        *owned_charges(after, frame),
        *(charge for run in choice.runs for charge in run_energy(run, frame)),
        *shared_power_charges(choice, after, frame),
    ]
    if after.policy == "use":
        charges += plan_value(choice, after.last_run, frame)
    return Priced(tuple(with_contingency(charges, frame)), frame)


def award_charges(taken: Taken, runs: Sequence[Run], after: After, frame: Frame) -> Iterator[Charge]:
    """Yield the charges of one award, without ``costs`` entries and contingency."""
    lots = [lot for lot, _ in fill_lots(taken.option, taken.units)]
    for piece, count in award_pieces(taken.option, taken.units, frame):
        units, lot = Factor("units", Decimal(count), "unit", "plan"), lots.index(piece.lot)
        for charge in (*unit_charges(piece, after, frame), *_usage_charges(piece, runs, frame)):
            yield replace(charge.times(units), lot=lot)
    yield from order_charges(taken.option, frame)


def _usage_charges(piece: Piece, runs: Sequence[Run], frame: Frame) -> Iterator[Charge]:
    yield from hire_charges(piece)
    served = (run for run in runs if run.pool == piece.option.pool and serves(piece, run.start, run.end))
    paid = excess_paid(piece.option, frame, runs[0].end if len(runs) == 1 else None)
    yield from excess_charges(piece, sum(run.candidate.days for run in served), paid)


def serves(piece: Piece, start: dt.date, end: dt.date) -> bool:
    """Return whether units of a piece are there for all days of a run."""
    return piece.lot.ready <= start and (piece.option.end is None or piece.option.end >= end)


def entry_charges(choice: Choice, after: After, frame: Frame) -> Iterator[Charge]:
    """Yield the charges of the scenario's ``costs`` entries."""
    for entry in frame.scenario.costs:
        awards = [taken for taken in choice.taken if matches(entry, taken.option.offer, taken.option.platform)]
        if not awards:
            continue
        if entry.per in COUNTED:
            yield from _counted(entry, awards, after, frame)
        elif entry.per == "run":
            yield from _per_run(entry, awards, choice.runs, frame)
        else:
            for group in _groups(entry, awards):
                yield from _shared(entry, group, after, frame)


def _count(entry: CostEntry, awards: Iterable[Taken]) -> int:
    return sum(pieces_per_unit(entry, taken.option) * taken.units for taken in awards)


def _counted(entry: CostEntry, awards: Sequence[Taken], after: After, frame: Frame) -> Iterator[Charge]:
    amount = amount_at(entry, _count(entry, awards), frame)
    for taken in awards:
        for piece, count in award_pieces(taken.option, taken.units, frame):
            charge = counted_charge(entry, amount, piece, after, frame)
            if charge:
                yield charge.times(Factor("units", Decimal(count), "unit", "plan"))


def _per_run(entry: CostEntry, awards: Sequence[Taken], runs: Sequence[Run], frame: Frame) -> Iterator[Charge]:
    amount = amount_at(entry, _count(entry, awards), frame)
    pools = {taken.option.pool for taken in awards}
    return (run_charge(entry, amount, run.start) for run in runs if run.pool in pools)


def _groups(entry: CostEntry, awards: Sequence[Taken]) -> list[list[Taken]]:
    """All awards for a cluster entry, those of each platform for a platform entry."""
    if entry.per == "cluster":
        return [list(awards)]
    groups: dict[str, list[Taken]] = defaultdict(list)
    for taken in awards:
        groups[taken.option.platform.id].append(taken)
    return list(groups.values())


def _shared(entry: CostEntry, awards: Sequence[Taken], after: After, frame: Frame) -> Iterator[Charge]:
    amount = amount_at(entry, _count(entry, awards), frame)
    days = [(taken.option, taken.option.lots[0].delivery, taken.option.last_day(frame)) for taken in awards]
    charge = shared_charge(entry, amount, days, after, frame)
    if charge:
        yield charge


def owned_charges(after: After, frame: Frame) -> Iterator[Charge]:
    """Yield hall cost and idle energy of the nodes we have."""
    for own in frame.scenario.owned:
        platform, site = frame.platforms[own.platform], frame.site(own.site)
        last_hall, last_energy = after.last_day_of_costs(None, frame), after.last_day_of_energy(None, frame)
        yield from hall_charge(site, own.nodes * node_kw(platform), frame.today, last_hall, frame)
        yield from energy_charge(site, own.nodes * idle_kw(platform), "idle draw", frame.today, last_energy, frame)


def run_energy(run: Run, frame: Frame) -> Iterator[Charge]:
    """Yield what the nodes of a run draw beyond their idle power."""
    if run.site:
        extra = run.candidate.nodes * (training_kw(run.platform) - idle_kw(run.platform))
        yield from energy_charge(frame.site(run.site), extra, "training above idle draw", run.start, run.end, frame)


def shared_power_charges(choice: Choice, after: After, frame: Frame) -> Iterator[Charge]:
    """Yield hall cost and energy of cluster and platform entries with ``kw``, once at each site with a match."""
    for entry in frame.scenario.costs:
        if entry.per in COUNTED or not entry.kw:
            continue
        at_site = [
            taken
            for taken in choice.taken
            if taken.option.site and matches(entry, taken.option.offer, taken.option.platform)
        ]
        for site in sorted({str(taken.option.site) for taken in at_site}):
            for group in _groups(entry, [taken for taken in at_site if taken.option.site == site]):
                yield from _shared_power(entry, site, group, after, frame)


def _shared_power(entry: CostEntry, site: str, awards: Sequence[Taken], after: After, frame: Frame) -> Iterator[Charge]:
    first = min(taken.option.lots[0].delivery for taken in awards)
    hall = max(after.last_day_of_costs(taken.option, frame) for taken in awards)
    energy = max(after.last_day_of_energy(taken.option, frame) for taken in awards)
    yield from hall_charge(frame.site(site), entry.kw, first, hall, frame)
    yield from energy_charge(frame.site(site), entry.kw, f"draw of {entry.name}", first, energy, frame)
