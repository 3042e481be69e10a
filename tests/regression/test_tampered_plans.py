"""One number of a plan file is edited, each in turn: ``verify`` finds it, whichever it is."""

from __future__ import annotations

import copy
import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import optimizer as cb
from optimizer.api import inputs_of
from optimizer.cli.main import main
from optimizer.errors import InputError
from optimizer.io.json_text import plan_json
from optimizer.io.plans import read_plan
from optimizer.io.scenario import reload_scenario
from optimizer.solver.check import Facts, check
from optimizer.solver.planner import Inputs, Modes
from optimizer.solver.replay import replay_breaches

ROOT = Path(__file__).parents[2]
MEASURED = {"solve.wall_s", "solve.seed", "solve.workers"}
"""How it was solved, not what: nothing follows from them."""

SOLVED = {"analyses.baselines.total"}
"""Needs the plan of the baseline, which is not kept; its objective and difference are checked."""

Path_ = tuple[str | int, ...]


def leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from leaves(item, (*path, position))
    else:
        yield path, value


def named(path: Path_) -> str:
    return ".".join(key for key in path if isinstance(key, str))


def edited(record: dict[str, Any], path: Path_, value: Any) -> dict[str, Any]:
    found = copy.deepcopy(record)
    place: Any = found
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return found


class Verifier:
    """``verify`` without reading the inputs again for every edit."""

    def __init__(self, scenario: str, folder: Path) -> None:
        self.record = json.loads(plan_json(cb.solve(ROOT / "scenarios" / f"{scenario}.yaml")))
        self.file = folder / "plan.json"
        self.known = Modes()
        loaded = reload_scenario(self._plan(self.record).provenance.inputs)
        self.inputs: Inputs = inputs_of(loaded)
        library = loaded.library
        self.facts = Facts(loaded.scenario, library.platforms, library.architectures, loaded.quotes)

    def _plan(self, record: dict[str, Any]) -> cb.Plan:
        self.file.write_text(json.dumps(record), encoding="utf-8")
        return read_plan(self.file)

    def accepts(self, record: dict[str, Any]) -> bool:
        try:
            plan = self._plan(record)
        except InputError:
            return False
        return not check(plan, self.facts) and not any(replay_breaches(plan, self.inputs, self.known))


@pytest.fixture(scope="module", params=["lab-7b", "midsize-12b"])
def verifier(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Verifier:
    return Verifier(request.param, tmp_path_factory.mktemp("plans"))


def test_every_edited_number_is_found(verifier: Verifier) -> None:
    assert verifier.accepts(verifier.record)
    numbers = [(path, value) for path, value in leaves(verifier.record) if type(value) in (int, float)]
    assert len(numbers) > 80
    changed = {
        named(path)
        for path, value in numbers
        if verifier.accepts(edited(verifier.record, path, value + 1 if isinstance(value, int) else value * 1.01 + 0.01))
    }
    assert changed <= MEASURED | SOLVED


def test_every_edited_date_is_found(verifier: Verifier) -> None:
    for path, value in leaves(verifier.record):
        if isinstance(value, str) and len(value) == 10 and value[4] == value[7] == "-":
            later = (dt.date.fromisoformat(value) + dt.timedelta(days=1)).isoformat()
            held = verifier.accepts(edited(verifier.record, path, later))
            assert not held or named(path) == "analyses.baselines.finish", path


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("status",), "feasible"),
        (("rejections", 0, "reason"), "it was too dear"),
        (("rejections", 0, "limit"), "budget"),
        (("workloads", 0, "evidence"), "target_workload"),
        (("workloads", 0, "layout", "recompute"), "full"),
        (("awards", 0, "vendor"), "Somebody"),
        (("cost", "lines", 0, "item"), "gift"),
        (("objective", "kind"), "time"),
    ],
)
def test_edited_words_are_found(verifier: Verifier, path: Path_, value: Any) -> None:
    assert not verifier.accepts(edited(verifier.record, path, value))


def test_removed_rejections_and_an_award_too_many_are_found(verifier: Verifier) -> None:
    record = verifier.record
    assert not verifier.accepts(record | {"rejections": record["rejections"][1:]})
    assert not verifier.accepts(record | {"awards": record["awards"] * 2})
    assert not verifier.accepts(record | {"awards": []})


def test_the_command_says_so_and_ends_with_6(verifier: Verifier, capsys: pytest.CaptureFixture[str]) -> None:
    record = edited(verifier.record, ("workloads", 0, "mfu"), 0.9)
    verifier.file.write_text(json.dumps(record), encoding="utf-8")
    assert main(["verify", str(verifier.file)]) == 6
    assert "mfu" in capsys.readouterr().out
    content = edited(verifier.record, ("provenance", "inputs", 0, "content"), verifier.record["provenance"]["inputs"][0]["content"] + "\n")  # fmt: skip
    verifier.file.write_text(json.dumps(content), encoding="utf-8")
    assert main(["verify", str(verifier.file)]) == 6
    assert "is not the one that was hashed" in capsys.readouterr().out


def test_a_plan_that_claims_an_impossible_demand_is_held_against_it(tmp_path: Path) -> None:
    plan = cb.solve(ROOT / "scenarios" / "midsize-12b.yaml", sets=["budget.total=9"])
    loaded = reload_scenario(plan.provenance.inputs)
    assert plan.conflict is not None
    assert not list(replay_breaches(plan, inputs_of(loaded)))
    (limit,) = plan.conflict.limits
    other = plan.conflict.model_copy(update={"limits": (limit.model_copy(update={"needed": limit.available}),)})
    found = list(replay_breaches(plan.model_copy(update={"conflict": other}), inputs_of(loaded)))
    assert {breach.limit_or_number for breach in found} == {"conflict"}
