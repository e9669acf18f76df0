"""Singling out against safe k-anonymity at fixed levels, compared with complete enumerations."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product

import pytest

from crowdgate.accounting.pso import bound, bound_in_sample
from crowdgate.accounting.safe_k_exact import exact_delta
from crowdgate.accounting.safe_k_theorem5 import log_theorem5
from tests.oracles.pso_safe_k import safe_k_bound, safe_k_bound_in_sample

Sizes = tuple[int, ...]


def mass(j: int, n: int, beta: float) -> float:
    return math.comb(n, j) * beta**j * (1 - beta) ** (n - j) if 0 <= j <= n else 0.0


def published(size: int, k: int, beta: float) -> list[float]:
    """Return the distribution of the published size of a class: 0, or at least k."""
    law = [mass(j, size, beta) for j in range(size + 1)]
    return [sum(law[:k]), *([0.0] * (k - 1)), *law[k:]]


def gained(sizes: Sizes, k: int, beta: float, epsilon: float) -> float:
    """Return the largest excess, over all attackers, of isolation over e^epsilon times the isolation without the row:
    they observe all classes and name one row, whose class then has one row less."""
    with_all = [published(size, k, beta) for size in sizes]
    without = [[*published(size - 1, k, beta), 0.0] for size in sizes]
    total = 0.0
    for seen in product(*(range(len(law)) for law in with_all)):
        chances = [law[j] for law, j in zip(with_all, seen, strict=True)]
        best = max(
            math.prod(chances[:c] + chances[c + 1 :]) * (chances[c] - math.exp(epsilon) * without[c][j])
            for c, j in enumerate(seen)
        )
        total += max(0.0, best)
    return total


@pytest.mark.parametrize("sizes", [(2,), (3,), (2, 2), (3, 3), (2, 4), (2, 2, 2), (3, 4, 5), (2, 3, 2, 3)])
@pytest.mark.parametrize("beta", [0.1, 0.5, 0.8])
def test_what_attackers_gain_on_any_table_is_within_classes_times_theorem_5(sizes: Sizes, beta: float) -> None:
    for k, epsilon in product((2, 3), (0.1, 0.7, 1.0, 2.0)):
        d = math.exp(log_theorem5(k, beta, epsilon))
        assert gained(sizes, k, beta, epsilon) <= (sum(sizes) // k) * d * (1 + 1e-9)


def test_one_class_alone_would_not_be_enough() -> None:
    """So the enumeration can fail: three classes gain nearly three times the bound of Theorem 5 for one."""
    d = math.exp(log_theorem5(2, 0.1, 1))
    assert gained((2, 2, 2), 2, 0.1, 1) > 2.9 * d


def attack(shares: Sizes, classes: Sizes, n: int, k: int, beta: float, told: float = 0) -> tuple[float, float]:
    """Return the greatest success, in the table and in the sample, of an attacker who observes the release of n rows
    and names one value or none; `shares` in hundredths.

    The attacker also gets a bit on whether the first value is in the table: the truth, with probability e^told / (1 +
    e^told).
    """
    won: dict[tuple[int, ...], list[list[float]]] = defaultdict(lambda: [[0.0] * len(shares) for _ in range(2)])
    for table in product(range(n + 1), repeat=len(shares)):
        if sum(table) != n:
            continue
        chance = math.factorial(n) * math.prod(
            (s / 100) ** c / math.factorial(c) for s, c in zip(shares, table, strict=True)
        )
        for sample in product(*(range(count + 1) for count in table)):
            drawn = chance * math.prod(mass(j, c, beta) for j, c in zip(sample, table, strict=True))
            sizes = [sum(j for j, of in zip(sample, classes, strict=True) if of == each) for each in sorted({*classes})]
            seen = tuple(size if size >= k else 0 for size in sizes)
            for lies in (False, True):
                said = drawn / (1 + math.exp(told if lies else -told))
                for place, counts in enumerate((table, sample)):
                    for value, count in enumerate(counts):
                        won[(*seen, (table[0] > 0) != lies)][place][value] += said * (count == 1)
    light = [value for value, share in enumerate(shares) if share == min(shares)]
    whole, among = (sum(max(each[place][v] for v in light) for each in won.values()) for place in (0, 1))
    return whole, among


@pytest.mark.parametrize(
    ("shares", "classes", "n"),
    [
        ((5, 95), (0, 1), 4),
        ((5, 45, 5, 45), (0, 0, 1, 1), 3),
        ((2, 2, 2, 94), (0, 0, 0, 1), 4),
        ((2, 49, 49), (0, 1, 2), 4),
    ],
)
@pytest.mark.parametrize("beta", [0.2, 0.7])
def test_no_attack_on_a_tiny_universe_beats_the_bounds(shares: Sizes, classes: Sizes, n: int, beta: float) -> None:
    for k in (2, 3):
        whole, among = attack(shares, classes, n, k, beta)
        for epsilon in (0.05, 0.4, 1):
            arguments = (n, Fraction(min(shares), 100), epsilon, k, beta)
            assert whole <= safe_k_bound(*arguments)
            assert among <= safe_k_bound_in_sample(*arguments)


@pytest.mark.parametrize("told", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("beta", [0.1, 0.3, 0.7])
def test_in_the_sample_the_bound_holds_with_the_cost_of_what_else_is_told_of_all_rows(told: float, beta: float) -> None:
    shares, classes, n, k = (3, 3, 94), (0, 0, 1), 3, 2
    _, among = attack(shares, classes, n, k, beta, told)
    for epsilon in (0.05, 0.4, 1):
        delta = exact_delta(k, beta, epsilon)
        assert among <= bound_in_sample(n, Fraction(3, 100), epsilon + told, delta, beta)


@pytest.mark.parametrize(
    ("k", "beta", "epsilon"), [(58, 0.5, 1), (20, 0.1, 1), (92, 0.5, 1), (35, 0.1, 0.1), (2, 0.9, 0)]
)
def test_it_is_never_above_the_bound_with_n_delta(k: int, beta: float, epsilon: float) -> None:
    n, w, delta = 299_285, Fraction(5, 10**3 * 299_285), exact_delta(k, beta, epsilon)
    assert safe_k_bound(n, w, epsilon, k, beta) <= bound(n, w, epsilon, delta)
    assert safe_k_bound_in_sample(n, w, epsilon, k, beta) <= bound_in_sample(n, w, epsilon, delta, beta)


def test_at_k_58_it_halves_what_delta_adds() -> None:
    """n delta is 2.92e-4, (n / k) d 1.62e-4: d is larger than delta, by less than k."""
    n, w = 299_285, Fraction(5, 10**3 * 299_285)
    alone = bound(n, w, 1, 0)
    assert bound(n, w, 1, exact_delta(58, 0.5, 1)) - alone == pytest.approx(2.92e-4, rel=0.01)
    assert safe_k_bound(n, w, 1, 58, 0.5) - alone == pytest.approx(1.62e-4, rel=0.01)
