"""``risk``: chances, cost quantiles, regret and the value of information."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli.analysing import asked, sweeping, told_when_interrupted, write_rows
from optimizer.cli.options import (
    KeepOptions,
    LibraryOptions,
    OutputOptions,
    ScenarioOptions,
    SweepOptions,
    amount,
    command,
)

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
    keep: KeepOptions,
    sweep: SweepOptions,
    samples: Annotated[int, typer.Option(min=1, help="States of the world, the same for every plan.")] = 1000,
    vary: Annotated[Vary, typer.Option(help="What moves.")] = Vary.ALL,
    late_day: Annotated[
        Decimal | None, typer.Option(parser=amount, metavar="AMOUNT", help="Cost of a day after the deadline.")
    ] = None,
    information_cost: Annotated[
        list[str] | None, typer.Option(metavar="INPUT=AMOUNT", help="What finding out costs, to set beside its value.")
    ] = None,
) -> int:
    """Probability of deadline and budget, cost quantiles, regret, and what it is worth to know more before signing."""
    from optimizer.analysis.risk import RiskPlan
    from optimizer.analysis.risk import risk as analysed
    from optimizer.report.analyses import risk_screen

    how = sweeping(options, sweep, output)
    question = asked(scenario, options, library, output, keep)
    with told_when_interrupted(sweep.results):
        found: Risk | None = analysed(
            question.loaded,
            samples,
            vary=vary.value,
            late_day=late_day,
            information_costs=dict(map(_cost, information_cost or ())),
            options=options.solve_options(),
            how=how,
        )
    if found is not None and sweep.rows is not None:
        write_rows(sweep.rows, found.plans, RiskPlan)
    proven = found is None or (found.proven and not found.failed)
    return question.answered(found, proven, risk_screen)


def _cost(text: str) -> tuple[str, Decimal]:
    name, _, number = text.partition("=")
    return name, amount(number)
