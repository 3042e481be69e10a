"""Frozen results the stages exchange and the commands print (JSON format ``clusterbuy.plan/1``).

Money is exact (Decimal) in memory and rounded half up once to the minor unit when written;
shares are fractions; an unknown is None, never zero. Lengths of time are days unless the name says otherwise.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BeforeValidator, ConfigDict, PlainSerializer

from optimizer.results.base import Amount as Amount
from optimizer.results.base import Figure as Figure
from optimizer.results.base import Number as Number
from optimizer.results.base import Result as Result
from optimizer.results.cost import AfterRunCost as AfterRunCost
from optimizer.results.cost import CashItem as CashItem
from optimizer.results.cost import Cost as Cost
from optimizer.results.cost import CostLine as CostLine
from optimizer.results.cost import Factor as Factor
from optimizer.results.cost import Payment as Payment

if TYPE_CHECKING:
    import pandas as pd

PLAN_FORMAT: Final = "clusterbuy.plan/1"


Status = Literal["optimal", "feasible", "infeasible", "unknown"]
"""Optimal is proven at gap 0; infeasible is proven; unknown says nothing."""

LimitName = Literal[
    "memory", "batch", "precision", "release", "deadline", "delivery", "supply", "minimum_order", "power", "racks",
    "rack_power", "cooling", "fabric", "budget", "budget_year", "block_length", "vendors", "second_source",
    "evidence", "price", "expired", "offer", "region", "licence", "specification", "policy",
]  # fmt: skip
"""The closed list of limits a plan can meet or miss."""


class Layout(Result):
    """How one model replica and its data-parallel copies are laid out on accelerators."""

    tensor_parallel: int = 1
    """Accelerators sharing each matrix."""
    pipeline_parallel: int = 1
    """Stages."""
    virtual_pipeline: int = 1
    """Model chunks per stage (interleaved schedule)."""
    context_parallel: int = 1
    """Accelerators sharing each sequence."""
    expert_parallel: int = 1
    """Accelerators sharing the experts."""
    expert_tensor_parallel: int = 1
    """Accelerators sharing each expert's matrices."""
    data_parallel: int = 1
    """Replicas."""
    sharding_stage: Literal[0, 1, 2, 3] = 1
    """ZeRO stage: 0 none, 1 optimizer, 2 + gradients, 3 + weights (FSDP)."""
    micro_batch: int = 1
    """Sequences per micro-batch and replica."""
    global_batch: int = 1
    """Sequences per optimizer step."""
    recompute: Literal["none", "selective", "full"] = "none"
    """Activations computed again in the backward pass."""
    sequence_parallel: bool = True
    """Norms and residuals split over the tensor-parallel group."""
    precision: str = "bf16"
    """Number format of the matrix products."""

    @property
    def accelerators(self) -> int:
        """Accelerators the layout occupies."""
        return self.tensor_parallel * self.pipeline_parallel * self.context_parallel * self.data_parallel


class Band(Result):
    """Range of the duration of a run."""

    low_days: Number
    """10th percentile, days."""
    high_days: Number
    """90th percentile, days."""
    p50_days: Number | None = None
    """Median, days; None in plans of earlier versions."""
    p80_days: Number | None = None
    """80th percentile, days; None in plans of earlier versions."""


class LayoutRow(Result):
    """One layout with its memory and time, as ``layouts`` and ``predict`` print it."""

    nodes: int
    """Nodes occupied."""
    accelerators: int
    """Accelerators occupied."""
    layout: Layout
    """The layout."""
    step_time_s: float
    """Seconds per optimizer step."""
    tokens_per_s_per_accelerator: float
    """Training tokens per second and accelerator."""
    mfu: float
    """Model FLOPs utilisation of the dense peak (causal attention, no recompute), a fraction."""
    memory_gb: float
    """Peak allocated memory of the worst stage, 1e9 bytes."""
    memory_limit_gb: float
    """Memory of one accelerator, 1e9 bytes."""
    headroom_gb: float
    """What may still be allocated before it no longer fits, 1e9 bytes; negative when it does not."""
    verdict: Literal["fits", "tight", "does_not_fit"]
    """Whether it can be planned with."""
    memory: dict[str, float]
    """Component -> 1e9 bytes, worst stage."""
    time: dict[str, float]
    """Component -> seconds per step."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mode of a workload: nodes of a platform and how long the run takes on them.

    Attributes:
        workload: Name of the workload.
        platform: Platform id.
        nodes: Nodes the run occupies.
        accelerators: Accelerators the run occupies.
        days: Whole days the run occupies, at the policy's performance quantile (ceil).
        layout: The layout; None for a stated mode.
        step_time_s: Predicted step time at mid band; None for a stated mode.
        tokens_per_s_per_accelerator: Throughput at mid band; None for a stated mode.
        mfu: Model FLOPs utilisation; None for a stated mode.
        memory_gb: Peak memory of the worst stage, 1e9 bytes; None for a stated mode.
        memory_limit_gb: Memory of the accelerator, 1e9 bytes; None for a stated mode.
        goodput: Share of wall time that is useful; None for a stated mode.
        evidence: Evidence level of the figure.
        low_days: 10th percentile of the duration.
        high_days: 90th percentile of the duration.
        effective_flop_per_accelerator_day: Useful model FLOP per accelerator and day; None for a stated mode.
        source: Where a stated mode comes from.
        system: ``quote/offer`` of the dedicated system that states it; empty otherwise.
        p50_days: Median of the duration.
        p80_days: 80th percentile of the duration.
    """

    workload: str
    platform: str
    nodes: int
    accelerators: int
    days: int
    layout: Layout | None
    step_time_s: float | None
    tokens_per_s_per_accelerator: float | None
    mfu: float | None
    memory_gb: float | None
    memory_limit_gb: float | None
    goodput: float | None
    evidence: str
    low_days: float | None
    high_days: float | None
    effective_flop_per_accelerator_day: float | None
    source: str = "engine"
    system: str = ""
    p50_days: float | None = None
    p80_days: float | None = None


