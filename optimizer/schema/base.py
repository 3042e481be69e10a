"""The frozen base of all schema types, and the scalar types they share."""

from __future__ import annotations

import re
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

MAX_MAGNITUDE = Decimal("1e21")
"""Largest number any input may hold; beyond it a typing error is certain."""


class Frozen(BaseModel):
    """Immutable, closed record: unknown keys are errors; string under a field is its description."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        allow_inf_nan=False,
        arbitrary_types_allowed=False,
    )


def _exact(value: Any) -> Any:
    """Turn a number as written into a Decimal with the same digits; refuse booleans and non-finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise ValueError("is not a number")  # pydantic turns ValueError into a located problem
    number = Decimal(str(value))
    if not number.is_finite():
        raise ValueError("is not a finite number")
    if abs(number) > MAX_MAGNITUDE:
        raise ValueError(f"is larger than {MAX_MAGNITUDE:.0e}")
    return number


Exact = Annotated[Decimal, BeforeValidator(_exact)]
"""A number kept with the digits it was written with."""

NonNegative = Annotated[Decimal, BeforeValidator(_exact), Field(ge=0)]
"""An exact number, zero or more."""

Share = Annotated[Decimal, BeforeValidator(_exact), Field(ge=0, le=1)]
"""An exact fraction between 0 and 1."""

Id = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
"""A kebab-case id."""

CurrencyCode = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
"""An ISO 4217 code."""

_AMOUNT = re.compile(r"^\s*([-+]?[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)\s+([A-Z]{3})\s*$")


class Money(Frozen):
    """An amount; without a code it is in the currency of its file.

    Written as a number, or as a number and an ISO 4217 code: ``20e6 JPY``.
    """

    amount: Exact
    """The amount in major units (dollars, not cents)."""
    currency: CurrencyCode | None = None
    """ISO 4217 code; null = the file's currency."""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if isinstance(value, str):
            match = _AMOUNT.match(value)
            if not match:
                raise ValueError(f'"{value}" is not an amount; write it in full, e.g. 12000 or 12000 EUR')
            return {"amount": Decimal(match[1].replace("_", "")), "currency": match[2]}
        if isinstance(value, (int, float, Decimal)):
            return {"amount": value}
        return value


class Precision(StrEnum):
    """Number format of the matrix products."""

    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    MXFP8 = "mxfp8"
    FP4 = "fp4"
    NVFP4 = "nvfp4"


class EvidenceLevel(StrEnum):
    """How well a performance figure is known, weakest first."""

    NONE = "none"
    DATASHEET = "datasheet"
    VENDOR_CLAIM = "vendor_claim"
    PUBLIC_RUN = "public_run"
    PILOT_SINGLE_NODE = "pilot_single_node"
    PILOT_MULTI_NODE = "pilot_multi_node"
    TARGET_WORKLOAD = "target_workload"

    @property
    def rank(self) -> int:
        """Position from weakest (0) to strongest (6)."""
        return list(EvidenceLevel).index(self)


class OfferType(StrEnum):
    """How capacity is acquired."""

    PURCHASE = "purchase"
    LEASE = "lease"
    RESERVED = "reserved"
    BLOCK = "block"
    ON_DEMAND = "on_demand"
    DEDICATED = "dedicated"


class Source(Frozen):
    """Where a number comes from."""

    url: str | None = None
    """Address, or a short name of a document."""
    date: Annotated[str, BeforeValidator(lambda value: value if value is None else str(value))] | None = None
    """When it was read or published (ISO date, month or year)."""
    confidence: str = Field(default="C", pattern=r"^[A-D](/[A-D])?$")
    """A vendor or measured, B reputable secondary, C one secondary source or estimate, D derived or not found."""
    covers: tuple[str, ...] = ()
    """Keys of the record this source covers; empty = all."""
    note: str | None = None
    """Conflicts between sources and the reading chosen."""
