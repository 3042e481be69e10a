"""A store that may forget, and never lies."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from optimizer.io.cache import DiskStore, engine_store

TEXT = json.dumps({"candidates": [1.1, 2.2], "words": "a" * 10_000})


@pytest.fixture
def store(tmp_path: Path) -> DiskStore:
    return DiskStore(tmp_path / "cache")


def files(store: DiskStore) -> list[Path]:
    return sorted(store.folder.iterdir())


def test_what_was_put_is_got_and_nothing_else(store: DiskStore):
    assert store.get("a") is None
    store.put("a", TEXT)
    store.put("b", "other")
    assert (store.get("a"), store.get("b"), store.get("c")) == (TEXT, "other", None)
    store.put("a", "new")
    assert store.get("a") == "new"
    assert len(files(store)) == 2


def damaged() -> list[tuple[str, bytes]]:
    whole = gzip.compress(json.dumps({"key": "a", "text": TEXT}).encode(), mtime=0)
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    return [
        ("empty", b""),
        ("half", whole[: len(whole) // 2]),
        ("flipped", bytes(flipped)),
        ("not compressed", b"{}"),
        ("not JSON", gzip.compress(b"\xff\xfe")),
        ("a list", gzip.compress(b"[1]")),
        ("another key", gzip.compress(json.dumps({"key": "b", "text": TEXT}).encode())),
        ("no text", gzip.compress(json.dumps({"key": "a", "text": 3}).encode())),
        ("deep", gzip.compress(b"[" * 100_000)),
    ]


@pytest.mark.parametrize("content", [pytest.param(content, id=name) for name, content in damaged()])
def test_a_damaged_file_is_forgotten_and_written_again(store: DiskStore, content: bytes):
    store.put("a", TEXT)
    files(store)[0].write_bytes(content)
    assert store.get("a") is None
    store.put("a", TEXT)
    assert store.get("a") == TEXT


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        store = DiskStore(folder)
        store.put("a", TEXT)
        assert store.get("a") is None


def test_the_longest_unused_are_forgotten_first(store: DiskStore):
    limited = DiskStore(store.folder, limit_bytes=4_500)
    now = time.time()
    for place, key in enumerate("abcd"):
        limited.put(key, os.urandom(500).hex())  # about 1,000 characters, hard to compress
        os.utime(limited._file(key), (now - 100 + place, now - 100 + place))
    assert limited.get("a") is not None  # used now: the youngest
    for key in "efghij":
        limited.put(key, os.urandom(500).hex())
    assert sum(file.stat().st_size for file in files(limited)) <= 4_500
    assert limited.get("b") is None
    assert limited.get("j") is not None


def test_what_a_killed_writer_left_is_forgotten_too(store: DiskStore):
    limited = DiskStore(store.folder, limit_bytes=3_000)
    limited.put("a", "text")
    left = store.folder / "tmpx.new"
    left.write_bytes(b"x" * 5_000)
    os.utime(left, (1, 1))
    limited.put("b", "text")
    assert not left.exists()
    assert (limited.get("a"), limited.get("b")) == ("text", "text")


WORKER = """
import sys, pathlib
from optimizer.io.cache import DiskStore
store = DiskStore(pathlib.Path(sys.argv[1]), limit_bytes=60_000)
for turn in range(150):
    for key in "abc":
        want = key * 20_000
        got = store.get(key)
        if got not in (None, want):
            sys.exit(f"half a file: {len(got)}")
        store.put(key, want)
"""


def test_processes_share_a_folder_and_never_see_half_a_file(store: DiskStore):
    workers = [subprocess.Popen([sys.executable, "-c", WORKER, str(store.folder)]) for _ in range(3)]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0]
    assert all(store.get(key) == key * 20_000 for key in "abc")
    assert all(file.name.endswith(".json.gz") for file in files(store))


def test_the_environment_says_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for word in ("off", "OFF", "0"):
        monkeypatch.setenv("CLUSTERBUY_CACHE", word)
        assert engine_store() is None
    monkeypatch.setenv("CLUSTERBUY_CACHE", str(tmp_path))
    assert engine_store() == DiskStore(tmp_path)
    monkeypatch.delenv("CLUSTERBUY_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    usual = engine_store()
    assert usual is not None
    assert usual.folder.name.startswith("clusterbuy") or "clusterbuy" in usual.folder.parts
