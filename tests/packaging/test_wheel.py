"""The wheel carries code, types and data, and works from an empty folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from optimizer.version import __version__

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel alone into a fresh environment; its dependencies are those of the test run."""
    home = tmp_path_factory.mktemp("home")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), "install", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--quiet", "--disable-pip-version-check", str(wheel)], check=True)
    site = next((home / "lib").glob("python*/site-packages"))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home / "bin" / "clusterbuy"


def run(program: Path, folder: Path, *arguments: str) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    result = subprocess.run(
        [str(program), *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return result.stdout


def test_the_wheel_holds_code_types_licence_and_data(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name == f"clusterbuy-{__version__}-py3-none-any.whl"
    for name in (
        "optimizer/py.typed",
        "optimizer/report/terms.yaml",
        "optimizer/report/templates/page.html.j2",
        "optimizer/report/templates/style.css",
        "optimizer/cli/main.py",
        "optimizer/_data/models/platforms/h200-sxm.yaml",
        "optimizer/_data/models/bands.yaml",
        "optimizer/_data/scenarios/starter/scenario.yaml",
    ):
        assert name in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith("tests/")]


def test_every_data_file_is_in_the_wheel(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    files = [
        file.relative_to(ROOT)
        for folder in ("models", "quotes", "scenarios")
        for file in (ROOT / folder).rglob("*.yaml")
    ]
    assert len(files) > 50
    assert not [file for file in files if f"optimizer/_data/{file}" not in names]


def test_the_command_works_from_an_empty_folder(program: Path, tmp_path: Path) -> None:
    assert run(program, tmp_path, "--version") == f"clusterbuy {__version__}\n"
    assert "h200-sxm" in run(program, tmp_path, "catalog", "platforms")
    run(program, tmp_path, "init", "start", "--quiet")
    data = json.loads(run(program, tmp_path, "check", "start/scenario.yaml", "--json", "-"))
    assert data["understood"]["scenario"] == "starter"


def test_the_installed_code_is_the_wheel_not_the_checkout(program: Path, tmp_path: Path) -> None:
    python = program.parent / "python"
    code = "import optimizer.io.shipped as s; print(s.shipped('models'))"
    assert "_data/models" in run(python, tmp_path, "-c", code)
