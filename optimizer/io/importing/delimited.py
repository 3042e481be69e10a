"""Text files of fields: any encoding, any delimiter, within bounds."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator

from optimizer.errors import InputError, Problem
from optimizer.io.importing.cells import MAX_TEXT, Sheet, sheet_of

MAX_ROWS = 1_100_000
"""Most lines; a full sheet of a spreadsheet program has 1,048,576."""

MAX_CELLS = 3_000_000
"""Most fields of a file that are not blank."""

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 200


def decoded(content: bytes, name: str, encoding: str | None = None) -> tuple[str, str]:
    """Return text and the encoding it was read with.

    A byte order mark decides, then valid UTF-8; else the encoding in which the bytes make sense: two-byte GB for
    common Chinese characters, Shift JIS for kana, Windows 1252 for single accents.

    Raises:
        InputError: Binary data, or bytes that do not fit the encoding asked for.
    """
    found = encoding or next((known for mark, known in _BOMS if content.startswith(mark)), None) or _guessed(content)
    try:
        text = content.decode(found)
    except (UnicodeDecodeError, LookupError):
        problem = Problem(name, f"bytes that are not {found} text", "Expected text in one encoding", "Save it as UTF-8")
        raise InputError([problem]) from None
    if text.count("\0") > 0:
        raise InputError([Problem(name, "binary data", "Expected CSV, TSV, XLSX, XLS, ODS or YAML")])
    return text, found


def _guessed(content: bytes) -> str:
    head = content[:4000]
    if len(head) > 3 and head[1::2].count(0) > 0.8 * len(head[1::2]):
        return "utf-16-le"
    if _decodes(content, "utf-8"):
        return "utf-8"
    if _decodes(content, "shift_jis") and any("\u3040" <= char <= "\u30ff" for char in content.decode("shift_jis")):
        return "cp932"
    return "gb18030" if _decodes(content, "gb2312") or _mostly_han(content) else "cp1252"


def _mostly_han(content: bytes) -> bool:
    """True when all that is not ASCII reads as common Chinese in the large GB set."""
    if not _decodes(content, "gb18030"):
        return False
    foreign = [char for char in content.decode("gb18030") if not char.isascii()]
    common = sum("\u4e00" <= char <= "\u9fa5" or "\u3000" <= char <= "\u303f" or char > "\uff00" for char in foreign)
    return bool(foreign) and common > 0.95 * len(foreign) and len(foreign) > 20


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def read_delimited(text: str, name: str) -> tuple[Sheet, str]:
    """Return the fields of a text as one sheet without a name, and the delimiter.

    Raises:
        InputError: Too many lines or fields, or a field longer than any spreadsheet cell.
    """
    lines = text.splitlines()
    first = 1 if lines and lines[0].lower().startswith("sep=") and len(lines[0]) <= 6 else 0
    delimiter = lines[0][4:5] or "," if first else _delimiter(lines[:_SAMPLE_LINES])
    return sheet_of("", _fields(text, name, delimiter, first)), delimiter


def _fields(text: str, name: str, delimiter: str, skip: int) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with its number; a blank line or a line break inside quotes counts as spreadsheets count it."""
    count = 0
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for number, fields in enumerate(reader, 1):
            count += sum(map(bool, fields))
            if number > MAX_ROWS or count > MAX_CELLS:
                raise InputError([Problem(name, "too many rows or cells", f"Expected at most {MAX_CELLS:,} cells")])
            if any(len(field) > MAX_TEXT for field in fields):
                found = f"a field of more than {MAX_TEXT:,} characters"
                fix = "Look for a quotation mark that is never closed"
                raise InputError([Problem(f"{name}, row {number}", found, "", fix)])
            if number > skip:
                yield number, fields
    except csv.Error as error:
        raise InputError([Problem(f"{name}, row {reader.line_num}", f"not readable as fields ({error})", "")]) from None


def _delimiter(lines: list[str]) -> str:
    """Return the delimiter that gives most lines the same number of fields, more than one."""

    def score(delimiter: str) -> tuple[int, int]:
        try:
            widths = Counter(len(fields) for fields in csv.reader(lines, delimiter=delimiter) if len(fields) > 1)
        except csv.Error:
            return 0, 0
        width, times = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        return times, width

    return max(_DELIMITERS, key=score)
