from __future__ import annotations

from collections.abc import Callable

import pytest

from optimizer.engine.setup import Setup
from optimizer.io.library import Library
from optimizer.schema.architecture import Architecture
from optimizer.schema.base import Precision


@pytest.fixture(scope="session")
def library() -> Library:
    return Library.shipped()


@pytest.fixture(scope="session")
def make(library: Library) -> Callable[..., Setup]:
    """Build a setup from ids."""

    def build(
        architecture: Architecture | str = "llama-3-1-8b",
        platform: str = "h100-sxm",
        precision: str = "bf16",
        sequence_length: int = 8192,
        software: str = "megatron-core",
        **changes: object,
    ) -> Setup:
        model = library.architectures[architecture] if isinstance(architecture, str) else architecture
        return Setup(
            model,
            library.platforms[platform],
            Precision(precision),
            sequence_length,
            library.software[software],
            **changes,
        )

    return build
