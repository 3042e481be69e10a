"""A model configuration as published (``config.json``) -> an architecture card, with the origin of every value."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from optimizer.engine.parameters import Parameters, parameters
from optimizer.errors import InputError, Problem, did_you_mean
from optimizer.io.document import Document
from optimizer.io.huggingface_keys import ConfigurationKeys, Families, Part, Value
from optimizer.io.shipped import shown
from optimizer.io.validate import validated
from optimizer.io.yaml_reader import read_text, read_yaml
from optimizer.schema.architecture import Architecture
from optimizer.schema.base import Source

_MIXED = "A window or chunk limits attention in part of the layers; full attention is counted in all: too much work."
_PLAIN_LAYERS = {"full_attention", "sliding_attention", "chunked_attention"}


@dataclass(frozen=True, slots=True)
class Converted:
    """An architecture read from a configuration.

    Attributes:
        architecture: The card.
        parameters: Its parameter counts, for comparison with the published one.
        text: The card as YAML, each value with its origin.
        parts: The same origins, by key.
        assumptions: What the configuration did not say.
    """

    architecture: Architecture
    parameters: Parameters
    text: str
    parts: tuple[Part, ...]
    assumptions: tuple[str, ...]


def identifier(text: str) -> str:
    """Return a kebab-case id made of a name or path.

    >>> identifier("meta-llama/Llama-3.1-8B")
    'llama-3-1-8b'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.rsplit("/", 1)[-1].lower()).strip("-")


def convert(
    path: Path, known: Families, *, id_: str | None, url: str | None, today: dt.date, ignore: Iterable[str] = ()
) -> Converted:
    """Read a configuration file.

    Args:
        path: The file.
        known: Families that can be read.
        id_: Id of the card; None = made of the name in the configuration.
        url: Where the file came from; None = its name.
        today: Date written beside the source.
        ignore: Keys that may be left unread although nothing is known about them.

    Raises:
        InputError: Not JSON, a family that is not known, or keys that are missing, unknown or contradict each other.
    """
    name = shown(path)
    whole = read_yaml(read_text(path, name).replace("\t", " "), name)  # JSON is YAML but for tabs
    if not isinstance(whole.data, dict):
        raise InputError([Problem(name, "no record of keys", "Expected a model configuration in JSON")])
    nested = isinstance(whole.data.get("text_config"), dict)
    reader = _reader(whole.part("text_config") if nested else whole, known)
    if nested:
        reader.assumptions.append("Only text_config is read: what sees or hears beside the language model is left out")
    parts = _parts(reader)
    reader.refuse_unknown(known, ignore)
    id_ = id_ or identifier(str(reader.keys.get("_name_or_path") or whole.data.get("_name_or_path") or ""))
    if not id_:
        reader.problems.append(Problem(name, "no name in it", "", "Give one: --id my-model"))
    if reader.problems:
        raise InputError(reader.problems)
    return _converted(id_, parts, reader, Source(url=url or path.name, date=today.isoformat(), confidence="B"))


def _reader(document: Document, known: Families) -> ConfigurationKeys:
    keys: Mapping[str, object] = {str(key): value for key, value in document.data.items()}  # type: ignore[attr-defined]
    kind = str(keys.get("model_type", ""))
    if kind not in known.families:
        found = f'model_type "{kind}"' if kind else "model_type is missing"
        fix = did_you_mean(kind, list(known.families)) or "Write the card by hand, like those in models/architectures"
        raise InputError(
            [document.problem(("model_type",), found, f"Expected one of {', '.join(known.families)}", fix)]
        )
    if keys.get("is_encoder_decoder"):
        raise InputError([document.problem(("is_encoder_decoder",), "true", "Expected a decoder-only model")])
    return ConfigurationKeys(document, keys, known.families[kind])


