"""From a scenario to a plan record: candidates, search, exact pricing, independent check."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial

from optimizer.candidates.conditions import Conditions
from optimizer.candidates.modes import modes
from optimizer.candidates.remembered import Store, key_of, remembered
from optimizer.candidates.result import ModesResult
from optimizer.candidates.stated import dedicated_modes, stated_modes
from optimizer.cost.frame import Frame
from optimizer.engine.bands import Bands
from optimizer.engine.software import Software
from optimizer.errors import InputError, InternalError, Problem
from optimizer.results import Candidate
from optimizer.schema.architecture import Architecture
from optimizer.schema.platform import Platform
from optimizer.schema.quote import DedicatedOffer, RentalOffer
from optimizer.schema.scenario import Choice, Policy, Workload
from optimizer.solver.assemble import priced
from optimizer.solver.backend import Settings
from optimizer.solver.by_pools import decomposed, is_decomposable
from optimizer.solver.decomposition import MANY_RUNS, half_unit
from optimizer.solver.enumerate import enumerate_plans
from optimizer.solver.found import Found, SolverName
from optimizer.solver.offers import unit_power_kw
from optimizer.solver.problem import Pool, pools, supply_nodes
from optimizer.solver.problem import Problem as Decision
from optimizer.solver.profiles import build
from optimizer.solver.relaxation import FirstProof, first_proof
from optimizer.solver.search import search

EVERY_NODE_COUNT_TO = 1024
"""Node counts up to here are all on the grid."""

COARSE_STEP = 16
"""Beyond, only multiples of this are."""

GRID_ACCELERATORS = 16384
"""Largest run on the grid: the largest public dense training run (Llama 3.1 405B)."""


NOISE = Decimal("1e-6")
"""Relative difference of a bound and a plan that a solver's whole units may hide."""


FEW_RUNS = 3
"""Runs up to which all schedules are tried first: of more, which pools they take is searched first, and the relaxation of
all of them bounds plans better than what that search knows early."""

SOME_RUNS = 4
"""The same where a budget is short: which pools they take is then bounded too low, for sets of runs know of no budget."""

MANY_MODES = 500
"""Modes of all runs in all pools from which on pools are searched first: of fewer, all schedules are soon listed."""

SHARE_OF_RELAXATION = 0.4
"""Most of the time limit for the relaxation of all runs."""

SHARE_OF_SCHEDULES = 0.6
"""Share of the time limit that all schedules then have, before the search of their pools."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """Everything a plan is made from, read and checked.

    Attributes:
        frame: Scenario, platforms and quotes.
        architectures: Architectures by id.
        software: Training stacks by id.
        bands: How far reality may be from a prediction.
    """

    frame: Frame
    architectures: Mapping[str, Architecture]
    software: Mapping[str, Software]
    bands: Bands

    def with_frame(self, frame: Frame) -> Inputs:
        """Return the inputs with a changed scenario."""
        return Inputs(frame, self.architectures, self.software, self.bands)


@dataclass
class Modes:
    """Candidates by workload and platform, computed once however often a scenario is solved again.

    Attributes:
        store: Keeps them between runs of the program; None = nothing is kept.
        layouts_evaluated: Layouts whose memory or time was computed for them, now or when they were stored.
    """

    store: Store | None = None
    layouts_evaluated: int = 0
    _known: dict[tuple[object, ...], dict[int, ModesResult]] = field(default_factory=dict)

    def of(self, inputs: Inputs, name: str, platform: Platform, most_nodes: int) -> ModesResult:
        """Return the modes of a workload on a platform up to a node count."""
        known = self._known.setdefault((name, platform.id, *self._facts(inputs, name, platform)), {})
        if most_nodes not in known:
            known[most_nodes] = _part(known, most_nodes) or self._compute(inputs, name, platform, most_nodes)
            self.layouts_evaluated += known[most_nodes].layouts_evaluated
        return known[most_nodes]

    @staticmethod
    def _facts(inputs: Inputs, name: str, platform: Platform) -> tuple[object, ...]:
        """Return what the modes of a workload on a platform depend on."""
        scenario = inputs.frame.scenario
        workload = scenario.workloads[name]
        if workload.architecture is None:
            return tuple(mode for mode in workload.modes if mode.platform == platform.id)
        return (
            repr(undated(workload)),
            repr(scenario.policy.performance_quantile),
            workload.minimum_evidence or scenario.policy.minimum_evidence,
            repr(scenario.reliability),
        )

    def _compute(self, inputs: Inputs, name: str, platform: Platform, most_nodes: int) -> ModesResult:
        scenario = inputs.frame.scenario
        workload, policy = undated(scenario.workloads[name]), scenario.policy
        if workload.architecture is None:
            return stated_modes(name, workload, platform)
        known = Policy(performance_quantile=policy.performance_quantile, minimum_evidence=policy.minimum_evidence)
        conditions = Conditions(inputs.software, inputs.bands, scenario.reliability, known)
        architecture = inputs.architectures[workload.architecture]
        asked = (name, workload, architecture, platform, conditions, node_grid(platform, most_nodes))
        return remembered(self.store, lambda: key_of(*asked), lambda: modes(*asked))


def undated(workload: Workload) -> Workload:
    """Return a workload without what says when and where it may run: modes do not depend on it."""
    free = {"deadline": None, "release": None, "deadline_margin_days": 0, "after": (), "platforms": Choice()}
    return workload.model_copy(update=free)


def _part(known: Mapping[int, ModesResult], most_nodes: int) -> ModesResult | None:
    """Return the modes up to a node count out of those up to a larger one: a part of a front is a front.

    None without any such, or where none is left and the reason is yet to be found.
    """
    larger = min((most for most in known if most > most_nodes), default=None)
    if larger is None:
        return None
    kept = tuple(mode for mode in known[larger].candidates if mode.nodes <= most_nodes)
    return ModesResult(kept, known[larger].rejections, 0) if kept else None


def node_grid(platform: Platform, most_nodes: int) -> list[int]:
    """Return the node counts considered: every integer to 1,024, then multiples of 16, to 16,384 accelerators."""
    most = min(most_nodes, GRID_ACCELERATORS // platform.accelerators_per_node)
    fine = range(1, min(most, EVERY_NODE_COUNT_TO) + 1)
    coarse = range(EVERY_NODE_COUNT_TO + COARSE_STEP, most + 1, COARSE_STEP)
    return [*fine, *coarse]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A decision problem with what was left out on the way.

    Attributes:
        problem: Pools, profiles and the offers that cannot be used.
        modes: Modes by (workload, platform).
    """

    problem: Decision
    modes: Mapping[tuple[str, str], ModesResult]

    @property
    def candidates(self) -> int:
        """Modes offered to the solver."""
        return sum(len(found.candidates) for found in self.modes.values())


