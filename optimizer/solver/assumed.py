"""What a plan assumes beyond the defaults of the scenario: unknown facts read safely, and the grids searched."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.candidates.space import Grid
from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.results import AssumptionUsed
from optimizer.schema.platform import Platform
from optimizer.solver.planner import COARSE_STEP, EVERY_NODE_COUNT_TO, GRID_ACCELERATORS


def assumed(choice: Choice | None, frame: Frame) -> tuple[AssumptionUsed, ...]:
    """Return the assumptions of the search, and of the facts of the platforms that stand at our sites."""
    return (*_grids(frame), *_draws(choice, frame))


def _grids(frame: Frame) -> Iterator[AssumptionUsed]:
    if any(workload.architecture for workload in frame.scenario.workloads.values()):
        counts = (
            f"every integer to {EVERY_NODE_COUNT_TO:,}, then multiples of {COARSE_STEP}, to {GRID_ACCELERATORS:,}"
            " accelerators, as far as offers and power allow"
        )
        yield AssumptionUsed(name="node counts considered", value=counts, source="grid of the search")
        yield AssumptionUsed(name="layouts considered", value=Grid().stated, source="grid of the search")
    starts = "on release, or when an award of the pool becomes ready"
    yield AssumptionUsed(name="days a run may start", value=starts, source="grid of the search")


def _draws(choice: Choice | None, frame: Frame) -> Iterator[AssumptionUsed]:
    standing = [award.option.platform for award in choice.taken if award.option.site] if choice else []
    standing += [frame.platforms[own.platform] for own in frame.scenario.owned]
    for platform in {card.id: card for card in standing}.values():
        yield from _draw(platform)


def _draw(platform: Platform) -> Iterator[AssumptionUsed]:
    power = platform.node_power_kw
    for what, known in (("training", power.training), ("idle", power.idle)):
        if known is None:
            yield AssumptionUsed(
                name=f"{platform.id}.node_power_kw.{what}",
                value=f"{power.provisioned} kW",
                source="unknown: read as provisioned power, an upper bound",
            )
