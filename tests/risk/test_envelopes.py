"""At the edge of the range accepted by a rule of `validity`, no distribution exceeds the stated error; just beyond,
some do."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import binom

from crowdgate.risk import approximations as ours
from crowdgate.risk import widths
from crowdgate.risk.approximations.uniqueness import log_pi_u
from crowdgate.risk.approximations.validity import BIN_ERROR, GROUP_SHARE_ERROR, SINGLETON_ERROR, VARIANCE_ERROR
from crowdgate.risk.bins import Bins
from crowdgate.risk.correlated import bivariate_normal
from crowdgate.risk.groups import share_in_groups_of
from crowdgate.risk.kl import collision_excess, kl_to_uniform
from crowdgate.risk.singletons import expected, log_probability_all_unique, variance
from tests.oracles import koot

Floats = NDArray[np.float64]
Formula = Callable[..., float]


def edge(formula: Formula, name: str, most: float, **arguments: Any) -> float:
    """Return the greatest value of an argument that is accepted, up to `most`."""
    return edge_of(lambda value: ours.validity(formula, **arguments, **{name: value}) is None, most)


def edge_of(accepted: Callable[[float], bool], most: float) -> float:
    low, high = 0.0, most
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if accepted(middle) else (low, middle)
    return low


# expansions in kappa: over all laws by a linear programme. A law is how many bins have each alpha, as a share of N.


def extremes(of_bin: Callable[[Floats], Floats], N: int, kappa: float, by_kl: bool) -> tuple[float, float]:
    """Return the least and greatest sum over bins of a distribution with this distance: the excess of collisions of any
    distribution, or the Kullback-Leibler distance of one without strong outliers."""
    alpha = np.unique(np.concatenate([[0.0], np.geomspace(1e-3, 4, 60), np.linspace(0, 4, 81), np.geomspace(4, N, 60)]))
    square = (alpha - 1) ** 2 / 2
    entropy = np.where(alpha > 0, alpha * np.log(np.maximum(alpha, 1e-300)) - alpha + 1, 1.0)
    scale = 1 / (1 + square)
    fixed = np.array([np.ones_like(alpha), alpha - 1, entropy if by_kl else square]) * scale
    few = np.array([np.abs(entropy - square) - square / 4]) * scale if by_kl else None
    goals = [sign * of_bin(alpha) * scale for sign in (1, -1)]
    found = [linprog(goal, few, [0.0] if by_kl else None, fixed, [1, 0, kappa]) for goal in goals]
    assert all(each.success for each in found)
    least, less = (float(each.fun or 0) for each in found)
    return least, -less


def of_people(j: int, k: int, N: int, alpha: Floats) -> Floats:
    """Return a bin's part of the people in groups of j."""
    return np.asarray(alpha * binom.pmf(j - 1, k - 1, alpha / N))


def of_bins(j: int, k: int, N: int, alpha: Floats) -> Floats:
    return np.asarray(binom.pmf(j, k, alpha / N))


CASES = (
    (1, 1, 20),
    (1, 11, 20),
    (1, 30, 50),
    (1, 560, 1000),
    (1, 1500, 1000),
    (2, 20, 20),
    (2, 920, 1000),
    (3, 40, 20),
)


@pytest.mark.parametrize("by_kl", [True, False])
@pytest.mark.parametrize(("j", "k", "N"), CASES)
def test_no_law_has_other_shares_in_groups_than_is_said(j: int, k: int, N: int, by_kl: bool) -> None:
    kappa = edge(ours.phi_j_kl, "kappa", 1, j=j, k=k, N=N)
    most = GROUP_SHARE_ERROR if j > 1 else SINGLETON_ERROR.kl if by_kl else SINGLETON_ERROR.collisions
    assert kappa > 0.01
    for near in (kappa, kappa / 3):
        low, high = extremes(partial(of_people, j, k, N), N, near, by_kl)
        assert high - most <= ours.phi_j_kl(j, k, N, near) <= low + most


