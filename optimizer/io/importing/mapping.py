"""A vendor's mapping: what a person answered once about its sheets, kept in a small YAML file and reused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from optimizer.io.validate import validated
from optimizer.io.yaml_reader import read_yaml_file
from optimizer.schema.base import CurrencyCode, Frozen
from optimizer.schema.quote import Tax

FOLDER = "mappings"
"""Folder beside the written quotes where mappings are kept."""

NOT_COMPUTE = "none"
"""Answer for a line that is no accelerator hardware."""


class Mapping(Frozen):
    """What is known about a vendor's sheets; every key may be left out."""

    vendor: Annotated[str, Field(min_length=1)] | None = None
    """Name of the vendor."""
    encoding: str | None = None
    """Encoding of its text files, e.g. gb18030."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Heading as printed -> meaning (a name of the list ``columns`` in vocabulary.yaml), or ``ignore``."""
    ignore_sheets: tuple[str, ...] = ()
    """Sheets to leave out."""
    decimal: Literal["point", "comma"] | None = None
    """Decimal mark of its numbers."""
    dates: Literal["day_first", "month_first"] | None = None
    """Order of day and month in dates such as 11/9/2026."""
    currency: CurrencyCode | None = None
    """Currency of amounts that name none, and of a bare $ or ¥."""
    kind: Literal["binding", "budgetary", "list", "contract"] | None = None
    """How firm its quotes are."""
    tax: Tax | None = None
    """Tax of its prices."""
    breaks: Literal["all_units", "incremental"] | None = None
    """How its quantity breaks apply."""
    zero: Literal["included", "free", "missing"] | None = None
    """What a printed price of zero means."""
    platforms: dict[str, str] = Field(default_factory=dict)
    """Part number or description as printed -> platform id, or ``none``."""
    basis: dict[str, str] = Field(default_factory=dict)
    """Part number or description as printed -> what one price buys, e.g. ``per node``."""
    cells: dict[str, str] = Field(default_factory=dict)
    """Cell and its text, e.g. ``B19 1.234`` -> text to read in its place; of no effect once the cell says otherwise."""

    @property
    def mark(self) -> str:
        """Decimal mark as a character; empty when not stated."""
        return {"point": ".", "comma": ",", None: ""}[self.decimal]


def read_mapping(path: Path) -> Mapping:
    """Return the mapping in a file.

    Raises:
        InputError: Not readable, or with keys or values a mapping does not have.
    """
    return validated(Mapping, read_yaml_file(path))


def slug(text: str) -> str:
    """Return an id of small letters, digits and hyphens; of other scripts the code points.

    >>> slug("Larkspur Distribution (fictional)"), slug("Q-2291"), slug("澄湖")
    ('larkspur-distribution', 'q-2291', 'u6f84-u6e56')
    """
    bare = re.sub(r"[(（].*?[)）]", " ", text).strip() or text
    spelled = "".join(char if char.isascii() else f" u{ord(char):04x} " for char in bare.casefold())
    return re.sub(r"[^a-z0-9]+", "-", spelled).strip("-")[:60].strip("-") or "unnamed"


def mapping_path(folder: Path, vendor: str) -> Path:
    """Return where the mapping of a vendor is kept beside the written quotes."""
    return folder / FOLDER / f"{slug(vendor)}.yaml"
