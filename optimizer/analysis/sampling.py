"""Evenly spread points of a unit cube: the same points for every plan, so that their differences are not noise.

A Halton sequence whose digits are randomly permuted, each place of each dimension by its own permutation (Halton 1960;
randomised as in Owen 2017): quasi-random, and without the correlations of plain Halton in many dimensions. A point
follows from its number alone, so any process can compute any part of a sample; and it needs no library, where a Sobol
sequence would bring scipy into every installation for one function.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from math import ceil, log

import numpy as np

from optimizer.engine.layouts import Floats

PLACES = 1e8
"""Digits are permuted down to this fraction of the unit interval."""

SMALLEST = 1e-9
"""Points stay this far from 0 and 1, where quantiles are infinite."""


def points(first: int, last: int, dimensions: int, seed: int) -> Floats:
    """Return points ``first`` to ``last`` - 1 of a sequence, shape (last - first, dimensions), in (0, 1)."""
    numbers = np.arange(first, last, dtype=np.int64)
    columns = [_column(numbers, base, (seed, base)) for base in islice(_primes(), dimensions)]
    return np.clip(np.stack(columns, axis=1), SMALLEST, 1.0 - SMALLEST)


def _column(numbers: np.ndarray[tuple[int, ...], np.dtype[np.int64]], base: int, seed: tuple[int, int]) -> Floats:
    """Return the digits of numbers in a base, permuted and mirrored at the point."""
    random = np.random.default_rng(seed)
    values, rest, unit = np.zeros(len(numbers)), numbers, 1.0
    for _ in range(ceil(log(PLACES, base))):
        unit /= base
        values += random.permutation(base)[rest % base] * unit
        rest = rest // base
    return values


def _primes() -> Iterator[int]:
    return (n for n in count(2) if all(n % divisor for divisor in range(2, int(n**0.5) + 1)))
