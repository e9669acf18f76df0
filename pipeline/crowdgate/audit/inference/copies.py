"""Rows that are in a table twice: a non-member whose twin is a member is no non-member (Francis, Wagner, section 4.6).

A tuple that two or three rows share is one such if no other tuple comes near it: each differs from it in more than
two attributes. Then the rows are substantially more similar to each other than to anything else, which is the paper's
sign of dependent people. All of them are removed together.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.integer]
MOST = 3
"""Rows that may be copies of one another."""
APART = 2
"""In how many attributes another tuple may differ at most to be near."""
LEAST = 6
"""Attributes at least: with fewer every tuple is near another."""


def near_copies(columns: Sequence[Codes], counts: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which distinct tuples (a code array per attribute) are held by a few rows that nothing else is near to."""
    few = (counts > 1) & (counts <= MOST)
    if len(columns) < LEAST or not few.any():
        return np.zeros(len(counts), dtype=bool)
    words = [_scattered(column, at) for at, column in enumerate(columns)]
    whole, alone = np.bitwise_xor.reduce(words), few.copy()
    for left_out in combinations(range(len(columns)), APART):
        key = whole.copy()
        for at in left_out:
            key ^= words[at]
        _, place, held = np.unique(key, return_inverse=True, return_counts=True)
        alone &= held[place] == 1
    return alone


def _scattered(column: Codes, salt: int) -> npt.NDArray[np.uint64]:
    """64 bits of every code: equal codes have equal words (the finaliser of splitmix64; S. Steele et al. 2014)."""
    word = column.astype(np.uint64) + np.uint64((salt + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
