from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

import pytest

from optimizer.candidates.conditions import Conditions, Run, setup_of
from optimizer.candidates.modes import modes
from optimizer.candidates.ranking import predict
from optimizer.candidates.stated import stated_modes
from optimizer.engine.bands import band, factor
from optimizer.engine.flops import flops_per_token
from optimizer.errors import InputError, InternalError
from optimizer.io.library import Library
from optimizer.results import Candidate
from optimizer.schema.base import EvidenceLevel, Precision
from optimizer.schema.scenario import Policy, Reliability, StatedMode, Workload


def workload(**changes: object) -> Workload:
    fields = {
        "architecture": "llama-3-1-8b",
        "tokens": Decimal("2e12"),
        "sequence_length": 8192,
        "global_batch_tokens": Decimal("4e6"),
        "extra_compute": Decimal(0),
        "precisions": ("bf16",),
        **changes,
    }
    return Workload(**fields)


def run(library: Library, conditions: Conditions, platform: str = "h100-sxm", nodes=range(4, 65, 4), **changes: object):
    asked = workload(**changes)
    return modes(
        "pretrain", asked, library.architectures[asked.architecture], library.platforms[platform], conditions, nodes
    )


def test_days_follow_from_step_time_goodput_and_quantile(library: Library, conditions: Conditions):
    """64 H100 of nodes that never fail: days = tokens / batch tokens x step x factor / 86400, rounded up."""
    safe = replace(conditions, reliability=Reliability(node_failures_per_1000_days=Decimal(0)))
    (mode,) = run(library, safe, nodes=[8]).candidates
    platform = library.platforms["h100-sxm"]
    slower = factor(band(library.bands, platform, Precision.BF16, 8.03e9, 64), 0.8)
    steps = 2e12 / (mode.layout.global_batch * 8192)
    assert mode.goodput == 1.0
    assert mode.days == math.ceil(steps * mode.step_time_s * slower / 86400)
    assert mode.tokens_per_s_per_accelerator == pytest.approx(mode.layout.global_batch * 8192 / mode.step_time_s / 64)
    useful = flops_per_token(library.architectures["llama-3-1-8b"], 8192) * 2e12
    unrounded = steps * mode.step_time_s * slower / 86400
    assert mode.effective_flop_per_accelerator_day == pytest.approx(useful / 64 / unrounded)


def test_a_candidate_is_what_predict_says_of_its_layout(library: Library, conditions: Conditions):
    (mode,) = run(library, conditions, nodes=[16]).candidates
    setup = setup_of(
        library.architectures["llama-3-1-8b"], library.platforms["h100-sxm"], Precision.BF16, 8192, library.software
    )
    row = predict(setup, mode.layout, 128)
    assert row.verdict == "fits"
    assert (row.step_time_s, row.memory_gb, row.mfu) == pytest.approx((mode.step_time_s, mode.memory_gb, mode.mfu))
    assert (row.nodes, row.accelerators, row.layout) == (16, 128, mode.layout)


def test_front_falls_in_days_and_occupies_exactly(library: Library, conditions: Conditions):
    candidates = run(library, conditions).candidates
    assert len(candidates) > 5
    for before, after in zip(candidates, candidates[1:], strict=False):
        assert before.nodes < after.nodes
        assert before.days > after.days
    for mode in candidates:
        assert mode.accelerators == 8 * mode.nodes == mode.layout.accelerators
        assert abs(mode.layout.global_batch * 8192 - 4e6) <= 0.05 * 4e6
        assert mode.low_days < mode.days <= mode.high_days + 1
        assert mode.memory_gb < mode.memory_limit_gb


def test_extra_compute_and_quantile_lengthen_the_run(library: Library, conditions: Conditions):
    def length(found: tuple[Candidate, ...]) -> float:
        return found[0].days

    plain = run(library, conditions, nodes=[4]).candidates
    more = run(library, conditions, nodes=[4], extra_compute=Decimal("0.5")).candidates
    assert length(more) == pytest.approx(1.5 * length(plain), abs=1)
    assert more[0].layout == plain[0].layout
    sure = replace(conditions, policy=Policy(performance_quantile=Decimal("0.9")))
    assert run(library, sure, nodes=[4]).candidates[0].days == math.ceil(plain[0].high_days)


def test_failures_lengthen_large_runs_more(library: Library, conditions: Conditions):
    fragile = replace(conditions, reliability=Reliability(node_failures_per_1000_days=Decimal(30)))
    small, large = (run(library, fragile, nodes=[count]).candidates[0] for count in (4, 64))
    assert small.goodput > large.goodput
    assert large.goodput < run(library, conditions, nodes=[64]).candidates[0].goodput


