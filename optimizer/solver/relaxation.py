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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from optimizer.cost.entries import table
from optimizer.cost.frame import DAY
from optimizer.cost.option import Option, maximum, smallest_order
from optimizer.schema.base import Money
from optimizer.schema.quote import ReservedOffer
from optimizer.solver.backend import Settings
from optimizer.solver.cpsat import CpSat
from optimizer.solver.highs import lower_bound
from optimizer.solver.ledger import Ledger, scale_digits
from optimizer.solver.linear import LinearModel
from optimizer.solver.offers import signed_units
from optimizer.solver.problem import Pool, Problem, Profile, supply_nodes
from optimizer.solver.relaxed_costs import (
    book_awards,
    book_hours,
    book_system,
    book_term,
    budgets,
    floored,
    hired_rate,
    term_days,
)
from optimizer.solver.rules import policy, quantities, site
from optimizer.solver.search import Found
from optimizer.solver.variables import Builder, orders_of_option

TANGENTS = 6
"""Most tangents per hull: more rows make the bound hardly better."""

SAFE = 1e-6
"""Relative margin by which a bound in floating point is lowered."""

Segment = tuple[dt.date, dt.date]
"""First and last day."""


@dataclass(frozen=True, slots=True)
class Relaxed:
    """What the relaxation proves.

    Attributes:
        outcome: infeasible (proven twice), bounded, or unknown.
        bound: Lower bound on the present value of every plan; None when the objective is not cost, or none was found.
    """

    outcome: Literal["infeasible", "bounded", "unknown"]
    bound: Decimal | None = None


@dataclass(frozen=True)
class _Stay:
    """A workload in a pool: its variables.

    Attributes:
        workload: Its name.
        here: Boolean of running there.
        nodes: Nodes it takes.
        days: Segment -> node-days.
        modes: (nodes with spares, days) of its modes.
        first: First day it may use there.
        last: Last day it may use.
    """

    workload: str
    here: int
    nodes: int
    days: dict[Segment, int]
    modes: tuple[tuple[int, int], ...]
    first: dt.date
    last: dt.date


def relaxed(problem: Problem, settings: Settings) -> Relaxed:
    """Return a bound on every plan of a problem, or the proof that there is none."""
    if not _applies(problem):
        return Relaxed("unknown")
    builder = _model(problem)
    digits = scale_digits([builder.ledger.npv], builder.model.upper, problem.frame.scenario.currency)
    cost = problem.frame.scenario.objective == "cost"
    objective = {v: floored(amount, digits) for v, amount in builder.ledger.npv.items()} if cost else {}
    status, bound = lower_bound(builder.model, objective, settings)
    if status == "infeasible":
        second = CpSat().solve(builder.model, {}, settings)
        return Relaxed("infeasible") if second.outcome == "infeasible" else Relaxed("unknown")
    if bound is None or not cost:
        return Relaxed("unknown")
    return Relaxed("bounded", Decimal(int(bound - SAFE * abs(bound)) - 1).scaleb(-digits))


def first_proof(problem: Problem, settings: Settings) -> tuple[Found | None, Decimal | None]:
    """Return the answer the relaxation gives by itself, if any, else a bound on every plan, if any.

    Only problems with more runs than can be listed are asked: others are proven by the compact model at once.
    """
    if problem.windows is None:
        return None, None
    found = relaxed(problem, settings)
    if found.outcome != "infeasible":
        return None, found.bound
    proof = "the node-day relaxation was proved infeasible by HiGHS and by CP-SAT"
    return Found("infeasible", None, None, "highs", proof), None


def _applies(problem: Problem) -> bool:
    """Return whether leaving things out can only make plans cheaper: nothing that is left out has a negative cost."""
    frame = problem.frame
    amounts = (amount for entry in frame.scenario.costs for _, amount in table(entry, frame))
    lines = (line.price for option in problem.options for line in option.offer.lines)
    power = [pool.platform.node_power_kw for pool in problem.pools if pool.site]
    draws = all(card.training is None or card.idle is None or card.training >= card.idle for card in power)
    discounts = any(isinstance(price, Money) and price.amount < 0 for price in lines)
    return bool(problem.profiles) and draws and not discounts and all(amount.value >= 0 for amount in amounts)


def _model(problem: Problem) -> Builder:
    builder = Builder(problem, LinearModel(), Ledger(problem.frame))
    builder.one = builder.model.integer("one", 1, 1)
    for pool in problem.pools:
        for option in pool.options:
            if option.site:
                builder.orders += orders_of_option(builder, pool, option, None, [None])
    stays = {pool.name: list(_stays(builder, pool)) for pool in problem.pools}
    _one_pool(builder, stays)
    for pool in problem.pools:
        _capacity(builder, pool, stays[pool.name])
        _need_a_run(builder, pool, stays[pool.name])
    for rule in (quantities.one_order, quantities.quantity, quantities.fill, site.power, site.racks, policy.vendors):
        rule(builder)
    _signed(builder)
    if all(option.site for option in problem.options):
        policy.second_source(builder)
    book_awards(builder, min(profile.run.end for profile in problem.profiles))
    budgets(builder)
    return builder


