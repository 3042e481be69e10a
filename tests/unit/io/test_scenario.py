from __future__ import annotations

import hashlib
from decimal import Decimal
from pathlib import Path

import pytest

from optimizer.errors import InputError
from optimizer.io.library import Library
from optimizer.io.scenario import load_scenario, reload_scenario
from tests.unit.io.examples import QUOTE, Write


def problems(path: Path, sets: tuple[str, ...] = ()) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_scenario(path, sets)
    return [str(problem).replace(f"{path.parent}/", "") for problem in caught.value.problems]


def test_a_scenario_is_loaded_with_its_quotes(write: Write) -> None:
    loaded = load_scenario(write())
    assert loaded.scenario.name == "scenario"
    assert loaded.scenario.budget.total is not None
    assert loaded.scenario.budget.total.amount == Decimal(150_000_000)
    assert [(quote, name, offer.platform) for quote, name, offer in loaded.offers()] == [
        ("acme-1", "node", "h200-sxm"),
        ("acme-1", "rent", "h200-sxm"),
    ]


def test_sets_are_applied_before_validation(write: Write) -> None:
    assert load_scenario(write(), ["budget.total=null", "horizon_months=12"]).scenario.budget.total is None
    assert problems(write(), ("budget.total=lots",)) == [
        '--set budget.total=lots: "lots" is not an amount; write it in full, e.g. 12000 or 12000 EUR.'
    ]


def test_every_file_is_carried_with_checksum_and_content(write: Write) -> None:
    path = write()
    loaded = load_scenario(path, ["budget.total=1e8"])
    names = [file.path.removeprefix(f"{path.parent}/") for file in loaded.files]
    assert names == [
        "scenario.yaml",
        "quotes/acme.yaml",
        "models/platforms/h200-sxm.yaml",
        "models/architectures/llama-3-1-8b.yaml",
        "models/software/megatron-core.yaml",
        "models/bands.yaml",
        "--set",
    ]
    for file in loaded.files[:2]:
        content = (path.parent / Path(file.path)).read_bytes()
        assert file.content.encode() == content
        assert file.sha256 == hashlib.sha256(content).hexdigest()
    assert loaded.files[-1].content == "budget.total=1e8"


def test_a_plan_can_be_loaded_again_from_the_contents_it_carries(write: Write) -> None:
    path = write()
    loaded = load_scenario(path, ["budget.total=1e8"])
    path.unlink()
    again = reload_scenario(loaded.files)
    assert again.scenario == loaded.scenario
    assert again.quotes == loaded.quotes
    assert again.files == loaded.files


def test_defaults_are_listed_with_the_value_used(write: Write) -> None:
    used = {entry.name: (entry.value, entry.source) for entry in load_scenario(write()).assumptions}
    assert used["horizon_months"] == ("36", "default")
    assert used["sites.hall-a.pue"] == ("1.25", "default")
    assert used["workloads.pretrain.deadline"] == ("last day of the horizon", "default")
    assert used["policy.performance_quantile"] == ("0.8", "default")
    assert used["policy.vendors.max"] == ("no limit", "default")
    assert used["quotes: payment"] == ("at delivery share 1", "default, for acme-1")
    assert used["quotes: offers.acceptance_days"] == ("0", "default, for acme-1/node, acme-1/rent")
    assert "budget.total" not in used
    assert "quotes: revision" not in used


def test_what_is_written_is_no_assumption(write: Write) -> None:
    used = {
        entry.name for entry in load_scenario(write(extra="horizon_months: 36\npolicy: {contingency: 0}\n")).assumptions
    }
    assert "horizon_months" not in used
    assert "policy.contingency" not in used
    assert "policy.performance_quantile" in used


def test_a_blank_limit_is_no_limit_and_zero_is_zero(write: Write) -> None:
    blank = load_scenario(write(scenario={"total: 150e6": "total: null"})).scenario.budget.total
    zero = load_scenario(write(scenario={"total: 150e6": "total: 0"})).scenario.budget.total
    assert blank is None
    assert zero is not None
    assert zero.amount == 0


