"""Fits of pilots whose truth is known."""

from __future__ import annotations

import dataclasses
import datetime as dt

import numpy as np
import pytest

from optimizer.analysis.calibrate import Calibrated, calibrate
from optimizer.analysis.overlay import overlay_of
from optimizer.analysis.pilot_fit import configurations
from optimizer.engine.bands import as_evidenced, band, level
from optimizer.engine.efficiency import efficiency
from optimizer.errors import InputError
from optimizer.io.library import Library
from optimizer.io.runs import Run
from optimizer.schema.base import EvidenceLevel, Precision
from optimizer.schema.platform import PlatformOverlay
from tests.unit.analysis.pilots import LAYOUTS, RUN, measured, pilot, pilot_file, scaled

LIBRARY = Library.shipped()
DATE = dt.date(2026, 11, 30)
H200 = LIBRARY.platforms["h200-sxm"]


def factors(found: Calibrated) -> dict[str, float]:
    return {item.name: item.factor for item in found.result.parameters}


def test_a_known_efficiency_is_found_again():
    found = calibrate(pilot(LIBRARY, scaled("sustained_share", 0.9)), "h200-sxm", LIBRARY)
    assert factors(found) == {"sustained_share": pytest.approx(0.9, abs=0.01)}
    assert found.shares.sustained_share[Precision.FP8] == pytest.approx(
        0.9 * efficiency(H200).sustained_share[Precision.FP8], rel=0.011
    )
    result = found.result
    assert (result.rows, result.configurations) == (6, 6)
    assert result.before.mean > 0.05
    assert result.after.mean < 0.01
    assert result.after.mean <= result.left_out.mean < 0.015
    assert result.warnings == ()


def test_few_rows_move_the_shipped_values_less():
    change = scaled("sustained_share", 0.8)
    few = factors(calibrate(pilot(LIBRARY, change, LAYOUTS[:3]), "h200-sxm", LIBRARY))["sustained_share"]
    many = factors(calibrate(pilot(LIBRARY, change), "h200-sxm", LIBRARY))["sustained_share"]
    assert 0.8 < many < few < 0.85


