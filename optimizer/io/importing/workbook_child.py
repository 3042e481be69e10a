"""Reads one workbook in a process of its own, with bounded memory: run as a script, it imports nothing of ours.

Hostile workbooks can claim a cell in the last row and column, or crash a parser; the parent only sees an exit code.
Writes one JSON object to stdout: {"sheets": [{"name", "hidden", "merged", "rows"}], "extras": {sheet: {cell: …}}}.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from collections.abc import Sequence

MEMORY_BYTES = 1_200_000_000
"""Address space of the child; a workbook of 10,000 lines needs a fifth of it."""

Item = list[object]


def main(path: str, kind: str) -> None:
    """Write the workbook as JSON."""
    _limit_memory()
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]  # stdout is a text stream
    json.dump({"sheets": _values(path), "extras": _extras(path) if kind == "xlsx" else {}}, sys.stdout)


def _limit_memory() -> None:
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def _values(path: str) -> list[dict[str, object]]:
    from python_calamine import SheetTypeEnum, SheetVisibleEnum, load_workbook  # noqa: PLC0415 - after the limit

    book = load_workbook(path)
    sheets: list[dict[str, object]] = []
    for position, meta in enumerate(book.sheets_metadata):
        if meta.typ is not SheetTypeEnum.WorkSheet:
            continue
        sheet = book.get_sheet_by_index(position)
        start = sheet.start or (0, 0)
        rows = [
            [number, cells]
            for number, line in enumerate(sheet.to_python(skip_empty_area=True), start[0] + 1)
            if (cells := _cells(line, start[1] + 1))
        ]
        merged = [[r1 + 1, c1 + 1, r2 + 1, c2 + 1] for (r1, c1), (r2, c2) in _merged(sheet)]
        hidden = meta.visible is not SheetVisibleEnum.Visible
        sheets.append({"name": meta.name, "hidden": hidden, "merged": merged[:10_000], "rows": rows})
    return sheets


def _merged(sheet: object) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    return getattr(sheet, "merged_cell_ranges", None) or []


def _cells(line: Sequence[object], first: int) -> list[Item]:
    return [[column, *_typed(value)] for column, value in enumerate(line, first) if value not in ("", None)]


def _typed(value: object) -> Item:
    """Return kind and text of a value; a clock time without a date is text, a date keeps its calendar day."""
    if isinstance(value, bool):
        return ["s", str(value).upper()]
    if isinstance(value, (int, float)):
        return ["n", repr(value)]
    if isinstance(value, dt.datetime):
        return ["d", value.date().isoformat()]
    if isinstance(value, dt.date):
        return ["d", value.isoformat()]
    return ["s", str(value)]


def _extras(path: str) -> dict[str, dict[str, Item]]:
    """Return formulas, errors and currency formats by sheet and cell."""
    import openpyxl  # type: ignore[import-untyped]  # noqa: PLC0415 - after the limit

    book = openpyxl.load_workbook(path, read_only=True, keep_links=False)
    found: dict[str, dict[str, Item]] = {}
    for sheet in book.worksheets:
        cells = (cell for row in sheet.iter_rows() for cell in row if cell.value is not None)
        found[sheet.title] = {cell.coordinate: extra for cell in cells if (extra := _extra(cell))}
    return found


def _extra(cell: object) -> Item | None:
    kind, value = getattr(cell, "data_type", ""), getattr(cell, "value", None)
    if kind == "f":
        return ["f", str(getattr(value, "text", value) or "")]
    if kind == "e":
        return ["e", str(value)]
    shown = getattr(cell, "number_format", "") if kind == "n" else ""
    return ["c", shown] if any(mark in shown for mark in '$€£¥₹"') else None


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
