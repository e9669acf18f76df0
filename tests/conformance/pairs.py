"""Pairwise testing: few rows that cover every pair of values of any two axes.

A fault of any two values is met by some row. By default a value of an axis of more than LONG, the sources, is met once:
its pairs are `soak`, as they would take most of the time of all tests.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from itertools import combinations, product
from typing import Any

import pytest

Values = tuple[Hashable, ...]
Axis = Sequence[Hashable]
Pair = tuple[Hashable, ...]
LONG = 12
"""The most values of an axis whose pairs are all tested by default."""


def pairs_of(row: Values, single: Collection[int] = ()) -> set[Pair]:
    """Return the pairs of values in one row, each with the numbers of its axes. Values of the axes in `single` have no
    pairs."""
    paired = [i for i in range(len(row)) if i not in single]
    return {(i, row[i], j, row[j]) for i, j in combinations(paired, 2)} | {(i, row[i]) for i in single}


def covering(axes: Sequence[Axis], single: Collection[int] = ()) -> list[Values]:
    """Return rows that cover every pair, and each value of the axes in `single`, chosen greedily: the first of those
    with most that is uncovered."""
    rows: list[Values] = list(product(*axes))
    if len(axes) < 2:
        return rows
    open_pairs, chosen = set().union(*(pairs_of(row, single) for row in rows)), []
    while open_pairs:
        best = max(rows, key=lambda row: len(pairs_of(row, single) & open_pairs))
        chosen.append(best)
        open_pairs -= pairs_of(best, single)
    return chosen


def parameters(axes: Sequence[Axis], name: Callable[[Any], str]) -> list[Any]:
    """Return the whole product as parameters of a test; rows that are not needed by default are marked `soak`."""
    few = set(covering(axes, [at for at, axis in enumerate(axes) if len(axis) > LONG]))
    return [
        pytest.param(row, id="-".join(map(name, row)), marks=() if row in few else (pytest.mark.soak,))
        for row in product(*axes)
    ]
