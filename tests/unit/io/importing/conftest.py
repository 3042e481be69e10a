"""Files of the tests, and the import of one of them."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from optimizer.io.importing.mapping import Mapping
from optimizer.io.importing.run import Import, import_files
from optimizer.io.library import Library

DATA = Path(__file__).parents[3] / "data" / "quotes"
TODAY = dt.date(2026, 11, 30)

Importer = Callable[..., Import]


@cache
def platforms() -> Any:
    return Library.at().platforms


def run_import(path: Path, mapping: Mapping | None = None) -> Import:
    return import_files([path], lambda _: mapping or Mapping(), platforms(), TODAY)


@pytest.fixture
def imported() -> Importer:
    """Return a function that imports a file of the test data, or a path."""

    def run(name: str | Path, mapping: Mapping | None = None) -> Import:
        path = name if isinstance(name, Path) else DATA / "shared" / name
        return run_import(path, mapping)

    return run


@pytest.fixture
def expected() -> dict[str, Any]:
    """Return the right reading of the eight shared files."""
    return json.loads((DATA / "shared" / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture
def sheet(tmp_path: Path) -> Callable[..., Import]:
    """Return a function that writes CSV text to a file and imports it."""

    def run(text: str, mapping: Mapping | None = None, name: str = "sheet.csv", encoding: str = "utf-8") -> Import:
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return run_import(path, mapping)

    return run
