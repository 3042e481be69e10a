"""What runs cost at least beside each other: supply curves by last day, energy and hires, as tables to look up.

All days are counted from today. Everything here is a lower bound on present values, in floating point; callers keep a
margin. The last day of a plan matters under the policies off, sell and use: later is never cheaper for the same awards, so
a day is rounded down to the next entry of a table.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import ceil

import numpy as np

from optimizer.cost.after import After
from optimizer.cost.charge import with_contingency
from optimizer.cost.entries import matches, shared_charge, table
from optimizer.cost.frame import DAY, Frame
from optimizer.cost.items import HOURS_PER_DAY, idle_kw, order_charges, prices_per_kwh, training_kw
from optimizer.cost.option import UNLIMITED_UNITS, Option, is_incremental, maximum, unit_prices
from optimizer.cost.plan_cost import owned_charges, present_value
from optimizer.cost.value import value_charges
from optimizer.results import Candidate
from optimizer.schema.quote import BlockOffer, ReservedOffer
from optimizer.schema.scenario import CostEntry
from optimizer.solver.bounds import PoolBound
from optimizer.solver.curves import START_STEP_DAYS, Costs, Counts, Curve, Worth, curve
from optimizer.solver.prices import PricedFrame
from optimizer.solver.problem import Pool, supply_nodes
from optimizer.solver.supply import Supply, supply_of
from optimizer.units import fiscal_year, month_end

USE_STEP_DAYS = 21
"""Days between the last days for which the value of use is tabled."""

LEAST_TABLED = 32
"""Nodes up to which costs are tabled at least."""

LONGEST_MONTH_DAYS = 31
"""Days of the longest month: no term of n months is longer than n of them."""

NEVER = 10**9
"""Node-days of a run that fits no window."""

SITUATIONS = 6
"""Last days for which curves are computed anew where hall cost or sale depend on them."""


@dataclass(frozen=True, eq=False)
class Slot:
    """A workload in a pool: its modes there, fewest nodes first.

    Attributes:
        workload: Its name.
        pool: Position of the pool.
        modes: The modes.
        needed: Nodes of each with spares.
        days: Days of each.
        starts: Days on which it may start whatever the other runs, ascending.
        first: First day it may use.
        last: Last day it may use.
    """

    workload: str
    pool: int
    modes: tuple[Candidate, ...]
    needed: Counts
    days: Counts
    starts: Counts
    first: int
    last: int

    @cached_property
    def node_days(self) -> int:
        """Least nodes x days of a mode that fits its window."""
        fits = self.days <= self.last - self.first + 1
        return int((self.needed * self.days)[fits].min(initial=NEVER))


class PoolTable:
    """Least costs of one pool by last day, class and units, and of the runs in it."""

    def __init__(self, pool: Pool, lasts: Counts, slots: Sequence[Slot], frame: Frame) -> None:
        """Compute the tables of a pool and the runs that may take it, for the last days ``lasts``."""
        self.pool, self.frame = pool, frame
        policy = frame.scenario.after_run.policy
        nodes = _tabled(slots)
        latest = max(slot.last - int(slot.days.min(initial=1)) + 1 for slot in slots)
        if policy == "use":
            curves = _used(pool, lasts, nodes, latest, frame)
        else:
            ends = lasts if After(policy, frame.last_day).matters else [(frame.last_day - frame.today).days]
            after = [After(policy, frame.today + int(day) * DAY) for day in ends]
            curves = [curve(pool, situation, nodes, latest, frame) for situation in after]
        self.ready, self.entry = curves[0].ready, min(one.entry for one in curves)
        self.priced_entry = min(one.priced_entry for one in curves)
        self.base, self.least = curves[0], np.array([one.least for one in curves])
        self.hired = tuple(option for option in pool.options if option.is_hired)
        self.only_term = _only_term(pool)
        self._most_hired = max((int(slot.needed.max(initial=0)) for slot in slots), default=0)

    def classes(self, starts: Counts) -> Counts:
        """Return the class of each start; -1 before anything is ready."""
        return np.searchsorted(self.ready, starts, side="right") - 1

    def awards(self, buckets: Counts, classes: Counts, nodes: Counts) -> Costs:
        """Return the least cost of nodes at once, hires for single runs left out; beyond the table, of what it holds."""
        return self._looked_up(self.least, buckets, classes, nodes)

    def at_some_time(self, buckets: Counts, classes: Counts, nodes: Counts) -> Costs:
        """Return the least cost of nodes at once on some day of a class or an earlier one."""
        return self._looked_up(self._earlier, buckets, classes, nodes)

    @cached_property
    def _earlier(self) -> Costs:
        return np.minimum.accumulate(self.least, axis=1)

    @cached_property
    def supply(self) -> Supply:
        """What amounts of money give here, hires for single runs left out."""
        term = None if self.only_term is None else self.only_term + START_STEP_DAYS
        owned, per_unit = self.pool.owned_nodes, self.pool.platform.nodes_per_unit
        return supply_of(self._earlier.min(axis=0), self.ready, self.base.most, owned, per_unit, term)

    def most_nodes(self, classes: Counts, awards: Costs) -> Counts:
        """Return how many nodes at once on a day of a class cost no more than some awards."""
        rows = self.least.min(axis=0)
        units = np.zeros(len(classes), dtype=np.int64)
        for known in np.unique(classes[classes >= 0]):
            own = classes == known
            units[own] = np.maximum(np.searchsorted(rows[known], awards[own], side="right") - 1, 0)
        units[(units == rows.shape[1] - 1) & (classes >= 0)] = self.base.most  # the table ends there
        return self.pool.owned_nodes + units * self.pool.platform.nodes_per_unit

    def _looked_up(self, table: Costs, buckets: Counts, classes: Counts, nodes: Counts) -> Costs:
        units, size = self.base.units(nodes), table.shape[2]
        impossible = (units > self.base.most) | ((classes < 0) & (units > 0))
        if not len(self.ready):
            return np.where(impossible, np.inf, 0.0)
        bucket = buckets if len(table) > 1 else np.zeros_like(buckets)
        known = table[bucket, np.maximum(classes, 0), np.minimum(units, size - 1)]
        return np.where(impossible, np.inf, np.where(classes < 0, 0.0, known))

    @cached_property
    def hires(self) -> tuple[Hire, ...]:
        """Offers of nodes hired for one run; dedicated systems are not among them."""
        offers = {option.offer_key: option for option in self.hired if not option.is_dedicated}
        return tuple(_hire(option, self._most_hired, self.frame, alone=len(offers) == 1) for option in offers.values())

    @property
    def is_timed(self) -> bool:
        """Whether it has contracts that end, or hires."""
        return any(not option.is_purchase for option in self.pool.options)

    @cached_property
    def is_per_run(self) -> bool:
        """Whether each run pays for itself alone: nothing is there but what is hired for it."""
        return bool(self.hired) and not self.pool.owned_nodes and all(option.is_hired for option in self.pool.options)

    @cached_property
    def per_run(self) -> float:
        """Least price of a dedicated system for a run, undiscounted; zero elsewhere."""
        if not self.pool.system:
            return 0.0
        charges = [with_contingency(order_charges(option, self.frame), self.frame) for option in self.hired]
        return min((float(sum(charge.amount for charge in own)) for own in charges), default=0.0)


def _only_term(pool: Pool) -> int | None:
    """Return the longest term of the one contract a pool consists of: all its runs lie within it; None for other pools."""
    offers = {option.offer_key for option in pool.options}
    ends = [option.end for option in pool.options]
    if len(offers) != 1 or pool.owned_nodes or any(end is None for end in ends):
        return None
    months = max(getattr(option.offer, "term_months", 0) for option in pool.options)
    return months * LONGEST_MONTH_DAYS


def _used(pool: Pool, lasts: Counts, nodes: int, latest: int, frame: Frame) -> list[Curve]:
    """Return curves less receipts of use: of bought nodes together, of contracts each to its own end."""
    idle = After("idle", frame.last_day)
    earning = ceil((frame.scenario.after_run.max_accelerators or 0) / pool.platform.accelerators_per_node)
    nodes = max(nodes, pool.owned_nodes + min(earning, supply_nodes(pool)))
    if any(option.is_purchase for option in pool.options):
        one = curve(pool, idle, nodes, latest, frame)
        return [one.used(*_worth(pool, int(day), frame.last_day, frame)) for day in lasts]

    def worth(day: int) -> Worth:
        return lambda option: _worth(pool, day, option.last_day(frame), frame)

    return [curve(pool, idle, nodes, latest, frame, worth(int(day))) for day in lasts]


def _worth(pool: Pool, last: int, until: dt.date, frame: Frame) -> tuple[float, float]:
    """Return what a unit in use earns at most between a last run and a day, and the units that may."""
    end, per_unit = frame.today + last * DAY, pool.platform.accelerators_per_unit
    receipts = value_charges(1, end + DAY, until, end, frame) if until > end else ()
    value = -float(sum(present_value(charge, frame) for charge in receipts))
    return value * per_unit, (frame.scenario.after_run.max_accelerators or 0) / per_unit


@dataclass(frozen=True, eq=False)
class Hire:
    """The least price of a hired node.

    Attributes:
        per_day: Nodes hired for a run -> price of one of them for a day, undiscounted; no less for fewer nodes.
        wait: Days it is hired before the run starts.
        most: Nodes there are.
        lengths: Days in use -> days of the shortest block (unending where none is long enough); None by the hour.
    """

    per_day: Costs
    wait: int
    most: int
    lengths: Costs | None


def _hire(option: Option, most: int, frame: Frame, *, alone: bool) -> Hire:
    tax = option.quote.tax
    kept = 1.0 if tax.recoverable else 1.0 + float(tax.rate)
    there = min(maximum(option), UNLIMITED_UNITS) * option.platform.nodes_per_unit
    first, wait = option.lots[0].delivery, (option.lots[0].ready - option.lots[0].delivery).days
    lengths = None
    if isinstance(option.offer, BlockOffer):
        ends = [option.hire_end(first + day * DAY) for day in range((frame.horizon - frame.today).days + wait)]
        lengths = np.array([np.inf, *((end - first).days + 1 if end else np.inf for end in ends)], dtype=np.float64)
    return Hire(float(HOURS_PER_DAY) * kept * _per_node(option, most, frame, alone=alone), wait, there, lengths)


def _per_node(option: Option, most: int, frame: Frame, *, alone: bool) -> Costs:
    """Return the least price of a node and hour when up to 0, 1, 2 … nodes are hired, of this offer and of others.

    The cheapest order of at least so many units counts. Where other offers may serve a part, so does one of fewer.
    """
    nodes = option.platform.nodes_per_unit
    units = -(-np.arange(1, most + 1) // nodes)
    rows = [(first, float(price)) for first, price in unit_prices(option, frame)]
    least = option.offer.units.min
    orders = np.union1d(units, [least, *(first for first, _ in rows)])
    orders = orders[(orders >= least) & (orders >= rows[0][0]) & (orders <= maximum(option))]
    firsts, prices = np.array([first for first, _ in rows]), np.array([price for _, price in rows])
    if is_incremental(option):
        inside = np.clip(orders[:, None] - firsts + 1, 0, np.diff(firsts, append=UNLIMITED_UNITS))
        total = inside @ prices
    else:
        total = orders * prices[np.searchsorted(firsts, orders, side="right") - 1]
    cheapest = np.append(np.minimum.accumulate(total[::-1])[::-1], np.inf)
    each = cheapest[np.searchsorted(orders, units)] / (np.arange(1, most + 1) if alone else units * nodes)
    return np.concatenate([[0.0], each if alone else np.minimum.accumulate(each)])


@dataclass(frozen=True, eq=False)
class _Worths:
    """What one unit of money is worth by the day on which it falls due.

    Attributes:
        later: Paid at the end of its month.
        today: Paid at once.
        days: Paid at the end of their months on all days before each.
    """

    later: Costs
    today: Costs
    days: Costs

    @classmethod
    def of(cls, worth: Callable[[dt.date], Decimal], horizon: int, months: Sequence[dt.date], frame: Frame) -> _Worths:
        """Return the worth of money on all days to the horizon."""
        later = np.array([float(worth(day)) for day in months])
        today = np.array([float(worth(frame.today + day * DAY)) for day in range(horizon + 1)])
        return cls(later, today, np.concatenate([[0.0], np.cumsum(later)]))


@dataclass(frozen=True, eq=False)
class Shared:
    """What entries for the cluster cost at least.

    Attributes:
        recurring: On all days before each, those that recur.
        delivered: When something is delivered by a day, with what goes on after the runs; infinite before that can be.
    """

    recurring: Costs
    delivered: Costs

    def between(self, first: Counts, last: Counts) -> Costs:
        """Return the least cost when runs start on one day and end on another."""
        spent = self.recurring[last + 1] - self.recurring[np.minimum(first, last + 1)]
        return np.asarray(np.maximum(spent, self.delivered[np.minimum(first, len(self.delivered) - 1)]))


class Outlook:
    """Least costs of runs in pools.

    Attributes:
        frame: Dates and rates.
        tables: One per pool.
        lasts: Last days for which costs are tabled, ascending.
    """

    def __init__(self, frame: Frame, pools: Sequence[Pool], slots: Sequence[Slot]) -> None:
        """Compute all tables."""
        self.frame = frame
        self.pools = tuple(pools)
        ends = [slot.first + int(slot.days.min()) - 1 for slot in slots if len(slot.days)]
        self.lasts = _lasts(min(ends, default=0), (frame.last_day - frame.today).days, frame)
        self.tables = [
            PoolTable(pool, self.lasts, [slot for slot in slots if slot.pool == number], frame)
            for number, pool in enumerate(pools)
        ]
        horizon = (frame.horizon - frame.today).days
        self.months = [month_end(frame.today + day * DAY) for day in range(horizon + 1)]
        self.worth = _Worths.of(frame.discount, horizon, self.months, frame)
        self.priced = _Worths.of(frame.weight, horizon, self.months, frame)
        self._cashes: dict[tuple[str, str | None], Costs] = {}
        self._upkeeps: dict[int, Costs] = {}
        self.constant = self._constant() - (float(frame.of_budgets) if isinstance(frame, PricedFrame) else 0.0)

    @cached_property
    def budgets(self) -> tuple[str | None, ...]:
        """Fiscal years with a budget; None for that of all years."""
        budget = self.frame.scenario.budget
        return (*([None] if budget.total is not None else ()), *budget.by_fiscal_year)

    @property
    def is_end_priced(self) -> bool:
        """Whether the last day of the last run matters to what is minimised."""
        return len(self.lasts) > 1 or self.frame.scenario.objective == "time"

    def shared(self, pools: Collection[int]) -> dict[int, Shared]:
        """Return what entries for the cluster cost that every award in a pool has, by pool, when awards are in some pools only.

        Nothing is sure where nodes we have may serve a run without an award, or where an entry pays something back.
        """
        costs = self.frame.scenario.costs
        if any(amount.value < 0 for entry in costs for _, amount in table(entry, self.frame)):
            return {}
        options = [(pool, option) for pool in pools for option in self.pools[pool].options]
        found = {}
        for pool in pools:
            own = self.pools[pool].options if not self.pools[pool].owned_nodes else ()
            entries = [entry for entry in costs if entry.per == "cluster"]
            sure = [entry for entry in entries if own and all(matches(entry, o.offer, o.platform) for o in own)]
            if sure:
                recurring = [self._each_day(entry, own[0]) for entry in sure if entry.every != "once"]
                delivered = [self._delivered(entry, options) for entry in sure]
                found[pool] = Shared(sum(recurring, np.zeros(len(self.months) + 1)), np.sum(delivered, axis=0))
        return found

    def _delivered(self, entry: CostEntry, options: Sequence[tuple[int, Option]]) -> Costs:
        """Return what an entry costs at least when one of some options that has it is delivered by a day.

        What may begin with a run, on any day, is taken to cost nothing.
        """
        least = np.full(len(self.months), np.inf)
        for pool, option in options:
            first = max((option.lots[0].delivery - self.frame.today).days, 0)
            if not matches(entry, option.offer, option.platform):
                continue
            if option.is_hired or isinstance(option.offer, ReservedOffer):
                least[0] = min(least[0], 0.0)
            elif first < len(least):
                least[first] = min(least[first], self._span(entry, option, pool))
        return np.minimum.accumulate(least)

    def _span(self, entry: CostEntry, option: Option, pool: int) -> float:
        """Return what an entry costs at least when an option is delivered first."""
        policy = self.frame.scenario.after_run.policy
        after = After(policy, self.frame.today + int(self.lasts[0]) * DAY)
        return PoolBound(self.pools[pool], self.frame, after).span(entry, option)

    def _each_day(self, entry: CostEntry, option: Option) -> Costs:
        known = self.frame.scenario.costs.index(entry)
        if known not in self._upkeeps:
            least = min((amount for _, amount in table(entry, self.frame)), key=lambda amount: amount.value)
            idle = After("idle", self.frame.last_day)
            days = [self.frame.today + number * DAY for number in range(len(self.months))]
            charges = [shared_charge(entry, least, [(option, day, day)], idle, self.frame) for day in days]
            full = [with_contingency([charge], self.frame) if charge else [] for charge in charges]
            costs = [float(sum(present_value(one, self.frame) for one in own)) for own in full]
            self._upkeeps[known] = np.concatenate([[0.0], np.cumsum(costs)])
        return self._upkeeps[known]

    def buckets(self, ends: Counts) -> Counts:
        """Return the tabled last day at or before each."""
        return np.maximum(np.searchsorted(self.lasts, ends, side="right") - 1, 0)

    def _constant(self) -> Costs:
        """Return what owned nodes cost at least, less what they earn, by tabled last day."""
        policy, terms = self.frame.scenario.after_run.policy, self.frame.scenario.after_run
        found = []
        for day in self.lasts:
            end = self.frame.today + int(day) * DAY
            charges = list(owned_charges(After(policy, end), self.frame))
            if policy == "use" and self.frame.scenario.owned:
                owned = [
                    own.nodes * self.frame.platforms[own.platform].accelerators_per_node
                    for own in self.frame.scenario.owned
                ]
                count = min(terms.max_accelerators or 0, sum(owned))
                charges += value_charges(count, end + DAY, self.frame.last_day, end, self.frame)
            found.append(float(sum(present_value(charge, self.frame) for charge in charges)))
        return np.array(found)

    def _kw_day(self, site: str) -> float:
        facts = self.frame.site(site)
        return 24 * float(facts.pue) * float(sum(self.frame.amount(price) for price in prices_per_kwh(facts)))

    def energy(self, slot: Slot, modes: Counts, starts: Counts, *, priced: bool = False) -> Costs:
        """Return what runs draw beyond idle power; at the prices of budgets or without."""
        pool = self.pools[slot.pool]
        if pool.site is None:
            return np.zeros(np.broadcast(modes, starts).shape)
        total = (self.priced if priced else self.worth).days
        kw_days = total[starts + slot.days[modes]] - total[starts]
        return np.asarray(self.extra_kw(slot)[modes] * self._kw_day(pool.site) * kw_days)

    def drawn(self, slot: Slot, modes: Counts, starts: Counts, year: str | None) -> Costs:
        """Return what runs draw beyond idle power as cash out, in all or in a fiscal year."""
        pool = self.pools[slot.pool]
        if pool.site is None:
            return np.zeros(len(modes))
        total = self._cash(pool.site, year)
        return np.asarray(self.extra_kw(slot)[modes] * (total[starts + slot.days[modes]] - total[starts]))

    def _cash(self, site: str, year: str | None) -> Costs:
        """Return what one kW drawn on all days before each costs, as far as it is paid in a fiscal year."""
        if (site, year) not in self._cashes:
            first = self.frame.scenario.fiscal_year_start
            paid = np.array([year in (None, fiscal_year(end, first)) for end in self.months], dtype=np.float64)
            self._cashes[site, year] = np.concatenate([[0.0], np.cumsum(self._kw_day(site) * paid)])
        return self._cashes[site, year]

    def extra_kw(self, slot: Slot) -> Costs:
        """Return what each mode draws beyond idle power, kW."""
        card = self.pools[slot.pool].platform
        one = float(training_kw(card) - idle_kw(card)) if self.pools[slot.pool].site else 0.0
        return np.array([mode.nodes * one for mode in slot.modes])

    def hire(self, slot: Slot, modes: Counts, starts: Counts, nodes: Counts, *, priced: bool = False) -> Costs:
        """Return what hiring some nodes for runs costs at least, of each run as many; infinite where there are not so many.

        At the prices of budgets or without.
        """
        worth = self.priced if priced else self.worth
        days = slot.days[modes]
        prices, most = [], []
        for hire in self.tables[slot.pool].hires:
            first = np.maximum(starts - hire.wait, 0)
            if hire.lengths is None:
                cost = worth.days[starts + days] - worth.days[first]
            else:  # in full on the first day
                cost = hire.lengths[days + hire.wait] * worth.today[first]
            prices.append(hire.per_day[nodes] * cost)
            most.append(hire.most)
        return _cheapest_first(np.array(prices), np.array(most), nodes)

    def system(self, slot: Slot) -> float:
        """Return what a run on a dedicated system costs at least; zero elsewhere."""
        return self.tables[slot.pool].per_run * float(self.worth.later[-1])


def _cheapest_first(prices: Costs, most: Counts, nodes: Counts) -> Costs:
    """Return what some nodes cost when the offer with the least price gives as many as it has, then the next.

    Args:
        prices: Offer x row -> price of a node.
        most: Nodes of each offer.
        nodes: Nodes of each row.
    """
    total, left = np.zeros(len(nodes)), nodes.copy()
    order = np.argsort(prices, axis=0, kind="stable")
    for place in order:
        taken = np.minimum(left, most[place])
        price = prices[place, np.arange(len(nodes))]
        total += np.where(taken > 0, price, 0.0) * taken
        left = left - taken
    return np.where(left > 0, np.inf, total)


def _tabled(slots: Sequence[Slot]) -> int:
    """Return up to how many nodes costs are tabled: twice what all runs at once need at least, at most all they may."""
    fits = [slot.needed[slot.days <= slot.last - slot.first + 1] for slot in slots]
    least = sum(int(needed.min()) for needed in fits if len(needed))
    return min(max(2 * least, LEAST_TABLED), sum(int(slot.needed.max(initial=0)) for slot in slots))


def _lasts(first: int, horizon: int, frame: Frame) -> Counts:
    policy = frame.scenario.after_run.policy
    if policy == "use":
        return np.arange(first, max(horizon, first) + 1, USE_STEP_DAYS, dtype=np.int64)
    if After(policy, frame.last_day).matters:
        return np.unique(np.linspace(first, max(horizon, first), SITUATIONS).astype(np.int64))
    return np.array([first], dtype=np.int64)
