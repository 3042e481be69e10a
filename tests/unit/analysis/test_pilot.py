"""What a pilot must not hold; every refusal names file, line and run."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import pytest

from optimizer.analysis.pilot import pilot_of
from optimizer.errors import InputError
from optimizer.io.library import Library
from optimizer.io.runs import Run
from tests.unit.analysis.pilots import RUN, pilot, pilot_file, scaled

LIBRARY = Library.shipped()
GOOD = pilot(LIBRARY, scaled("sustained_share", 0.95)).runs


def refused(*runs: Run, platform: str = "h200-sxm") -> list[str]:
    with pytest.raises(InputError) as error:
        pilot_of(pilot_file(runs), platform, LIBRARY)
    return [str(problem) for problem in error.value.problems]


def spoilt(**values: object) -> list[str]:
    """Return what is said about one row with other values among good ones."""
    return refused(*GOOD[:3], dataclasses.replace(GOOD[3], **values))


def rate(run: Run) -> float:
    return run.global_batch * run.sequence_length / run.step_time_s / run.accelerators


def test_good_rows_are_ready_as_a_plan_would_predict_them():
    found = pilot_of(pilot_file(GOOD), "h200-sxm", LIBRARY)
    assert [row.seconds for row in found.rows] == [run.step_time_s for run in GOOD]
    assert {row.case.setup.release for row in found.rows} == {None}
    assert found.readings["framework blank: the platform's default"] == 6


def test_fewer_than_three_steps():
    memory = dataclasses.replace(RUN, run_id="oom", kind="oom")
    (problem,) = refused(*GOOD[:2], memory)
    assert problem.startswith("pilot.csv: 2 rows with a measured step; 1 with kind oom. Expected 3 or more.")


def test_rows_of_another_platform_and_unknown_platforms():
    (problem,) = spoilt(platform="h100-sxm")
    assert problem.startswith("pilot.csv:5, run-3, platform: h100-sxm. Expected h200-sxm. Keep the rows of one")
    assert spoilt(platform=None)[0].startswith("pilot.csv:5, run-3, platform: blank.")
    assert 'Did you mean "h200-sxm"?' in refused(*GOOD, platform="h200-sxn")[0]


UNITS = [
    ({"step_time_s": GOOD[3].step_time_s * 1000}, "step_time_s looks like milliseconds"),
    ({"step_time_s": GOOD[3].step_time_s / 60}, "step_time_s looks like minutes"),
    ({"step_time_s": None, "tokens_per_s_per_accelerator": rate(GOOD[3]) * 32}, "look like the whole cluster's"),
    ({"step_time_s": None, "tokens_per_s_per_accelerator": rate(GOOD[3]) * 8}, "look like a node's"),
    ({"step_time_s": None, "tokens_per_s_per_accelerator": rate(GOOD[3]) / 1000}, "look like thousands"),
    ({"global_batch": 256 * 8192}, "global_batch looks like tokens, it counts sequences"),
]


@pytest.mark.parametrize(("values", "reason"), UNITS)
def test_a_wrong_unit_is_named(values: dict[str, object], reason: str):
    (problem,) = spoilt(**values)
    assert problem.startswith("pilot.csv:5, run-3: ")
    assert reason in problem
    assert "no efficiency explains a factor of three" in problem


@pytest.mark.parametrize(
    ("times", "reason"),
    [(1, None), (1.02, None), (32, "the whole cluster's"), (8, "a node's"), (1.2, "1.2 times the tokens of a step.")],
)
def test_step_time_and_tokens_per_second_must_agree(times: float, reason: str | None):
    both = dataclasses.replace(GOOD[3], tokens_per_s_per_accelerator=rate(GOOD[3]) * times)
    if reason is None:
        assert len(pilot_of(pilot_file([*GOOD[:3], both]), "h200-sxm", LIBRARY).rows) == 4
        return
    (problem,) = refused(*GOOD[:3], both)
    assert "step_time_s x tokens_per_s_per_accelerator x accelerators" in problem
    assert reason in problem


def test_a_factor_of_three_without_a_unit_is_refused_too():
    (problem,) = spoilt(step_time_s=GOOD[3].step_time_s * 4.5)
    assert "s predicted. Expected" in problem


def test_faster_than_matrix_products_alone():
    (problem,) = spoilt(step_time_s=GOOD[3].step_time_s / 2.3)
    assert "of the dense fp8 peak. Expected less than the 73% that large matrix products alone reach" in problem


def test_rows_that_cannot_be_predicted_and_repeated_names_are_told_together():
    problems = refused(*GOOD[:3], dataclasses.replace(GOOD[3], precision="int3"), GOOD[4], GOOD[4])
    assert problems == [
        'pilot.csv, run_id: "run-4" 2 times. Expected each run once. Give repeated measurements names of their own.',
        "pilot.csv:5, run-3: precision int3 is unknown. Expected a row that can be predicted. Complete it or leave it out.",
    ]


def test_one_training_stack():
    other = dataclasses.replace(
        GOOD[3], framework="pytorch-fsdp", precision="bf16", step_time_s=GOOD[3].step_time_s * 1.9
    )
    (problem,) = refused(*GOOD[:3], other)
    assert "framework: megatron-core and pytorch-fsdp. Expected one training stack." in problem


def test_the_same_file_counts_once():
    shares = dict(LIBRARY.platforms["h200-sxm"].efficiency)
    shares["evidence"] = [{"source": "pilot.csv", "rows": 6, "date": "2026-11-29", "sha256": "0" * 64}]
    known = LIBRARY.platforms["h200-sxm"].model_copy(update={"efficiency": shares})

    cards = SimpleNamespace(
        platforms={"h200-sxm": known}, architectures=LIBRARY.architectures, software=LIBRARY.software
    )
    with pytest.raises(InputError, match="rest on this very file already"):
        pilot_of(pilot_file(GOOD), "h200-sxm", cards)
