"""Many independent solves: here, in a pool of processes or on a cluster; resumable, the same whatever the order.

A row depends on nothing but its key, so it does not matter who computes it, when, or how often. Rows are written to the
results file as they come; what a dead process or a lost worker had not finished is given to another.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from optimizer.analysis.executors import Executor, Here, Row, Work
from optimizer.errors import InputError, Problem


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Attributes:
        done: Rows there are, those of an earlier run included.
        of: All rows.
        computed: Rows of this run.
        elapsed_s: Seconds since it started.
    """

    done: int
    of: int
    computed: int
    elapsed_s: float

    @property
    def per_s(self) -> float:
        """Rows per second of this run."""
        return self.computed / max(self.elapsed_s, 1e-9)

    @property
    def left_s(self) -> float:
        """Seconds left at that rate."""
        return (self.of - self.done) / max(self.per_s, 1e-9)


Tell = Callable[[Progress], None]
"""Called after every row."""


@dataclass(frozen=True)
class Outcome:
    """What a sweep found.

    Attributes:
        rows: Key of a task -> its row, in the order of the tasks; without those that failed.
        failed: Key of a task -> what went wrong.
    """

    rows: Mapping[str, Row]
    failed: Mapping[str, str]


@dataclass(frozen=True)
class Sweeping:
    """How a sweep is carried out; nothing of it changes what it finds.

    Attributes:
        executor: Who computes the rows.
        store: Results file (JSON lines): rows are added as they come, and those in it are not computed again.
        tell: Told about progress.
    """

    executor: Executor = field(default_factory=Here)
    store: Path | None = None
    tell: Tell | None = None


def sweep(keys: Sequence[str], work: Work, how: Sweeping | None = None, signature: str = "") -> Outcome:
    """Return a row per key; a failure of one is kept beside the others.

    Args:
        keys: Names of the tasks, all different; also what a resumed sweep recognises them by.
        work: Computes one row; must pickle unless it stays here, and depend on nothing but its key.
        how: Who computes, and where rows are kept.
        signature: Hash of everything the rows depend on; a results file of another one is refused.

    Raises:
        InputError: the results file belongs to another question, or the cluster cannot be used.
    """
    how, started = how or Sweeping(), time.monotonic()
    known = _read(how.store, signature) if how.store else {}
    missing = [key for key in keys if key not in known]
    for computed, (key, row) in enumerate(how.executor.rows(missing, work), start=1):
        known[key] = row
        if how.store:
            _append(how.store, {"key": key, "row": row})
        if how.tell:
            done = len(keys) - len(missing) + computed
            how.tell(Progress(done, len(keys), computed, time.monotonic() - started))
    rows = {key: known[key] for key in keys}
    good = {key: row for key, row in rows.items() if "failure" not in row}
    return Outcome(good, {key: str(row["failure"]) for key, row in rows.items() if "failure" in row})


def _read(store: Path, signature: str) -> dict[str, Row]:
    """Return the rows of a results file; a last line cut short by a kill is left out, failures are tried again."""
    if not store.exists():
        _append(store, {"signature": signature})
        return {}
    lines = [line for text in _text(store).splitlines() if (line := _line(text)) is not None]
    if not lines or lines[0].get("signature") != signature:
        expected = "Expected a file of this scenario, these options and this version; give another name, or delete it"
        raise InputError([Problem(str(store), "results of another question", expected)])
    _rewrite(store, lines)
    return {line["key"]: line["row"] for line in lines[1:] if "failure" not in line["row"]}


def _text(store: Path) -> str:
    try:
        return store.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([Problem(str(store), f"cannot be read as results ({error})", "")]) from None


def _line(text: str) -> Row | None:
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _rewrite(store: Path, lines: Sequence[Row]) -> None:
    """Write whole lines only, so that what is added next starts on a line of its own."""
    store.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _append(store: Path, line: Row) -> None:
    try:
        with store.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    except OSError as error:
        raise InputError([Problem(str(store), f"cannot be written ({error.strerror})", "")]) from None
