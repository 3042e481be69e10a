"""The page says what the plan says, whatever stands in the files."""

from __future__ import annotations

import datetime as dt
import json
import re
import time
from decimal import Decimal
from itertools import accumulate
from pathlib import Path

import pytest
from pages import edited, html_of, plan_file, read

from optimizer.cli.main import main

HOSTILE = {
    "html": "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&",
    "template": "{{ 7 * 7 }} {% raw %} {unknown} %s",
    "formula": '=HYPERLINK("http://x")',
    "right to left": "\u202e\u05e9\u05dc\u05d5\u05dd ABC",
    "emoji": "👩‍🚀 Rockets 🚀",
    "long": "Very" * 125,
}


KNOWN_TAGS = {
    "a", "bdi", "body", "caption", "circle", "code", "dd", "details", "div", "dl", "dt", "figcaption",
    "figure", "footer", "g", "h1", "h2", "head", "header", "html", "li", "line", "link", "main",
    "meta", "nav", "p", "rect", "script", "section", "span", "strong", "style", "summary", "svg", "table",
    "tbody", "td", "text", "tfoot", "th", "thead", "title", "tr", "ul",
}  # fmt: skip


def amounts(cells: list[str]) -> list[Decimal]:
    return [Decimal(cell.replace(",", "")) for cell in cells]


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plan_file(tmp_path_factory.mktemp("plan"))


@pytest.fixture(scope="module")
def data(plan: Path) -> dict:
    return json.loads(plan.read_text(encoding="utf-8"), parse_float=Decimal, parse_int=Decimal)


def test_every_amount_of_the_plan_stands_in_the_page(plan, data):
    found = read(html_of(plan))
    cost = data["cost"]
    assert amounts(found.column("cost-lines", "Amount")) == [*(line["amount"] for line in cost["lines"]), cost["total"]]
    assert amounts(found.column("fiscal-years", "Amount")) == [*cost["by_fiscal_year"].values(), cost["total"]]
    assert amounts(found.column("awards", "Amount")) == [award["cost"] for award in data["awards"]]
    totals = ["?" if after["total"] is None else f"{after['total']:,.2f}" for after in cost["after_run"]]
    assert found.column("after-run", "Total (") == totals
    assert amounts(found.column("options", "Net present value")[:1]) == [cost["npv"]]
    net = amounts(found.column("cash-by-quarter", "Net ("))
    assert sum(net[:-1]) == net[-1] == cost["total"]


def test_dates_and_counts_of_the_plan_stand_in_the_page(plan, data):
    found, award, run = read(html_of(plan)), data["awards"][0], data["workloads"][0]
    assert found.column("awards", "Units") == [str(award["units"])]
    assert found.column("lots", "Delivery") == [award["delivery_date"]] == ["2027-01-29"]
    assert found.column("lots", "Ready") == ["2027-02-03"]  # five days of acceptance
    assert found.column("finish", "Finish as planned") == [run["end"]]
    late = (dt.date(2027, 6, 30) - dt.date.fromisoformat(run["end"])).days
    assert found.column("finish", "Float") == [str(late)]
    assert found.column("inputs", "SHA-256") == [file["sha256"] for file in data["provenance"]["inputs"]]
    assert found.column("assumptions-table", "Assumption") == [
        each["name"] for each in data["provenance"]["assumptions"]
    ]


def test_the_memo_is_in_the_order_in_which_a_committee_reads(plan):
    headings = re.findall(r'<h2 id="part-([a-z]+)-title">', html_of(plan))
    assert headings[:12] == [
        "sign", "answer", "options", "cash", "finish", "after", "limits", "facts", "losers", "evidence", "conditions",
        "signatures",
    ]  # fmt: skip


def test_peak_and_commitments_are_those_of_the_cash(plan, data):
    found = read(html_of(plan))
    by_day: dict[str, Decimal] = {}
    for move in data["cost"]["cash"]:
        by_day[move["date"]] = by_day.get(move["date"], Decimal(0)) + move["amount"]
    sums = list(accumulate(by_day[on] for on in sorted(by_day)))
    assert f"USD {max(sums):,.2f} on {sorted(by_day)[sums.index(max(sums))]}" in found.text
    assert f"contractsUSD {sum(award['cost'] for award in data['awards']):,.2f}" in found.text.replace("\n", "")


