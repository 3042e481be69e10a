"""Why no plan meets every limit: a set of limits that cannot hold together, shrunk to a minimal one."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from optimizer.cost.frame import Frame
from optimizer.results import Conflict, ConflictLimit, LimitName, Rejection
from optimizer.solver.backend import Settings
from optimizer.solver.cpsat import CpSat
from optimizer.solver.model import feasibility_model
from optimizer.solver.planner import Inputs, Modes, Prepared, prepare
from optimizer.solver.relax import RELAXATIONS, lifted
from optimizer.solver.requirement import requirement


class Probe:
    """Answers whether a scenario has a plan, reusing modes."""

    def __init__(self, inputs: Inputs, known: Modes, settings: Settings) -> None:
        self.inputs, self.known, self.settings = inputs, known, settings

    def prepared(self, frame: Frame) -> Prepared:
        """Return the decision problem of a changed scenario."""
        return prepare(self.inputs.with_frame(frame), self.known)

    def feasible(self, frame: Frame) -> bool | None:
        """Return whether there is a plan; None when the effort ran out."""
        problem = self.prepared(frame).problem
        if not problem.profiles:
            return False
        outcome = CpSat().solve(feasibility_model(problem), {}, self.settings).outcome
        return None if outcome == "unknown" else outcome != "infeasible"


def explain_infeasible(inputs: Inputs, known: Modes, prepared: Prepared, settings: Settings) -> Conflict:
    """Return the limits that cannot hold together, with what each would need.

    Deletion filter over the relaxable limits: one is left out for good when the rest still conflicts without it.
    When lifting all of them does not help, the conflict is what rejects the offers and platforms.
    """
    probe = Probe(inputs, known, settings)
    frame = inputs.frame
    if not probe.feasible(lifted(frame, set(RELAXATIONS))):
        return Conflict(limits=tuple(_rejecting(prepared.problem.rejections)), minimal=False)
    gone, minimal = superfluous(frame, probe)
    names = [name for name in RELAXATIONS if name not in gone]
    return Conflict(limits=tuple(_limit(name, gone, probe) for name in names), minimal=minimal)


def superfluous(frame: Frame, probe: Probe) -> tuple[set[LimitName], bool]:
    """Return the relaxable limits a conflict does without, and whether none of the others can be spared."""
    gone: set[LimitName] = set()
    minimal = True
    for name in RELAXATIONS:
        answer = probe.feasible(lifted(frame, gone | {name}))
        if answer is None:
            minimal = False
        elif not answer:
            gone.add(name)
    return gone, minimal


def _limit(name: LimitName, gone: set[LimitName], probe: Probe) -> ConflictLimit:
    """Return a limit of the conflict with the least it would have to be.

    All other limits hold where lifting this one alone gives a plan; else only the other limits of the conflict do.
    """
    alone = lifted(probe.inputs.frame, {name})
    problem = probe.prepared(alone if probe.feasible(alone) else lifted(probe.inputs.frame, gone | {name})).problem
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
