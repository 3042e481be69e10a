"""The runs CSV: typed cells, blanks, all problems at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.errors import InputError
from optimizer.io.runs import read_runs

HEADER = "run_id,platform,accelerators,sequence_length,global_batch,micro_batch,precision,gated_mlp,step_time_s,extra\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "runs.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_cells_get_their_types_and_blanks_are_unknown(tmp_path: Path):
    (run,) = read_runs(written(tmp_path, HEADER + "a,h100-sxm,8.0,4096,128,,bf16,1,2.5,ignored\n"))
    assert (run.accelerators, run.micro_batch, run.gated_mlp, run.step_time_s) == (8, None, True, 2.5)
    assert run.layers is None


def test_all_problems_of_a_file_at_once(tmp_path: Path):
    path = written(tmp_path, HEADER + "a,h100-sxm,8.5,4096,128,1,bf16,maybe,fast,\n,h100-sxm,8,,,,,,,\n")
    with pytest.raises(InputError) as caught:
        read_runs(path)
    where = [problem.location.rpartition("runs.csv:")[2] for problem in caught.value.problems]
    assert sorted(where) == ["2, accelerators", "2, gated_mlp", "2, step_time_s", "3, run_id"]


def test_missing_columns_and_files(tmp_path: Path):
    with pytest.raises(InputError, match="no column micro_batch"):
        read_runs(written(tmp_path, "run_id,platform,accelerators,sequence_length,global_batch,precision\n"))
    with pytest.raises(InputError, match="cannot be read"):
        read_runs(tmp_path / "absent.csv")


def test_published_runs_are_read():
    runs = read_runs(Path(__file__).parents[2] / "data/runs.csv")
    assert len(runs) == 1003
    assert len({run.run_id for run in runs}) > 990
