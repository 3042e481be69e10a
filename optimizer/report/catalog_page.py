"""The library as one Markdown page: every option side by side, with sources, and unknowns said aloud."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from optimizer.engine.parameters import parameters
from optimizer.report.text import number
from optimizer.schema.architecture import Architecture, GroupedQueryAttention
from optimizer.schema.base import EvidenceLevel, Precision, Source
from optimizer.schema.platform import Platform, PlatformEvidence

if TYPE_CHECKING:
    from optimizer.io.reference_prices import ReferencePrice, ReferencePrices

_UNKNOWN = "unknown"
_PEAKS = (Precision.BF16, Precision.FP8, Precision.MXFP8, Precision.FP4)
_PAGE = """\
# Catalogue

Made by `clusterbuy catalog --markdown models/CATALOGUE.md` of the cards in `models/`; change those, not this page.
**unknown** means that no source was found: never zero, and an option that lacks what a plan needs is not eligible.
A dash means that the part does not have it.
Peaks are dense, TFLOP/s per accelerator; memory is what the part reports, 1e9 bytes; links are one way, 1e9 bytes per
second and accelerator; power is what a site provides for one node. Confidence: A vendor or measured, B reputable
secondary, C one secondary source or an estimate, D derived or not found.
"""


def catalogue_page(
    platforms: Mapping[str, Platform], architectures: Mapping[str, Architecture], prices: ReferencePrices
) -> str:
    """Return the page; platforms and architectures in the order of the mappings."""
    offered = [card for card in platforms.values() if not card.evidence_only]
    evidence_only = [card for card in platforms.values() if card.evidence_only]
    parts = [
        _PAGE,
        "## Hardware: figures",
        _table(("id", "per node", "memory", "GB/s", *_PEAKS, "links", "node kW", "room", "cooling"), map(_figures, offered)),
        "## Hardware: how it is acquired, and what is known to have run",
        _table(("id", "what it is", "unit", "acquired by", "from", "largest dense run seen", "eligible"), map(_market, offered)),
        "## Hardware: published prices of one accelerator",
        "For comparison only; plans use quotes.\n",
        _table(("id", "price", "of", "date", "source", "confidence", "remark"), _prices(prices)),
        "## Models",
        _table(("id", "name", "layers", "width", "heads", "experts", "parameters", "active", "published"), map(_model, architectures.values())),
        "## Known only from measured runs",
        _table(("id", "what it is", "why it cannot be planned with"), ((card.id, card.name or "", card.ineligible or "") for card in evidence_only)),
        "## Sources and remarks",
        *(_entry(card.id, card.sources, card.notes) for card in platforms.values()),
        *(_entry(model.id, model.sources, model.notes) for model in architectures.values()),
        _entry("published prices", prices.sources, ()),
    ]  # fmt: skip
    return "\n".join(parts)


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n" + "".join("| " + " | ".join(_cell(cell) for cell in line) + " |\n" for line in lines)


def _cell(text: str) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def _known(value: float | None) -> str:
    return _UNKNOWN if value is None else number(value)


def _figures(card: Platform) -> tuple[str, ...]:
    memory = card.memory_bytes
    nodes = card.node_sizes or (card.accelerators_per_node,)
    return (
        f"[{card.id}](platforms/{card.id}.yaml)",
        ", ".join(map(str, nodes)),
        _known(memory / 1e9 if memory else None),
        _known(card.memory_bandwidth_gb_s),
        *(_peak(card, precision) for precision in _PEAKS),
        ", ".join(f"{tier.name} {number(tier.full_domain_gb_s)}" for tier in card.tiers) or _UNKNOWN,
        _known(card.node_power_kw.provisioned),
        _room(card),
        ", ".join(card.space.cooling) or _UNKNOWN,
    )


def _peak(card: Platform, precision: Precision) -> str:
    """Return a peak; a card that lists bf16 lists all it has, of other cards nothing is known."""
    if Precision.BF16 not in card.peak_dense_tflops and precision not in card.peak_dense_tflops:
        return _UNKNOWN
    return number(card.peak_dense_tflops[precision]) if precision in card.peak_dense_tflops else "-"


def _room(card: Platform) -> str:
    units, racks = card.space.rack_units, card.space.racks
    if racks is not None:
        return f"{number(racks)} rack" + ("s" if racks > 1 else "")
    return _UNKNOWN if units is None else f"{number(units)} U"


def _market(card: Platform) -> tuple[str, ...]:
    routes = ", ".join(route.replace("_", " ") for route in card.acquisition)
    return (
        card.id,
        f"{card.vendor}: {card.name or card.id}",
        card.purchase_unit
        if card.accelerators_per_unit == 1
        else f"{card.purchase_unit} of {card.accelerators_per_unit}",
        routes or "neither sold nor rented",
        str(card.available_from or "now"),
        "; ".join(_seen(card.evidence)) or "none: datasheet",
        _eligible(card),
    )


def _eligible(card: Platform) -> str:
    if card.ineligible:
        return f"no: {card.ineligible}"
    if not card.peak_dense_tflops:
        return "with stated performance only: no figures are published"
    excluded = "only with policy.allow_excluded_licence: licence or warranty excludes data centres"
    return excluded if card.licence_excludes_datacentre else "yes"


def _seen(evidence: Iterable[PlatformEvidence]) -> list[str]:
    """Return the largest run per precision: level, parameters and accelerators."""
    largest: dict[Precision, PlatformEvidence] = {}
    for seen in sorted(evidence, key=lambda item: item.parameters_max or 0.0):
        largest[seen.precision] = seen
    return [f"{precision} {_level(seen.level)} {_size(seen)}".strip() for precision, seen in sorted(largest.items())]


def _level(level: EvidenceLevel) -> str:
    return level.replace("_", " ")


def _size(seen: PlatformEvidence) -> str:
    parameters_seen = f"{seen.parameters_max / 1e9:,.4g} B" if seen.parameters_max else "any size"
    return f"{parameters_seen} on {seen.accelerators_max:,}" if seen.accelerators_max else parameters_seen


def _prices(prices: ReferencePrices) -> Iterable[tuple[str, ...]]:
    for name, listed in sorted(prices.prices.items()):
        yield from (_price(name, price) for price in listed)


def _price(name: str, price: ReferencePrice) -> tuple[str, ...]:
    amount = f"{number(price.amount)} {price.currency}"
    return name, amount, price.of, price.date, price.source, price.confidence, price.note or ""


def _model(model: Architecture) -> tuple[str, ...]:
    attention, moe, counts = model.attention, model.moe, parameters(model)
    grouped = isinstance(attention, GroupedQueryAttention)
    heads = f"{attention.heads} / {attention.kv_heads}" if isinstance(attention, GroupedQueryAttention) else ""
    experts = f"{moe.experts}, {moe.experts_per_token} per token" if moe else "-"
    return (
        f"[{model.id}](architectures/{model.id}.yaml)",
        model.name or "",
        str(model.layers),
        number(model.hidden_size),
        heads if grouped else f"{attention.heads} latent",
        experts + (f" + {moe.shared_experts} shared" if moe and moe.shared_experts else ""),
        f"{counts.total / 1e9:,.4g} B",
        f"{counts.active / 1e9:,.4g} B",
        f"{model.published_parameters / 1e9:,.4g} B" if model.published_parameters else _UNKNOWN,
    )


def _entry(name: str, sources: Mapping[str, Source], notes: Iterable[str]) -> str:
    lines = [f"**{name}**\n"]
    lines += [f"- {_source(short, source)}" for short, source in sources.items()]
    lines += [f"- {note}" for note in notes]
    return "\n".join(lines) + "\n"


def _source(name: str, source: Source) -> str:
    """Return one source: linked where it has an address, with what it covers, its date and its confidence."""
    url = source.url or ""
    address, _, rest = url.partition(" ")
    text = f"[{name}]({address})" if address.startswith("https://") else name + (f": {url}" if url else ": assumption")
    text += f" {rest}" if address.startswith("https://") and rest else ""
    covers = f" for {', '.join(source.covers)}" if source.covers else ""
    return f"{text}, {source.date}, {source.confidence}{covers}" + (f" ({source.note})" if source.note else "")
