"""The analysis commands: exit codes, keys of the JSON, results kept in plan files."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest

from optimizer.analysis.kept import analyses_of
from optimizer.cli.main import main
from optimizer.io.plans import read_plan
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


@pytest.fixture
def saved(scenario: Path, tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    assert main(["solve", str(scenario), "--quiet", "--json", str(path)]) == 0
    return path


ASKED: dict[str, list[list[str]]] = {
    "compare": [[]],
    "alternatives": [["--within", "20%"]],
    "explain": [["--worth"], ["--vendor", "Bob"]],
    "pareto": [[]],
    "sensitivity": [["--grid", "price.ada,price.bob"]],
    "breakeven": [["--platform", "h100-sxm"], ["--quote", "ada"]],
    "risk": [["--samples", "40"]],
}
"""Command -> the ways it is asked."""


def test_every_analysis_is_kept_in_the_plan_as_its_command_writes_it(
    scenario: Path, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {
        command: [answer(capsys, command, scenario, "--plan", saved, *arguments)[1] for arguments in ways]
        for command, ways in ASKED.items()
    }
    kept = json.loads(saved.read_text(encoding="utf-8"))["analyses"]
    assert list(kept) == ["baselines", *ASKED]
    del kept["baselines"]
    lists = ("explain", "breakeven")
    assert {command: found if command in lists else [found] for command, found in kept.items()} == answers
    typed = analyses_of(read_plan(saved))
    assert typed.pareto is not None
    assert [item.subject for item in typed.breakeven] == ["platform h100-sxm", "quote ada"]
    assert answer(capsys, "verify", saved)[0] == 0


def test_asked_again_the_new_answer_takes_the_place_of_the_old(scenario: Path, saved: Path) -> None:
    for bound in ("2", "3"):
        command = ["breakeven", str(scenario), "--quote", "ada", "--to", bound, "--quiet", "--plan", str(saved)]
        assert main(command) == 0
    (kept,) = analyses_of(read_plan(saved)).breakeven
    assert kept.bounds[1] == 300_000


@pytest.mark.parametrize(
    ("more", "words"), [(["--set", "horizon_months=11"], "--plan, --set"), ([], "--plan, {folder}/quotes/ada.yaml")]
)
def test_a_plan_of_other_inputs_keeps_no_answer(
    scenario: Path, saved: Path, more: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if not more:
        quote = scenario.parent / "quotes" / "ada.yaml"
        quote.write_text(quote.read_text(encoding="utf-8").replace("100000", "99000"), encoding="utf-8")
    before = saved.read_bytes()
    code, result = answer(capsys, "risk", scenario, "--plan", saved, *more)
    assert code == 2
    locations = [problem["location"] for problem in result["error"]["problems"]]
    assert words.format(folder=scenario.parent) in locations
    assert saved.read_bytes() == before


def test_analyses_of_another_form_are_named(scenario: Path, saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = json.loads(saved.read_text(encoding="utf-8"))
    saved.write_text(json.dumps(plan | {"analyses": {"pareto": {"points": 3}}}), encoding="utf-8")
    code, result = answer(capsys, "pareto", scenario, "--plan", saved)
    assert code == 2
    assert "analyses, pareto.points" in [problem["location"] for problem in result["error"]["problems"]]


def test_the_schema_of_a_plan_describes_its_analyses(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["schema", "plan"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert set(schema["properties"]["analyses"]["properties"]) == {*ASKED, "baselines"}
    assert {"Pareto", "Breakeven", "Switch", "Sensitivity", "Risk", "Worth", "Alternatives"} <= set(schema["$defs"])
    assert set(schema["$defs"]["Breakeven"]["properties"]) >= {"quote", "price", "basis", "holds", "switches", "curve"}
    references = re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema))
    assert set(references) <= set(schema["$defs"])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_are_written_as_a_table(scenario: Path, tmp_path: Path, ending: str) -> None:
    table = tmp_path / f"rows.{ending}"
    assert main(["risk", str(scenario), "--samples", "20", "--quiet", "--rows", str(table)]) == 0
    frame = pd.read_csv(table) if ending == "csv" else pd.read_parquet(table)
    assert list(frame.columns) == [
        "plan", "details.platform", "details.vendors", "details.awards", "details.nodes", "details.finish",
        "p_deadline", "p_budget", "cost.p10", "cost.p50", "cost.p90", "mean", "regret", "max_regret", "p_best",
    ]  # fmt: skip
    assert len(frame)
    assert frame["p_budget"].isna().all()


def test_rows_of_the_tornado_are_a_table(scenario: Path, tmp_path: Path) -> None:
    table = tmp_path / "rows.parquet"
    assert main(["sensitivity", str(scenario), "--quiet", "--rows", str(table)]) == 0
    frame = pd.read_parquet(table)
    policy = frame[frame["input"] == "after_run.policy"].iloc[0]
    assert pd.isna(policy["low"])
    assert {option["value"] for option in json.loads(policy["options"])} == {"idle", "off", "sell"}
    assert set(frame["decision_low.platform"]) == {"h100-sxm"}


def test_a_table_that_cannot_be_written_is_refused_before_any_solve(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, result = answer(capsys, "risk", scenario, "--samples", 10**9, "--rows", tmp_path / "rows.txt")
    assert code == 2
    assert "Expected .csv or .parquet" in result["error"]["problems"][0]["expected"]


def test_without_the_extra_parquet_is_refused_with_what_to_install(scenario: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None; from optimizer.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    command = ["risk", str(scenario), "--samples", str(10**9), "--rows", str(tmp_path / "rows.parquet")]
    found = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "pip install 'clusterbuy[parquet]'" in found.stderr


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
        (["pareto"], "every point proven and checked"),
        (["breakeven", "--quote", "ada"], "h100-sxm from Bob"),
        (["sensitivity"], "inputs change nothing"),
        (["risk", "--samples", "40"], "Worth knowing before signing"),
    ):
        name, *more = command
        assert main([name, str(scenario), *more]) == 0
        assert words in " ".join(capsys.readouterr().out.split())


def started_until_rows(command: list[str], store: Path) -> subprocess.Popen[bytes]:
    """Start a sweep and return when its first rows are kept."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    while not store.exists() or store.read_text(encoding="utf-8").count("\n") < 3:
        assert process.poll() is None
        time.sleep(0.02)
    return process


