"""What a plan assumes beyond the defaults of the scenario: unknown facts read safely, and the grids searched."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.candidates.space import Grid
from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.results import AssumptionUsed
from optimizer.schema.platform import Platform
from optimizer.solver.planner import COARSE_STEP, EVERY_NODE_COUNT_TO, GRID_ACCELERATORS, Inputs


def assumed(choice: Choice | None, inputs: Inputs) -> tuple[AssumptionUsed, ...]:
    """Return the assumptions of the search, of the facts of the platforms at our sites, and of routing."""
    return (*_grids(inputs.frame), *_draws(choice, inputs.frame), *_routing(inputs, choice))


def _grids(frame: Frame) -> Iterator[AssumptionUsed]:
    if any(workload.architecture for workload in frame.scenario.workloads.values()):
        counts = (
            f"every integer to {EVERY_NODE_COUNT_TO:,}, then multiples of {COARSE_STEP}, to {GRID_ACCELERATORS:,}"
            " accelerators, as far as offers and power allow"
        )
        yield AssumptionUsed(name="node counts considered", value=counts, source="grid of the search")
        yield AssumptionUsed(name="layouts considered", value=Grid().stated, source="grid of the search")
    starts = "on release, or when an award of the pool becomes ready"
    if len(frame.scenario.workloads) > 1:
        starts += ", or the day after the end of a run that it follows or that shares its pool"
    yield AssumptionUsed(name="days a run may start", value=starts, source="grid of the search")


def _draws(choice: Choice | None, frame: Frame) -> Iterator[AssumptionUsed]:
    standing = [award.option.platform for award in choice.taken if award.option.site] if choice else []
    standing += [frame.platforms[own.platform] for own in frame.scenario.owned]
    for platform in {card.id: card for card in standing}.values():
        yield from _draw(platform)


def _draw(platform: Platform) -> Iterator[AssumptionUsed]:
    power = platform.node_power_kw
    training = power.provisioned if power.training is None else power.training
    readings = (
        ("training", power.training, power.provisioned, "provisioned power"),
        ("idle", power.idle, training, "the training draw"),
    )
    for what, known, value, basis in readings:
        if known is None:
            name, source = f"{platform.id}.node_power_kw.{what}", f"unknown: read as {basis}, an upper bound"
            yield AssumptionUsed(name=name, value=f"{value} kW", source=source)


def _routing(inputs: Inputs, choice: Choice | None) -> Iterator[AssumptionUsed]:
    """Real routing is uneven; benchmarks force it even."""
    stacks = set()
    for run in choice.runs if choice else ():
        architecture = inputs.frame.scenario.workloads[run.candidate.workload].architecture
        if architecture and inputs.architectures[architecture].moe and run.candidate.layout:
            stacks.add(str(run.platform.efficiency.get("software")))
    for stack in sorted(stacks):
        experts = inputs.software[stack].experts
        if experts is not None:
            source = "assumption: real routing costs 8-20 % of the step, benchmarks force an even load"
            yield AssumptionUsed(name=f"{stack}.experts.imbalance", value=str(experts.imbalance), source=source)
