"""``check``: read everything, print what was understood and what to question; no solve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli.options import LibraryOptions, OutputOptions, ScenarioOptions, command
from optimizer.cli.output import deliver
from optimizer.errors import InputError, Problem

if TYPE_CHECKING:
    from rich.console import RenderableType

    from optimizer.io.library import Library
    from optimizer.io.understood import Check


@command("check")
def check(
    scenarios: Annotated[list[Path], typer.Argument(metavar="SCENARIO...")],
    options: ScenarioOptions,
    library: LibraryOptions,
    output: OutputOptions,
) -> None:
    """Read scenarios and their quotes; print what was understood and warnings."""
    from optimizer.io.json_text import json_text
    from optimizer.io.understood import Checks

    checks = _checks(scenarios, options.sets or [], library.load())
    answer = checks[0] if len(checks) == 1 else Checks(checks=tuple(checks))
    deliver(output, json_text(answer), lambda: _screen(checks))


def _checks(scenarios: list[Path], sets: list[str], library: Library) -> list[Check]:
    """Return the checks of all scenarios; InputError with the problems of all of them."""
    from optimizer.io.scenario import load_scenario
    from optimizer.io.understood import check_scenario

    checks: list[Check] = []
    problems: list[Problem] = []
    for path in scenarios:
        try:
            checks.append(check_scenario(load_scenario(path, sets, library)))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return checks


def _screen(checks: list[Check]) -> RenderableType:
    from rich.console import Group

    from optimizer.report.console import check_screen

    return Group(*(check_screen(result) for result in checks))
