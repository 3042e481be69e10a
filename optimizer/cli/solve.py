"""``solve``: the plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli.options import LibraryOptions, OutputOptions, ScenarioOptions, command
from optimizer.cli.output import deliver, progress

if TYPE_CHECKING:
    from optimizer.results import Plan

ANSWERED, INFEASIBLE, NOT_PROVEN, NO_PLAN, INTERRUPTED = 0, 3, 4, 5, 130


@command("solve")
def solve(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO")],
    options: ScenarioOptions,
    library: LibraryOptions,
    output: OutputOptions,
) -> int:
    """Find the plan: which quotes to sign, how many units, when, and the layout."""
    from optimizer import api
    from optimizer.io.json_text import plan_json, rounded_plan
    from optimizer.report.console import plan_screen

    code: int | None = None
    try:
        plan = api.solve(
            scenario,
            library=library.load(),
            sets=options.sets or (),
            options=options.solve_options(),
            progress=progress(output),
        )
    except api.PlanInterrupted as stop:  # the incumbent is kept
        plan, code = stop.plan, INTERRUPTED
    deliver(output, plan_json(plan), lambda: plan_screen(rounded_plan(plan), options.question(scenario)))
    return exit_code(plan, options.gap) if code is None else code


def exit_code(plan: Plan, gap: float) -> int:
    """Return 0 for a plan proven within the gap, 3 infeasible, 4 a plan that is not proven, 5 no plan."""
    if plan.status == "infeasible":
        return INFEASIBLE
    if plan.status == "unknown":
        return NO_PLAN
    if plan.status == "optimal":
        return ANSWERED
    proven = plan.objective.gap is not None and plan.objective.gap <= gap
    return ANSWERED if proven else NOT_PROVEN
