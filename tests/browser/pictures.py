"""Pictures of a report for the README: ``pictures.py REPORT.html FOLDER`` (``make pictures``)."""

from __future__ import annotations

import sys
from pathlib import Path

from chromium import program, started

FIRST_SCREEN = ("memo.png", 1180, 960)
"""File, width and height of the first screen."""

CHARTS = {"pareto.png": "#pareto-chart", "calendar.png": "#calendar"}
"""File -> the part of the page it shows."""


def main(report: Path, folder: Path) -> None:
    path = program()
    if path is None:
        sys.exit("no Chromium is installed")
    folder.mkdir(parents=True, exist_ok=True)
    with started(path) as browser:
        name, width, height = FIRST_SCREEN
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(report.resolve().as_uri())
        page.screenshot(path=folder / name)
        page = browser.new_page(viewport={"width": 1000, "height": 1000})
        page.goto(report.resolve().as_uri())
        for name, part in CHARTS.items():
            page.locator(part).screenshot(path=folder / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
