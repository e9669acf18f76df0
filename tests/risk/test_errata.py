"""The formulas of Koot's thesis that are printed wrong: the printed form, where it fails, and the correct one there."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from operator import truediv

import numpy as np
import pytest
from scipy.optimize import brentq

from crowdgate.risk import approximations as ours
from crowdgate.risk.bins import Bins
from crowdgate.risk.kl import collision_excess, groups_needed, kl_to_uniform
from crowdgate.risk.singletons import expected, variance
from crowdgate.risk.widths import exponential, normal
from tests.oracles import koot
from tests.risk.enumerated import law, mean_and_variance


def tilted(gamma: float, bins: int) -> Bins:
    """Return bins of the density gamma (x - 1/2) + 1."""
    at = (np.arange(bins) + 0.5) / bins
    return Bins.from_counts(gamma * (at - 0.5) + 1)


def test_1_the_homogeneous_variance_has_the_exponent_2k_minus_2() -> None:
    """Printed: Var S = k (1-1/N)^(k-1) + k (k-1) (N-1)/N (1-2/N)^(k-2) - k^2 (1-1/N)^(2k-4)."""
    N, k = 4, 3
    first = k * (1 - 1 / N) ** (k - 1) + k * (k - 1) * (N - 1) / N * (1 - 2 / N) ** (k - 2)
    printed = first - k**2 * (1 - 1 / N) ** (2 * k - 4)
    _, truth = mean_and_variance(law([Fraction(1, N)] * N, k, 1))
    assert printed == pytest.approx(-1.125)
    assert float(truth) == pytest.approx(1.08984375)
    assert ours.VarS_homogeneous(N, k) == pytest.approx(float(truth), rel=1e-12)


def test_2_two_singletons_of_a_group_are_in_two_bins() -> None:
    """(5.7) printed: E S_i^2 = k F_i (1-a_i/N)^(k-1) a_i/N + k (k-1) F_i^2 (1-2a_i/N)^(k-2) (a_i/N)^2."""
    sizes, alpha, k, N = (4, 2, 2), (0.5, 1.0, 2.0), 6, 8
    p = [a / N for a in alpha]
    mean = sum(k * F * q * (1 - q) ** (k - 1) for F, q in zip(sizes, p, strict=True))
    same = sum(k * (k - 1) * F**2 * q**2 * (1 - 2 * q) ** (k - 2) for F, q in zip(sizes, p, strict=True))
    cross = sum(
        k * (k - 1) * F * G * q * r * (1 - q - r) ** (k - 2)
        for i, (F, q) in enumerate(zip(sizes, p, strict=True))
        for j, (G, r) in enumerate(zip(sizes, p, strict=True))
        if i != j
    )
    shares = [Fraction(1, 16)] * 4 + [Fraction(1, 8)] * 2 + [Fraction(1, 4)] * 2
    _, truth = mean_and_variance(law(shares, k, 1))
    assert mean + same + cross - mean**2 == pytest.approx(2.59046, abs=1e-5)
    assert float(truth) == pytest.approx(1.78468, abs=1e-5)
    assert ours.VarS_exact(shares, k) == pytest.approx(float(truth), rel=1e-12)


def test_3_the_homogeneous_limit_of_the_variance() -> None:
    """Printed: Var S / N -> a e^-a (1 - a^2 e^-a)."""
    a, N = 0.1, 10**6
    printed = a * math.exp(-a) * (1 - a**2 * math.exp(-a))
    truth = ours.VarS_homogeneous(N, N // 10) / N
    assert printed == pytest.approx(5.6 * truth, rel=0.01)
    assert koot.VarS_limit_homogeneous_corrected(a) == pytest.approx(truth, rel=1e-4)
    at_one = math.exp(-1) * (1 - math.exp(-1))
    assert koot.VarS_limit_homogeneous_corrected(1) == pytest.approx(at_one, rel=1e-12)  # equal only there


def test_4_the_limit_of_a_covariance() -> None:
    """Lemma 4.1 printed: Cov(S_i, S_j) / N -> -a^3 ai^2 fi aj^2 fj e^-(ai+aj)a."""
    alpha, f, a, N = (0.5, 2.0), (2 / 3, 1 / 3), 1.5, 300_000
    (p, q), (F, G), k = (0.5 / N, 2 / N), (2 * N // 3, N // 3), 450_000
    both = math.log(1 - 1 / k) + (k - 2) * math.log1p(-p - q) - (k - 1) * (math.log1p(-p) + math.log1p(-q))
    means = [k * r * math.exp((k - 1) * math.log1p(-r)) * many for r, many in ((p, F), (q, G))]
    truth = means[0] * means[1] * math.expm1(both) / N
    printed = -(a**3) * alpha[0] ** 2 * f[0] * alpha[1] ** 2 * f[1] * math.exp(-2.5 * a)
    assert printed < 0 < truth
    assert koot.CovS_limit_corrected(alpha, f, a) == pytest.approx(truth, rel=1e-3)


def test_5_the_heterogeneous_limit_of_the_variance() -> None:
    """Proposition 5.10 printed: Var S / N -> a sum ai fi e^(-ai a) - a^3 (sum ai^2 fi e^(-ai a))^2."""
    alpha, f, a = np.array([0.5, 1, 2]), np.array([0.5, 0.25, 0.25]), 0.2
    fall = f * np.exp(-alpha * a)
    printed = a * (alpha @ fall) - a**3 * (alpha**2 @ fall) ** 2
    truth = variance(Bins.grouped([0.5, 1, 2], [20_000, 10_000, 10_000]), 8_000) / 40_000
    assert printed == pytest.approx(0.1454, abs=1e-4)
    assert truth == pytest.approx(0.059816, abs=1e-6)
    assert ours.VarS_limit_heterogeneous_corrected(list(alpha), list(f), a) == pytest.approx(truth, rel=1e-4)


def test_6_the_variance_in_terms_of_kappa() -> None:
    """5.3.2 printed: Var S ~ k e^-a (1 - a (a-2) kappa) - k^3/N^2 e^-2a (1 + (4 - 6a) kappa), a = K/N."""
    N, k = 100_000, 30_000
    bins, a = Bins.grouped([0.7, 1.3], [N // 2, N // 2]), 0.3
    kappa, fall = kl_to_uniform(bins), math.exp(-0.3)
    printed = k * fall * (1 - a * (a - 2) * kappa) - k**3 / N**2 * fall**2 * (1 + (4 - 6 * a) * kappa)
    assert printed / N == pytest.approx(0.2111, abs=5e-4)
    assert variance(bins, k) / N == pytest.approx(0.0950, abs=1e-4)
    assert ours.VarS_kl_corrected(k, N, kappa) / N == pytest.approx(0.09527, abs=1e-4)


def test_6_is_the_expansion_of_the_limit_to_the_second_order() -> None:
    for a in (0.2, 0.8, 1.0, 1.7):
        apart = []
        for beta in (0.1, 0.05):
            alpha, f, N = [1 - beta, 1 + beta], [0.5, 0.5], 10**9
            limit = ours.VarS_limit_heterogeneous_corrected(alpha, f, a)
            apart.append(abs(ours.VarS_kl_corrected(round(a * N), N, beta**2 / 2) / N - limit))
        assert apart[1] < apart[0] / 12, a  # a fourth-order error falls to a sixteenth


@pytest.mark.thorough
def test_7_the_limit_of_the_variance_for_a_density() -> None:
    """Proposition 5.11 printed: int a phi (1 - a^2 phi) e^(-phi a) dx."""
    x = (np.arange(10_000) + 0.5) / 10_000
    for gamma, a, printed in ((2.0, 1.0, -0.0263), (1.5, 0.4, 0.20656)):
        phi = gamma * (x - 0.5) + 1
        assert np.mean(a * phi * (1 - a**2 * phi) * np.exp(-phi * a)) == pytest.approx(printed, abs=1e-4)
        truth = variance(tilted(gamma, 3000), round(3000 * a)) / 3000
        assert ours.VarS_limit_linear_density_corrected(gamma, a) == pytest.approx(truth, rel=5e-4)


def test_8_the_mean_in_the_introduction() -> None:
    """5.1 printed: E S ~ a N e^-a (1 + (a/2) (a-2) kappa), "for low values of a increasing in kappa"."""
    N = 10_000
    bins = Bins.grouped([0.7, 1.3], [N // 2, N // 2])
    kappa, truth = kl_to_uniform(bins), expected(bins, N) / N
    printed = math.exp(-1) * (1 - kappa / 2)
    assert [truth, printed] == pytest.approx([0.35097, 0.35947], abs=2e-5)
    assert ours.ES_kl(N, N, kappa) / N == pytest.approx(0.35107, abs=2e-5)
    assert truth < expected(Bins.uniform(N), N) / N  # falling, not rising, where a < 2


def test_9_where_the_mean_is_greatest() -> None:
    """Remark 5.4 printed: a = 1 maximises (5.4) for kappa < 2/3, where it is N / e."""
    N = 1000

    def best(kappa: float) -> int:
        return max(range(1, 6 * N), key=lambda k: ours.ES_kl(k, N, kappa))

    assert best(0.2) == pytest.approx(N, abs=3)
    assert koot.ES_peak_corrected(N, 0.2) == pytest.approx(ours.ES_kl(best(0.2), N, 0.2), rel=1e-3)
    assert best(0.3) / N == pytest.approx(2.82, abs=0.01)  # kappa < 2/3, and yet not 1
    with pytest.raises(ValueError, match=r"kappa must be a number in \[0, 1/4\)"):
        koot.ES_peak_corrected(N, 0.3)


def test_10_uniform_bins_do_not_always_make_the_most_singletons() -> None:
    """Remark 5.5: "for a <= 2, at least, the mean number of singletons is maximized by the uniform distribution"."""
    N, k = 100_000, 150_000
    few = Bins.grouped([Fraction(N, 2 * 10), Fraction(N, 2 * (N - 10))], [10, N - 10])
    assert expected(few, k) / N == pytest.approx(0.3543, abs=2e-4)
    assert expected(Bins.uniform(N), k) / N == pytest.approx(0.3347, abs=1e-4)


def test_11_shares_of_bins_add_up_from_none_on() -> None:
    """Remark 5.3 printed: (5.5) and (5.6) both add up to 1 over j = 1, 2, ..."""
    bins = [ours.gamma_j_kl(j, 80, 100, 0.05) for j in range(40)]
    people = [ours.phi_j_kl(j, 80, 100, 0.05) for j in range(1, 40)]
    assert math.fsum(bins[1:]) == pytest.approx(0.536, abs=2e-3)
    assert math.fsum(bins) == pytest.approx(1, rel=1e-12) == math.fsum(people)


def test_12_the_distance_of_a_linear_density() -> None:
    """Example 5.8 printed: ((1+g)^2 ln(1+g) - (1-g)^2 ln(1-g) - 1) / (2 gamma), g = gamma / 2."""

    def printed(gamma: float) -> float:
        g = gamma / 2
        low = (1 - g) ** 2 * math.log(1 - g) if g < 1 else 0
        return ((1 + g) ** 2 * math.log(1 + g) - low - 1) / (2 * gamma)

    assert printed(2) == pytest.approx(0.44315, abs=1e-5) != ours.kappa_linear_density(2)
    assert printed(0.01) < -49
    for gamma in (0.01, 0.199, 0.201, 1.0, 2.0, -1.5):
        assert ours.kappa_linear_density(gamma) == pytest.approx(kl_to_uniform(tilted(gamma, 40_000)), rel=1e-5)


def test_13_the_discrepancy_measure() -> None:
    """4.3.2 printed: 1/2 sum (ai^2 fi - 1), which subtracts 1 for each group."""
    alpha, f = (0.5, 1.0, 2.0), (0.5, 0.25, 0.25)
    printed = sum(a**2 * share - 1 for a, share in zip(alpha, f, strict=True)) / 2
    assert printed < 0 < collision_excess(Bins.grouped(alpha, [2, 1, 1])) == pytest.approx(0.1875)


def test_14_the_power_to_which_uniqueness_is_raised() -> None:
    """4.3.2: "we have to take the uniqueness probability for the uniform case, and raise it to the power kappa"."""
    groups = [(0.5, 50), (1.5, 50)]
    bins, uniform = Bins.grouped([0.5, 1.5], [50, 50]), ours.pi_u_exponential(10, 100)
    truth, kappa = ours.uniqueness_exact(groups, 100, 10), kl_to_uniform(bins)
    assert ours.pi_u(10, 100) ** kappa == pytest.approx(0.941, abs=2e-3)
    assert truth == pytest.approx(0.5593, abs=1e-4)
    assert ours.uniqueness_kl(groups, 100, 10) == pytest.approx(uniform ** (1 + 2 * kappa), rel=1e-12)
    assert ours.uniqueness_kl(groups, 100, 10) == pytest.approx(truth, rel=0.05)


def test_15_how_many_groups_are_sampled() -> None:
    """4.4.1 printed: t sigma / n < r, and the "number of 'unique samples' (that is, the n+) is about 400"."""
    groups, hits = groups_needed(Fraction(1, 100))
    assert hits == math.ceil(1.96**2 / 0.1**2) == 385
    assert groups == pytest.approx(1.96**2 / 0.1**2 * 99, rel=1e-3)  # n+ is not 400
    p = 0.01
    assert 1.96 * math.sqrt(p * (1 - p) / groups) / p == pytest.approx(0.1, rel=1e-3)


def test_16_the_limit_that_its_lemma_is_cited_for() -> None:
    """4.3.1 cites "Lemma 4.1.(ii)" on (1 + a/sqrt N)^N; the printed lemma of this number is on covariances."""
    N, a = 10**12, 1.3
    assert ours.pi_u_poisson(round(a * 10**6), N) == pytest.approx(math.exp(-(a**2) / 2), rel=1e-5)


def test_17_the_exponential_expansion_is_in_k_minus_1() -> None:
    """6.3.1 printed: k (1 - k D l / 2 + k^2 D^2 l^2 / 6)."""

    def printed(k: int, x: float) -> float:
        return k * (1 - k * x / 2 + k**2 * x**2 / 6)

    assert ours.ES_exponential_exact(1, 1, 0.1) == 1 == ours.ES_exponential_quadratic_corrected(1, 1, 0.1)
    assert printed(1, 0.1) == pytest.approx(0.9517, abs=1e-4)
    truth = expected(exponential(2, 0.01), 10)
    assert truth == pytest.approx(9.14639, abs=1e-5) == ours.ES_exponential_exact(10, 2, 0.01)
    assert printed(10, 0.02) == pytest.approx(9.0667, abs=1e-4)
    assert ours.ES_exponential_quadratic_corrected(10, 2, 0.01) == pytest.approx(9.148, abs=1e-12)


def test_18_no_derivatives_in_the_coefficients() -> None:
    """6.3.1 printed: lambda_k = k (k-1) int f^2 - k/2 int f'. The last integral is -lambda for an exponential X."""
    k, rate, width = 5, 1.0, 1e-4
    slope = (k - expected(exponential(rate, width), k)) / width
    printed = k * (k - 1) * rate / 2 + k * rate / 2
    assert [slope, printed] == pytest.approx([10, 12.5], rel=1e-3)
    assert k - ours.ES_linear(k, width, rate / 2) == pytest.approx(slope * width, rel=1e-3)


