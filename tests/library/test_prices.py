"""Published prices: every platform exists, every price names a source, neighbours are of one size."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.errors import InputError
from optimizer.io.library import Library
from optimizer.io.reference_prices import reference_prices

ROOTS = Library.shipped().roots
BOOK = reference_prices(ROOTS)


def test_every_priced_platform_is_in_the_library() -> None:
    assert BOOK.prices.keys() <= Library.shipped().platforms.keys()


def test_prices_of_one_platform_in_one_currency_are_of_one_size() -> None:
    for name, prices in BOOK.prices.items():
        for currency in {price.currency for price in prices}:
            amounts = [price.amount for price in prices if price.currency == currency]
            assert max(amounts) < 2 * min(amounts), name


def test_every_source_is_used_and_dated() -> None:
    used = {price.source for prices in BOOK.prices.values() for price in prices}
    assert used == BOOK.sources.keys()
    assert all(source.date and source.url for source in BOOK.sources.values())


def test_a_price_without_its_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    text = "prices: {mine: [{amount: 1, currency: USD, of: device, date: '2026', source: nobody, confidence: C}]}\nsources: {}\n"
    (tmp_path / "models" / "prices.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="sources lacks nobody"):
        reference_prices([*ROOTS, tmp_path])


def test_an_extra_folder_replaces_the_prices_of_a_platform(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    text = (
        "prices: {mi300x: [{amount: 9000, currency: EUR, of: server, date: '2026', source: me, confidence: C}]}\n"
        "sources: {me: {url: 'our last order', date: '2026-10', confidence: A}}\n"
    )
    (tmp_path / "models" / "prices.yaml").write_text(text, encoding="utf-8")
    book = reference_prices([*ROOTS, tmp_path])
    assert [str(price.amount) for price in book.prices["mi300x"]] == ["9000"]
    assert len(book.prices["h100-sxm"]) == 4
