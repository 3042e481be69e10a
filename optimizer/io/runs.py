"""Reads a CSV of measured runs into typed rows; a blank cell is unknown (None)."""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from optimizer.errors import InputError, Problem

REQUIRED_COLUMNS = ("run_id", "platform", "accelerators", "sequence_length", "global_batch", "micro_batch", "precision")
"""Columns a runs file must have; their cells may be blank, then the row is skipped with its reason."""


@dataclass(frozen=True, slots=True)
class Run:
    """One measured run; None = unknown. Columns are those of the evidence files, see ``contract`` section 5.

    Units: step_time_s seconds, tokens_per_s_per_accelerator tokens per second, memory_gb 1e9 bytes,
    node_network_gbps 1e9 bits per second, batches in sequences. mtp_layers, routing (forced, real) and launch (eager,
    graphs, fixed) tell how experts ran; offload names what was kept on the host.
    """

    run_id: str
    source: str | None = None
    model: str | None = None
    layers: int | None = None
    hidden_size: int | None = None
    ffn_hidden_size: int | None = None
    attention_heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    vocab_size: int | None = None
    sequence_length: int | None = None
    gated_mlp: bool | None = None
    tied_embedding: bool | None = None
    experts: int | None = None
    experts_per_token: int | None = None
    moe_ffn_hidden_size: int | None = None
    platform: str | None = None
    accelerators: int | None = None
    tensor_parallel: int | None = None
    pipeline_parallel: int | None = None
    virtual_pipeline: int | None = None
    context_parallel: int | None = None
    expert_parallel: int | None = None
    expert_tensor_parallel: int | None = None
    data_parallel: int | None = None
    sharding_stage: int | None = None
    micro_batch: int | None = None
    global_batch: int | None = None
    recompute: str | None = None
    sequence_parallel: bool | None = None
    precision: str | None = None
    step_time_s: float | None = None
    tokens_per_s_per_accelerator: float | None = None
    memory_gb: float | None = None
    memory_reading: str | None = None
    state_recipe: str | None = None
    kind: str | None = None
    framework: str | None = None
    software_date: str | None = None
    node_network_gbps: float | None = None
    mtp_layers: int | None = None
    routing: str | None = None
    launch: str | None = None
    offload: str | None = None
    notes: str | None = None


@dataclass(frozen=True, slots=True)
class RunsFile:
    """A file of runs.

    Attributes:
        name: As given.
        sha256: Checksum of its bytes.
        runs: Its rows, from line 2 on.
    """

    name: str
    sha256: str
    runs: tuple[Run, ...]


def _whole(text: str) -> int:
    number = float(text)
    if number != int(number) or number < 0:
        raise ValueError(text)
    return int(number)


def _measured(text: str) -> float:
    number = float(text)
    if not 0 < number < math.inf:
        raise ValueError(text)
    return number


def _switch(text: str) -> bool:
    values = {"1": True, "0": False, "1.0": True, "0.0": False, "true": True, "false": False}
    return values[text.lower()]


_READERS: dict[str, Callable[[str], object]] = {"int": _whole, "float": _measured, "bool": _switch, "str": str}
_EXPECTED = {"int": "a whole number, 0 or more", "float": "a number above 0", "bool": "0 or 1", "str": "text"}
_KINDS = {field.name: str(field.type).split(" ")[0] for field in fields(Run)}


def _cells(path: Path, line: int, row: dict[str, str | None], problems: list[Problem]) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, kind in _KINDS.items():
        text = (row.get(name) or "").strip()
        if not text:
            continue
        try:
            values[name] = _READERS[kind](text)
        except (ValueError, KeyError, OverflowError):
            problems.append(Problem(f"{path}:{line}, {name}", f'"{text}"', f"{_EXPECTED[kind]} or a blank cell"))
    return values


def read_runs(path: Path) -> tuple[Run, ...]:
    """Return the rows of a runs CSV (UTF-8); columns we do not know are left alone.

    Raises:
        InputError: The file cannot be read, lacks a required column, has a cell of the wrong kind or a row without
            run_id; all problems at once.
    """
    return read_runs_file(path).runs


def read_runs_file(path: Path) -> RunsFile:
    """Return a runs CSV with its checksum; see :func:`read_runs`."""
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([Problem(str(path), f"cannot be read ({error})", "a UTF-8 CSV of runs")]) from None
    reader = csv.DictReader(text.splitlines(keepends=True))
    missing = [name for name in REQUIRED_COLUMNS if name not in (reader.fieldnames or ())]
    problems = [Problem(str(path), f"no column {name}", "the columns of runs.csv") for name in missing]
    values = [_cells(path, line, row, problems) for line, row in enumerate(reader, start=2)] if not missing else []
    problems += [
        Problem(f"{path}:{n}, run_id", "blank", "a name") for n, v in enumerate(values, 2) if "run_id" not in v
    ]
    if problems:
        raise InputError(problems)
    runs = tuple(Run(**row) for row in values)  # type: ignore[arg-type]  # readers match the field types
    return RunsFile(str(path), hashlib.sha256(content).hexdigest(), runs)