def children(process: subprocess.Popen[bytes]) -> set[int]:
    return {child.pid for child in psutil.Process(process.pid).children(recursive=True)}


@pytest.mark.parametrize(
    ("jobs", "how", "code"), [(1, signal.SIGKILL, -9), (2, signal.SIGINT, 130), (2, signal.SIGKILL, -9)]
)
def test_a_run_that_was_stopped_goes_on_and_says_the_same(
    scenario: Path, tmp_path: Path, jobs: int, how: signal.Signals, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Killed or interrupted: what is done is kept, no process is left behind."""
    store = tmp_path / "results.jsonl"
    question = ["risk", str(scenario), "--samples", "900"]
    command = [
        sys.executable,
        "-m",
        "optimizer.cli",
        *question,
        "--quiet",
        "--jobs",
        str(jobs),
        "--results",
        str(store),
    ]
    process = started_until_rows(command, store)
    left = children(process)
    process.send_signal(how)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == code
    assert b"Traceback" not in errors
    assert (b"is kept in" in errors) == (how is signal.SIGINT)
    _, alive = psutil.wait_procs([psutil.Process(pid) for pid in left if psutil.pid_exists(pid)], timeout=10)
    assert not alive
    before = store.read_text(encoding="utf-8").count("\n")
    assert before < 1 + 900 / 50
    resumed, whole = (answer(capsys, *question, *more)[1] | {"wall_s": 0} for more in (["--results", store], []))
    assert resumed == whole


def test_a_terminal_shows_rate_and_time_left(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        assert main(["risk", str(scenario), "--samples", "150", "--json", os.devnull]) == 0
        terminal.flush()
        shown = os.read(master, 10_000).decode()
    os.close(master)
    assert [text[:6] for text in shown.split("\r\x1b[K")[1:]] == ["1 of 3", "2 of 3", "3 of 3"]
    assert re.search(r"1 of 3, \d+\.\d per second, \d+ s left", shown)


@pytest.mark.slow
def test_the_headline_switches_where_solving_again_on_both_sides_says(capsys: pytest.CaptureFixture[str]) -> None:
    headline = shipped("scenarios") / "dense-500b.yaml"
    code, found = answer(capsys, "breakeven", headline, "--platform", "b200-hgx")
    assert code == 0
    assert found["switches"]
    assert all(switch["verified"] for switch in found["switches"])
    assert found["holds"][0] < found["price"] < found["holds"][1]