def test_the_faster_precision_wins_and_the_order_given_does_not_matter(library: Library, conditions: Conditions):
    one = run(library, conditions, precisions=("bf16", "fp8")).candidates
    other = run(library, conditions, precisions=("fp8", "bf16")).candidates
    assert one == other
    assert {mode.layout.precision for mode in one} == {"fp8"}


def test_equal_precisions_go_to_the_first(library: Library, conditions: Conditions):
    for order in (("bf16", "fp16"), ("fp16", "bf16")):
        found = run(library, conditions, "a100-80gb-sxm", precisions=order, nodes=[16]).candidates
        assert [mode.layout.precision for mode in found] == [order[0]]


def test_node_counts_may_come_in_any_order_and_twice(library: Library, conditions: Conditions):
    assert run(library, conditions, nodes=[32, 8, 0, 8, 16]) == run(library, conditions, nodes=[8, 16, 32])
    assert run(library, conditions, nodes=[]).candidates == ()


def test_repeats_itself(library: Library, conditions: Conditions):
    assert run(library, conditions) == run(library, conditions)


def test_memory_rejection_names_what_it_needs_and_has(library: Library, conditions: Conditions):
    asked = {"architecture": "dense-500b", "global_batch_tokens": Decimal("16e6"), "precisions": ("bf16",)}
    result = run(library, conditions, "rtx-4090", nodes=[1, 2, 4], **asked)
    (reason,) = result.rejections
    assert (result.candidates, reason.limit, reason.unit) == ((), "memory", "GB")
    assert reason.needed > reason.available > 20
    assert float(reason.available) == round(library.platforms["rtx-4090"].memory_bytes / 1e9, 2)
    assert f"does not fit: needs {float(reason.needed):.1f} GB" in reason.reason


def test_batch_rejection_names_the_deviation(library: Library, conditions: Conditions):
    """1,024 accelerators and a target of one sequence: 4e6 / 4e6 tokens; no layout has fewer replicas than 2."""
    result = run(
        library, conditions, nodes=[127], global_batch_tokens=Decimal(8192), architecture="llama-3-1-8b"
    )  # 127 is prime: replicas come in multiples of 127
    (reason,) = result.rejections
    assert (reason.limit, reason.needed, float(reason.available)) == ("batch", 126, 0.05)
    assert "127 sequences, the target 1.0" in reason.reason


def test_precision_rejection(library: Library, conditions: Conditions):
    result = run(library, conditions, "a100-80gb-sxm", precisions=("fp8",))
    (reason,) = result.rejections
    assert (reason.limit, reason.needed) == ("precision", "fp8")
    assert "bf16" in str(reason.available)
    assert run(library, conditions, "a100-80gb-sxm", precisions=("fp8", "bf16")).candidates


def test_unknown_figures_are_rejected_by_name(library: Library, conditions: Conditions):
    platform = library.platforms["h100-sxm"].model_copy(update={"memory_bytes": None})
    asked = workload()
    result = modes("run", asked, library.architectures["llama-3-1-8b"], platform, conditions, [8])
    (reason,) = result.rejections
    assert (result.candidates, reason.limit) == ((), "specification")
    assert "memory_bytes" in str(reason.needed)


def test_ineligible_platform(library: Library, conditions: Conditions):
    platform = library.platforms["h100-sxm"].model_copy(update={"ineligible": "not sold"})
    result = modes("run", workload(), library.architectures["llama-3-1-8b"], platform, conditions, [8])
    assert [(reason.limit, "not sold" in reason.reason) for reason in result.rejections] == [("specification", True)]


def test_evidence_rejects_large_counts_and_says_from_where(library: Library, conditions: Conditions):
    """B200 in bf16 was seen with 8B on 8 accelerators only."""
    result = run(library, conditions, "b200-hgx", nodes=[1, 2, 3], minimum_evidence=EvidenceLevel.PUBLIC_RUN)
    (reason,) = result.rejections
    assert [mode.nodes for mode in result.candidates] == [1]
    assert (reason.limit, reason.needed, reason.available) == ("evidence", "public_run", "datasheet")
    assert "on 2 nodes and more" in reason.reason
    nothing = run(library, conditions, "b200-hgx", nodes=[1, 2], minimum_evidence=EvidenceLevel.TARGET_WORKLOAD)
    assert nothing.candidates == ()
    assert [reason.limit for reason in nothing.rejections] == ["evidence"]


def test_the_policy_sets_the_evidence_where_the_workload_does_not(library: Library, conditions: Conditions):
    strict = replace(conditions, policy=Policy(minimum_evidence=EvidenceLevel.PUBLIC_RUN))
    assert [mode.nodes for mode in run(library, strict, "b200-hgx", nodes=[1, 2, 3]).candidates] == [1]


