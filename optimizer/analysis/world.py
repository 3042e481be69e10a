"""A scenario with one or more inputs moved, and its decision problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from optimizer.candidates.result import ModesResult
from optimizer.cost.frame import Frame
from optimizer.io.cache import engine_store
from optimizer.schema.platform import Platform
from optimizer.solver.planner import Inputs, Modes, prepare
from optimizer.solver.problem import Problem


def stored_modes() -> Modes:
    """Return no modes yet, but those that earlier commands left on disk."""
    return Modes(engine_store())


@dataclass(frozen=True)
class World:
    """Inputs of the pipeline, and how fast each platform really is.

    Attributes:
        inputs: Scenario, quotes and library.
        quantiles: Platform -> quantile of its duration band; others at the policy's.
    """

    inputs: Inputs
    quantiles: Mapping[str, Decimal] = field(default_factory=dict)

    @property
    def frame(self) -> Frame:
        """Scenario, platforms and quotes."""
        return self.inputs.frame

    def with_frame(self, frame: Frame) -> World:
        """Return the world with a changed scenario."""
        return replace(self, inputs=self.inputs.with_frame(frame))

    def with_scenario(self, **changes: object) -> World:
        """Return the world with some fields of its scenario changed; dates and rates are computed anew."""
        frame = self.frame
        return self.with_frame(Frame(frame.scenario.model_copy(update=changes), frame.platforms, frame.quotes))

    def problem(self, known: Modes) -> Problem:
        """Return the decision problem; modes computed before are used again."""
        return prepare(self.inputs, PlatformModes(known, self.quantiles)).problem


@dataclass
class PlatformModes(Modes):
    """Modes with each platform at its own quantile; what does not move is computed once for all worlds.

    Attributes:
        shared: Modes of all worlds.
        quantiles: Platform -> quantile.
    """

    shared: Modes = field(default_factory=Modes)
    quantiles: Mapping[str, Decimal] = field(default_factory=dict)

    def __init__(self, shared: Modes, quantiles: Mapping[str, Decimal]) -> None:
        super().__init__()
        self.shared, self.quantiles = shared, quantiles

    def of(self, inputs: Inputs, name: str, platform: Platform, most_nodes: int) -> ModesResult:
        """Return the modes of a workload on a platform up to a node count, at the platform's quantile."""
        quantile = self.quantiles.get(platform.id)
        if quantile is not None:
            scenario = inputs.frame.scenario
            policy = scenario.policy.model_copy(update={"performance_quantile": quantile})
            changed = scenario.model_copy(update={"policy": policy})
            inputs = inputs.with_frame(replace(inputs.frame, scenario=changed))
        return self.shared.of(inputs, name, platform, most_nodes)
