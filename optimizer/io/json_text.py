"""Results as JSON: dates ISO, exact numbers as numbers, unknown is null, money rounded half up to the minor unit."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import BaseModel

from optimizer.results import Plan, Result
from optimizer.units import round_money

_Some = TypeVar("_Some", bound=Result)

_MONEY_KEYS = frozenset({"total", "npv", "amount", "cost", "first_year_cost"})
"""Keys of results that hold an amount in the currency of the answer."""

_NO_MONEY_KEYS = frozenset({"gap"})
"""Numbers that stand beside ``unit: <currency>`` and are none."""


def json_text(result: Result) -> str:
    """Return a result as indented JSON with a final newline."""
    data = result.model_dump(mode="python", by_alias=True)
    if isinstance(result, Plan):
        data["workloads"] = list(data["workloads"].values())
    return json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def record_text(records: BaseModel | Mapping[str, Sequence[BaseModel]]) -> str:
    """Return a record of the schema, or lists of them by kind, as indented JSON in the form people write them."""
    if isinstance(records, BaseModel):
        data: object = _plain(records.model_dump(mode="python", by_alias=True))
    else:
        data = {
            kind: [_plain(item.model_dump(mode="python", by_alias=True)) for item in records[kind]] for kind in records
        }
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def plan_json(plan: Plan) -> str:
    """Return a plan as the JSON text of the contract, its money rounded once."""
    return json_text(rounded_plan(plan))


def rounded_plan(plan: Plan) -> Plan:
    """Return the plan with every amount rounded to the minor unit of its currency."""
    currency = plan.cost.currency if plan.cost else plan.objective.currency
    return plan if currency is None else rounded(plan, currency)


def rounded(result: _Some, currency: str) -> _Some:
    """Return a result with every amount rounded once, half up, to the currency's minor unit.

    Prices of one unit keep the digits they were quoted with, factors theirs: rounding them would break the products.
    """
    return type(result).model_validate(_rounded(result.model_dump(mode="python", by_alias=True), currency))


def _rounded(value: Any, currency: str) -> Any:
    if isinstance(value, Mapping):
        money = value.get("unit") == currency
        return {key: _rounded_item(key, item, currency, money=money) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item, currency) for item in value]
    return value


def _rounded_item(key: str, item: Any, currency: str, *, money: bool) -> Any:
    """Round one value: known money keys, all numbers beside ``unit: <currency>``, and amounts by fiscal year."""
    if key == "by_fiscal_year":
        return {year: round_money(amount, currency) for year, amount in item.items()}
    if key == "factors":
        return item
    if isinstance(item, Decimal):
        return round_money(item, currency) if key in _MONEY_KEYS or (money and key not in _NO_MONEY_KEYS) else item
    return _rounded(item, currency)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping) and set(value) == {"amount", "currency"}:
        amount = _plain(value["amount"])
        return amount if value["currency"] is None else f"{amount} {value['currency']}"
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    return None if isinstance(value, float) and not math.isfinite(value) else value
