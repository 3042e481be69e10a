"""Rewrite every value of a document: to convert a currency, or to withhold prices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TypeVar, cast

from optimizer.report.document import Absent, Cell, Column, Several, Value

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What becomes of the parts of a document.

    Attributes:
        value: Of a figure or word; may be a sentence.
        unit: Of the unit in the heading of a column.
        command: Of the command that computes what is absent.
        product: Of factors that multiply to an amount; None = each factor is rewritten alone.
    """

    value: Callable[[Value], Cell]
    unit: Callable[[str], str]
    command: Callable[[str], str]
    product: Callable[[Several], Cell] | None = None

    def of(self, part: _T) -> _T:
        """Return a document, or a part of one, rewritten."""
        return cast("_T", self._of(part))

    def _of(self, part: object) -> object:
        if isinstance(part, Value):
            return self.value(part)
        if isinstance(part, Several) and part.between == "times" and self.product is not None:
            return self.product(part)
        if isinstance(part, Column):
            return replace(part, unit=self.unit(part.unit))
        if isinstance(part, Absent):
            return replace(part, command=self.command(part.command))
        if isinstance(part, tuple):
            return tuple(self._of(item) for item in part)
        if isinstance(part, Mapping):
            return {key: self._of(item) for key, item in part.items()}
        if is_dataclass(part) and not isinstance(part, type):
            return replace(part, **{own.name: self._of(getattr(part, own.name)) for own in fields(part)})
        return part
