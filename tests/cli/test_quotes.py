"""``quotes``: exit codes, what is written, questions on a terminal, and three vendors' sheets that become a plan."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from optimizer.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "quotes"
SHARED, INVENTED, THREE = DATA / "shared", DATA / "invented", DATA / "three-vendors"
TODAY = ("--today", "2026-11-30")


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    streams = capsys.readouterr()
    return code, streams.out, streams.err


@pytest.mark.parametrize("name", ["import", "show", "level", "template"])
def test_every_subcommand_takes_json_quiet_and_library(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, _ = run(capsys, "quotes", name, "--help")
    assert code == 0
    assert all(option in out for option in ("--json FILE|-", "--quiet", "--library DIR"))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("q01_distributor_per_unit.csv", 0),
        ("q03_formula_no_cache.xlsx", 0),
        ("q06_zh_bid_table.xlsx", 0),
        ("q09_quantity_breaks_staged.csv", 0),
        ("q10_cloud_capacity.csv", 0),
        ("q11_price_words.csv", 2),
        ("q13_revisions_arith_error.csv", 0),
        ("q17_same_items_on_two_sheets.xlsx", 0),
    ],
)
def test_safe_readings_are_exit_0_and_open_questions_exit_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, code: int
) -> None:
    out, answer = tmp_path / "out.yaml", tmp_path / "out.json"
    found, screen, _ = run(capsys, "quotes", "import", SHARED / name, "-o", out, "--json", answer, *TODAY)
    assert found == code
    assert "Warnings" in screen
    data = json.loads(answer.read_text(encoding="utf-8"))
    assert set(data) == {"quotes", "warnings", "questions", "ignored", "states"}
    assert set(data["warnings"][0]) == {"code", "location", "message"}
    assert {"status", "printed", "computed", "cell"} <= set(data["quotes"][0]["lines"][0])
    assert run(capsys, "quotes", "show", out, "--json", "-", *TODAY)[0] == 0
    assert any(question["to"] == "buyer" for question in data["questions"]) == (code == 2)


def test_json_on_stdout_is_the_object_and_nothing_else(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = run(
        capsys, "quotes", "import", SHARED / "q11_price_words.csv", "-o", tmp_path / "o.yaml", "--json", "-", *TODAY
    )
    assert code == 2
    assert len(json.loads(out)["quotes"][0]["lines"]) == 25
    assert "7 open questions: answer them in" in err


def test_open_questions_start_a_mapping_that_is_used_once_filled_in(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sheet, out = INVENTED / "05_ambiguous_thousands.csv", tmp_path / "quotes.yaml"
    assert run(capsys, "quotes", "import", sheet, "-o", out, "--quiet")[0] == 2
    mapping = tmp_path / "mappings" / "twofold.yaml"
    text = mapping.read_text(encoding="utf-8")
    assert "line 1" in text
    assert '#   "E4 1,234": ' in text.replace("E4 1,234: ", '"E4 1,234": ')
    mapping.write_text(
        'vendor: Twofold (invented)\ncells: {"E4 1,234": "1234", "E5 1.234": "1.234"}\n', encoding="utf-8"
    )
    code, _, _ = run(capsys, "quotes", "import", sheet, "-o", out, "--quiet", "--json", tmp_path / "o.json")
    lines = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["quotes"][0]["lines"]
    assert code == 0
    assert [line["price"] for line in lines] == [1234, 1.234, 12]
    other = tmp_path / "other.yaml"
    other.write_text("decimal: comma\n", encoding="utf-8")
    assert (
        run(capsys, "quotes", "import", sheet, "-o", out, "--mapping", other, "--quiet", "--json", tmp_path / "o.json")[
            0
        ]
        == 0
    )
    lines = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["quotes"][0]["lines"]
    assert [line["price"] for line in lines] == [1.234, 1234, 12]


def test_a_mapping_makes_capacity_plannable(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mapping = tmp_path / "m.yaml"
    mapping.write_text("platforms: {B-class GPU: b200-hgx, T-class chip: none}\n", encoding="utf-8")
    sheet = SHARED / "q10_cloud_capacity.csv"
    _, out, _ = run(
        capsys, "quotes", "import", sheet, "-o", tmp_path / "o.yaml", "--mapping", mapping, "--json", "-", *TODAY
    )
    offers = {name: offer for quote in json.loads(out)["quotes"] for name, offer in quote["offers"].items()}
    assert set(offers) == {"a", "b", "d"}
    assert offers["a"]["units"] == {"min": 128, "step": 1, "max": None}  # 1,024 accelerators in nodes of 8
    assert (offers["a"]["price"], offers["a"]["prepay"], offers["a"]["hours_per_month"]) == (2.35, 0.25, 730)
    assert offers["b"]["days"] == [{"to": 14, "step": 1}, {"to": 182, "step": 7}]
    assert (offers["d"]["take_or_pay"], offers["d"]["start"]) == (0.8, ["2027-04-01", "2027-06-30"])


def test_what_was_understood_as_markdown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "r.md"
    run(
        capsys,
        "quotes",
        "import",
        SHARED / "q13_revisions_arith_error.csv",
        "-o",
        tmp_path / "o.yaml",
        "--report",
        report,
        "--quiet",
        *TODAY,
    )
    text = report.read_text(encoding="utf-8")
    assert "valid until 2027-01-31, 62 days left" in text
    assert "| 2 | JH-N4 · 400G adapter | 12 | 9,850 | 118,200 | 118,000 | priced | F5 |" in text
    assert "| total | 1,247,750 | 1,247,750 | G10 |" in text
    assert "Total if paid by credit card" in text


def test_expired_quotes_are_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    sheet = SHARED / "q09_quantity_breaks_staged.csv"
    _, out, _ = run(capsys, "quotes", "import", sheet, "-o", tmp_path / "o.yaml", "--json", "-", *TODAY)
    states = {state["quote"]: (state["state"], state["days_left"]) for state in json.loads(out)["states"]}
    assert states["Q-2295"] == ("expired", -30)
    assert states["Q-2291"] == ("valid", 31)
    assert states["Q-2296"] == ("validity_unknown", None)


def test_files_that_cannot_be_read_are_told_together(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    code, out, err = run(
        capsys,
        "quotes",
        "import",
        tmp_path / "empty.csv",
        tmp_path / "none.csv",
        "-o",
        tmp_path / "o.yaml",
        "--json",
        "-",
    )
    assert code == 2
    assert [problem["found"] for problem in json.loads(out)["error"]["problems"]] == [
        "no table with an item and a price or quantity was found", "there is no such file",
    ]  # fmt: skip
    assert "empty.csv" in err
    assert not (tmp_path / "o.yaml").exists()


def test_show_writes_csv_xlsx_and_yaml_that_read_back_alike(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    first = tmp_path / "a.yaml"
    run(capsys, "quotes", "import", *sorted(THREE.iterdir()), "-o", first, "--quiet", *TODAY)
    texts = []
    for suffix in ("csv", "xlsx", "yaml"):
        between, last = tmp_path / f"b.{suffix}", tmp_path / f"c-{suffix}.yaml"
        assert run(capsys, "quotes", "show", first, "-o", between, "--quiet")[0] == 0
        assert run(capsys, "quotes", "show", between, "-o", last, "--quiet")[0] == 0
        texts.append(last.read_text(encoding="utf-8"))
    assert texts[0] == texts[1] == texts[2]
    assert run(capsys, "quotes", "show", first, "-o", tmp_path / "b.md", "--quiet")[0] == 0
    assert "# What was understood" in (tmp_path / "b.md").read_text(encoding="utf-8")


def test_a_template_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = run(capsys, "quotes", "template", "-o", tmp_path / "bid.csv")
    assert code == 0
    assert "send it to vendors" in out
    assert "Unit price,Price basis" in (tmp_path / "bid.csv").read_text(encoding="utf-8-sig")


def test_three_vendors_become_a_solved_plan_with_four_commands(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    demo = tmp_path / "demo"
    scenario, quotes = demo / "scenario.yaml", demo / "quotes" / "examples.yaml"
    assert run(capsys, "init", demo, "--quiet")[0] == 0
    assert run(capsys, "quotes", "import", *sorted(THREE.iterdir()), "-o", quotes, *TODAY)[0] == 0
    code, out, _ = run(capsys, "quotes", "level", scenario, "--platform", "h200-sxm", "--units", 16, "--json", "-")
    rows = {row["vendor"]: row for row in json.loads(out)["rows"]}
    assert code == 0
    assert rows["Orchard Systems"]["per_node"] == 320156.25  # 298,000 + 21,000 + 18,500 / 16
    assert rows["Orchard Systems"]["missing"] == []
    assert rows["Birke Rechentechnik (erfunden)"]["per_node"] == 314300  # 294,500 + 19,800
    assert rows["Birke Rechentechnik (erfunden)"]["missing"] == ["freight"]
    code, out, _ = run(capsys, "solve", scenario, "--json", "-")
    plan: dict[str, Any] = json.loads(out)
    assert (code, plan["status"]) == (0, "optimal")
    assert plan["awards"][0]["vendor"] == "Lagoon Cloud (invented)"


def test_questions_are_asked_on_a_terminal_and_the_answers_saved(tmp_path: Path) -> None:
    sheet, out = INVENTED / "05_ambiguous_thousands.csv", tmp_path / "q.yaml"
    master, slave = pty.openpty()
    arguments = [sys.executable, "-m", "optimizer.cli", "quotes", "import", str(sheet), "-o", str(out), *TODAY]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "dumb"}
    process = subprocess.Popen(arguments, stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    said = ""
    for answer, place in (("1234", "E4"), ("1234", "E5")):
        said = _until(master, f"{place}: ")
        os.write(master, f"{answer}\n".encode())
    _until(master, "", process)
    assert process.wait(20) == 0
    assert "1.234 | 1234" in said
    saved = (tmp_path / "mappings" / "twofold.yaml").read_text(encoding="utf-8")
    assert "E4 1,234" in saved
    assert "1234" in saved
    assert "price: 1234" in out.read_text(encoding="utf-8")
    os.close(master)


def _until(master: int, text: str, process: subprocess.Popen[bytes] | None = None) -> str:
    """Read from a terminal until some text and a prompt are shown, or the process ends."""
    said, until = "", time.monotonic() + 20
    while time.monotonic() < until:
        if select.select([master], [], [], 0.2)[0]:
            try:
                said += os.read(master, 65536).decode("utf-8", "replace")
            except OSError:
                return said
        elif process is not None and process.poll() is not None:
            return said
        if text and text in said and said.rstrip().endswith(":"):
            return said
    return said