def _stays(builder: Builder, pool: Pool) -> Iterator[_Stay]:
    """Declare the variables of every workload that may run in a pool."""
    problem, model = builder.problem, builder.model
    profiles: dict[str, list[Profile]] = defaultdict(list)
    for profile in problem.profiles:
        if profile.pool.name == pool.name:
            profiles[profile.workload].append(profile)
    spans = {name: _span(name, own, problem) for name, own in profiles.items()}
    cuts = _segments(builder, pool, list(spans.values()))
    for name, own in profiles.items():
        first, last = spans[name]
        modes = tuple({(profile.nodes_needed, profile.run.candidate.days) for profile in own})
        most = max(nodes for nodes, _ in modes)
        label = f"{name} in {pool.name}"
        here, nodes = model.boolean(label), model.number(f"{label} nodes", 0, most)
        inside = [cut for cut in cuts if first <= cut[0] and cut[1] <= last]
        days = {cut: model.number(f"{label} from {cut[0]}", 0, most * _length(cut)) for cut in inside}
        stay = _Stay(name, here, nodes, days, modes, first, last)
        _work(model, stay)
        yield stay


def _span(name: str, own: Sequence[Profile], problem: Problem) -> Segment:
    """Return the first and last day a workload may use in a pool."""
    last = problem.windows[name][1] if problem.windows else max(profile.run.end for profile in own)
    return min(profile.run.start for profile in own), last


def _length(segment: Segment) -> int:
    return (segment[1] - segment[0]).days + 1


def _segments(builder: Builder, pool: Pool, spans: Sequence[Segment]) -> list[Segment]:
    """Return the spans in which neither what stands in a pool nor whose window it is changes."""
    cuts = {day for first, last in spans for day in (first, last + DAY)}
    for order in builder.orders_of(pool):
        end = order.option.end
        cuts |= {var.piece.lot.ready for var in order.pieces} | ({end + DAY} if end else set())
    return [(begin, following - DAY) for begin, following in pairwise(sorted(cuts))]


def _work(model: LinearModel, stay: _Stay) -> None:
    """Nodes between the smallest and the largest mode; node-days above the hull of the modes, at most nodes x days."""
    least, most = min(nodes for nodes, _ in stay.modes), max(nodes for nodes, _ in stay.modes)
    model.add("nodes", stay.workload, [(stay.nodes, 1), (stay.here, -least)], lower=0)
    model.add("nodes", stay.workload, [(stay.nodes, 1), (stay.here, -most)], upper=0)
    done = [(index, 1) for index in stay.days.values()]
    for left, right in _tangents(hull([(nodes, nodes * days) for nodes, days in stay.modes])):
        width, rise = right[0] - left[0], right[1] - left[1]
        # width x node-days >= rise x nodes + (width x left height - rise x left nodes), when it runs here
        base = width * left[1] - rise * left[0]
        terms = [*((index, width) for index, _ in done), (stay.nodes, -rise), (stay.here, -base)]
        model.add("node-days", stay.workload, terms, lower=0)
    for cut, index in stay.days.items():
        model.add("at most", f"{stay.workload} {cut[0]}", [(index, 1), (stay.nodes, -_length(cut))], upper=0)


Point = tuple[int, int]


def hull(points: Sequence[Point]) -> list[Point]:
    """Return the lower convex hull of points, from left to right; of equal first coordinates the lowest."""
    lowest: dict[int, int] = {}
    for x, y in points:
        lowest[x] = min(y, lowest.get(x, y))
    found: list[Point] = []
    for x, y in sorted(lowest.items()):
        while len(found) > 1 and _turns_down(found[-2], found[-1], (x, y)):
            found.pop()
        found.append((x, y))
    return found


def _turns_down(first: Point, second: Point, third: Point) -> bool:
    """Return whether the second point is on or above the line from the first to the third."""
    return (second[1] - first[1]) * (third[0] - first[0]) >= (third[1] - first[1]) * (second[0] - first[0])


def _tangents(points: Sequence[Point]) -> list[tuple[Point, Point]]:
    """Return some edges of a hull, evenly spread; of one point, its level."""
    if len(points) == 1:
        x, y = points[0]
        return [((x, y), (x + 1, y))]
    edges = list(pairwise(points))
    picked = {round(step * (len(edges) - 1) / max(TANGENTS - 1, 1)) for step in range(TANGENTS)}
    return [edges[place] for place in sorted(picked)]


def _one_pool(builder: Builder, stays: dict[str, list[_Stay]]) -> None:
    """Each workload runs in one pool."""
    for name in builder.frame.scenario.workloads:
        own = [(stay.here, 1) for found in stays.values() for stay in found if stay.workload == name]
        builder.model.add("one_pool", name, own, 1, 1)


