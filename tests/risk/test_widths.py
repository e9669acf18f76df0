import math
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.numbers import Number
from crowdgate.risk import approximations, widths
from crowdgate.risk.bins import Bins
from crowdgate.risk.correlated import bivariate_normal, rectangle
from crowdgate.risk.singletons import expected, variance
from tests.examples import examples


def test_uniform_widths_are_the_closed_form() -> None:
    for k in (1, 2, 10, 300):
        assert approximations.ES_uniform_width(k, 100, 4) == pytest.approx(k * 0.96 ** (k - 1), rel=1e-12)
    parts = [0.3, 0.3, 0.3, 0.1]
    assert expected(widths.uniform(10, 3), 5) == pytest.approx(
        math.fsum(5 * p * (1 - p) ** 4 for p in parts), rel=1e-12
    )
    assert widths.uniform(10, 30).cells == 1
    assert widths.uniform(10, 2).cells == 5


@pytest.mark.parametrize(
    ("k", "step"), [(1, 0.5), (2, 2.0), (80, 0.05), (3000, 0.05), (10**6, 0.3), (50, 0.01), (10**12, 0.5)]
)
def test_exponential_widths_are_the_sum_in_many_digits(k: int, step: float) -> None:
    with mp.workdps(60):
        L, total, i = mp.exp(-mp.mpf(step)), mp.mpf(0), 0
        while True:
            p = L**i * (1 - L)
            term = k * p * (1 - p) ** (k - 1)
            total += term
            i += 1
            if k * L**i < mp.mpf("1e-13"):
                break
    assert approximations.ES_exponential_exact(k, 1, step) == pytest.approx(float(total), rel=1e-11)


@pytest.mark.parametrize(("mu", "width", "k"), [(0, 1, 10), (0.37, 0.5, 200), (-3.2, 4, 5000)])
def test_normal_widths_are_the_sum_in_many_digits(mu: float, width: float, k: int) -> None:
    sigma = 5.289
    with mp.workdps(40):
        ends = [(mp.mpf(i) * mp.mpf(width) - mp.mpf(mu)) / mp.mpf(sigma) for i in range(-130, 131)]
        masses = [mp.ncdf(b) - mp.ncdf(a) for a, b in pairwise(ends)]
        truth = mp.fsum(k * p * (1 - p) ** (k - 1) for p in masses)
    assert approximations.ES_normal_binned_exact(sigma, mu, width, k) == pytest.approx(float(truth), rel=1e-11)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=40).filter(any), st.integers(1, 30), st.integers(1, 6))
def test_half_the_width_never_makes_fewer_singletons(counts: list[int], k: int, width: int) -> None:
    edges = range(len(counts) + 1)
    wide, narrow = (expected(widths.density(edges, counts, each), k) for each in (2 * width, width))
    assert wide <= narrow + 1e-9


def test_a_histogram_is_spread_evenly_between_its_edges() -> None:
    histogram = widths.density([0, 10, 30], [10, 30], 5)
    assert expected(histogram, 3) == pytest.approx(math.fsum(3 * p * (1 - p) ** 2 for p in [0.125] * 2 + [0.1875] * 4))


def test_a_density_and_its_law_agree() -> None:
    edges = np.linspace(-40, 40, 4001)
    mass = np.diff([float(mp.ncdf(x / 5)) for x in edges])
    assert expected(widths.density(edges, mass, 2), 20) == pytest.approx(expected(widths.normal(0, 5, 2), 20), rel=1e-6)


def test_the_best_width_is_the_least_that_leaves_few_enough_alone() -> None:
    def law(width: Number) -> Bins:
        return widths.normal(0, 5.289, width)

    assert expected(law(2), 10) <= 6 < expected(law(1), 10)
    assert widths.best_width(law, [5, 2, 1, "0.5"], 10, 6) == 2
    assert widths.best_width(law, [1, "0.5"], 10, 1) is None


def test_no_width_no_interval() -> None:
    for bad in (0, -1, float("nan"), "1e-12"):
        with pytest.raises(ValueError, match="Delta must"):
            widths.normal(0, 1, bad)
    with pytest.raises(ValueError, match="edges must rise"):
        widths.density([0, 0], [1], 1)


