"""The library as tables, and one record in full."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel
from rich.console import Group, RenderableType
from rich.text import Text

from optimizer.report.console import table
from optimizer.report.text import UNKNOWN, number
from optimizer.schema.architecture import Architecture
from optimizer.schema.base import Precision
from optimizer.schema.platform import Platform
from optimizer.schema.quote import Quote


def catalog_screen(records: Mapping[str, Mapping[str, BaseModel]]) -> RenderableType:
    """Return one table per kind of record."""
    return Group(*(part for kind, found in records.items() for part in _kind(kind, found)))


def record_screen(record: BaseModel) -> RenderableType:
    """Return every key of a record, one per line; keys without a value are unknown or none."""
    return Group(*(Text(line) for line in _lines(record.model_dump(mode="json", by_alias=True), "")))


def _kind(kind: str, records: Mapping[str, BaseModel]) -> list[RenderableType]:
    head = Text(f"{len(records)} {kind}", style="bold")
    if kind == "platforms":
        headers = ("id", "vendor", ">per node", ">memory GB", ">bf16", ">fp8 TFLOP/s", ">node kW", "acquired by")
        rows = [_platform(record) for record in records.values() if isinstance(record, Platform)]
    elif kind == "architectures":
        headers = ("id", ">layers", ">hidden", ">vocabulary", "attention", ">experts", ">parameters B", "")
        rows = [_architecture(record) for record in records.values() if isinstance(record, Architecture)]
    else:
        headers = ("quote", ">revision", "vendor", "kind", "valid until", "currency", "offers", "")
        rows = [_quote(record) for record in records.values() if isinstance(record, Quote)]
    return [head, table(headers, rows, indent=2)]


def _platform(platform: Platform) -> tuple[str, ...]:
    peaks = platform.peak_dense_tflops
    memory = platform.memory_bytes
    return (
        platform.id,
        platform.vendor,
        str(platform.accelerators_per_node),
        number(memory / 1e9 if memory else None),
        number(peaks.get(Precision.BF16)),
        number(peaks.get(Precision.FP8)),
        number(platform.node_power_kw.provisioned),
        platform.ineligible or ", ".join(platform.acquisition),
    )


def _architecture(model: Architecture) -> tuple[str, ...]:
    parameters = model.published_parameters
    return (
        model.id,
        str(model.layers),
        number(model.hidden_size),
        number(model.vocab_size),
        f"{model.attention.kind}, {model.attention.heads} heads",
        str(model.moe.experts) if model.moe else "",
        number(parameters / 1e9 if parameters else None),
        "",
    )


def _quote(quote: Quote) -> tuple[str, ...]:
    return (
        quote.quote,
        str(quote.revision),
        quote.vendor,
        quote.kind,
        str(quote.valid_until or UNKNOWN),
        quote.currency,
        ", ".join(f"{name} ({offer.platform})" for name, offer in quote.offers.items()),
        "",
    )


def _lines(value: object, indent: str) -> list[str]:
    """Return plain data as indented lines; small records stay on one."""
    if isinstance(value, dict):
        return [line for key, item in value.items() for line in _entry(f"{key}:", item, indent)]
    if isinstance(value, list):
        return [line for item in value for line in _entry("-", item, indent)]
    return [f"{indent}{_word(value)}"]


def _entry(key: str, value: object, indent: str) -> list[str]:
    if isinstance(value, (dict, list)) and value and _is_deep(value):
        return [f"{indent}{key}", *_lines(value, indent + "  ")]
    return [f"{indent}{key} {_word(value)}"]


def _is_deep(value: dict[str, object] | list[object]) -> bool:
    items = list(value.values()) if isinstance(value, dict) else value
    return any(isinstance(item, (dict, list)) and item for item in items) or len(_word(value)) > 100


def _word(value: object) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_word(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_word, value))
    return str(value)
