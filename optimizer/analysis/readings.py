"""Turns one measured run into a setup and a layout, counting every blank that had to be read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, cast, get_args

import numpy as np

from optimizer.engine.layouts import LayoutArrays, Recompute, require_legal
from optimizer.engine.memory import memory, peak_bytes
from optimizer.engine.setup import Setup
from optimizer.engine.software import Launch, Routing, Software, StateRecipe, of_release, release_year
from optimizer.engine.verdict import verdict_codes
from optimizer.errors import InputError, did_you_mean
from optimizer.io.runs import Run
from optimizer.results import Layout
from optimizer.schema.architecture import Architecture, FeedForward, GroupedQueryAttention
from optimizer.schema.base import Precision
from optimizer.schema.platform import Platform


class Cards(Protocol):
    """What a run is looked up in; ``Library`` is one."""

    @property
    def platforms(self) -> Mapping[str, Platform]:
        """Platforms by id."""
        ...

    @property
    def architectures(self) -> Mapping[str, Architecture]:
        """Architectures by id."""
        ...

    @property
    def software(self) -> Mapping[str, Software]:
        """Software cards by id."""
        ...


class SkippedRun(Exception):  # noqa: N818 - an outcome of reading a row, not an error of the program
    """The row cannot be predicted; the text is the reason."""


@dataclass(frozen=True)
class Case:
    """A run ready to predict.

    Attributes:
        run: The measured row.
        setup: What it ran.
        layout: How it ran.
        readings: Blank cells that were read, e.g. ``micro_batch blank: 1``.
    """

    run: Run
    setup: Setup
    layout: Layout
    readings: tuple[str, ...]


def measured_step_s(run: Run) -> float | None:
    """Return the measured step time in seconds, from tokens per second when only that is known."""
    if run.step_time_s is not None:
        return run.step_time_s
    known = (run.tokens_per_s_per_accelerator, run.global_batch, run.sequence_length, run.accelerators)
    if None in known:
        return None
    return run.global_batch * run.sequence_length / run.tokens_per_s_per_accelerator / run.accelerators  # type: ignore[operator]


def parse_recipe(text: str) -> StateRecipe | None:
    """Return the bytes per parameter of a recipe name such as ``6 + 12/D``, ``18`` or ``16/D + gather buffers``.

    Two bytes of the unsharded part are weights, the rest gradients. ``primary fp8:`` before it says that these weights
    are in fp8 and nothing is kept beside them. Returns None when the text is no recipe.
    """
    primary, sums = text.startswith("primary fp8:"), text.removeprefix("primary fp8:")
    parts = sums.split("(", maxsplit=1)[0].replace("gather buffers", "").split("+")
    try:
        fixed = sum(float(part) for part in parts if part.strip() and "/" not in part)
        shared = sum(float(part.split("/")[0]) for part in parts if "/" in part)
    except ValueError:
        return None
    if fixed == 0:
        return StateRecipe(weights_bytes=4, gradient_bytes=4, optimizer_bytes=shared - 8)
    if shared == 0:
        return StateRecipe(weights_bytes=2, gradient_bytes=4, optimizer_bytes=fixed - 6)
    return StateRecipe(weights_bytes=2, gradient_bytes=fixed - 2, optimizer_bytes=shared, primary_fp8=primary)


def _skip_unless(condition: object, reason: str) -> None:
    if not condition:
        raise SkippedRun(reason)


def _own_architecture(run: Run, readings: list[str]) -> Architecture:
    heads = run.attention_heads or 1
    if run.kv_heads is None:
        readings.append("kv_heads blank: attention_heads")
    if run.ffn_hidden_size is None:
        readings.append("ffn_hidden_size blank: 4 x hidden, plain")
    if run.gated_mlp is None:
        readings.append("gated_mlp blank: plain")
    hidden = run.hidden_size or 1
    gated = bool(run.gated_mlp)
    tied = not gated if run.tied_embedding is None else run.tied_embedding
    return Architecture(
        id="run",
        layers=run.layers or 1,
        hidden_size=hidden,
        vocab_size=run.vocab_size or 1,
        tied_embedding=tied,
        attention=GroupedQueryAttention(
            heads=heads, kv_heads=run.kv_heads or heads, head_dim=run.head_dim or max(1, hidden // heads)
        ),
        ffn=FeedForward(hidden_size=run.ffn_hidden_size or 4 * hidden, gated=gated),
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def card_of(run: Run, cards: Cards) -> Architecture | None:
    """Return the card of the run's name, else, for experts, the one of its shape; spelling of names varies."""
    named = {_plain(name): card for name, card in cards.architectures.items()}.get(_plain(run.model or ""))
    if named or not run.experts:
        return named
    shape = (run.layers, run.hidden_size, run.attention_heads, run.experts, run.experts_per_token)
    return next((card for card in cards.architectures.values() if _shape(card) == shape), None)


def _shape(card: Architecture) -> tuple[int, int, int, int, int] | None:
    moe = card.moe
    if moe is None:
        return None
    return card.layers, card.hidden_size, card.attention.heads, moe.experts, moe.experts_per_token


def _expert_architecture(run: Run, card: Architecture | None, readings: list[str]) -> Architecture:
    """Return the card: columns do not hold shared experts, dense layers and low-rank attention."""
    if card is None or card.moe is None:
        raise SkippedRun(f"experts, and no card is named {run.model} or has its shape")
    if run.mtp_layers is not None:
        return card.model_copy(update={"mtp_layers": run.mtp_layers})
    if card.mtp_layers:
        readings.append("mtp_layers blank: as in the card")
    return card


