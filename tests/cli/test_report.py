"""``report``: the ending of the output decides the document; everything comes from the plan file."""

from __future__ import annotations

import pytest

from optimizer.cli.main import main


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    folder = tmp_path_factory.mktemp("start")
    assert main(["init", str(folder), "--quiet"]) == 0
    assert main(["solve", str(folder / "scenario.yaml"), "--quiet", "--json", str(folder / "plan.json")]) == 0
    return folder / "plan.json"


def test_the_page_of_the_starter_shows_its_layout(plan, tmp_path):
    assert main(["report", str(plan), "-o", str(tmp_path / "r.html")]) == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    for chart in ("memory-0", "time-0", "calendar", "cost-chart", "power-0", "cash-curve", "vendors-chart"):
        assert f'<figure id="{chart}"' in page


def test_another_ending_is_refused_with_those_there_are(plan, tmp_path, capsys):
    assert main(["report", str(plan), "-o", str(tmp_path / "r.docx")]) == 2
    assert "Expected one of .html" in capsys.readouterr().err


def test_what_is_no_plan_is_refused(tmp_path, capsys):
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    assert main(["report", str(tmp_path / "x.json"), "-o", str(tmp_path / "r.html")]) == 2
    assert "no plan of this version" in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()


def test_a_folder_that_is_not_there_is_an_error_not_a_bug(plan, tmp_path, capsys):
    assert main(["report", str(plan), "-o", str(tmp_path / "none" / "r.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["html", "xlsx", "md", "csv"])
@pytest.mark.parametrize("options", [(), ("--lang", "zh", "--redact", "prices", "--redact", "vendors")])
def test_every_ending_is_written(ending, options, plan, tmp_path):
    out = tmp_path / f"r.{ending}"
    assert main(["report", str(plan), "-o", str(out), *options]) == 0
    assert out.stat().st_size > 300


def test_a_plan_without_an_answer_gets_its_documents_too(plan, tmp_path):
    scenario, none = plan.parent / "scenario.yaml", tmp_path / "none.json"
    late = ["--set", "workloads.pretrain.deadline=2026-12-20"]
    assert main(["solve", str(scenario), *late, "--quiet", "--json", str(none)]) == 3
    for ending in ("html", "xlsx", "md", "csv"):
        assert main(["report", str(none), "-o", str(tmp_path / f"n.{ending}")]) == 0
    assert "No plan meets every limit" in (tmp_path / "n.md").read_text(encoding="utf-8")


def test_an_unknown_currency_lists_the_known_ones(plan, tmp_path, capsys):
    assert main(["report", str(plan), "-o", str(tmp_path / "r.md"), "--currency", "XAU"]) == 2
    assert "no rate for XAU" in capsys.readouterr().err


def test_a_plan_made_again_later_keeps_its_numbers_and_tells_what_changed(plan, tmp_path, capsys):
    before = tmp_path / "before.md"
    assert main(["report", str(plan), "-o", str(before)]) == 0
    quote = next(plan.parent.glob("quotes/*.yaml"))
    kept = quote.read_text(encoding="utf-8")
    quote.write_text(kept.replace("price: ", "price: 9"), encoding="utf-8")
    try:
        assert main(["report", str(plan), "-o", str(tmp_path / "after.md")]) == 0
        assert "changed since the plan was made" in capsys.readouterr().err
    finally:
        quote.write_text(kept, encoding="utf-8")
    first, later = before.read_text(encoding="utf-8"), (tmp_path / "after.md").read_text(encoding="utf-8")
    assert quote.name in later.split("## ")[0]
    assert first.split("## ", 1)[1] == later.split("## ", 1)[1]