def test_the_network_is_fitted_when_the_rows_tell_it():
    near = [{**layout, "accelerators": 8, "global_batch": 64} for layout in LAYOUTS[:4]]
    far = [{"tensor_parallel": t, "accelerators": 64, "global_batch": 64 // t * m} for t, m in ((1, 1), (2, 1), (1, 2), (2, 2))]  # fmt: skip
    short = dataclasses.replace(RUN, sequence_length=2048)  # one or two short micro-batches hide little traffic
    runs = [dataclasses.replace(short, run_id=f"run-{n}", **layout) for n, layout in enumerate([*near, *far])]
    change = scaled("outer_network_share", 0.6)
    found = calibrate(pilot_file([measured(run, LIBRARY, change) for run in runs]), "h200-sxm", LIBRARY)
    assert factors(found)["outer_network_share"] == pytest.approx(0.6, abs=0.08)
    assert factors(found)["sustained_share"] == pytest.approx(1.0, abs=0.03)


def test_experts_have_their_own_speed():
    run = dataclasses.replace(
        RUN, model="Mixtral-8x7B", experts=8, experts_per_token=2, layers=32, hidden_size=4096, attention_heads=32,
        platform="b200-hgx", sequence_length=4096, accelerators=64,
    )  # fmt: skip
    layouts = ({"expert_parallel": 8}, {"expert_parallel": 4}, {"expert_parallel": 8, "micro_batch": 2})
    runs = [dataclasses.replace(run, run_id=f"moe-{n}", **layout) for n, layout in enumerate(layouts)]
    found = calibrate(pilot_file([measured(each, LIBRARY, lambda old: {**old, "expert_speed": 0.8}) for each in runs]), "b200-hgx", LIBRARY)  # fmt: skip
    assert factors(found) == {"expert_speed": pytest.approx(0.8, abs=0.03)}
    changed = overlay_of(found, LIBRARY, DATE).over(LIBRARY.platforms["b200-hgx"])
    mixtral, other = LIBRARY.architectures["mixtral-8x7b"], LIBRARY.architectures["qwen-3-30b-a3b"]
    assert level(as_evidenced(changed, mixtral), Precision.FP8, 46e9, 64) == EvidenceLevel.TARGET_WORKLOAD
    assert level(as_evidenced(changed, other), Precision.FP8, 30e9, 64) == EvidenceLevel.PILOT_MULTI_NODE


def test_leaving_a_row_out_equals_fitting_without_it():
    change = scaled("sustained_share", 0.92)
    noisy = [
        dataclasses.replace(run, step_time_s=run.step_time_s * factor)
        for run, factor in zip(pilot(LIBRARY, change).runs, (1.03, 0.97, 1.02, 1.0, 0.96, 1.04), strict=True)
    ]
    found = calibrate(pilot_file(noisy), "h200-sxm", LIBRARY).result
    for place, run in list(enumerate(noisy))[::2]:
        rest = calibrate(pilot_file([*noisy[:place], *noisy[place + 1 :]]), "h200-sxm", LIBRARY)
        moved = H200.model_copy(update={"efficiency": rest.shares.model_dump(mode="json")})
        again = measured(run, LIBRARY, lambda _, moved=moved: moved.efficiency).step_time_s
        assert found.runs[place].run_id == run.run_id
        assert found.runs[place].left_out == pytest.approx(again / run.step_time_s - 1, abs=0.004)


def test_an_outlier_counts_little():
    runs = list(pilot(LIBRARY, scaled("sustained_share", 0.9)).runs)
    runs[2] = dataclasses.replace(runs[2], step_time_s=runs[2].step_time_s * 1.6)
    found = calibrate(pilot_file(runs), "h200-sxm", LIBRARY)
    assert factors(found)["sustained_share"] == pytest.approx(0.9, abs=0.03)
    assert found.result.warnings == (
        "1 of 6 runs are still off by more than 15 % (run-2 -37%): look at layout, warm-up, network",
    )


def test_repetitions_are_one_configuration_and_are_left_out_together():
    one = pilot(LIBRARY, scaled("sustained_share", 0.9), LAYOUTS[:1]).runs[0]
    found = calibrate(pilot_file([dataclasses.replace(one, run_id=name) for name in "abcd"]), "h200-sxm", LIBRARY)
    assert configurations(found.pilot.rows) == [0, 0, 0, 0]
    assert (found.result.rows, found.result.configurations) == (4, 1)
    assert found.result.left_out.mean == pytest.approx(found.result.before.mean, rel=0.2)  # nothing left to fit
    assert found.result.warnings == ("1 different configurations: how well the fit holds for others is not known",)
    block = overlay_of(found, LIBRARY, DATE).efficiency
    assert block["bands"]["fp8"] == "pilot_scattered"


@pytest.mark.parametrize("factor", [0.35, 2.2])
def test_a_fit_at_its_bound_is_refused(factor: float):
    with pytest.raises(InputError, match=r"sustained_share ends at its bound|large matrix products alone") as refused:
        calibrate(pilot(LIBRARY, scaled("sustained_share", factor), LAYOUTS * 4, RUN), "h200-sxm", LIBRARY)
    assert refused.value.exit_code == 2


def overlay(found: Calibrated) -> PlatformOverlay:
    return overlay_of(found, LIBRARY, DATE)


def test_an_overlay_carries_evidence_by_nodes_size_and_model():
    run = dataclasses.replace(RUN, accelerators=8, global_batch=64)
    single = calibrate(pilot(LIBRARY, scaled("sustained_share", 0.95), LAYOUTS[:3], run), "h200-sxm", LIBRARY)
    multi = calibrate(pilot(LIBRARY, scaled("sustained_share", 0.95)), "h200-sxm", LIBRARY)
    llama, other = LIBRARY.architectures["llama-3-1-8b"], LIBRARY.architectures["qwen-2-5-7b"]
    for found, expected in ((single, EvidenceLevel.PILOT_SINGLE_NODE), (multi, EvidenceLevel.PILOT_MULTI_NODE)):
        platform = overlay(found).over(H200)
        most = max(row.case.layout.accelerators for row in found.pilot.rows)
        assert level(as_evidenced(platform, other), Precision.FP8, 7.6e9, most) == expected
        assert level(as_evidenced(platform, llama), Precision.FP8, 8.03e9, most) == EvidenceLevel.TARGET_WORKLOAD
        assert level(as_evidenced(platform, other), Precision.FP8, 70e9, most).rank < expected.rank
        assert level(as_evidenced(platform, other), Precision.FP8, 7.6e9, most + 1).rank < expected.rank
        assert level(as_evidenced(platform, llama), Precision.BF16, 8.03e9, most).rank < expected.rank


def test_an_overlay_narrows_the_band_of_what_was_measured_and_names_its_file():
    found = overlay(calibrate(pilot(LIBRARY, scaled("sustained_share", 0.95)), "h200-sxm", LIBRARY))
    platform = found.over(H200)
    assert band(LIBRARY.bands, platform, Precision.FP8, 8e9, 32) == LIBRARY.bands.of("pilot")
    assert found.efficiency["bands"]["bf16"] == H200.efficiency["bands"]["bf16"]
    first = efficiency(platform).evidence[0]
    assert (first.source, first.rows, first.date, first.sha256) == ("pilot.csv", 6, "2026-11-30", "0" * 64)
    assert "left out" in first.note
    assert efficiency(platform).evidence[1:] == efficiency(H200).evidence
    assert set(found.sources) == {"pilot-2026-11-30"}


def test_precisions_nobody_measured_share_a_loss_and_no_gain():
    slower = calibrate(pilot(LIBRARY, scaled("sustained_share", 0.9)), "h200-sxm", LIBRARY).shares.sustained_share
    faster = calibrate(pilot(LIBRARY, scaled("sustained_share", 1.08)), "h200-sxm", LIBRARY).shares.sustained_share
    old = efficiency(H200).sustained_share
    assert slower[Precision.BF16] / old[Precision.BF16] == pytest.approx(slower[Precision.FP8] / old[Precision.FP8])
    assert faster[Precision.FP8] > old[Precision.FP8]
    assert faster[Precision.BF16] == old[Precision.BF16]


def test_a_pilot_on_another_stack_makes_plans_use_that_stack():
    run = dataclasses.replace(RUN, framework="pytorch-fsdp", precision="bf16")
    found = overlay(calibrate(pilot(LIBRARY, scaled("sustained_share", 0.95), LAYOUTS[:3], run), "h200-sxm", LIBRARY))
    assert found.efficiency["software"] == "pytorch-fsdp"


def test_the_order_of_rows_does_not_matter():
    file = pilot(LIBRARY, scaled("sustained_share", 0.93))
    forward = calibrate(file, "h200-sxm", LIBRARY).result
    backward = calibrate(pilot_file(file.runs[::-1]), "h200-sxm", LIBRARY).result
    assert np.allclose([p.factor for p in forward.parameters], [p.factor for p in backward.parameters], rtol=1e-9)


def test_runs_without_any_step_are_counted_not_fitted():
    file = pilot(LIBRARY, scaled("sustained_share", 0.9))
    memory = Run(**{**dataclasses.asdict(RUN), "run_id": "memory", "kind": "memory", "memory_gb": 50.0})
    blank = dataclasses.replace(RUN, run_id="blank")
    found = calibrate(pilot_file([*file.runs, memory, blank]), "h200-sxm", LIBRARY).result
    assert found.rows == 6
    assert found.ignored == {"kind memory": 1, "neither step_time_s nor tokens_per_s_per_accelerator": 1}