class Rejection(Result):
    """Why an option is not in the plan."""

    platform: str | None
    """Platform id."""
    vendor: str | None = None
    """Vendor of the offer; None when no offer is meant."""
    quote: str | None = None
    """Quote id, or quote/offer."""
    limit: LimitName
    """The limit that rejects it."""
    needed: Figure
    """What it needs."""
    available: Figure
    """What there is."""
    unit: str
    """Unit of both."""
    reason: str
    """One sentence."""
    amounts: tuple[Amount, ...] = ()
    """Amounts of money in the reason."""


class WorkloadPlan(Result):
    """Where, on what and when one workload runs."""

    name: str
    architecture: str | None
    platform: str
    place: str
    """Site, or vendor and region ``vendor/region``."""
    pool: str
    """``platform@place``."""
    nodes: int
    accelerators: int
    layout: Layout | None
    step_time_s: float | None
    tokens_per_s_per_accelerator: float | None
    mfu: float | None
    memory_gb: float | None
    memory_limit_gb: float | None
    goodput: float | None
    start: dt.date
    end: dt.date
    """Last day used."""
    days: int
    evidence: str
    band: Band | None


class AwardLot(Result):
    """Units of an award delivered together."""

    units: int
    delivery_date: dt.date


class Award(Result):
    """Units taken of one offer."""

    quote: str
    offer: str
    vendor: str
    platform: str
    type: str
    place: str
    units: int
    nodes: int
    accelerators: int
    unit_price: Number
    """Price of one purchase unit at this quantity as quoted (purchase), per month (lease) or per hour (rental), in ``currency``."""
    currency: str
    tier: int | None
    """First quantity of the tier reached; None without tiers."""
    order_date: dt.date
    delivery_date: dt.date
    """Delivery of the last lot, or first day of a rental."""
    contract_end: dt.date | None
    """Last day of a rental or lease; None for owned hardware."""
    cost: Number
    """What is paid for the award itself, to the end of its contract: price, lines, duty and non-recoverable tax."""
    lots: tuple[AwardLot, ...] = ()
    """Its deliveries in order."""
    tax_included: Number | None = None
    """Rate of the tax inside ``unit_price``; None when there is none inside."""
    workload: str | None = None
    """The run it is hired for (on demand, block); None for what every run it covers may use."""


class LimitUse(Result):
    """One limit with what the plan uses of it."""

    name: LimitName
    used: Number | None
    available: Number | None
    unit: str
    slack: Number | None
    binding: bool | None
    """True when removing this limit alone would improve the objective (re-solved); None when not computed."""
    period: str | None


class ConflictLimit(Result):
    """One limit of a conflict."""

    name: LimitName
    needed: Figure
    available: Figure
    unit: str
    period: str | None
    reason: str | None = None
    group: int = 1
    """Limits of one group leave no plan together; of several groups each does so by itself."""


class Relaxation(Result):
    """A change of one limit that makes the scenario feasible."""

    limit: LimitName
    from_: Figure
    to: Figure
    unit: str
    set: str
    """The ``--set`` argument to paste."""
    verified: bool = True

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=lambda name: name.rstrip("_"), populate_by_name=True
    )


