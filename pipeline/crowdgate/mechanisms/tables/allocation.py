"""Division of the noise budget between tables, for the least errors after consistency.

Tables that share margins inform each other, so a margin needs less budget of its own than its cells suggest. With
w = 1/variance for each table, the variances of all cells after consistency add up to sum_j C_j / (sum_i w_i A_ij) over
the common coordinates j (`orthogonal`): A_ij is the square of coordinate j in table i, C_j = sum_i A_ij. This is convex
in the budgets. The parts are found by multiplicative steps, which solve separate tables at once. Where groups of a
level are uneven, the sum is a bound.

The sum is that of unbiased estimates. In sparse tables, values from 0 on gain by larger parts for coarse tables.

Noise that is independent in all cells of a table knows the margins that several tables share better than the least sum
needs. Errors are 1 to 6 % above the least where all margins are in the workload, 1 to 8 % where they are not, and 20 %
for attributes of two values. No further margin helps. Noise on the residuals of tables does (`residuals`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.accounting.tables_plan import NoiseKind, split_budget
from crowdgate.arrays import Floats
from crowdgate.mechanisms.tables.orthogonal import Orthogonal

if TYPE_CHECKING:
    from crowdgate.mechanisms.tables.workload import LinearQuery

_ROUNDS = 300
_WORK = 2e7
"""Bound on the coordinates that all rounds process, about half a second."""
_TOTAL = 0.01
"""The least part of a table with one cell: the error of a total is read more often than those of cells."""
_SMALLEST = 1e-9
"""The least part between steps, so that no weight is lost."""
_NEAR = 1e-5
"""Steps end once no part changes by more than this, in parts of the largest."""
_LEAST = 0.02
"""The least part of any other table, in parts of an equal one."""


def least_error_budget(queries: Sequence[LinearQuery], total: Fraction, noise: NoiseKind) -> tuple[Fraction, ...]:
    """Return the budget of each query: stated shares, and of the rest the parts with the least sum of variances over
    all cells after consistency, each in multiples of the contribution of one row. They add up to `total` exactly unless
    all shares are stated. Raises ValueError for invalid shares.
    """
    equal = split_budget([linear.query for linear in queries], Fraction(1), noise, "equal")
    free = np.array([linear.query.share is None for linear in queries])
    if not free.any():
        return tuple(total * share for share in equal)
    rest = sum((share for share, own in zip(equal, free, strict=True) if own), Fraction(0))
    parts = _parts(queries, np.array([float(share) for share in equal]), free, 1 / 2 if noise == "gaussian" else 1 / 3)
    exact = [Fraction(part).limit_denominator(10**9) for part in parts[free].tolist()]
    shares = iter([rest * part / sum(exact) for part in exact])
    return tuple(total * (next(shares) if own else share) for share, own in zip(equal, free, strict=True))


def _parts(queries: Sequence[LinearQuery], start: Floats, free: Floats, power: float) -> Floats:
    """Return the budgets after all steps from `start`, of which those of `free` queries change."""
    gains, rest, parts = _Gains.of(queries), float(start[free].sum()), start
    cells = sum(linear.query.cells for linear in queries)
    least = np.where([linear.query.cells == 1 for linear in queries], _TOTAL, _LEAST / len(queries)) * rest
    for _ in range(max(20, min(_ROUNDS, int(_WORK / cells)))):
        weights = parts if power == 1 / 2 else np.square(parts)
        slopes = gains.slopes(weights) * (1 if power == 1 / 2 else parts)
        moved, before = parts * slopes**power, parts
        parts = np.where(free, np.maximum(moved / moved[free].sum(), _SMALLEST) * rest, start)
        if np.abs(parts - before).max() <= _NEAR * parts.max():
            break
    raised = np.maximum(parts, least)
    return np.where(free, rest * raised / raised[free].sum(), start)


class _Gains:
    """The decrease of the sum of variances for a small increase of each query's 1/variance."""

    def __init__(self, queries: Sequence[LinearQuery], counts: Sequence[int], tables: Orthogonal | None) -> None:
        self._cells = np.array([linear.query.cells for linear in queries], dtype=np.float64)
        self._counts, self._ids = list(counts), None if tables is None else tables.ids
        self._squares = [] if tables is None else tables.squares
        self._ends = np.cumsum([len(each) for each in self._squares])[:-1]

    @classmethod
    def of(cls, queries: Sequence[LinearQuery]) -> _Gains:
        """Return the gains of queries: counts are made consistent, others are published as drawn."""
        counts = [at for at, linear in enumerate(queries) if linear.grid is None]
        tables = Orthogonal.of([queries[at].levels for at in counts], [1.0] * len(counts)) if counts else None
        return cls(queries, counts, tables)

    def slopes(self, weights: Floats) -> Floats:
        """Return the decrease for each query at these `weights`, its 1/variances."""
        out = self._cells / np.square(weights)
        if self._ids is not None:
            own = np.concatenate([w * each for w, each in zip(weights[self._counts], self._squares, strict=True)])
            known = np.bincount(self._ids, own)
            wanted = np.bincount(self._ids, np.concatenate(self._squares))
            each = np.split((wanted / np.square(known))[self._ids], self._ends)
            out[self._counts] = [float(a @ g) for a, g in zip(self._squares, each, strict=True)]
        return np.asarray(out)
