from __future__ import annotations

import pytest

from optimizer.errors import InputError
from optimizer.io.validate import checked, validated
from optimizer.io.yaml_reader import read_yaml
from optimizer.schema.platform import Platform
from optimizer.schema.quote import Quote
from optimizer.schema.scenario import Scenario

SCENARIO = """\
currency: USD
today: 2026-11-30
quotes: [q]
workloads: {run: {modes: [{platform: h100-sxm, nodes: 4, days: 9, source: pilot}]}}
"""
QUOTE = """\
quote: q1
vendor: A
kind: list
currency: USD
offers:
  node: {type: purchase, platform: h100-sxm, per: node, price: 9}
"""


def scenario_problems(extra: str, base: str = SCENARIO) -> list[str]:
    return [str(problem) for problem in checked(Scenario, read_yaml(base + extra, "s.yaml"))[1]]


def quote_problems(offer: str) -> list[str]:
    text = QUOTE.replace("type: purchase, platform: h100-sxm, per: node, price: 9", offer)
    return [str(problem) for problem in checked(Quote, read_yaml(text, "q.yaml"))[1]]


def test_a_valid_record_is_returned() -> None:
    assert validated(Scenario, read_yaml(SCENARIO, "s.yaml")).currency == "USD"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("horizon_month: 3", 's.yaml:5, horizon_month: unknown key "horizon_month". Did you mean "horizon_months"?'),
        ("Budget: {}", 's.yaml:5, Budget: unknown key "Budget". Did you mean "budget"?'),
        ("budget: {totl: 1}", 's.yaml:5, budget.totl: unknown key "totl". Did you mean "total"?'),
        ("budget: {zzz: 1}", 's.yaml:5, budget.zzz: unknown key "zzz". Expected one of total, by_fiscal_year.'),
        ("horizon_months: 1.5", "s.yaml:5, horizon_months: 1.5. Expected a whole number."),
        ("horizon_months: 0", "s.yaml:5, horizon_months: 0. Expected 1 or more."),
        ("horizon_months: null", "s.yaml:5, horizon_months: nothing. Expected a whole number."),
        ('horizon_months: "12"', 's.yaml:5, horizon_months: "12". Expected a number without quotes.'),
        ("horizon_months: true", "s.yaml:5, horizon_months: true. Expected a number."),
        ("objective: cheap", 's.yaml:5, objective: "cheap". Expected one of cost, time, capacity.'),
        ("name: 12", "s.yaml:5, name: 12. Expected text. Put it in quotes."),
        ("fx: {date: 0, base: USD, rates: {}}", "s.yaml:5, fx.date: 0. Expected a calendar date such as 2027-03-31."),
        ("earliest_order: 2027-02-30", 's.yaml:5, earliest_order: "2027-02-30". Expected a calendar date'),
        ("earliest_order: 2027-02-10T00:00:00", "Expected a calendar date"),
        ("earliest_order: 20270210", "s.yaml:5, earliest_order: 20270210. Expected a calendar date"),
        ("earliest_order: 2026-01-01", "earliest_order 2026-01-01 is before today 2026-11-30"),
        ("budget: {total: 12k}", '"12k" is not an amount; write it in full, e.g. 12000 or 12000 EUR.'),
        ("budget: {by_fiscal_year: {2027: 1}}", "budget.by_fiscal_year[2027]: 2027. Expected text. Put it in quotes."),
        ("policy: {allow_expired_quotes: yes}", 'policy.allow_expired_quotes: "yes". Expected true or false.'),
        ("policy: {contingency: 1.5}", "policy.contingency: 1.5. Expected 1 or less."),
        ("policy: {contingency: a}", 'policy.contingency: "a" is not a number.'),
        ("reliability: 7", "s.yaml:5, reliability: 7. Expected a record of key: value lines."),
        ("owned: {a: 1}", "s.yaml:5, owned: a record. Expected a list."),
        ("fx: {date: 2026-11-01, base: usd, rates: {}}", 'fx.base: "usd". Expected a currency code such as USD.'),
        ("fx: {date: 2026-11-01, base: USD, rates: {CNY: 0}}", "fx.rates.CNY: 0. Expected more than 0."),
        ("finance: {residual: {months: 3}}", "finance.residual: share is missing. Share of the hardware price left"),
        ("costs: [{name: x, per: clustr, amount: 1, every: once}]", 'Did you mean "cluster"?'),
        (
            "costs: [{name: x, per: run, amount: [3], every: once}]",
            "a list of 1. Expected a record of key: value lines.",
        ),
        ("costs: [{name: x, per: run, amount: {1: a}, every: once}]", 'costs[0].amount[1]: "a" is not an amount'),
        ("costs: [{name: x, per: run, amount: {1: 2, b: 3}, every: once}]", 'the key "1" among names'),
        (
            "budget: {total: 1,234}",
            'budget: the key "234" among names. Expected names only. Write numbers without thousands separators',
        ),
        ('budget: {by_fiscal_year: {"2027": 1, "2028": x}}', 'budget.by_fiscal_year.2028: "x" is not an amount'),
        ("after_run: {policy: use}", "policy use needs max_accelerators"),
    ],
)
def test_each_problem_says_where_what_and_what_instead(line: str, expected: str) -> None:
    problems = scenario_problems(line)
    assert len(problems) == 1
    assert expected in problems[0]


