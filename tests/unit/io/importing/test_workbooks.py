"""Workbooks: typed cells, number formats, hidden sheets, ODS, bid sheets, and records out and back."""

from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from optimizer.errors import InputError
from optimizer.io.importing.exporting import write_quotes
from optimizer.io.importing.run import Import
from optimizer.io.importing.template import template_rows, write_template
from optimizer.schema.base import Money

Importer = Callable[..., Import]
THREE = Path(__file__).parents[3] / "data" / "quotes" / "three-vendors"


@pytest.fixture
def typed(tmp_path: Path) -> Path:
    path = tmp_path / "typed.xlsx"
    book = xlsxwriter.Workbook(str(path))
    page, cost = book.add_worksheet("Offer"), book.add_worksheet("Cost")
    day, euro = book.add_format({"num_format": "dd/mm/yyyy"}), book.add_format({"num_format": "#,##0.00 [$€-407]"})
    page.write_row(0, 0, ["Vendor:", "Typed Cells (invented)"])
    page.write(1, 0, "Valid until:")
    page.write_datetime(1, 1, dt.datetime(2027, 9, 3), day)  # noqa: DTZ001 - a calendar day
    page.write_row(3, 0, ["Part number", "Qty", "Unit price"])
    page.write_row(4, 0, ["A-1", 2])
    page.write_number(4, 2, 1234.5, euro)
    page.write_row(5, 0, ["A-2", 1, "12,5"])
    page.write_row(6, 0, ["A-3", 1])
    page.write_formula(6, 2, "=1/0", None, "#DIV/0!")
    cost.write_row(0, 0, ["Part number", "Qty", "Unit price"])
    cost.write_row(1, 0, ["A-1", 2, 1000])
    cost.hide()
    book.close()
    return path


def test_typed_cells_keep_their_type_and_currency(typed: Path, imported: Importer) -> None:
    result = imported(typed)
    (quote,) = result.quotes
    assert quote.valid_until == dt.date(2027, 9, 3)
    assert quote.currency == "EUR"
    assert [line.status for line in quote.lines] == ["priced", "priced", "malformed"]
    assert [line.price for line in quote.lines[:2]] == [Money(amount=Decimal("1234.5")), Money(amount=Decimal("12.5"))]
    assert quote.lines[0].cell == "Offer!C5"


def test_a_hidden_sheet_is_left_out_and_named(typed: Path, imported: Importer) -> None:
    result = imported(typed)
    assert any(warning.code == "hidden_sheet" and warning.location == "Cost" for warning in result.warnings)
    assert len(result.quotes[0].lines) == 3


def test_ods_is_read(tmp_path: Path, imported: Importer) -> None:
    rows = [
        ["Vendor:", "Open Sheet (invented)"],
        ["Currency:", "EUR"],
        ["Part number", "Qty", "Unit price"],
        ["A-1", "3", "2.50"],
    ]
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>' for text in row
        )
        + "</table:table-row>"
        for row in rows
    )
    names = " ".join(
        f'xmlns:{key}="urn:oasis:names:tc:opendocument:xmlns:{key}:1.0"' for key in ("office", "table", "text")
    )
    body = f'<office:body><office:spreadsheet><table:table table:name="S">{cells}</table:table></office:spreadsheet></office:body>'
    path = tmp_path / "a.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "content.xml", f'<?xml version="1.0"?><office:document-content {names}>{body}</office:document-content>'
        )
        archive.writestr(
            "META-INF/manifest.xml", '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
        )
    (quote,) = imported(path).quotes
    assert (quote.vendor, quote.currency) == ("Open Sheet (invented)", "EUR")
    assert (quote.lines[0].computed, quote.lines[0].cell) == (Decimal("7.50"), "S!C4")


def test_an_excel_97_workbook_is_read_with_its_types(imported: Importer) -> None:
    (quote,) = imported(THREE.parent / "excel-97.xls").quotes
    assert (quote.vendor, quote.currency, quote.valid_until) == (
        "Cobalt Compute (invented)",
        "USD",
        dt.date(2027, 1, 15),
    )
    (line,) = quote.lines
    assert (line.quantity, line.computed, line.cell) == (4, Decimal("1649382.68"), "Offer!C5")


def filled(path: Path, head: dict[str, str], rows: list[dict[str, Any]]) -> Path:
    """Fill in a blank bid sheet the way a vendor does."""
    write_template(path, ["b200-hgx", "h200-sxm"])
    book = openpyxl.load_workbook(path)
    page = book["Bid"]
    for cells in page.iter_rows(max_row=12):
        if cells[0].value in head:
            cells[1].value = head[cells[0].value]
    header = next(row for row in page.iter_rows() if row[0].value == "Offer")
    columns = {cell.value: cell.column for cell in header}
    for number, row in enumerate(rows, header[0].row + 1):
        for heading, value in row.items():
            page.cell(number, columns[heading]).value = value
    book.save(path)
    return path


