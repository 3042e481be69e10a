"""Sweeps: what is done is kept, whatever dies; failures are counted; the order does not matter."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from optimizer.analysis.executors import Growing, Processes, Row
from optimizer.analysis.sweep import Progress, Sweeping, sweep
from optimizer.errors import InputError

KEYS = ["a", "bb", "ccc", "dddd"]


def length(key: str) -> Row:
    return {"length": len(key)}


def picky(key: str) -> Row:
    if key == "bb":
        raise ValueError("no two letters")
    return length(key)


@dataclass
class Interrupted:
    """Works until a key comes, then Ctrl-C."""

    last: str

    def __call__(self, key: str) -> Row:
        if key == self.last:
            raise KeyboardInterrupt
        return length(key)


@dataclass
class Deadly:
    """Kills its own process whenever a key comes."""

    def __call__(self, key: str) -> Row:
        if key == "ccc":
            os.kill(os.getpid(), signal.SIGKILL)
        return length(key)


@dataclass
class Killed:
    """Kills its own process the first time a key comes."""

    mark: Path

    def __call__(self, key: str) -> Row:
        if key == "ccc" and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return length(key)


def kept(store: Path) -> Sweeping:
    return Sweeping(store=store)


def test_rows_come_in_the_order_of_the_keys() -> None:
    told: list[Progress] = []
    found = sweep(KEYS, length, Sweeping(tell=told.append))
    assert [row["length"] for row in found.rows.values()] == [1, 2, 3, 4]
    assert [(now.done, now.of, now.computed) for now in told] == [(1, 4, 1), (2, 4, 2), (3, 4, 3), (4, 4, 4)]


def test_rate_and_time_left_count_what_this_run_computed() -> None:
    """30 rows of 100 were there; 20 more took 10 seconds: 2 a second, 50 left take 25."""
    now = Progress(done=50, of=100, computed=20, elapsed_s=10)
    assert (now.per_s, now.left_s) == (2, 25)


def test_a_failure_is_listed_and_the_others_stand(tmp_path: Path) -> None:
    store = tmp_path / "rows.jsonl"
    found = sweep(KEYS, picky, kept(store))
    assert list(found.rows) == ["a", "ccc", "dddd"]
    assert found.failed == {"bb": "ValueError: no two letters"}
    assert sweep(KEYS, length, kept(store)).rows["bb"] == {"length": 2}


def test_what_was_done_before_an_interrupt_is_not_done_again(tmp_path: Path) -> None:
    store = tmp_path / "rows.jsonl"
    with pytest.raises(KeyboardInterrupt):
        sweep(KEYS, Interrupted("ccc"), kept(store))
    asked: list[str] = []
    told: list[Progress] = []

    def noted(key: str) -> Row:
        asked.append(key)
        return length(key)

    found = sweep(KEYS, noted, Sweeping(store=store, tell=told.append))
    assert asked == ["ccc", "dddd"]
    assert [(now.done, now.computed) for now in told] == [(3, 1), (4, 2)]
    assert found == sweep(KEYS, length)


def test_a_line_cut_short_is_computed_again(tmp_path: Path) -> None:
    store = tmp_path / "rows.jsonl"
    sweep(KEYS, length, kept(store))
    text = store.read_text(encoding="utf-8")
    store.write_text(text[:-8], encoding="utf-8")
    assert sweep(KEYS, length, kept(store)) == sweep(KEYS, length)
    assert all(json.loads(line) for line in store.read_text(encoding="utf-8").splitlines())


def test_another_question_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "rows.jsonl"
    sweep(KEYS, length, kept(store), signature="one")
    with pytest.raises(InputError, match="another question"):
        sweep(KEYS, length, kept(store), signature="two")


def test_a_results_file_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read as results"):
        sweep(KEYS, length, kept(tmp_path))
    with pytest.raises(InputError, match="cannot be written"):
        sweep(KEYS, length, kept(tmp_path / "nowhere" / "rows.jsonl"))


def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    found = sweep(KEYS, Killed(tmp_path / "mark"), Sweeping(Processes(2)))
    assert found == sweep(KEYS, length)
    assert (tmp_path / "mark").exists()


@dataclass
class Slow:
    """Says who computed a row, slowly here."""

    here: int

    def __call__(self, key: str) -> Row:
        if os.getpid() == self.here:
            time.sleep(0.1)
        return {"key": key, "here": os.getpid() == self.here}


@pytest.mark.parametrize(("patience_s", "here"), [(0.05, [True, False, False, False]), (60.0, [True] * 4)])
def test_a_sweep_that_takes_long_grows_into_a_pool(patience_s: float, here: list[bool]) -> None:
    found = sweep(KEYS, Slow(os.getpid()), Sweeping(Growing(2, patience_s)))
    assert [row["here"] for row in found.rows.values()] == here


def test_a_task_that_always_kills_its_process_is_a_failure() -> None:
    found = sweep(KEYS, Deadly(), Sweeping(Processes(1)))
    assert found.failed["ccc"] == "the process computing it died each time"
    assert set(found.rows) | set(found.failed) == set(KEYS)
    assert all(row == length(key) for key, row in found.rows.items())
