"""The pools of the node-day relaxation: who may run there, what may be awarded, and the node-days both agree on."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from optimizer.cost.frame import DAY
from optimizer.solver.linear import LinearModel
from optimizer.solver.offers import signed_units
from optimizer.solver.problem import Pool, Problem, Profile, supply_nodes
from optimizer.solver.relaxed_costs import book_energy, book_hours, book_least, book_system, hired_rate
from optimizer.solver.relaxed_terms import Term, hired_alone, is_hired_alone, terms_of
from optimizer.solver.variables import Builder, orders_of_option

TANGENTS = 6
"""Most tangents per hull: more rows make the bound hardly better."""

Segment = tuple[dt.date, dt.date]
"""First and last day."""


@dataclass(frozen=True)
class Stay:
    """A workload in a pool: its variables.

    Attributes:
        workload: Its name.
        here: Boolean of running there.
        nodes: Nodes it takes.
        days: Segment -> node-days.
        modes: (nodes with spares, days) of its modes.
        share: Least share of its nodes that are no spares.
        first: First day it may use there.
        last: Last day it may use.
    """

    workload: str
    here: int
    nodes: int
    days: dict[Segment, int]
    modes: tuple[tuple[int, int], ...]
    share: Decimal
    first: dt.date
    last: dt.date


@dataclass(frozen=True)
class Ground:
    """A pool in the relaxation.

    Attributes:
        pool: The pool.
        stays: The workloads that may run there.
        terms: Its reserved terms.
        days_matter: Whether runs share what is awarded; False where each hires its own.
        variables: Its variables: what they cost is what the pool costs.
    """

    pool: Pool
    stays: list[Stay]
    terms: list[Term]
    days_matter: bool
    variables: range = range(0)


def ground_of(builder: Builder, pool: Pool) -> Ground:
    """Declare what may be awarded in a pool and every workload that may run there, with the rows of the pool."""
    first = len(builder.model.names)
    ground = _declared(builder, pool)
    if ground.days_matter:
        _capacity(builder, ground)
        for stay in ground.stays:
            book_energy(builder, pool, stay.days, stay.share)
    _need_a_run(builder, ground)
    return replace(ground, variables=range(first, len(builder.model.names)))


def _declared(builder: Builder, pool: Pool) -> Ground:
    """Declare what may be awarded in a pool, and the variables of every workload that may run there."""
    problem = builder.problem
    profiles: dict[str, list[Profile]] = defaultdict(list)
    for profile in problem.profiles:
        if profile.pool.name == pool.name:
            profiles[profile.workload].append(profile)
    spans = {name: _span(name, own, problem) for name, own in profiles.items()}
    for option in pool.options:
        if option.site:
            builder.orders += orders_of_option(builder, pool, option, None, [None])
    latest = [spans[name][1] - (min(one.run.candidate.days for one in own) - 1) * DAY for name, own in profiles.items()]
    follow = not _is_one_offer(pool) or any(problem.frame.scenario.workloads[name].after for name in profiles)
    terms = list(terms_of(builder, pool, max(latest), follow=follow)) if latest else []
    ground = Ground(pool, [], terms, not is_hired_alone(pool))
    cuts = _segments(builder, ground, list(spans.values()))
    for name, own in profiles.items():
        stay = _stay(builder, ground, own, spans[name], cuts)
        if stay is not None:
            ground.stays.append(stay)
    return ground


def _stay(
    builder: Builder, ground: Ground, own: Sequence[Profile], span: Segment, cuts: Sequence[Segment]
) -> Stay | None:
    """Declare a workload in a pool; None where it cannot run."""
    (first, last), name, model = span, own[0].workload, builder.model
    label = f"{name} in {ground.pool.name}"
    modes = tuple({(profile.nodes_needed, profile.run.candidate.days) for profile in own})
    if not ground.days_matter:
        least = hired_alone(ground.pool, own, last, builder.frame)
        if least is None:
            return None
        stay = Stay(name, model.boolean(label), builder.one, {}, modes, Decimal(1), first, last)
        book_least(builder, stay.here, least)
        return stay
    most = max(nodes for nodes, _ in modes)
    here, nodes = model.boolean(label), model.number(f"{label} nodes", 0, most)
    inside = [cut for cut in cuts if first <= cut[0] and cut[1] <= last]
    days = {cut: model.number(f"{label} from {cut[0]}", 0, most * _length(cut)) for cut in inside}
    share = min(Decimal(profile.run.candidate.nodes) / profile.nodes_needed for profile in own)
    stay = Stay(name, here, nodes, days, modes, share, first, last)
    _work(model, stay)
    return stay


def _span(name: str, own: Sequence[Profile], problem: Problem) -> Segment:
    """Return the first and last day a workload may use in a pool."""
    last = problem.windows[name][1] if problem.windows else max(profile.run.end for profile in own)
    return min(profile.run.start for profile in own), last


def _length(segment: Segment) -> int:
    return (segment[1] - segment[0]).days + 1


def _segments(builder: Builder, ground: Ground, spans: Sequence[Segment]) -> list[Segment]:
    """Return the spans in which neither what stands in a pool nor whose window it is changes."""
    cuts = {day for first, last in spans for day in (first, last + DAY)}
    following = {term.order.index for term in ground.terms if term.follows}
    for order in builder.orders_of(ground.pool):
        if order.index in following:
            continue
        end = order.option.end
        cuts |= {var.piece.lot.ready for var in order.pieces} | ({end + DAY} if end else set())
    return [(begin, following - DAY) for begin, following in pairwise(sorted(cuts))]


def _work(model: LinearModel, stay: Stay) -> None:
    """Nodes between the smallest and the largest mode; node-days above the hull of the modes, at most nodes x days."""
    least, most = min(nodes for nodes, _ in stay.modes), max(nodes for nodes, _ in stay.modes)
    model.add("nodes", stay.workload, [(stay.nodes, 1), (stay.here, -least)], lower=0)
    model.add("nodes", stay.workload, [(stay.nodes, 1), (stay.here, -most)], upper=0)
    _above(model, stay, list(stay.days.values()), [(nodes, nodes * days) for nodes, days in stay.modes])
    for cut, index in stay.days.items():
        model.add("at most", f"{stay.workload} {cut[0]}", [(index, 1), (stay.nodes, -_length(cut))], upper=0)


def _above(model: LinearModel, stay: Stay, days: Sequence[int], points: Sequence[Point]) -> None:
    """Node-days of some spans lie above the lower hull of (nodes, node-days) of the modes, when it runs here."""
    for left, right in _tangents(hull(points)):
        width, rise = right[0] - left[0], right[1] - left[1]
        # width x node-days >= rise x nodes + (width x left height - rise x left nodes), when it runs here
        base = width * left[1] - rise * left[0]
        terms = [*((index, width) for index in days), (stay.nodes, -rise), (stay.here, -base)]
        if rise or base:
            model.add("node-days", stay.workload, terms, lower=0)


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


def _capacity(builder: Builder, ground: Ground) -> None:
    """Node-days of all runs in a span <= days x nodes there + node-days hired; no run has more nodes than ever stand."""
    pool, stays, per_unit, model = ground.pool, ground.stays, ground.pool.platform.nodes_per_unit, builder.model
    rented = _hired(builder, pool, stays)
    for cut in _cuts(stays):
        used = [(stay.days[cut], -1) for stay in stays if cut in stay.days]
        there = [(v, days * per_unit) for v, days in _standing(builder, ground, cut)]
        hired = [(index, 1) for index in rented[cut]]
        model.add("capacity", f"{pool.name} {cut[0]}", [*used, *there, *hired], lower=-_length(cut) * pool.owned_nodes)
    hireable = supply_nodes(pool) if any(rented.values()) else pool.owned_nodes
    for stay in stays:
        there = [(v, per_unit) for v in _of_use(builder, ground, stay)]
        model.add("delivered", stay.workload, [(stay.nodes, -1), *there], lower=-hireable)
    _terms_end(builder, ground)


def _is_one_offer(pool: Pool) -> bool:
    """Return whether a pool is one offer: no run can be there before it starts."""
    return not pool.owned_nodes and len({option.offer_key for option in pool.options}) == 1


def _terms_end(builder: Builder, ground: Ground) -> None:
    """In a pool of one reserved offer all node-days lie within its term, whenever it starts."""
    if not ground.terms or not _is_one_offer(ground.pool):
        return
    used = [(index, -1) for stay in ground.stays for index in stay.days.values()]
    per_unit = ground.pool.platform.nodes_per_unit
    there = [(v, term.days * per_unit) for term in ground.terms for v, _ in term.order.units()]
    builder.model.add("term", ground.pool.name, [*used, *there], lower=0)


def _cuts(stays: Sequence[Stay]) -> list[Segment]:
    return sorted({cut for stay in stays for cut in stay.days})


def _hired(builder: Builder, pool: Pool, stays: Sequence[Stay]) -> dict[Segment, list[int]]:
    """Declare and book the node-days hired in each span."""
    rented: dict[Segment, list[int]] = {cut: [] for cut in _cuts(stays)}
    hired = [option for option in pool.options if option.is_hired]
    if not stays or not hired:
        return rented
    if pool.system:
        for stay in stays:
            book_system(builder, stay.here, hired)
    rate = hired_rate(hired, max(stay.last for stay in stays), builder.frame)
    for cut, index in _node_days(builder, f"hired in {pool.name}", pool, stays).items():
        book_hours(builder, index, rate)
        rented[cut].append(index)
    return rented


def _node_days(builder: Builder, label: str, pool: Pool, stays: Sequence[Stay]) -> dict[Segment, int]:
    """Declare node-days in each span, as many as the runs of a pool can use."""
    most = sum(min(supply_nodes(pool), max(nodes for nodes, _ in stay.modes)) for stay in stays)
    return {cut: builder.model.number(f"{label} from {cut[0]}", 0, most * _length(cut)) for cut in _cuts(stays)}


def _standing(builder: Builder, ground: Ground, cut: Segment) -> Iterator[tuple[int, int]]:
    """Yield the variables of units that may serve in a span, and the days they may."""
    orders = {term.order.index: term for term in ground.terms}
    for order in builder.orders_of(ground.pool):
        term = orders.get(order.index)
        for var in order.pieces:
            ready, end = var.piece.lot.ready, order.option.end
            if term is not None:
                yield var.index, term.overlap(*cut)
            elif ready <= cut[0] and (end is None or end >= cut[1]):
                yield var.index, _length(cut)


def _of_use(builder: Builder, ground: Ground, stay: Stay) -> Iterator[int]:
    """Yield the variables of units that some mode of a run fits: ready in time, and long enough there."""
    shortest = min(days for _, days in stay.modes)
    first = {term.order.index: term.first for term in ground.terms}
    for order in builder.orders_of(ground.pool):
        for var in order.pieces:
            begin = max(first.get(order.index, var.piece.lot.ready), stay.first)
            end = min(order.option.end or stay.last, stay.last)
            if (end - begin).days + 1 >= shortest:
                yield var.index


def _need_a_run(builder: Builder, ground: Ground) -> None:
    """An order needs a run in its pool, unless it is signed or capacity is the objective; some terms one that follows."""
    if builder.frame.scenario.objective == "capacity":
        return
    signed = signed_units(builder.frame)
    following = {term.order.index for term in ground.terms if term.follows} if _is_one_offer(ground.pool) else set()
    followers = list(_followers(builder, ground)) if following else []
    for order in builder.orders_of(ground.pool):
        if order.option.offer_key in signed:
            continue
        name, taken = builder.model.names[order.index], (order.index, 1)
        builder.model.add("pool_use", name, [taken, *((stay.here, -1) for stay in ground.stays)], upper=0)
        if order.index in following:
            builder.model.add("follow", name, [taken, *((index, -1) for index in followers)], upper=0)


def _followers(builder: Builder, ground: Ground) -> Iterator[int]:
    """Yield Booleans of runs in a pool of one offer that may start as another one ends: that one is in another pool."""
    here = {stay.workload: stay.here for stay in ground.stays}
    for name, index in here.items():
        before = builder.frame.scenario.workloads[name].after
        if before:
            follows = builder.model.boolean(f"{name} follows into {ground.pool.name}")
            builder.model.add("follow", name, [(follows, 1), (index, -1)], upper=0)
            beside = [(here[one], 1) for one in before if one in here]
            builder.model.add("follow", name, [(follows, 1), *beside], upper=len(before))
            yield follows
