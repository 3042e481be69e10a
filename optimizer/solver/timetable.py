"""Runs in given pools, timed by CP-SAT: the least they cost there, and when they run.

The node-day relaxation of these pools, with what it leaves out put back: each run takes one mode from its first day to its
last, starts where a run may start, after those it follows, and at no time do the runs of a pool need more nodes than stand
there. What remains relaxed: costs that depend on other pools or on the last day of the plan, and which contract serves
which run. So the answer is a lower bound on every plan with these pools; the compact model tells what its schedule costs.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from itertools import accumulate

from ortools.sat.python import cp_model

from optimizer.cost.frame import DAY, Frame
from optimizer.cost.items import idle_kw, prices_per_kwh, training_kw
from optimizer.cost.option import maximum
from optimizer.solver.backend import Outcome, Settings
from optimizer.solver.cpsat import run, translate
from optimizer.solver.profiles import base_starts
from optimizer.solver.relaxation import RelaxedModel, excerpt
from optimizer.solver.relaxed_pools import Ground, Stay
from optimizer.solver.relaxed_terms import hire_rates
from optimizer.units import month_end

PARTS_OF_A_DAY = 10**5
"""Parts in which discounted days are counted."""

COARSER = 3
"""Digits by which what runs draw is counted coarser than the objective: products with days then stay far below 2^63."""

ROUNDING = Decimal("1e-7")
"""Relative margin for what is rounded in those."""

CROWDED = 4
"""Runs in a pool from which on it is told in which segments of time each is: with fewer that costs more than it gains."""

_WHEN = ("before", "during", "after")

Var = cp_model.IntVar


@dataclass(frozen=True, slots=True)
class Placed:
    """When a run is.

    Attributes:
        start: First day, from today.
        nodes: Nodes with spares.
        days: Days.
    """

    start: int
    nodes: int
    days: int


Timetable = Mapping[str, Placed]
"""Workload -> when it is."""


@dataclass(frozen=True, slots=True)
class Timed:
    """What was found out about runs in given pools.

    Attributes:
        outcome: ``optimal``: the bound is what the schedule costs here; ``infeasible``: nothing costs less than the cutoff.
        bound: Lower bound on every plan with these runs in these pools; None when none was found.
        runs: Workload -> when it is; empty without a schedule.
        interrupted: Whether Ctrl-C ended the search.
    """

    outcome: Outcome
    bound: Decimal | None
    runs: Timetable
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class _Run:
    """The variables of a run."""

    stay: Stay
    ground: Ground
    modes: Mapping[tuple[int, int], Var]
    """(nodes with spares, days) -> its Boolean."""
    start: Var
    end: Var
    """The day after its last."""
    interval: cp_model.IntervalVar


def timetable(
    whole: RelaxedModel,
    places: Mapping[str, str],
    settings: Settings,
    cutoff: Decimal | None = None,
    *,
    free: bool = False,
    exact: bool = False,
    any_will_do: bool = False,
    known: Sequence[Timetable] = (),
) -> Timed:
    """Return the least cost of runs in given pools, at most a cutoff.

    Args:
        whole: The relaxation of the problem.
        places: Workload -> name of its pool, each of which must have it as a stay; others are left out.
        settings: Solver settings.
        cutoff: What it may cost at most, in major units.
        free: Whether the bound holds for these pools alone, whatever else runs there or before: runs may then start on
            any day, and only these pools are paid.
        exact: Whether what runs draw is priced by the days they are, not as late as they may be.
        any_will_do: Whether any timetable within the cutoff will do: that there is none shows far sooner than what the
            least costs.
        known: Timetables that are left out, because what they cost is known.
    """
    relaxation, frame = excerpt(whole, places), whole.builder.frame
    native, variables = translate(relaxation.builder.model, {})
    runs = declared(native, variables, relaxation, lambda stay, pool: places.get(stay.workload) == pool)
    if len(runs) < len(places):
        return Timed("infeasible", cutoff, {})
    for one in () if free else runs:
        _may_start(native, one, runs, frame)
    for number, other in enumerate(known):
        _another(native, runs, other, number)
    cost = cost_of(native, variables, relaxation, runs, everything=not free, exact=exact)
    solver, timed = least_cost(native, cost, relaxation, settings, cutoff, any_will_do=any_will_do)
    if timed.outcome not in ("optimal", "feasible"):
        return timed
    return replace(timed, runs={one.stay.workload: _placed(one, solver) for one in runs})


def declared(
    native: cp_model.CpModel,
    variables: Sequence[Var],
    model: RelaxedModel,
    takes: Callable[[Stay, str], bool],
) -> list[_Run]:
    """Declare the runs that take a pool, or may, in their order and beside each other."""
    frame, found = model.builder.frame, []
    for ground in model.grounds:
        here = [stay for stay in ground.stays if takes(stay, ground.pool.name)]
        own = [_run(native, variables, ground, stay, frame) for stay in here]
        for one in own if len(own) >= CROWDED else ():
            _while_it_runs(native, variables, one, frame)
        if own:
            _at_once(native, variables, model, ground, own)
        found += own
    _in_order(native, variables, found, frame)
    return found


def least_cost(
    native: cp_model.CpModel,
    cost: cp_model.LinearExprT,
    model: RelaxedModel,
    settings: Settings,
    cutoff: Decimal | None,
    *,
    any_will_do: bool,
) -> tuple[cp_model.CpSolver, Timed]:
    """Return what CP-SAT says of the least cost, at most a cutoff, without a schedule; and the solver, which knows one."""
    if cutoff is not None:
        native.add(cost <= int(cutoff.scaleb(model.digits)))
    if not any_will_do:
        native.minimize(cost)
    solver, outcome, interrupted = run(native, settings)
    bound = Decimal(int(solver.response_proto.inner_objective_lower_bound)).scaleb(-model.digits)
    least = cutoff if outcome == "infeasible" else bound - ROUNDING * abs(bound)
    if any_will_do and outcome == "optimal":
        outcome = "feasible"
    if outcome != "infeasible" and (any_will_do or (outcome == "unknown" and not bound)):
        least = None  # stopped before it knows any, CP-SAT says 0
    return solver, Timed(outcome, least, {}, interrupted)


def _another(native: cp_model.CpModel, runs: Sequence[_Run], known: Timetable, number: int) -> None:
    """Leave a timetable out: some run takes another mode, or starts on another day."""
    differs = []
    for one in runs:
        placed = known[one.stay.workload]
        elsewhen = native.new_bool_var(f"{one.stay.workload} not as in {number}")
        native.add(one.start != placed.start).only_enforce_if(elsewhen)
        differs += [elsewhen, ~one.modes[placed.nodes, placed.days]]
    native.add_bool_or(differs)


def _placed(one: _Run, solver: cp_model.CpSolver) -> Placed:
    nodes, days = next(mode for mode, chosen in one.modes.items() if solver.value(chosen))
    return Placed(int(solver.value(one.start)), nodes, days)


def _run(native: cp_model.CpModel, variables: Sequence[Var], ground: Ground, stay: Stay, frame: Frame) -> _Run:
    """Declare the mode and the days of a run, and tie them to its nodes and node-days."""
    first, last = ((day - frame.today).days for day in (stay.first, stay.last))
    modes = {mode: native.new_bool_var(f"{stay.workload} {mode}") for mode in sorted(stay.modes)}
    here = variables[stay.here]
    native.add(sum(modes.values()) == here)
    start = native.new_int_var(first, last, f"start {stay.workload}")
    end = native.new_int_var(first, last + 1, f"end {stay.workload}")
    size = native.new_int_var(0, max(d for _, d in modes), f"days {stay.workload}")
    native.add(size == sum(days * chosen for (_, days), chosen in modes.items()))
    if ground.days_matter:
        native.add(variables[stay.nodes] == sum(nodes * chosen for (nodes, _), chosen in modes.items()))
        used = sum(variables[index] for index in stay.days.values())
        native.add(used == sum(nodes * days * chosen for (nodes, days), chosen in modes.items()))
    interval = native.new_optional_interval_var(start, size, end, here, f"run {stay.workload}")
    return _Run(stay, ground, modes, start, end, interval)


def _while_it_runs(native: cp_model.CpModel, variables: Sequence[Var], one: _Run, frame: Frame) -> None:
    """A run takes node-days in a segment of time only if it neither ends before it nor starts after it.

    Booleans for that let the linear relaxation know what is decided about the days of the run.
    """
    here, most = variables[one.stay.here], max(nodes for nodes, _ in one.modes)
    earlier = None
    for (first, last), index in sorted(one.stay.days.items()):
        begin, end = (first - frame.today).days, (last - frame.today).days
        before, during, after = (native.new_bool_var(f"{one.stay.workload} {w} {first}") for w in _WHEN)
        native.add(before + during + after == here)
        native.add(one.end <= begin).only_enforce_if(before)
        native.add(one.start <= end).only_enforce_if(during)
        native.add(one.end > begin).only_enforce_if(during)
        native.add(one.start > end).only_enforce_if(after)
        native.add(variables[index] <= most * (end - begin + 1) * during)
        if earlier is not None:
            native.add_implication(earlier[0], before)
            native.add_implication(after, earlier[1])
        earlier = before, after


def _in_order(native: cp_model.CpModel, variables: Sequence[Var], runs: Sequence[_Run], frame: Frame) -> None:
    """A run starts after the last days of those it follows."""
    named = {one.stay.workload: one for one in runs}
    for name, one in named.items():
        for before in frame.scenario.workloads[name].after:
            if before in named:
                both = (variables[one.stay.here], variables[named[before].stay.here])
                native.add(one.start >= named[before].end).only_enforce_if(*both)


def _may_start(native: cp_model.CpModel, one: _Run, runs: Sequence[_Run], frame: Frame) -> None:
    """A run starts on a release or delivery, or on the day after one it follows, or that shares its pool."""
    name, pool = one.stay.workload, one.ground.pool
    first = (one.stay.first - frame.today).days
    days = sorted(day for start in base_starts(name, pool, frame) if (day := (start - frame.today).days) >= first)
    known = native.new_bool_var(f"{name} starts by itself")
    native.add_linear_expression_in_domain(one.start, cp_model.Domain.from_values(days)).only_enforce_if(known)
    follows = []
    for other in runs:
        named = other.stay.workload in frame.scenario.workloads[name].after
        if other is not one and (named or other.ground is one.ground):
            after = native.new_bool_var(f"{name} follows {other.stay.workload}")
            native.add(one.start == other.end).only_enforce_if(after)
            follows.append(after)
    native.add_exactly_one([known, *follows])


def _at_once(
    native: cp_model.CpModel, variables: Sequence[Var], model: RelaxedModel, ground: Ground, runs: Sequence[_Run]
) -> None:
    """At no time do the runs of a pool need more nodes than stand there; where runs also hire, this is left out."""
    pool = ground.pool
    if not ground.days_matter:
        _hired_at_once(native, ground, runs)
        return
    if any(option.is_hired for option in pool.options) or not runs:
        return
    today, horizon = model.builder.frame.today, (model.builder.frame.horizon - model.builder.frame.today).days
    before: dict[int, list[int]] = defaultdict(list)
    after: dict[int, list[int]] = defaultdict(list)
    for index, first, last in _present(model, ground):
        before[(first - today).days].append(index)
        if last is not None and (last - today).days + 1 < horizon:
            after[(last - today).days + 1].append(index)
    absent = [(0, day, own) for day, own in before.items() if day > 0]
    absent += [(day, horizon, own) for day, own in after.items()]
    per_unit = pool.platform.nodes_per_unit
    most = per_unit * sum(model.builder.model.upper[index] for own in before.values() for index in own)
    total = native.new_int_var(0, pool.owned_nodes + most, f"nodes of {pool.name}")
    native.add(total == pool.owned_nodes + per_unit * sum(variables[index] for own in before.values() for index in own))
    intervals, demands = [one.interval for one in runs], [variables[one.stay.nodes] for one in runs]
    for begin, end, own in absent:
        missing = native.new_int_var(0, most, f"not in {pool.name} {begin}-{end}")
        native.add(missing == per_unit * sum(variables[index] for index in own))
        intervals.append(native.new_fixed_size_interval_var(begin, end - begin, f"not in {pool.name} {begin}-{end}"))
        demands.append(missing)
    native.add_cumulative(intervals, demands, total)
    _must_start_early(native, variables, runs, before, pool.owned_nodes, per_unit, today)


def _hired_at_once(native: cp_model.CpModel, ground: Ground, runs: Sequence[_Run]) -> None:
    """Of one offer no more units are hired at a time than there are."""
    offers = {option.offer_key: option for option in ground.pool.options}
    most = sum(maximum(option) for option in offers.values())
    per_unit = ground.pool.platform.nodes_per_unit
    demands = []
    for one in runs:
        units = {mode: -(-mode[0] // per_unit) for mode in one.modes}
        taken = native.new_int_var(0, max(units.values()), f"hired for {one.stay.workload}")
        native.add(taken == sum(units[mode] * chosen for mode, chosen in one.modes.items()))
        demands.append(taken)
    native.add_cumulative([one.interval for one in runs], demands, most)


def _must_start_early(
    native: cp_model.CpModel,
    variables: Sequence[Var],
    runs: Sequence[_Run],
    ready: Mapping[int, Sequence[int]],
    owned: int,
    per_unit: int,
    today: dt.date,
) -> None:
    """A mode too long to start on a day or later needs nodes that are ready before."""
    for one in runs:
        last = (one.stay.last - today).days
        for day in sorted(ready):
            long = [nodes * chosen for (nodes, days), chosen in one.modes.items() if last - days + 1 < day]
            if long:
                there = sum(variables[index] for known, own in ready.items() if known < day for index in own)
                native.add(sum(long) <= owned + per_unit * there)


def _present(model: RelaxedModel, ground: Ground) -> Iterator[tuple[int, dt.date, dt.date | None]]:
    """Yield the variables of units in a pool with the first and last day on which they may serve."""
    terms = {term.order.index: term for term in ground.terms}
    for order in model.builder.orders_of(ground.pool):
        term = terms.get(order.index)
        for var in order.pieces:
            yield var.index, term.first if term else var.piece.lot.ready, order.option.end


def cost_of(
    native: cp_model.CpModel,
    variables: Sequence[Var],
    model: RelaxedModel,
    runs: Sequence[_Run],
    *,
    everything: bool,
    exact: bool,
) -> cp_model.LinearExprT:
    """Return what awards cost and what runs draw or hire, the latter by the days they are."""
    frame, objective = model.builder.frame, dict(model.objective)
    if not everything:
        paid_for = {index for one in runs for index in one.ground.variables}
        objective = {index: paid for index, paid in objective.items() if index in paid_for}
    drawn: list[Var] = []
    late: list[tuple[Var, int]] = []
    for one in runs:
        rates = _rates(one, frame)
        if rates is None:
            continue
        for index in (one.stay.here, *one.stay.days.values()):
            objective.pop(index, None)
        if exact or not one.ground.days_matter:
            drawn.append(_drawn(native, one, rates, model.digits - COARSER, frame))
        else:
            late.extend(_late(one, rates, model.digits, frame))
    terms = [*((one, 10**COARSER) for one in drawn), *late, *((variables[v], paid) for v, paid in objective.items())]
    return cp_model.LinearExpr.weighted_sum([one for one, _ in terms], [paid for _, paid in terms])


def _rates(one: _Run, frame: Frame) -> Mapping[tuple[int, int], Decimal] | None:
    """Return what each mode costs a day for what it draws or hires, undiscounted; None where no day can be told."""
    pool = one.ground.pool
    if not one.ground.days_matter:
        return hire_rates(pool, list(one.modes), frame)
    if pool.site is None:
        return None
    facts = frame.site(pool.site)
    kwh = sum((frame.amount(price) for price in prices_per_kwh(facts)), Decimal(0))
    kw = max(training_kw(pool.platform) - idle_kw(pool.platform), Decimal(0))
    return {(nodes, days): 24 * facts.pue * kwh * kw * nodes * one.stay.share for nodes, days in one.modes}


def _late(one: _Run, rates: Mapping[tuple[int, int], Decimal], digits: int, frame: Frame) -> Iterator[tuple[Var, int]]:
    """Yield what each mode draws when it ends on the last day it may."""
    longest = max(days for _, days in one.modes)
    days = (frame.discount(month_end(one.stay.last - day * DAY)) for day in range(longest))
    counted = list(accumulate(days, initial=Decimal(0)))
    for mode, chosen in one.modes.items():
        yield chosen, int((rates[mode] * counted[mode[1]]).scaleb(digits).to_integral_value(ROUND_FLOOR))


def _drawn(
    native: cp_model.CpModel, one: _Run, rates: Mapping[tuple[int, int], Decimal], digits: int, frame: Frame
) -> Var:
    """Declare what a run draws: the rate of its mode x its days, each discounted from the end of its month."""
    horizon = (frame.horizon - frame.today).days
    later = accumulate(
        (frame.discount(month_end(frame.today + day * DAY)) for day in range(horizon + 1)), initial=Decimal(0)
    )
    table = [int(total * PARTS_OF_A_DAY) for total in later]
    name = one.stay.workload
    until, since, days = (native.new_int_var(0, table[-1], f"{what} {name}") for what in ("until", "since", "counted"))
    native.add_element(one.end, table, until)
    native.add_element(one.start, table, since)
    native.add(days == until - since)
    whole = {mode: int(rate.scaleb(digits).to_integral_value(ROUND_FLOOR)) for mode, rate in rates.items()}
    most = max(rate * (table[-1]) for rate in whole.values()) // PARTS_OF_A_DAY + 1
    drawn = native.new_int_var(0, most, f"drawn {name}")
    for mode, chosen in one.modes.items():
        native.add(PARTS_OF_A_DAY * drawn >= whole[mode] * days - PARTS_OF_A_DAY + 1).only_enforce_if(chosen)
    return drawn
