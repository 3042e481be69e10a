"""Options that several commands share, as groups; a command names a group and gets all of its options."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import shlex
from collections.abc import Callable
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from optimizer.api import SolveOptions
    from optimizer.io.library import Library
    from optimizer.results import Layout

app = typer.Typer(
    name="clusterbuy",
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def share(text: str | float) -> float:
    """Return a fraction written as ``0.05`` or ``5%``; refuse what is not between 0 and 100 %."""
    text = str(text)  # a default comes as a number
    number, percent = text.removesuffix("%"), text.endswith("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        raise typer.BadParameter(f'"{text}" is not a share; write 0.05 or 5%') from None
    if not 0 <= value <= 1:
        raise typer.BadParameter(f'"{text}" is {"over 100 %" if value > 1 else "not a share"}; write 0.05 or 5%')
    return value


def seconds(text: str) -> float:
    """Return a positive, finite number of seconds."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise typer.BadParameter(f'"{text}" is not a number of seconds above 0')
    return value


def factor(text: str | Decimal) -> Decimal:
    """Return a positive, finite multiple."""
    try:
        value = Decimal(str(text))  # a default comes as a number
    except ArithmeticError:
        value = Decimal("NaN")
    if not value.is_finite() or value <= 0:
        raise typer.BadParameter(f'"{text}" is not a multiple above 0; write 0.5 or 4')
    return value


def amount(text: str | Decimal) -> Decimal:
    """Return a finite amount of zero or more."""
    try:
        value = Decimal(str(text))
    except ArithmeticError:
        value = Decimal("NaN")
    if not value.is_finite() or value < 0:
        raise typer.BadParameter(f'"{text}" is not an amount of zero or more; write 25000')
    return value


class Solver(StrEnum):
    """Values of ``--solver``."""

    AUTO = "auto"
    CP_SAT = "cp-sat"
    HIGHS = "highs"
    ENUMERATE = "enumerate"


class Recompute(StrEnum):
    """Values of ``--recompute``."""

    NONE = "none"
    SELECTIVE = "selective"
    FULL = "full"


Degree = Annotated[int, typer.Option(min=1)]


@dataclasses.dataclass(frozen=True, slots=True)
class OutputOptions:
    """Where the answer goes."""

    json: Annotated[str | None, typer.Option("--json", metavar="FILE|-", help="Write JSON; - for stdout.")] = None
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False


@dataclasses.dataclass(frozen=True, slots=True)
class LibraryOptions:
    """Which data is used."""

    library: Annotated[
        list[Path] | None, typer.Option("--library", metavar="DIR", help="Extra data folder; later ones win.")
    ] = None

    def load(self) -> Library:
        """Return the shipped library with the extra folders."""
        from optimizer.io.library import Library

        return Library.at(*self.library or ())


@dataclasses.dataclass(frozen=True, slots=True)
class ScenarioOptions:
    """How a scenario is changed and solved."""

    sets: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change one value, e.g. budget.total=2e8.")
    ] = None
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of the solver.")] = 0
    workers: Annotated[int | None, typer.Option(min=1, help="Solver threads.")] = None
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes for sweeps; default: all cores when it pays.")] = (
        None
    )
    time_limit: Annotated[
        float | None, typer.Option(parser=seconds, metavar="S", help="Stop after so many seconds.")
    ] = None
    gap: Annotated[float, typer.Option(parser=share, metavar="SHARE", help="Accept a plan proven this close.")] = 0.0
    solver: Annotated[Solver, typer.Option(help="Which solver.")] = Solver.AUTO

    def question(self, scenario: Path) -> str:
        """Return the scenario with its changes as a shell takes them, for commands to paste."""
        return shlex.join([str(scenario), *(word for change in self.sets or () for word in ("--set", change))])

    def solve_options(self) -> SolveOptions:
        """Return the options as the pipeline takes them."""
        from optimizer.api import SolveOptions

        return SolveOptions(
            seed=self.seed,
            workers=self.workers,
            jobs=self.jobs,
            time_limit_s=self.time_limit,
            gap=self.gap,
            solver=self.solver.value,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class KeepOptions:
    """Where an answer is kept for reports."""

    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="PLAN.json", help="Keep the answer in a plan of these inputs, for reports."),
    ] = None


