"""Writes overlays of platforms: to new files only, and never among the shipped data."""

from __future__ import annotations

from pathlib import Path

from optimizer.errors import InputError, Problem
from optimizer.io.importing.yaml_text import mapping_yaml, written
from optimizer.io.shipped import shipped
from optimizer.schema.platform import PlatformOverlay


def refuse_place(path: Path) -> None:
    """Raise InputError when there is such a file already, or the place belongs to the shipped data."""
    if path.exists():
        raise InputError([_there(path)])
    if path.resolve().is_relative_to(shipped("models").resolve()):
        found, fix = "a place among the shipped data", "Write it to a folder of your own, e.g. mine/models/platforms"
        raise InputError([Problem(str(path), found, "Shipped data are never changed in place", fix)])


def write_overlay(path: Path, overlay: PlatformOverlay) -> None:
    """Write an overlay to a new file, with its folders; raise InputError when that is impossible."""
    refuse_place(path)
    comment = (
        f"What a pilot found out about {overlay.overlay_of}. It counts where it lies in models/platforms of a folder\n"
        f"named by --library; the keys of efficiency replace those of the card."
    )
    text = mapping_yaml(written(overlay), comment)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError([Problem(str(path.parent), f"cannot be made ({error.strerror})", "")]) from None
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError([_there(path)]) from None
    except OSError as error:
        raise InputError([Problem(str(path), f"cannot be written ({error.strerror})", "")]) from None


def _there(path: Path) -> Problem:
    return Problem(str(path), "there is such a file already", "Expected a new one", "Move it away or name another")
