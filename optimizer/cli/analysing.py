"""What every analysis command shares: reading, the answer when there is no plan, keeping results in a plan file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from optimizer.cli.options import LibraryOptions, OutputOptions, ScenarioOptions
from optimizer.cli.output import deliver, write_file
from optimizer.cli.solve import ANSWERED, NOT_PROVEN, exit_code
from optimizer.errors import InputError, Problem

if TYPE_CHECKING:
    from rich.console import RenderableType

    from optimizer.io.loaded import Loaded
    from optimizer.results import Result

_Answer = TypeVar("_Answer", bound="Result")


def ready(scenario: Path, options: ScenarioOptions, library: LibraryOptions) -> Loaded:
    """Return the scenario with its quotes and library, ``--set`` applied."""
    from optimizer import api

    return api.load(scenario, library.load(), options.sets or ())


def answered(
    name: str,
    answer: _Answer | None,
    proven: bool,
    loaded: Loaded,
    screen: Callable[[_Answer], RenderableType],
    options: ScenarioOptions,
    output: OutputOptions,
    plan: Path | None = None,
) -> int:
    """Deliver an analysis and return the exit code; without any plan the answer is that of ``solve``.

    Args:
        name: Key under ``analyses`` of a plan file.
        answer: The analysis; None when there is no plan.
        proven: Whether every part of it was solved to proof.
        loaded: The scenario.
        screen: Shows it.
        options: How the scenario is solved.
        output: Where it goes.
        plan: Plan file to keep it in.
    """
    from optimizer.io.json_text import json_text, rounded

    if answer is None:
        return _no_plan(loaded, options, output)
    shown = rounded(answer, loaded.scenario.currency)
    if plan is not None:
        keep(plan, name, shown)
    deliver(output, json_text(shown), lambda: screen(shown))
    return ANSWERED if proven else NOT_PROVEN


def _no_plan(loaded: Loaded, options: ScenarioOptions, output: OutputOptions) -> int:
    from optimizer import api
    from optimizer.io.json_text import plan_json, rounded_plan
    from optimizer.report.console import plan_screen

    found = api.solve(loaded, options=options.solve_options())
    deliver(output, plan_json(found), lambda: plan_screen(rounded_plan(found), loaded.document.name))
    return exit_code(found, options.gap)


def progress_of(output: OutputOptions) -> Callable[[int, int, float], None] | None:
    """Return what tells done, rate and time left on stderr; None when nobody watches."""
    import sys

    if output.quiet or not sys.stderr.isatty():
        return None

    def tell(done: int, of: int, elapsed_s: float) -> None:
        rate = done / max(elapsed_s, 1e-9)
        print(f"{done} of {of}, {rate:.1f} per second, {(of - done) / rate:.0f} s left", file=sys.stderr)

    return tell


def write_rows(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows as CSV, or as Parquet where pandas finds an engine for it; nested values as JSON text.

    Raises:
        InputError: another ending, no Parquet engine, or the file cannot be written.
    """
    import json

    import pandas as pd

    flat = [
        {key: json.dumps(item) if isinstance(item, (dict, list)) else item for key, item in row.items()} for row in rows
    ]
    frame = pd.DataFrame(flat)
    try:
        if path.suffix == ".parquet":
            frame.to_parquet(path, index=False)
        elif path.suffix == ".csv":
            frame.to_csv(path, index=False)
        else:
            raise InputError([Problem(str(path), f'ending "{path.suffix}"', "Expected .csv or .parquet")])
    except ImportError:
        raise InputError([Problem(str(path), "no Parquet engine", "", "pip install pyarrow, or write .csv")]) from None
    except OSError as error:
        raise InputError([Problem(str(path), f"cannot be written ({error.strerror})", "")]) from None


def keep(path: Path, name: str, answer: Result) -> None:
    """Store an analysis under ``analyses`` of a plan file, so that reports show it.

    Raises:
        InputError: the file is no plan, or cannot be written.
    """
    import json

    from optimizer.io.json_text import json_text
    from optimizer.io.plans import read_plan

    plan = read_plan(path)
    analyses = {**plan.analyses, name: json.loads(json_text(answer))}
    write_file(path, json_text(plan.model_copy(update={"analyses": analyses})))
