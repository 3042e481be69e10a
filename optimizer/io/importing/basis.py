"""What one price is for: accelerator, node, rack, hour or month of it, or a quantity such as 1,000 feet."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from optimizer.io.importing.numbers import plain
from optimizer.io.importing.vocabulary import mentions, words_of
from optimizer.schema.quote_record import Per

_COUNT = re.compile(r"(?<![\w.,])(\d{1,4})\s*[- ]?\s*(?:gpus?|accelerators?|chips?|cards?|卡)\b|(\d{1,4})\s*卡")
_LEADING = re.compile(r"(?:per\s+|/\s*)?(\d[\d,.' ]*)(?:\s|$|[a-z'])")
_TIMED = {"accelerator", "node", "rack", "unit"}


@dataclass(frozen=True, slots=True)
class Basis:
    """What one price is for.

    Attributes:
        per: What it multiplies; None when the words do not say.
        per_quantity: Quantity of one price.
        accelerators: Accelerators of the priced unit when stated, e.g. 8 in ``node (8 GPU)``.
        words: The words read.
    """

    per: Per | None
    per_quantity: Decimal
    accelerators: int | None
    words: str


def read_basis(words: str, described: str, leading: Callable[[str], Decimal | None]) -> Basis:
    """Return the basis in some words, or, when they do not say, in the description of the line.

    Args:
        words: Of the basis or unit column, the price cell or the heading.
        described: Description and unit; ``8-GPU node`` is priced per node.
        leading: Reads the first number of a text in the style of the file.
    """
    text = plain(words)
    said = plain(described[:200])
    count = _COUNT.search(text) or _COUNT.search(said)
    accelerators = int(count[1] or count[2]) if count else None
    match = _LEADING.match(text)
    quantity = leading(match[1]) if match and not _COUNT.match(text) else None
    per = _thing(_COUNT.sub(" ", text))
    if per in (None, "unit"):
        per = _thing_described(said) or per
    return Basis(_timed(per, text), quantity or Decimal(1), accelerators, words)


def _thing(text: str) -> str | None:
    found = mentions("per", text)
    return next((name for name in ("superchip", "node", "rack", "accelerator", "unit", "order") if name in found), None)


def _thing_described(text: str) -> str | None:
    """Return node or rack when the description of a line names one; parts of a node are no nodes."""
    found = mentions("per", text)
    if not found or not any(re.search(pattern, text) for pattern in words_of("accelerators", "accelerators")):
        return None
    return next((name for name in ("rack", "node") if name in found), None)


def _timed(per: str | None, text: str) -> Per | None:
    for unit, suffix in (("hour", "hour"), ("month", "month")):
        if any(re.search(rf"(?<![a-z])(?:{word})(?![a-z])", text) for word in words_of(unit, unit)):
            thing = per if per in _TIMED else "unit"
            if suffix == "hour" and thing == "unit":
                return None
            return f"{thing}_{suffix}"  # type: ignore[return-value]  # every thing has its month, and all but unit its hour
    return per  # type: ignore[return-value]  # names of the vocabulary are those of the schema
