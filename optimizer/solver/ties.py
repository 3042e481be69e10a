"""The order among plans of equal objective, as one sort key of a choice."""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.cost.choice import Choice

TieKey = tuple[object, ...]


def tie_key(choice: Choice, offers: Sequence[tuple[str, str]]) -> TieKey:
    """Return fewest nodes, earliest end, fewest awards, least sum of offer rank x units, then places and deliveries.

    Args:
        choice: The choice.
        offers: All offers (quote, name) in order; the position is the rank.
    """
    rank = {offer: position + 1 for position, offer in enumerate(offers)}
    nodes = sum(award.units * award.option.platform.nodes_per_unit for award in choice.taken)
    weighted = sum(rank[award.option.offer_key] * award.units for award in choice.taken)
    details = tuple((*award.option.key, award.units) for award in choice.taken)
    return nodes, choice.last_run, len(choice.taken), weighted, details
