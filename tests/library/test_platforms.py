"""Every platform card: loads, names its sources, and avoids the unit traps of hardware figures."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from optimizer.io.library import Library
from optimizer.schema.base import OfferType, Precision
from optimizer.schema.platform import Platform

CARDS = Library.shipped().platforms
TRAPS = yaml.safe_load((Path(__file__).parents[1] / "data" / "hardware_traps.yaml").read_text("utf-8"))

# fmt: off
IDS = [
    "a100-40gb-sxm", "a100-80gb-sxm", "h100-sxm", "h100-pcie", "h200-sxm", "b200-hgx", "b300-hgx", "gb200-nvl72",
    "gb300-nvl72", "rubin-hgx", "rubin-nvl72", "mi300x", "mi325x", "mi350x", "mi355x", "mi455x-helios72", "gaudi2",
    "gaudi3", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu7x", "tpu-8t", "tpu-8i", "trn1", "trn2", "trn3", "cs-3",
    "cs-4", "rtx-4090", "rtx-5090", "rtx-6000-ada", "rtx-pro-6000-server", "l40s", "rx-9070-xt",
    "radeon-ai-pro-r9700", "mtia-300", "h800-sxm", "h100-96gb-500w",
]
# fmt: on

RACKS = ["gb200-nvl72", "gb300-nvl72", "rubin-nvl72", "mi455x-helios72"]
NEXT_GENERATION = {"rubin-hgx", "rubin-nvl72", "mi455x-helios72"}  # the only parts with BF16 above 2,600
UNEQUAL_FP8 = NEXT_GENERATION | {"trn3"}  # FP8 is more than 2.2 times BF16 there by design
GIB = 2**30

each = pytest.mark.parametrize("card", CARDS.values(), ids=CARDS.keys())
each_trap = pytest.mark.parametrize("name", TRAPS)


def numbers(card: Platform) -> set[str]:
    """Return the keys of a card that hold a figure."""
    power, space = card.node_power_kw, card.space
    held = {
        "accelerators_per_node": True,
        "node_sizes": bool(card.node_sizes),
        "nodes_per_rack": card.nodes_per_rack is not None,
        "available_from": card.available_from is not None,
        "ineligible": card.ineligible is not None,
        "memory_bytes": card.memory_bytes is not None,
        "memory_bandwidth_gb_s": card.memory_bandwidth_gb_s is not None,
        "peak_dense_tflops": bool(card.peak_dense_tflops),
        "tiers": bool(card.tiers),
        "node_power_kw": any(value is not None for value in (power.provisioned, power.training, power.idle)),
        "space": any(value is not None for value in (space.rack_units, space.racks)) or bool(space.cooling),
        "evidence": bool(card.evidence),
        "licence_excludes_datacentre": card.licence_excludes_datacentre,
    }
    return {key for key, present in held.items() if present}


def plannable(card: Platform) -> bool:
    """Return whether the engine is expected to time this card."""
    return card.ineligible is None and OfferType.DEDICATED not in card.acquisition


def test_the_catalogue_is_complete() -> None:
    assert sorted(CARDS) == sorted(IDS)


@pytest.mark.parametrize("name", CARDS)
def test_id_is_the_file_name(name: str) -> None:
    assert CARDS[name].id == name


@each
def test_every_figure_names_its_source(card: Platform) -> None:
    covered = {key for source in card.sources.values() for key in source.covers}
    assert numbers(card) <= covered


@each
def test_sources_say_what_they_cover_and_when_they_were_read(card: Platform) -> None:
    for name, source in card.sources.items():
        assert source.covers, name
        assert set(source.covers) <= set(Platform.model_fields), name
        assert source.date, name
        assert source.url or source.confidence == "D", f"{name}: without an address it is an assumption"


@each
def test_evidence_cites_a_source_of_the_card(card: Platform) -> None:
    for seen in card.evidence:
        assert "evidence" in card.sources[seen.source].covers
        assert seen.precision in card.peak_dense_tflops
        assert seen.parameters_max
        assert seen.accelerators_max


@each
def test_a_plannable_card_has_what_the_engine_needs(card: Platform) -> None:
    if plannable(card):
        assert card.memory_bytes
        assert card.memory_bandwidth_gb_s
        assert card.peak_dense_tflops[Precision.BF16] > 0
        assert len(card.tiers) >= 2
        assert card.acquisition
    else:
        assert card.ineligible or not card.peak_dense_tflops


@each
def test_evidence_only_cards_are_ineligible(card: Platform) -> None:
    if card.evidence_only:
        assert card.ineligible
        assert card.acquisition == ()


@each
def test_dense_peaks_follow_the_precision(card: Platform) -> None:
    peaks = card.peak_dense_tflops
    bf16, fp8 = peaks.get(Precision.BF16), peaks.get(Precision.FP8)
    if bf16 and fp8 and card.id not in UNEQUAL_FP8:
        assert fp8 <= 2.2 * bf16
    if bf16 and card.id not in NEXT_GENERATION:
        assert bf16 <= 2600
    if fp8 and Precision.MXFP8 in peaks:
        assert peaks[Precision.MXFP8] == fp8


@each
def test_bf16_per_watt_is_possible(card: Platform) -> None:
    provisioned = card.node_power_kw.provisioned
    if plannable(card) and provisioned:
        tflops_per_watt = card.peak_dense_tflops[Precision.BF16] * card.accelerators_per_node / (provisioned * 1000)
        assert 0.1 < tflops_per_watt < 3


@each
def test_tiers_run_from_the_inside_out(card: Platform) -> None:
    if not card.tiers or card.id == "trn3":  # its cluster network is unknown, which makes it ineligible
        return
    *inner, last = card.tiers
    assert last.accelerators is None
    assert all(tier.accelerators for tier in inner)
    widths = [tier.full_domain_gb_s for tier in card.tiers]
    assert widths == sorted(widths, reverse=True)


@each
def test_pair_and_domain_bandwidth_fit_the_topology(card: Platform) -> None:
    for tier in card.tiers:
        links = tier.full_domain_gb_s / tier.pair_gb_s
        if tier.topology == "full_mesh":
            assert links == (tier.accelerators or 0) - 1  # one link to each of the others
        elif tier.topology == "torus":
            assert links in (4, 6)  # neighbours of a 2D torus or 4D hypercube, or of a 3D torus
        else:
            assert links == 1


@each
def test_a_rented_only_card_has_no_power_of_ours(card: Platform) -> None:
    if card.vendor in {"Google", "AWS"}:
        assert not {OfferType.PURCHASE, OfferType.LEASE} & set(card.acquisition)
        assert card.node_power_kw.provisioned is None


@each
def test_geforce_carries_its_licence_limit(card: Platform) -> None:
    assert card.licence_excludes_datacentre is card.id.startswith(("rtx-4090", "rtx-5090"))


@each
def test_what_we_can_house_says_its_room(card: Platform) -> None:
    if card.node_power_kw.provisioned:
        assert card.space.rack_units or card.space.racks
        assert card.space.cooling


@each_trap
def test_memory_is_bytes_not_a_label(name: str) -> None:
    held, facts = CARDS[name].memory_bytes or 0, TRAPS[name]
    assert abs(held / 1e9 / facts["label_gb"] - 1) <= 0.08
    if "mib" in facts:
        assert held == facts["mib"] * 1_048_576


@each_trap
def test_no_peak_is_a_sparse_figure(name: str) -> None:
    for precision, sparse in TRAPS[name].get("sparse", {}).items():
        dense = CARDS[name].peak_dense_tflops.get(Precision(precision))
        assert dense is None or dense < 0.72 * sparse


@each_trap
def test_no_link_adds_both_directions(name: str) -> None:
    for tier in CARDS[name].tiers:
        assert tier.full_domain_gb_s < 0.6 * TRAPS[name]["both_ways_gb_s"]


@pytest.mark.parametrize("name", [name for name, facts in TRAPS.items() if "measured_bf16" in facts])
def test_peak_is_above_what_was_measured_and_not_twice_it(name: str) -> None:
    measured = TRAPS[name]["measured_bf16"]
    assert measured < CARDS[name].peak_dense_tflops[Precision.BF16] < 2 * measured


@pytest.mark.parametrize("name", RACKS)
def test_racks_hold_72(name: str) -> None:
    card = CARDS[name]
    assert (card.purchase_unit, card.accelerators_per_unit) == ("rack", 72)
    assert card.tiers[0].accelerators == 72
    assert card.space.racks == (2 if name == "mi455x-helios72" else 1)
    assert card.space.cooling == ("liquid",)


@pytest.mark.parametrize(("name", "rack_kw"), [("gb200-nvl72", 132), ("gb300-nvl72", 135), ("rubin-nvl72", 230)])
def test_rack_power_is_the_published_rack_figure(name: str, rack_kw: float) -> None:
    assert 18 * (CARDS[name].node_power_kw.provisioned or 0) == pytest.approx(rack_kw, abs=0.01)


def test_h100_pcie_is_not_the_sxm_part() -> None:
    pcie, sxm = CARDS["h100-pcie"], CARDS["h100-sxm"]
    assert pcie.peak_dense_tflops[Precision.BF16] == 756
    assert pcie.memory_bandwidth_gb_s == 2000
    assert sxm.peak_dense_tflops[Precision.BF16] == 989
    assert sxm.memory_bandwidth_gb_s == 3350


@pytest.mark.parametrize(
    ("older", "newer"),
    [("h100-sxm", "h200-sxm"), ("mi300x", "mi325x"), ("b200-hgx", "b300-hgx"), ("gb200-nvl72", "gb300-nvl72")],
)
def test_a_memory_refresh_keeps_bf16_and_fp8(older: str, newer: str) -> None:
    old, new = CARDS[older], CARDS[newer]
    for precision in (Precision.BF16, Precision.FP8):
        assert old.peak_dense_tflops[precision] == new.peak_dense_tflops[precision]
    assert (new.memory_bytes or 0) > 1.3 * (old.memory_bytes or 0)


def test_b300_holds_half_more_than_b200_and_less_than_mi355x() -> None:
    b200, b300, mi355x = (CARDS[name].memory_bytes or 0 for name in ("b200-hgx", "b300-hgx", "mi355x"))
    assert b300 / b200 == pytest.approx(1.50, abs=0.001)  # 275,040 / 183,359; labels 288 / 180 would say 1.60
    assert mi355x / b300 == pytest.approx(1.0723, abs=0.0005)  # 294,912 / 275,040


def test_tpu_memory_is_in_gib() -> None:
    assert CARDS["tpu7x"].memory_bytes == 192 * GIB == 206_158_430_208
    assert CARDS["tpu-v5p"].memory_bytes == 95 * GIB == 102_005_473_280


OWNED = {OfferType.PURCHASE, OfferType.LEASE}
RENT_ONLY = {"tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu7x", "tpu-8t", "tpu-8i", "trn1", "trn2", "trn3"}
INELIGIBLE = {
    "cs-4": "specification",
    "tpu-8t": "BF16 and FP8 rates",
    "tpu-8i": "inference",
    "trn3": "cluster network",
    "mtia-300": "neither sold nor rented",
    "h800-sxm": "",
    "h100-96gb-500w": "",
}


def test_exactly_these_cannot_be_planned_with_and_say_why() -> None:
    reasons = {name: card.ineligible for name, card in CARDS.items() if card.ineligible}
    assert reasons.keys() == INELIGIBLE.keys()
    for name, reason in reasons.items():
        assert INELIGIBLE[name].lower() in reason.lower()
        assert len(reason) > 15


@each
def test_an_unknown_fact_that_a_plan_needs_makes_it_ineligible(card: Platform) -> None:
    known = card.memory_bytes and card.memory_bandwidth_gb_s and Precision.BF16 in card.peak_dense_tflops
    complete = known and len(card.tiers) >= 2 and card.acquisition
    assert complete or card.ineligible or OfferType.DEDICATED in card.acquisition


@each
def test_no_figure_is_zero(card: Platform) -> None:
    power, space = card.node_power_kw, card.space
    figures = [card.memory_bytes, card.memory_bandwidth_gb_s, *card.peak_dense_tflops.values()]
    figures += [power.provisioned, power.training, power.idle, space.rack_units, space.racks]
    assert all(figure is None or figure > 0 for figure in figures)


@each
def test_routes_are_those_of_the_market(card: Platform) -> None:
    routes = set(card.acquisition)
    if card.id in RENT_ONLY:
        assert routes
        assert not routes & OWNED
    elif card.id in {"mtia-300", "h800-sxm", "h100-96gb-500w"}:
        assert not routes
    else:
        assert OfferType.PURCHASE in routes
    assert (OfferType.DEDICATED in routes) is (card.id == "cs-3")


@each
def test_evidence_says_how_large_and_how_many(card: Platform) -> None:
    for seen in card.evidence:
        assert seen.level.rank >= 2
        assert 1e8 <= (seen.parameters_max or 0) <= 1e12
        assert 1 <= (seen.accelerators_max or 0) <= 20_000


@pytest.mark.parametrize("name", ["rubin-hgx", "rubin-nvl72", "mi455x-helios72", "cs-3", "trn2", "tpu7x"])
def test_nobody_has_published_a_dense_run_on_these(name: str) -> None:
    levels = {seen.level for seen in CARDS[name].evidence if (seen.parameters_max or 0) > 100e9}
    assert not levels


@pytest.mark.parametrize(
    ("slower", "faster", "least", "most"),
    [
        ("a100-80gb-sxm", "h100-sxm", 3.1, 3.2),  # dense 312 against 989; 6.3 only compares fp8 with bf16
        ("h100-pcie", "h100-sxm", 1.30, 1.32),
        ("h100-sxm", "b200-hgx", 2.2, 2.3),
        ("b200-hgx", "gb200-nvl72", 1.10, 1.12),
        ("b200-hgx", "rubin-hgx", 1.6, 1.8),
        ("mi300x", "mi355x", 1.9, 2.0),
        ("trn2", "trn3", 1.0, 1.01),
        ("tpu-v5p", "tpu-v6e", 1.99, 2.01),
        ("rtx-4090", "rtx-5090", 1.2, 1.3),
    ],
)
def test_siblings_differ_as_generations_do(slower: str, faster: str, least: float, most: float) -> None:
    ratio = CARDS[faster].peak_dense_tflops[Precision.BF16] / CARDS[slower].peak_dense_tflops[Precision.BF16]
    assert least <= ratio <= most


def test_b200_label_180_and_192_are_one_capacity() -> None:
    held = CARDS["b200-hgx"].memory_bytes or 0
    assert held / 1e9 == pytest.approx(192.27, abs=0.01)
    assert held / GIB == pytest.approx(179.06, abs=0.01)


def test_reported_memory_is_half_a_per_cent_below_nominal() -> None:
    nominal = {"h100-sxm": 80, "h200-sxm": 141, "b200-hgx": 180, "rtx-pro-6000-server": 96}
    for name, gib in nominal.items():
        missing = 1 - (CARDS[name].memory_bytes or 0) / (gib * GIB)
        assert 0.004 < missing < 0.006  # ECC does not take 5 to 7 %
