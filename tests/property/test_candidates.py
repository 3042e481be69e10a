"""The pruned search loses nothing on its grid: it equals a plain loop over everything, written apart from it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optimizer.candidates.batch import BatchTarget
from optimizer.candidates.conditions import Conditions
from optimizer.candidates.modes import modes
from optimizer.candidates.search import Question, least_days, least_memory, legal_pairs
from optimizer.candidates.space import Grid, shapes
from optimizer.engine.bands import as_evidenced, band, factor, level
from optimizer.engine.goodput import goodput
from optimizer.engine.layouts import LayoutArrays
from optimizer.engine.memory import memory, peak_bytes
from optimizer.engine.setup import Setup
from optimizer.engine.step_time import step_seconds, step_time
from optimizer.engine.verdict import verdict_codes
from optimizer.io.library import Library
from optimizer.results import Layout
from optimizer.schema.architecture import Architecture, FeedForward, GroupedQueryAttention, MixtureOfExperts
from optimizer.schema.base import EvidenceLevel, Precision
from optimizer.schema.platform import Platform
from optimizer.schema.scenario import Policy, Reliability, Workload

LIBRARY = Library.shipped()
CONDITIONS = Conditions(
    LIBRARY.software, LIBRARY.bands, Reliability(), Policy(), Grid(context_max=4, micro_batch_max=4, virtual_max=4)
)
RECOMPUTE = ("none", "selective", "full")


@dataclass(frozen=True)
class Case:
    architecture: Architecture
    platform: Platform
    workload: Workload
    nodes: tuple[int, ...]


@st.composite
def experts(draw: st.DrawFn) -> MixtureOfExperts:
    return MixtureOfExperts(
        experts=draw(st.sampled_from([4, 8, 12])),
        experts_per_token=draw(st.sampled_from([1, 2])),
        shared_experts=draw(st.sampled_from([0, 1])),
        ffn_hidden_size=draw(st.sampled_from([1536, 4096])),
        leading_dense_layers=draw(st.sampled_from([0, 1])),
        every=draw(st.sampled_from([1, 2])),
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    heads = draw(st.sampled_from([4, 6, 8]))
    moe = draw(st.none() | experts())
    architecture = Architecture(
        id="random",
        layers=draw(st.integers(3, 12)),
        hidden_size=draw(st.sampled_from([1024, 4096])),
        vocab_size=32000,
        tied_embedding=draw(st.booleans()),
        attention=GroupedQueryAttention(heads=heads, kv_heads=draw(st.sampled_from([heads, 2])), head_dim=128),
        ffn=FeedForward(hidden_size=8192, gated=draw(st.booleans())),
        moe=moe,
        mtp_layers=draw(st.sampled_from([0, 1])) if moe else 0,
    )
    base = LIBRARY.platforms[draw(st.sampled_from(["h100-sxm", "b200-hgx", "gb200-nvl72", "mi355x"]))]
    memory_gb = draw(st.sampled_from([6, 8, 12, 20, 60]))  # from nothing fits to everything fits
    length = draw(st.sampled_from([1024, 4096]))
    workload = Workload(
        architecture="random",
        tokens=Decimal(draw(st.sampled_from([int(3e10), int(3e12)]))),
        sequence_length=length,
        global_batch_tokens=Decimal(
            length * draw(st.sampled_from([30, 96, 120, 333, 512])) + draw(st.sampled_from([0, 500]))
        ),
        global_batch_tolerance=Decimal(draw(st.sampled_from(["0.02", "0.05", "0.2"]))),
        extra_compute=Decimal(draw(st.sampled_from(["0", "0.1"]))),
        precisions=draw(st.sampled_from([("bf16",), ("fp8", "bf16"), ("bf16", "fp8")])),
    )
    nodes = draw(st.lists(st.integers(1, 14), min_size=2, max_size=6, unique=True))
    return Case(architecture, base.model_copy(update={"memory_bytes": int(memory_gb * 1e9)}), workload, tuple(nodes))


def placements(case: Case, t: int) -> Iterator[tuple[int, int]]:
    """Yield (expert, expert-tensor) degrees beside a tensor degree."""
    moe = case.architecture.moe
    for e in (1, 2, 4, 8):
        if e == 1 or (moe and moe.experts % e == 0):
            yield e, 1
            if moe and t > 1 and moe.experts <= case.platform.tiers[0].accelerators and moe.ffn_hidden_size % t == 0:
                yield e, t


def replicas(case: Case) -> Iterator[Layout]:
    """Yield every shape of the stated grid, by loops."""
    for layout in bare_replicas(case):
        for e, split in placements(case, layout.tensor_parallel):
            yield layout.model_copy(update={"expert_parallel": e, "expert_tensor_parallel": split})


def bare_replicas(case: Case) -> Iterator[Layout]:
    model, length, domain = case.architecture, case.workload.sequence_length, case.platform.tiers[0].accelerators
    layers, heads, pairs = model.layers, model.attention.heads, model.attention.kv_heads
    shared = model.moe.ffn_hidden_size if model.moe and model.moe.shared_experts else 0
    for t in range(1, domain + 1):
        if domain % t or heads % t or (pairs % t and t % pairs) or model.ffn.hidden_size % t or shared % t:
            continue
        for c in (1, 2, 4):
            if (c > 1 and length % (2 * c)) or (t > 1 and length % (c * t)):
                continue
            for p in range(1, layers + 1):
                with_ends = (layers + 2) % p == 0 and (layers + 2) // p >= 2
                if p > 1 and math.ceil(layers / p) * (p - 1) >= layers and not with_ends:
                    continue
                for v in range(1, 5):
                    if v > 1 and (p == 1 or (layers % (p * v) and (layers + 2) % (p * v))):
                        continue
                    for stage in (1, 3) if p == 1 else (1,):
                        for b in (1, 2, 4):
                            for again in RECOMPUTE:
                                yield Layout(
                                    tensor_parallel=t, pipeline_parallel=p, virtual_pipeline=v, context_parallel=c,
                                    sharding_stage=stage, micro_batch=b, recompute=again, sequence_parallel=t > 1,
                                )  # fmt: skip


def batch(case: Case, unit: int) -> int | None:
    """Return the multiple of the unit nearest to the target, None when outside the tolerance."""
    wanted = case.workload.global_batch_tokens / case.workload.sequence_length
    times = max(1, math.floor(wanted / unit + Decimal("0.5")))
    tolerance = case.workload.global_batch_tolerance
    return times * unit if abs(times * unit - wanted) <= tolerance * wanted else None


def legal(case: Case, nodes: int, replica: list[Layout]) -> Iterator[Layout]:
    accelerators = nodes * case.platform.accelerators_per_node
    for layout in replica:
        d, rest = divmod(accelerators, layout.accelerators)
        group = d * layout.tensor_parallel * layout.context_parallel
        if group % (layout.expert_parallel * layout.expert_tensor_parallel):
            continue
        rounds = layout.pipeline_parallel if layout.virtual_pipeline > 1 else 1
        sequences = None if rest or not d else batch(case, d * layout.micro_batch * rounds)
        if sequences:
            yield layout.model_copy(update={"data_parallel": d, "global_batch": sequences})


def arrays(layouts: list[Layout]) -> LayoutArrays:
    columns = {name: np.array([getattr(layout, name) for layout in layouts]) for name in Layout.model_fields}
    del columns["precision"]
    return LayoutArrays(**{**columns, "recompute": np.array([RECOMPUTE.index(one.recompute) for one in layouts])})


def days_of_all(case: Case, precision: Precision, nodes: int, layouts: list[Layout]) -> list[float]:
    """Return unrounded days of every layout, infinite where it does not fit."""
    platform, workload, model = case.platform, case.workload, case.architecture
    software = LIBRARY.software[platform.efficiency["software"]]
    setup = Setup(model, platform, precision, workload.sequence_length, software)
    many = arrays(layouts)
    fitting = verdict_codes(peak_bytes(memory(setup, many)), platform.memory_bytes) == 0
    size, total = nodes * platform.accelerators_per_node, setup.parameters.total
    slower = factor(band(LIBRARY.bands, as_evidenced(platform, model), precision, total, size), 0.8)
    useful = float(goodput(np.array([float(nodes)]), 3.0, 15.0, 60.0)[0])
    tokens = float(workload.tokens * (1 + workload.extra_compute))
    steps = tokens / (many.global_batch * workload.sequence_length)
    days = steps * step_seconds(step_time(setup, many)) / useful * slower / 86400
    return np.where(fitting, days, np.inf).tolist()


def complexity(layout: Layout) -> tuple[int, ...]:
    replica = layout.tensor_parallel * layout.pipeline_parallel * layout.context_parallel
    return (
        replica, RECOMPUTE.index(layout.recompute), layout.virtual_pipeline, layout.tensor_parallel,
        layout.pipeline_parallel, layout.context_parallel, layout.expert_parallel, layout.expert_tensor_parallel,
        layout.sharding_stage, layout.micro_batch,
    )  # fmt: skip


def brute_force(case: Case) -> list[tuple[int, int, Layout]]:
    """Return the front (nodes, days, layout) by pricing everything."""
    front: list[tuple[int, int, Layout]] = []
    replica = list(replicas(case))
    for nodes in sorted(case.nodes):
        options = []
        layouts = list(legal(case, nodes, replica))
        for order, precision in enumerate(case.workload.precisions):
            for layout, days in zip(
                layouts, days_of_all(case, precision, nodes, layouts) if layouts else [], strict=True
            ):
                options.append(
                    (days, order, complexity(layout), layout.model_copy(update={"precision": precision.value}))
                )
        shortest = min((option[0] for option in options), default=math.inf)
        if math.isinf(shortest):
            continue
        tied = [option for option in options if option[0] <= shortest * (1 + 1e-9)]
        days, _, _, layout = min(tied, key=lambda option: option[1:3])
        whole = math.ceil(round(days, 9))
        if not front or whole < front[-1][1]:
            front.append((nodes, whole, layout))
    return front


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_pruned_search_equals_a_plain_loop(case: Case):
    result = modes("run", case.workload, case.architecture, case.platform, CONDITIONS, case.nodes)
    found = [(mode.nodes, mode.days, mode.layout) for mode in result.candidates]
    assert found == brute_force(case)
    assert found or result.rejections


@settings(max_examples=25, deadline=None)
@given(case=cases(), data=st.integers(1, 64), more=st.integers(1, 64), batches=st.integers(1, 40))
def test_memory_falls_with_replicas_and_rises_with_micro_batches(case: Case, data: int, more: int, batches: int):
    """The reason why one test per shape may rule out every node count."""
    setup = Setup(
        case.architecture,
        case.platform,
        Precision.BF16,
        case.workload.sequence_length,
        LIBRARY.software["megatron-core"],
    )
    one = shapes(case.architecture, case.platform, case.workload.sequence_length, CONDITIONS.grid)

    def peak(replicas: int, micro_batches: int) -> np.ndarray:
        columns = {**one.__dict__, "data_parallel": np.full_like(one.data_parallel, replicas)}
        columns["global_batch"] = replicas * micro_batches * one.micro_batch
        return peak_bytes(memory(setup, LayoutArrays(**columns)))

    assert np.all(peak(data + more, batches) <= peak(data, batches) * (1 + 1e-12))
    assert np.all(peak(data, batches + more) >= peak(data, batches) * (1 - 1e-12))


def question_of(case: Case) -> tuple[Question, LayoutArrays]:
    length = case.workload.sequence_length
    setup = Setup(case.architecture, case.platform, Precision.FP8, length, LIBRARY.software["megatron-core"])
    target = BatchTarget.of(case.workload.global_batch_tokens, case.workload.global_batch_tolerance, length)
    accelerators = np.array(sorted(case.nodes)) * case.platform.accelerators_per_node
    question = Question(setup, accelerators, target, np.ones(len(accelerators)))
    return question, shapes(case.architecture, case.platform, length, CONDITIONS.grid)


@settings(max_examples=25, deadline=None)
@given(case=cases())
def test_bounds_are_never_above_what_they_bound(case: Case):
    question, replica = question_of(case)
    pairs = legal_pairs(question, replica)
    layouts = pairs.layouts(replica)
    lowest = peak_bytes(memory(question.setup, least_memory(question, replica)))[pairs.shape]
    assert np.all(lowest <= peak_bytes(memory(question.setup, layouts)) * (1 + 1e-12))
    days = step_seconds(step_time(question.setup, layouts)) / pairs.global_batch
    bound = least_days(question, replica, pairs)
    assert np.all(bound <= days * (1 + 1e-12))
    assert np.all(bound > 0)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_more_memory_never_makes_a_run_longer(case: Case):
    platform = case.platform.model_copy(update={"memory_bytes": case.platform.memory_bytes * 2})
    before = modes("run", case.workload, case.architecture, case.platform, CONDITIONS, case.nodes).candidates
    after = modes("run", case.workload, case.architecture, platform, CONDITIONS, case.nodes).candidates
    for mode in before:
        assert min(other.days for other in after if other.nodes <= mode.nodes) <= mode.days


@pytest.mark.parametrize("needed", [EvidenceLevel.PUBLIC_RUN, EvidenceLevel.TARGET_WORKLOAD])
def test_no_mode_has_weaker_evidence_than_asked_for(needed: EvidenceLevel):
    platform, model = LIBRARY.platforms["b200-hgx"], LIBRARY.architectures["llama-3-1-70b"]
    workload = Workload(
        architecture=model.id, tokens=Decimal("1e12"), sequence_length=8192, global_batch_tokens=Decimal("4e6"),
        extra_compute=Decimal(0), precisions=("bf16", "fp8"), minimum_evidence=needed,
    )  # fmt: skip
    result = modes("run", workload, model, platform, CONDITIONS, range(1, 130, 7))
    for mode in result.candidates:
        known = level(platform, Precision(mode.layout.precision), 70.6e9, mode.accelerators)
        assert known.value == mode.evidence
        assert known.rank >= needed.rank
    assert {reason.limit for reason in result.rejections} >= {"evidence"}