def test_expansions_hold_where_widths_are_small() -> None:
    for k, width in ((5, 0.1), (10, 0.2), (40, 0.05)):
        bins = widths.normal(0, 5, width)
        linear = approximations.ES_normal_linear(5, width, k)
        quadratic = approximations.ES_normal_quadratic(5, width, k)
        truth = expected(bins, k)
        assert linear < truth < quadratic  # Bonferroni
        assert truth == pytest.approx(quadratic, abs=0.02 * k)
        assert variance(bins, k) == pytest.approx(approximations.VarS_slope_normal(5, k) * width, rel=0.3)


def test_a_pair_of_normals_by_their_joint_law() -> None:
    assert expected(bivariate_normal(4.83, 5.289, 0.5028, 1, 1), 10) == pytest.approx(9.683182, abs=1e-6)
    x, y = (widths.normal(0, scale, 2) for scale in (4, 5))
    product = [p * q for p in _all(x) for q in _all(y)]
    truth = math.fsum(7 * p * (1 - p) ** 6 for p in product)
    assert expected(bivariate_normal(4, 5, 0, 2, 2), 7) == pytest.approx(truth, rel=1e-10)
    alone, together = (expected(bivariate_normal(4, 5, rho, 1, 1), 10) for rho in ("0.9", 0))
    assert alone < together


def _all(bins: Bins) -> list[float]:
    return [float(p) for p, many in zip(bins.probabilities, bins.counts, strict=True) for _ in range(int(many))]


@pytest.mark.parametrize("rho", ["0.3", "0.999", "-0.8"])
def test_rectangles_of_a_pair_have_their_masses(rho: str) -> None:
    fine, coarse = (bivariate_normal(1, 2, rho, step, 2 * step) for step in (0.25, 0.5))
    for bins in (fine, coarse):
        assert math.fsum(bins.counts * bins.probabilities) == pytest.approx(1, abs=1e-12)
    with mp.workdps(20):
        r = mp.mpf(rho)
        quadrant = float(mp.mpf(1) / 4 + mp.asin(r) / (2 * mp.pi))  # P(X > 0, Y > 0)
    assert rectangle((0, 99), (0, 99), float(rho)) == pytest.approx(quadrant, abs=1e-12)
    assert rectangle((20, 30), (0, 1), float(rho)) == 0
    big = bivariate_normal(1, 1, rho, 9, 9)
    assert max(_all(big)) == pytest.approx(max(quadrant, 0.5 - quadrant), abs=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("rho", [0.9999, -0.999999999999])
def test_a_pair_that_is_nearly_one_number_is_the_limit(rho: float) -> None:
    bins, line = bivariate_normal(1, 1, rho, 0.5, 0.5), widths.normal(0, 1, 0.5)
    assert math.fsum(bins.counts * bins.probabilities) == pytest.approx(1, abs=1e-12)
    if rho < -0.9999:
        assert expected(bins, 40) == pytest.approx(expected(line, 40), abs=1e-3)
    with mp.workdps(25):
        r, rest = mp.mpf(rho), mp.sqrt(1 - mp.mpf(rho) ** 2)
        ends = (mp.mpf(1) / 4, mp.mpf(3) / 4) if rho > 0 else (-mp.mpf(3) / 4, -mp.mpf(1) / 4)
        turns = sorted({mp.mpf(1) / 4, *(e / r + side * rest for e in ends for side in range(-9, 10)), mp.mpf(3) / 4})
        inside = [t for t in turns if mp.mpf(1) / 4 <= t <= mp.mpf(3) / 4]
        low, high = ends
        law = lambda x: mp.npdf(x) * (mp.ncdf((high - r * x) / rest) - mp.ncdf((low - r * x) / rest))  # noqa: E731
        truth = float(mp.quad(law, inside))
    assert rectangle((0.25, 0.75), (float(low), float(high)), rho) == pytest.approx(truth, abs=1e-12)


def test_a_pair_with_too_many_rectangles_for_its_correlation_is_refused_at_once() -> None:
    for width in (0.001, 1e-5):
        with pytest.raises(ValueError, match="fewer rectangles with a correlation of 0"):
            bivariate_normal(1, 1, 0.999999999999, width * 20, 0.02 * 0.001 / width)
    with pytest.raises(ValueError, match="rho must differ"):
        bivariate_normal(1, 1, 1 - Fraction(1, 10**20), 1, 1)
