"""The report as one HTML page that needs nothing from outside."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from optimizer.report.cells import Writer

if TYPE_CHECKING:
    from optimizer.report.document import Document
    from optimizer.report.language import Language


def page(document: Document, language: Language) -> str:
    """Return the page of a document."""
    writer = Writer(language, name=lambda text: f"<bdi>{escape(text)}</bdi>")
    return f"<!doctype html><title>{writer.text(document.name)}</title>"
