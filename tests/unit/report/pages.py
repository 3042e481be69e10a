"""Plans to report, and pages read back as text, tables and charts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from optimizer import api
from optimizer.io.json_text import plan_json
from optimizer.report.html import page
from optimizer.report.language import Language
from optimizer.report.memo import document
from optimizer.report.source import read_source

SCENARIO = """
name: {name}
today: 2027-01-01
horizon_months: 12
currency: USD
workloads:
  train:
    modes: [{{platform: h100-sxm, nodes: 10, days: 100, source: invented}}]
    release: 2027-02-01
    deadline: {deadline}
sites:
  hall: {{electricity: {{per_kwh: 0.1}}, power: [{{from: 2027-01-15, kw: 400}}], zones: {{air: {{racks: 6, kw_per_rack: 25, cooling: air}}}}}}
quotes: [quotes]
finance: {{discount_rate: 0.05, residual: {{share: 0.3}}}}
"""

QUOTE = """
quote: ada
vendor: {vendor}
kind: budgetary
valid_until: 2027-03-31
currency: USD
offers:
  node: {{type: purchase, platform: h100-sxm, per: node, price: 100000.25, lead_weeks: [2, 4], units: {{max: 30}}, acceptance_days: 5}}
"""


def plan_file(
    folder: Path, *, name: str = "small", vendor: str = "Ada", deadline: str = "2027-06-30", more: str = ""
) -> Path:
    """Solve a market of one vendor whose names may be anything, with more keys; return the plan file."""
    (folder / "quotes").mkdir(exist_ok=True)
    (folder / "quotes" / "ada.yaml").write_text(
        QUOTE.format(vendor=json.dumps(vendor, ensure_ascii=False)), encoding="utf-8"
    )
    text = SCENARIO.format(name=json.dumps(name, ensure_ascii=False), deadline=deadline) + more
    (folder / "small.yaml").write_text(text, encoding="utf-8")
    plan = folder / "plan.json"
    plan.write_text(plan_json(api.solve(folder / "small.yaml")), encoding="utf-8")
    return plan


def edited(plan: Path, change: Any) -> Path:
    """Change the data of a plan file with a function; return the file."""
    data = json.loads(plan.read_text(encoding="utf-8"))
    change(data)
    plan.write_text(json.dumps(data), encoding="utf-8")
    return plan


def html_of(plan: Path, code: Any = "en") -> str:
    """Return the page of a plan file."""
    return page(document(read_source(plan)), Language(code))


@dataclass
class Read(HTMLParser):
    """A page as a reader without scripts and styles gets it.

    Attributes:
        tables: Rows of cell texts by id of the table, headings first.
        tags: Every start tag with its attributes.
        text: All text outside script and style.
    """

    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: str = ""
    _table: str | None = None
    _silent: int = 0
    _cell: bool = False

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        self._silent += tag in ("script", "style")
        if tag == "table":
            self._table = found["id"] or ""
            self.tables[self._table] = []
        elif tag == "tr" and self._table is not None:
            self.tables[self._table].append([])
        elif tag in ("td", "th") and self._table is not None:
            self.tables[self._table][-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style")
        self._cell = self._cell and tag not in ("td", "th")
        if tag == "table":
            self._table = None

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        self.text += data
        if self._cell and self._table is not None:
            self.tables[self._table][-1][-1] += data

    def column(self, table: str, heading: str) -> list[str]:
        """Return the cells below a heading that begins with some words."""
        head, *rows = self.tables[table]
        place = next(at for at, words in enumerate(head) if words.startswith(heading))
        return [row[place] for row in rows]


def read(html: str) -> Read:
    """Return a page read."""
    found = Read()
    found.feed(html)
    return found
