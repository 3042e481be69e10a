"""One file of any supported format as a book of sheets; size and kind are checked first."""

from __future__ import annotations

import hashlib
from pathlib import Path

from optimizer.errors import InputError, Problem
from optimizer.io.importing.cells import Book
from optimizer.io.importing.delimited import decoded, read_delimited
from optimizer.io.importing.workbooks import is_workbook, read_workbook
from optimizer.io.shipped import shown

MAX_BYTES = 40_000_000
"""Largest file; a price book of 10,000 lines has about 1 MB."""

YAML_SUFFIXES = (".yaml", ".yml")
"""Files that hold quote records already."""

_ENCODINGS_WITHOUT_DOUBT = ("utf-8", "utf-8-sig", "utf-16", "utf-32")


def read_book(path: Path, encoding: str | None = None) -> Book:
    """Return the sheets of a CSV, TSV, XLSX, XLS or ODS file.

    Args:
        path: The file.
        encoding: Of a text file, when known; else it is found out.

    Raises:
        InputError: Missing, too large, damaged, or no table format.
    """
    name = shown(path)
    content = _content(path, name)
    checksum = hashlib.sha256(content).hexdigest()
    if is_workbook(content[:8]):
        sheets, remarks = read_workbook(path, name)
        return Book(name, checksum, sheets, remarks)
    text, used = decoded(content, name, encoding)
    sheet, _ = read_delimited(text, name)
    doubt = (("encoding_assumed", "", f"read as {used}; the file does not say its encoding"),)
    return Book(name, checksum, (sheet,), () if encoding or used in _ENCODINGS_WITHOUT_DOUBT else doubt)


def _content(path: Path, name: str) -> bytes:
    try:
        if not path.is_file():
            found = "this is a folder" if path.is_dir() else "there is no such file"
            raise InputError([Problem(name, found, "", "Check the name and the folder you are in")])
        size = path.stat().st_size
        if size > MAX_BYTES:
            found, expected = f"{size / 1e6:,.0f} MB", f"Expected at most {MAX_BYTES / 1e6:.0f} MB"
            raise InputError([Problem(name, found, expected, "Export only the sheets with prices")])
        return path.read_bytes()
    except OSError as error:
        raise InputError([Problem(name, f"it cannot be read ({error.strerror})", "")]) from None