def test_quotes_are_looked_up_beside_the_scenario_then_above_then_in_the_libraries(
    tmp_path: Path, write: Write
) -> None:
    path = write()
    below = tmp_path / "scenarios" / "s.yaml"
    below.parent.mkdir()
    below.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    assert "acme-1" in load_scenario(below).quotes
    extra = tmp_path / "extra"
    (extra / "quotes").mkdir(parents=True)
    (tmp_path / "quotes").rename(extra / "quotes" / "mine")
    below.write_text(path.read_text(encoding="utf-8").replace("[quotes]", "[quotes/mine]"), encoding="utf-8")
    assert "acme-1" in load_scenario(below, library=Library.at(extra)).quotes


def test_the_highest_revision_counts(tmp_path: Path, write: Write) -> None:
    path = write()
    newer = QUOTE.replace("revision: 1", "revision: 2").replace("2.1,", "2.0,")
    (tmp_path / "quotes" / "newer.yaml").write_text(newer, encoding="utf-8")
    loaded = load_scenario(path)
    assert loaded.quotes["acme-1"].revision == 2
    assert len(loaded.files) == 7


def test_one_file_may_hold_a_list_of_quotes(tmp_path: Path, write: Write) -> None:
    path = write()
    records = "".join(f"- {record}" for record in (QUOTE, QUOTE.replace("acme-1", "acme-2").replace("2.1,", "2.2,")))
    indented = "\n".join(line if line.startswith("- ") else f"  {line}" for line in records.splitlines())
    (tmp_path / "quotes" / "acme.yaml").write_text(indented.replace("300e3", "310e3", 1), encoding="utf-8")
    loaded = load_scenario(path)
    assert list(loaded.quotes) == ["acme-1", "acme-2"]
    assert loaded.quote_documents["acme-2"].at(("vendor",)).endswith("acme.yaml:19, vendor")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"revision: 1": "revision: 1", "vendor: Acme": "vendor: Acme"},
            'quotes/b.yaml:1, quote: "acme-1" revision 1 is also in quotes/acme.yaml:1. Expected each revision once',
        ),
        (
            {"revision: 1": "revision: 2", "vendor: Acme": "vendor: Bolt"},
            'quotes/b.yaml:1, quote: "acme-1" is also a quote of Acme in quotes/acme.yaml:1',
        ),
        (
            {"quote: acme-1": "quote: acme-2"},
            "quotes/b.yaml:9, offers.node: the same offer as quotes/acme.yaml:9, offers.node. Expected each offer once",
        ),
    ],
)
def test_quotes_that_clash_are_refused(tmp_path: Path, write: Write, change: dict[str, str], expected: str) -> None:
    path = write()
    text = QUOTE
    for old, new in change.items():
        text = text.replace(old, new)
    (tmp_path / "quotes" / "b.yaml").write_text(text, encoding="utf-8")
    found = "\n".join(problems(path)).replace(f"{tmp_path}/", "")
    assert expected in found.replace("quotes/acme.yaml:10", "quotes/acme.yaml:9").replace("b.yaml:10", "b.yaml:9")


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ({"[quotes]": "[quots]"}, 'scenario.yaml:3, quotes[0]: no file or folder "quots". Looked in'),
        ({"[quotes]": "[.]"}, None),
        (
            {"llama-3-1-8b": "llama-3.1-8b"},
            'scenario.yaml:6, workloads.pretrain.architecture: "llama-3.1-8b". Expected an id of small letters',
        ),
        (
            {"llama-3-1-8b": "llama-3-1-8"},
            'workloads.pretrain.architecture: no architecture named "llama-3-1-8". Did you mean "llama-3-1-8b"? (',
        ),
        (
            {"{1: 4250, 2049: 6400}": "{8: 4250}"},
            "costs[0].amount: a table that starts at 8. Expected a first key of 1",
        ),
        (
            {"per: accelerator, amount: {1: 4250, 2049: 6400}, every: once": "per: run, amount: 3, every: year"},
            "Expected once",
        ),
        (
            {'"2027": 95e6': '"2031": 95e6'},
            'no fiscal year "2031" in the horizon. Expected one of 2026, 2027, 2028, 2029',
        ),
        (
            {"total: 150e6": "total: 20e6 JPY"},
            "budget.total: no exchange rate JPY -> USD. Add fx with date, base and rates",
        ),
    ],
)
def test_scenarios_that_do_not_fit_are_refused(write: Write, scenario: dict[str, str], expected: str | None) -> None:
    path = write(scenario=scenario)
    if expected is None:
        (path.parent / "scenario.yaml").rename(path.parent / "renamed.yml")
        with pytest.raises(InputError, match="no such file"):
            load_scenario(path)
        return
    found = problems(path)
    assert len(found) == 1
    assert expected in found[0]


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("owned: [{platform: h100-sxn, nodes: 4, site: hall-a}]\n", 'owned[0].platform: no platform named "h100-sxn". Did you mean "h100-sxm"?'),
        ("owned: [{platform: h100-sxm, nodes: 4, site: hall-b}]\n", 'owned[0].site: no site named "hall-b". Did you mean "hall-a"? (1 sites in the scenario)'),
        ("policy: {platforms: {deny: [tpu]}}\n", 'policy.platforms.deny[0]: no platform named "tpu"'),
        ("finance: {residual: {share: 0.3, platforms: {b200: 0.2}}}\n", 'finance.residual.platforms.b200: no platform named "b200"'),
        ("fiscal_year_start: 10\n", 'no fiscal year "2027" in the horizon. Expected one of 2026/27, 2027/28, 2028/29, 2029/30'),
        ("fx: {date: 2026-11-01, base: USD, rates: {CNY: 0.14}}\nafter_run: {value_per_accelerator_hour: 2 EUR}\n", "no exchange rate EUR -> USD. Add fx.rates.EUR"),
        ("fx: {date: 2026-11-01, base: EUR, rates: {CNY: 0.14}}\nafter_run: {value_per_accelerator_hour: 2 CNY}\n", "no exchange rate CNY -> USD. Add fx.rates.USD"),
    ],
)  # fmt: skip
def test_names_labels_and_currencies_must_be_known(write: Write, extra: str, expected: str) -> None:
    found = problems(write(extra=extra))
    assert len(found) == 1
    assert expected in found[0]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"    platform: h200-sxm": "    platform: h200-sxn"},
            'no platform named "h200-sxn". Did you mean "h200-sxm"?',
        ),
        ({"    platform: h200-sxm": "    platform: tpu7x"}, "an offer of type purchase for tpu7x. Expected reserved"),
        (
            {"    per: node": "    per: rack"},
            "offers.node.per: per rack for h200-sxm, which is sold by the node. Expected per node",
        ),
        ({"per: accelerator_hour": "per: rack_hour"}, "Expected per node_hour"),
        ({"sites: [hall-a]": "sites: [hall-b]"}, 'offers.node.sites[0]: no site named "hall-b"'),
        ({"currency: USD": "currency: CNY"}, "quotes/acme.yaml:7, currency: no exchange rate CNY -> USD"),
        ({"price: 2.1": "price: 2.1 CNY"}, "offers.rent.price: no exchange rate CNY -> USD"),
        ({"price: 2.1": "price: 0"}, "offers.rent.price: a price of 0. Expected free or included"),
        ({"price: 2.1": "price: -1"}, "offers.rent.price: a price below 0"),
    ],
)
def test_quotes_that_do_not_fit_are_refused(write: Write, change: dict[str, str], expected: str) -> None:
    found = problems(write(quote=change))
    assert len(found) == 1
    assert expected in found[0]