def test_power_is_drawn_against_its_limit(plan):
    found = read(html_of(plan))
    installed = [row for row in found.tables["power-0-data"] if row[0].endswith("installed")]
    available = [row for row in found.tables["power-0-data"] if row[0].endswith("available")]
    assert ["2027-01-29", "102 kW"] in [row[1:] for row in installed]  # ten nodes of 10.2 kW
    assert [row[1:] for row in available][:2] == [["2027-01-01", "0 kW"], ["2027-01-15", "400 kW"]]


def test_racks_are_drawn_against_what_there_is(plan):
    found = read(html_of(plan))
    needed = [row[1:] for row in found.tables["racks-0-data"] if row[0].endswith("needed at least")]
    assert needed[-1] == ["2027-12-31", "5"]  # ten nodes of 10.2 kW, two in a rack of 25 kW
    assert ["2027-12-31", "6"] in [row[1:] for row in found.tables["racks-0-data"] if row[0].endswith("available")]


def test_what_was_not_computed_is_named_with_its_command_and_never_zero(plan):
    found = read(html_of(plan))
    for command in ("compare", "alternatives", "pareto", "sensitivity", "breakeven", "risk", "explain"):
        assert re.search(r"was not computed|were not computed", found.text)
        assert re.search(rf"clusterbuy {command} \S*small\.yaml .*--plan \S*plan\.json", found.text), command
    assert not {"pareto-table", "tornado-table", "risk-table", "platforms-table"} & set(found.tables)


def test_obvious_alternatives_stand_beside_the_plan_and_impossible_ones_say_why(tmp_path):
    rows = [
        {"name": "single_quote", "status": "optimal", "detail": "ada", "total": 1500000.5, "npv": 1400000,
         "finish": "2027-05-20", "objective": 1400000, "difference": 1, "unit": "USD", "reason": None},
        {"name": "owned", "status": "infeasible", "detail": None, "total": None, "npv": None, "finish": None,
         "objective": None, "difference": None, "unit": "USD", "reason": "nothing is owned"},
    ]  # fmt: skip
    plan = edited(plan_file(tmp_path), lambda data: data["analyses"].update(baselines=rows))
    npv = json.loads(plan.read_text(encoding="utf-8"), parse_float=Decimal)["cost"]["npv"]
    table = read(html_of(plan)).tables["options"]
    assert table[2][1:3] == ["ada", "1,500,000.50"]
    assert Decimal(table[2][4].replace(",", "")) == 1400000 - npv
    assert table[3] == ["doing nothing: today's fleet", "nothing is owned", "–", "–", "–", "–"]


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_names_are_shown_as_text_isolated_and_harmless(name, tmp_path):
    page = html_of(plan_file(tmp_path, name=name, vendor=name))
    found = read(page)
    assert found.column("awards", "Vendor") == [name]
    assert name in found.text.split("What to sign")[0]
    assert {tag for tag, _ in found.tags} <= KNOWN_TAGS
    assert not [key for _, given in found.tags for key in given if key.startswith("on")]
    assert len([tag for tag, _ in found.tags if tag == "script"]) == 1


def test_a_page_of_a_tampered_plan_holds_its_words_as_text(tmp_path):
    def tamper(data: dict) -> None:
        bad = "<script>x</script>"
        data["cost"]["currency"] = data["objective"]["currency"] = bad
        data["awards"][0].update(currency=bad, quote=bad, platform=bad, place=bad)
        data["limits"][0].update(unit=bad, period=bad)
        data["provenance"]["assumptions"][0].update(name=bad, value=bad, source=bad)

    found = read(html_of(edited(plan_file(tmp_path), tamper)))
    assert len([tag for tag, _ in found.tags if tag == "script"]) == 1
    assert found.text.count("<script>x</script>") > 5


def test_two_hundred_awards_stay_readable_small_and_fast(tmp_path):
    def many(data: dict) -> None:
        award = data["awards"][0]
        data["awards"] = [{**award, "vendor": f"Vendor {place}"} for place in range(200)]

    plan = edited(plan_file(tmp_path), many)
    started = time.process_time()
    page = html_of(plan)
    assert time.process_time() - started < 3
    assert len(page.encode()) < 3_000_000
    found = read(page)
    assert len(found.column("awards", "Vendor")) == 201  # and the total
    assert "Sign 200 awards with 200 vendors" in found.text
    assert found.text.count("Sign Vendor") == 0