@pytest.mark.parametrize("by_kl", [True, False])
@pytest.mark.parametrize(("j", "k", "N"), [(0, 29, 20), (0, 1450, 1000), *CASES])
def test_no_law_has_other_shares_of_bins_than_is_said(j: int, k: int, N: int, by_kl: bool) -> None:
    kappa, most = edge(ours.gamma_j_kl, "kappa", 1, j=j, k=k, N=N), BIN_ERROR.kl if by_kl else BIN_ERROR.collisions
    low, high = extremes(partial(of_bins, j, k, N), N, kappa, by_kl)
    assert high - most <= ours.gamma_j_kl(j, k, N, kappa) <= low + most


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_fewest_bins_are_enough(k: int) -> None:
    N = next(N for N in range(1, 100) if ours.validity(ours.ES_kl, k=k, N=N, kappa=0.2) is None)
    low, high = extremes(partial(of_people, 1, k, N), N, 0.2, by_kl=True)
    assert high - SINGLETON_ERROR.kl <= ours.ES_kl(k, N, 0.2) / k <= low + SINGLETON_ERROR.kl


def test_shares_beyond_the_edge_are_further_off() -> None:
    low, high = extremes(partial(of_people, 1, 11, 20), 20, 0.28, by_kl=False)
    assert max(high - ours.phi_j_kl(1, 11, 20, 0.28), ours.phi_j_kl(1, 11, 20, 0.28) - low) > 0.13
    assert ours.validity(ours.phi_j_kl, j=1, k=11, N=20, kappa=0.28)
    assert ours.phi_j_kl(1, 2, 5, 0) < share_in_groups_of(Bins.uniform(5), 2, 1) - 0.08
    assert ours.validity(ours.phi_j_kl, j=1, k=2, N=5, kappa=0)


def test_a_few_people_are_not_taken_for_many() -> None:
    """A limit for many people is then at least twice the truth, for shares and for the variance."""
    for j, k in ((2, 2), (3, 3), (8, 9)):
        assert ours.phi_j_kl(j, k, 10**6, 0) > 1.9 * share_in_groups_of(Bins.uniform(10**6), k, j)
        assert "j (j - 1) / (2 k)" in str(ours.validity(ours.phi_j_kl, j=j, k=k, N=10**6, kappa=0))
    assert ours.VarS_kl_corrected(2, 1000, 0) > 0.9 * variance(Bins.uniform(1000), 2)
    assert ours.validity(ours.VarS_kl_corrected, k=2, N=1000, kappa=0) is not None


