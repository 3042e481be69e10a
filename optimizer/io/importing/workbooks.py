"""XLSX, XLS and ODS workbooks as sheets: checked before opening, read in a child process, formulas computed."""

from __future__ import annotations

import datetime as dt
import json
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from optimizer.errors import InputError, Problem
from optimizer.io.importing.cells import Cell, Row, Sheet, clean, column_number
from optimizer.io.importing.formulas import CannotCompute, Formulas
from optimizer.io.importing.money import currencies_in
from optimizer.io.importing.numbers import unscaled

MAX_UNPACKED_BYTES = 150_000_000
"""Most bytes of an unpacked workbook; a price book of 10,000 lines unpacks to about 10 MB."""

MAX_MEMBERS = 5_000
"""Most files inside a workbook."""

MAX_AREA = 4_000_000
"""Most cells between the first and the last used one of a sheet, blanks included."""

READ_SECONDS = 60
"""Longest time to read a workbook."""

_CHUNK = 1 << 20
_REFERENCE = re.compile(rb'<(?:\w+:)?c [^>]*?\br="([A-Z]{1,3})(\d{1,7})"')
_CELL = re.compile(r"([A-Z]+)(\d+)")
_FORMAT_CURRENCY = re.compile(r"\[\$([^\]-]+)[\]-]|\"([^\"]+)\"|([$€£¥₹])")
_ENCRYPTED = b"\xd0\xcf\x11\xe0"


def is_workbook(head: bytes) -> bool:
    """True for the first bytes of a zip archive (XLSX, ODS) or a compound file (XLS)."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06", _ENCRYPTED))


def read_workbook(path: Path, name: str) -> tuple[tuple[Sheet, ...], tuple[tuple[str, str, str], ...]]:
    """Return the sheets of a workbook and remarks (code, place, message).

    Raises:
        InputError: Damaged, encrypted, too large once unpacked, or not readable within time and memory.
    """
    kind = _kind(path, name)
    data = _child(path, name, kind)
    extras: Mapping[str, Mapping[str, list[str]]] = data["extras"]
    sheets = tuple(_sheet(raw, extras.get(raw["name"], {})) for raw in data["sheets"])
    return _computed(sheets, extras)


def _kind(path: Path, name: str) -> str:
    """Return xlsx, ods or xls, after checking that unpacking stays within bounds."""
    if not zipfile.is_zipfile(path):
        return "xls"
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            names = {member.filename for member in members}
            if len(members) > MAX_MEMBERS or sum(member.file_size for member in members) > MAX_UNPACKED_BYTES:
                raise _bomb(name)
            _check_members(archive, members, name)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, RuntimeError, ValueError):
        raise InputError(
            [Problem(name, "a damaged or protected archive", "Expected a workbook without a password")]
        ) from None
    if "xl/workbook.xml" in {member.lower() for member in names} or "[Content_Types].xml" in names:
        return "xlsx"
    if "content.xml" in names:
        return "ods"
    raise InputError([Problem(name, "an archive that is no workbook", "Expected XLSX, XLS, ODS, CSV, TSV or YAML")])


def _bomb(name: str) -> InputError:
    limit = f"at most {MAX_UNPACKED_BYTES / 1e6:.0f} MB in at most {MAX_MEMBERS:,} parts"
    fix = "Save only the sheets with prices, or export them as CSV"
    return InputError([Problem(name, "a workbook that unpacks to too much data", f"Expected {limit}", fix)])


def _check_members(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], name: str) -> None:
    """Unpack every part once without keeping it: sizes in the directory may lie, cells may be scattered."""
    total = 0
    for member in members:
        area = _Area()
        with archive.open(member) as part:
            while chunk := part.read(_CHUNK):
                total += len(chunk)
                if total > MAX_UNPACKED_BYTES:
                    raise _bomb(name)
                if b"<!DOCTYPE" in chunk or b"<!ENTITY" in chunk:
                    raise InputError([Problem(name, "a document type declaration", "Expected a plain workbook")])
                area.take(chunk if "sheet" in member.filename.lower() else b"")
        if area.cells > MAX_AREA:
            found = f"cells scattered over {area.cells:,} places"
            fix = "Delete what stands far from the table"
            raise InputError([Problem(name, found, f"Expected at most {MAX_AREA:,}", fix)])


class _Area:
    """The rectangle around the cells of a sheet, from its bytes."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.columns: list[int] = []
        self.rest = b""

    def take(self, chunk: bytes) -> None:
        """Take the next bytes of a sheet; a reference cut by the border of a chunk is completed by the next."""
        found = _REFERENCE.findall(self.rest + chunk)
        self.rest = chunk[-64:]
        rows = self.rows + [int(row) for _, row in found]
        columns = self.columns + [column_number(name.decode()) for name in {name for name, _ in found}]
        self.rows, self.columns = (
            [min(rows), max(rows)] if rows else [],
            [min(columns), max(columns)] if columns else [],
        )

    @property
    def cells(self) -> int:
        """Cells of the rectangle."""
        if not self.rows:
            return 0
        return (self.rows[1] - self.rows[0] + 1) * (self.columns[1] - self.columns[0] + 1)


