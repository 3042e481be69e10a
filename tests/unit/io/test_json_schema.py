from __future__ import annotations

import re

from optimizer.io.json_schema import json_schema
from optimizer.results import Plan
from optimizer.schema.quote import Quote
from optimizer.schema.scenario import Scenario


def test_amounts_are_numbers_or_text_with_a_code() -> None:
    amount = json_schema(Scenario)["$defs"]["Money"]["anyOf"]
    assert amount[0] == {"type": "number"}
    assert re.fullmatch(amount[1]["pattern"], "20e6 JPY")
    assert not re.fullmatch(amount[1]["pattern"], "12k")


def test_exact_numbers_are_numbers_with_bounds() -> None:
    policy = json_schema(Scenario)["$defs"]["Policy"]["properties"]
    assert policy["contingency"]["type"] == "number"
    assert policy["contingency"]["minimum"] == 0
    assert policy["contingency"]["maximum"] == 1
    assert policy["performance_quantile"]["exclusiveMaximum"] == 1


def test_lead_weeks_may_be_one_number() -> None:
    weeks = json_schema(Quote)["$defs"]["PurchaseOffer"]["properties"]["lead_weeks"]["anyOf"]
    assert {"type": "integer"} in weeks


def test_required_keys_and_descriptions() -> None:
    schema = json_schema(Scenario)
    assert set(schema["required"]) == {"currency", "today", "workloads", "quotes"}
    assert schema["properties"]["today"]["description"] == "The day the question is asked."
    assert schema["additionalProperties"] is False


def test_the_plan_schema_lists_every_key_of_the_contract() -> None:
    assert set(json_schema(Plan, written=True)["properties"]) == {
        "format", "scenario", "status", "objective", "solve", "workloads", "awards", "cost", "limits", "rejections",
        "conflict", "analyses", "provenance",
    }  # fmt: skip
