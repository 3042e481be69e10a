"""Screens of ``layouts`` and ``predict``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from optimizer.report.console import table
from optimizer.report.text import layout_text, number, share

if TYPE_CHECKING:
    from optimizer.candidates.nearest import Change, Shortage
    from optimizer.candidates.ranking import Prediction, Ranking
    from optimizer.results import LayoutRow

_HEADERS = ("layout", ">step s", ">slower", ">tokens/s each", ">MFU", ">memory GB", ">of GB", ">headroom", "verdict")
_WORDS = {"accelerators": "accelerators", "sequence_length": "tokens per sequence"}


def layouts_screen(ranking: Ranking) -> RenderableType:
    """Return ranked layouts, how many are as good as the first, and what would fit when nothing does."""
    best = ranking.rows[0].step_time_s
    summary = f"{ranking.evaluated:,} layouts, {ranking.fitting:,} fit, {ranking.wall_s:.2f} s"
    if ranking.tied > 1:
        summary += f"; {ranking.tied:,} within 1.3 % of the fastest, as far as two runs of one layout differ"
    short = [_shortage(ranking.nothing_fits)] if ranking.nothing_fits else []
    return Group(table(_HEADERS, [_row(row, best) for row in ranking.rows]), Text(summary, style="dim"), *short)


def _row(row: LayoutRow, best: float) -> tuple[str, ...]:
    return (
        layout_text(row.layout),
        f"{row.step_time_s:.3f}",
        f"+{share(row.step_time_s / best - 1)}",
        f"{row.tokens_per_s_per_accelerator:,.0f}",
        share(row.mfu),
        f"{row.memory_gb:.1f}",
        f"{row.memory_limit_gb:.1f}",
        f"{row.headroom_gb:.1f}",
        row.verdict.replace("_", " "),
    )


def _shortage(short: Shortage) -> RenderableType:
    head = (
        f"Nothing fits in {short.limit}: the least demanding layout needs {short.needed_gb:.1f} GB per accelerator with "
        f"reserve, {short.available_gb:.1f} are there, {short.short_by_gb:.1f} are missing."
    )
    fits = [_size(change) for change in short.changes]
    none = [Text("None of the changes tried fits: up to 16 times the accelerators, shorter sequences, other settings.")]
    return Group(Text(head, style="bold"), *(fits or none))


def _size(change: Change) -> Text:
    what = (
        "with settings beyond the usual grid"
        if change.what == "settings"
        else f"on {number(str(change.to))} {_WORDS[change.what]} instead of {change.from_}"
    )
    return Text(f"  fits {what}: {layout_text(change.layout)}, {change.memory_gb:.1f} GB, {change.step_time_s:.3f} s")


def layout_screen(row: Prediction) -> RenderableType:
    """Return one predicted layout with its components, and changes with which it fits."""
    head = (
        f"{layout_text(row.layout)} on {row.accelerators:,} accelerators ({row.nodes:,} nodes): "
        f"{row.step_time_s:.3f} s per step, {row.tokens_per_s_per_accelerator:,.0f} tokens/s each, MFU {share(row.mfu)}, "
        f"{row.memory_gb:.1f} of {row.memory_limit_gb:.1f} GB, {row.verdict.replace('_', ' ')}"
    )
    time = [(name, f"{seconds:.4f}") for name, seconds in row.time.items()]
    memory = [(name, f"{gigabytes:.2f}") for name, gigabytes in row.memory.items()]
    return Group(Text(head), table(("time", ">s"), time), table(("memory", ">GB"), memory), *_changes(row))


def _changes(row: Prediction) -> list[RenderableType]:
    room = f"{row.headroom_gb:.1f} GB of headroom" if row.headroom_gb >= 0 else f"{-row.headroom_gb:.1f} GB too much"
    if row.verdict == "fits":
        return [Text(room)]
    cells = [
        (change.what.replace("_", " "), f"{change.from_} -> {change.to}", f"{change.step_time_s:.3f} s", f"{change.memory_gb:.1f} GB")
        for change in row.changes
    ]  # fmt: skip
    if not cells:
        return [Text(f"{room}; no single change of this layout fits: see clusterbuy layouts")]
    return [Text(f"{room}; it fits with one of:", style="bold"), table(("", "", "", ""), cells, indent=2)]