def test_a_known_rate_makes_a_foreign_quote_usable(write: Write) -> None:
    path = write(
        quote={"currency: USD": "currency: CNY"}, extra="fx: {date: 2026-11-27, base: USD, rates: {CNY: 0.139}}\n"
    )
    assert load_scenario(path).quotes["acme-1"].currency == "CNY"


def test_what_is_not_supported_yet_is_refused_clearly(write: Write) -> None:
    lease = {
        "type: purchase": "type: lease",
        "price: {all_units: {1: 300e3, 16: 290e3}}": "price_per_month: 9e3\n    term_months: 24",
        "lead_weeks: [6, 8]": "lots: [{units: rest, weeks: 3}]",
    }
    assert (
        "offers.node.lots: lots on a lease: not supported yet. Give lead_weeks instead"
        in problems(write(quote=lease))[0]
    )


def test_runs_that_wait_for_each_other_are_refused(write: Write) -> None:
    modes = "modes: [{platform: h200-sxm, nodes: 4, days: 5, source: pilot}]"
    circle = f"  one: {{after: [two], {modes}}}\n  two: {{after: [one], {modes}}}\nsites:\n"
    found = problems(write(scenario={"sites:\n": circle}))[0]
    assert "one after two after one" in found or "two after one after two" in found
    assert "a workload cannot come after itself" in found


