"""What every analysis command shares: reading, the answer when there is no plan, keeping results in a plan file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from optimizer.cli.options import KeepOptions, LibraryOptions, OutputOptions, ScenarioOptions, SweepOptions
from optimizer.cli.output import deliver, write_file
from optimizer.cli.solve import ANSWERED, NOT_PROVEN, exit_code
from optimizer.errors import InputError, Problem

if TYPE_CHECKING:
    from rich.console import RenderableType

    from optimizer.analysis.kept import Analysis
    from optimizer.analysis.sweep import Progress, Sweeping, Tell
    from optimizer.io.loaded import Loaded
    from optimizer.results import Conflict, Result

_Answer = TypeVar("_Answer", bound="Analysis | Conflict")

ROW_ENDINGS = (".csv", ".parquet")
"""Endings of tables that ``--rows`` can write."""


@dataclass(frozen=True)
class Asked:
    """A scenario that is asked about: read, and ready to take the answer.

    Attributes:
        loaded: The scenario with its quotes and library, ``--set`` applied.
        options: How it is solved.
        output: Where the answer goes.
        plan: Plan file to keep the answer in as well.
    """

    loaded: Loaded
    options: ScenarioOptions
    output: OutputOptions
    plan: Path | None

    def deliver(self, answer: _Answer, screen: Callable[[_Answer], RenderableType]) -> None:
        """Write and show an answer with rounded amounts, and keep it in the plan file."""
        from optimizer.io.json_text import json_text, rounded

        shown = rounded(answer, self.loaded.scenario.currency)
        if self.plan is not None:
            keep(self.plan, shown, self.loaded)
        deliver(self.output, json_text(shown), lambda: screen(shown))

    def answered(self, answer: _Answer | None, proven: bool, screen: Callable[[_Answer], RenderableType]) -> int:
        """Deliver an analysis and return the exit code; without any plan the answer is that of ``solve``.

        Args:
            answer: The analysis; None when there is no plan.
            proven: Whether every part of it was solved to proof.
            screen: Shows it.
        """
        if answer is None:
            return self._no_plan()
        self.deliver(answer, screen)
        return ANSWERED if proven else NOT_PROVEN

    def _no_plan(self) -> int:
        from optimizer import api
        from optimizer.io.json_text import plan_json, rounded_plan
        from optimizer.report.console import plan_screen

        found = api.solve(self.loaded, options=self.options.solve_options())
        deliver(self.output, plan_json(found), lambda: plan_screen(rounded_plan(found), self.loaded.document.name))
        return exit_code(found, self.options.gap)


def asked(
    scenario: Path, options: ScenarioOptions, library: LibraryOptions, output: OutputOptions, keep_in: KeepOptions
) -> Asked:
    """Read a scenario that is asked about; a plan file that cannot keep the answer is refused now, not after hours.

    Raises:
        InputError: bad input, or the plan was made from other inputs.
    """
    from optimizer import api

    loaded = api.load(scenario, library.load(), options.sets or ())
    if keep_in.plan is not None:
        from optimizer.analysis.kept import refuse_other_inputs
        from optimizer.io.plans import read_plan

        refuse_other_inputs(read_plan(keep_in.plan), loaded.files)
    return Asked(loaded, options, output, keep_in.plan)


def keep(path: Path, answer: Analysis | Conflict, loaded: Loaded) -> None:
    """Store an analysis under ``analyses`` of a plan file, so that reports show it.

    Raises:
        InputError: the file is no plan of these inputs, or cannot be written.
    """
    from optimizer.analysis.kept import with_analysis
    from optimizer.io.json_text import json_text
    from optimizer.io.plans import read_plan

    write_file(path, json_text(with_analysis(read_plan(path), answer, loaded.files)))


def sweeping(options: ScenarioOptions, sweep: SweepOptions, output: OutputOptions) -> Sweeping:
    """Return how a sweep is carried out; what could not be written at its end is refused now.

    Raises:
        InputError: no cluster can be used, it and processes are asked for, or rows cannot be written in that form.
    """
    from optimizer.analysis.executors import local, remote
    from optimizer.analysis.sweep import Sweeping

    check_rows(sweep.rows)
    if sweep.dask is not None and options.jobs is not None:
        raise InputError([Problem("--jobs", "given beside --dask", "", "Leave one of them out")])
    executor = local(options.jobs) if sweep.dask is None else remote(sweep.dask)
    return Sweeping(executor, sweep.results, progress_of(output))


@contextmanager
def told_when_interrupted(results: Path | None) -> Iterator[None]:
    """Say on Ctrl-C where what is done can be found."""
    import sys

    try:
        yield
    except KeyboardInterrupt:
        kept = f"What is done is kept in {results}: name it again to go on" if results else "Nothing kept: no --results"
        print(f"\n{kept}", file=sys.stderr)
        raise


def progress_of(output: OutputOptions) -> Tell | None:
    """Return what tells done, rate and time left on one line of stderr; None when nobody watches."""
    import sys

    if output.quiet or not sys.stderr.isatty():
        return None

    def tell(now: Progress) -> None:
        text = f"{now.done} of {now.of}, {now.per_s:.1f} per second, {now.left_s:.0f} s left"
        end = "\n" if now.done == now.of else ""
        print(f"\r\x1b[K{text}", end=end, file=sys.stderr, flush=True)

    return tell


def check_rows(path: Path | None) -> None:
    """Refuse a table that could not be written, before anything is computed for it.

    Raises:
        InputError: another ending than :data:`ROW_ENDINGS`, or Parquet without its extra.
    """
    import importlib.util

    if path is None:
        return
    if path.suffix not in ROW_ENDINGS:
        raise InputError([Problem(f"--rows {path}", f'ending "{path.suffix}"', f"Expected {' or '.join(ROW_ENDINGS)}")])
    if path.suffix == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        fix = "pip install 'clusterbuy[parquet]', or write .csv"
        raise InputError([Problem(f"--rows {path}", "Parquet needs pyarrow, which is not installed", "", fix)])


def write_rows(path: Path, rows: Sequence[Result], kind: type[Result]) -> None:
    """Write records as CSV or Parquet: the columns and their types follow from the kind of record alone.

    Raises:
        InputError: the file cannot be written.
    """
    from optimizer.io.tables import frame_of

    frame = frame_of(rows, kind)
    try:
        if path.suffix == ".parquet":
            frame.to_parquet(path, index=False)
        else:
            frame.to_csv(path, index=False)
    except OSError as error:
        raise InputError([Problem(str(path), f"cannot be written ({error.strerror})", "")]) from None
