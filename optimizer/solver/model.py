"""The compact model of a problem: all rules applied, objectives in integers, and its solutions read back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from optimizer.cost.choice import Choice, Taken
from optimizer.solver.capacity import Capacity
from optimizer.solver.ledger import scale_digits, scaled
from optimizer.solver.linear import LinearModel
from optimizer.solver.problem import Problem, Profile
from optimizer.solver.rules import RULES
from optimizer.solver.ties import award_key, run_key
from optimizer.solver.variables import Builder, Order, Term, declare

Objective = dict[int, int]


@dataclass(frozen=True, eq=False)
class CompactModel:
    """A built model.

    Attributes:
        builder: Variables and what they stand for.
        digits: Digits behind the major unit that ``npv`` counts.
        npv: Present value of all charges.
    """

    builder: Builder
    digits: int
    npv: Objective

    @property
    def linear(self) -> LinearModel:
        """The rows."""
        return self.builder.model

    def end(self) -> Objective:
        """Return the last day of the last run as days since today."""
        if self.builder.last_day is not None:
            return {self.builder.last_day: 1}
        today = self.builder.frame.today
        return {index: (profile.run.end - today).days for profile, index in self.builder.chosen.items()}

    def capacity(self) -> Objective:
        """Return the capacity awarded, negative (to be minimised)."""
        worth = Capacity.of(self.builder.problem)
        pieces = (var for order in self.builder.orders for var in order.pieces)
        return {var.index: -worth.per_unit(var.piece.option, var.piece.lot) for var in pieces}

    def nodes_end_orders(self) -> Objective:
        """Return nodes awarded, then last day, then number of awards, as one sum."""
        terms = {index: days * 10**3 for index, days in self.end().items()}
        for order in self.builder.orders:
            terms[order.index] = 1
            for index, nodes in order.units(order.option.platform.nodes_per_unit):
                terms[index] = terms.get(index, 0) + nodes * 10**9
        return terms

    def offer_order(self) -> Objective:
        """Return the sum of offer rank x units, then of option rank: earlier offers and deliveries first."""
        terms: Objective = {}
        for rank, orders in enumerate(self.builder.by_offer().values()):
            for position, order in enumerate(orders):
                terms[order.index] = position
                for index, _ in order.units():
                    terms[index] = (rank + 1) * 10**4
        return terms

    def run_order(self) -> list[Objective]:
        """Return, for several runs, units by offer rank, then the sum of starts, then each run's place in its order.

        Earlier starts first, then fewer nodes, then the name of the pool.
        """
        if not self.builder.problem.several:
            return []
        ranks: Objective = {}
        for rank, orders in enumerate(self.builder.by_offer().values()):
            ranks |= {index: rank + 1 for order in orders for index, _ in order.units()}
        today = self.builder.frame.today
        starts = {index: (profile.run.start - today).days for profile, index in self.builder.chosen.items()}
        runs: dict[str, list[tuple[tuple[object, ...], int]]] = {}
        for profile, index in self.builder.chosen.items():
            runs.setdefault(profile.workload, []).append((run_key(profile.run), index))
        places = [{index: place for place, (_, index) in enumerate(sorted(own))} for own in runs.values()]
        return [ranks, starts, *places]

    def objectives(self) -> list[Objective]:
        """Return the objectives in order: each is fixed at its optimum before the next."""
        first: dict[str, list[Objective]] = {
            "cost": [self.npv],
            "time": [self.end(), self.npv],
            "capacity": [self.capacity(), self.npv],
        }
        ties = [self.nodes_end_orders(), *self.run_order(), self.offer_order()]
        return [*first[self.builder.frame.scenario.objective], *ties]

    def choice(self, values: list[int]) -> Choice:
        """Return the decision that variable values stand for."""
        order = list(self.builder.frame.scenario.workloads)
        chosen = [profile for profile, index in self.builder.chosen.items() if values[index]]
        runs = tuple(profile.run for profile in sorted(chosen, key=lambda profile: order.index(profile.workload)))
        taken = [_taken(order, values) for order in self.builder.orders if values[order.index]]
        return Choice(tuple(sorted(taken, key=award_key)), runs)


def _taken(order: Order, values: list[int]) -> Taken:
    units = sum(values[var.index] for var in order.pieces)
    ends = [var.piece.option.end for var in order.pieces if var.profile and values[var.index]]
    option = replace(order.option, end=ends[0]) if ends else order.option
    return Taken(option, units, _hired_for(order, values))


def _hired_for(order: Order, values: list[int]) -> str | None:
    return next((var.profile.workload for var in order.pieces if var.profile and values[var.index]), None)


def build_model(problem: Problem) -> CompactModel:
    """Return the compact model of a problem with every rule applied."""
    builder = declare(problem)
    for rule in RULES:
        rule.add(builder)
    _wanted(builder)
    _columns(builder)
    digits = scale_digits([builder.ledger.npv], builder.model.upper, builder.frame.scenario.currency)
    return CompactModel(builder, digits, scaled(builder.ledger.npv, digits))


def feasibility_model(problem: Problem) -> LinearModel:
    """Return the rows of a problem without its objective; money only where a budget reads it."""
    builder = declare(problem)
    budget = builder.frame.scenario.budget
    money = budget.total is not None or bool(budget.by_fiscal_year)
    for rule in RULES:
        if money or rule.kind != "money":
            rule.add(builder)
    _wanted(builder)
    _columns(builder)
    return builder.model


def _wanted(builder: Builder) -> None:
    """One of the wanted offers is awarded."""
    wanted = builder.problem.wanted
    if wanted is not None:
        own = [(order.index, 1) for order in builder.orders if order.option.offer_key in wanted]
        builder.model.add("wanted", "one of the offers asked about", own, lower=1)


def _columns(builder: Builder) -> None:
    """Of the schedules that are allowed: a run is chosen with one that holds it."""
    holding: dict[Profile, list[Term]] = {profile: [] for profile in builder.chosen}
    for number, column in enumerate(builder.problem.columns or ()):
        index = builder.model.boolean(f"schedule {number}")
        for profile in column.profiles:
            holding[profile].append((index, -1))
    for profile, index in builder.chosen.items() if builder.problem.columns is not None else ():
        builder.model.add("columns", f"#{index}", [(index, 1), *holding[profile]], 0, 0)
