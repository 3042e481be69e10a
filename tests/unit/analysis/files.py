"""The small invented world of the decision tests as files, since analyses change a scenario as ``--set`` does."""

from __future__ import annotations

from pathlib import Path

from optimizer.analysis.bench import Bench
from optimizer.api import SolveOptions
from optimizer.cost.frame import Frame
from optimizer.io.json_text import record_text
from optimizer.io.library import Library
from optimizer.io.loaded import Loaded
from optimizer.io.scenario import load_scenario

OPTIONS = SolveOptions(workers=1)


def written(world: Frame, folder: Path) -> tuple[Path, Library]:
    """Write a world; return its scenario file and the library with its platforms."""
    for kind in ("models/platforms", "quotes"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for name, card in world.platforms.items():
        (folder / "models/platforms" / f"{name}.yaml").write_text(record_text(card), encoding="utf-8")
    for name, quote in world.quotes.items():
        (folder / "quotes" / f"{name}.yaml").write_text(record_text(quote), encoding="utf-8")
    path = folder / "scenario.yaml"
    path.write_text(record_text(world.scenario), encoding="utf-8")
    return path, Library.at(folder)


def loaded(world: Frame, folder: Path) -> Loaded:
    """Return a world read back from files."""
    path, library = written(world, folder)
    return load_scenario(path, library=library)


def bench(world: Frame, folder: Path) -> Bench:
    """Return a bench on a world."""
    return Bench(loaded(world, folder), OPTIONS)
