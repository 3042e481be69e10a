"""Figures of a platform or price that look plausible and are not: what ``check`` asks about them.

Every rule is one trap met in vendor pages and lists: peaks with sparsity, compute of one part with the memory of
another, labels for bytes, prices below those of the bare cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from statistics import median

from optimizer.io.library import Library
from optimizer.io.loaded import Loaded
from optimizer.io.prices import price_per_accelerator
from optimizer.io.reference_prices import amounts_in, reference_prices
from optimizer.io.references import named_platforms
from optimizer.io.remark import Remark
from optimizer.io.shipped import shown
from optimizer.results import Amount
from optimizer.schema.base import Precision
from optimizer.schema.platform import Platform
from optimizer.schema.quote import PurchaseOffer
from optimizer.schema.scenario import Scenario

FP8_OVER_BF16 = 2.2
"""Dense fp8 runs at twice bf16; a higher ratio is a figure with sparsity."""

BF16_BEFORE_RUBIN_TFLOPS = 2600.0
"""No accelerator before the Rubin generation has a higher dense bf16 peak (MI355X: 2,517)."""

RUBIN_BANDWIDTH_GB_S = 15000.0
"""The generation of Rubin (22,000) and MI455X (19,600) has more memory bandwidth than this, every earlier part less."""

BF16_TFLOPS_PER_WATT = 3.0
"""Node inlet power bounds dense bf16: 1.3 on B200, below 2 on every part of the library."""

SAME, ALIKE = 0.01, 0.05
"""Figures within 1 % are the same figure; parts within 5 % of memory bandwidth are taken for the same part."""

LABEL_GAP = 0.09
"""A label in decimal GB is 6 to 7 % below the bytes of the same number of GiB; more is another part."""

MULTIPLES = (2, 4, 8, 16)
"""Sparsity doubles a figure, so does each narrower number format."""

BELOW_LOWEST, ABOVE_MEDIAN = Decimal("0.8"), Decimal(4)
"""Bargains on new cards stay within 20 %; a server adds less than three times its cards, even consumer cards."""


def platform_claims(loaded: Loaded) -> Iterator[Remark]:
    """Yield what is implausible about the platforms a scenario names."""
    for name in sorted(named_platforms(loaded)):
        platform = loaded.library.platforms[name]
        if platform.ineligible:
            yield Remark(location=_file(loaded, name), found="not eligible", why=platform.ineligible)
        for found, why in _implausible(platform):
            yield Remark(location=_file(loaded, name), found=found, why=why)
    for name, platform, shipped in _own(loaded):
        for rule in (_multiple_of_dense, _two_parts, _label_for_bytes):
            for found, why in rule(platform, shipped):
                yield Remark(location=_file(loaded, name), found=found, why=why)


def price_claims(loaded: Loaded) -> Iterator[Remark]:
    """Yield purchases far below or above what is published for the platform, new."""
    published, rates = reference_prices(loaded.library.roots).prices, _rates(loaded.scenario)
    for quote_id, name, offer in loaded.offers():
        price = price_per_accelerator(loaded, quote_id, offer) if isinstance(offer, PurchaseOffer) else None
        usual = amounts_in(published.get(offer.platform, ()), rates)
        if price is None or not usual:
            continue
        far = _far(price, usual, offer.platform)
        if far:
            against, which = far
            own, known = (Amount.written(x, loaded.scenario.currency, ",.2f") for x in (price, against))
            place = loaded.quote_documents[quote_id].at(("offers", name, "price"))
            why = f"{price / against:.2f} times {known.text}, {which}; check unit, tax, currency and condition"
            yield Remark(location=place, found=f"{own.text} per accelerator", why=why, amounts=(own, known))


def _far(price: Decimal, usual: Sequence[Decimal], platform: str) -> tuple[Decimal, str] | None:
    """Return the published price that a price is far from, and which one it is; None when it is near."""
    low, middle = min(usual), median(usual)
    if price < BELOW_LOWEST * low:
        return low, f"the lowest published price of a new {platform}: the cards alone cost more"
    if price > ABOVE_MEDIAN * middle:
        return middle, f"the median published price of a {platform}"
    return None


def _rates(scenario: Scenario) -> Mapping[str, Decimal]:
    """Return units of the scenario's currency for one unit of each currency that has a rate."""
    if scenario.fx is None:
        return {scenario.currency: Decimal(1)}
    rates = {**scenario.fx.rates, scenario.fx.base: Decimal(1)}
    own = rates.get(scenario.currency)
    return {scenario.currency: Decimal(1)} if own is None else {code: rate / own for code, rate in rates.items()}


def _file(loaded: Loaded, name: str) -> str:
    files = [root / "models" / "platforms" / f"{name}.yaml" for root in loaded.library.roots]
    return next((shown(file) for file in reversed(files) if file.is_file()), f"models/platforms/{name}.yaml")


