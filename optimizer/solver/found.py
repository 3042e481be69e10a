"""What a search found, whichever search it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from optimizer.cost.choice import Choice
from optimizer.solver.backend import Settings

SolverName = Literal["auto", "cp-sat", "highs", "enumerate"]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Attributes:
        status: optimal, feasible, infeasible or unknown.
        choice: The decision; None without a plan.
        bound: Proven bound on the first objective (major units, days, or 1e15 FLOP); None when unknown.
        solver: Solver used.
        proof: One sentence on what proves the status.
        interrupted: Whether Ctrl-C ended the search.
    """

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    choice: Choice | None
    bound: Decimal | None
    solver: str
    proof: str
    interrupted: bool = False


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search, with the best plan of the model it was solving.

    Attributes:
        found: Feasible, or unknown without a plan.
    """

    def __init__(self, found: Found) -> None:
        super().__init__("interrupted while searching")
        self.found = found


Proof = Callable[[Settings], Found | None]
"""Returns infeasible, with its proof, where that can be told without a search."""
