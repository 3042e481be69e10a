"""Published prices of platforms (``models/prices.yaml``): what a quoted price is compared with, never planned with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from optimizer.io.validate import validated
from optimizer.io.yaml_reader import read_yaml_file
from optimizer.schema.base import CurrencyCode, Exact, Frozen, Id, Source


class ReferencePrice(Frozen):
    """One published price of one accelerator, new."""

    amount: Annotated[Exact, Field(gt=0)]
    """Price of one accelerator in ``currency``."""
    currency: CurrencyCode
    """ISO 4217 code."""
    of: Literal["device", "server", "rack"]
    """Bare device, or a server's or rack's price divided by its accelerators."""
    date: str
    """When it was published or read: date, month or year."""
    source: str
    """Name in ``sources``."""
    confidence: str = Field(pattern=r"^[A-D]$")
    """A vendor, B reputable secondary, C one secondary source or estimate, D derived or unverified."""
    note: str | None = None
    """Range or remark."""


class ReferencePrices(Frozen):
    """Every published price."""

    prices: dict[Id, tuple[ReferencePrice, ...]]
    """By platform."""
    sources: dict[str, Source]
    """By short name."""

    @model_validator(mode="after")
    def _sourced(self) -> ReferencePrices:
        named = {price.source for prices in self.prices.values() for price in prices}
        if unknown := sorted(named - self.sources.keys()):
            raise ValueError(f"sources lacks {', '.join(unknown)}")
        return self


def reference_prices(roots: Iterable[Path]) -> ReferencePrices:
    """Return the published prices of library folders; a platform of a later folder replaces that of an earlier one.

    Raises:
        InputError: A file is wrong, with every problem.
    """
    files = (root / "models" / "prices.yaml" for root in roots)
    books = [validated(ReferencePrices, read_yaml_file(file)) for file in files if file.is_file()]
    return ReferencePrices(
        prices={name: prices for book in books for name, prices in book.prices.items()},
        sources={name: source for book in books for name, source in book.sources.items()},
    )


def amounts_in(prices: Iterable[ReferencePrice], rates: Mapping[str, Decimal]) -> tuple[Decimal, ...]:
    """Return prices in one currency; those without a rate are left out.

    Args:
        prices: Published prices of one platform.
        rates: Currency -> units of the wanted currency for one of it.
    """
    return tuple(price.amount * rates[price.currency] for price in prices if price.currency in rates)