def _parts(reader: ConfigurationKeys) -> tuple[Part, ...]:
    layers = reader.part("layers", reader.needed("num_hidden_layers", "n_layer", "num_layers"))
    width = reader.part("hidden_size", reader.needed("hidden_size", "n_embd", "n_embed", "d_model"))
    hidden = int(str(width.value))
    parts = [
        layers,
        width,
        reader.part("vocab_size", reader.needed("vocab_size")),
        reader.part("tied_embedding", reader.flag("tie_word_embeddings", reader.family.tied_embedding)),
        reader.part("attention", _attention(reader, hidden)),
        reader.part("ffn", {"hidden_size": _dense_width(reader, hidden), "gated": reader.family.gated}),
        *_experts(reader, int(str(layers.value))),
        reader.part("mtp_layers", reader.whole("num_nextn_predict_layers") or 0),
        reader.part("position_embeddings", _positions(reader)),
        reader.part("biases", reader.family.biases),
    ]
    projected = reader.whole("word_embed_proj_dim")
    if projected not in (None, hidden):
        reader.wrong(
            "word_embed_proj_dim", str(projected), f"Expected hidden_size {hidden}: tables of the model's width"
        )
    return tuple(part for part in parts if part.value not in (0, False) or part.key == "tied_embedding")


def _attention(reader: ConfigurationKeys, hidden: int) -> Mapping[str, Value]:
    heads = reader.needed("num_attention_heads", "n_head")
    if reader.whole("kv_lora_rank"):
        return _latent(reader, heads)
    kv_heads = reader.whole("num_key_value_heads", "num_kv_heads")
    if kv_heads is None and reader.family.multi_head:
        reader.assume("no number of key-value heads is given: as many as heads")
    elif kv_heads is None:
        kv_heads = reader.needed("num_key_value_heads")
    if heads % (kv_heads or heads):
        reader.wrong("num_key_value_heads", str(kv_heads), f"Expected a divisor of the {heads} heads")
    shape: dict[str, Value] = {"kind": "gqa", "heads": heads, "kv_heads": kv_heads or heads}
    shape["head_dim"] = reader.whole("head_dim", "kv_channels") or _head_dim(reader, hidden, heads)
    if window := _window(reader):
        shape["window"] = window
    given = next((name for name in ("attention_bias", "qkv_bias") if name in reader.keys), "attention_bias")
    if not reader.family.biases and reader.flag(given, reader.family.attention_bias):
        shape["bias"] = True
    return shape


def _latent(reader: ConfigurationKeys, heads: int) -> Mapping[str, Value]:
    reader.used.update(("num_key_value_heads", "head_dim", "attention_bias", "qk_head_dim"))  # implied by the ranks
    names = ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "kv_lora_rank")
    shape: dict[str, Value] = {"kind": "mla", "heads": heads}
    shape |= {name: reader.needed(name) for name in names}
    rank = reader.whole("q_lora_rank")
    return {**shape, "q_lora_rank": rank} if rank else shape


