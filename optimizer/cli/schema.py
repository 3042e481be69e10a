"""``schema``: the JSON Schema of a file, for editors and validators."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli.options import OutputOptions, command
from optimizer.cli.output import json_of, write_json

if TYPE_CHECKING:
    from pydantic import BaseModel


class Record(StrEnum):
    """Files with a schema."""

    SCENARIO = "scenario"
    QUOTE = "quote"
    PLATFORM = "platform"
    ARCHITECTURE = "architecture"
    PLAN = "plan"


@command("schema")
def schema(record: Annotated[Record, typer.Argument()], output: OutputOptions) -> None:
    """Print the JSON Schema of a scenario, quote, platform, architecture or plan."""
    from optimizer.analysis.kept import plan_schema
    from optimizer.io.json_schema import json_schema

    found = plan_schema() if record is Record.PLAN else json_schema(_model(record))
    write_json(output.json or "-", json_of(found))


def _model(record: Record) -> type[BaseModel]:
    from optimizer.schema.architecture import Architecture
    from optimizer.schema.platform import Platform
    from optimizer.schema.quote import Quote
    from optimizer.schema.scenario import Scenario

    models: dict[Record, type[BaseModel]] = {
        Record.SCENARIO: Scenario,
        Record.QUOTE: Quote,
        Record.PLATFORM: Platform,
        Record.ARCHITECTURE: Architecture,
    }
    return models[record]
