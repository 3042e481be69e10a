"""One warning of ``check``."""

from __future__ import annotations

from optimizer.results import Amount, Result


class Remark(Result):
    """One warning of ``check``."""

    location: str
    """File and line, and path."""
    found: str
    """What is there."""
    why: str
    """Why it may matter."""
    amounts: tuple[Amount, ...] = ()
    """Amounts of money in both."""
