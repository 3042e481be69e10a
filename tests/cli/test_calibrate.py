"""A pilot end to end: measured runs in, an overlay out, other plans."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import pytest

from optimizer.cli.main import main
from optimizer.io.library import Library
from tests.unit.analysis.pilots import pilot, scaled

COLUMNS = (
    "run_id", "model", "platform", "accelerators", "sequence_length", "global_batch", "micro_batch", "precision",
    "tensor_parallel", "pipeline_parallel", "context_parallel", "recompute", "step_time_s", "kind", "software_date",
)  # fmt: skip


def write(path: Path, **values: object) -> Path:
    runs = pilot(Library.shipped(), scaled("sustained_share", 0.9)).runs
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        given = {"software_date": "2026-04", **values}
        writer.writerows({name: given.get(name, getattr(run, name)) for name in COLUMNS} for run in runs)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    streams = capsys.readouterr()
    return code, streams.out, streams.err


def test_a_pilot_changes_plans(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Efficiency scaled by 0.9 is found; the plan gets longer steps, its evidence the pilot's, and still verifies."""
    runs, mine = write(tmp_path / "pilot.csv"), tmp_path / "mine"
    out = mine / "models" / "platforms" / "h200-pilot.yaml"
    code, text, _ = run(
        capsys, "calibrate", runs, "--platform", "h200-sxm", "-o", out, "--today", "2026-11-30", "--json", "-"
    )
    assert code == 0
    result = json.loads(text)
    assert result["parameters"][0]["name"] == "sustained_share"
    assert result["parameters"][0]["factor"] == pytest.approx(0.9, abs=0.01)
    assert result["left_out"]["mean"] < 0.015
    assert result["before"]["mean"] > 0.05
    assert hashlib.sha256(runs.read_bytes()).hexdigest() in out.read_text(encoding="utf-8")
    main(["init", str(tmp_path / "start"), "--quiet"])
    scenario = tmp_path / "start" / "scenario.yaml"
    plans = []
    for library in ([], ["--library", mine]):
        file = tmp_path / f"plan{len(plans)}.json"
        sets = ["--set", "workloads.pretrain.tokens=5e11", "--set", "workloads.pretrain.precisions=[fp8]"]
        assert main(["solve", str(scenario), *sets, *map(str, library), "--quiet", "--json", str(file)]) == 0
        assert main(["verify", str(file), "--quiet"]) == 0
        plans.append(json.loads(file.read_text(encoding="utf-8"))["workloads"][0])
    before, after = plans
    rate = after["tokens_per_s_per_accelerator"] / before["tokens_per_s_per_accelerator"]
    assert 0.88 < rate < 0.97
    assert (before["evidence"], after["evidence"]) == ("public_run", "target_workload")
    score = json.loads(run(capsys, "backtest", runs, "--library", mine, "--json", "-")[1])
    assert score["step_time"]["mean"] < 0.01


def test_the_screen_tells_errors_values_and_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    runs, out = write(tmp_path / "pilot.csv"), tmp_path / "pilot.yaml"
    code, text, _ = run(capsys, "calibrate", runs, "--platform", "h200-sxm", "-o", out)
    assert code == 0
    for part in ("h200-sxm, megatron-core: 6 rows, 6 configurations", "before", "after", "left out", "run-5", "mean",
                 "sustained_share.fp8", "read: framework blank", "put it into models/platforms"):  # fmt: skip
        assert part in text


def test_nothing_is_overwritten_and_nonsense_is_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    runs, out = write(tmp_path / "pilot.csv"), tmp_path / "pilot.yaml"
    assert run(capsys, "calibrate", runs, "--platform", "h200-sxm", "-o", out, "--quiet")[:2] == (0, "")
    content = out.read_bytes()
    code, _, said = run(capsys, "calibrate", runs, "--platform", "h200-sxm", "-o", out)
    assert (code, out.read_bytes()) == (2, content)
    assert "there is such a file already" in said
    new = tmp_path / "new.yaml"
    code, text, _ = run(
        capsys, "calibrate", write(runs, step_time_s=3000), "--platform", "h200-sxm", "-o", new, "--json", "-"
    )
    assert code == 2
    problems = json.loads(text)["error"]["problems"]
    assert [problem["location"] for problem in problems] == [f"{runs}:{n}, run-{n - 2}" for n in range(2, 8)]
    assert not new.exists()
    assert run(capsys, "calibrate", runs, "--platform", "h200-sxm", "-o", new, "--today", "yesterday")[0] == 2
    assert run(capsys, "calibrate", runs, "-o", new)[0] == 2


def test_step_times_must_be_measured_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for value in ("0", "-3", "nan", "inf"):
        code, _, said = run(capsys, "backtest", write(tmp_path / "pilot.csv", step_time_s=value))
        assert code == 2
        assert f'pilot.csv:2, step_time_s: "{value}". a number above 0 or a blank cell' in said