def test_software_missing_from_the_library_is_named(library: Library):
    with pytest.raises(InputError, match=r'no software named "megatron-core".*Did you mean "megatron-corp"'):
        setup_of(
            library.architectures["llama-3-1-8b"], library.platforms["h100-sxm"], Precision.BF16, 8192,
            {"megatron-corp": library.software["megatron-core"]},
        )  # fmt: skip


def test_a_workload_with_stated_modes_has_nothing_to_lay_out(library: Library):
    stated = Workload(modes=(StatedMode(platform="b200-hgx", nodes=64, days=90, source="pilot 2026-10"),))
    with pytest.raises(InternalError, match="names no architecture"):
        Run.of("baseline", stated, library.architectures["llama-3-1-8b"], Policy())


def test_stated_modes_are_final_and_dominated_ones_dropped(library: Library):
    stated = Workload(
        modes=(
            StatedMode(platform="b200-hgx", nodes=64, days=90, source="pilot 2026-10"),
            StatedMode(platform="b200-hgx", nodes=96, days=90, source="claim"),
            StatedMode(platform="b200-hgx", nodes=128, days=50, source="claim"),
            StatedMode(platform="b200-hgx", nodes=64, days=95, source="claim"),
            StatedMode(platform="h100-sxm", nodes=64, days=180, source="claim"),
        ),
        extra_compute=Decimal(1),
    )
    result = stated_modes("baseline", stated, library.platforms["b200-hgx"])
    assert [(mode.nodes, mode.accelerators, mode.days, mode.source) for mode in result.candidates] == [
        (64, 512, 90, "pilot 2026-10"),
        (128, 1024, 50, "claim"),
    ]
    assert {mode.layout for mode in result.candidates} == {None}
    assert result.rejections == ()


def test_a_platform_without_a_stated_mode_is_rejected(library: Library):
    stated = Workload(modes=(StatedMode(platform="b200-hgx", nodes=64, days=90, source="pilot"),))
    result = stated_modes("baseline", stated, library.platforms["h100-sxm"])
    assert [(reason.limit, reason.platform) for reason in result.rejections] == [("specification", "h100-sxm")]


def test_goodput_of_a_candidate_by_hand(library: Library, conditions: Conditions):
    """64 nodes x 3 / 1000 days fail every 450,000 s: 60 s writes cost sqrt(120 / 450,000), restarts 0.002."""
    (mode,) = run(library, conditions, nodes=[64]).candidates
    assert mode.goodput == pytest.approx(1 - 0.0163299 - 0.002, abs=1e-6)


def test_node_counts_together_give_the_front_of_node_counts_alone(library: Library, conditions: Conditions):
    """The front is pruned across node counts; alone, none can prune another."""
    nodes, changes = range(24, 65), {"tokens": Decimal("6e11"), "precisions": ("bf16", "fp8")}
    front: list[Candidate] = []
    for count in nodes:
        for mode in run(library, conditions, nodes=[count], **changes).candidates:
            if not front or mode.days < front[-1].days:
                front.append(mode)
    together = run(library, conditions, nodes=nodes, **changes).candidates
    assert together == tuple(front)
    assert 1 in {before.days - after.days for before, after in zip(front, front[1:], strict=False)}


def test_experts_are_laid_out_with_their_own_evidence_and_band(library: Library, conditions: Conditions):
    """DeepSeek-V3 ran on up to 256 B200 in mxfp8; nobody published it on MI355X."""
    asked = {"architecture": "deepseek-v3", "sequence_length": 4096, "global_batch_tokens": Decimal("16e6")}
    seen = run(library, conditions, "b200-hgx", [32, 64], **asked, precisions=("mxfp8",))
    small, large = seen.candidates
    assert small.evidence == EvidenceLevel.PUBLIC_RUN.value
    assert large.evidence == EvidenceLevel.DATASHEET.value
    assert small.layout.expert_parallel > 1
    assert small.memory_gb < small.memory_limit_gb
    known = library.bands.of("experts_seen")
    assert small.high_days / small.low_days == pytest.approx(known.p90 / known.p10)
    other = run(library, conditions, "mi355x", [32], **asked, precisions=("bf16",), minimum_evidence="public_run")
    assert not other.candidates
    assert [reason.limit for reason in other.rejections] == ["evidence"]


def test_a_stack_without_costs_of_experts_is_rejected_with_the_reason(library: Library, conditions: Conditions):
    asked = {"architecture": "qwen-3-30b-a3b", "sequence_length": 4096}
    (reason,) = run(library, conditions, "rtx-5090", [8], **asked).rejections
    assert reason.limit == "specification"
    assert "handwritten-cuda.yaml, experts" in reason.needed