@pytest.mark.parametrize(
    ("offer", "expected"),
    [
        ("type: purchse, platform: a", 'offers.node.type: "purchse". Expected one of purchase, lease, reserved, block'),
        ("platform: a", "offers.node.type: type is missing. Expected one of purchase, lease"),
        ("type: purchase, platform: A B, per: node, price: 9", "Expected an id of small letters, digits"),
        ("type: purchase, platform: a, per: node, price: 12k", 'offers.node.price: "12k" is not an amount'),
        ("type: purchase, platform: a, per: node, price: {all_unit: {1: 3}}", 'Did you mean "all_units"?'),
        ("type: purchase, platform: a, per: node, price: {all_units: {1: 0}}", "a tier price must be above zero"),
        ("type: purchase, platform: a, per: node, price: {all_units: {}}", "needs at least one break"),
        ("type: purchase, platform: a, per: node, price: 9, lead_weeks: soon", '"soon". Expected a list or stock.'),
        ("type: purchase, platform: a, per: node, price: 9, lead_weeks: [3, 2]", "the first is later than the second"),
        ("type: purchase, platform: a, per: node, price: 9, lots: [{units: all, weeks: 3}]", "a whole number or rest"),
        ("type: purchase, platform: a, per: node, price: 9, units: {min: 5, max: 3}", "max 3 is below min 5"),
        ("type: lease, platform: a, per: node, price_per_month: 3", "offers.node: term_months is missing"),
    ],
)
def test_offers_speak_of_their_own_type_only(offer: str, expected: str) -> None:
    problems = quote_problems(offer)
    assert len(problems) == 1
    assert expected in problems[0]


def test_a_price_under_the_key_of_another_type_is_named() -> None:
    problems = quote_problems("type: lease, platform: a, per: node, price: 3, term_months: 12")
    assert [problem.split(". ")[0] for problem in problems] == [
        "q.yaml:6, offers.node: price_per_month is missing",
        'q.yaml:6, offers.node.price: unknown key "price"',
    ]


def test_all_problems_of_a_file_come_at_once_in_its_order() -> None:
    problems = scenario_problems("objective: x\nname: 3\nhorizon_months: 0\nnonsense: 1\n")
    assert [problem.split(",")[0] for problem in problems] == ["s.yaml:5", "s.yaml:6", "s.yaml:7", "s.yaml:8"]


def test_no_word_of_the_validation_library_reaches_the_user() -> None:
    text = "\n".join(
        scenario_problems("budget: 3\nfx: {date: x}\ncosts: [1, {per: 3}]\nsites: {a: {power: 4}}\nquotes: 3\n", "")
    )
    for word in ("Input should", "valid dictionary", "Extra inputs", "Value error", "function-", "tuple", "model_type"):
        assert word not in text


def test_missing_required_keys_are_explained() -> None:
    problems = scenario_problems("name: a\n", "")
    assert "s.yaml:1: today is missing. The day the question is asked." in problems
    assert len(problems) == 4


def test_a_file_that_is_a_list_is_refused() -> None:
    with pytest.raises(InputError, match=r"s.yaml:1: a list of 2. Expected a record of key: value lines"):
        validated(Scenario, read_yaml("[1, 2]", "s.yaml"))


def test_booleans_are_no_numbers_in_a_platform() -> None:
    text = "id: a\nvendor: b\naccelerators_per_node: true\nacquisition: [purchase]\npeak_dense_tflops: {bf16: true}\n"
    problems = checked(Platform, read_yaml(text, "p.yaml"))[1]
    assert [problem.location for problem in problems] == [
        "p.yaml:3, accelerators_per_node",
        "p.yaml:5, peak_dense_tflops.bf16",
    ]


def test_two_breaks_that_are_one_number_are_refused() -> None:
    problems = quote_problems('type: purchase, platform: a, per: node, price: {all_units: {"1": 9, "01": 8}}')
    assert problems == ["q.yaml:6, offers.node.price.all_units: two keys that mean the same. Expected each key once."]


def test_a_table_may_be_written_in_any_order() -> None:
    extra = "costs: [{name: x, per: run, amount: {20: 5, 3: 7, 1: 9}, every: once}]"
    record = validated(Scenario, read_yaml(SCENARIO + extra, "s.yaml"))
    assert list(record.costs[0].amount) == [1, 3, 20]
