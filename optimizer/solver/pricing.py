"""Whether any runs cost less in a pool than their prices: what Dantzig-Wolfe pricing asks, without an objective.

The model of all runs that may take a pool is built once; each question adds its prices, and which runs must be there, may
not, or are left out together. That no set costs less is a lower bound on all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from ortools.sat.python import cp_model

from optimizer.solver.backend import Outcome, Settings
from optimizer.solver.cpsat import translate
from optimizer.solver.relaxation import RelaxedModel, excerpt
from optimizer.solver.timetable import Var, cost_of, declared, least_cost


@dataclass(frozen=True, slots=True)
class Cheaper:
    """What was found out about sets of runs.

    Attributes:
        outcome: ``infeasible``: no set costs less than its prices; ``feasible``: one does; or ``unknown``.
        runs: The workloads of that set; empty where there is none.
        cost: What they cost, in major units; infinite where there is none.
        interrupted: Whether Ctrl-C ended the search.
    """

    outcome: Outcome
    runs: frozenset[str]
    cost: float
    interrupted: bool


@dataclass(frozen=True, eq=False)
class Market:
    """The runs that may take a pool, whatever else runs elsewhere or before.

    Attributes:
        relaxation: The relaxation of the pool.
        native: Its model.
        here: Workload -> whether it is in the pool.
        cost: What all that are cost.
    """

    relaxation: RelaxedModel
    native: cp_model.CpModel
    here: Mapping[str, Var]
    cost: cp_model.LinearExprT

    @classmethod
    def of(cls, whole: RelaxedModel, pool: str) -> Market:
        """Return the market of a pool of a problem, by its relaxation and the pool's name."""
        relaxation = excerpt(whole, {}, open_to_all=pool)
        native, variables = translate(relaxation.builder.model, {})
        runs = declared(native, variables, relaxation, lambda _, place: place == pool)
        cost = cost_of(native, variables, relaxation, runs, everything=False, exact=False)
        return cls(relaxation, native, {one.stay.workload: variables[one.stay.here] for one in runs}, cost)

    def cheaper(
        self,
        prices: Mapping[str, Decimal],
        settings: Settings,
        *,
        must: Collection[str] = (),
        never: Collection[str] = (),
        left_out: Sequence[Collection[str]] = (),
    ) -> Cheaper:
        """Return whether a set of runs costs less in the pool than their prices.

        Args:
            prices: Workload -> price of the run, in major units.
            settings: Solver settings.
            must: Workloads of every such set.
            never: Workloads of none.
            left_out: Sets that are not asked about.
        """
        native = self.native.clone()
        dear = (prices[name].scaleb(self.relaxation.digits) for name in self.here)
        paid = [-int(price.to_integral_value(ROUND_CEILING)) for price in dear]
        for name, here in self.here.items():
            if name in must:
                native.add(here == 1)
            elif name in never:
                native.add(here == 0)
        for own in left_out:
            native.add_bool_or([~here if name in own else here for name, here in self.here.items()])
        less = cp_model.LinearExpr.sum([self.cost, cp_model.LinearExpr.weighted_sum(list(self.here.values()), paid), 1])
        solver, found = least_cost(native, less, self.relaxation, settings, Decimal(0), any_will_do=True)
        if found.outcome != "feasible":
            return Cheaper(found.outcome, frozenset(), float("inf"), found.interrupted)
        there = frozenset(name for name, here in self.here.items() if solver.value(here))
        cost = Decimal(solver.value(self.cost)).scaleb(-self.relaxation.digits)
        return Cheaper("feasible", there, float(cost), found.interrupted)