def _capacity(builder: Builder, pool: Pool, stays: Sequence[_Stay]) -> None:
    """Node-days of all runs in a span <= days x nodes there + node-days rented; no run has more nodes than ever stand."""
    per_unit, model = pool.platform.nodes_per_unit, builder.model
    rented = _rented(builder, pool, stays)
    for cut in _cuts(stays):
        used = [(stay.days[cut], -1) for stay in stays if cut in stay.days]
        there = [(v, _length(cut) * per_unit) for v in _standing(builder, pool, cut[0], cut[1])]
        hired = [(index, 1) for index in rented[cut]]
        model.add("capacity", f"{pool.name} {cut[0]}", [*used, *there, *hired], lower=-_length(cut) * pool.owned_nodes)
    hireable = supply_nodes(pool) if any(rented.values()) else pool.owned_nodes
    for stay in stays:
        there = [(v, per_unit) for v in _standing(builder, pool, stay.last, stay.first)]
        model.add("delivered", stay.workload, [(stay.nodes, -1), *there], lower=-hireable)


def _cuts(stays: Sequence[_Stay]) -> list[Segment]:
    return sorted({cut for stay in stays for cut in stay.days})


def _rented(builder: Builder, pool: Pool, stays: Sequence[_Stay]) -> dict[Segment, list[int]]:
    """Declare and book the node-days rented in each span, by the hour and on reserved terms."""
    rented: dict[Segment, list[int]] = {cut: [] for cut in _cuts(stays)}
    hired = [option for option in pool.options if option.is_hired]
    if not stays:
        return rented
    if pool.system:
        for stay in stays:
            book_system(builder, stay.here, hired)
    last = max(stay.last for stay in stays)
    if hired:
        rate = hired_rate(hired, last, builder.frame)
        for cut, index in _node_days(builder, f"hired in {pool.name}", pool, stays).items():
            book_hours(builder, index, rate)
            rented[cut].append(index)
    terms = {option.offer_key: option for option in pool.options if isinstance(option.offer, ReservedOffer)}
    for option in terms.values():
        for cut, index in _term(builder, option, pool, stays, last).items():
            rented[cut].append(index)
    return rented


def _node_days(builder: Builder, label: str, pool: Pool, stays: Sequence[_Stay]) -> dict[Segment, int]:
    """Declare node-days in each span, as many as the runs of a pool can use."""
    most = sum(min(supply_nodes(pool), max(nodes for nodes, _ in stay.modes)) for stay in stays)
    return {cut: builder.model.number(f"{label} from {cut[0]}", 0, most * _length(cut)) for cut in _cuts(stays)}


def _term(builder: Builder, option: Option, pool: Pool, stays: Sequence[_Stay], last: dt.date) -> dict[Segment, int]:
    """Declare a reserved offer: whole units, each for its whole term, in one award that starts some day."""
    model, name = builder.model, "/".join(option.offer_key)
    nodes = option.platform.nodes_per_unit
    most = min(maximum(option), sum(-(-max(count for count, _ in stay.modes) // nodes) for stay in stays))
    units = model.integer(f"units of {name}", 0, max(most, smallest_order(option.offer)))
    book_term(builder, units, option, last)
    served = _node_days(builder, f"on {name}", pool, stays)
    for cut, index in served.items():
        model.add("term", f"{name} {cut[0]}", [(index, 1), (units, -nodes * _length(cut))], upper=0)
    days = nodes * term_days(option)
    model.add("term", name, [*((index, 1) for index in served.values()), (units, -days)], upper=0)
    return served


def _standing(builder: Builder, pool: Pool, ready_by: dt.date, there_until: dt.date) -> Iterator[int]:
    """Yield the variables of units that are ready by a day and there until another."""
    for order in builder.orders_of(pool):
        for var in order.pieces:
            if var.piece.lot.ready <= ready_by and (order.option.end is None or order.option.end >= there_until):
                yield var.index


def _need_a_run(builder: Builder, pool: Pool, stays: Sequence[_Stay]) -> None:
    """An order needs a run in its pool, unless it is signed or capacity is the objective."""
    if builder.frame.scenario.objective == "capacity":
        return
    signed = signed_units(builder.frame)
    runs = [(stay.here, -1) for stay in stays]
    for order in builder.orders_of(pool):
        if order.option.offer_key not in signed:
            builder.model.add("pool_use", builder.model.names[order.index], [(order.index, 1), *runs], upper=0)


def _signed(builder: Builder) -> None:
    """Units signed already, of what is delivered to our sites."""
    orders = builder.by_offer()
    for offer, units in signed_units(builder.frame).items():
        if offer in orders:
            own = [term for order in orders[offer] for term in order.units()]
            builder.model.add("signed", "/".join(offer), own, lower=units)
