"""Scores of generalisation schemes for a private selection: whole numbers that one row changes by at most SENSITIVITY.

A score sums a function of the class sizes, held as a table of its increments: the gain of the score when one more row
joins a class of n. Increments are in units of the exact sensitivity / SENSITIVITY, rounded, and limited to
0..SENSITIVITY. So adding one row raises each scheme's score by at most SENSITIVITY and lowers none, despite rounding:
scores move together, and the selection pays the sensitivity once, not twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.accounting.numbers import up
from crowdgate.accounting.sensitivity import expected_kept_rows
from crowdgate.arrays import Floats, Integers
from crowdgate.histogram import Histogram
from crowdgate.mechanisms.rows.lattice import SchemeLattice, field_width, totals
from crowdgate.system import lazy_libraries

if TYPE_CHECKING:
    from crowdgate.hierarchy import Level

SENSITIVITY = 1 << 30
"""Sensitivity of each score here, for adding or removing one row. Sums fit into 64 bits up to 2^33 rows."""
_NEGLIGIBLE = 2.0**-32


@dataclass(frozen=True, eq=False)
class RetentionTable:
    """The expected number of retained rows of a class: E[J 1(J >= k)], J ~ Bin(class size, beta), in whole units.

    `curve[n]` is its value for a class of n rows minus n times `slope`, its final increment, and is constant after the
    last entry. `unit` is the number of rows that 1 represents.
    """

    curve: Integers
    slope: int
    unit: float

    def __call__(self, sizes: Integers) -> Integers:
        """Return the expected number of retained rows, in units of the table, for each of these class sizes."""
        return self.curve.take(sizes, mode="clip") + self.slope * sizes

    def total(self, sizes: Integers, rows: int) -> int:
        """Return the expected number of retained rows, in units of the table, of all these classes together. `rows` is
        the sum of the class sizes."""
        return int(self.curve.take(sizes, mode="clip").sum()) + self.slope * rows


def retention_table(k: int, beta: Fraction, most: int) -> RetentionTable:
    """Return the table of expected retained rows for classes of up to `most` rows, at sampling rate beta, where classes
    of fewer than k sampled rows are suppressed. No entry depends on `most`.

    Increments are beta (P(Bin(n, beta) >= k) + k P(Bin(n, beta) = k - 1)): a row is sampled, and then either retained
    itself, or completes a class whose k rows are now published. They rise to the sensitivity near n = k / beta and fall
    to beta.
    """
    b = up(beta)
    unit = expected_kept_rows(k, beta) / SENSITIVITY
    end = min(most, _settled_size(k, b))
    sizes = np.arange(end, dtype=np.int64)
    steps = np.minimum(np.rint(_increments(sizes, k, b) / unit), SENSITIVITY).astype(np.int64)
    slope = min(round(b / unit), SENSITIVITY)
    curve = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(steps - slope)])
    return RetentionTable(curve, slope, unit)


def _settled_size(k: int, b: float) -> int:
    """Return a class size from which one more row adds at most beta (1 + 2^-32) expected retained rows. It depends only
    on k and the sampling rate b."""
    size = ceil(k / b) + k
    while _increments(np.array([size]), k, b)[0] > b * (1 + _NEGLIGIBLE):
        size += ceil(k / b)
    return size


def _increments(sizes: Integers, k: int, b: float) -> Floats:
    """Return how many expected retained rows one more row adds to a class of n rows, for each n in `sizes`, at sampling
    rate b; with a relative error of at most 1e-9."""
    gain = np.zeros(len(sizes))
    able = sizes >= k - 1
    n = sizes[able].astype(np.float64)
    rest = n - k + 1
    if b >= 1:
        gain[able] = np.where(rest > 0, 1.0, float(k))
        return gain
    at_least = np.where(rest > 0, lazy_libraries.special.betainc(k, np.maximum(rest, 1), b), 0.0)
    ways = (
        lazy_libraries.special.gammaln(n + 1)
        - lazy_libraries.special.gammaln(k)
        - lazy_libraries.special.gammaln(rest + 1)
    )
    log_mass = ways + (k - 1) * log(b) + rest * np.log1p(-b)
    gain[able] = b * (at_least + k * np.exp(np.minimum(log_mass, 0.0)))
    return gain


def expected_kept_rows_of(
    lattice: SchemeLattice, full: Histogram, kept: RetentionTable, _: Mapping[str, Fraction]
) -> list[int]:
    """Return for each scheme the expected number of rows retained after sampling and suppression, in units of
    `kept.unit` rows.

    One row more or less changes one class of each scheme by one row, so the score by at most the greatest increment.
    """
    rows = full.rows
    return totals(lattice, full, lambda sizes, _: kept.total(sizes, rows))


def expected_kept_information_of(
    lattice: SchemeLattice, full: Histogram, kept: RetentionTable, weights: Mapping[str, Fraction]
) -> list[int]:
    """Return for each scheme the expected retained rows, in units of `kept.unit` rows, times the share of information
    in its levels, relative to the greatest share of a scheme.

    The share is the mean over attributes, weighted by `weights` (1 by default), of ln(values of the level) / ln(values
    of the exact domain); 1 for an attribute of one value. The share is public. With an integer weight w of at most
    SENSITIVITY a score T becomes floor(w T / SENSITIVITY): for 0 <= d <= SENSITIVITY this grows from T to T + d by at
    least 0 and at most ceil(w d / SENSITIVITY) <= SENSITIVITY.
    """
    share = lattice.weights(lambda name, level: float(weights.get(name, 1)) * information(level))
    relative = [min(SENSITIVITY, round(SENSITIVITY * float(part))) for part in share / (share.max() or 1.0)]
    scores = expected_kept_rows_of(lattice, full, kept, weights)
    return [part * score // SENSITIVITY for part, score in zip(relative, scores, strict=True)]


def information(level: Level) -> float:
    """Return ln(values of the level) / ln(values of the exact domain), from 0 at one value to 1."""
    exact = len(level.of_values)
    return log(len(level)) / log(exact) if exact > 1 else 1.0


def classification_of(
    lattice: SchemeLattice, full: Histogram, kept: RetentionTable, _: Mapping[str, Fraction]
) -> list[int]:
    """Return for each scheme the expected retained rows that a majority vote in each class predicts correctly, in units
    of `kept.unit` rows. Classes are those of the attributes other than the target (`lattice.last`, at one level).

    Sensitivity: one row more changes one cell (class, value) of each scheme from n to n + 1 rows. The class's term is
    the maximum over its values of one increasing function of their sizes; when one argument of a maximum grows by 0 <=
    d <= SENSITIVITY, so does the maximum by between 0 and d. The other classes do not change.
    """
    assert lattice.last is not None
    target_bits = field_width(len(lattice.candidates[lattice.last][0]))

    def majority(sizes: Integers, apart: Integers) -> int:
        starts = np.flatnonzero(apart >= 1 << target_bits)
        return int(np.maximum.reduceat(kept(sizes), starts).sum()) if len(starts) else 0

    return totals(lattice, full, majority)


Score = Callable[[SchemeLattice, Histogram, RetentionTable, Mapping[str, Fraction]], list[int]]

SCORES: dict[str, Score] = {
    "expected_kept_rows": expected_kept_rows_of,
    "expected_kept_information": expected_kept_information_of,
    "classification": classification_of,
}
"""Scores by name. Each has sensitivity SENSITIVITY, and no score falls when a row is added."""
