"""What candidate generation answers."""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.results import Candidate, Rejection


@dataclass(frozen=True, slots=True)
class ModesResult:
    """Modes of one workload on one platform.

    Attributes:
        candidates: The front, ascending in nodes: more nodes always end at least a whole day earlier.
        rejections: Why platform, precisions or node counts offer none.
        layouts_evaluated: Layouts whose memory or time was computed.
    """

    candidates: tuple[Candidate, ...]
    rejections: tuple[Rejection, ...]
    layouts_evaluated: int

    def joined(self, other: ModesResult) -> ModesResult:
        """Return both together."""
        return ModesResult(
            (*self.candidates, *other.candidates),
            (*self.rejections, *other.rejections),
            self.layouts_evaluated + other.layouts_evaluated,
        )
