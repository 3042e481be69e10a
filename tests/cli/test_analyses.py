"""The analysis commands: exit codes, keys of the JSON, results kept in plan files."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from optimizer.cli.main import main
from optimizer.io.shipped import shipped
from tests.unit.analysis.small import small

Json = dict[str, object]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    small(tmp_path)
    return tmp_path / "small.yaml"


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, Json]:
    capsys.readouterr()
    code = main([*map(str, arguments), "--json", "-"])
    return code, json.loads(capsys.readouterr().out)


def test_pareto(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, front = answer(capsys, "pareto", scenario)
    assert code == 0
    assert [{key: point[key] for key in ("finish", "total", "nodes", "platform")} for point in front["points"]] == [
        {"finish": "2027-03-22", "total": 2_000_000, "nodes": 20, "platform": "h100-sxm"},
        {"finish": "2027-05-11", "total": 1_000_000, "nodes": 10, "platform": "h100-sxm"},
    ]


def test_breakeven(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer(capsys, "breakeven", scenario, "--quote", "ada")
    assert code == 0
    assert {key: found[key] for key in ("quote", "price", "currency", "unit")} == {
        "quote": "ada", "price": 100_000, "currency": "USD", "unit": "node",
    }  # fmt: skip
    assert found["holds"] == [25_000, pytest.approx(120_000)]
    assert [switch["to"] for switch in found["switches"]] == [{"platform": "h100-sxm", "vendors": ["Bob"]}]
    code, found = answer(capsys, "breakeven", scenario, "--platform", "h100-sxm", "--from", 0.5, "--to", 2)
    assert (found["platform"], found["bounds"]) == ("h100-sxm", [50_000, 200_000])


def test_sensitivity(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer(capsys, "sensitivity", scenario, "--range", "price.ada=0.5:1.5")
    row = next(row for row in found["rows"] if row["input"] == "price.ada")
    assert (code, found["base"]) == (0, 1_000_000)
    keys = ("low", "high", "total_low", "total_high", "decision_low", "decision_high")
    assert [row[key] for key in keys] == [
        0.5, 1.5, 500_000, 1_200_000,
        {"platform": "h100-sxm", "vendors": ["Ada"]}, {"platform": "h100-sxm", "vendors": ["Bob"]},
    ]  # fmt: skip


@pytest.mark.parametrize("vary", ["prices", "all"])
def test_risk(scenario: Path, vary: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer(
        capsys, "risk", scenario, "--samples", 60, "--vary", vary, "--information-cost", "price.ada=500"
    )
    assert (code, found["samples"], found["failed"]) == (0, 60, 0)
    assert set(found["plans"][0]) >= {"plan", "p_deadline", "p_budget", "cost", "regret"}
    assert set(found["plans"][0]["cost"]) == {"p10", "p50", "p90"}
    own = next(item for item in found["information"] if item["about"] == "price.ada")
    assert own == {"about": "price.ada", "value": own["value"], "currency": "USD", "cost": 500}
    assert own["value"] >= 0


def test_an_analysis_is_kept_in_a_plan_which_still_verifies(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "plan.json"
    assert main(["solve", str(scenario), "--quiet", "--json", str(saved)]) == 0
    assert main(["pareto", str(scenario), "--quiet", "--plan", str(saved)]) == 0
    assert main(["breakeven", str(scenario), "--quote", "ada", "--quiet", "--plan", str(saved)]) == 0
    analyses = json.loads(saved.read_text(encoding="utf-8"))["analyses"]
    assert set(analyses) == {"baselines", "pareto", "breakeven ada"}
    assert len(analyses["pareto"]["points"]) == 2
    assert answer(capsys, "verify", saved)[0] == 0


def test_rows_are_written_as_a_table(scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "rows.csv"
    assert main(["risk", str(scenario), "--samples", "20", "--quiet", "--rows", str(table)]) == 0
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [set(row) >= {"plan", "mean", "regret"} for row in rows] == [True] * len(rows)
    assert rows
    code, result = answer(capsys, "risk", scenario, "--samples", 5, "--rows", tmp_path / "rows.txt")
    assert code == 2
    assert "Expected .csv or .parquet" in result["error"]["problems"][0]["expected"]


@pytest.mark.parametrize("command", [["pareto"], ["breakeven", "--quote", "ada"], ["sensitivity"], ["risk"]])
def test_without_a_plan_the_answer_is_that_of_solve(
    scenario: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    name, *more = command
    code, result = answer(capsys, name, scenario, *more, "--set", "budget.total=1000")
    assert (code, result["status"]) == (3, "infeasible")
    assert [limit["name"] for limit in result["conflict"]["limits"]] == ["budget"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["breakeven", "--quote", "ada", "--from", "NaN"], "multiple above 0"),
        (["breakeven", "--quote", "ada", "--from", "0"], "multiple above 0"),
        (["breakeven", "--quote", "nobody"], 'nothing named "nobody"'),
        (["sensitivity", "--range", "price.ada=2:1"], "low 2 is above high 1"),
        (["sensitivity", "--range", "price.ada=x:1"], "no name and two numbers"),
        (["risk", "--late-day", "NaN"], "amount of zero or more"),
        (["risk", "--samples", "0"], "greater than or equal to 1"),
    ],
)
def test_bad_usage_is_refused(
    scenario: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *more = arguments
    code, result = answer(capsys, name, scenario, *more)
    assert code == 2
    assert words in json.dumps(result["error"]["problems"], ensure_ascii=False).replace('\\"', '"')


def test_screens_name_what_matters(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command, words in (
        (["pareto"], "every point proven"),
        (["breakeven", "--quote", "ada"], "h100-sxm from Bob"),
        (["sensitivity"], "inputs change nothing"),
        (["risk", "--samples", "40"], "Worth knowing before signing"),
    ):
        name, *more = command
        assert main([name, str(scenario), *more]) == 0
        assert words in " ".join(capsys.readouterr().out.split())


def test_a_killed_run_resumes_and_says_the_same(scenario: Path, tmp_path: Path) -> None:
    store = tmp_path / "results.jsonl"
    command = [sys.executable, "-m", "optimizer.cli", "risk", str(scenario), "--samples", "2000", "--quiet"]
    whole, resumed = tmp_path / "whole.json", tmp_path / "resumed.json"
    process = subprocess.Popen([*command, "--results", str(store)])
    while not store.exists() or store.read_text(encoding="utf-8").count("\n") < 3:
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    subprocess.run([*command, "--results", str(store), "--json", str(resumed)], check=True)
    subprocess.run([*command, "--json", str(whole)], check=True)
    one, two = (json.loads(path.read_text(encoding="utf-8")) | {"wall_s": 0} for path in (whole, resumed))
    assert one == two


@pytest.mark.slow
def test_the_headline_switches_where_solving_again_on_both_sides_says(capsys: pytest.CaptureFixture[str]) -> None:
    headline = shipped("scenarios") / "dense-500b.yaml"
    code, found = answer(capsys, "breakeven", headline, "--platform", "b200-hgx")
    assert code == 0
    assert found["switches"]
    assert all(switch["verified"] for switch in found["switches"])
    assert found["holds"][0] < found["price"] < found["holds"][1]
