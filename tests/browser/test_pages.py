"""What a reader's browser makes of the page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

CHARTS = {
    "cash-curve", "vendors-chart", "memory-0", "time-0", "cost-chart", "power-0", "racks-0", "calendar", "platform-npv",
    "pareto-chart", "tornado-chart", "breakeven-0", "risk-chart",
}  # fmt: skip
SIZES = ((390, "light"), (1280, "light"), (1280, "dark"), (390, "dark"))


@pytest.fixture
def opened(browser: Browser) -> Iterator:
    contexts = []

    def opened(path: Path, **options) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.noise = []
        page.on("console", lambda message: page.noise.append(message.text))
        page.on("pageerror", lambda error: page.noise.append(str(error)))
        page.on("request", lambda request: page.noise.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", ["full", "infeasible"])
def test_no_error_and_no_request(name, opened, request):
    page = opened(request.getfixturevalue(name))
    page.wait_for_load_state("networkidle")
    assert [line for line in page.noise if line != "data:,"] == []


def test_every_chart_is_drawn(full, opened):
    page = opened(full)
    assert {figure.get_attribute("id") for figure in page.locator("figure").all()} == CHARTS
    for chart in CHARTS:
        marks = page.locator(f"#{chart} :is(.mark, .curve line)")
        boxes = [marks.nth(at).bounding_box() for at in range(marks.count())]
        assert boxes, chart
        assert any(box and box["width"] + box["height"] > 4 for box in boxes), chart
        words = page.locator(f"#{chart} text.tick").all_text_contents()
        assert len([word for word in words if word.strip()]) >= 2, chart


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_nothing_is_wider_than_the_page(width, scheme, full, infeasible, opened):
    for path in (full, infeasible):
        page = opened(path, viewport={"width": width, "height": 800}, color_scheme=scheme)
        page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(
    ("name", "width", "scheme"), [("full", 390, "light"), ("full", 1280, "dark"), ("infeasible", 1280, "light")]
)
def test_the_accessibility_check_is_clean(name, width, scheme, opened, request):
    page = opened(request.getfixturevalue(name), viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    found = Axe().run(page)
    faults = [(fault["id"], node["html"][:200]) for fault in found.response["violations"] for node in fault["nodes"]]
    assert faults == []
    assert len(found.response["passes"]) > 20


def test_tables_sort_by_figures_dates_and_words(full, opened):
    page = opened(full, viewport={"width": 1280, "height": 800})

    def column(table: str, place: int) -> list[str]:
        return page.locator(f"#{table} tbody tr").evaluate_all(
            f"rows => rows.map(row => row.cells[{place}].dataset.order ?? row.cells[{place}].textContent)"
        )

    for table, place, key in (("cost-items", 1, float), ("cash-by-quarter", 3, float), ("cost-items", 0, str.lower)):
        heading = page.locator(f"#{table} thead th").nth(place)
        for order in ("ascending", "descending"):
            heading.locator("button").click()
            assert heading.get_attribute("aria-sort") == order
            values = list(map(key, column(table, place)))
            assert values == sorted(values, reverse=order == "descending")
            assert len(set(values)) > 2
    total = page.locator("#cost-items tfoot").inner_text()
    assert total.startswith("Total")


def test_headings_sort_from_the_keyboard(full, opened):
    page = opened(full)
    page.locator("#cost-items thead button").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#cost-items thead th").first.get_attribute("aria-sort") == "ascending"


def test_the_first_tab_stop_leads_to_the_decision(full, opened):
    page = opened(full)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_the_plan_reads_without_scripts(full, plan, opened):
    page = opened(full, java_script_enabled=False)
    data = json.loads(plan.read_text(encoding="utf-8"))
    text = page.locator("main").text_content() or ""
    assert f"{data['cost']['total']:,.2f}" in text
    for award in data["awards"]:
        assert award["vendor"] in text
        assert f"{award['cost']:,.2f}" in text
    for line in data["cost"]["lines"]:
        assert f"{line['amount']:,.2f}" in text
    for run in data["workloads"]:
        assert run["end"] in text
    assert page.locator("thead button").count() == 0
    page.locator("summary", has_text="Cost lines").click()
    assert page.locator("#cost-lines").is_visible()


def test_the_decision_comes_first_on_a_telephone(full, opened):
    page = opened(full, viewport={"width": 390, "height": 844})
    lead = page.locator("p.lead").first
    box = lead.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 844
    assert float(page.evaluate("parseFloat(getComputedStyle(document.querySelector('.tick')).fontSize)")) >= 11


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_it_prints_whole(paper, full, opened):
    page = opened(full)
    pdf = page.pdf(format=paper)
    assert pdf.startswith(b"%PDF")
    assert 4 <= pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") <= 60
    page.emulate_media(media="print")
    assert page.locator("#cost-lines").evaluate("table => table.getBoundingClientRect().height") > 50
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"


A4_HEIGHT_PX, A4_WIDTH_PX = (297 - 16) / 25.4 * 96, int((210 - 22) / 25.4 * 96)
"""What the margins of the first page leave of A4, CSS pixels."""


def _on_paper(page):
    """Return where the signatures end on the first page, CSS pixels."""
    page.emulate_media(media="print")
    ends = page.locator("#part-signatures dl").evaluate_all("all => all.map(x => x.getBoundingClientRect().bottom)")
    return max(ends)


def test_the_memo_is_one_page_of_paper_and_its_annexes_follow(full, infeasible, opened):
    page = opened(full, viewport={"width": A4_WIDTH_PX, "height": 800})
    end = _on_paper(page)
    assert 400 < end <= A4_HEIGHT_PX
    start = page.locator(".annexes").bounding_box()["y"]
    tops = page.locator(".memo .annex").evaluate_all("all => all.map(x => x.getBoundingClientRect().top)")
    assert len(tops) >= 4
    assert end <= start < min(tops)
    short = opened(infeasible, viewport={"width": A4_WIDTH_PX, "height": 800})
    assert 200 < _on_paper(short) <= A4_HEIGHT_PX
    assert short.locator(".annexes").count() == short.locator(".annex").count() == 0


def test_on_a_screen_nothing_is_an_annex(full, opened):
    page = opened(full)
    assert not page.locator(".annexes, .moved").first.is_visible()
    tops = page.locator("#part-cash h2, #cash-by-quarter, #part-finish h2").evaluate_all(
        "all => all.map(x => x.getBoundingClientRect().top)"
    )
    assert tops == sorted(tops)


def test_dark_and_light_differ_and_follow_the_system(full, opened):
    grounds = [
        opened(full, color_scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    ]
    assert grounds == ["rgb(255, 255, 255)", "rgb(20, 24, 29)"]