@dataclasses.dataclass(frozen=True, slots=True)
class SweepOptions:
    """How many solves are spread, kept and written."""

    results: Annotated[
        Path | None, typer.Option("--results", metavar="FILE", help="Keep what is done here; resume from it.")
    ] = None
    rows: Annotated[
        Path | None, typer.Option("--rows", metavar="FILE.csv|.parquet", help="Write the rows of the answer.")
    ] = None
    dask: Annotated[
        str | None, typer.Option("--dask", metavar="tcp://HOST:PORT", help="Use a Dask cluster instead of processes.")
    ] = None


@dataclasses.dataclass(frozen=True, slots=True)
class JobOptions:
    """The run whose layout is asked for."""

    architecture: Annotated[str, typer.Option(help="Model to train, an id of the library.")]
    platform: Annotated[str, typer.Option(help="Hardware, an id of the library.")]
    accelerators: Annotated[int, typer.Option(min=1, help="Accelerators the run occupies.")]
    sequence_length: Annotated[int, typer.Option(min=1, help="Tokens per sequence.")]
    global_batch: Annotated[int, typer.Option(min=1, metavar="SEQUENCES", help="Sequences per optimizer step.")]
    precision: Annotated[str, typer.Option(help="Number format: bf16, fp8, …")] = "bf16"


@dataclasses.dataclass(frozen=True, slots=True)
class LayoutFlags:
    """One layout; a data-parallel degree left out fills the accelerators."""

    tensor_parallel: Degree = 1
    pipeline_parallel: Degree = 1
    virtual_pipeline: Degree = 1
    context_parallel: Degree = 1
    expert_parallel: Degree = 1
    expert_tensor_parallel: Degree = 1
    data_parallel: Annotated[int | None, typer.Option(min=1)] = None
    sharding_stage: Annotated[int, typer.Option(min=0, max=3)] = 1
    micro_batch: Degree = 1
    recompute: Recompute = Recompute.NONE
    sequence_parallel: bool = True

    def layout(self, job: JobOptions) -> Layout:
        """Return the layout these flags describe for a job, legal or not."""
        from optimizer.results import Layout

        replica = self.tensor_parallel * self.pipeline_parallel * self.context_parallel
        flags = {
            **dataclasses.asdict(self),
            "recompute": self.recompute.value,
            "data_parallel": self.data_parallel or max(1, job.accelerators // replica),
        }
        return Layout(**flags, global_batch=job.global_batch, precision=job.precision)


def command(name: str, group: typer.Typer = app) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
    """Register a function as a command (of a group); its parameters that are option groups become all their options."""

    def register(function: Callable[..., int | None]) -> Callable[..., int | None]:
        group.command(name)(_flattened(function))
        return function

    return register


def _group_of(annotation: object) -> Callable[..., object] | None:
    return annotation if isinstance(annotation, type) and dataclasses.is_dataclass(annotation) else None


def _flattened(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """Return the function with every group parameter replaced by the fields of the group."""
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    groups = {param.name: group for param in parameters if (group := _group_of(param.annotation))}
    own = [param for param in parameters if param.name not in groups]
    fields = {name: list(inspect.signature(group, eval_str=True).parameters.values()) for name, group in groups.items()}
    flat = [param.replace(kind=param.KEYWORD_ONLY) for params in (own, *fields.values()) for param in params]

    @functools.wraps(function)
    def flattened(**values: object) -> int | None:
        built = {
            name: group(**{param.name: values.pop(param.name) for param in fields[name]})
            for name, group in groups.items()
        }
        return function(**values, **built)

    flattened.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]  # what the parser reads
    flattened.__annotations__ = {param.name: param.annotation for param in flat}
    return flattened