def test_19_the_slope_of_the_variance() -> None:
    """Remark 6.2 printed: Var S = D (2 k^2 - 3 k) int f^2: terms of i = j were left in a sum over i != j."""
    sigma, k, width = 5, 6, 0.02
    power = ours.normal_power(2, sigma)
    slope = variance(normal(0, sigma, width), k) / width
    assert (2 * k**2 - 3 * k) * power == pytest.approx(3.0466, abs=1e-4)
    assert slope == pytest.approx(3.3466, abs=1e-3)
    assert ours.VarS_slope_normal(sigma, k) == pytest.approx(slope, rel=0.015)
    assert (2 - 3) * power < 0 == ours.VarS_slope_normal(sigma, 1)


def test_20_the_rule_of_thumb_on_weights() -> None:
    """6.5: for k = 10, D = 0.5 and E S = 8 "sigma is about 6.6"; doubling D gives 6, halving it 9."""

    def mean(sigma: float, width: float) -> float:
        return expected(normal(0, sigma, width), 10)

    sigma = brentq(lambda each: mean(each, 0.5) - 8, 4, 8)
    assert sigma == pytest.approx(5.67, abs=0.005)
    assert brentq(lambda each: ours.ES_normal_linear(each, 0.5, 10) - 8, 4, 8) == pytest.approx(6.35, abs=0.005)
    assert mean(6.6, 0.5) == pytest.approx(8.26, abs=0.005)
    assert [mean(sigma, width) for width in (1, 0.25)] == pytest.approx([6.42, 8.94], abs=0.005)


def test_21_what_is_left_after_the_income_question() -> None:
    """Appendix B: "Hence, the anonymity set size is reduced to 94k citizens"; table B.3 has 204,347 in that row."""
    printed = [16_000_000, 4_804_804, 3_813_337, 1_271_112, 470_782, 204_347, 4]
    factors = [3.33, 1.26, 3, 2.7, 2.3, 50_000]
    left = divided(16_000_000, factors)
    assert [int(each) for each in left[:5]] == printed[:5]  # rows are cut off, not rounded
    assert [round(each) for each in left[5:]] == [204_688, 4]
    assert int(470_000 / 2.3) == printed[5]  # the slip: the row before was taken as the text's "470k"
    assert 94_000 * 5 == 470_000  # and the text divides by 5, not by 2.3
    assert all(after < before for before, after in pairwise(printed))


def divided(people: int, factors: Sequence[float]) -> list[float]:
    """Return the number of people left after each question."""
    return list(accumulate(factors, truediv, initial=float(people)))
