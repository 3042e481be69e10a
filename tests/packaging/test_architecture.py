"""The shape of the code: import directions, sizes, and what the checker may know."""

from __future__ import annotations

import ast
from pathlib import Path
from statistics import median

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "optimizer").rglob("*.py"))
CHECKER_MAY_IMPORT = (
    "optimizer.schema",
    "optimizer.results",
    "optimizer.units",
    "optimizer.errors",
    "optimizer.solver.check",
)


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    docstring = ast.get_docstring(function, clean=False)
    return (function.end_lineno or 0) - function.lineno + 1 - (docstring.count("\n") + 1 if docstring else 0)


def test_the_checker_imports_only_records_and_calendar() -> None:
    graph = grimp.build_graph("optimizer", cache_dir=None)
    checker = [module for module in graph.modules if module.startswith("optimizer.solver.check")]
    imported = {name for module in checker for name in graph.find_modules_directly_imported_by(module)}
    assert checker
    assert not [name for name in imported if not name.startswith(CHECKER_MAY_IMPORT)]


def test_there_is_no_import_cycle() -> None:
    graph = grimp.build_graph("optimizer", cache_dir=None)
    cycles = [
        module
        for module in graph.modules
        if module in graph.find_upstream_modules(module) and not graph.find_children(module)
    ]
    assert not cycles


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_stay_small(path: Path) -> None:
    assert path.read_text(encoding="utf-8").count("\n") <= 500
    assert not [function.name for function in functions(path) if length(function) > 60]


def test_functions_are_short_on_the_whole() -> None:
    lengths = sorted(length(function) for path in FILES for function in functions(path))
    assert median(lengths) <= 8
    assert lengths[len(lengths) * 9 // 10] <= 30


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_assert_and_no_print_where_they_do_not_belong(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    if not {"cli", "report"} & set(path.relative_to(ROOT).parts):
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
        assert not [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]
