"""The node-day relaxation: a decision without schedules, whose bound holds for every plan.

A run of n nodes for d days is n x d node-days, spread as one likes over the segments of time in which the capacity of its
pool does not change. What is given up: that a run is not interrupted, keeps its number of nodes, and stays on units whose
contract covers all of it. What is kept: one pool per run, whole orders with tiers and lots, power, racks, budgets, vendors.

* per workload j and pool p: Boolean a (it runs there), nodes n, node-days e in each segment of its window;
  e <= n x days; sum of e >= tangents of the lower hull of (n, n x d) of its modes, so hundreds of modes cost a few rows;
* per pool and segment: sum of e <= days x nodes of what stands there + node-days rented;
* hours are counted by the node-day at their lowest price; a reserved term as whole units that cost their whole term and
  serve at most its days, whenever it starts.

Costs are lower bounds too: recurring costs end on the earliest last day, tables at their lowest amount. HiGHS solves it in
floating point, so bounds are lowered by a margin and "infeasible" counts only when CP-SAT proves the same rows infeasible.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Literal, NamedTuple

from optimizer.solver.backend import Settings
from optimizer.solver.cpsat import CpSat
from optimizer.solver.found import Found
from optimizer.solver.highs import lower_bound
from optimizer.solver.ledger import Ledger, scale_digits
from optimizer.solver.linear import LinearModel
from optimizer.solver.offers import signed_units
from optimizer.solver.prices import nothing_comes_back
from optimizer.solver.problem import Problem
from optimizer.solver.relaxed_costs import (
    book_awards,
    budgets,
    floored,
)
from optimizer.solver.relaxed_pools import Ground, ground_of
from optimizer.solver.rules import policy, quantities, site
from optimizer.solver.variables import Builder

SAFE = 1e-6
"""Relative margin by which a bound in floating point is lowered."""


REFUTED = "the node-day relaxation was proved infeasible by HiGHS and by CP-SAT"
"""The proof that there is no plan."""

HALF = 0.5
"""Above it a Boolean is 1."""

USED_UP = 0.98
"""Share of a budget from which on it is used up: whole orders seldom leave less."""

ROUGHLY = 0.01
"""Relative gap at which the relaxation of a first proof may stop: that there is no plan shows before, and its dual bound holds."""


@dataclass(frozen=True, slots=True)
class Relaxed:
    """What the relaxation proves.

    Attributes:
        outcome: infeasible (proven twice), bounded, or unknown.
        bound: Lower bound on the present value of every plan; None when the objective is not cost, or none was found.
        places: Workload -> name of the pool it takes in the cheapest solution that was found; empty without one.
        short: Whether that solution uses up a budget.
    """

    outcome: Literal["infeasible", "bounded", "unknown"]
    bound: Decimal | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    short: bool = False


@dataclass(frozen=True)
class RelaxedModel:
    """The relaxation of a problem.

    Attributes:
        builder: Its variables and rows.
        grounds: Its pools.
        digits: Digits behind the major unit that the objective counts.
        objective: Variable -> what it costs at least; empty when the objective is not cost.
    """

    builder: Builder
    grounds: tuple[Ground, ...]
    digits: int
    objective: Mapping[int, int]

    @cached_property
    def rows(self) -> Mapping[str | None, Sequence[int]]:
        """Pool -> positions of the rows with a variable of it; None -> of those with a variable of no pool."""
        owner = {index: ground.pool.name for ground in self.grounds for index in ground.variables}
        found: dict[str | None, list[int]] = defaultdict(list)
        for position, row in enumerate(self.builder.model.rows):
            for name in {owner.get(index) for index, _ in row.terms}:
                found[name].append(position)
        return found


def relaxed(problem: Problem, settings: Settings, *, bounded: bool = True) -> Relaxed:
    """Return a bound on every plan of a problem (where it is asked for), or the proof that there is none."""
    return proven(relaxed_model(problem), settings, bounded=bounded) if applies(problem) else Relaxed("unknown")


def proven(model: RelaxedModel, settings: Settings, *, bounded: bool = True) -> Relaxed:
    """Return what a relaxation proves of every plan: a bound (where it is asked for), or that there is none."""
    light = replace(settings, light=True)
    status, bound, values = lower_bound(model.builder.model, model.objective if bounded else {}, light)
    if status == "infeasible":
        second = CpSat().solve(model.builder.model, {}, light)
        return Relaxed("infeasible") if second.outcome == "infeasible" else Relaxed("unknown")
    if bound is None or not model.objective or not bounded:
        return Relaxed("unknown")
    if not values:
        return Relaxed("bounded", lowered(bound, model.digits))
    return Relaxed("bounded", lowered(bound, model.digits), _places(model, values), _is_short(model, values))


def _places(model: RelaxedModel, values: Sequence[float]) -> dict[str, str]:
    """Return the pool of each workload in a solution."""
    stays = ((stay, ground.pool.name) for ground in model.grounds for stay in ground.stays)
    return {stay.workload: pool for stay, pool in stays if values[stay.here] > HALF}


def _is_short(model: RelaxedModel, values: Sequence[float]) -> bool:
    """Return whether a solution uses up a budget."""
    rows = (row for row in model.builder.model.rows if row.rule == "budget")
    return any(sum(paid * values[index] for index, paid in row.terms) >= USED_UP * row.upper for row in rows)


def lowered(bound: float, digits: int) -> Decimal:
    """Return a bound that floating point claims, in major units and below by a margin."""
    return Decimal(int(bound - SAFE * abs(bound)) - 1).scaleb(-digits)


class FirstProof(NamedTuple):
    """What the relaxation gives before any search.

    Attributes:
        answer: That there is no plan; None where it did not prove that.
        bound: Bound on every plan, if any.
        places: Workload -> name of the pool it would take; empty where that is not known.
        short: Whether a budget is used up there.
    """

    answer: Found | None
    bound: Decimal | None = None
    places: Mapping[str, str] = {}
    short: bool = False


def first_proof(problem: Problem, settings: Settings, *, bounded: bool = True) -> FirstProof:
    """Return what the relaxation proves by itself.

    Only problems with more runs than can be listed are asked: others are proven by the compact model at once. The bound
    takes some seconds; where a search has better ones soon, only a proof that there is no plan is worth them.
    """
    if problem.windows is None:
        return FirstProof(None)
    found = relaxed(problem, replace(settings, gap=ROUGHLY), bounded=bounded)
    if found.outcome != "infeasible":
        return FirstProof(None, found.bound, found.places, found.short)
    return FirstProof(Found("infeasible", None, None, "highs", REFUTED))


def applies(problem: Problem) -> bool:
    """Return whether leaving things out can only make plans cheaper: nothing that is left out has a negative cost."""
    power = [pool.platform.node_power_kw for pool in problem.pools if pool.site]
    draws = all(card.training is None or card.idle is None or card.training >= card.idle for card in power)
    return bool(problem.profiles) and draws and nothing_comes_back(problem)


def relaxed_model(problem: Problem) -> RelaxedModel:
    """Return the relaxation of a problem; it must apply (``applies``)."""
    builder = Builder(problem, LinearModel(), Ledger(problem.frame))
    builder.one = builder.model.integer("one", 1, 1)
    grounds = tuple(ground_of(builder, pool) for pool in problem.pools)
    for name in problem.frame.scenario.workloads:
        own = [(stay.here, 1) for ground in grounds for stay in ground.stays if stay.workload == name]
        builder.model.add("one_pool", name, own, 1, 1)  # each workload runs in one pool
    for rule in (quantities.one_order, quantities.quantity, quantities.fill, site.power, site.racks, policy.vendors):
        rule(builder)
    _signed(builder)
    if not any(option.is_hired for option in problem.options):
        policy.second_source(builder)
    book_awards(builder, _earliest_end(problem))
    budgets(builder)
    digits = scale_digits([builder.ledger.npv], builder.model.upper, problem.frame.scenario.currency)
    cost = problem.frame.scenario.objective == "cost"
    objective = {v: floored(amount, digits) for v, amount in builder.ledger.npv.items()} if cost else {}
    return RelaxedModel(builder, grounds, digits, objective)


ELSEWHERE = ("one_pool", "follow", "second_source")
"""Rules whose rows do not hold where some of the runs are left out."""


def excerpt(whole: RelaxedModel, places: Mapping[str, str], *, open_to_all: str | None = None) -> RelaxedModel:
    """Return the relaxation of runs in given pools: all other runs are left out, and what only other pools may award.

    Args:
        whole: The relaxation of all runs.
        places: Workload -> name of its pool. Where it has all workloads, all rules hold; else the bound of each pool
            holds whatever else runs there, or elsewhere.
        open_to_all: Name of a pool in which any runs may be, besides.
    """
    old = whole.builder.model
    model = replace(old, lower=list(old.lower), upper=list(old.upper), rows=[])
    anywhere, used = whole.builder.problem.anywhere, {*places.values(), open_to_all}
    gone = bytearray(len(old.names))
    for ground in whole.grounds:
        if ground.pool.name not in used and not anywhere:
            gone[ground.variables.start : ground.variables.stop] = b"\1" * len(ground.variables)
        for stay in ground.stays:
            if places.get(stay.workload) == ground.pool.name:
                model.lower[stay.here] = 1
            elif ground.pool.name != open_to_all:
                for index in {stay.here, stay.nodes, *stay.days.values()} - {whole.builder.one}:
                    gone[index] = 1
    for index in (index for index, left_out in enumerate(gone) if left_out):
        model.lower[index] = model.upper[index] = 0
    everything = len(places) == len(whole.builder.frame.scenario.workloads)
    near = (name for name in whole.rows if name is None or name in used or anywhere)
    rows = (old.rows[position] for position in sorted({position for name in near for position in whole.rows[name]}))
    left = (
        replace(row, terms=tuple(term for term in row.terms if not gone[term[0]]))
        for row in rows
        if everything or row.rule not in ELSEWHERE
    )
    model.rows = [row for row in left if row.terms]
    builder = replace(whole.builder, model=model)
    return replace(whole, builder=builder)


def _earliest_end(problem: Problem) -> dt.date:
    """Return the earliest day on which the last run may end: no earlier than any of them can."""
    ends: dict[str, dt.date] = {}
    for profile in problem.profiles:
        ends[profile.workload] = min(profile.run.end, ends.get(profile.workload, profile.run.end))
    return max(ends.values())


def _signed(builder: Builder) -> None:
    """Units signed already, of what is delivered to our sites."""
    orders = builder.by_offer()
    for offer, units in signed_units(builder.frame).items():
        if offer in orders:
            own = [term for order in orders[offer] for term in order.units()]
            builder.model.add("signed", "/".join(offer), own, lower=units)
