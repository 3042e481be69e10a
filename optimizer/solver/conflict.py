"""Why no plan meets every limit: a set of limits that cannot hold together, shrunk to a minimal one."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from decimal import Decimal

from optimizer.cost.frame import Frame
from optimizer.results import Conflict, ConflictLimit, LimitName, Rejection
from optimizer.solver.backend import Settings
from optimizer.solver.cpsat import CpSat
from optimizer.solver.model import feasibility_model
from optimizer.solver.planner import Inputs, Modes, Prepared, prepare
from optimizer.solver.relax import RELAXATIONS, lifted
from optimizer.solver.relaxation import first_proof
from optimizer.solver.requirement import requirement
from optimizer.solver.search import has_plan


class Probe:
    """Answers whether a scenario has a plan, reusing modes and answers; with ``wanted``, one that takes such an offer."""

    def __init__(
        self, inputs: Inputs, known: Modes, settings: Settings, wanted: frozenset[tuple[str, str]] | None = None
    ) -> None:
        self.inputs, self.known, self.settings, self.wanted = inputs, known, settings, wanted
        self._answers: dict[frozenset[LimitName], bool | None] = {}

    def prepared(self, frame: Frame) -> Prepared:
        """Return the decision problem of a changed scenario, as far as limits see it."""
        found = prepare(self.inputs.with_frame(spending(frame)), self.known)
        return Prepared(replace(found.problem, wanted=self.wanted), found.modes)

    def feasible(self, frame: Frame) -> bool | None:
        """Return whether there is a plan; None when the effort ran out."""
        problem = self.prepared(frame).problem
        if not problem.profiles:
            return False
        if problem.windows is not None:
            answer, _ = first_proof(problem, self.settings)
            return False if answer is not None else has_plan(problem, self.settings)
        outcome = CpSat().solve(feasibility_model(problem), {}, self.settings).outcome
        return None if outcome == "unknown" else outcome != "infeasible"

    def without(self, limits: Collection[LimitName]) -> bool | None:
        """Return whether the scenario has a plan when some limits are lifted."""
        key = frozenset(limits)
        if key not in self._answers:
            self._answers[key] = self.feasible(lifted(self.inputs.frame, key))
        return self._answers[key]


def spending(frame: Frame) -> Frame:
    """Return a scenario with the same plans whose cash is simpler: receipts, which no limit counts, are left out.

    Use after the run costs what idling costs, so it becomes ``idle``; nothing is discounted, nothing has a residual.
    """
    scenario = frame.scenario
    idle = {"policy": "idle"} if scenario.after_run.policy == "use" else {}
    changes = {
        "after_run": scenario.after_run.model_copy(update=idle),
        "finance": scenario.finance.model_copy(update={"discount_rate": Decimal(0), "residual": None}),
    }
    return Frame(scenario.model_copy(update=changes), frame.platforms, frame.quotes)


def explain_infeasible(inputs: Inputs, known: Modes, prepared: Prepared, settings: Settings) -> Conflict:
    """Return the limits that cannot hold together, with what each would need.

    When lifting all limits does not help, the conflict is what rejects the offers and platforms.
    """
    return conflict_of(Probe(inputs, known, settings), prepared)


def conflict_of(probe: Probe, prepared: Prepared) -> Conflict:
    """Return the conflict of an infeasible scenario, every answer kept in the probe."""
    if not any(probe.without({name}) for name in RELAXATIONS) and not probe.without(RELAXATIONS):
        rejected = (*_horizon(prepared), *_rejecting(prepared.problem.rejections))
        return Conflict(limits=rejected, minimal=False)
    found = list(_conflicts(probe))
    limits = [
        _limit(name, set(RELAXATIONS) - names, probe) for names, _ in found for name in RELAXATIONS if name in names
    ]
    minimal = len(found) == 1 and found[0][1]
    return Conflict(limits=(*_memory(prepared), *limits), minimal=minimal)


def _conflicts(probe: Probe) -> Iterable[tuple[set[LimitName], bool]]:
    """Yield conflicts that share no limit until lifting all of them gives a plan, and whether each is minimal."""
    named: set[LimitName] = set()
    while not named or probe.without(named) is False:
        gone, minimal = superfluous(probe, named)
        names = set(RELAXATIONS) - gone
        if not names:
            return
        yield names, minimal
        named |= names


def superfluous(probe: Probe, gone: Collection[LimitName] = ()) -> tuple[set[LimitName], bool]:
    """Return the relaxable limits a conflict does without, and whether none of the others can be spared.

    Deletion filter: a limit is left out for good when the rest still conflicts without it. A limit that gives a plan
    when lifted alone is in every conflict, so only the others are tried, first all at once.

    Args:
        probe: The scenario, and what was asked before.
        gone: Limits left out from the start; the rest still conflicts.
    """
    left = [name for name in RELAXATIONS if name not in gone]
    tried = [name for name in left if not probe.without({name})]
    if probe.without({*gone, *tried}) is False:
        return {*gone, *tried}, None not in (probe.without({name}) for name in left)
    found, minimal = set(gone), True
    for name in tried:
        answer = probe.without(found | {name})
        if answer is None:
            minimal = False
        elif not answer:
            found.add(name)
    return found, minimal


def _horizon(prepared: Prepared) -> Iterable[ConflictLimit]:
    """Yield how long the quickest run takes where even the horizon is too short for it."""
    frame = prepared.problem.frame
    for name, workload in frame.scenario.workloads.items():
        days = [mode.days for (owner, _), found in prepared.modes.items() if owner == name for mode in found.candidates]
        left = (frame.last_day - (workload.release or frame.today)).days + 1
        if days and min(days) > left:
            where = f"{name}, to the end of the horizon"
            yield ConflictLimit(
                name="deadline", needed=Decimal(min(days)), available=Decimal(left), unit="days", period=where
            )


def _memory(prepared: Prepared) -> Iterable[ConflictLimit]:
    """Yield what a run lacks in memory where no platform that can be supplied holds it."""
    if any(result.candidates for result in prepared.modes.values()):
        return
    yield from (limit for limit in _rejecting(prepared.problem.rejections) if limit.name == "memory")


def _limit(name: LimitName, gone: set[LimitName], probe: Probe) -> ConflictLimit:
    """Return a limit of the conflict with the least it would have to be.

    All other limits hold where lifting this one alone gives a plan; else only the other limits of the conflict do.
    """
    without = {name} if probe.without({name}) else gone | {name}
    problem = probe.prepared(lifted(probe.inputs.frame, without)).problem
    found = requirement(name, problem, probe.inputs.frame, probe.settings)
    return ConflictLimit(
        name=name, needed=found.needed, available=found.available, unit=found.unit, period=found.period
    )


def _rejecting(rejections: Iterable[Rejection]) -> Iterable[ConflictLimit]:
    """Yield each limit that rejects an offer or platform once, with the smallest stated need."""
    seen: dict[str, Rejection] = {}
    for rejection in rejections:
        known = seen.get(rejection.limit)
        if known is None or _shortfall(rejection) < _shortfall(known):
            seen[rejection.limit] = rejection
    for name, rejection in seen.items():
        yield ConflictLimit(
            name=name,
            needed=_number(rejection.needed),
            available=_number(rejection.available),
            unit=rejection.unit,
            period=rejection.platform,
        )


def _number(value: Decimal | str | None) -> Decimal | None:
    return value if isinstance(value, Decimal) else None


def _shortfall(rejection: Rejection) -> Decimal:
    needed, available = _number(rejection.needed), _number(rejection.available)
    return Decimal("Infinity") if needed is None or available is None else needed - available