def _implausible(platform: Platform) -> Iterator[tuple[str, str]]:
    """Bounds that need no other part to compare with."""
    peaks, power = platform.peak_dense_tflops, platform.node_power_kw.provisioned
    bf16, fp8 = peaks.get(Precision.BF16), peaks.get(Precision.FP8)
    if bf16 and fp8 and bf16 <= BF16_BEFORE_RUBIN_TFLOPS and fp8 > FP8_OVER_BF16 * bf16:
        why = f"More than {FP8_OVER_BF16} times: probably a figure with sparsity, dense is {2 * bf16:g}"
        yield f"fp8 {fp8:g} TFLOP/s against bf16 {bf16:g}", why
    old = (platform.memory_bandwidth_gb_s or 0) < RUBIN_BANDWIDTH_GB_S
    if bf16 and bf16 > BF16_BEFORE_RUBIN_TFLOPS and old:
        why = f"No part before Rubin has a dense peak above {BF16_BEFORE_RUBIN_TFLOPS:,.0f}; with sparsity it would be {bf16 / 2:g} dense"
        yield f"bf16 {bf16:g} TFLOP/s", why
    if bf16 and power and bf16 * platform.accelerators_per_node > BF16_TFLOPS_PER_WATT * power * 1000:
        per_watt = bf16 * platform.accelerators_per_node / (power * 1000)
        why = f"{per_watt:.1f} dense bf16 TFLOP/s per watt of the node, above {BF16_TFLOPS_PER_WATT:g}: peak or power is wrong"
        yield f"{power:g} kW for {platform.accelerators_per_node} x {bf16:g} TFLOP/s", why


def _own(loaded: Loaded) -> Iterator[tuple[str, Platform, Mapping[str, Platform]]]:
    """Yield named platforms that are not as shipped, with what is shipped."""
    if len(loaded.library.roots) == 1 and not loaded.library.pinned:
        return
    shipped = Library.shipped().platforms
    for name in sorted(named_platforms(loaded)):
        platform = loaded.library.platforms[name]
        if platform != shipped.get(name):
            yield name, platform, shipped


def _near(value: float | None, other: float | None, within: float) -> bool:
    return bool(value and other) and abs(value / other - 1) <= within  # type: ignore[operator]  # both are there


def _twins(platform: Platform, shipped: Mapping[str, Platform]) -> list[Platform]:
    """Return the shipped cards of the same part: the same id, else the same vendor and memory."""
    if platform.id in shipped:
        return [shipped[platform.id]]
    return [
        card
        for card in shipped.values()
        if card.vendor == platform.vendor
        and _near(platform.memory_bandwidth_gb_s, card.memory_bandwidth_gb_s, ALIKE)
        and _near(platform.memory_bytes, card.memory_bytes, LABEL_GAP)
    ]


def _multiple_of_dense(platform: Platform, shipped: Mapping[str, Platform]) -> Iterator[tuple[str, str]]:
    """A peak that is 2, 4, 8 or 16 times the dense peak of the same part."""
    twins = _twins(platform, shipped)
    for precision, peak in platform.peak_dense_tflops.items():
        known = [(card, card.peak_dense_tflops[precision]) for card in twins if precision in card.peak_dense_tflops]
        if any(_near(peak, dense, ALIKE) for _, dense in known):
            continue
        for card, dense in known:
            times = next((times for times in MULTIPLES if _near(peak, times * dense, 2 * SAME)), None)
            if times:
                why = f"{times} times the dense {dense:g} of {card.id}: a figure with sparsity or of a narrower format"
                yield f"{precision} {peak:g} TFLOP/s", why
                break


def _two_parts(platform: Platform, shipped: Mapping[str, Platform]) -> Iterator[tuple[str, str]]:
    """Compute of one part with the memory bandwidth of another, as lists that mix PCIe and SXM cards have it."""
    peak, bandwidth = platform.peak_dense_tflops.get(Precision.BF16), platform.memory_bandwidth_gb_s
    cards = [card for card in shipped.values() if card.vendor == platform.vendor]
    compute = [card for card in cards if _near(peak, card.peak_dense_tflops.get(Precision.BF16), SAME)]
    memory = [card for card in cards if _near(bandwidth, card.memory_bandwidth_gb_s, SAME)]
    if not compute or not memory or any(_near(bandwidth, card.memory_bandwidth_gb_s, ALIKE) for card in compute):
        return
    if any(_near(peak, card.peak_dense_tflops.get(Precision.BF16), ALIKE) for card in memory):
        return
    why = f"{peak:g} is {compute[0].id}, which has {compute[0].memory_bandwidth_gb_s:g} GB/s; {bandwidth:g} is {memory[0].id}"
    yield f"bf16 {peak:g} TFLOP/s with {bandwidth:g} GB/s", f"Two parts in one: {why}"


def _label_for_bytes(platform: Platform, shipped: Mapping[str, Platform]) -> Iterator[tuple[str, str]]:
    """Memory that is a label, or has an allowance taken off, where the part reports its bytes."""
    held, twins = platform.memory_bytes, _twins(platform, shipped)
    gaps = [(abs(held / card.memory_bytes - 1), card) for card in twins if held and card.memory_bytes]
    gap, card = min(gaps, key=lambda item: item[0], default=(0.0, platform))
    if SAME < gap <= LABEL_GAP and held and card.memory_bytes:
        reported = f"{card.id} holds {card.memory_bytes:,} bytes ({card.memory_bytes / 2**20:,.0f} MiB)"
        why = f"{reported}: a label in GB or GiB, or memory less an allowance for ECC, is not what a part reports"
        yield f"memory_bytes {held:,}", why
    label = re.search(r"(\d+) ?GB\b", platform.name or "")
    if label and held and not _near(held, int(label[1]) * 1e9, LABEL_GAP):
        yield f"memory_bytes {held:,}", f"The name says {label[0]}, which is {int(label[1]) * 2**30:,} bytes at most"
