"""``solve``, ``compare`` and ``verify`` on the starter: exit codes and the keys of the JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from optimizer.cli.main import main
from optimizer.cli.options import ScenarioOptions
from optimizer.cli.solve import exit_code
from tests.unit.io.example_plan import example_plan

PLAN_KEYS = [
    "format", "scenario", "status", "objective", "solve", "workloads", "awards", "cost", "limits", "rejections",
    "conflict", "analyses", "provenance",
]  # fmt: skip


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("starter") / "s"
    assert main(["init", str(folder), "--quiet"]) == 0
    return folder / "scenario.yaml"


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, object]]:
    capsys.readouterr()
    code = main([*map(str, arguments), "--json", "-"])
    return code, json.loads(capsys.readouterr().out)


def test_the_starter_is_solved_to_proof(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, plan = answer(capsys, "solve", starter)
    assert code == 0
    assert list(plan) == PLAN_KEYS
    assert plan["status"] == "optimal"
    assert plan["objective"]["gap"] == 0
    assert plan["workloads"][0]["end"] <= "2027-10-17"
    assert [file["path"].rsplit("/", 1)[-1] for file in plan["provenance"]["inputs"]][:2] == [
        "scenario.yaml",
        "examples.yaml",
    ]


def test_a_saved_plan_verifies_until_an_input_or_a_number_changes(
    starter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "plan.json"
    assert main(["solve", str(starter), "--quiet", "--json", str(saved)]) == 0
    code, result = answer(capsys, "verify", saved)
    assert (code, result) == (0, {"ok": True, "breaches": [], "changed_inputs": [], "not_found": []})
    plan = json.loads(saved.read_text(encoding="utf-8"))
    plan["cost"]["total"] += 1
    saved.write_text(json.dumps(plan), encoding="utf-8")
    code, result = answer(capsys, "verify", saved)
    assert code == 6
    assert result["breaches"]


def test_a_plan_verifies_from_any_folder_and_tells_missing_from_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "s", "--quiet"]) == 0
    saved = tmp_path / "s" / "plan.json"
    assert main(["solve", "s/scenario.yaml", "--quiet", "--json", str(saved)]) == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    _, result = answer(capsys, "verify", saved)
    assert (result["ok"], result["changed_inputs"], result["not_found"]) == (True, [], [])
    moved = elsewhere / "plan.json"
    moved.write_text(saved.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "s" / "scenario.yaml").write_text("changed", encoding="utf-8")
    _, result = answer(capsys, "verify", saved)
    assert (result["ok"], result["changed_inputs"], result["not_found"]) == (True, ["s/scenario.yaml"], [])
    (tmp_path / "s" / "scenario.yaml").unlink()
    code, result = answer(capsys, "verify", moved)
    assert (code, result["ok"], result["changed_inputs"]) == (0, True, [])
    assert result["not_found"] == ["s/scenario.yaml"]


def test_too_little_of_everything_is_infeasible(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, plan = answer(capsys, "solve", starter, "--set", "budget.total=1000")
    assert code == 3
    assert plan["status"] == "infeasible"
    assert [limit["name"] for limit in plan["conflict"]["limits"]] == ["budget"]


def test_compare_gives_a_row_for_each_platform(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, result = answer(capsys, "compare", starter)
    rows = {row["platform"]: row for row in result["rows"]}
    assert code == 0
    assert rows["h200-sxm"]["status"] == "optimal"
    assert rows["h100-sxm"]["status"] == "rejected"
    assert rows["h100-sxm"]["rejection"]["limit"] == "offer"
    assert set(rows["h200-sxm"]) == {
        "platform", "status", "total", "npv", "finish", "nodes", "accelerators", "layout", "binding", "rejection",
        "objective", "unit",
    }  # fmt: skip
    assert isinstance(rows["h200-sxm"]["binding"], list)
    assert (rows["h200-sxm"]["objective"], rows["h200-sxm"]["unit"]) == (rows["h200-sxm"]["npv"], "USD")
    assert "h800-sxm" not in rows


@pytest.mark.parametrize(
    ("status", "gap", "asked", "expected"),
    [
        ("optimal", 0, 0.0, 0),
        ("feasible", "0.03", 0.05, 0),
        ("feasible", "0.03", 0.0, 4),
        ("feasible", None, 0.5, 4),
        ("infeasible", None, 0.0, 3),
        ("unknown", None, 0.0, 5),
    ],
)
def test_exit_codes(status: str, gap: str | None, asked: float, expected: int) -> None:
    objective = {"kind": "cost", "value": 100, "bound": 97, "gap": gap, "currency": "USD", "unit": "USD"}
    assert exit_code(example_plan(status=status, objective=objective), asked) == expected


def test_commands_to_paste_keep_the_changes(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is printed asks the question that was asked, quoted for a shell."""
    changes = ["workloads={train: {architecture: llama-3-1-8b}}", "budget.total=1"]
    limit = changes[1:]
    assert main(["solve", str(starter), *(word for change in limit for word in ("--set", change))]) == 3
    assert f"clusterbuy explain {starter} --set budget.total=1" in capsys.readouterr().out.replace("\n", " ")
    assert ScenarioOptions(sets=changes).question(Path("s.yaml")) == (
        "s.yaml --set 'workloads={train: {architecture: llama-3-1-8b}}' --set budget.total=1"
    )
