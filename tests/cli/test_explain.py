"""``explain``, ``alternatives`` and ``diff`` as scripts use them: exit codes, JSON keys, screens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from optimizer.cli.main import main


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("starter") / "s"
    assert main(["init", str(folder), "--quiet"]) == 0
    return folder / "scenario.yaml"


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = main([*map(str, arguments), "--json", "-"])
    return code, json.loads(capsys.readouterr().out)


def screen(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    capsys.readouterr()
    assert main([*map(str, arguments)]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_an_infeasible_scenario_answers_the_conflict_object(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer(capsys, "explain", starter, "--set", "budget.total=1000")
    assert code == 0
    assert list(found)[:4] == ["limits", "minimal", "relaxations", "joint"]
    assert list(found["limits"][0])[:5] == ["name", "needed", "available", "unit", "period"]
    (change,) = found["relaxations"]
    assert list(change) == ["limit", "from", "to", "unit", "set", "verified"]
    assert (change["limit"], change["from"], change["verified"]) == ("budget", 1000, True)
    assert main(["solve", str(starter), "--quiet", "--set", change["set"]]) == 0


def test_the_screen_has_cause_and_cure(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = screen(capsys, "explain", starter, "--set", "budget.total=1000")
    assert "No plan meets every limit" in text
    assert "--set budget.total=" in text
    pinned = screen(capsys, "explain", starter, "--set", "budget.total=1000", "--pin", "budget")
    assert "--set" not in pinned
    assert "budget may not change" in pinned


def test_a_question_answers_with_the_contract_keys(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer(capsys, "explain", starter, "--vendor", "Lagoon Cloud (invented)")
    assert code == 0
    keys = ["question", "answer", "gap", "gap_lines", "rejection", "would_win_if"]
    assert list(found)[: len(keys)] == keys
    assert found["answer"] in ("chosen", "rejected", "dearer")
    code, found = answer(capsys, "explain", starter, "--platform", "h100-sxm")
    assert (found["answer"], found["rejection"]["limit"], found["gap"]) == ("rejected", "offer", None)
    assert "no quote offers it" in screen(capsys, "explain", starter, "--platform", "h100-sxm")


def test_a_gap_adds_up_on_paper(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for vendor in ("Lagoon Cloud (invented)", "Orchard Systems (invented)"):
        _, found = answer(capsys, "explain", starter, "--vendor", vendor)
        if found["answer"] == "dearer":
            assert round(sum(line["delta"] for line in found["gap_lines"]), 2) == found["gap"]
            assert list(found["would_win_if"][0])[:4] == ["what", "from", "to", "unit"]
            return
    pytest.fail("neither vendor is dearer")


def test_the_plan_itself(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, found = answer(capsys, "explain", starter, "--worth")
    assert (found["question"], found["answer"]) == ("plan", "chosen")
    assert {"memory", "batch", "deadline", "spares", "chosen"} <= {need["limit"] for need in found["nodes"]}
    assert {"power", "racks", "budget", "deadline"} <= {item["limit"] for item in found["worth"]}
    assert "Why this many nodes" in screen(capsys, "explain", starter)


def test_a_name_nobody_has_is_bad_input(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(starter), "--platform", "h20-sxm"]) == 2
    assert 'Did you mean "h200-sxm"?' in capsys.readouterr().err
    assert main(["explain", str(starter), "--pin", "memory"]) == 2


def test_alternatives(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer(capsys, "alternatives", starter, "--within", "20%")
    assert code == 0
    keys = {"total", "finish", "nodes", "platform", "vendors", "gives_up", "gains"}
    assert keys <= set(found["plans"][0])
    assert len(found["plans"]) > 1
    code, found = answer(capsys, "alternatives", starter, "--within", "5%", "--set", "budget.total=1000")
    assert (code, [limit["name"] for limit in found["limits"]]) == (3, ["budget"])


def test_diff(starter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    assert main(["solve", str(starter), "--quiet", "--json", str(a)]) == 0
    assert main(["solve", str(starter), "--quiet", "--set", "after_run.policy=off", "--json", str(b)]) == 0
    code, found = answer(capsys, "diff", a, b)
    assert code == 0
    assert [item["path"] for item in found["inputs"]] == ["--set after_run.policy"]
    assert list(found["cost"][0]) == ["item", "a", "b", "delta"]
    totals = [json.loads(path.read_text())["cost"]["total"] for path in (a, b)]
    assert round(sum(line["delta"] for line in found["cost"]), 2) == round(totals[1] - totals[0], 2)
    assert "Inputs" in screen(capsys, "diff", a, b)


def test_a_quote_can_be_changed_by_set(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limit = "quotes.orchard-17.offers.node.units.max=0"
    _, found = answer(capsys, "solve", starter, "--set", limit)
    assert all(award["quote"] != "orchard-17" for award in found["awards"])
    assert main(["check", str(starter), "--set", "quotes.orchard.offers.node.units.max=0"]) == 2
    assert 'Did you mean "orchard-17"?' in capsys.readouterr().err
    assert main(["check", str(starter), "--set", "quotes.orchard-17.offers.node.unit.max=0"]) == 2
