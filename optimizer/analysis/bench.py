"""A scenario that is changed as ``--set`` would change it and solved again, with candidates computed once."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from optimizer.analysis.world import stored_modes
from optimizer.api import SolveOptions, inputs_of
from optimizer.io.loaded import Loaded
from optimizer.io.scenario import changed
from optimizer.solver.backend import Settings
from optimizer.solver.conflict import Probe
from optimizer.solver.found import Found
from optimizer.solver.planner import Inputs, Modes, Prepared, decide, prepare
from optimizer.solver.relax import Lever, lifted


class Bench:
    """A loaded scenario with all that solving it again can reuse.

    Attributes:
        loaded: The scenario.
        options: How to solve.
        known: Candidates computed so far.
        probe: Whether it has a plan when limits are lifted.
    """

    def __init__(
        self,
        loaded: Loaded,
        options: SolveOptions,
        *,
        platforms: Collection[str] | None = None,
        wanted: frozenset[tuple[str, str]] | None = None,
        known: Modes | None = None,
    ) -> None:
        """Take a scenario, how to solve it, and whether plans must be on some platforms or take one of some offers.

        The time limit counts from now.
        """
        self.loaded, self.options, self.known = loaded, options, known or stored_modes()
        self._started = time.monotonic()
        self.inputs = inputs_of(loaded)
        self.probe = Probe(self.inputs, self.known, self.settings, wanted, platforms)
        self._feasible: dict[tuple[tuple[str, ...], frozenset[Lever]], bool | None] = {}

    @property
    def settings(self) -> Settings:
        """Solver settings with what is left of the time limit."""
        return self.options.settings().since(self._started)

    def narrowed(self, platforms: Collection[str] | None, wanted: frozenset[tuple[str, str]] | None) -> Bench:
        """Return the bench of plans with every run on some platforms that take one of some offers; None = any."""
        left = replace(self.options, time_limit_s=self.settings.time_limit_s)
        return Bench(self.loaded, left, platforms=platforms, wanted=wanted, known=self.known)

    def changed(self, sets: Sequence[str]) -> Inputs:
        """Return the inputs with some ``KEY=VALUE`` changes."""
        return inputs_of(changed(self.loaded, sets)) if sets else self.inputs

    def feasible(self, sets: Sequence[str], free: Collection[Lever] = ()) -> bool | None:
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
