"""Results of the engine on disk: a folder of small files, shared safely by any number of processes.

``CLUSTERBUY_CACHE`` names the folder, ``off`` turns it off; default is the user's cache folder. Nothing in it is needed:
whatever is missing, damaged or cannot be written is computed again.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

LIMIT_BYTES = 200_000_000
"""Files beyond this size in all are forgotten, the longest unused first."""

_ROOM = 0.9  # of the limit is left after forgetting
_ENDING = ".json.gz"


@dataclass(frozen=True, slots=True)
class DiskStore:
    """Texts by key in a folder, one compressed file each.

    A file is written under another name and renamed, so readers see all of it or nothing; it carries its key, its
    length and a checksum. Several processes may write the same key: their texts are equal.

    Attributes:
        folder: Where; made when first written.
        limit_bytes: Most bytes kept.
    """

    folder: Path
    limit_bytes: int = LIMIT_BYTES

    def get(self, key: str) -> str | None:
        """Return the text of a key; None when there is none that can be trusted."""
        file = self._file(key)
        try:
            stored = json.loads(gzip.decompress(file.read_bytes()))
        except (OSError, EOFError, zlib.error, ValueError, RecursionError):
            return None
        if not isinstance(stored, dict) or stored.get("key") != key or not isinstance(stored.get("text"), str):
            return None
        with contextlib.suppress(OSError):
            os.utime(file)  # its time tells when it was used last
        return str(stored["text"])

    def put(self, key: str, text: str) -> None:
        """Keep a text, and forget the longest unused ones beyond the limit; nothing happens where that is impossible."""
        content = gzip.compress(json.dumps({"key": key, "text": text}).encode(), compresslevel=1, mtime=0)
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._write(self._file(key), content)
            self._forget()

    def _file(self, key: str) -> Path:
        return self.folder / f"{hashlib.sha256(key.encode()).hexdigest()}{_ENDING}"

    def _write(self, file: Path, content: bytes) -> None:
        handle, name = tempfile.mkstemp(dir=self.folder, suffix=".new")
        try:
            with os.fdopen(handle, "wb") as new:
                new.write(content)
            Path(name).replace(file)
        except OSError:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise

    def _forget(self) -> None:
        files = sorted(self._files())
        excess = sum(size for _, size, _ in files) - self.limit_bytes
        if excess <= 0:
            return
        excess += round((1 - _ROOM) * self.limit_bytes)
        for _, size, file in files:
            if excess <= 0:
                return
            with contextlib.suppress(OSError):  # another process may have been faster
                file.unlink()
            excess -= size

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """Yield (last use, bytes, path) of what is kept, and of what a killed process left."""
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.endswith((_ENDING, ".new")):
                    with contextlib.suppress(OSError):
                        stat = entry.stat()
                        yield stat.st_mtime, stat.st_size, Path(entry.path)


def engine_store() -> DiskStore | None:
    """Return the store that the environment asks for; None when it is off or there is no folder for it."""
    wanted = os.environ.get("CLUSTERBUY_CACHE", "").strip()
    if wanted.casefold() in ("off", "0", "no", "false"):
        return None
    if wanted:
        return DiskStore(Path(wanted).expanduser())
    try:
        return DiskStore(user_cache_path("clusterbuy", appauthor=False))
    except (OSError, RuntimeError):
        return None
