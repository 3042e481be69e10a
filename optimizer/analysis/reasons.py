"""Rejections grouped and ranked, so that a reader sees the reasons that matter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from optimizer.results import LimitName, Rejection, Result
from optimizer.solver.why_not import SPEAKS_FIRST


class ReasonGroup(Result):
    """Everything rejected for one limit."""

    limit: LimitName
    """The limit."""
    count: int
    """Rejections."""
    platforms: tuple[str, ...]
    """Platforms concerned."""
    quotes: tuple[str, ...]
    """Offers concerned, as quote/offer."""
    reason: str
    """The sentence of the one that lacks least."""


LIFTED_BY_A_SETTING = ("expired", "policy", "licence", "evidence")
"""Limits that one setting lifts: what a reader can act on at once comes first."""


def grouped(rejections: Iterable[Rejection], used: Collection[str] = ()) -> tuple[ReasonGroup, ...]:
    """Return rejections by limit, those that can be acted on first.

    Order: lifted by one setting; then by a figure that comes close to what is needed; then the rest. Rejections of
    platforms that the plan uses all the same come last in their group.
    """
    groups: dict[LimitName, list[Rejection]] = defaultdict(list)
    for rejection in rejections:
        groups[rejection.limit].append(rejection)
    found = [_group(limit, own, used) for limit, own in groups.items()]
    return tuple(sorted(found, key=lambda group: (_rank(groups[group.limit]), -group.count, group.limit)))


def _group(limit: LimitName, own: list[Rejection], used: Collection[str]) -> ReasonGroup:
    own = sorted(own, key=lambda item: (item.platform in used, _missing(item)))
    return ReasonGroup(
        limit=limit,
        count=len(own),
        platforms=tuple(dict.fromkeys(item.platform for item in own if item.platform)),
        quotes=tuple(dict.fromkeys(item.quote for item in own if item.quote)),
        reason=own[0].reason,
    )


def _rank(own: list[Rejection]) -> tuple[int, float, int]:
    limit = own[0].limit
    closest = min(map(_missing, own))
    kind = 0 if limit in LIFTED_BY_A_SETTING else 1 if closest < float("inf") else 2
    return kind, closest, -SPEAKS_FIRST.index(limit) if limit in SPEAKS_FIRST else 0


def _missing(item: Rejection) -> float:
    """Return the share of what is needed that is missing; infinite when there are no figures."""
    try:
        needed, available = float(item.needed or ""), float(item.available or "")
    except ValueError:
        return float("inf")
    return abs(needed - available) / max(abs(needed), 1e-9)