class Conflict(Result):
    """Limits that cannot hold together."""

    limits: tuple[ConflictLimit, ...]
    minimal: bool
    relaxations: tuple[Relaxation, ...] = ()
    joint: tuple[Relaxation, ...] = ()
    left_out: tuple[Rejection, ...] = ()
    """Offers and platforms left out for other reasons."""
    cut_short: bool = False
    """Whether the time limit was reached before every figure and change was found."""


class Objective(Result):
    """The value optimised, its proven bound and the gap between them."""

    kind: Literal["cost", "time", "capacity"]
    value: Number | None
    bound: Number | None
    gap: Number | None
    """(value - bound) / value as a fraction; 0 when proven."""
    currency: str | None
    unit: str


class SolveInfo(Result):
    """How the answer was found."""

    solver: str
    wall_s: float
    seed: int
    workers: int
    candidates: int
    layouts_evaluated: int
    proof: str
    """One sentence: what proves the status."""
    time_limit_s: float | None = None
    """Seconds it was given; None = no limit."""


class InputFile(Result):
    """A file the answer was computed from."""

    path: str
    sha256: str
    content: str


class AssumptionUsed(Result):
    """A value nobody stated, used all the same."""

    name: str
    value: str
    source: str


class Provenance(Result):
    """What is needed to make the same plan again."""

    version: str
    ortools: str
    today: dt.date
    inputs: tuple[InputFile, ...]
    assumptions: tuple[AssumptionUsed, ...]


def _by_name(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return {(item["name"] if isinstance(item, dict) else item.name): item for item in value}
    return value


Workloads = Annotated[
    dict[str, WorkloadPlan],
    BeforeValidator(_by_name),
    PlainSerializer(lambda plans: [plan.model_dump(mode="json") for plan in plans.values()], when_used="json"),
]


class Plan(Result):
    """The answer of ``solve``."""

    format: Literal["clusterbuy.plan/1"] = PLAN_FORMAT
    scenario: str
    status: Status
    objective: Objective
    solve: SolveInfo
    workloads: Workloads
    awards: tuple[Award, ...]
    cost: Cost | None
    limits: tuple[LimitUse, ...]
    rejections: tuple[Rejection, ...]
    conflict: Conflict | None
    analyses: dict[str, Any]
    provenance: Provenance

    def to_frame(self, part: Literal["awards", "cash", "limits", "lines", "rejections", "workloads"]) -> pd.DataFrame:
        """Return one part of the plan as a pandas table, a row per record; unknown is a missing value.

        Raises:
            ValueError: there is no such part.
        """
        import pandas as pd  # noqa: PLC0415 - a plan needs pandas only when it is asked for a table

        cost = self.cost
        records: dict[str, Iterable[Result]] = {
            "awards": self.awards,
            "cash": cost.cash if cost else (),
            "limits": self.limits,
            "lines": cost.lines if cost else (),
            "rejections": self.rejections,
            "workloads": self.workloads.values(),
        }
        if part not in records:
            raise ValueError(f'no part "{part}" of a plan; there are {", ".join(records)}')
        return pd.DataFrame([record.model_dump() for record in records[part]])


class CompareRow(Result):
    """One platform: its best plan, or the limit that rejects it."""

    platform: str
    status: Literal["optimal", "feasible", "rejected", "unknown"]
    total: Number | None
    npv: Number | None
    finish: dt.date | None
    nodes: int | None
    accelerators: int | None
    layout: Layout | None
    binding: tuple[str, ...] | None
    """Limits whose removal alone would improve the plan; None when not computed."""
    rejection: Rejection | None
    objective: Number | None = None
    """What the plan is chosen by: present value, days from today, or capacity."""
    unit: str | None = None


class Comparison(Result):
    """The answer of ``compare``."""

    rows: tuple[CompareRow, ...]
    runs: int = 1
    """Runs of the scenario: a row has all of them on its platform."""


BaselineName = Literal["single_quote", "owned", "rented", "on_demand"]
"""The best plan of one quote; on today's fleet; on capacity rented for any term; rented by the hour."""


class Baseline(Result):
    """An obvious alternative to a plan, or why there is none (``analyses.baselines`` of a plan)."""

    name: BaselineName
    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    detail: str | None
    """The quote of ``single_quote``."""
    total: Number | None
    npv: Number | None
    finish: dt.date | None
    objective: Number | None
    """Its objective, in ``unit``."""
    difference: Number | None
    """How much worse than the plan its objective is; 0 when the plan is no better."""
    unit: str
    """Unit of objective and difference: the currency, days or capacity."""
    reason: str | None
    """Why there is none."""


class Verification(Result):
    """The answer of ``verify``."""

    ok: bool
    breaches: tuple[str, ...]
    changed_inputs: tuple[str, ...]
    not_found: tuple[str, ...] = ()
    """Files that are neither where they were nor beside the plan: whether they changed is not known."""
