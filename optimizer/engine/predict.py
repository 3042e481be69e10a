"""One prediction: memory and time of one layout, with its verdict and band-free mid values."""

from __future__ import annotations

from optimizer.engine.flops import flops_per_token, utilisation
from optimizer.engine.layouts import LayoutArrays, require_legal
from optimizer.engine.memory import memory, peak_bytes
from optimizer.engine.setup import Setup
from optimizer.engine.step_time import step_seconds, step_time
from optimizer.engine.verdict import headroom_bytes, verdict
from optimizer.results import Layout, LayoutRow


def predict(setup: Setup, layout: Layout) -> LayoutRow:
    """Return memory, time, throughput and verdict of one layout.

    MFU counts causal attention and no recompute over the dense peak of the setup's precision. Raises InputError
    when the global batch is not a whole number of micro-batches on every replica.
    """
    require_legal(layout)
    arrays = LayoutArrays.of(layout)
    held, spent = memory(setup, arrays), step_time(setup, arrays)
    peak, seconds = float(peak_bytes(held)[0]), float(step_seconds(spent)[0])
    accelerators = layout.accelerators
    rate = layout.global_batch * setup.sequence_length / seconds / accelerators
    per_token = flops_per_token(setup.architecture, setup.sequence_length)
    return LayoutRow(
        nodes=-(-accelerators // setup.platform.accelerators_per_node),
        accelerators=accelerators,
        layout=layout,
        step_time_s=seconds,
        tokens_per_s_per_accelerator=rate,
        mfu=utilisation(rate * per_token, setup.peak_flops(setup.precision) / 1e12),
        memory_gb=peak / 1e9,
        memory_limit_gb=setup.memory_bytes / 1e9,
        headroom_gb=headroom_bytes(peak, setup.memory_bytes) / 1e9,
        verdict=verdict(peak, setup.memory_bytes),
        memory={name: float(part.flat[0]) / 1e9 for name, part in held.items()},
        time={name: float(part.flat[0]) for name, part in spent.items()},
    )
