"""Why no plan meets every limit: a set of limits that cannot hold together, shrunk to a minimal one."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import replace
from decimal import Decimal

from optimizer.cost.frame import Frame
from optimizer.results import Conflict, ConflictLimit
from optimizer.solver.backend import Settings
from optimizer.solver.planner import Inputs, Modes, Prepared, prepare
from optimizer.solver.relax import Lever, levers, lifted
from optimizer.solver.requirement import requirement
from optimizer.solver.unliftable import rejecting, unliftable
from optimizer.solver.viable import feasible, viable


class Probe:
    """Answers whether a scenario has a plan, reusing modes and answers.

    Attributes:
        inputs: The scenario.
        known: Modes computed so far.
        wanted: Offers of which a plan must take one; None = any plan.
        platforms: The platforms on which every run must be; None = any.
        levers: Limits the scenario states.
    """

    def __init__(
        self,
        inputs: Inputs,
        known: Modes,
        settings: Settings,
        wanted: frozenset[tuple[str, str]] | None = None,
        platforms: Collection[str] | None = None,
    ) -> None:
        self.inputs, self.known, self.wanted, self.platforms = inputs, known, wanted, platforms
        self._settings, self._started = settings, time.monotonic()
        self.levers = levers(inputs.frame)
        self._answers: dict[frozenset[Lever], bool | None] = {}

    @property
    def settings(self) -> Settings:
        """Solver settings with what is left of the time limit."""
        return self._settings.since(self._started)

    def prepared(self, frame: Frame) -> Prepared:
        """Return the decision problem of a changed scenario, as far as limits see it."""
        narrowed = frame if self.platforms is None else on_platforms(self.platforms, frame)
        found = prepare(self.inputs.with_frame(spending(narrowed)), self.known)
        return Prepared(replace(found.problem, wanted=self.wanted), found.modes)

    def offered(self, frame: Frame) -> Frame:
        """Return a scenario with only the offers of the platforms that runs may be on."""
        kept = {
            name: quote.model_copy(
                update={"offers": {k: o for k, o in quote.offers.items() if o.platform in (self.platforms or ())}}
            )
            for name, quote in frame.quotes.items()
        }
        return frame if self.platforms is None else Frame(frame.scenario, frame.platforms, kept)

    def feasible(self, frame: Frame) -> bool | None:
        """Return whether there is a plan; None when the effort ran out."""
        if self.settings.spent:
            return None
        problem = viable(self.prepared(frame).problem)
        return feasible(problem, self.settings)

    def without(self, limits: Collection[Lever]) -> bool | None:
        """Return whether the scenario has a plan when some limits are lifted."""
        key = frozenset(limits)
        if key not in self._answers:
            self._answers[key] = self.feasible(lifted(self.inputs.frame, key))
        return self._answers[key]


def on_platforms(platforms: Collection[str], frame: Frame) -> Frame:
    """Return the scenario in which every run is on one of some platforms."""
    allowed = tuple(sorted(platforms))
    workloads = {
        name: work.model_copy(update={"platforms": work.platforms.model_copy(update={"allow": allowed})})
        for name, work in frame.scenario.workloads.items()
    }
    return Frame(frame.scenario.model_copy(update={"workloads": workloads}), frame.platforms, frame.quotes)


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
    if not any(probe.without({lever}) for lever in probe.levers) and not probe.without(probe.levers):
        return _beyond_all_limits(probe)
    found = list(_conflicts(probe))
    every = {lever for named, _ in found for lever in named}
    limits = [
        _limit(lever, _lifted_with(lever, named, every, probe), probe, prepared).model_copy(update={"group": group})
        for group, (named, _) in enumerate(found, 1)
        for lever in probe.levers
        if lever in named
    ]
    minimal = len(found) == 1 and found[0][1]
    return Conflict(limits=(*_facts(prepared), *limits), minimal=minimal)


def _beyond_all_limits(probe: Probe) -> Conflict:
    """Return why there is no plan whatever limits are lifted; nothing where the effort ran out."""
    if probe.without(probe.levers) is None:
        return Conflict(limits=(), minimal=False)
    return Conflict(limits=tuple(unliftable(probe.prepared(lifted(probe.inputs.frame, probe.levers)))), minimal=False)


def _conflicts(probe: Probe) -> Iterator[tuple[set[Lever], bool]]:
    """Yield conflicts that share no limit until lifting all of them gives a plan, and whether each is minimal."""
    named: set[Lever] = set()
    while not named or probe.without(named) is False:
        gone, minimal = superfluous(probe, named)
        left = set(probe.levers) - gone
        if not left:
            return
        yield left, minimal
        named |= left


def superfluous(probe: Probe, gone: Collection[Lever] = ()) -> tuple[set[Lever], bool]:
    """Return the relaxable limits a conflict does without, and whether none of the others can be spared.

    Deletion filter: a limit is left out for good when the rest still conflicts without it. A limit that gives a plan
    when lifted alone is in every conflict, so only the others are tried, first all at once.

    Args:
        probe: The scenario, and what was asked before.
        gone: Limits left out from the start; the rest still conflicts.
    """
    left = [lever for lever in probe.levers if lever not in gone]
    tried = [lever for lever in left if not probe.without({lever})]
    if probe.without({*gone, *tried}) is False:
        return {*gone, *tried}, None not in (probe.without({lever}) for lever in left)
    found, minimal = set(gone), True
    for lever in tried:
        answer = probe.without(found | {lever})
        if answer is None:
            minimal = False
        elif not answer:
            found.add(lever)
    return found, minimal


def _facts(prepared: Prepared) -> Iterator[ConflictLimit]:
    """Yield what stands behind a limit: no order is small enough, or nothing that can be supplied holds the run."""
    if any(result.candidates for result in prepared.modes.values()):
        return
    behind = {"memory"} if prepared.problem.pools else {"minimum_order"}
    yield from (limit for limit in rejecting(prepared.problem.rejections) if limit.name in behind)


def _lifted_with(lever: Lever, named: set[Lever], every: set[Lever], probe: Probe) -> set[Lever]:
    """Return what is lifted to see what a limit would have to be, while the other limits of its conflict hold.

    It alone where that gives a plan; else with the limits of the other conflicts; else all that is not in its conflict.
    """
    alone, others = {lever}, every - named | {lever}
    return next((free for free in (alone, others) if probe.without(free)), set(probe.levers) - named | {lever})


def _limit(lever: Lever, without: set[Lever], probe: Probe, prepared: Prepared) -> ConflictLimit:
    """Return a limit of the conflict with the least it would have to be while some limits are lifted."""
    frame = probe.inputs.frame
    problem = probe.prepared(lifted(frame, without)).problem
    stated = lifted(frame, without - {lever})
    found = requirement(lever, problem, stated, probe.settings, prepared.problem.rejections)
    return ConflictLimit(
        name=lever.name, needed=found.needed, available=found.available, unit=found.unit,
        period=found.period or lever.part, reason=found.reason,
    )  # fmt: skip
