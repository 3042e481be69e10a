"""A small scenario with one quote file, written to a folder; tests change its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.io.examples import QUOTE, SCENARIO, Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes the scenario and quote, with texts replaced, and gives the scenario's path."""

    def written(
        *, scenario: dict[str, str] | None = None, quote: dict[str, str] | None = None, extra: str = ""
    ) -> Path:
        (tmp_path / "quotes").mkdir(exist_ok=True)
        (tmp_path / "scenario.yaml").write_text(_changed(SCENARIO, scenario) + extra, encoding="utf-8")
        (tmp_path / "quotes" / "acme.yaml").write_text(_changed(QUOTE, quote), encoding="utf-8")
        return tmp_path / "scenario.yaml"

    return written


def _changed(text: str, changes: dict[str, str] | None) -> str:
    for old, new in (changes or {}).items():
        assert old in text, f"the example no longer holds {old!r}"
        text = text.replace(old, new)
    return text
