"""The report as one HTML page that needs nothing from outside: no network, and no script to be read.

Charts are small SVG pictures whose positions across are per cent of the width: words keep their size on a telephone,
colours follow the page (light, dark, printed), and every value stands as text beside its mark.
"""

from __future__ import annotations

import datetime as dt
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from optimizer.report import document as parts
from optimizer.report.cells import Writer
from optimizer.report.document import Block, Cell, Column, Document, Several, Span, Value
from optimizer.report.language import Language
from optimizer.report.scales import Axis, bar_axis, curve_axes
from optimizer.version import __version__

_STACKED_FROM = 4
"""Columns from which a table becomes a list of records on a narrow page."""

_COLOURS = 8
"""Colours of series without a meaning of their own."""

_FOLDED_FROM = 30
"""Rows from which a table or chart is folded away."""

_ANNEXES = frozenset({"cash-by-quarter", "after-run", "worth", "quotes-used"})
"""Tables of the memo that are printed behind it whatever their length."""

_BRIEF_ROWS = 8
"""Rows up to which other tables of the memo stay in it on paper."""

_MOST_ROWS = {"conditions": 2, "losers": 2, "awards": 4}
"""The same of tables whose rows are of several lines."""

PLOT_PX = 220
"""Height of the plot of a chart of curves, pixels."""


def page(document: Document, language: Language) -> str:
    """Return the page of a document."""
    view = _View(language)
    template = _templates().get_template("page.html.j2")
    return template.render(doc=document, view=view, language=language, version=__version__, **_files())


@cache
def _templates() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(Path(__file__).with_name("templates"))
    return jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


@cache
def _files() -> dict[str, Markup]:
    folder = Path(__file__).with_name("templates")
    names = {"style": "style.css", "script": "script.js"}
    return {key: Markup((folder / name).read_text(encoding="utf-8")) for key, name in names.items()}  # noqa: S704 - ours


class _View:
    """What the templates ask for: cells as escaped markup or plain text, axes, and how tables behave."""

    def __init__(self, language: Language) -> None:
        self._rich = Writer(language, _isolated, _code, _whole)
        self._plain = Writer(language)
        self._language = language

    def kind(self, block: object) -> str:
        """Return the name of a block's type: its macro."""
        return type(block).__name__.lower()

    def word(self, key: str) -> str:
        """Return a term."""
        return self._language.text(key)

    def cell(self, cell: Cell, column: Column | None = None) -> Markup:
        """Return a cell as markup; text of files is escaped and isolated from the direction of its surroundings."""
        return Markup(self._rich.text(cell, column.unit if column else ""))  # noqa: S704 - escaped by the writer

    def plain(self, cell: Cell) -> str:
        """Return a cell as text, for attributes and titles."""
        return self._plain.text(cell)

    def head(self, column: Column) -> str:
        """Return the heading of a column."""
        return self._plain.head(column)

    def order(self, cell: Cell, unit: str) -> str | None:
        """Return the bare figure or date a column is sorted by; None where that is the text of the cell."""
        first = cell.items[0] if isinstance(cell, Several) else cell
        if not isinstance(first, Value) or first.value is None or isinstance(first.value, str):
            return None
        key = first.value.isoformat() if isinstance(first.value, dt.date) else f"{first.value:f}"
        return None if key == self._plain.text(cell, unit) else key

    def stacked(self, table: parts.Table) -> bool:
        """Return whether a narrow page shows each row as a record of its own."""
        return len(table.columns) >= _STACKED_FROM

    def stacked_tables(self, document: Document) -> list[parts.Table]:
        """Return the tables whose cells a narrow page labels: once per column, not in each of thousands of cells."""
        sections = (*document.memo, *document.details)
        tables = [block for section in sections for block in section.blocks if isinstance(block, parts.Table)]
        return [table for table in tables if self.stacked(table)]

    def css_head(self, column: Column) -> Markup:
        """Return the heading of a column as a string of a style sheet; only letters and digits stand as they are."""
        safe = (char if char.isalnum() else f"\\{ord(char):x} " for char in self.head(column))
        return Markup('"' + "".join(safe) + '"')  # noqa: S704 - escaped above

    def folded(self, rows: int) -> bool:
        """Return whether so many rows are folded away."""
        return rows >= _FOLDED_FROM

    def annexed(self, block: Block) -> bool:
        """Return whether a block of the memo is printed behind it: what is drawn, or a list."""
        if isinstance(block, parts.Table):
            return block.id in _ANNEXES or len(block.rows) > _MOST_ROWS.get(block.id, _BRIEF_ROWS)
        return isinstance(block, parts.Bars | parts.Curves)

    def has_annexes(self, document: Document) -> bool:
        """Return whether anything of the memo is printed behind it."""
        return any(self.annexed(block) for section in document.memo for block in section.blocks)

    def annexes(self, section: parts.Section) -> str:
        """Return the captions of what is printed behind the memo, of one of its sections."""
        apart = [block for block in section.blocks if self.annexed(block)]
        return self._language.join([self.word(getattr(block, "title", "")) for block in apart])

    def bar_axis(self, chart: parts.Bars) -> Axis | None:
        """Return the axis of a bar chart."""
        return bar_axis(chart)

    def curve_axes(self, chart: parts.Curves) -> tuple[Axis, Axis] | None:
        """Return both axes of a chart of curves."""
        return curve_axes(chart)

    def height(self, axis: Axis, value: Value | float) -> float:
        """Return the vertical place of a value in the plot, pixels from its top."""
        return round(PLOT_PX * (1 - axis.percent(value) / 100), 1)

    def series(self, key: str) -> str:
        """Return the name of a series; a component this version has no word for keeps its own."""
        family, _, word = key.partition(".")
        return self._language.name(family, word)

    def colours(self, chart: parts.Bars) -> dict[str, str]:
        """Return the colour class of each series in the order of first use: by meaning, else by position."""
        spans: list[Span] = [span for bar in chart.bars for span in (*bar.spans, *bar.marks)]
        keys = dict.fromkeys(span.series for span in (*spans, *chart.lines))
        ours = {key: key.replace(".", "-") for key in keys if key.startswith("span.")}
        return {key: ours.get(key, f"k{place % _COLOURS + 1}") for place, key in enumerate(keys)}


_LONG_WORD = 24
"""Letters from which a word without a blank may be broken anywhere."""


_SHORT_WORD = 16
"""Letters up to which a single word, mostly an id with hyphens, stays on one line."""


def _isolated(text: str) -> str:
    words = text.split()
    long = any(len(word) > _LONG_WORD for word in words)
    kind = "long" if long else "n" if len(words) == 1 and len(text) <= _SHORT_WORD else ""
    return str(Markup('<bdi class="{}">{}</bdi>').format(kind, text) if kind else Markup("<bdi>{}</bdi>").format(text))


def _whole(text: str) -> str:
    return str(Markup('<span class="n">{}</span>').format(text))


def _code(text: str) -> str:
    return str(Markup("<code>{}</code>").format(text))