def _child(path: Path, name: str, kind: str) -> dict[str, Any]:
    """Return what the child process read."""
    script = Path(__file__).with_name("workbook_child.py")
    command = [sys.executable, "-I", str(script), str(path.resolve()), kind]
    try:
        done = subprocess.run(command, capture_output=True, timeout=READ_SECONDS, check=False)  # noqa: S603 - our own script
    except subprocess.TimeoutExpired:
        raise _unreadable(name, f"reading took more than {READ_SECONDS} s") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _unreadable(name, _reason(said[-1] if said else "the reader stopped"))
    return json.loads(done.stdout)  # type: ignore[no-any-return]  # the child writes one object


def _reason(said: str) -> str:
    if "Password" in said or "password" in said:
        return "it is protected by a password"
    if "Memory" in said or "memory" in said:
        return "it needs more memory than a workbook of prices may"
    return f"the reader stopped: {said[:120]}"


def _unreadable(name: str, found: str) -> InputError:
    fix = "Save it again as XLSX, or export the sheet as CSV"
    return InputError([Problem(name, found, "Expected an XLSX, XLS or ODS workbook", fix)])


def _sheet(raw: Mapping[str, Any], extras: Mapping[str, list[str]]) -> Sheet:
    name = raw["name"]
    rows = {number: {cell.column: cell for cell in _cells(name, number, cells)} for number, cells in raw["rows"]}
    for place, (kind, text) in extras.items():
        match = _CELL.fullmatch(place)
        if match is None:
            continue
        row, column = int(match[2]), column_number(match[1])
        cell = rows.get(row, {}).get(column)
        if kind == "e":
            rows.setdefault(row, {})[column] = Cell(name, row, column, text)
        elif kind == "c" and cell:
            rows[row][column] = Cell(name, row, column, cell.text, cell.value, currency=_format_currency(text))
    ordered = tuple(Row(number, dict(sorted(cells.items()))) for number, cells in sorted(rows.items()) if cells)
    return Sheet(name, ordered, tuple(tuple(area) for area in raw["merged"]), raw["hidden"])


def _cells(sheet: str, row: int, cells: list[list[Any]]) -> Iterator[Cell]:
    for column, kind, text in cells:
        if kind == "n":
            number = Decimal(text)
            if number.is_finite():
                yield Cell(sheet, row, column, f"{unscaled(number):f}", unscaled(number))
        elif kind == "d":
            yield Cell(sheet, row, column, text, dt.date.fromisoformat(text))
        elif words := clean(text):
            yield Cell(sheet, row, column, words)


def _format_currency(shown: str) -> str:
    """Return the currency a number format shows: ``$``, ``¥`` or a code; empty when it shows none."""
    for match in _FORMAT_CURRENCY.finditer(shown):
        found = currencies_in(match[1] or match[2] or match[3])
        if len(found) == 1:
            return next(iter(found))
    return ""


def _computed(
    sheets: tuple[Sheet, ...], extras: Mapping[str, Mapping[str, list[str]]]
) -> tuple[tuple[Sheet, ...], tuple[tuple[str, str, str], ...]]:
    """Return the sheets with the values of formulas that were saved without one (or with the zero some writers put)."""
    texts = {
        (sheet, int(match[2]), column_number(match[1])): text
        for sheet, cells in extras.items()
        for place, (kind, text) in cells.items()
        if kind == "f" and (match := _CELL.fullmatch(place))
    }
    if not texts:
        return sheets, ()
    cells = {(cell.sheet, cell.row, cell.column): cell for sheet in sheets for cell in sheet.cells()}
    saved = {address: cell for address, cell in cells.items() if address in texts and cell.number != 0}
    formulas = Formulas(
        {address: text for address, text in texts.items() if address not in saved},
        {address: cell.number for address, cell in cells.items() if cell.number is not None},
        frozenset(address for address, cell in cells.items() if cell.number is None),
    )
    changes, remarks = _filled(formulas)
    done = tuple(
        sheet.with_cells({(cell.row, cell.column): cell for cell in changes if cell.sheet == sheet.name})
        for sheet in sheets
    )
    return done, remarks


def _filled(formulas: Formulas) -> tuple[list[Cell], tuple[tuple[str, str, str], ...]]:
    changes, failed = [], []
    for sheet, row, column in formulas.texts:
        try:
            value = formulas.value((sheet, row, column))
        except CannotCompute:
            value = None
        if value is None:
            failed.append(Cell(sheet, row, column, "#VALUE!"))
        else:
            number = unscaled(value)
            changes.append(Cell(sheet, row, column, f"{number:f}", number, origin="formula"))
    remarks = []
    if changes:
        said = f"{len(changes)} formulas had no saved value; they were computed here"
        remarks.append(("formula_computed", changes[0].place, said))
    if failed:
        said = f"{len(failed)} formulas have no saved value: open the workbook once and save it"
        remarks.append(("formula_without_value", failed[0].place, said))
    return changes + failed, tuple(remarks)
