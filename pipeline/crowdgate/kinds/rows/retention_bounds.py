"""Bounds on the retention of rows that hold for every table with the given counts of single attributes.

A class never grows with more attributes, so no more rows are retained than by any one attribute. A class that is
suppressed loses its sampled rows, fewer than k: in expectation at most the greatest E[J; J < k] over all class sizes,
for J ~ Bin(size, beta). Both hold for a table with as many people as are expected.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, inf
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.risk.retention import sampled_retention

if TYPE_CHECKING:
    from crowdgate.arrays import Floats
    from crowdgate.kind.prior import ExpectedCounts

ROUNDING = 1e-9
"""Relative error of the greatest loss, by far."""
SIZES = 8
"""Class sizes up to SIZES k / beta are tried for the greatest loss, which is below k / beta (larger classes are
practically never suppressed)."""


@dataclass(frozen=True)
class RetentionBounds:
    """The least and the greatest share of the sampled rows that is retained in expectation, and number of retained
    classes."""

    least_share: float
    greatest_share: float
    least_classes: float
    greatest_classes: float


def retention_bounds(joint: ExpectedCounts, k: int, beta: Fraction) -> RetentionBounds:
    """Return the bounds for all tables whose single attributes are counted as in `joint`."""
    margins = [_margin(joint.people, at) for at in range(joint.people.ndim)]
    people = float(joint.people.sum())
    cells = min(float(np.count_nonzero(joint.people)), people)
    sampled = float(beta) * people
    greatest = min((sampled_retention(each, k, beta).share for each in margins), default=1.0)
    least = max(0.0, 1 - cells * greatest_loss(k, beta) / sampled) if sampled else 0.0
    largest = min((float(each.max()) for each in margins), default=inf)
    share = min(least, greatest)
    return RetentionBounds(share, greatest, share * sampled / largest, min(cells, greatest * sampled / k))


@cache
def greatest_loss(k: int, beta: Fraction) -> float:
    """Return the greatest expected number of sampled rows that a class loses by suppression, over all class sizes."""
    sizes = np.arange(1, ceil(SIZES * k / float(beta)) + 1, dtype=np.float64)
    return float(sampled_retention(sizes, k, beta).missing.max()) * float(beta) * (1 + ROUNDING)


def _margin(people: Floats, at: int) -> Floats:
    others = tuple(axis for axis in range(people.ndim) if axis != at)
    return np.asarray(np.rint(people.sum(axis=others)))
