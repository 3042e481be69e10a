"""What the file format has but this version cannot plan with yet: refused, never ignored.

Each later feature deletes its lines here.
"""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.errors import Problem
from optimizer.io.document import Document
from optimizer.io.loaded import Loaded
from optimizer.schema.quote import LeaseOffer, PurchaseOffer, TieredPrice


def unsupported(loaded: Loaded) -> Iterator[Problem]:
    """Yield a problem for every use of something not supported yet."""
    for quote_id, name, offer in loaded.offers():
        record = loaded.quote_documents[quote_id]
        tiers = offer.price if isinstance(offer.price, TieredPrice) else None
        if isinstance(offer, PurchaseOffer) and offer.lots and tiers and tiers.incremental:
            yield _refused(record, ("offers", name, "lots"), "lots with incremental prices", "Give lead_weeks instead")
        if isinstance(offer, LeaseOffer) and offer.lots:
            yield _refused(record, ("offers", name, "lots"), "lots on a lease", "Give lead_weeks instead")


def _refused(document: Document, path: tuple[str, ...], found: str, fix: str) -> Problem:
    return document.problem(path, f"{found}: not supported yet", "", fix)
