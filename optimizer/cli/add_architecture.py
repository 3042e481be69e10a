"""``catalog add-architecture``: an architecture card made of a model's configuration file."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli.options import OutputOptions
from optimizer.cli.output import deliver, json_of, write_file
from optimizer.errors import InputError, Problem

if TYPE_CHECKING:
    from optimizer.io.huggingface import Converted

ADD_ARCHITECTURE = "add-architecture"
"""Name of the command below ``catalog``."""

adding = typer.Typer(
    add_completion=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
)
"""The command as a program of its own, which ``catalog`` runs."""


@adding.command(ADD_ARCHITECTURE)
def add_architecture(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.json", help="The configuration of the model.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE.yaml", help="Card to write.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="Id; default: the name of FILE.yaml.")] = None,
    url: Annotated[str | None, typer.Option("--url", help="Where the configuration came from.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="KEY", help="A key without effect; repeatable.")] = None,
    json: Annotated[str | None, typer.Option("--json", metavar="FILE|-", help="Write JSON; - for stdout.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Make an architecture card of a configuration file as published on Hugging Face.

    First download config.json from the page of the model, under "Files". Then:

    clusterbuy catalog add-architecture config.json -o mine/models/architectures/my-model.yaml

    Read the card: each value names the key it was read from, or the assumption made. Compare the number of parameters
    with the published one and write it down as published_parameters. Use it with --library mine, for instance:

    clusterbuy layouts --library mine --architecture my-model --platform h200-sxm --accelerators 64
    --sequence-length 4096 --global-batch 512

    Without -o the card is printed. Known families are listed in models/configurations.yaml. A key that might change
    the model and is not known is an error; --ignore KEY reads on without it.
    """
    from optimizer.io.huggingface import convert, identifier
    from optimizer.io.huggingface_keys import families
    from optimizer.io.library import Library

    name = id_ or (out.stem if out else None)
    wanted = identifier(name) if name else None
    _refuse(out, wanted)
    known = families(Library.shipped().roots)
    today = dt.datetime.now(tz=dt.UTC).date()
    converted = convert(config, known, id_=wanted, url=url, today=today, ignore=ignore or ())
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_file(out, converted.text)
    deliver(OutputOptions(json=json, quiet=quiet), json_of(_data(converted)), lambda: _screen(converted, out))


def _refuse(out: Path | None, wanted: str | None) -> None:
    """Refuse a file that is there, and one whose name is not the id: the library would not find it."""
    if out is not None and out.exists():
        raise InputError([Problem(str(out), "there is such a file already", "", "Move it away or choose another name")])
    if out is not None and out.name != f"{wanted}.yaml":
        raise InputError([Problem(str(out), f'the id is "{wanted}"', f"Expected a file named {wanted}.yaml")])


def _data(converted: Converted) -> dict[str, object]:
    return {
        "architecture": converted.architecture.model_dump(mode="json"),
        "parameters": converted.parameters.total,
        "active_parameters": converted.parameters.active,
        "read": {part.key: part.origin for part in converted.parts},
        "assumptions": list(converted.assumptions),
    }


def _screen(converted: Converted, out: Path | None) -> str:
    if out is None:
        return converted.text.rstrip()
    total, active = (count / 1e9 for count in (converted.parameters.total, converted.parameters.active))
    lines = [f"{out}: {total:,.4g} B parameters, {active:,.4g} B active"]
    lines += [f"  {part.key}: {part.origin}" for part in converted.parts if part.origin]
    lines += [f"  assumed: {text}" for text in converted.assumptions]
    return "\n".join([*lines, "Compare the parameters with the published count and write it down in the file."])
