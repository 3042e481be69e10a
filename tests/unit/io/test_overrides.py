from __future__ import annotations

import pytest

from optimizer.errors import InputError
from optimizer.io.document import Document
from optimizer.io.overrides import with_sets
from optimizer.io.yaml_reader import read_yaml
from optimizer.schema.scenario import Scenario

TEXT = """\
budget: {total: 5}
workloads: {pretrain: {precisions: [bf16, fp8], platforms: {deny: [a]}}}
sites: {hall-a: {power: [{from: 2027-01-01, kw: 100}, {from: 2027-06-01, kw: 200}]}}
costs: [{name: net, amount: {1: 4250, 2049: 6400}}]
"""


def changed(*sets: str) -> Document:
    return with_sets(read_yaml(TEXT, "s.yaml"), sets, Scenario)


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("budget.total=2e8", ("budget", "total"), 2e8),
        ("budget.total=20e6 JPY", ("budget", "total"), "20e6 JPY"),
        ("sites.hall-a.power.1.kw=500", ("sites", "hall-a", "power", 1, "kw"), 500),
        ("workloads.pretrain.precisions.0=fp16", ("workloads", "pretrain", "precisions", 0), "fp16"),
        ("workloads.pretrain.precisions=[fp8]", ("workloads", "pretrain", "precisions"), ["fp8"]),
        ("workloads.pretrain.deadline=2027-12-31", ("workloads", "pretrain", "deadline"), "2027-12-31"),
        ("costs.0.amount.2049=7", ("costs", 0, "amount", 2049), 7),
        ("costs.0.amount.512=7", ("costs", 0, "amount", 512), 7),
        ("policy.vendors.max=3", ("policy", "vendors", "max"), 3),
        ("budget.by_fiscal_year.2028=7", ("budget", "by_fiscal_year", "2028"), 7),
        ("after_run.policy=off", ("after_run", "policy"), "off"),
        (" budget.total = 3", ("budget", "total"), 3),
    ],
)
def test_a_value_is_set_by_its_path(text: str, path: tuple[str | int, ...], expected: object) -> None:
    value = changed(text).data
    for key in path:
        value = value[key]
    assert value == expected


def test_null_removes_a_key_or_a_list_entry() -> None:
    assert changed("budget.total=null").data["budget"] == {}
    power = changed("sites.hall-a.power.0=null").data["sites"]["hall-a"]["power"]
    assert [step["kw"] for step in power] == [200]


def test_sets_apply_in_order_and_leave_the_document_alone() -> None:
    document = read_yaml(TEXT, "s.yaml")
    assert with_sets(document, ["budget.total=1", "budget.total=2"], Scenario).data["budget"]["total"] == 2
    assert document.data["budget"]["total"] == 5


def test_an_alias_is_changed_in_one_place_only() -> None:
    document = read_yaml("sites: {a: &x {pue: 1.2}, b: *x}\n", "s.yaml")
    assert with_sets(document, ["sites.a.pue=1.5"], Scenario).data["sites"] == {"a": {"pue": 1.5}, "b": {"pue": 1.2}}


def test_a_set_value_is_located_by_its_argument() -> None:
    document = changed("budget.total=x", "sites.hall-a.power.0=null")
    assert document.at(("budget", "total")) == "--set budget.total=x"
    assert document.at(("workloads", "pretrain")) == "s.yaml:2, workloads.pretrain"
    assert document.at(("sites", "hall-a", "power", 1, "kw")) == "s.yaml:3, sites.hall-a.power[1].kw"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("budget.totl=1", r'--set budget.totl: there is no "totl". Did you mean "total"\?'),
        ("workloads.pretrian.tokens=1", r'there is no "pretrian". Did you mean "pretrain"\?'),
        ("nothing.here=1", r'there is no "nothing". Expected one of name, today'),
        ("sites.hall-a.power.2.kw=1", r'there is no position "2". Expected one of 0, 1'),
        ("sites.hall-a.power.x.kw=1", r'there is no position "x"'),
        ("sites.hall-a.power.-1.kw=1", r'there is no position "-1"'),
        ("budget.total.x.y=1", r'"x" of a value that has no parts'),
        ("budget..total=1", r'there is no ""'),
        ("budget.total", "no key and value. Expected KEY=VALUE"),
        ("=3", "no key and value"),
        ("budget.total=[", r"--set budget.total=\[: this is not valid YAML"),
        ("budget.total=.nan", "Expected a finite number"),
    ],
)
def test_a_path_or_value_that_makes_no_sense_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        changed(text)


def test_all_bad_sets_are_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        changed("a=1", "budget.total=2", "b=1")
    assert len(caught.value.problems) == 2