def _architecture(run: Run, cards: Cards, readings: list[str]) -> Architecture:
    card = card_of(run, cards)
    if run.experts or (card and card.moe):
        return _expert_architecture(run, card, readings)
    missing = [
        name for name in ("layers", "hidden_size", "attention_heads", "vocab_size") if getattr(run, name) is None
    ]
    if not missing:
        _skip_unless((run.hidden_size or 0) >= (run.attention_heads or 1), "hidden_size is below attention_heads")
        return _own_architecture(run, readings)
    if card is None:
        raise SkippedRun(f"{missing[0]} is blank and no card is named {run.model}")
    return card


def _named(
    run: Run, column: Literal["launch", "routing"], kind: object, otherwise: str, readings: list[str]
) -> str | None:
    """Return how experts ran by a column; None when it is blank, read as ``otherwise``."""
    text = getattr(run, column)
    if text is None:
        readings.append(f"{column} blank: {otherwise}")
    _skip_unless(text is None or text in get_args(kind), f"{column} {text} is unknown")
    return text  # type: ignore[no-any-return]


def _experts(run: Run, architecture: Architecture, readings: list[str]) -> tuple[Routing, Launch | None]:
    """Return routing and launch of a run; dense models have neither."""
    if architecture.moe is None:
        return "forced", None
    routing = _named(run, "routing", Routing, "forced, as benchmarks do", readings)
    launch = _named(run, "launch", Launch, "the stack's default", readings)
    return cast("Routing", routing or "forced"), cast("Launch | None", launch)


def _platform(run: Run, cards: Cards) -> Platform:
    name = run.platform or ""
    _skip_unless(name, "platform is blank")
    _skip_unless(
        name in cards.platforms, f"no platform named {name} {did_you_mean(name, list(cards.platforms))}".strip()
    )
    return cards.platforms[name]


def _software(run: Run, platform: Platform, cards: Cards, readings: list[str]) -> Software:
    name = run.framework or str(platform.efficiency.get("software"))
    if run.framework is None:
        readings.append("framework blank: the platform's default")
    _skip_unless(name in cards.software, f"no software card named {name}")
    return of_release(cards.software, name, release_year(run.software_date) if run.software_date else None)


def _degrees(run: Run, readings: list[str]) -> dict[str, int]:
    names = (
        "tensor_parallel", "pipeline_parallel", "virtual_pipeline", "context_parallel", "expert_parallel",
        "expert_tensor_parallel",
    )  # fmt: skip
    degrees = {name: getattr(run, name) or 1 for name in names}
    readings += [f"{name} blank: 1" for name in names[:4] if getattr(run, name) is None]
    replica = degrees["tensor_parallel"] * degrees["pipeline_parallel"] * degrees["context_parallel"]
    accelerators = run.accelerators or 1
    if run.data_parallel is None:
        readings.append("data_parallel blank: what remains")
        _skip_unless(accelerators % replica == 0, f"{accelerators} accelerators are not a multiple of {replica}")
    degrees["data_parallel"] = run.data_parallel or accelerators // replica
    occupied = replica * degrees["data_parallel"]
    _skip_unless(occupied == accelerators, f"the degrees make {occupied} accelerators, the row says {accelerators}")
    return degrees


def _least_recompute(setup: Setup, layout: Layout) -> Recompute:
    """Return the first of none, selective, full whose memory is at least tight; full when none is."""
    for mode in get_args(Recompute):
        arrays = LayoutArrays.of(layout.model_copy(update={"recompute": mode}))
        if int(verdict_codes(np.asarray(peak_bytes(memory(setup, arrays))), setup.memory_bytes)[0]) < 2:
            return mode  # type: ignore[no-any-return]
    return "full"


def _layout(run: Run, setup: Setup, readings: list[str]) -> Layout:
    degrees = _degrees(run, readings)
    for name, meaning in (("sharding_stage", "1"), ("sequence_parallel", "on with tensor_parallel")):
        if getattr(run, name) is None:
            readings.append(f"{name} blank: {meaning}")
    split = degrees["tensor_parallel"] > 1
    layout = Layout.model_validate(
        {
            **degrees,
            "sharding_stage": 1 if run.sharding_stage is None else run.sharding_stage,
            "micro_batch": run.micro_batch,
            "global_batch": run.global_batch,
            "sequence_parallel": split if run.sequence_parallel is None else run.sequence_parallel and split,
            "recompute": run.recompute or "none",
            "precision": setup.precision,
        }
    )
    require_legal(layout)
    if run.recompute is None:
        readings.append("recompute blank: the least that fits")
        layout = layout.model_copy(update={"recompute": _least_recompute(setup, layout)})
    return layout


def case_of(run: Run, cards: Cards) -> Case:
    """Return the setup and layout of a run.

    Raises:
        SkippedRun: A required cell is blank or a card is missing; the text says which.
    """
    readings: list[str] = []
    for name in ("accelerators", "sequence_length", "global_batch", "micro_batch", "precision"):
        _skip_unless(getattr(run, name), f"{name} is blank")
    _skip_unless(run.precision in set(Precision), f"precision {run.precision} is unknown")
    architecture = _architecture(run, cards, readings)
    platform = _platform(run, cards)
    software = _software(run, platform, cards, readings)
    routing, launch = _experts(run, architecture, readings)
    try:
        setup = Setup(
            architecture=architecture,
            platform=platform,
            precision=Precision(run.precision or ""),
            sequence_length=run.sequence_length or 0,
            software=software,
            node_network_gb_s=None if run.node_network_gbps is None else run.node_network_gbps / 8,
            release=release_year(run.software_date) if run.software_date else software.release,
            states=parse_recipe(run.state_recipe) if run.state_recipe else None,
            routing=routing,
            launch=launch,
        )
        return Case(run, setup, _layout(run, setup, readings), tuple(readings))
    except InputError as error:
        raise SkippedRun(str(error.problems[0])) from None
