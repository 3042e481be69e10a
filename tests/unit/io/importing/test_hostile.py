"""Hostile files: a clear refusal or harmless text, in bounded time and memory."""

from __future__ import annotations

import csv
import resource
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import xlsxwriter

from optimizer.errors import InputError
from optimizer.io.importing.exporting import write_quotes
from optimizer.io.importing.run import Import
from optimizer.report.quotes import import_markdown

Importer = Callable[..., Import]
CONTENT_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>'
)
RELS = '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="{target}"/></Relationships>'
WORKBOOK = '<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="A" sheetId="1" r:id="r1"/></sheets></workbook>'
SHEET = '<?xml version="1.0"?>{doctype}<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>'
HEAD = "".join(
    f'<c r="{column}1" t="inlineStr"><is><t>{text}</t></is></c>'
    for column, text in zip("ABC", ("Part number", "Qty", "Unit price"))
)


def workbook(path: Path, rows: str, doctype: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        archive.writestr("_rels/.rels", RELS.format(kind="officeDocument", target="xl/workbook.xml"))
        archive.writestr("xl/_rels/workbook.xml.rels", RELS.format(kind="worksheet", target="worksheets/sheet1.xml"))
        archive.writestr("xl/workbook.xml", WORKBOOK)
        archive.writestr("xl/worksheets/sheet1.xml", SHEET.format(doctype=doctype, rows=rows))
    return path


def line(number: int) -> str:
    return f'<row r="{number}"><c r="A{number}" t="inlineStr"><is><t>PN-1</t></is></c><c r="B{number}"><v>2</v></c><c r="C{number}"><v>3.5</v></c></row>'


@pytest.fixture(autouse=True)
def bounded() -> object:
    """Every test here ends within 30 s of a slow machine and without a gigabyte."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 30
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1_000_000


def test_a_small_hand_made_workbook_is_read(tmp_path: Path, imported: Importer) -> None:
    (quote,) = imported(workbook(tmp_path / "a.xlsx", f'<row r="1">{HEAD}</row>{line(2)}')).quotes
    assert quote.lines[0].computed == 7


def test_a_file_of_200_mb_is_refused_by_its_size(tmp_path: Path, imported: Importer) -> None:
    path = tmp_path / "big.xlsx"
    with path.open("wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(200_000_000)
    started = time.monotonic()
    with pytest.raises(InputError, match=r"200 MB.*at most 40 MB"):
        imported(path)
    assert time.monotonic() - started < 5


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, imported: Importer) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as part:
            for _ in range(400):
                part.write(b"\0" * 1_000_000)
    assert path.stat().st_size < 1_000_000
    started = time.monotonic()
    with pytest.raises(InputError, match="unpacks to too much data"):
        imported(path)
    assert time.monotonic() - started < 5


def test_a_size_that_lies_is_found_out(tmp_path: Path, imported: Importer) -> None:
    path = workbook(tmp_path / "liar.xlsx", f'<row r="1">{HEAD}</row>' + " " * 3_000_000)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        real = archive.getinfo("xl/worksheets/sheet1.xml").file_size
    path.write_bytes(bytes(content).replace(real.to_bytes(4, "little"), (100).to_bytes(4, "little")))
    with pytest.raises(InputError, match="damaged or protected archive"):
        imported(path)


def test_a_million_blank_rows_do_not_matter(tmp_path: Path, imported: Importer) -> None:
    blank = "".join(f'<row r="{number}"/>' for number in range(3, 1_000_001))
    (quote,) = imported(
        workbook(tmp_path / "blank.xlsx", f'<row r="1">{HEAD}</row>{line(2)}{blank}{line(1_000_001)}')
    ).quotes
    assert [item.cell for item in quote.lines] == ["A!C2", "A!C1000001"]


def test_a_million_blank_lines_of_csv_do_not_matter(tmp_path: Path, imported: Importer) -> None:
    path = tmp_path / "blank.csv"
    path.write_text("Part number,Qty,Unit price\nA,2,3.50\n" + ",,\n" * 1_000_000, encoding="utf-8")
    (quote,) = imported(path).quotes
    assert quote.lines[0].computed == 7


def test_a_cell_in_the_last_corner_is_refused(tmp_path: Path, imported: Importer) -> None:
    corner = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    with pytest.raises(InputError, match="cells scattered over"):
        imported(workbook(tmp_path / "corner.xlsx", f'<row r="1">{HEAD}</row>{line(2)}{corner}'))


def test_a_document_type_is_refused(tmp_path: Path, imported: Importer) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
    with pytest.raises(InputError, match="document type declaration"):
        imported(workbook(tmp_path / "dtd.xlsx", f'<row r="1">{HEAD}</row>{line(2)}', bomb))


def test_cells_repeated_without_end_in_ods_are_refused(tmp_path: Path, imported: Importer) -> None:
    content = (
        '<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">'
        '<office:body><office:spreadsheet><table:table table:name="A"><table:table-row table:number-rows-repeated="1000000">'
        '<table:table-cell table:number-columns-repeated="16000" office:value-type="string"><text:p>x</text:p></table:table-cell>'
        "</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"
    )
    path = tmp_path / "bomb.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
        manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
        archive.writestr("META-INF/manifest.xml", manifest)
    with pytest.raises(InputError, match="Expected an XLSX, XLS or ODS workbook"):
        imported(path)


def test_formulas_that_need_each_other_stay_unknown(tmp_path: Path, imported: Importer) -> None:
    path = tmp_path / "loop.xlsx"
    book = xlsxwriter.Workbook(str(path))
    page = book.add_worksheet("A")
    page.write_row(0, 0, ["Part number", "Qty", "Unit price"])
    page.write_row(1, 0, ["X", 1])
    page.write_formula(1, 2, "=C3", None, "")
    page.write_row(2, 0, ["Y", 1])
    page.write_formula(2, 2, "=C2", None, "")
    for number in range(3, 600):
        page.write_row(number, 0, ["Z", 1])
        page.write_formula(number, 2, f"=C{number + 2}", None, "")
    book.close()
    result = imported(path)
    states = [item.status.value for item in result.quotes[0].lines]
    assert states[:2] == ["malformed", "malformed"]
    assert "priced" not in states
    assert any(warning.code == "formula_without_value" for warning in result.warnings)


@pytest.mark.parametrize(
    "name", ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "<script>alert(1)</script>", "a|b\\c"]
)
def test_text_never_becomes_a_formula_or_markup(sheet: Callable[..., Import], tmp_path: Path, name: str) -> None:
    quoted = name.replace('"', '""')
    result = sheet(f'Vendor: {name}\nPart number,Description,Qty,Unit price\nA-1,"{quoted}",2,3.50\n')
    write_quotes(tmp_path / "out.csv", result.quotes)
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        fields = [field for row in csv.reader(file) for field in row]
    assert any(name in field for field in fields)
    assert not [field for field in fields if field[:1] in ("=", "+", "@") or field.startswith("-2+")]
    write_quotes(tmp_path / "out.xlsx", result.quotes)
    with zipfile.ZipFile(tmp_path / "out.xlsx") as archive:
        parts = [archive.read(part) for part in archive.namelist() if "worksheets" in part]
    assert parts
    assert not any(b"<f>" in part for part in parts)
    shown = import_markdown(result)
    assert "<script>" not in shown
    assert "| a|b" not in shown


def test_an_alias_bomb_is_refused(tmp_path: Path, imported: Importer) -> None:
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10))
    (tmp_path / "bomb.yaml").write_text(f"a0: &a0 [x]\n{levels}\n", encoding="utf-8")
    with pytest.raises(InputError, match="values once aliases are expanded"):
        imported(tmp_path / "bomb.yaml")


def test_a_quote_mark_that_is_never_closed_is_found(sheet: Callable[..., Import]) -> None:
    with pytest.raises(InputError, match="never closed"):
        sheet('Part number,Qty,Unit price\n"A,2,3.50\n' + "B,1,2.00\n" * 10_000)


@pytest.mark.parametrize(
    ("content", "suffix", "said"),
    [
        (b"PK\x03\x04 broken", ".xlsx", "reader stopped|damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, ".xls", "reader stopped|memory|password"),
        (b"", ".csv", "no table"),
        (b"\0\1\2\3" * 50, ".csv", "binary data|no table"),
        (b"hello world", ".csv", "no table"),
    ],
)
def test_what_is_no_table_is_refused_in_words(
    tmp_path: Path, imported: Importer, content: bytes, suffix: str, said: str
) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        imported(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path, imported: Importer) -> None:
    with pytest.raises(InputError, match="no such file"):
        imported(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="a folder"):
        imported(tmp_path)


def test_amounts_beyond_all_reason_are_refused_with_their_place(sheet: Callable[..., Import]) -> None:
    with pytest.raises(InputError, match=r"sheet.csv, quote from row 2: computed.*is larger than"):
        sheet(f"Part number,Qty,Unit price,Currency\nA-1,{'9' * 20},{'9' * 20}.50,USD\n")


def test_a_negative_quantity_beside_an_extension_alone_is_read(sheet: Callable[..., Import]) -> None:
    (quote,) = sheet("Part number,Qty,Ext price,Currency\nA-1,-61,7.50,USD\n").quotes
    assert (quote.lines[0].quantity, quote.lines[0].computed) == (1, 7.5)
