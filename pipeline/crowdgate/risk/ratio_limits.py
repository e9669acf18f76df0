"""Limits of a ratio of counts over all tables whose margins lie in a box, by linear programming.

Let x >= 0 be the counts of the cells of a table, l <= M x <= u the box of its margins, and p x / q x the ratio, with q
>= 0 and a lower limit s > 0 of q x. In y = x / q x and t = s / q x the greatest ratio is the greatest p y with (Charnes
and Cooper 1962)

    M y - (u / s) t <= 0,   (l / s) t - M y <= 0,   q y = 1,   0 <= y,   0 <= t <= 1.

The inexactness of the solver never makes limits too narrow: for any multipliers of the first two lines that are at
least 0 and any multiplier m of the third, p y <= m + sum_j max(0, r_j) v_j, with r_j what the multipliers leave of
the objective and v_j an upper limit of the variable (Neumaier and Shcherbina 2004). So limits are computed from the
multipliers that the solver returns, however good these are.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdgate.arrays import Floats

UNIT = 2.0**-51
"""Four times the unit roundoff: a sum of n terms that are products errs by at most (n + 2) 2^-53 of its terms' sizes
(Higham 2002, section 3.1), and limits are sums of such sums.
"""
TOGETHER = 500
"""The largest number of tables in one linear program."""


@dataclass(frozen=True, eq=False)
class MarginBoxes:
    """Boxes around the margins of several tables of the same form.

    `sums` has a line for each margin's cell and a column for each cell of the table: 1 if the cell is part of the sum,
    else 0; the first line is the total of all cells. `lower` and `upper` have a line for each table: limits of the
    sums, from 0 on.
    """

    sums: Any
    lower: Floats
    upper: Floats

    def greatest(self, part: Floats, whole: Floats, least: Floats) -> Floats | None:
        """Return an upper limit of (part x) / (whole x) for each table; None if no counts are in all of the boxes.

        `part` and `whole` have a number for each cell, `whole` from 0 on; `least` has a lower limit of whole x for
        each table, above 0.
        """
        found = []
        for start in range(0, len(self.lower), TOGETHER):
            some = slice(start, start + TOGETHER)
            limits = _greatest(self.sums, self.lower[some], self.upper[some], part, whole, least[some])
            if limits is None:
                return None
            found.append(limits)
        return np.concatenate(found) if found else np.zeros(0)


def _greatest(sums: Any, lower: Floats, upper: Floats, part: Floats, whole: Floats, least: Floats) -> Floats | None:
    from scipy.optimize import linprog
    from scipy.sparse import block_diag, csr_array, eye_array, hstack, kron, vstack

    tables, cells = len(lower), len(part)
    high, low = upper / least[:, None], lower / least[:, None]
    margins = kron(eye_array(tables), sums)
    ends = [block_diag([-each[:, None] for each in side]) for side in (high, -low)]
    limits: Any = csr_array(vstack([hstack([margins, ends[0]]), hstack([-margins, ends[1]])]))
    equal: Any = csr_array(hstack([kron(eye_array(tables), whole[None]), csr_array((tables, tables))]))
    gain = np.concatenate([np.tile(part, tables), np.zeros(tables)])
    bounds = [(0, None)] * (tables * cells) + [(0, 1)] * tables
    solved = linprog(-gain, limits, np.zeros(limits.shape[0]), equal, np.ones(tables), bounds, method="highs")
    if solved.status != 0:
        return None
    multipliers, level = np.maximum(-solved.ineqlin.marginals, 0), -solved.eqlin.marginals
    left = np.maximum(gain - limits.T @ multipliers - equal.T @ level, 0)
    missed = left[: tables * cells].reshape(tables, cells).sum(axis=1) * high[:, 0] + left[tables * cells :]
    slack = _rounding(np.abs(gain) + abs(limits).T @ multipliers + abs(equal).T @ np.abs(level), high[:, 0], cells)
    return np.asarray(level + missed + (limits.shape[0] + cells) * UNIT * (np.abs(level) + slack))


def _rounding(sizes: Floats, most: Floats, cells: int) -> Floats:
    """Return for each table the sum of the sizes of all terms of its limit, of which `most` bounds a cell."""
    tables = len(most)
    return np.asarray(sizes[: tables * cells].reshape(tables, cells).sum(axis=1) * most + sizes[tables * cells :])