def test_the_variance_for_each_person_is_as_is_said() -> None:
    for N, a in ((20, 0.5), (20, 1.5), (1000, 0.02), (1000, 0.15), (1000, 1.0), (10_000, 0.3)):
        k = max(10, round(a * N))
        kappa = edge(ours.VarS_kl_corrected, "kappa", 1, k=k, N=N)
        for bins in (one_likelier(N, kappa), Bins.grouped([1 - kappa**0.5, 1 + kappa**0.5], [N // 2, N // 2])):
            for distance in (collision_excess(bins), kl_to_uniform(bins)):
                if ours.validity(ours.VarS_kl_corrected, k=k, N=N, kappa=distance) is None:
                    assert ours.VarS_kl_corrected(k, N, distance) == pytest.approx(
                        variance(bins, k), abs=VARIANCE_ERROR * k
                    )


# uniqueness


def one_likelier(N: int, chi: float) -> Bins:
    far = math.sqrt(2 * chi * (N - 1))
    return Bins.from_counts(np.append(np.full(N - 1, 1 - far / (N - 1)), 1 + far))


def one_less_likely(N: int, chi: float) -> Bins:
    """Return bins of which some are equally likely, one is less likely, and all others are empty."""
    square = (1 + 2 * chi) / N
    some = math.floor(1 / square)
    less = (1 - math.sqrt(some * ((some + 1) * square - 1))) / (some + 1)
    bins = Bins.from_counts(np.append(np.full(some, (1 - less) / some), max(0.0, less)), empty=N - some - 1)
    assert collision_excess(bins) == pytest.approx(chi, rel=1e-6)
    return bins


@pytest.mark.parametrize(
    ("k", "N"),
    [(2, 20), (3, 20), (7, 50), (10, 20), (60, 400), (400, 1000), (40, 1000), (90, 1000), (12, 5000), (300, 20_000)],
)
def test_uniqueness_is_that_of_the_most_and_the_least_equal_law(k: int, N: int) -> None:
    kappa = edge(ours.uniqueness_kl_corrected, "kappa", 1, k=k, N=N)
    said = math.log(ours.uniqueness_kl_corrected(k, N, kappa))
    laws = [make(N, kappa * like) for make in (one_likelier, one_less_likely) for like in (0.8, 1, 4 / 3)]
    apart = max(abs(log_probability_all_unique(bins, k) - said) for bins in laws)
    assert apart <= 0.1 + 1e-9
    assert apart > 0.099 or kappa > 0.2499


def test_uniqueness_of_drawn_laws_lies_between_them() -> None:
    random, tried = Random(7), 0
    for _ in range(600):
        sizes = [random.choice([1, 2, 5, 100, 1000]) for _ in range(3)]
        weights = [10 ** random.choice([random.uniform(-2, 2), random.gauss(0, 0.2)]) for _ in sizes]
        bins, N = of(weights, sizes), sum(sizes)
        k = 1 + int(N**0.5 * 10 ** random.uniform(-1, 0.4))
        distances = [collision_excess(bins)] + [kl_to_uniform(bins)] * (koot.outliers(bins) is None)
        for kappa in distances:
            if k <= N and ours.validity(ours.uniqueness_kl_corrected, k=k, N=N, kappa=kappa) is None:
                tried += 1
                said = math.log(ours.uniqueness_kl_corrected(k, N, kappa))
                assert said == pytest.approx(log_probability_all_unique(bins, k), abs=0.1 + 1e-9)
    assert tried > 100


def of(weights: Sequence[float], sizes: Sequence[int]) -> Bins:
    return Bins.from_counts(np.repeat(weights, sizes))


REFUTED: list[tuple[Formula, dict[str, Any]]] = [
    *(
        (ours.uniqueness_kl_corrected, {"k": k, "N": sum(sizes), "kappa": distance(of(weights, sizes))})
        for k, weights, sizes in (
            (5170, [0.951, 4.042, 2.832], [100_000, 1000, 1000]),
            (620, [0.9803, 1.9349, 2.0574, 0.9907], [1000, 20, 1, 5]),
            (5330, [1.2705, 1.2997, 0.4292, 1.6638], [100_000, 100_000, 100_000, 100]),
        )
        for distance in (kl_to_uniform, collision_excess)
    ),
    (ours.P_S0_poissonised, {"p": ["0.0795", "0.9205"], "k": 2}),
    (ours.ES_linear, {"k": 2, "Delta": 0.0033, "f2": 88.88}),
    (ours.ES_quadratic, {"k": 2, "Delta": 0.0033, "f2": 88.88, "f3": 39_000}),
    (ours.ES_uniform_quadratic, {"k": 2, "A": 0.2097, "Delta": 0.126}),
    (ours.phi_j_kl, {"j": 2, "k": 2, "N": 1, "kappa": 0}),
    (ours.VarS_kl_corrected, {"k": 3, "N": 2, "kappa": 0}),
]


@pytest.mark.parametrize(("formula", "arguments"), REFUTED, ids=lambda each: getattr(each, "__name__", ""))
def test_what_was_far_off_is_refused(formula: Formula, arguments: dict[str, Any]) -> None:
    assert ours.validity(formula, **arguments) is not None


@pytest.mark.parametrize("formula", [ours.pi_u_exponential, ours.pi_u_poisson])
def test_even_uniqueness_is_as_is_said(formula: Formula) -> None:
    for N in (1, 5, 10, 30, 100, 10**4, 10**8):
        for k in {max(1, round(N ** (2 / 3) * 10 ** (step / 20))) for step in range(-40, 10)}:
            if ours.validity(formula, k=k, N=N) is None:
                assert math.log(formula(k, N)) == pytest.approx(log_pi_u(k, N), abs=0.1 + 1e-9)


def test_two_people_of_two_bins() -> None:
    """Both are in one bin with probability sum p^2."""
    for x in range(1, 50):
        p, groups = [x / 100, 1 - x / 100], [(x / 50, 1), (2 - x / 50, 1)]
        together = p[0] ** 2 + p[1] ** 2
        if ours.validity(ours.P_S0_poissonised, p=p, k=2) is None:
            assert math.log(ours.P_S0_poissonised(p, 2)) == pytest.approx(math.log(together), abs=0.1 + 1e-9)
        for formula in (ours.uniqueness_poisson, ours.uniqueness_collision, ours.uniqueness_kl):
            if ours.validity(formula, groups=groups, N=2, k=2) is None:
                assert math.log(formula(groups, 2, 2)) == pytest.approx(math.log(1 - together), abs=0.1 + 1e-9)


# interval widths


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize(
    ("spike", "wide"), [(0, 1), (0.1, 1), (0.1, 1e-2), (0.1, 1e-3), (1e-3, 1e-6), (1, 1), (1, 1e-2)]
)
def test_a_density_with_a_spike_is_within(k: int, spike: float, wide: float) -> None:
    """Uniform except for a share in a spike, narrower than the width or not, which int f^2 does not show."""
    parts, lengths = np.array([1 - spike, 0.0, spike]), np.array([5.0, 1.0, wide])
    f2, f3 = (float(np.sum(parts**m / lengths ** (m - 1))) for m in (2, 3))
    width = edge(ours.ES_quadratic, "Delta", 10, k=k, f2=f2, f3=f3)
    bins = widths.density([0, 5, 6, 6 + wide], parts, width)
    truth = expected(bins, k) / k
    apart = [abs(said / k - truth) for said in (ours.ES_linear(k, width, f2), ours.ES_quadratic(k, width, f2, f3))]
    for j in (1, 2, 3):
        apart.append(abs(ours.phi_j_quadratic(j, k, width, f2, f3) - share_in_groups_of(bins, k, j)))
    assert max(apart) <= 0.05 + 1e-9
    assert max(apart) > 0.035 or (k, spike, wide) not in ((2, 0.1, 1e-3), (3, 1e-3, 1e-6))


@pytest.mark.parametrize("k", [2, 3, 5, 30, 2000])
def test_known_densities_are_within_wherever_intervals_begin(k: int) -> None:
    for formula in (ours.ES_normal_linear, ours.ES_normal_quadratic):
        width = edge(formula, "Delta", 20, sigma=2, k=k)
        for mean in (0, width / 3, width / 2):
            truth = expected(widths.normal(mean, 2, width, k), k) / k
            assert formula(2, width, k) / k == pytest.approx(truth, abs=0.05)
    width = edge(ours.ES_exponential_quadratic_corrected, "Delta", 20, lam=0.5, k=k)
    truth = expected(widths.exponential(0.5, width), k) / k
    assert ours.ES_exponential_quadratic_corrected(k, 0.5, width) / k == pytest.approx(truth, abs=0.05)
    for length in (0.4, 1, 1.7, 2.5, 10, 100.3):
        if ours.validity(ours.ES_uniform_quadratic, k=k, A=length, Delta=1) is None:
            truth = expected(widths.uniform(length, 1), k) / k
            assert ours.ES_uniform_quadratic(k, length, 1) / k == pytest.approx(truth, abs=0.05)


@pytest.mark.parametrize(("k", "rho", "long"), [(2, 0, 1), (2, 0.9, 0.3), (3, -0.99, 3), (10, 0.5, 1), (60, -0.7, 10)])
def test_pairs_of_numbers_are_within(k: int, rho: float, long: float) -> None:
    """Rectangles `long` times as long as wide."""
    formula, given = ours.ES_bivariate_normal_linear, {"sx": 1, "sy": 1, "rho": rho, "k": k}
    wide = edge_of(lambda dx: ours.validity(formula, **given, dx=dx, dy=dx * long) is None, 5)
    truth = expected(bivariate_normal(1, 1, rho, wide, wide * long, wide / 3), k) / k
    assert formula(1, 1, rho, wide, wide * long, k) / k == pytest.approx(truth, abs=0.05)
