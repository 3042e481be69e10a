"""The catalogue page: made of the cards, the same whenever it is made, unknowns said aloud."""

from __future__ import annotations

import pytest

from optimizer.io.library import Library
from optimizer.io.reference_prices import reference_prices
from optimizer.io.shipped import shipped
from optimizer.report.catalog_page import catalogue_page

LIBRARY = Library.shipped()
PAGE = catalogue_page(LIBRARY.platforms, LIBRARY.architectures, reference_prices(LIBRARY.roots))


def row(start: str) -> list[str]:
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| {start}"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_page_in_the_library_is_up_to_date() -> None:
    text = (shipped("models") / "CATALOGUE.md").read_text(encoding="utf-8")
    assert text == PAGE, "run: clusterbuy catalog --markdown models/CATALOGUE.md"


@pytest.mark.parametrize("name", [*LIBRARY.platforms, *LIBRARY.architectures])
def test_every_card_is_on_it_with_its_sources(name: str) -> None:
    assert f"**{name}**\n" in PAGE


def test_unknown_is_said_and_never_a_zero() -> None:
    assert row("[cs-4]")[2:] == ["unknown"] * 10
    assert row("[tpu-8t]")[4:9] == ["unknown", "unknown", "unknown", "12,600", "unknown"]
    assert row("[tpu7x]")[9] == "unknown"
    assert row("[a100-80gb-sxm]")[4:8] == ["312", "-", "-", "-"]
    figures = PAGE.split("## Hardware: how")[0]
    assert "| 0 |" not in figures
    assert "| ? |" not in figures


def test_routes_and_reasons() -> None:
    assert row("cs-4 ")[-1] == "no: No specification is published"
    assert row("mtia-300 ")[3] == "neither sold nor rented"
    assert row("rtx-4090 ")[-1].startswith("only with policy.allow_excluded_licence")
    assert row("tpu7x ")[3] == "reserved, block, on demand"
    assert "406 B on 16,384" in row("h100-sxm ")[5]


def test_sources_are_linked() -> None:
    section = PAGE.split("**b200-hgx**\n")[1].split("**b300-hgx**")[0]
    assert "[dgx-b200-guide](https://docs.nvidia.com/dgx/dgxb200-user-guide/introduction-to-dgxb200.html)" in section
    assert "2026-11-30, A for node_power_kw, space" in section


def test_prices_say_what_they_are_for() -> None:
    assert "| b200-hgx | 57,225 USD | server | 2026-10-27 | exxact | B | with 8 network cards; 55,410 without |" in PAGE
    assert "| a100-80gb-sxm | 90,000 CNY | device | 2024 | server-article | C | 80,000 to 100,000 |" in PAGE


def test_tables_are_rectangular() -> None:
    widths: set[int] = set()
    for line in PAGE.splitlines():
        if line.startswith("| "):
            widths.add(line.replace("\\|", "").count("|"))
        else:
            assert len(widths) < 2
            widths = set()
