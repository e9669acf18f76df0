"""The joint distribution that tables of some attributes determine, with a bound on the distance of a fit from it.

Of all distributions with these tables as margins, J* is the one nearest to a base in relative entropy. A fit multiplies
the base by a factor for each cell of each table: call it J. Let F be any distribution with these margins. Then KL(J*,
J) <= KL(F, J): ln(J / base) is a sum of functions of the tables' cells, so its mean is equal under J* and F, and KL(J*,
base) is at most KL(F, base) (Csiszar 1975, "I-divergence geometry"). By Pinsker's inequality sum |J* - J| <= sqrt(2
KL(F, J)).

F is J (1 + x), where x is the least change (in sum J x^2) that gives J the margins. x is itself a sum of functions of
the tables' cells, so J exp(x) is a better fit (Newton's method on the dual problem), until the bound is small enough.
If tables contradict each other there is no F. If they imply empty cells that no single table shows to be empty, the fit
converges too slowly: the result is not certified either.
"""

from collections.abc import Sequence

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.risk.joint import KnownMargin, fitted, margin, spread

DISTANCE = 1e-12
"""Largest distance of a certified distribution from J*: the sum of absolute differences of shares."""
STEPS = 20
_ROUNDING = 1e-13
"""Tolerance for margins in float64, in the sum over a table."""
_SOLVED = 1e-8
_FAST = 10
"""Steps taken at once if a step only empties cells: a single one leaves 1/e of them."""


def nearest(base: Floats, tables: Sequence[KnownMargin]) -> Floats | None:
    """Return the shares of the distribution with these exact tables as margins that is nearest to `base`, within
    DISTANCE; None if this can't be certified."""
    law = fitted(base, tables)
    law /= law.sum()
    shares = [KnownMargin(table.axes, table.counts / table.counts.sum(), table.variance) for table in tables]
    for _ in range(STEPS):
        change = _change(law, shares)
        if _has_margins(law * (1 + change), shares) and change.min() >= -1 and _distance_bound(law, change) <= DISTANCE:
            return law
        law = _next_law(law, change)
    return None


def _next_law(law: Floats, change: Floats) -> Floats:
    """Return a better fit: `law` times e^x, with x = `change`, scaled to sum 1. Each distribution F with the margins
    has an equal mean of x, so it gives the cells with x < -1/2 at most 2 (max x - mean); if that is within rounding,
    they are set to 0."""
    gone, mean = change < -0.5, float((law * (1 + change) * change).sum())
    empty = 2 * (float(change.max()) - mean) <= _ROUNDING
    pace = _FAST if change.min() < -0.9 and change.max() < 1 / _FAST**2 else 1
    moved = np.where(gone & empty, 0, law * np.exp(pace * np.clip(change, -1, 1)))
    return np.asarray(moved / moved.sum())


def _has_margins(law: Floats, tables: Sequence[KnownMargin]) -> bool:
    return all(float(np.abs(table.counts - margin(law, table)).sum()) <= _ROUNDING for table in tables)


def _distance_bound(law: Floats, change: Floats) -> float:
    """Return Pinsker's bound sqrt(2 KL) on the distance of `law` from the nearest distribution. KL(law (1 + x), law),
    with x = `change`, is the mean of (1 + x) ln(1 + x) - x."""
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(change > -1, (1 + change) * np.log1p(change) - change, 1.0)
    return float(np.sqrt(2 * max(float((law * each).sum()), 0.0)))


def _change(law: Floats, tables: Sequence[KnownMargin]) -> Floats:
    """Return for each cell the least relative change, by least squares, that gives a distribution the margins."""
    root = np.sqrt(law)
    scales = [np.divide(1, np.sqrt(t.counts), out=np.zeros_like(t.counts), where=t.counts > 0) for t in tables]
    ends = np.cumsum([table.counts.size for table in tables])

    def margins(change: Floats) -> Floats:
        moved = root * change.reshape(law.shape)
        return np.concatenate([(scale * margin(moved, t)).ravel() for scale, t in zip(scales, tables, strict=True)])

    def factors(each: Floats) -> Floats:
        summed = np.zeros(law.shape)
        for part, scale, table in zip(np.split(each, ends[:-1]), scales, tables, strict=True):
            summed = summed + spread(scale * part.reshape(scale.shape), table, law.shape)
        return np.asarray((root * summed).ravel())

    from scipy.sparse.linalg import LinearOperator, lsqr

    operator = LinearOperator((int(ends[-1]), law.size), matvec=margins, rmatvec=factors, dtype=np.float64)
    short = [(scale * (t.counts - margin(law, t))).ravel() for scale, t in zip(scales, tables, strict=True)]
    found = lsqr(operator, np.concatenate(short), atol=_SOLVED, btol=_SOLVED, conlim=0, iter_lim=1000)[0]
    return np.divide(found.reshape(law.shape), root, out=np.zeros(law.shape), where=root > 0)