HEAD = {
    "Vendor": "Bidder (invented)", "Quote number": "B-1", "Quote date": "2026-11-20", "Valid until": "2027-01-31",
    "Currency": "EUR", "Quote kind": "binding", "Tax included": "yes", "Tax rate": "19%", "Delivery terms": "DAP hall-a",
    "Payment terms": "30% at order, 60% at delivery, 10% at acceptance",
}  # fmt: skip


def test_a_filled_bid_sheet_imports_without_a_mapping(tmp_path: Path, imported: Importer) -> None:
    node = {"Offer": "node", "Role": "hardware", "Platform": "b200-hgx", "Type": "purchase", "Price basis": "per node"}
    rows = [
        {**node, "Unit price": 476000, "Quantity from": 1, "Quantity to": 15, "Minimum order": 8, "Steps of": 8, "Lead time": "16-20 weeks"},
        {**node, "Unit price": 452200, "Quantity from": 16, "Minimum order": 8, "Steps of": 8, "Lead time": "16-20 weeks", "Notes": "all units"},
        {"Offer": "node", "Role": "support", "Description": "support", "Unit price": 23800, "Price basis": "per node", "Months of service": 36},
        {"Offer": "node", "Role": "freight", "Description": "freight", "Unit price": "on request", "Price basis": "per order"},
        {"Offer": "rent", "Role": "hardware", "Platform": "h200-sxm", "Type": "reserved", "Unit price": 2.38, "Price basis": "per GPU-hour",
         "Commitment": "36 months", "Hours per month": 730, "Take or pay %": "80%", "Prepay %": "25%", "Start date": "Q2 2027", "Region": "eu-1",
         "Minimum order": 64},
    ]  # fmt: skip
    result = imported(filled(tmp_path / "bid.xlsx", HEAD, rows))
    (quote,) = result.quotes
    assert result.finished
    assert (quote.quote, quote.kind, quote.currency, quote.tax.included, quote.tax.rate) == (
        "B-1",
        "binding",
        "EUR",
        True,
        Decimal("0.19"),
    )
    assert [(part.at, part.share) for part in quote.payment] == [
        ("order", Decimal("0.3")),
        ("delivery", Decimal("0.6")),
        ("acceptance", Decimal("0.1")),
    ]
    node_offer, rent = quote.offers["node"].model_dump(), quote.offers["rent"].model_dump()
    assert {first: price["amount"] for first, price in node_offer["price"]["all_units"].items()} == {
        1: 476000,
        16: 452200,
    }
    assert node_offer["units"] == {"min": 8, "step": 8, "max": None}
    assert node_offer["lead_weeks"] == (16, 20)
    assert [(line["item"], line["per"], line["months"]) for line in node_offer["lines"]] == [
        ("support", "node", 36),
        ("freight", "order", None),
    ]
    assert node_offer["lines"][1]["price"] == "on_request"
    assert (rent["term_months"], rent["take_or_pay"], rent["prepay"]) == (36, Decimal("0.8"), Decimal("0.25"))
    assert rent["start"] == (dt.date(2027, 4, 1), dt.date(2027, 6, 30))
    assert rent["units"]["min"] == 8  # 64 accelerators in nodes of 8
    assert not any(warning.code == "moq_conflict" for warning in result.warnings)


def test_a_blank_bid_sheet_has_lists_notes_and_no_quote(tmp_path: Path, imported: Importer) -> None:
    for suffix in (".xlsx", ".csv"):
        write_template(tmp_path / f"bid{suffix}", ["b200-hgx"])
        with pytest.raises(InputError, match="no table with an item"):
            imported(tmp_path / f"bid{suffix}")
    page = openpyxl.load_workbook(tmp_path / "bid.xlsx")["Bid"]
    choices = " ".join(rule.formula1 for rule in page.data_validations.dataValidation)
    assert "hardware" in choices
    assert "per GPU-hour" in choices
    assert sum(cell.comment is not None for row in page.iter_rows() for cell in row) > 10
    headings = template_rows()[-1]
    assert [cell.value for cell in page[len(template_rows())]] == headings


def test_a_bid_sheet_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Expected \.xlsx or \.csv"):
        write_template(tmp_path / "bid.pdf", [])


@pytest.mark.parametrize("suffix", [".yaml", ".csv", ".xlsx"])
def test_three_vendors_come_back_unchanged(tmp_path: Path, imported: Importer, suffix: str) -> None:
    quotes = tuple(quote for path in sorted(THREE.glob("*.*")) for quote in imported(path).quotes)
    assert [quote.vendor for quote in quotes] == [
        "Birke Rechentechnik (erfunden)",
        "Lagoon Cloud (invented)",
        "Orchard Systems",
    ]
    path = tmp_path / f"records{suffix}"
    write_quotes(path, quotes)
    assert imported(path).quotes == quotes


def test_records_of_another_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Expected \.yaml, \.csv or \.xlsx"):
        write_quotes(tmp_path / "a.pdf", [])
