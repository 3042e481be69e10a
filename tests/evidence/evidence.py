"""``make evidence``: one JSON object of measured accuracy, and the table in the README of the engine.

Refits without each source, platform and model take about a minute; their errors are kept in ``left_out.csv`` so that
tests can hold the table without them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optimizer.io.yaml_reader import read_yaml_file
from tests.evidence.left_out import compute, store, stored
from tests.evidence.measures import Figure, figures, score

README = Path(__file__).parents[2] / "optimizer/engine/README.md"
BEGIN, END = "<!-- evidence: made by `make evidence` -->", "<!-- /evidence -->"
COLUMNS = ("in_sample", "left_out", "measured")


def bars() -> list[dict[str, Any]]:
    """Return the lines of the table."""
    return read_yaml_file(Path(__file__).with_name("bars.yaml")).data


def lines(found: Mapping[str, Figure]) -> list[dict[str, Any]]:
    """Return one record per bar whose figure is known: measure, bar, figures, and whether the bar is met."""
    return [_line(bar, found[bar["figure"]]) for bar in bars() if bar["figure"] in found]


def _line(bar: Mapping[str, Any], figure: Figure) -> dict[str, Any]:
    values = {"in_sample": figure.in_sample, "left_out": figure.left_out, "measured": figure.in_sample}
    judged = values[bar["judged"]]
    most, least = bar.get("most"), bar.get("least")
    met = None if most is None and least is None else judged <= most if most is not None else judged >= least
    both = {"in_sample": None, "left_out": None} if bar["judged"] == "measured" else values
    return {
        "measure": bar["measure"],
        "at_most": most,
        "at_least": least,
        "unit": bar["unit"],
        "judged": bar["judged"],
        **{name: both[name] for name in ("in_sample", "left_out")},
        "measured": judged if bar["judged"] == "measured" else None,
        "rows": figure.rows,
        "met": met,
        "why": None if met in (None, True) else bar.get("why"),
    }


def speed() -> dict[str, Figure]:
    """Return what the engine's structure reaches on this machine."""
    from tests.benchmarks.bench import engine

    timed = engine()
    spaces = [value for value in timed.values() if isinstance(value, dict)]
    whole = [timed[f"every_setting_{size}"]["rank_cpu_s"] for size in (1024, 4096)]
    return {
        "layouts_per_core_s": Figure(min(space["layouts_per_core_s"] for space in spaces), None),
        "space_s": Figure(max(whole), None),
        "front_s": Figure(timed["node_counts_1_to_600_two_precisions_cpu_s"], None),
    }


def table(records: list[dict[str, Any]]) -> str:
    """Return the records as a Markdown table, the figure a bar is about bold, and why bars are not met."""
    head = "| measure | bar | in sample | left out | met |\n|---|---|---|---|---|\n"
    missed = "\n".join(f"* {record['measure']}: {record['why']}." for record in records if record["met"] is False)
    return head + "\n".join(map(row, records)) + (f"\n\nBars not met, and the evidence:\n\n{missed}" if missed else "")


def row(record: Mapping[str, Any]) -> str:
    unit, rows = record["unit"], f" ({record['rows']:,} rows)" if record["rows"] else ""
    bar = (
        f"<= {shown(record['at_most'], unit)}" if record["at_most"] is not None
        else f">= {shown(record['at_least'], unit)}" if record["at_least"] is not None else ""
    )  # fmt: skip
    cells = [shown(record[name], unit) for name in ("in_sample", "left_out")]
    place = {"in_sample": 0, "measured": 0, "left_out": 1}[record["judged"]]
    judged = record["measured"] if record["judged"] == "measured" else record[record["judged"]]
    cells[place] = f"**{shown(judged, unit)}**"
    met = {True: "yes", False: "no", None: ""}[record["met"]]
    return f"| {record['measure']}{rows} | {bar} | {cells[0]} | {cells[1]} | {met} |"


def shown(value: float | None, unit: str) -> str:
    """Return a figure as the table prints it; speeds with one digit, since machines differ."""
    if value is None:
        return ""
    if unit == "share":
        return f"{value * 100:.1f} %"
    return f"{value:.2f}" if unit == "number" else f"{value:,.0f}" if unit == "count" else _one_digit(value)


def _one_digit(value: float) -> str:
    rounded = float(f"{value:.1g}")
    return f"{rounded:,.0f}" if rounded >= 1 else f"{rounded:g}"


def printed() -> str:
    """Return the table as it stands in the README."""
    return README.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0].strip()


def main() -> None:
    """Refit, score, time, print, and write the table and the left-out errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stored", action="store_true", help="take left_out.csv as it is, without refits")
    if not parser.parse_args().stored:
        store(compute())
    scored = score()
    records = lines({**figures(scored, stored()), **speed()})
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    README.write_text(f"{before}{BEGIN}\n{table(records)}\n{END}{rest.split(END)[1]}", encoding="utf-8")
    json.dump({"lines": records, "backtest": scored.result.model_dump(mode="json")}, sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
