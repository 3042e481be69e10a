"""Infeasible is printed only when two solvers say so (google/or-tools issues 5274 and 5295: false infeasible)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from optimizer.cli.main import main
from optimizer.solver.backend import Settings
from optimizer.solver.found import SolverName
from tests.unit.cost.world import frame, purchase, quote, site, stated, workload
from tests.unit.solver.deciding import decided
from tests.unit.solver.faults import inject, says


@pytest.fixture
def starter(tmp_path: Path) -> str:
    assert main(["init", str(tmp_path / "s"), "--quiet"]) == 0
    return str(tmp_path / "s" / "scenario.yaml")


def test_a_disagreement_is_a_bug_and_no_answer(
    starter: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1, the words say who contradicts whom, and no plan and no conflict is printed."""
    inject(monkeypatch, says("infeasible"))
    assert main(["solve", starter, "--json", "-"]) == 1
    said = capsys.readouterr()
    assert "cp-sat calls the scenario infeasible, highs finds a plan: no answer is given" in said.err
    answer = json.loads(said.out)
    assert list(answer) == ["error"]
    assert answer["error"]["kind"] == "internal"
    assert "No plan meets every limit" not in said.err


def test_a_limit_without_a_plan_has_its_own_exit_code(
    starter: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    inject(monkeypatch, says("unknown"))
    assert main(["solve", starter, "--json", "-"]) == 5
    answer = json.loads(capsys.readouterr().out)
    assert (answer["status"], answer["conflict"]) == ("unknown", None)


@pytest.mark.parametrize("solver", ["cp-sat", "highs"])
@pytest.mark.parametrize("workers", [1, 2, 8, 12])
def test_more_threads_do_not_make_a_scenario_infeasible(solver: SolverName, workers: int) -> None:
    """60 at most fit in the hall, 64 would be cheaper: a budget just met, and one cent less."""
    for cents, status in ((0, "optimal"), (1, "infeasible")):
        world = frame(
            quote(purchase({"all_units": {1: 100, 64: 90}})),
            workloads=workload(stated(60, 30), stated(70, 20)),
            sites={"hall": site(zones={"a": {"racks": 60, "kw_per_rack": 10, "cooling": "air"}})},
            budget={"total": 6000 - cents / 100},
        )
        assert decided(world, solver, Settings(workers=workers)).status == status
