"""Solvers that lie, to see that they are found out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from optimizer.solver import search as search_module
from optimizer.solver.backend import Answer, Outcome, Settings
from optimizer.solver.cpsat import CpSat
from optimizer.solver.linear import LinearModel, Terms


class Altered:
    """Fault injection: CP-SAT whose answers are altered before they are handed on."""

    name = "cp-sat"

    def __init__(self, **changes: object) -> None:
        self.changes = changes

    def solve(self, model: LinearModel, objective: Terms, settings: Settings) -> Answer:
        return replace(CpSat().solve(model, objective, settings), **self.changes)


def says(outcome: Outcome) -> Altered:
    """Return a solver that always claims the same, without a solution."""
    return Altered(outcome=outcome, values=[], objective=None, bound=None)


def inject(monkeypatch: pytest.MonkeyPatch, solver: Altered) -> None:
    """Let the search use a solver whatever it is asked for."""
    monkeypatch.setattr(search_module, "backend", lambda name: solver)
