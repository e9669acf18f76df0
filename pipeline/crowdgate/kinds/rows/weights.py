"""Weights of released rows by their margins: computed, and recomputed for verification."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import fsum

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.histogram import Histogram
from crowdgate.kinds.rows.candidate import Lookup, PublishedMargin, Sizes
from crowdgate.kinds.rows.manifest_fields import Calibration
from crowdgate.kinds.rows.margins import cells
from crowdgate.mechanisms.rows import calibration as ridge
from crowdgate.mechanisms.rows import integer_calibration

RIDGE: Calibration = "ridge"
"""The calibration of earlier releases, in floating point."""
NEAR_UNITS, NEAR = 5, 1e-4
"""Tolerance of its weights between two machines: units, and a share of the weight."""


def bounds(beta: Fraction) -> tuple[Fraction, Fraction]:
    """Return the least and the greatest weight that a released row may have; without margins each weight would be 1 /
    beta."""
    return ridge.LEAST / beta, ridge.MOST / beta


def weights_of(
    rows: Histogram,
    beta: Fraction,
    margins: Sequence[PublishedMargin],
    lookup: Lookup,
    sizes: Sizes,
    sweeps: int | None = None,
) -> Integers:
    """Return the weight of each class of released rows, in units (GRID to a weight of 1), by calibration to the
    margins; 1 / beta for all classes if that leaves the shares of single values nearer to their margins. Fewer `sweeps`
    are for forecasts alone."""
    every = _constraints(rows, margins, lookup, sizes)
    last = [each for each, margin in zip(every, margins, strict=True) if len(margin.levels) <= 1]
    found = integer_calibration.calibrate(rows.counts, every, last, 1 / beta, sweeps)
    equal = np.full(len(rows), integer_calibration.design_units(1 / beta), dtype=np.int64)
    ways = [(each, cells(rows, each.levels, lookup, sizes)) for each in margins if len(each.levels) <= 1]
    return found if _distance(rows, found, ways) <= _distance(rows, equal, ways) else equal


def _distance(rows: Histogram, weights: Integers, ways: Sequence[tuple[PublishedMargin, Integers]]) -> float:
    """Return the sum of squared differences between the shares by weighted rows and by margins of one column. The sum
    is rounded correctly, so it is the same on every machine."""
    people = max(1.0, *(float(margin.value[0]) for margin, _ in ways if not margin.levels))
    weighted = rows.counts * weights
    whole = max(1, int(weighted.sum()))
    squares: list[float] = []
    for margin, cell in (each for each in ways if each[0].levels):
        sums = np.zeros(len(margin.value), dtype=np.int64)
        np.add.at(sums, cell, weighted)
        squares += np.square(sums / whole - margin.value / people).tolist()
    return fsum(squares)


def weights_problems(weights: Integers, found: Integers, calibration: Calibration) -> Iterator[str]:
    """Yield a problem if the weights differ from those that rows and margins give, `found`. Only weights of the
    calibration `ridge` have a tolerance: they were computed in floating point."""
    allowed = NEAR_UNITS + NEAR * found if calibration == RIDGE else np.zeros(len(found))
    if (np.abs(weights - found) > allowed).any():
        yield "the weights of the rows differ from those that follow from rows and margins"


def recomputed_weights(
    rows: Histogram,
    beta: Fraction,
    margins: Sequence[PublishedMargin],
    lookup: Lookup,
    sizes: Sizes,
    calibration: Calibration,
) -> Integers:
    """Return the weights that rows and margins give by the calibration of the manifest."""
    return (ridge_weights if calibration == RIDGE else weights_of)(rows, beta, margins, lookup, sizes)


def ridge_weights(
    rows: Histogram, beta: Fraction, margins: Sequence[PublishedMargin], lookup: Lookup, sizes: Sizes
) -> Integers:
    """Return the weights of a release that states the calibration `ridge`; 1 / beta for all classes if margins are too
    noisy to give weights."""
    try:
        return ridge.calibrate(rows.counts, _constraints(rows, margins, lookup, sizes), 1 / beta).weights
    except ArithmeticError:
        return np.full(len(rows), round(ridge.GRID / beta), dtype=np.int64)


def _constraints(
    rows: Histogram, margins: Sequence[PublishedMargin], lookup: Lookup, sizes: Sizes
) -> tuple[ridge.NoisyMargin, ...]:
    return tuple(_constraint(rows, margin, lookup, sizes) for margin in margins)


def _constraint(rows: Histogram, margin: PublishedMargin, lookup: Lookup, sizes: Sizes) -> ridge.NoisyMargin:
    cell = cells(rows, margin.levels, lookup, sizes)
    return ridge.NoisyMargin(cell, margin.unbiased, np.square(margin.error), margin.lower, margin.upper)
