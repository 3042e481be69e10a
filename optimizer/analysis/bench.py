"""A scenario that is changed as ``--set`` would change it and solved again, with candidates computed once."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from optimizer.api import SolveOptions, inputs_of
from optimizer.io.cache import engine_store
from optimizer.io.loaded import Loaded
from optimizer.io.scenario import changed
from optimizer.results import LimitName
from optimizer.solver.backend import Settings
from optimizer.solver.conflict import Probe
from optimizer.solver.planner import Inputs, Modes, Prepared, decide, prepare
from optimizer.solver.relax import lifted
from optimizer.solver.search import Found


class Bench:
    """A loaded scenario with all that solving it again can reuse.

    Attributes:
        loaded: The scenario.
        options: How to solve.
        known: Candidates computed so far.
        probe: Whether it has a plan when limits are lifted.
    """

    def __init__(self, loaded: Loaded, options: SolveOptions) -> None:
        self.loaded, self.options, self.known = loaded, options, Modes(engine_store())
        self._started = time.monotonic()
        self.inputs = inputs_of(loaded)
        self.probe = Probe(self.inputs, self.known, self.settings)
        self._feasible: dict[tuple[tuple[str, ...], frozenset[str]], bool | None] = {}

    @property
    def settings(self) -> Settings:
        """Solver settings with what is left of the time limit."""
        limit = self.options.time_limit_s
        left = None if limit is None else max(0.01, self._started + limit - time.monotonic())
        return replace(self.options.settings(), time_limit_s=left)

    def changed(self, sets: Sequence[str]) -> Inputs:
        """Return the inputs with some ``KEY=VALUE`` changes."""
        return inputs_of(changed(self.loaded, sets)) if sets else self.inputs

    def feasible(self, sets: Sequence[str], free: Collection[LimitName] = ()) -> bool | None:
        """Return whether the scenario has a plan with some changes and limits lifted; None when the effort ran out."""
        key = (tuple(sets), frozenset(free))
        if key not in self._feasible:
            self._feasible[key] = self.probe.feasible(lifted(self.changed(sets).frame, free))
        return self._feasible[key]

    def prepared(self, inputs: Inputs | None = None) -> Prepared:
        """Return the decision problem of the scenario, or of changed inputs."""
        return prepare(inputs or self.inputs, self.known)

    def decide(self, prepared: Prepared, *, unique: bool = False) -> Found:
        """Return the best decision of a problem."""
        return decide(prepared, self.options.solver, self.settings, unique=unique)
