"""Sweeps: what is done is kept, whatever dies; failures are counted; the order does not matter."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from optimizer.analysis.sweep import Row, sweep
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
class Killed:
    """Kills its own process the first time a key comes."""

    mark: Path

    def __call__(self, key: str) -> Row:
        if key == "ccc" and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return length(key)


def test_rows_come_in_the_order_of_the_keys() -> None:
    told: list[tuple[int, int]] = []
    found = sweep(KEYS, length, tell=lambda done, of, _: told.append((done, of)))
    assert [row["length"] for row in found.rows.values()] == [1, 2, 3, 4]
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_failure_is_listed_and_the_others_stand(tmp_path: Path) -> None:
    store = tmp_path / "rows.jsonl"
    found = sweep(KEYS, picky, store=store)
    assert list(found.rows) == ["a", "ccc", "dddd"]
    assert found.failed == {"bb": "ValueError: no two letters"}
    assert sweep(KEYS, length, store=store).rows["bb"] == {"length": 2}


def test_what_was_done_before_an_interrupt_is_not_done_again(tmp_path: Path) -> None:
    store = tmp_path / "rows.jsonl"
    with pytest.raises(KeyboardInterrupt):
        sweep(KEYS, Interrupted("ccc"), store=store)
    asked: list[str] = []

    def noted(key: str) -> Row:
        asked.append(key)
        return length(key)

    found = sweep(KEYS, noted, store=store)
    assert asked == ["ccc", "dddd"]
    assert found == sweep(KEYS, length)


def test_a_line_cut_short_is_computed_again(tmp_path: Path) -> None:
    store = tmp_path / "rows.jsonl"
    sweep(KEYS, length, store=store)
    text = store.read_text(encoding="utf-8")
    store.write_text(text[:-8], encoding="utf-8")
    assert sweep(KEYS, length, store=store) == sweep(KEYS, length)
    assert all(json.loads(line) for line in store.read_text(encoding="utf-8").splitlines())


def test_another_question_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "rows.jsonl"
    sweep(KEYS, length, store=store, signature="one")
    with pytest.raises(InputError, match="another question"):
        sweep(KEYS, length, store=store, signature="two")


def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    found = sweep(KEYS, Killed(tmp_path / "mark"), jobs=2)
    assert found == sweep(KEYS, length)
    assert (tmp_path / "mark").exists()
