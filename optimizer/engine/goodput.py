"""Share of wall time that is useful: failures, checkpoints, restarts."""

from __future__ import annotations

import numpy as np

from optimizer.engine.layouts import Floats

_DAY_S = 86_400.0


def mean_time_between_failures_s(nodes: Floats, node_failures_per_1000_days: float) -> Floats:
    """Return seconds between failures of a job: 1000 days / (nodes x failures per 1000 node-days)."""
    with np.errstate(divide="ignore"):
        return np.asarray(1000.0 * _DAY_S / (np.asarray(nodes, dtype=np.float64) * node_failures_per_1000_days))


def young_interval_s(write_s: float, mtbf_s: Floats) -> Floats:
    """Return Young's checkpoint interval sqrt(2 x write x MTBF), seconds (Young 1974)."""
    return np.sqrt(2.0 * write_s * np.asarray(mtbf_s))


def daly_interval_s(write_s: float, mtbf_s: Floats) -> Floats:
    """Return Daly's interval, seconds: Young's x (1 + r/3 + r^2/9) - write, r = sqrt(write / (2 MTBF)) (Daly 2006)."""
    ratio = np.sqrt(write_s / (2.0 * np.asarray(mtbf_s)))
    return young_interval_s(write_s, mtbf_s) * (1.0 + ratio / 3.0 + ratio**2 / 9.0) - write_s


def checkpoint_overhead(write_s: float, mtbf_s: Floats) -> Floats:
    """Return the share lost to writing and to lost work at Young's interval t.

    write / t + t / (2 MTBF) = sqrt(2 write / MTBF).
    """
    return np.sqrt(2.0 * write_s / np.asarray(mtbf_s))


def goodput(
    nodes: Floats,
    node_failures_per_1000_days: float,
    restart_minutes: float,
    checkpoint_write_s: float,
    planned_share: float = 0.0,
) -> Floats:
    """Return the useful share of wall time, in (0, 1], for each number of nodes.

    1 - checkpoint overhead - restart / MTBF - planned share (maintenance, evaluation); at least 0.01, so that a
    hopeless cluster is slow rather than negative. ``nodes`` may have any shape.
    """
    mtbf = mean_time_between_failures_s(nodes, node_failures_per_1000_days)
    lost = checkpoint_overhead(checkpoint_write_s, mtbf) + 60.0 * restart_minutes / mtbf + planned_share
    return np.clip(1.0 - lost, 0.01, 1.0)
