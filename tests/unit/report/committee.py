"""The committee's plan (every kind of award, three foreign currencies), written and read back once; its tables as read by people."""

from __future__ import annotations

import json
import re
import tempfile
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from optimizer.api import solve
from optimizer.io.json_text import plan_json
from optimizer.report.source import Source, read_source

DATA = Path(__file__).parents[2] / "data/documents"

HOSTILE = {
    "Acme Systems (invented)": "<script>alert(1)</script>|<b>x</b> & @team `code` *b* $x$ [a](http://x.y)",
    "华新算力（虚构）": '=HYPERLINK("http://evil.example","pay here")',
    "Lessor (invented)": "ספק מחשוב \u202egpj.exe",
    "Cloud (invented)": "🚀 " + "long name " * 49,
}
"""Vendor of the committee's quotes -> a name that must be shown as text."""


@cache
def folder() -> Path:
    """Return a folder that lives as long as the tests."""
    return Path(tempfile.mkdtemp(prefix="clusterbuy-documents-"))


@cache
def plan_file(hostile: bool = False) -> Path:
    """Return the file of the solved plan; with ``hostile`` names."""
    scenario, path = DATA / "committee.yaml", folder() / f"plan-{hostile}.json"
    if hostile:
        scenario = _renamed()
    path.write_text(plan_json(solve(scenario)), encoding="utf-8")
    return path


def _renamed() -> Path:
    root = folder() / "hostile"
    (root / "quotes").mkdir(parents=True, exist_ok=True)
    for file in sorted(DATA.rglob("*.yaml")):
        text = file.read_text(encoding="utf-8")
        for vendor, name in HOSTILE.items():
            text = text.replace(f"vendor: {vendor}\n", f"vendor: {json.dumps(name, ensure_ascii=False)}\n")
        (root / file.relative_to(DATA)).write_text(text, encoding="utf-8")
    return root / "committee.yaml"


@cache
def committee(hostile: bool = False) -> Source:
    """Return the plan as a report reads it."""
    return read_source(plan_file(hostile))


@cache
def short() -> Source:
    """Return the committee's plan of the first nine months: the same kinds of cost, on fewer days of payment."""
    path = folder() / "short.json"
    path.write_text(plan_json(solve(DATA / "committee.yaml", sets=["horizon_months=9"])), encoding="utf-8")
    return read_source(path)


@cache
def infeasible() -> Source:
    """Return the plan file of a question without an answer: the deadline is before any delivery."""
    path = folder() / "infeasible.json"
    path.write_text(
        plan_json(solve(DATA / "committee.yaml", sets=["workloads.pretrain.deadline=2027-03-15"])), encoding="utf-8"
    )
    return read_source(path)


class _Tables(HTMLParser):
    """Text of every table by its id, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self._table: str | None = None
        self._cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._table = str(dict(attrs).get("id"))
            self.tables[self._table] = []
        elif self._table and tag == "tr":
            self.tables[self._table].append([])
        elif self._table and tag in ("td", "th"):
            self.tables[self._table][-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._table = None
        elif tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        if self._table and self._cell:
            self.tables[self._table][-1][-1] += data


def html_tables(page: str) -> dict[str, list[list[str]]]:
    """Return the cells of every table of a page by its id, headings included."""
    reader = _Tables()
    reader.feed(page)
    return {name: [[" ".join(cell.split()) for cell in row] for row in rows] for name, rows in reader.tables.items()}


def markdown_tables(text: str) -> dict[str, list[list[str]]]:
    """Return the cells of every table of a Markdown document by its caption, headings included."""
    tables: dict[str, list[list[str]]] = {}
    for caption, body in re.findall(r"^\*(.+)\*\n\n((?:\|.*\n)+)", text, flags=re.MULTILINE):
        rows = [[cell.strip(" *") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in body.splitlines()]
        tables[caption] = [rows[0], *rows[2:]]
    return tables
