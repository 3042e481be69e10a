"""``risk``: chances, cost quantiles, regret and the value of information."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli.analysing import answered, progress_of, ready, write_rows
from optimizer.cli.options import LibraryOptions, OutputOptions, ScenarioOptions, amount, command

if TYPE_CHECKING:
    from optimizer.analysis.risk import Risk


class Vary(StrEnum):
    """Values of ``--vary``."""

    PRICES = "prices"
    ALL = "all"


@command("risk")
def risk(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO")],
    options: ScenarioOptions,
    library: LibraryOptions,
    output: OutputOptions,
    samples: Annotated[int, typer.Option(min=1, help="States of the world, the same for every plan.")] = 1000,
    vary: Annotated[Vary, typer.Option(help="What moves.")] = Vary.ALL,
    late_day: Annotated[
        Decimal | None, typer.Option(parser=amount, metavar="AMOUNT", help="Cost of a day after the deadline.")
    ] = None,
    information_cost: Annotated[
        list[str] | None, typer.Option(metavar="INPUT=AMOUNT", help="What finding out costs, to set beside its value.")
    ] = None,
    results: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep samples here; resume from it.")] = None,
    rows: Annotated[Path | None, typer.Option(metavar="FILE.csv|.parquet", help="Write a row per plan.")] = None,
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN.json", help="Keep the answer under analyses there.")
    ] = None,
) -> int:
    """Probability of deadline and budget, cost quantiles, regret, and what it is worth to know more before signing."""
    from optimizer.analysis.risk import risk as analysed
    from optimizer.report.analyses import risk_screen

    loaded = ready(scenario, options, library)
    found: Risk | None = analysed(
        loaded,
        samples,
        vary=vary.value,
        late_day=late_day,
        information_costs=dict(map(_cost, information_cost or ())),
        options=options.solve_options(),
        store=results,
        tell=progress_of(output),
    )
    if found is not None and rows is not None:
        write_rows(rows, [item.model_dump(mode="json") for item in found.plans])
    proven = found is None or (found.proven and not found.failed)
    return answered("risk", found, proven, loaded, risk_screen, options, output, plan)


def _cost(text: str) -> tuple[str, Decimal]:
    name, _, number = text.partition("=")
    return name, amount(number)
