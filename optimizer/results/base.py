"""What every result record shares: immutable, closed, exact numbers that JSON writes as numbers."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer


def _as_json_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def _as_decimal(value: Any) -> Any:
    return Decimal(str(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


Number = Annotated[
    Decimal, BeforeValidator(_as_decimal), PlainSerializer(_as_json_number, return_type=float, when_used="json")
]
"""A Decimal written to JSON as a number."""

Figure = Annotated[
    Decimal | str | None,
    BeforeValidator(_as_decimal),
    PlainSerializer(lambda value: _as_json_number(value) if isinstance(value, Decimal) else value, when_used="json"),
]
"""A Decimal, a word or date, or None when there is no figure; a Decimal is written to JSON as a number."""


class Result(BaseModel):
    """Immutable, closed result record."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, ser_json_inf_nan="null")


class Amount(Result):
    """An amount of money that a text tells, so that whoever shows the text can show it in another currency."""

    text: str
    """The figure as it stands in the text, with its currency code where the text has it."""
    amount: Number
    """What it is."""
    currency: str
    """ISO code."""

    @classmethod
    def written(cls, amount: Decimal, currency: str, form: str = ",f", *, coded: bool = True) -> Amount:
        """Return an amount with its text: the format specification applied, then the code unless it is left out.

        >>> Amount.written(Decimal("1250000"), "EUR", ",.0f").text
        '1,250,000 EUR'
        """
        return cls(
            text=f"{amount:{form}} {currency}" if coded else f"{amount:{form}}", amount=amount, currency=currency
        )
