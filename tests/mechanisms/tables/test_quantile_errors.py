"""Stated errors of quantiles of many small groups against the errors that occur, by the published size of groups."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from crowdgate.arrays import Bools, Floats
from crowdgate.mechanisms.tables.quantiles import KnownBins, known_quantiles
from tests.mechanisms.tables.tables import quantile_bins

GROUPS, BINS, NOISE, DRAWS, SEED = 60, 12, 6.0, 50, 20301104
HALF, ONE = Fraction(1, 2), Fraction(1)
STRATA = ((3.0, 4.0), (4.0, 6.0), (6.0, 15.0))
"""Published rows of a group in standard errors of the noise on them."""


def releases() -> Iterator[tuple[KnownBins, Floats]]:
    """Yield what is known of the bins of groups of 1 to 200 rows of like shapes, and their true counts."""
    random = np.random.default_rng(SEED)
    shape = np.exp(-0.5 * np.square((np.arange(BINS) - 4) / 2.0))
    for _ in range(DRAWS):
        shapes = random.dirichlet(15 * shape / shape.sum() + 0.1, GROUPS)
        rows = np.exp(random.uniform(0, np.log(200), GROUPS)).astype(int)
        true = np.array([random.multinomial(n, own) for n, own in zip(rows, shapes, strict=True)], dtype=np.float64)
        drawn = true + np.rint(random.normal(0, NOISE, true.shape))
        yield KnownBins(drawn, np.full(true.shape, NOISE**2), np.inf), true


def squares() -> dict[tuple[float, float], tuple[float, float, float, int]]:
    """Return the sums of squares that occur, that are stated, and that occur with each group's own counts alone, and
    the number of groups, by stratum."""
    sums = {stratum: np.zeros(4) for stratum in STRATA}
    for known, true in releases():
        bins, errors = (each[..., 0] for each in known_quantiles(known, [HALF], ONE))
        right, alone = quantile_bins(true, HALF), quantile_bins(known.estimates, HALF)
        size = known.estimates.sum(axis=-1) / (NOISE * BINS**0.5)
        for low, high in STRATA:
            inside: Bools = (size >= low) & (size < high) & (bins >= 0)
            parts = (np.square(each[inside]).sum() for each in (bins - right, errors, alone - right))
            sums[low, high] += [*parts, inside.sum()]
    return {stratum: (float(a), float(b), float(c), int(n)) for stratum, (a, b, c, n) in sums.items()}


# Seeded; N = 50 releases of 60 groups, at least 100 a stratum: a ratio of root mean squares of heavy-tailed distances
# has a standard error below .06. Rule: .85 to 1.15, 2.5 of these around 1.0.
@pytest.mark.statistical
def test_stated_errors_of_quantiles_are_those_that_occur_in_groups_of_any_size() -> None:
    for stratum, (occurring, stated, _, number) in squares().items():
        assert number > 100
        assert 0.85 < np.sqrt(stated / occurring) < 1.15, (stratum, np.sqrt(stated / occurring))


# Seeded; the same releases: ratios have a standard error below .06.
@pytest.mark.statistical
def test_quantiles_of_small_groups_are_nearer_with_the_shape_of_the_others() -> None:
    for (_, high), (occurring, _, alone, _) in squares().items():
        assert np.sqrt(occurring / alone) < (0.8 if high <= 4 else 1.0), high


def test_one_group_has_no_other_groups() -> None:
    known = KnownBins(np.array([5.0, 20.0, 5.0]), np.full(3, 4.0), np.inf)
    bins, errors = known_quantiles(known, [HALF], ONE)
    assert bins.tolist() == [1]
    assert 0 < float(errors[0]) < 0.5


def test_quantiles_of_a_group_of_few_rows_are_not_given_and_others_never_fall() -> None:
    counts = np.array([[3.0, 7.0, 0.0], [4.0, 9.0, 2.0]])
    bins, errors = known_quantiles(KnownBins(counts, np.full((2, 3), 4.0), np.inf), [3 * HALF / 2, HALF, HALF / 2], ONE)
    assert bins[0].tolist() == [-1, -1, -1]
    assert np.isnan(errors[0]).all()
    assert bins[1, 0] >= bins[1, 1] >= bins[1, 2] >= 0
