"""Where the data folders are (inside an installed package, or beside it in a checkout), and how files are named."""

from __future__ import annotations

from pathlib import Path

from optimizer.errors import InternalError

_PACKAGE = Path(__file__).resolve().parent.parent
_FOLDERS = ("models", "quotes", "scenarios")


def shipped(folder: str) -> Path:
    """Return the shipped data folder ``models``, ``quotes`` or ``scenarios``.

    Raises:
        InternalError: The installation is incomplete.
    """
    for root in (_PACKAGE / "_data", _PACKAGE.parent):
        if (root / folder).is_dir():
            return root / folder
    raise InternalError(f"the installation has no data folder {folder}")


def shown(path: Path) -> str:
    """Return a path as messages and plans show it.

    Shipped files are named from their data folder (``models/platforms/b200-hgx.yaml``), whatever the machine;
    files below the current folder relative to it; others as given.
    """
    absolute = path.resolve()
    for root in (_PACKAGE / "_data", *(_PACKAGE.parent / folder for folder in _FOLDERS), Path.cwd()):
        if absolute.is_relative_to(root):
            return str(absolute.relative_to(root.parent if root.name in _FOLDERS else root))
    return str(path)


def located(name: str, folder: Path | None = None) -> Path | None:
    """Return the file that :func:`shown` gave this name, or None when it is nowhere.

    Looked for from the current folder, among the shipped data, and from a further folder and its parents.
    """
    roots = [Path(), _PACKAGE / "_data", _PACKAGE.parent]
    if folder is not None:
        roots += [folder.resolve(), *folder.resolve().parents]
    places = [root / name for root in roots]
    return next((place for place in places if place.is_file()), None)