def prepare(inputs: Inputs, known: Modes) -> Prepared:
    """Return the decision problem of a scenario: pools, modes and profiles."""
    frame = inputs.frame
    found, rejected = pools(frame)
    results: dict[tuple[str, str], ModesResult] = {}
    candidates: dict[str, list[Candidate]] = {}
    for name, workload in frame.scenario.workloads.items():
        for platform, most in _largest(found, frame).items():
            if workload.platforms.permits(platform):
                results[name, platform] = known.of(inputs, name, frame.platforms[platform], most)
        for pool in found:
            if pool.system and workload.platforms.permits(pool.platform.id):
                before = results.get((name, pool.platform.id), ModesResult((), (), 0))
                results[name, pool.platform.id] = before.joined(_dedicated(name, workload, pool, frame))
        candidates[name] = [
            mode for (owner, _), result in results.items() if owner == name for mode in result.candidates
        ]
    left_out = [rejection for result in results.values() for rejection in result.rejections]
    return Prepared(build(frame, candidates, found, [*rejected, *left_out]), results)


def unsearched(frame: Frame) -> Prepared:
    """Return the decision problem without runs: the pools there are and the offers that cannot be used."""
    found, rejected = pools(frame)
    return Prepared(build(frame, {}, found, rejected), {})


def _dedicated(name: str, workload: Workload, pool: Pool, frame: Frame) -> ModesResult:
    """Return the modes a dedicated system states for a workload."""
    offer = pool.options[0].offer
    if not isinstance(offer, DedicatedOffer):
        raise TypeError(f"{pool.name} is no dedicated system")
    minimum = workload.minimum_evidence or frame.scenario.policy.minimum_evidence
    return dedicated_modes(name, offer, pool.platform, pool.system, minimum)


def _largest(found: Sequence[Pool], frame: Frame) -> dict[str, int]:
    """Return the most nodes any pool of each platform can have, dedicated systems aside."""
    most: dict[str, int] = {}
    for pool in found:
        if pool.system:
            continue
        nodes = min(supply_nodes(pool), powered_nodes(pool, frame))
        most[pool.platform.id] = max(most.get(pool.platform.id, 0), nodes)
    return most


