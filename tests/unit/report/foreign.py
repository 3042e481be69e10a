"""Amounts of other currencies than the one a report was asked for, as a reader finds them in each format."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from html import unescape
from io import BytesIO, StringIO

import openpyxl

from optimizer.report.html import page
from optimizer.report.markdown import markdown
from optimizer.report.orders import orders_csv, payments_csv
from optimizer.report.views import Report
from optimizer.report.workbook import workbook

RATE = r"1 [A-Z]{3} = (?:[\d.,]+ [A-Z]{3}|withheld)|[\d.,]+ [A-Z]{3} per [A-Z]{3}\b|[\d.,]+ [A-Z]{3}/[A-Z]{3}\b"
QUOTED = r"\(quoted [^()]*\)|（报价 [^（）]*）"
FACTOR = r"[\d.,]+ [A-Z]{3} per [^()×]*\([^()]*, as stated\)|[\d.,]+ [A-Z]{3}，每[^（）×]*（[^（）]*，原币种）"
WORDS = r"^.*(?:\[amounts as stated\]|\[金额为原文所述\])"
MARKED = re.compile(f"{RATE}|{QUOTED}|{FACTOR}|{WORDS}")
"""Exchange rates, and what says that it stands as it was stated."""

_BREAKS = re.compile(r"</(?:td|th|p|li|dt|dd|h\d|text|title|caption|summary|div|figcaption)>|<br>")


def segments(report: Report) -> Iterator[tuple[str, str]]:
    """Yield every cell and sentence of each format as plain text, with the name of the format."""
    html = re.sub(r"<(style|script)\b.*?</\1>", "", page(report.document, report.language), flags=re.DOTALL)
    for part in _BREAKS.split(html):
        yield "html", " ".join(unescape(re.sub(r"<[^>]*>", "", part)).split())
    for line in markdown(report.document, report.language).replace("\\", "").splitlines():
        yield from (("md", cell.strip()) for cell in line.split("|"))
    yield from (("xlsx", text) for text in _rows(report))
    for name, text in (("orders", orders_csv(report)), ("payments", payments_csv(report))):
        for row in csv.DictReader(StringIO(text.removeprefix("\ufeff"))):
            yield name, " ".join(value for key, value in row.items() if not key.startswith("quoted_"))


def _rows(report: Report) -> Iterator[str]:
    """Yield the rows of the workbook as text, without what its headings and notes call as quoted or as stated."""
    words = report.language.text
    quoted, inputs = words("book.quoted_price"), words("book.inputs")
    for sheet in openpyxl.load_workbook(BytesIO(workbook(report)), data_only=True):
        rows = list(sheet.iter_rows(values_only=True))
        apart = {at for row in rows for at, cell in enumerate(row) if cell == quoted}
        if sheet.title == inputs:
            assert (
                any(words("book.inputs_currency", name="report_rate") in row for row in rows) or not report.conversion
            )
        else:
            cells = ([str(cell) for at, cell in enumerate(row) if cell is not None and at not in apart] for row in rows)
            yield from map(" ".join, cells)


def foreign(report: Report, codes: set[str]) -> list[tuple[str, str]]:
    """Return what tells an amount of one of the currencies without saying that it is as stated."""
    code = "|".join(codes)
    amount = re.compile(rf"\d ?(?:{code})\b|\b(?:{code}) ?-?\d|[$€£¥] ?\d")
    found = ((name, MARKED.sub("", text)) for name, text in segments(report))
    return [(name, text) for name, text in found if amount.search(text)]
