"""Weights of released rows by their margins: computed, and recomputed for verification."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.histogram import Histogram
from crowdgate.kinds.rows.candidate import Lookup, PublishedMargin, Sizes
from crowdgate.kinds.rows.margins import cells
from crowdgate.mechanisms.rows import calibration

NEAR_UNITS, NEAR = 5, 1e-4
"""Tolerance of weights between two machines: units, and a share of the weight."""


def bounds(beta: Fraction) -> tuple[Fraction, Fraction]:
    """Return the least and the greatest weight that a released row may have; without margins each weight would be 1 /
    beta."""
    return calibration.LEAST / beta, calibration.MOST / beta


def weights_of(
    rows: Histogram, beta: Fraction, margins: Sequence[PublishedMargin], lookup: Lookup, sizes: Sizes
) -> Integers:
    """Return the weight of each class of released rows, in units (GRID to a weight of 1), by calibration to the
    margins; 1 / beta for all classes if margins are too noisy to give weights."""
    try:
        return calibration.calibrate(rows.counts, _constraints(rows, margins, lookup, sizes), 1 / beta).weights
    except ArithmeticError:
        return np.full(len(rows), round(calibration.GRID / beta), dtype=np.int64)


def weights_problems(
    rows: Histogram, weights: Integers, beta: Fraction, margins: Sequence[PublishedMargin], lookup: Lookup, sizes: Sizes
) -> Iterator[str]:
    """Yield a problem if the weights differ from those that rows and margins give."""
    found = weights_of(rows, beta, margins, lookup, sizes)
    if (np.abs(weights - found) > NEAR_UNITS + NEAR * found).any():
        yield "the weights of the rows differ from those that follow from rows and margins"


def _constraints(
    rows: Histogram, margins: Sequence[PublishedMargin], lookup: Lookup, sizes: Sizes
) -> tuple[calibration.NoisyMargin, ...]:
    return tuple(_constraint(rows, margin, lookup, sizes) for margin in margins)


def _constraint(rows: Histogram, margin: PublishedMargin, lookup: Lookup, sizes: Sizes) -> calibration.NoisyMargin:
    cell = cells(rows, margin.levels, lookup, sizes)
    return calibration.NoisyMargin(cell, margin.unbiased, np.square(margin.error), margin.lower, margin.upper)
