"""Noisy counts as drawn, as an attacker observes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.hierarchy import Level
from crowdgate.mechanisms.tables.dp_tables import DpTables
from crowdgate.mechanisms.tables.residuals import ResidualNoise


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """Noisy counts of rows as drawn: an array with an axis for each attribute in `levels`. They count a Bernoulli
    sample at rate `beta` (1: all rows), with noise of variance `variance` in each cell."""

    levels: Mapping[str, Level]
    counts: Integers
    variance: float
    beta: Fraction = Fraction(1)


def noisy_counts_of(mechanism: DpTables, noisy: Sequence[Integers]) -> tuple[NoisyCounts, ...]:
    """Return the noisy tables of counts that one run of the mechanism drew, without its noisy sums."""
    if mechanism.residual_noise is not None:
        return _from_residuals(mechanism, mechanism.residual_noise, noisy)
    lines = zip(mechanism.queries, mechanism.laws, noisy, strict=True)
    return tuple(
        NoisyCounts(linear.levels, values.reshape(linear.shape), law.variance, mechanism.beta)
        for linear, law, values in lines
        if linear.grid is None
    )


def _from_residuals(mechanism: DpTables, noise: ResidualNoise, noisy: Sequence[Integers]) -> tuple[NoisyCounts, ...]:
    """Return the tables that noisy residuals determine, rounded to whole numbers. They say all that residuals say."""
    found = zip(mechanism.queries, noise.estimates(noisy), noise.after, strict=True)
    return tuple(
        NoisyCounts(linear.levels, np.rint(table).astype(np.int64), float(after.flat[0]), mechanism.beta)
        for linear, table, after in found
    )
