"""Claims that look plausible and are not, each as a warning of ``check`` with the right figure.

Claims that no file can state are formulas in ``test_warnings_formulas.py``: 300 CFM per kW, owned against rented by the
hour, 720 GFLOP per token as such.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from optimizer.io.library import Library
from optimizer.io.scenario import load_scenario
from optimizer.io.shipped import shipped
from optimizer.io.warnings import remarks
from optimizer.schema.quote import Quote

SCENARIO = """\
currency: {currency}
today: 2026-11-30
quotes: [quotes]
workloads:
  pretrain:
    architecture: {architecture}
    tokens: {tokens}
    sequence_length: {sequence}
    global_batch_tokens: 4e6
    extra_compute: 0
    release: 2027-01-01
    deadline: {deadline}
sites: {{hall-a: {{electricity: {{per_kwh: 0.1}}}}}}
fx: {{date: 2026-11-27, base: USD, rates: {{CNY: 0.139}}}}
"""

QUOTE = """\
quote: acme-1
vendor: Acme
kind: binding
valid_until: 2027-02-28
currency: {currency}
offers:
  node: {offer}
"""

CARD = """\
id: {id}
vendor: NVIDIA
name: "{name}"
accelerators_per_node: {per_node}
acquisition: [purchase]
ineligible: a trial
memory_bytes: {memory}
memory_bandwidth_gb_s: {bandwidth}
peak_dense_tflops: {peaks}
node_power_kw: {{provisioned: {power}}}
"""

PURCHASE = (
    "{{type: purchase, platform: {platform}, per: accelerator, price: {price}, units: {{max: {units}}}, lead_weeks: 4}}"
)


def found(
    folder: Path,
    *,
    offer: str = "",
    card: str = "",
    currency: str = "USD",
    architecture: str = "llama-3-1-8b",
    tokens: str = "1e12",
    sequence: int = 4096,
    deadline: str = "2028-12-31",
    **values: object,
) -> list[str]:
    """Write a scenario with one quote and one own platform; return the warnings about them."""
    text = SCENARIO.format(
        currency=currency, architecture=architecture, tokens=tokens, sequence=sequence, deadline=deadline
    )
    (folder / "quotes").mkdir()
    (folder / "scenario.yaml").write_text(text, encoding="utf-8")
    quote = QUOTE.format(currency=currency, offer=offer.format(**{"price": "40e3", "units": 4000, **values}))
    (folder / "quotes" / "acme.yaml").write_text(quote, encoding="utf-8")
    platforms = folder / "extra" / "models" / "platforms"
    platforms.mkdir(parents=True)
    if card:
        (platforms / f"{values['platform']}.yaml").write_text(card, encoding="utf-8")
    loaded = load_scenario(folder / "scenario.yaml", library=Library.at(folder / "extra"))
    quiet = ("assumptions", "not eligible")
    return [f"{each.found}: {each.why}" for each in remarks(loaded) if not each.found.endswith(quiet)]


def of_card(folder: Path, id_: str, **changes: object) -> list[str]:
    """Return the warnings about a platform of ours; what is not given is as on an H100 SXM node."""
    usual = {
        "name": "ours", "per_node": 8, "memory": 85_520_809_984, "bandwidth": 3350, "power": 10.2,
        "peaks": "{bf16: 989, fp8: 1979}",
    }  # fmt: skip
    return found(folder, offer=PURCHASE, card=CARD.format(id=id_, **{**usual, **changes}), platform=id_)


def test_an_own_card_with_right_figures_is_no_warning(tmp_path: Path) -> None:
    assert of_card(tmp_path, "our-h100") == []


# ------------------------------------------------------------------ peaks


def test_fp8_with_sparsity(tmp_path: Path) -> None:
    text = of_card(tmp_path, "our-h100", peaks="{bf16: 989, fp8: 3958}")
    assert (
        "fp8 3958 TFLOP/s against bf16 989: More than 2.2 times: probably a figure with sparsity, dense is 1978" in text
    )


def test_bf16_above_everything_before_rubin(tmp_path: Path) -> None:
    text = of_card(tmp_path, "our-b200", memory=192_265_846_784, bandwidth=7700, peaks="{bf16: 4500}", power=14.3)
    assert any("No part before Rubin has a dense peak above 2,600" in line and "2250 dense" in line for line in text)


def test_rubin_itself_is_no_warning(tmp_path: Path) -> None:
    assert of_card(tmp_path, "our-rubin", memory=288_000_000_000, bandwidth=22000, peaks="{bf16: 4000, fp8: 17500}", power=24) == []  # fmt: skip


def test_rtx_4090_at_1321_is_fp8_with_sparsity(tmp_path: Path) -> None:
    text = of_card(
        tmp_path, "rtx-4090", memory=25_769_803_776, bandwidth=1008, power=5.9, peaks="{bf16: 1321, fp16: 1321}"
    )
    expected = "1321 TFLOP/s: 8 times the dense 165.2 of rtx-4090: a figure with sparsity or of a narrower format"
    assert [line for line in text if expected in line] == [f"bf16 {expected}", f"fp16 {expected}"]


def test_h100_pcie_at_1513_is_sparse_under_another_name_too(tmp_path: Path) -> None:
    text = of_card(tmp_path, "our-pcie", memory=85_899_345_920, bandwidth=2000, power=5, peaks="{bf16: 1513}")
    assert text == [
        "bf16 1513 TFLOP/s: 2 times the dense 756 of h100-pcie: a figure with sparsity or of a narrower format"
    ]


def test_pcie_compute_with_sxm_bandwidth(tmp_path: Path) -> None:
    text = of_card(tmp_path, "our-h100", peaks="{bf16: 756, fp8: 1513}")
    assert text == [
        "bf16 756 TFLOP/s with 3350 GB/s: Two parts in one: 756 is h100-pcie, which has 2000 GB/s; 3350 is h100-sxm"
    ]


def test_more_per_watt_than_any_part(tmp_path: Path) -> None:
    text = of_card(tmp_path, "our-h100", power=1.02)
    # 8 x 989 / 1020 W = 7.76 TFLOP/s per watt
    assert any("7.8 dense bf16 TFLOP/s per watt of the node, above 3" in line for line in text)


# ------------------------------------------------------------------ memory


@pytest.mark.parametrize("label", [180_000_000_000, 179_000_000_000])
def test_b200_at_its_label(tmp_path: Path, label: int) -> None:
    peaks = "{bf16: 2250, fp8: 4500}"
    text = of_card(tmp_path, "b200-hgx", memory=label, bandwidth=7700, peaks=peaks, power=14.3)
    assert len(text) == 1
    assert (
        f"memory_bytes {label:,}: b200-hgx holds 192,265,846,784 bytes (183,359 MiB): a label in GB or GiB" in text[0]
    )


@pytest.mark.parametrize("held", [192_000_000_000, 192_265_846_784, 180 * 2**30])
def test_192_gb_and_180_gib_are_the_same_capacity(tmp_path: Path, held: int) -> None:
    assert of_card(tmp_path, "b200-hgx", memory=held, bandwidth=7700, peaks="{bf16: 2250}", power=14.3) == []


def test_an_allowance_for_ecc_is_not_taken_off_hbm(tmp_path: Path) -> None:
    text = of_card(tmp_path, "our-h200", memory=141_000_000_000, bandwidth=4800)  # 6.5 % less than 150,754,820,096
    assert any("memory less an allowance for ECC, is not what a part reports" in line for line in text)


def test_a_name_that_says_more_than_there_is(tmp_path: Path) -> None:
    text = of_card(tmp_path, "our-card", name="H100 NVL 94 GB")
    assert text == ["memory_bytes 85,520,809,984: The name says 94 GB, which is 100,931,731,456 bytes at most"]


# ------------------------------------------------------------------ prices


def test_a_server_of_four_a100_for_less_than_its_cards(tmp_path: Path) -> None:
    text = found(tmp_path, offer=PURCHASE, platform="a100-80gb-sxm", price="62.5e3", currency="CNY")  # 250,000 / 4
    assert text == [
        (
            "62,500.00 CNY per accelerator: 0.69 times 90,000.00 CNY, the lowest published price of a new a100-80gb-sxm:"
            " the cards alone cost more; check unit, tax, currency and condition"
        )
    ]


def test_64_h100_for_a_million_yuan(tmp_path: Path) -> None:
    text = found(tmp_path, offer=PURCHASE, platform="h100-sxm", price="15625", currency="CNY")
    # lowest published: 30,000 USD / 0.139 = 215,827 CNY; 15,625 is 0.07 of it
    assert text[0].startswith("15,625.00 CNY per accelerator: 0.07 times 215,827.34 CNY, the lowest published price")


def test_a_price_per_node_taken_for_one_accelerator(tmp_path: Path) -> None:
    text = found(tmp_path, offer=PURCHASE, platform="b200-hgx", price="421900")
    # median of 57,225, 40,625, 40,000 and 37,500 is 40,312.50
    assert text[0].startswith("421,900.00 USD per accelerator: 10.47 times 40,312.50 USD, the median published price")


@pytest.mark.parametrize("price", ["52.7e3", "57225"])
def test_usual_prices_are_no_warning(tmp_path: Path, price: str) -> None:
    assert found(tmp_path, offer=PURCHASE, platform="b200-hgx", price=price) == []


def test_without_a_rate_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    assert found(tmp_path, offer=PURCHASE, platform="h200-sxm", price="1", currency="SEK") == []


# ------------------------------------------------------------------ runs


def test_12b_on_a_trillion_tokens_in_four_weeks_on_64_a100(tmp_path: Path) -> None:
    text = found(
        tmp_path, offer=PURCHASE, platform="a100-80gb-sxm", price="18e3", units=8, architecture="mistral-nemo-12b",
        deadline="2027-01-28",
    )  # fmt: skip
    # matrices 6 x 11.576e9 and causal attention 3 x 40 x 8192 x 4096 = 73.48 GFLOP per token; x 1e12 / (64 x 28 d)
    assert text == [
        (
            "64 x a100-80gb-sxm for 28 days need 474.6 TFLOP/s each:"
            " 152.1% of the dense bf16 peak of 312: above what the hardware can do"
        )
    ]


def test_the_same_on_128_is_above_any_published_training(tmp_path: Path) -> None:
    text = found(
        tmp_path, offer=PURCHASE, platform="a100-80gb-sxm", price="18e3", units=16, architecture="mistral-nemo-12b",
        deadline="2027-01-28",
    )  # fmt: skip
    assert text == [
        (
            "128 x a100-80gb-sxm for 28 days need 237.3 TFLOP/s each:"
            " 76.1% of the dense bf16 peak of 312: above the 60% that published training stays below"
        )
    ]


def test_more_than_the_fastest_matrix_products(tmp_path: Path) -> None:
    text = found(
        tmp_path, offer=PURCHASE, platform="a100-80gb-sxm", price="18e3", units=13, architecture="mistral-nemo-12b",
        deadline="2027-01-28",
    )  # fmt: skip
    assert len(text) == 1
    assert "93.6% of the dense bf16 peak of 312: above the 87% that its fastest matrix products reach" in text[0]


def test_enough_nodes_for_a_month_are_no_warning(tmp_path: Path) -> None:
    assert (
        found(
            tmp_path, offer=PURCHASE, platform="a100-80gb-sxm", price="18e3", units=32, architecture="mistral-nemo-12b",
            deadline="2027-01-28",
        )
        == []
    )  # fmt: skip


def test_an_offer_without_a_largest_quantity_ends_the_claim(tmp_path: Path) -> None:
    offer = PURCHASE.replace("units: {{max: {units}}}, ", "")
    assert found(tmp_path, offer=offer, platform="a100-80gb-sxm", price="18e3", deadline="2027-01-02") == []


def test_two_cards_of_48_gb_for_ten_billion_parameters(tmp_path: Path) -> None:
    card = CARD.format(
        id="workstation", name="ours", per_node=2, memory=51_539_607_552, bandwidth=960, power=1.2,
        peaks="{bf16: 364, fp8: 728}",
    )  # fmt: skip
    text = found(
        tmp_path, offer=PURCHASE, card=card, platform="workstation", units=1, architecture="llama-2-13b", tokens="1e10"
    )
    # 16 x 13.016e9 = 208 GB against 2 x 51.5 = 103 GB
    assert text == [
        "2 x workstation hold 103 GB: Weights, gradients and Adam of llama-2-13b take 208 GB: 16 bytes per parameter"
    ]


def test_four_a100_for_seventy_billion_parameters(tmp_path: Path) -> None:
    card = CARD.format(
        id="four-a100", name="ours", per_node=4, memory=85_899_345_920, bandwidth=2039, power=3.5, peaks="{bf16: 312}"
    )
    text = found(
        tmp_path, offer=PURCHASE, card=card, platform="four-a100", units=1, architecture="llama-3-1-70b", tokens="1e9"
    )
    assert "4 x four-a100 hold 344 GB: Weights, gradients and Adam of llama-3-1-70b take 1,129 GB" in text[0]


def test_gpt3_on_3640_a100(tmp_path: Path) -> None:
    text = found(
        tmp_path, offer=PURCHASE, platform="a100-80gb-sxm", price="18e3", units=455, architecture="gpt-3-175b",
        tokens="300e9", sequence=2048,
    )  # fmt: skip
    # 6 x 174.604e9 x 300e9 FLOP / 8.64e19 = 3,637.6
    assert text == [
        "3,640 x a100-80gb-sxm: The run is 3,638 petaflop/s-days of compute: that figure is no number of accelerators"
    ]


@pytest.mark.parametrize(
    ("units", "days", "expected"),
    [
        (8, 28, "64 x a100-80gb-sxm for 28 days need 474.6 TFLOP/s each: 152.1% of the dense bf16 peak of 312"),
        (
            128,
            28,
            "1,024 x a100-80gb-sxm for 28 days need only 29.7 TFLOP/s each: 9.5% of the dense bf16 peak; one token",
        ),
        (1, 448, "8 x a100-80gb-sxm for 448 days need 237.3 TFLOP/s each: 76.1% of the dense bf16 peak"),
        (32, 28, None),
    ],
)
def test_a_stated_run_is_asked_the_same(tmp_path: Path, units: int, days: int, expected: str | None) -> None:
    found(tmp_path, offer=PURCHASE, platform="a100-80gb-sxm", price="18e3", architecture="mistral-nemo-12b")
    loaded = load_scenario(tmp_path / "scenario.yaml")
    mode = {"workload": "pretrain", "units": units, "days": days, "source": "a sales page"}
    offer = {
        "type": "dedicated",
        "platform": "a100-80gb-sxm",
        "per": "run",
        "region": "eu",
        "price": 1,
        "modes": [mode],
    }
    quote = Quote.model_validate({**loaded.quotes["acme-1"].model_dump(), "offers": {"node": offer}})
    told = [f"{each.found}: {each.why}" for each in remarks(dataclasses.replace(loaded, quotes={"acme-1": quote}))]
    about = [line for line in told if "TFLOP/s" in line]
    assert [expected in line for line in about] == [True] if expected else not about


# ------------------------------------------------------------------ no false alarms


@pytest.mark.parametrize("path", sorted(shipped("scenarios").rglob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_scenarios_raise_none_of_these(path: Path) -> None:
    if "quotes" in path.parts[-2]:
        return
    words = ("published price", "TFLOP/s", "memory_bytes", " hold ", "petaflop")
    told = [f"{each.location}: {each.found}: {each.why}" for each in remarks(load_scenario(path))]
    assert [line for line in told if any(word in line for word in words)] == []
