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