def powered_nodes(pool: Pool, frame: Frame) -> int:
    """Return the nodes the most power a site ever has can feed."""
    steps = frame.site(pool.site).power if pool.site else None
    if steps is None or not pool.options:
        return GRID_ACCELERATORS
    most = max((step.kw for step in steps), default=Decimal(0))
    least = min(unit_power_kw(option, frame) for option in pool.options)
    return pool.owned_nodes + int(most // least) * pool.platform.nodes_per_unit


def refuse_unbounded(frame: Frame) -> None:
    """Refuse the objective capacity where it has no meaning or nothing bounds what would be bought or rented.

    Raises:
        InputError: hardware is sold after the last run; or neither a budget, nor limits of sites and of every rental.
    """
    budget = frame.scenario.budget
    if frame.scenario.objective != "capacity":
        return
    if frame.scenario.after_run.policy == "sell":
        found = "capacity with after_run.policy sell"
        raise InputError([Problem("objective", found, "capacity is counted to the horizon", "Use idle, off or use")])
    if budget.total is not None or budget.by_fiscal_year:
        return
    limited = [name for name, site in frame.scenario.sites.items() if site.power or site.zones]
    endless = [
        f"{quote.quote}/{name}"
        for quote in frame.quotes.values()
        for name, offer in quote.offers.items()
        if isinstance(offer, RentalOffer) and offer.units.max is None
    ]
    if not limited or endless:
        found = "capacity without a budget" + (f", and no units.max of {', '.join(endless)}" if endless else "")
        raise InputError([Problem("objective", found, "something must bound what is taken", "Give budget.total")])


def decide(prepared: Prepared, solver: SolverName, settings: Settings, *, unique: bool = True) -> Found:
    """Return the best decision of a problem.

    Raises:
        InternalError: proofs disagree.
        InputError: enumeration was asked for a problem too large for it.
    """
    if settings.spent:
        return Found("unknown", None, None, "none", "the time limit was reached before the search began")
    if solver == "enumerate":
        return enumerate_plans(prepared.problem)
    started = time.monotonic()
    runs, by_pools = len(prepared.problem.frame.scenario.workloads), _by_pools(prepared.problem)
    if by_pools and not FEW_RUNS < runs < MANY_RUNS:  # asked of the relaxation only when no plan is found at once
        first = FirstProof(None)
    else:
        some = replace(settings, time_limit_s=settings.time_limit_s and settings.time_limit_s * SHARE_OF_RELAXATION)
        first = first_proof(prepared.problem, some)
    if first.answer is not None:
        return first.answer
    limit = settings.time_limit_s
    left = settings if limit is None else replace(settings, time_limit_s=max(0.01, limit + started - time.monotonic()))
    found, bound = _searched(prepared.problem, solver, left, first, unique=unique), first.bound
    if bound is None or found.status == "infeasible":
        return found
    value = None if found.choice is None else priced(found.choice, prepared.problem.frame).npv
    if value is not None and bound > value + NOISE * max(Decimal(1), abs(value)):
        raise InternalError(
            f"a plan of {value:,.2f} costs less than the node-day relaxation says any plan can ({bound:,.2f})"
        )
    if found.status == "optimal":
        return found
    return replace(found, bound=bound if found.bound is None else max(bound, found.bound))


def _impossible(problem: Decision, settings: Settings) -> Found | None:
    return first_proof(problem, settings, bounded=False).answer


def _by_pools(problem: Decision) -> bool:
    """Return whether the pools of the runs are searched first."""
    return len(problem.profiles) >= MANY_MODES and is_decomposable(problem)


def _searched(problem: Decision, solver: SolverName, settings: Settings, relaxed: FirstProof, *, unique: bool) -> Found:
    """Return the best plan of a problem: of few runs by all schedules, of many by the pools they take; then the other way."""
    if not _by_pools(problem):
        return search(problem, solver, settings, unique=unique)
    started, limit, runs = time.monotonic(), settings.time_limit_s, len(problem.frame.scenario.workloads)
    by_schedules = runs <= (SOME_RUNS if relaxed.short else FEW_RUNS)
    if by_schedules:
        some = replace(settings, time_limit_s=limit and limit * SHARE_OF_SCHEDULES)
        proof = partial(_impossible, problem) if runs <= FEW_RUNS else None
        first = search(problem, solver, some, unique=unique, proof=proof)
    else:
        first = decomposed(problem, solver, settings, unique=unique, places=relaxed.places)
    left = settings.since(started)
    if first.status in ("optimal", "infeasible") or left.spent:
        return first
    if by_schedules:
        value = None if first.choice is None else priced(first.choice, problem.frame).npv
        known = None if value is None else replace(first, bound=value)
        second = decomposed(problem, solver, left, unique=unique, known=known, places=relaxed.places)
    else:
        second = search(problem, solver, left, unique=unique)
    return _closer(first, second, problem.frame)


def _closer(one: Found, other: Found, frame: Frame) -> Found:
    """Return what two searches found together: the better plan and the higher bound.

    Raises:
        InternalError: what one proves, the plan of the other refutes.
    """
    plans = [(priced(found.choice, frame).npv, found) for found in (one, other) if found.choice is not None]
    if not plans:
        return other if other.status == "infeasible" else one
    value, best = min(plans, key=lambda plan: plan[0])
    bound = max((found.bound for found in (one, other) if found.bound is not None), default=None)
    noise = NOISE * max(Decimal(1), abs(value))
    if other.status == "infeasible" or (bound is not None and bound > value + noise):
        raise InternalError("a plan costs less than another search proves any plan to cost: no answer is given")
    met = bound is not None and bound > value - Decimal(half_unit(frame))
    return replace(best, status="optimal", bound=value) if met else replace(best, bound=bound)