def test_a_fixed_offer_must_exist(write: Write) -> None:
    found = problems(write(extra="fix: [{quote: acme-1, offer: nod, units: 2}]\n"))
    assert 'fix[0]: no offer "nod" in a quote "acme-1". Did you mean "acme-1/node"?' in found[0]


def test_capacity_without_any_limit_is_refused(write: Write) -> None:
    limits = {
        "    power: [{from: 2027-03-01, kw: 2600}, {from: 2027-07-01, kw: 3600}]\n": "",
        'budget: {total: 150e6, by_fiscal_year: {"2027": 95e6}}\n': "objective: capacity\n",
    }
    assert "capacity without a limit" in problems(write(scenario=limits))[0]
    assert load_scenario(write(extra="objective: capacity\n")).scenario.objective == "capacity"


def test_cross_file_problems_come_all_at_once(write: Write) -> None:
    path = write(
        scenario={"llama-3-1-8b": "nothing"},
        quote={"    platform: h200-sxm": "    platform: none", "price: 2.1": "price: 0"},
        extra="owned: [{platform: nope, nodes: 4, site: nowhere}]\n",
    )
    assert len(problems(path)) == 5


def test_an_empty_quote_folder_is_named(tmp_path: Path, write: Write) -> None:
    path = write()
    (tmp_path / "quotes" / "acme.yaml").unlink()
    assert problems(path) == ['scenario.yaml:3, quotes[0]: no *.yaml file in the folder "quotes".']


def test_problems_of_all_quote_files_come_at_once(tmp_path: Path, write: Write) -> None:
    path = write()
    for name in ("b", "c"):
        (tmp_path / "quotes" / f"{name}.yaml").write_text("quote: [\n", encoding="utf-8")
    assert len(problems(path)) == 2
    for name in ("b", "c"):
        (tmp_path / "quotes" / f"{name}.yaml").write_text(f"quote: {name}\n", encoding="utf-8")
    assert {problem.split(":")[0] for problem in problems(path)} == {"quotes/b.yaml", "quotes/c.yaml"}


def test_times_and_counts_beyond_reason_are_typing_errors(write: Write) -> None:
    path = write(
        scenario={
            "2049: 6400": "2049000000000: 6400",
            "    extra_compute": "    deadline_margin_days: 99999\n    extra_compute",
        },
        quote={"term_months: 12": "term_months: 1000000000000", "lead_weeks: [6, 8]": "lead_weeks: [6, 80000]"},
    )
    found = "\n".join(problems(path))
    assert "workloads.pretrain.deadline_margin_days: 99999. Expected at most 36,500." in found
    assert "costs[0].amount[2049000000000]: 2049000000000. Expected at most 100,000,000." in found
    assert "offers.rent.term_months: 1000000000000. Expected at most 36,500." in found
    assert "offers.node.lead_weeks[1]: 80000. Expected at most 36,500." in found


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"global_batch_tokens: 4e6": "global_batch_tokens: 0"}, "global_batch_tokens: 0. Expected more than 0."),
        ({"tokens: 1e12": "tokens: 1e6"}, "4,000,000 of 1,000,000 tokens. Expected at least one whole step."),
    ],
)
def test_a_run_has_at_least_one_step(write: Write, change: dict[str, str], expected: str) -> None:
    assert expected in "\n".join(problems(write(scenario=change)))