def _head_dim(reader: ConfigurationKeys, hidden: int, heads: int) -> int:
    if hidden % heads and hidden > 1:  # 1 stands for a hidden size that is missing
        expected = f"Expected head_dim, since hidden_size {hidden} is no multiple of the {heads} heads"
        reader.problems.append(reader.document.problem((), "head_dim is missing", expected))
    reader.assume("head_dim is not given: hidden size / heads")
    return max(hidden // heads, 1)


def _window(reader: ConfigurationKeys) -> int | None:
    """Return the window when it counts in every layer; tell it when it counts in some."""
    kinds = reader.keys.get("layer_types")
    listed: list[object] = kinds if isinstance(kinds, list) else []
    reader.used.update(("layer_types", "sliding_window_pattern", "use_sliding_window", "sliding_window"))
    if strange := [str(kind) for kind in listed if kind not in _PLAIN_LAYERS]:
        reader.wrong("layer_types", strange[0], "Expected full, sliding or chunked attention in all layers")
    off = reader.keys.get("use_sliding_window") is False
    window = None if off else reader.whole("sliding_window", "attention_chunk_size")
    mixed = (
        reader.family.mixed_windows or len({str(kind) for kind in listed}) > 1 or "use_sliding_window" in reader.keys
    )
    reader.used.add("attention_chunk_size")
    if window and mixed:
        reader.assumptions.append(_MIXED)
        return None
    return window


def _dense_width(reader: ConfigurationKeys, hidden: int) -> int:
    width = reader.whole(reader.family.dense_width, "n_inner", "ffn_dim")
    if width is None and reader.family.four_times:
        reader.assume("no feed-forward width is given: 4 x hidden size")
        return 4 * hidden
    return width or reader.needed(reader.family.dense_width)


def _experts(reader: ConfigurationKeys, layers: int) -> list[Part]:
    experts = reader.whole("num_local_experts", "n_routed_experts", "num_experts")
    if experts is None:
        return []
    visited = reader.needed("num_experts_per_tok", "experts_per_token")
    if visited > experts:
        reader.wrong("num_experts_per_tok", str(visited), f"Expected at most the {experts} experts")
    width = reader.needed(reader.family.expert_width)
    moe: dict[str, Value] = {"experts": experts, "experts_per_token": visited, "ffn_hidden_size": width}
    moe |= _shared(reader)
    if leading := reader.whole("first_k_dense_replace"):
        moe["leading_dense_layers"] = leading
        if leading > layers:
            reader.wrong("first_k_dense_replace", str(leading), f"Expected at most the {layers} layers")
    every = reader.whole("moe_layer_freq", "decoder_sparse_step", "interleave_moe_layer_step")
    if every and every > 1:
        moe["every"] = every
    reader.used.add("mlp_only_layers")
    if reader.keys.get("mlp_only_layers"):
        reader.wrong(
            "mlp_only_layers", "single dense layers", "Expected none: the card knows leading dense layers only"
        )
    return [reader.part("moe", moe)]


def _shared(reader: ConfigurationKeys) -> Mapping[str, int]:
    count = reader.whole("n_shared_experts") or reader.family.shared_experts
    if width := reader.whole("shared_expert_intermediate_size"):
        return {"shared_experts": count or 1, "shared_ffn_hidden_size": width}
    return {"shared_experts": count} if count else {}


def _positions(reader: ConfigurationKeys) -> int:
    names = ("max_position_embeddings", "n_positions", "n_ctx")
    if reader.family.learned_positions:
        return reader.needed(*names) + reader.family.extra_positions
    reader.used.update(names)
    return 0


def _converted(id_: str, parts: tuple[Part, ...], reader: ConfigurationKeys, source: Source) -> Converted:
    told = [*reader.assumptions, *([reader.family.note] if reader.family.note else [])]
    text = _text(id_, parts, told, source)
    model = validated(Architecture, read_yaml(text, f"{id_}.yaml"))
    counts = parameters(model)
    head = (
        f"# Read from a configuration file; comments name its keys. The shape gives {_billions(counts.total)} parameters,\n"
        f"# {_billions(counts.active)} of them active. Compare with the published count, write it below, and check the notes.\n"
    )
    return Converted(model, counts, head + text, parts, tuple(told))


def _billions(count: int) -> str:
    return f"{count / 1e9:.4g}e9"


def _text(id_: str, parts: tuple[Part, ...], notes: list[str], source: Source) -> str:
    lines = [f"id: {id_}"]
    lines += [f"{part.key}: {_flow(part.value)}{f'  # {part.origin}' if part.origin else ''}" for part in parts]
    lines += ["published_parameters: null  # not in a configuration file"]
    lines += ["notes:", *(f"  - {_quoted(note)}" for note in notes)] if notes else []
    origin = f"{{url: {_quoted(source.url)}, date: {_quoted(source.date)}, confidence: {source.confidence}}}"
    lines += ["sources:", f"  configuration: {origin}"]
    return "\n".join(lines) + "\n"


def _quoted(text: str | None) -> str:
    return json.dumps(text, ensure_ascii=False)


def _flow(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value)
