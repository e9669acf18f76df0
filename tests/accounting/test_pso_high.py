"""The bound for high weights compared with the best mechanism and attacker, found by linear programming."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from crowdgate.accounting.pso import baseline, bound
from tests.oracles.pso_high import high_baseline, high_bound

Table = tuple[int, ...]
"""Number of rows with each value."""


def tables(rows: int, values: int) -> list[Table]:
    return [table for table in product(range(rows + 1), repeat=values) if sum(table) == rows]


def hits(predicate: tuple[int, ...], table: Table) -> int:
    return sum(count for count, met in zip(table, predicate, strict=True) if met)


def neighbours(table: Table) -> Iterator[Table]:
    for value, count in enumerate(table):
        if count:
            yield tuple(c - (i == value) for i, c in enumerate(table))


def best_success(shares: tuple[float, ...], n: int, epsilon: float, delta: float, low: float, high: float) -> float:
    """Return the greatest success of a mechanism that answers each table of n - 1 or n rows with a predicate of weight
    in [low, high] or with none, among all (epsilon, delta)-differentially private ones: the optimum of a linear
    program.

    Its unknowns are the probabilities of the answers, and their excess over e^epsilon times the neighbour's: these add
    up to at most delta for each pair of neighbours and each direction.
    """
    values = len(shares)
    every = product((0, 1), repeat=values)
    answers = [p for p in every if low - 1e-12 <= sum(s for s, met in zip(shares, p, strict=True) if met) <= high]
    size, full = len(answers) + 1, tables(n, values)
    place = {table: i * size for i, table in enumerate([*full, *tables(n - 1, values)])}
    pairs = [pair for x in full for y in neighbours(x) for pair in ((x, y), (y, x))]
    beyond = len(place) * size
    gain, limits = np.zeros(beyond + len(pairs) * size), np.zeros(len(pairs) * (size + 1))
    for table in full:
        chance = math.factorial(n) * math.prod(s**c / math.factorial(c) for s, c in zip(shares, table, strict=True))
        for at, predicate in enumerate(answers):
            gain[place[table] + at] = -chance * (hits(predicate, table) == 1)
    close, whole = np.zeros((len(limits), len(gain))), np.zeros((len(place), len(gain)))
    for row, (x, y) in enumerate(pairs):
        last = row * (size + 1) + size
        limits[last] = delta
        for at in range(size):
            over = row * (size + 1) + at
            close[over, place[x] + at], close[over, place[y] + at] = 1, -math.exp(epsilon)
            close[over, beyond + row * size + at], close[last, beyond + row * size + at] = -1, 1
    for row, start in enumerate(place.values()):
        whole[row, start : start + size] = 1
    found = linprog(gain, close, limits, whole, np.ones(len(place)), bounds=(0, None), method="highs")
    assert found.fun is not None
    return float(-found.fun)


SPENT = [(0, 0), (0, 0.02), (0.02, 0), (0.2, 0), (0.2, 0.001), (0.5, 0.02), (1, 0.001)]
UNIVERSES = [((0.9, 0.1), 3, 0.9), ((0.5, 0.3, 0.2), 6, 0.5), ((0.4, 0.3, 0.3), 4, 0.6), ((0.5, 0.5), 10, 0.5)]


@pytest.mark.parametrize(("epsilon", "delta"), SPENT)
@pytest.mark.parametrize(("shares", "n", "weight"), UNIVERSES)
def test_no_private_mechanism_singles_out_more_by_heavy_predicates(
    shares: tuple[float, ...], n: int, weight: float, epsilon: float, delta: float
) -> None:
    best = best_success(shares, n, epsilon, delta, weight, 1)
    assert best <= high_bound(n, str(weight), epsilon, delta) + 1e-9
    assert best >= baseline(n, weight) - 1e-9


@pytest.mark.parametrize(("epsilon", "delta"), SPENT)
@pytest.mark.parametrize(("shares", "n"), [((0.9, 0.1), 3), ((0.05, 0.05, 0.9), 4), ((0.02, 0.98), 6)])
def test_no_private_mechanism_singles_out_more_by_light_predicates(
    shares: tuple[float, ...], n: int, epsilon: float, delta: float
) -> None:
    weight = min(shares)
    assert best_success(shares, n, epsilon, delta, 0, weight) <= bound(n, weight, epsilon, delta) + 1e-9


def test_the_bound_without_epsilon_would_be_beaten() -> None:
    """So the enumeration can fail: at epsilon .2 the best mechanism has .0176, a binomial distribution of weight w
    .0107."""
    best = best_success((0.5, 0.5), 10, 0.2, 0, 0.5, 1)
    assert high_bound(10, 0.5, 0, 0) < 0.011 < 0.017 < best <= high_bound(10, 0.5, 0.2, 0)


@settings(deadline=None, derandomize=True)
@given(
    n=st.integers(2, 10**6),
    w=st.floats(1e-9, 1),
    epsilon=st.floats(0, 5),
    delta=st.floats(0, 1e-3),
    more=st.floats(1, 3),
)
def test_it_falls_with_the_weight_and_grows_with_what_is_spent(
    n: int, w: float, epsilon: float, delta: float, more: float
) -> None:
    here = high_bound(n, w, epsilon, delta)
    assert high_bound(n, min(1.0, w * more), epsilon, delta) <= here * (1 + 1e-9)
    assert high_bound(n, w, epsilon * more, delta * more) >= here * (1 - 1e-9)
    assert high_baseline(n, w) <= here * (1 + 1e-9) or w < 1 / n


def test_at_the_size_of_a_census_heavy_predicates_single_out_nobody() -> None:
    assert high_bound(299_285, Fraction(100, 299_285), 1, "1e-9") == pytest.approx(3.55e-5, rel=0.01)
    assert high_bound(299_285, Fraction(10, 299_285), 0.1, "1e-9") == pytest.approx(2.62e-3, rel=0.01)


def test_one_row_large_epsilons_and_the_whole_have_plain_answers() -> None:
    assert high_bound(1, 0.5, 0, 0) == high_bound(10, 0.5, 400, 0) == 1
    assert high_bound(2, 1, 5, 0) == 0
    assert high_bound(2, 1, 5, "0.01") == pytest.approx(0.02, rel=1e-12)
    with pytest.raises(ValueError, match="w_min must be"):
        high_bound(10, 0, 1, 0)
