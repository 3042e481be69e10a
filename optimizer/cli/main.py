"""Entry point: every command, and the one place where an error becomes a message and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.main import get_command

from optimizer.cli import (
    alternatives,
    backtest,
    breakeven,
    calibrate,
    catalog,
    check,
    compare,
    diff,
    explain,
    init,
    layouts,
    pareto,
    quotes,
    report,
    risk,
    schema,
    sensitivity,
    solve,
    verify,
)
from optimizer.cli.options import app
from optimizer.cli.output import mute, report_error, say
from optimizer.cli.solve import INTERRUPTED
from optimizer.errors import ClusterbuyError, InputError, InternalError, Problem
from optimizer.version import __version__

COMMANDS = (
    init, check, solve, compare, explain, alternatives, pareto, sensitivity, breakeven, risk, layouts, backtest,
    calibrate, catalog, quotes, report, verify, diff, schema,
)  # fmt: skip
"""Modules whose import registers commands, in the order of ``--help``."""

_UsageError = typer.BadParameter.__bases__[0]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"clusterbuy {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and stop.")
    ] = False,
) -> None:
    """Which quotes to sign, how many nodes, when, and how the model is laid out on them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    0 answered, 1 a bug, 2 bad input or usage, 3 infeasible, 4 best plan not proven, 5 no plan within the limits,
    6 a plan fails verification, 130 interrupted.
    """
    args = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(args)
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        print("clusterbuy: interrupted", file=sys.stderr)
    return _flush(code)


def _run(args: list[str]) -> int:
    try:
        return int(get_command(app).main(args=args or ["--help"], prog_name="clusterbuy", standalone_mode=False) or 0)
    except ClusterbuyError as error:
        return report_error(error, args)
    except BrokenPipeError:
        mute()
        return 0
    except OSError as error:  # files are opened by readers that tell their own problems: what is left is the output
        mute()
        return report_error(InputError([Problem("stdout", f"cannot be written ({error.strerror})", "")]), args)
    except Exception as error:  # noqa: BLE001 - the boundary: whatever is left is bad usage or a bug
        return report_error(_usage(error, args) if isinstance(error, _UsageError) else _bug(error), args)


def _usage(error: Exception, args: list[str]) -> InputError:
    said = getattr(error, "format_message", error.__str__)()
    message = " ".join(said.replace("Value error, ", "").split())
    names = [command.name or "" for command in app.registered_commands]
    named = f" {args[0]}" if args and args[0] in names else ""
    return InputError([Problem("clusterbuy", message, "", f"See clusterbuy{named} --help")])


def _bug(error: Exception) -> InternalError:
    """Turn an unexpected exception into a report a person can pass on; CLUSTERBUY_TRACEBACK=1 shows all of it."""
    if os.environ.get("CLUSTERBUY_TRACEBACK"):
        traceback.print_exception(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(frame.filename)}:{frame.lineno}"  # noqa: PTH119 - a name, not a path
    found = f"a bug: {type(error).__name__} in {where}: {error}"
    fix = f"Please report it with the command, its files and clusterbuy {__version__}"
    return InternalError([Problem("clusterbuy", found, "", fix)])


def _flush(code: int) -> int:
    """Flush stdout now and return the exit code; a reader that is gone must not end in a message at exit."""
    try:
        say("")
    except InputError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return code


if __name__ == "__main__":
    sys.exit(main())
