"""Every code an import can give is documented, and every documented code exists."""

from __future__ import annotations

import re
from pathlib import Path

import optimizer.io.importing

FOLDER = Path(optimizer.io.importing.__file__ or "").parent
_GIVEN = re.compile(
    r'\b(?:warn|once|ask|ask_vendor)\(\s*"([a-z0-9_]+)"|code="([a-z0-9_]+)"|remarks\.append\(\("([a-z0-9_]+)"|\(\("(encoding_assumed)"'
)
_INDIRECT = {
    "tax_unknown", "freight_unknown", "exponent", "decimal_comma", "brackets_negative", "trailing_minus", "breaks_gap",
    "breaks_overlap", "dollar_assumed_usd", "dollar_by_place", "yen_sign_by_clue", "validity_relative", "validity_unread",
    "payment_unread", "payment_events_assumed", "ambiguous_price", "ambiguous_currency",
}  # fmt: skip


def test_codes_and_their_documentation_agree() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py"))
    given = {name for match in _GIVEN.findall(code) for name in match if name} | _INDIRECT
    assert all(f'"{name}"' in code or name.endswith("_unknown") for name in _INDIRECT)
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\b[a-z0-9]+(?:_[a-z0-9]+)*\b", text))
    table = set(re.findall(r"`([a-z0-9_]+)`", text.split("Codes of warnings")[1].split("## Bounds")[0]))
    assert not given - words
    assert not table - given
