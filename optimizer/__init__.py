"""clusterbuy: which quotes to sign, how many nodes, when, and how the model is laid out on them, with proof."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from optimizer.version import __version__

if TYPE_CHECKING:
    from optimizer.api import SolveOptions as SolveOptions
    from optimizer.api import compare as compare
    from optimizer.api import layouts as layouts
    from optimizer.api import predict as predict
    from optimizer.api import solve as solve
    from optimizer.api import verify as verify
    from optimizer.io.library import Library as Library
    from optimizer.io.scenario import load_scenario as load_scenario
    from optimizer.results import Layout as Layout
    from optimizer.results import Plan as Plan
    from optimizer.schema.scenario import Scenario as Scenario

_HOMES = {
    "Layout": "optimizer.results",
    "Library": "optimizer.io.library",
    "Plan": "optimizer.results",
    "Scenario": "optimizer.schema.scenario",
    "SolveOptions": "optimizer.api",
    "compare": "optimizer.api",
    "layouts": "optimizer.api",
    "load_scenario": "optimizer.io.scenario",
    "predict": "optimizer.api",
    "solve": "optimizer.api",
    "verify": "optimizer.api",
}
"""Module of each public name; loaded when first asked for, so that the command line starts fast."""

__all__ = [
    "Layout",
    "Library",
    "Plan",
    "Scenario",
    "SolveOptions",
    "__version__",
    "compare",
    "layouts",
    "load_scenario",
    "predict",
    "solve",
    "verify",
]


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__]


def __getattr__(name: str) -> object:
    """Return a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module optimizer has no attribute {name}")
    return getattr(import_module(_HOMES[name]), name)
