"""The example files of the contract are read by the schema, every key of them, to the value they state."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from optimizer.io.validate import validated
from optimizer.io.yaml_reader import read_yaml_file
from optimizer.schema.architecture import Architecture
from optimizer.schema.platform import Platform
from optimizer.schema.quote import PriceState, Quote
from optimizer.schema.scenario import Scenario

EXAMPLES = Path(__file__).resolve().parents[2] / "data" / "contract"
KINDS = {"scenario": Scenario, "quote": Quote, "platform": Platform, "architecture": Architecture}


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_is_valid_and_keeps_every_key(kind):
    document = read_yaml_file(EXAMPLES / f"{kind}.yaml")
    record = validated(KINDS[kind], document)
    assert isinstance(document.data, dict)
    stated = {key for key in document.data if document.data[key] is not None}
    assert stated <= set(record.model_dump(by_alias=True))


def test_numbers_and_words_of_the_examples_keep_their_meaning():
    scenario = validated(Scenario, read_yaml_file(EXAMPLES / "scenario.yaml"))
    assert scenario.workloads["pretrain"].tokens == Decimal("1e13")
    assert scenario.budget.by_fiscal_year["2027"].amount == 95_000_000
    assert scenario.costs[0].amount[2049].amount == 6400
    quote = validated(Quote, read_yaml_file(EXAMPLES / "quote.yaml"))
    assert quote.offers["node"].lines[1].price is PriceState.ON_REQUEST
    assert list(quote.offers["node"].price.breaks) == [1, 16, 64]
    assert quote.offers["lease"].price.amount == 14500
