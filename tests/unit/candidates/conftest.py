from __future__ import annotations

import pytest

from optimizer.candidates.conditions import Conditions
from optimizer.candidates.space import Grid
from optimizer.io.library import Library
from optimizer.schema.architecture import Architecture, FeedForward, GroupedQueryAttention
from optimizer.schema.scenario import Policy, Reliability


@pytest.fixture(scope="session")
def library() -> Library:
    return Library.shipped()


@pytest.fixture(scope="session")
def conditions(library: Library) -> Conditions:
    return Conditions(library.software, library.bands, Reliability(), Policy())


@pytest.fixture(scope="session")
def small() -> Architecture:
    """24 layers, 16 heads and 4 key-value heads of 128, feed-forward width 5,632: about 1.1e9 parameters."""
    return Architecture(
        id="small",
        layers=24,
        hidden_size=2048,
        vocab_size=32000,
        tied_embedding=False,
        attention=GroupedQueryAttention(heads=16, kv_heads=4, head_dim=128),
        ffn=FeedForward(hidden_size=5632, gated=True),
    )


@pytest.fixture(scope="session")
def tight_grid() -> Grid:
    return Grid(context_max=2, micro_batch_max=4, virtual_max=4)
