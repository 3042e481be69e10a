"""``alternatives``: plans nearly as good as the best, spread over platforms, vendors, dates, nodes and cash."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from optimizer.analysis.bench import Bench
from optimizer.analysis.explain import UndecidedError
from optimizer.api import SolveOptions, load
from optimizer.cost.choice import Choice
from optimizer.cost.plan_cost import Priced
from optimizer.io.library import Library
from optimizer.io.loaded import Loaded
from optimizer.results import Amount, Conflict, Number, Result
from optimizer.schema.scenario import Scenario
from optimizer.solver.assemble import priced
from optimizer.solver.bounds import MARGIN, bounder
from optimizer.solver.compare import only
from optimizer.solver.conflict import conflict_of
from optimizer.solver.cpsat import CpSat
from optimizer.solver.ledger import scaled_up
from optimizer.solver.model import CompactModel, Objective, build_model
from optimizer.solver.planner import Prepared, refuse_unbounded
from optimizer.solver.plans import checked_choice, objective_value
from optimizer.units import round_money


class Alternative(Result):
    """One plan."""

    total: Number
    npv: Number
    finish: dt.date
    """Last day of the last run."""
    nodes: int
    """Nodes awarded."""
    platform: str
    vendors: tuple[str, ...]
    first_year_cost: Number
    """Cash out in the first fiscal year with any."""
    awards: tuple[str, ...]
    """Units of each offer."""
    gives_up: tuple[str, ...]
    """What is worse than in the best plan."""
    gains: tuple[str, ...]
    """What is better or different."""
    amounts: tuple[Amount, ...] = ()
    """Amounts of money in what it gives up and gains."""


class Alternatives(Result):
    """The answer of ``alternatives``: the best plan first."""

    plans: tuple[Alternative, ...]


@dataclass(frozen=True)
class _Best:
    """The best plan, and the objective a plan must not exceed to be nearly as good."""

    choice: Choice
    value: Decimal
    worst: Decimal
    prepared: Prepared

    def near(self, choice: Choice) -> bool:
        """Return whether a plan is nearly as good."""
        value = objective_value(choice, self.prepared)
        return value >= self.worst if self.more_is_better else value <= self.worst

    @property
    def more_is_better(self) -> bool:
        """Whether the objective is maximised."""
        return self.prepared.problem.frame.scenario.objective == "capacity"


def alternatives(
    scenario: str | Path | Scenario | Loaded,
    within: float,
    *,
    library: Library | None = None,
    sets: Sequence[str] = (),
    options: SolveOptions | None = None,
) -> Alternatives | Conflict:
    """Return plans whose objective is at most a share worse than the best, each checked independently.

    Looked for: the best plan on every other platform, with every other vendor, without each vendor of the best plan;
    and within the share the earliest finish, the fewest nodes and the least cash in the first year.

    Args:
        scenario: A scenario file, a scenario object, or a loaded scenario.
        within: The share.
        library: Data; default the shipped library.
        sets: ``KEY=VALUE`` changes.
        options: How to solve.

    Raises:
        InputError: bad input.
        UndecidedError: the time limit was reached before the best plan was proven.
    """
    bench = Bench(load(scenario, library, sets), options or SolveOptions())
    refuse_unbounded(bench.inputs.frame)
    prepared = bench.prepared()
    found = bench.decide(prepared, unique=True)
    if found.status == "infeasible":
        return conflict_of(bench.probe, prepared)
    if found.status != "optimal" or found.choice is None:
        raise UndecidedError("the best plan was not proven within the time limit; raise --time-limit")
    value = objective_value(found.choice, prepared)
    sign = -1 if bench.inputs.frame.scenario.objective == "capacity" else 1
    best = _Best(found.choice, value, value + sign * Decimal(str(within)) * abs(value), prepared)
    near = [choice for choice in _candidates(best, bench) if best.near(choice)]
    unique = {_key(choice): choice for choice in [best.choice, *near]}
    for choice in unique.values():
        checked_choice(choice, prepared, bench.inputs)
    return Alternatives(plans=tuple(_described(choice, best) for choice in _ranked(unique.values(), best)))


def _ranked(choices: Iterable[Choice], best: _Best) -> list[Choice]:
    sign = -1 if best.more_is_better else 1
    return sorted(choices, key=lambda choice: sign * objective_value(choice, best.prepared))


def _key(choice: Choice) -> tuple[object, ...]:
    """Return what makes two plans the same: awards with units and dates, runs with nodes and dates."""
    awards = sorted((taken.option.key, taken.units) for taken in choice.taken)
    return (*awards, *((run.pool, run.candidate.nodes, run.start) for run in choice.runs))


def _candidates(best: _Best, bench: Bench) -> Iterator[Choice]:
    """Yield plans worth a look."""
    for narrowed in _narrowed(best):
        found = bench.decide(narrowed) if narrowed.problem.profiles else None
        if found is not None and found.choice is not None:
            yield found.choice
    yield from _extremes(best, bench)


def _narrowed(best: _Best) -> Iterator[Prepared]:
    """Yield the problem with one other platform, with one other vendor, without one vendor of the best plan."""
    problem, modes = best.prepared.problem, best.prepared.modes
    used = {run.candidate.platform for run in best.choice.runs}
    for name in dict.fromkeys(pool.platform.id for pool in problem.pools):
        if name not in used:
            yield Prepared(only(problem, name), modes)
    taken = {taken.option.quote.vendor for taken in best.choice.taken}
    for vendor in sorted({option.quote.vendor for option in problem.options} - taken):
        offers = frozenset(option.offer_key for option in problem.options if option.quote.vendor == vendor)
        yield Prepared(replace(problem, wanted=offers), modes)
    for vendor in sorted(taken):
        others = [
            replace(pool, options=tuple(o for o in pool.options if o.quote.vendor != vendor)) for pool in problem.pools
        ]
        yield Prepared(problem.with_pools(others), modes)


def _extremes(best: _Best, bench: Bench) -> Iterator[Choice]:
    """Yield the earliest finish, the fewest nodes and the least first-year cash among plans nearly as good."""
    problem = best.prepared.problem
    bound = bounder(problem)
    limit = float(best.worst) + MARGIN * max(1.0, abs(float(best.worst)))
    kept = problem.profiles if best.more_is_better else [p for p in problem.profiles if bound(p) <= limit]
    for aim in (_finish, _nodes, _first_year):
        model = build_model(problem.keep(kept))
        scale = model.digits if problem.frame.scenario.objective == "cost" else 0
        first = model.objectives()[0]
        worst = int((-best.worst if best.more_is_better else best.worst).scaleb(scale))
        model.linear.add("alternatives", "nearly as good", first.items(), upper=worst)
        goal = aim(model)
        answer = CpSat().solve(model.linear, goal, bench.settings)
        if answer.values:
            model.linear.add("alternatives", "aim", goal.items(), upper=model.linear.value(goal, answer.values))
            again = CpSat().solve(model.linear, first, replace(bench.settings, hint=answer.values))
            yield model.choice(again.values or answer.values)


def _finish(model: CompactModel) -> Objective:
    return model.end()


def _nodes(model: CompactModel) -> Objective:
    orders = model.builder.orders
    return {index: nodes for o in orders for index, nodes in o.units(o.option.platform.nodes_per_unit)}


def _first_year(model: CompactModel) -> Objective:
    years = model.builder.ledger.outflow_by_year
    return scaled_up(years[min(years)], 0) if years else {}


def _first_year_cost(price: Priced) -> Decimal:
    years = price.outflow_by_year
    return years[min(years)] if years else Decimal(0)


def _described(choice: Choice, best: _Best) -> Alternative:
    frame = best.prepared.problem.frame
    own, reference = priced(choice, frame), priced(best.choice, frame)
    money = _money_differences(own, reference, frame.scenario.currency)
    worse, better = _differences(choice, best.choice, money)
    return Alternative(
        total=own.total,
        npv=own.npv,
        finish=choice.last_run,
        nodes=_awarded(choice),
        platform="+".join(sorted({run.candidate.platform for run in choice.runs})),
        vendors=tuple(sorted(_vendors(choice))),
        first_year_cost=_first_year_cost(own),
        awards=tuple(f"{taken.units} x {'/'.join(taken.option.offer_key)}" for taken in choice.taken),
        gives_up=worse,
        gains=better,
        amounts=tuple(amount for amount, _, _ in money),
    )


def _awarded(choice: Choice) -> int:
    return sum(taken.units * taken.option.platform.nodes_per_unit for taken in choice.taken)


def _vendors(choice: Choice) -> set[str]:
    return {taken.option.quote.vendor for taken in choice.taken}


def _money_differences(own: Priced, reference: Priced, currency: str) -> list[tuple[Amount, bool, str]]:
    """Return the amounts by which a plan differs from another: without sign, whether it is more, of what."""
    money = (
        ("present value", own.npv - reference.npv),
        ("cash in the first year", _first_year_cost(own) - _first_year_cost(reference)),
    )
    rounded = [(round_money(more, currency), what) for what, more in money]
    return [(Amount.written(abs(more), currency), more > 0, what) for more, what in rounded if more]


def _differences(
    choice: Choice, other: Choice, money: Sequence[tuple[Amount, bool, str]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a plan gives up and gains against another, in words with figures."""
    figures = [
        (Decimal((choice.last_run - other.last_run).days), "day {}", "later", "earlier"),
        (Decimal(_awarded(choice) - _awarded(other)), "node {}", "more", "fewer"),
        (Decimal(len(_vendors(choice)) - len(_vendors(other))), "vendor {}", "more", "fewer"),
    ]
    counts = [(more, _noun(more, words), up, down) for more, words, up, down in figures]
    worse = [f"{amount.text} more {what}" for amount, is_more, what in money if is_more]
    worse += [f"{more:,f} {words.format(up)}" for more, words, up, _ in counts if more > 0]
    better = [f"{amount.text} less {what}" for amount, is_more, what in money if not is_more]
    better += [f"{-more:,f} {words.format(down)}" for more, words, _, down in counts if more < 0]
    changed = sorted(_vendors(choice) - _vendors(other))
    return tuple(worse), (*better, *(f"buys from {vendor}" for vendor in changed))


def _noun(number: Decimal, words: str) -> str:
    noun, _, rest = words.partition(" ")
    return words if abs(number) == 1 else f"{noun}s {rest}"
