"""Evenly spread points of a unit cube: the same points for every plan, so that their differences are not noise.

Richtmyer's sequence: frac(i x sqrt(prime_j) + shift_j), i = 1, 2, …, with a random shift per dimension (Richtmyer 1951;
Cranley and Patterson 1976). A point follows from its number alone, so any process can compute any part of a sample; and
it needs no library, where a Sobol sequence would bring scipy into every installation for one function.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

import numpy as np

from optimizer.engine.layouts import Floats

SMALLEST = 1e-9
"""Points stay this far from 0 and 1, where quantiles are infinite."""


def points(first: int, last: int, dimensions: int, seed: int) -> Floats:
    """Return points ``first`` to ``last`` - 1 of a sequence, shape (last - first, dimensions), in (0, 1)."""
    roots = np.sqrt(np.array(list(islice(_primes(), dimensions)), dtype=np.float64))
    shift = np.random.default_rng(seed).random(dimensions)
    numbers = np.arange(first + 1, last + 1, dtype=np.float64)[:, None]
    return np.clip((numbers * roots + shift) % 1.0, SMALLEST, 1.0 - SMALLEST)


def _primes() -> Iterator[int]:
    return (n for n in count(2) if all(n % divisor for divisor in range(2, int(n**0.5) + 1)))
