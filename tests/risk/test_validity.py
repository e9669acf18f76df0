"""Approximations are refused where they are far from the truth, and accurate elsewhere."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crowdgate.risk import approximations as ours
from crowdgate.risk import widths
from crowdgate.risk.approximations.uniqueness import log_pi_u
from crowdgate.risk.approximations.validity import RULES
from crowdgate.risk.bins import Bins
from crowdgate.risk.groups import share_in_groups_of
from crowdgate.risk.kl import kl_to_uniform
from crowdgate.risk.singletons import expected, probability_all_unique, variance
from tests.examples import examples
from tests.oracles import koot

FAR: dict[Callable[..., float], dict[str, Any]] = {
    ours.pi_u_exponential: {"k": 29, "N": 95},
    ours.pi_u_poisson: {"k": 29, "N": 95},
    ours.uniqueness_poisson: {"groups": [(0.1, 50), (1.9, 50)], "N": 100, "k": 29},
    ours.uniqueness_collision: {"groups": [(0.1, 50), (1.9, 50)], "N": 100, "k": 29},
    ours.uniqueness_kl: {"groups": [(0.1, 500), (1.9, 500)], "N": 1000, "k": 40},
    ours.uniqueness_kl_corrected: {"k": 29, "N": 95, "kappa": 0.4},
    ours.ES_kl: {"k": 2820, "N": 1000, "kappa": 0.3},
    ours.gamma_j_kl: {"j": 1, "k": 300, "N": 100, "kappa": 0.1},
    ours.phi_j_kl: {"j": 5, "k": 200, "N": 95, "kappa": 0.1},
    ours.eta_j_kl: {"j": 5, "k": 200, "N": 95, "kappa": 0.1},
    ours.VarS_kl_corrected: {"k": 300, "N": 100, "kappa": 0.2},
    ours.P_S0_poissonised: {"p": [0.0625] * 4 + [0.125] * 2 + [0.25] * 2, "k": 5},
    ours.ES_linear: {"k": 20, "Delta": 2, "f2": 0.053},
    ours.ES_quadratic: {"k": 20, "Delta": 2, "f2": 0.053, "f3": 0.003},
    ours.phi_j_quadratic: {"j": 1, "k": 20, "Delta": 2, "f2": 0.053, "f3": 0.003},
    ours.ES_uniform_quadratic: {"k": 200, "A": 365, "Delta": 7},
    ours.ES_exponential_quadratic_corrected: {"k": 40, "lam": 2, "Delta": 0.1},
    ours.ES_normal_linear: {"sigma": 4.83, "Delta": 2, "k": 20},
    ours.ES_normal_quadratic: {"sigma": 4.83, "Delta": 2, "k": 20},
    ours.ES_bivariate_normal_linear: {"sx": 4.83, "sy": 5.289, "rho": 0.5, "dx": 10, "dy": 10, "k": 40},
}


@pytest.mark.parametrize("approximation", FAR, ids=lambda each: each.__name__)
def test_an_approximation_is_computed_far_from_its_range_and_refused_there(approximation: Callable[..., float]) -> None:
    arguments = FAR[approximation]
    assert math.isfinite(approximation(**arguments))
    with pytest.raises(ValueError, match=rf"{approximation.__name__} does not hold here: .* must be at most .*, not"):
        ours.checked(approximation, **arguments)


def test_every_rule_is_tried() -> None:
    assert set(FAR) == set(RULES)


def test_an_exact_formula_is_never_refused() -> None:
    assert ours.validity(ours.pi_u, k=29, N=95) is None
    assert ours.checked(ours.pi_u, k=29, N=95) == ours.pi_u(29, 95)


LAWS = st.lists(st.floats(0.5, 2), min_size=2, max_size=40).map(lambda each: np.array(each) / np.mean(each))


@settings(max_examples=examples(120), deadline=None, derandomize=True)
@given(LAWS, st.integers(1, 3), st.floats(0.05, 2.5))
def test_shares_in_small_groups_are_near_without_strong_outliers(alpha: Any, j: int, a: float) -> None:
    N = 1000 * alpha.size
    bins, k = Bins.from_counts(np.repeat(alpha, 1000)), max(j, round(a * N))
    kappa = kl_to_uniform(bins)
    assume(koot.outliers(bins) is None)
    assume(ours.validity(ours.phi_j_kl, j=j, k=k, N=N, kappa=kappa) is None)
    assert ours.phi_j_kl(j, k, N, kappa) == pytest.approx(share_in_groups_of(bins, k, j), rel=0.1)


def test_the_variance_is_near_where_it_is_not_refused() -> None:
    for beta in (0.1, 0.3, 0.4):
        for a in (0.3, 1.0, 2.0):
            N = 10_000
            bins, k = Bins.grouped([1 - beta, 1 + beta], [N // 2, N // 2]), round(a * N)
            kappa = kl_to_uniform(bins)
            if ours.validity(ours.VarS_kl_corrected, k=k, N=N, kappa=kappa) is None:
                assert ours.VarS_kl_corrected(k, N, kappa) == pytest.approx(variance(bins, k), rel=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ours.ES_kl(-1, 5, 0.1), "k must be"),
        (lambda: ours.ES_kl(5, 0, 0.1), "N must be"),
        (lambda: ours.ES_kl(5, 5, -0.1), "kappa must be"),
        (lambda: ours.phi_j_kl(0, 5, 5, 0.1), "j must be"),
        (lambda: ours.kappa_linear_density(2.1), r"gamma must be a number in \[-2, 2\]"),
        (lambda: ours.ES_normal_linear(0, 1, 5), "sigma must be"),
        (lambda: ours.ES_normal_linear(1, 0, 5), "Delta must be"),
        (lambda: ours.ES_bivariate_normal_linear(1, 1, 1, 1, 1, 5), "rho must be"),
        (lambda: ours.uniqueness_exact([(1, 5)], 6, 2), "N must be the number of bins"),
        (lambda: ours.ES_limit([1, 2], [0.5, 0.5], 1), "f must add up to 1"),
        (lambda: ours.ES_limit([1], [0.5, 0.5], 1), "equally long"),
        (lambda: koot.ES_limit_density(lambda _: 2.0, 1), "density must integrate to 1"),
        (lambda: koot.ES_limit_density(lambda x: 4 * x - 1, 1), "density must not be negative"),
        (lambda: ours.optimal_k(95, 1, "k"), "formula must be one of"),
        (lambda: ours.phi_j_quadratic(4, 5, 1, 1, 1), "j must be"),
    ],
)
def test_what_no_formula_is_defined_for_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_limits_are_near_large_numbers_of_bins() -> None:
    alpha, f, N, a = [0.5, 1, 2], [0.5, 0.25, 0.25], 40_000, 0.7
    bins, k = Bins.grouped(alpha, [20_000, 10_000, 10_000]), 28_000
    assert ours.ES_limit(alpha, f, a) == pytest.approx(expected(bins, k) / N, rel=1e-4)
    for j in (1, 2, 5):
        share = share_in_groups_of(bins, k, j)
        assert koot.phi_j_limit(j, alpha, f, a) == pytest.approx(share, rel=1e-3)
        assert koot.gamma_j_limit(j, alpha, f, a) == pytest.approx(share * k / N / j, rel=1e-3)
    assert math.fsum(koot.gamma_j_limit(j, alpha, f, a) for j in range(40)) == pytest.approx(1)
    many, few = 10**8, Bins.grouped(alpha, [5 * 10**7, 25 * 10**6, 25 * 10**6])
    assert koot.uniqueness_limit(alpha, f, a) == pytest.approx(
        probability_all_unique(few, round(a * many**0.5)), rel=1e-3
    )


def linear(gamma: float, x: float) -> float:
    return gamma * (x - 0.5) + 1


def test_a_density_by_quadrature_is_its_closed_form() -> None:
    for gamma, a in ((2, 0.9), (-1.5, 3.0), (1e-9, 0.5), (0, 1)):
        found = koot.ES_limit_density(partial(linear, gamma), a)
        assert ours.ES_limit_linear_density(gamma, a) == pytest.approx(found, rel=1e-9)
    at = ours.argmax_a_gamma2()
    assert ours.ES_limit_linear_density(2, at) > max(
        ours.ES_limit_linear_density(2, at + side) for side in (-1e-3, 1e-3)
    )


def test_the_variance_of_few_bins_and_people() -> None:
    for N in (1, 2, 3, 7):
        for k in range(6):
            assert ours.VarS_homogeneous(N, k) == pytest.approx(variance(Bins.uniform(N), k), abs=1e-12)


def test_many_people_in_more_bins() -> None:
    for N in (10**13, 10**14, 10**15):
        below, above = (
            -math.log(ours.pi_u(k, N)) / (k * (k - 1) / 2 / N) for k in (10**6, 10**6 + 1)
        )  # a sum, and Stirling
        assert above == pytest.approx(below, rel=2e-6)
    for k, N in ((10**4 + 1, 10**15), (10**5, 10**7), (10**6 + 1, 10**9), (10**7, 10**12), (10**8, 10**14)):
        with mp.workdps(50):
            truth = mp.exp(mp.loggamma(N + 1) - mp.loggamma(N - k + 1) - k * mp.log(N))
        assert ours.pi_u(k, N) == pytest.approx(float(truth), rel=1e-12)
    for k, N in ((10**5, 10**5), (10**5, 10**5 + 1), (10**5, 3 * 10**5)):
        with mp.workdps(50):
            truth = mp.loggamma(N + 1) - mp.loggamma(N - k + 1) - k * mp.log(N)
        assert log_pi_u(k, N) == pytest.approx(float(truth), rel=1e-12)
    assert ours.pi_u(10**7, 10**15) == pytest.approx(math.exp(-0.05), rel=1e-6)
    assert ours.pi_u(10**7, 10**8) == 0
    assert ours.pi_u(0, 5) == 1


def test_shares_to_the_second_order_add_up() -> None:
    parts = [ours.phi_j_quadratic(j, 10, 0.1, 0.05, 0.003) for j in (1, 2, 3)]
    assert math.fsum(parts) == pytest.approx(1, rel=1e-14)
    bins = widths.normal(0, 5.289, 0.1)
    powers = ours.normal_power(2, 5.289), ours.normal_power(3, 5.289)
    for j in (1, 2, 3):
        assert ours.phi_j_quadratic(j, 10, 0.1, *powers) == pytest.approx(share_in_groups_of(bins, 10, j), abs=2e-3)
