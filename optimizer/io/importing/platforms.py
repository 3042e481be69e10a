"""Recognise the platform of a line by its words; one that fits several is left to a person."""

from __future__ import annotations

import re
from collections.abc import Mapping as Map

from optimizer.io.importing.numbers import plain
from optimizer.io.importing.vocabulary import words_of
from optimizer.schema.platform import Platform

_PACKAGING = re.compile(r"hgx|sxm|server|pcie|ada|rtx|rx|pro|ai|radeon|nvl\d+|helios\d+|\d+gb|\d+w")
"""Parts of platform ids that name a form, not a model."""


def looks_like_compute(text: str) -> bool:
    """True when a description says accelerators, so that it needs a platform before it can be planned with."""
    words = plain(text)[:300]
    return any(re.search(pattern, words) for pattern in words_of("accelerators", "accelerators"))


def recognise(text: str, platforms: Map[str, Platform]) -> str | None:
    """Return the id of the only platform whose telling words all occur in a text; None when none or several do.

    An id written out wins. ``8x B200 HGX server`` is b200-hgx; ``H100 node`` is none, since h100-sxm and h100-pcie fit.
    """
    words = " " + re.sub(r"[^a-z0-9]+", " ", plain(text)[:300]) + " "
    words = re.sub(r" (\d+)x(?=[a-z])", r" \1 ", re.sub(r" sxm\d", " sxm", words))
    joined = words.replace(" ", "-")
    exact = [name for name in platforms if f"-{name}-" in joined]
    if exact:
        return max(exact, key=len)
    fitting = [name for name in platforms if all(f" {part} " in words for part in _telling(name))]
    best = [name for name in fitting if _matched(name, words) == max(_matched(other, words) for other in fitting)]
    return best[0] if len(best) == 1 and not _clash(best[0], words, platforms) else None


def _telling(name: str) -> list[str]:
    """Return the parts of an id that must occur: its model, such as b200, or cs and 3."""
    return [part for part in name.split("-") if not _PACKAGING.fullmatch(part)] or [name]


def _matched(name: str, words: str) -> int:
    return sum(f" {part} " in words for part in name.split("-"))


def _clash(name: str, words: str, platforms: Map[str, Platform]) -> bool:
    """True when another platform shares the model and no further part of the id tells them apart."""
    model = _telling(name)
    rivals = [other for other in platforms if other != name and _telling(other) == model]
    return any(_matched(other, words) >= _matched(name, words) for other in rivals)
