"""Read a plan back from its JSON."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from optimizer.errors import InputError, Problem
from optimizer.io.document import path_text
from optimizer.io.shipped import shown
from optimizer.io.yaml_reader import read_text
from optimizer.results import PLAN_FORMAT, Plan


def read_plan(path: str | Path) -> Plan:
    """Read a plan written by ``solve --json``.

    Raises:
        InputError: Not readable, not JSON, or not a plan of this format.
    """
    name = shown(Path(path))
    try:
        data = json.loads(read_text(Path(path), name), parse_float=Decimal)
    except json.JSONDecodeError as error:
        raise InputError([Problem(f"{name}:{error.lineno}", f"not JSON: {error.msg}", "Expected a plan")]) from None
    except (RecursionError, ValueError):
        raise InputError([Problem(name, "not a JSON document of sane size", "Expected a plan")]) from None
    if not isinstance(data, dict) or data.get("format") != PLAN_FORMAT:
        expected = f"Expected format {PLAN_FORMAT}, as solve --json writes it"
        raise InputError([Problem(name, "no plan of this version", expected)])
    return _plan(data, name)


def _plan(data: dict[str, Any], name: str) -> Plan:
    try:
        return Plan.model_validate(data)
    except ValidationError as error:
        raise InputError(
            Problem(f"{name}, {path_text(details['loc'])}", details["msg"], "Expected a plan as solve --json writes it")
            for details in error.errors(include_url=False)
        ) from None
