"""The command line in one process: exit codes, streams, messages and the keys of the JSON."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from optimizer.cli.main import main
from optimizer.version import __version__

COMMANDS = [
    "init",
    "check",
    "solve",
    "compare",
    "layouts",
    "predict",
    "backtest",
    "calibrate",
    "catalog",
    "verify",
    "schema",
]
JOB = (
    "--architecture", "llama-3-1-8b", "--platform", "h200-sxm", "--accelerators", "32",
    "--sequence-length", "8192", "--global-batch", "512",
)  # fmt: skip


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe of the usual width, whatever the terminal that runs the tests."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def starter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["init", str(tmp_path / "start"), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    return tmp_path / "start" / "scenario.yaml"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    streams = capsys.readouterr()
    return code, streams.out, streams.err


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"clusterbuy {__version__}\n", "")
    code, out, _ = run(capsys)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines() if line.startswith("  ") and line.split()[0] in COMMANDS]
    assert all(f"\n  {name} " in out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_json_and_quiet(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, _ = run(capsys, name, "--help")
    assert code == 0
    assert "--json FILE|-" in out
    assert "--quiet" in out


@pytest.mark.parametrize("name", ["check", "solve", "compare"])
def test_commands_on_a_scenario_take_the_shared_options(capsys: pytest.CaptureFixture[str], name: str) -> None:
    _, out, _ = run(capsys, name, "--help")
    for option in (
        "--set KEY=VALUE",
        "--library DIR",
        "--seed",
        "--workers",
        "--jobs",
        "--time-limit S",
        "--gap",
        "--solver",
    ):
        assert option in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["slove"], "No such command 'slove'. Did you mean 'solve'?"),
        (["solve"], "Missing argument 'SCENARIO'. See clusterbuy solve --help."),
        (["solve", "a.yaml", "--jsn", "x"], "No such option"),
        (["solve", "a.yaml", "--gap", "5"], '"5" is over 100 %; write 0.05 or 5%'),
        (["solve", "a.yaml", "--gap", "150%"], '"150%" is over 100 %'),
        (["solve", "a.yaml", "--gap", "nan"], '"nan" is not a share'),
        (["solve", "a.yaml", "--gap", "-1"], '"-1" is not a share'),
        (["solve", "a.yaml", "--gap", "x"], '"x" is not a share'),
        (["solve", "a.yaml", "--time-limit", "0"], '"0" is not a number of seconds above 0'),
        (["solve", "a.yaml", "--time-limit", "inf"], '"inf" is not a number of seconds above 0'),
        (["solve", "a.yaml", "--workers", "0"], "workers"),
        (["solve", "a.yaml", "--seed", "-1"], "seed"),
        (["solve", "a.yaml", "--solver", "best"], "best"),
        (["catalog", "platfrms"], "'platfrms' is not one of 'platforms', 'architectures', 'quotes'"),
        (["catalog", "platforms", "b200"], 'no platform named "b200". Did you mean "b200-hgx"?'),
        (["schema", "plans"], "'plans' is not one of"),
        (["check", "a.yaml", "--set"], "--set"),
        (["check", "a.yaml", "--library", "/nowhere"], "/nowhere: no data folder"),
        (["check", "nothing.yaml"], "nothing.yaml: there is no such file"),
        (["verify", "nothing.json"], "nothing.json: there is no such file"),
        (["backtest", "nothing.csv"], "nothing.csv"),
        (["layouts", "--platform", "h200-sxm"], "Missing option"),
    ],
)
def test_bad_usage_is_exit_2_with_one_message(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err
    assert "bug" not in err


def test_errors_are_json_where_json_was_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = {
        "location": "no.yaml",
        "found": "there is no such file",
        "expected": "",
        "fix": "Check the name and the folder you are in",
    }
    code, out, err = run(capsys, "solve", "no.yaml", "--json", "-")
    assert code == 2
    assert json.loads(out) == {"error": {"kind": "input", "problems": [expected]}}
    assert "no such file" in err
    run(capsys, "solve", "no.yaml", f"--json={tmp_path / 'e.json'}")
    assert json.loads((tmp_path / "e.json").read_text(encoding="utf-8"))["error"]["kind"] == "input"
    _, out, _ = run(capsys, "solve", "--nonsense", "--json", "-")
    assert json.loads(out)["error"]["kind"] == "input"


def test_a_json_file_that_cannot_be_written_is_told(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "check", starter, "--json", starter.parent / "none" / "x.json")
    assert code == 2
    assert "cannot be written (No such file or directory)" in err


def test_init_writes_a_starter_that_checks_and_refuses_to_overwrite(
    starter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sorted(path.name for path in starter.parent.rglob("*.yaml")) == ["examples.yaml", "scenario.yaml"]
    code, _, err = run(capsys, "init", starter.parent)
    assert code == 2
    assert err.count("it exists already") == 2
    code, out, err = run(capsys, "check", starter)
    assert (code, err) == (0, "")
    assert "orchard-17 / node" in out


def test_init_into_a_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f").write_text("", encoding="utf-8")
    code, _, err = run(capsys, "init", tmp_path / "f" / "g")
    assert code == 2
    assert "cannot be made" in err


def test_check_json_has_the_keys_of_the_contract(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "check", starter, "--json", "-", "--set", "fx={date: 2026-01-01, base: USD, rates: {}}")
    data = json.loads(out)
    assert set(data) == {"understood", "warnings"}
    assert set(data["warnings"][0]) == {"location", "found", "why", "amounts"}
    assert any(warning["found"] == "rates of 2026-01-01" for warning in data["warnings"])
    assert data["understood"]["offers"][0]["price_per_accelerator"] == 2.45


def test_check_takes_several_scenarios_and_tells_all_their_problems(
    starter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "check", starter, starter, "--json", "-")
    assert len(json.loads(out)["checks"]) == 2
    code, _, err = run(capsys, "check", starter, "a.yaml", "b.yaml")
    assert code == 2
    assert "a.yaml: there is no such file" in err
    assert "b.yaml: there is no such file" in err


def test_quiet_prints_nothing(starter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "check", starter, "--quiet") == (0, "", "")


def test_json_to_a_file_keeps_the_screen(starter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", starter, "--json", tmp_path / "c.json")
    assert code == 0
    assert "horizon to 2029-11-29" in out
    assert json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))["understood"]["currency"] == "USD"


def test_piped_screens_have_no_colour_and_no_trailing_blanks(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "catalog", "platforms")
    assert "\x1b" not in out
    assert all(line == line.rstrip() for line in out.splitlines())


def test_catalog_lists_and_shows(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "catalog", "--json", "-")
    data = json.loads(out)
    assert set(data) == {"platforms", "architectures", "quotes"}
    assert {"h200-sxm", "b200-hgx"} <= {record["id"] for record in data["platforms"]}
    _, out, _ = run(capsys, "catalog", "platforms", "h200-sxm", "--json", "-")
    assert json.loads(out)["memory_bytes"] == 150_754_820_096
    _, out, _ = run(capsys, "catalog", "architectures", "llama-3-1-8b")
    assert "layers: 32" in out


def test_catalog_of_an_extra_library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "models" / "platforms"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text(
        "id: mine\nvendor: Us\naccelerators_per_node: 4\nacquisition: []\n", encoding="utf-8"
    )
    _, out, _ = run(capsys, "catalog", "platforms", "mine", "--library", tmp_path)
    assert "vendor: Us" in out


@pytest.mark.parametrize("record", ["scenario", "quote", "platform", "architecture", "plan"])
def test_schema_is_json_on_stdout_or_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], record: str) -> None:
    code, out, _ = run(capsys, "schema", record)
    assert code == 0
    assert json.loads(out)["type"] == "object"
    assert run(capsys, "schema", record, "--json", tmp_path / "s.json") == (0, "", "")
    assert json.loads((tmp_path / "s.json").read_text(encoding="utf-8")) == json.loads(out)


def test_layouts_json_has_the_keys_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "layouts", *JOB, "--top", 3, "--json", "-")
    data = json.loads(out)
    assert code == 0
    assert set(data) == {"rows", "evaluated", "fitting", "tied", "wall_s", "nothing_fits"}
    assert len(data["rows"]) == 3
    assert set(data["rows"][0]) == {
        "nodes", "accelerators", "layout", "step_time_s", "tokens_per_s_per_accelerator", "mfu", "memory_gb",
        "memory_limit_gb", "headroom_gb", "verdict", "memory", "time",
    }  # fmt: skip
    assert data["rows"][0]["step_time_s"] <= data["rows"][1]["step_time_s"]


def test_near_drops_slower_layouts(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "layouts", *JOB, "--top", 50, "--near", "3%", "--json", "-")
    times = [row["step_time_s"] for row in json.loads(out)["rows"]]
    assert max(times) <= min(times) * 1.03 + 1e-9


def test_predict_fills_the_replicas_and_agrees_with_layouts(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "layouts", *JOB, "--top", 1, "--json", "-")
    best = json.loads(out)["rows"][0]
    layout = best["layout"]
    flags = [
        f"--{name.replace('_', '-')}={layout[name]}"
        for name in layout
        if name not in ("data_parallel", "global_batch", "precision", "sequence_parallel")
    ]
    flags.append("--sequence-parallel" if layout["sequence_parallel"] else "--no-sequence-parallel")
    _, out, _ = run(capsys, "predict", *JOB, *flags, "--json", "-")
    row = json.loads(out)
    assert row["layout"] == layout
    assert row["step_time_s"] == pytest.approx(best["step_time_s"])
    assert sum(row["time"].values()) == pytest.approx(row["step_time_s"])


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--tensor-parallel", "3"], "TP 3 x PP 1 x CP 1 x DP 10 = 30 accelerators. Expected 32"),
        (["--tensor-parallel", "3"], "32 heads not divisible by TP 3"),
        (["--data-parallel", "5"], "5"),
        (["--precision", "fp9"], "fp9"),
        (["--recompute", "some"], "some"),
    ],
)
def test_illegal_layouts_are_refused_with_the_numbers(
    capsys: pytest.CaptureFixture[str], flags: list[str], message: str
) -> None:
    code, out, err = run(capsys, "predict", *JOB, *flags)
    assert (code, out) == (2, "")
    assert message in err


def test_unknown_ids_of_layouts_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [word.replace("llama-3-1-8b", "llama-3-1-8").replace("h200-sxm", "h200-sxn") for word in JOB]
    code, _, err = run(capsys, "layouts", *arguments)
    assert code == 2
    assert "h200-sxn" in err or "llama-3-1-8" in err


def test_backtest_writes_one_line_per_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = tmp_path / "rows.csv"
    code, out, _ = run(capsys, "backtest", "tests/data/runs.csv", "--out", rows, "--json", "-")
    data = json.loads(out)
    assert code == 0
    assert {"rows", "scored", "skipped", "step_time", "memory", "coverage", "by", "ranking"} <= set(data)
    with rows.open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert len(written) == data["rows"]
    assert list(written[0]) == [
        "run_id", "predicted_step_time_s", "low_s", "high_s", "step_time_error", "predicted_memory_gb",
        "memory_error", "fits", "evidence", "skipped_reason",
    ]  # fmt: skip


def test_a_bug_is_told_as_one(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from optimizer.cli import main as module

    monkeypatch.setattr(module, "get_command", lambda _: 1 / 0)
    code, out, err = run(capsys, "catalog", "--json", "-")
    assert code == 1
    assert "a bug: ZeroDivisionError in test_commands.py" in err
    assert "Please report it" in err
    assert json.loads(out)["error"]["kind"] == "internal"


def test_catalogued_quotes_are_written_as_people_write_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        folder = tmp_path / "quotes" / name
        folder.mkdir(parents=True)
        (folder / "x.yaml").write_text(
            "quote: unique-7\nvendor: V\nkind: list\ncurrency: USD\n"
            "offers: {n: {type: purchase, platform: h200-sxm, per: node, price: 20e4 EUR}}\n",
            encoding="utf-8",
        )
    _, out, _ = run(capsys, "catalog", "quotes", "unique-7", "--library", tmp_path, "--json", "-")
    quote = json.loads(out)
    assert quote["offers"]["n"]["price"] == "200000 EUR"
    assert quote["payment"][0]["share"] == 1
    code, out, _ = run(capsys, "catalog", "quotes", "quotes/b/unique-7", "--library", tmp_path)
    assert code == 0
    assert "vendor: V" in out


def test_markup_in_a_name_is_shown_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "models" / "platforms"
    folder.mkdir(parents=True)
    text = 'id: mine\nvendor: "[red]Us[/red]"\naccelerators_per_node: 4\nacquisition: []\n'
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    _, out, _ = run(capsys, "catalog", "platforms", "--library", tmp_path)
    assert "[red]Us[/red]" in out
