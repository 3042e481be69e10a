"""Why this many nodes: what each limit alone would need."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from optimizer.analysis.bench import Bench
from optimizer.cost.choice import Choice, Run, Taken
from optimizer.cost.frame import Frame
from optimizer.results import Result
from optimizer.schema.quote import TieredPrice
from optimizer.solver.planner import GRID_ACCELERATORS, Inputs
from optimizer.solver.problem import window
from optimizer.solver.spares import spares
from optimizer.units import counted


class NodeNeed(Result):
    """The nodes one limit alone would need."""

    workload: str
    """The run."""
    limit: str
    """memory, batch, deadline, spares, minimum_order, tier, racks, or chosen: what the plan awards."""
    nodes: int | None
    """Nodes; None when the limit does not apply or no count is enough."""
    binds: bool
    """Whether it is the largest need that the plan just meets."""
    reason: str
    """One sentence."""


def why_nodes(choice: Choice, bench: Bench) -> tuple[NodeNeed, ...]:
    """Return the node count each limit alone would need for each run of the plan, and which of them bound.

    Where no need equals what is awarded, the objective bound: more nodes pay, or end earlier, or earn after the run.
    """
    return tuple(need for run in choice.runs for need in _of_run(run, choice, bench))


def _of_run(run: Run, choice: Choice, bench: Bench) -> Iterator[NodeNeed]:
    frame, name = bench.inputs.frame, run.candidate.workload
    awarded = sum(t.units * t.option.platform.nodes_per_unit for t in choice.taken if t.option.pool == run.pool)
    engine, spare, orders = _engine(run, bench), _spares(run, frame), _awards(choice, run)
    most = max((nodes for _, nodes, _ in engine if nodes is not None), default=None)
    running = run.candidate.nodes
    kept = [
        *((need, need[1] == running == most) for need in engine),
        (spare, running < (spare[1] or 0) == awarded),
        *((need, (spare[1] or 0) < (need[1] or 0) == awarded) for need in orders),
    ]
    rows = [
        NodeNeed(workload=name, limit=limit, nodes=count, binds=binds, reason=reason)
        for (limit, count, reason), binds in kept
    ]
    objective = not any(row.binds for row in rows)
    words = f"{counted(running, 'node')} run, {awarded} awarded" + ("; the objective decides" if objective else "")
    yield from rows
    yield NodeNeed(workload=name, limit="chosen", nodes=awarded, binds=objective, reason=words)


_Need = tuple[str, int | None, str]


def _engine(run: Run, bench: Bench) -> list[_Need]:
    """Memory: the fewest nodes that hold the run at any batch; batch: at the target; deadline: that end in time."""
    name, frame = run.candidate.workload, bench.inputs.frame
    most = GRID_ACCELERATORS // run.platform.accelerators_per_node
    modes = bench.known.of(bench.inputs, name, run.platform, most).candidates
    last = window(frame.scenario.workloads[name], frame)[1]
    days = (last - run.start).days + 1
    in_time = min((mode.nodes for mode in modes if mode.days <= days), default=None)
    deadline = ("deadline", in_time, f"to end within {counted(days, 'day')}, from {run.start} to {last}")
    if run.candidate.layout is None:
        return [deadline]
    fitting = bench.known.of(_any_batch(bench.inputs, name), name, run.platform, most).candidates
    memory = min((mode.nodes for mode in fitting), default=None)
    batch = min((mode.nodes for mode in modes), default=None)
    return [
        ("memory", memory, "fewest nodes whose memory holds the run, whatever the batch"),
        ("batch", batch, "fewest nodes with a layout whose batch is within the tolerance"),
        deadline,
    ]


def _any_batch(inputs: Inputs, name: str) -> Inputs:
    frame = inputs.frame
    work = frame.scenario.workloads[name].model_copy(update={"global_batch_tolerance": Decimal(1)})
    workloads = {**frame.scenario.workloads, name: work}
    scenario = frame.scenario.model_copy(update={"workloads": workloads})
    return inputs.with_frame(Frame(scenario, frame.platforms, frame.quotes))


def _spares(run: Run, frame: Frame) -> _Need:
    engine = run.site is not None and run.candidate.layout is not None
    extra = spares(run.candidate.nodes, frame.scenario.reliability) if engine else 0
    return ("spares", run.candidate.nodes + extra, f"{run.candidate.nodes} that run and {extra} spare")


def _awards(choice: Choice, run: Run) -> list[_Need]:
    needs: list[_Need] = []
    for taken in choice.taken:
        option, nodes = taken.option, taken.option.platform.nodes_per_unit
        if option.pool != run.pool:
            continue
        label = "/".join(option.offer_key)
        needs.append(("minimum_order", max(option.offer.units.min, 1) * nodes, f"smallest order of {label}"))
        if nodes > 1:
            needs.append(("racks", -(-run.candidate.nodes // nodes) * nodes, f"whole racks of {nodes} nodes"))
        tiers = [first for first in _tiers(taken) if first <= taken.units]
        if tiers and max(tiers) > 1:
            needs.append(("tier", max(tiers) * nodes, f"first quantity at the price paid for {label}"))
    return needs


def _tiers(taken: Taken) -> list[int]:
    price = taken.option.offer.price
    return list(price.breaks) if isinstance(price, TieredPrice) else []
