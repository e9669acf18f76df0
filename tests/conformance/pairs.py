"""Pairwise testing: few rows that cover every pair of values of any two axes.

A fault of any two values is met by some row.
"""

from collections.abc import Callable, Hashable, Sequence
from itertools import combinations, product
from typing import Any

import pytest

Values = tuple[Hashable, ...]
Axis = Sequence[Hashable]
Pair = tuple[int, Hashable, int, Hashable]


def pairs_of(row: Values) -> set[Pair]:
    """Return the pairs of values in one row, each with the numbers of its axes."""
    return {(i, row[i], j, row[j]) for i, j in combinations(range(len(row)), 2)}


def covering(axes: Sequence[Axis]) -> list[Values]:
    """Return rows that cover every pair, chosen greedily: the first of those with most uncovered pairs."""
    rows: list[Values] = list(product(*axes))
    if len(axes) < 2:
        return rows
    open_pairs, chosen = set().union(*map(pairs_of, rows)), []
    while open_pairs:
        best = max(rows, key=lambda row: len(pairs_of(row) & open_pairs))
        chosen.append(best)
        open_pairs -= pairs_of(best)
    return chosen


def parameters(axes: Sequence[Axis], name: Callable[[Any], str]) -> list[Any]:
    """Return the whole product as parameters of a test; rows that pairwise testing does not need are marked `soak`."""
    few = set(covering(axes))
    return [
        pytest.param(row, id="-".join(map(name, row)), marks=() if row in few else (pytest.mark.soak,))
        for row in product(*axes)
    ]