def test_an_infeasible_plan_reports_the_conflict_and_its_cures(tmp_path):
    plan = plan_file(tmp_path, deadline="2027-04-30")
    found = read(html_of(plan))
    assert "Nothing should be signed" in found.text
    assert found.column("conflict", "Limit") == ["deadline"]
    assert re.search(r"smallest changes are not in this plan file.*clusterbuy explain \S*small\.yaml", found.text)
    assert main(["explain", str(tmp_path / "small.yaml"), "--quiet", "--plan", str(plan)]) == 0
    found = read(html_of(plan))
    assert any(cell.startswith("--set workloads.train.deadline=") for cell in found.column("relaxations", "Option"))
    assert "not in this plan file" not in found.text
    cure = {"limit": "deadline", "from": "2027-04-30", "to": "2027-05-13", "unit": "",
            "set": "workloads.train.deadline=2027-05-13", "verified": True}  # fmt: skip
    found = read(html_of(edited(plan, lambda data: data["conflict"].update(relaxations=[cure]))))
    assert found.column("relaxations", "Option to paste") == ["--set workloads.train.deadline=2027-05-13"]
    assert found.column("relaxations", "To") == ["2027-05-13"]
    assert not {"awards", "options", "cost-lines", "lots"} & set(found.tables)


def test_inputs_that_changed_are_named_and_the_numbers_stay(tmp_path):
    plan = plan_file(tmp_path)
    before = read(html_of(plan))
    quote = tmp_path / "quotes" / "ada.yaml"
    quote.write_text(quote.read_text(encoding="utf-8").replace("100000.25", "1"), encoding="utf-8")
    (tmp_path / "small.yaml").unlink()
    after = read(html_of(plan))
    assert "changed since" not in before.text.split("Decision memo")[1].split("What to sign")[0]
    assert re.search(r"Inputs changed since the plan was made: \S*ada\.yaml", after.text)
    assert re.search(r"1 inputs changed since was not checked.*small\.yaml", after.text)
    assert set(after.column("inputs", "Since then")) == {"unchanged", "changed since", "not found from here"}
    same = [key for key in before.tables if key != "inputs"]
    assert {key: before.tables[key] for key in same} == {key: after.tables[key] for key in same}


def test_the_page_needs_nothing_from_outside(plan):
    found = read(html_of(plan))
    links = [
        value for _, given in found.tags for key, value in given.items() if key in ("src", "href", "action", "srcset")
    ]
    assert {link for link in links if link and not link.startswith("#")} == {"data:,"}
    assert not re.findall(r"url\(|@import|https?://", html_of(plan).split("</style>")[0])


def test_headings_scopes_captions_and_labels_are_there_for_screen_readers(plan):
    tags = read(html_of(plan)).tags
    names = [tag for tag, _ in tags]
    ids = [given["id"] for _, given in tags if "id" in given]
    assert len(ids) == len(set(ids))
    assert names.count("main") == names.count("h1") == names.count("nav") == 1
    assert names.count("table") == names.count("caption") > 10
    assert all("scope" in given for tag, given in tags if tag == "th")
    pointed = [target for _, given in tags for target in (given.get("aria-labelledby") or "").split()]
    assert set(pointed) <= set(ids)
    assert {(given["href"] or "")[1:] for tag, given in tags if tag == "a"} <= set(ids)


def test_both_languages_hold_the_same_numbers(plan):
    english, chinese = read(html_of(plan)), read(html_of(plan, "zh"))
    for table in ("cost-lines", "fiscal-years", "cost-items"):
        assert [row[-1] for row in english.tables[table][1:]] == [row[-1] for row in chinese.tables[table][1:]]
    assert "决策备忘录" in chinese.text
    assert [given["lang"] for tag, given in chinese.tags if tag == "html"] == ["zh-Hans"]


def test_total_to_the_cent_and_band_stand_together(tmp_path):
    def banded(data: dict) -> None:
        band = {"low_days": 85, "high_days": 115, "p50_days": 98.4, "p80_days": 100}
        data["workloads"][0].update(band=band, days=100)

    plan = edited(plan_file(tmp_path), banded)
    found = read(html_of(plan))
    assert "exact to the minor unit for the planned 100 days of train" in found.text
    assert "85 to 115 days (-15 % to 15 % of the plan)" in found.text
    start = json.loads(plan.read_text())["workloads"][0]["start"]
    assert start == "2027-02-03"
    assert found.column("finish", "Finish P50") == ["2027-05-12"]  # 99 days from 3 February
    assert found.column("finish", "Finish P80") == ["2027-05-13"]


def test_a_plan_that_is_not_proven_is_never_called_the_least(tmp_path):
    saved = plan_file(tmp_path)
    assert "the least that meets every limit" in html_of(saved)
    open_plan = html_of(edited(saved, lambda plan: plan.update(status="feasible")))
    assert "the least that meets" not in open_plan
    assert "the best found so far, not proven to be the best" in open_plan
