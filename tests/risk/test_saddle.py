"""Probabilities of no singleton and of all unique, each within its stated error."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crowdgate.risk import saddle, singletons
from crowdgate.risk.bins import Bins
from crowdgate.risk.saddle import AtMostOne, LogProbability, NotOne, Rule, log_probability
from crowdgate.risk.singletons import (
    all_unique_within,
    log_probability_all_unique,
    log_probability_none,
    none_within,
    probability_all_unique,
    probability_none,
)
from tests.examples import examples
from tests.risk.enumerated import law

weights = st.lists(st.integers(1, 9) | st.just(1000), min_size=1, max_size=6)


@settings(max_examples=examples(80), deadline=None)
@given(given=weights, people=st.integers(0, 9))
def test_both_ends_of_the_law_are_those_of_all_ways_to_fall(given: list[int], people: int) -> None:
    shares = [Fraction(each, sum(given)) for each in given]
    true, bins = law(shares, people, 1), Bins.of(shares)
    assert probability_none(bins, people) == pytest.approx(float(true[0]), rel=1e-12)
    assert probability_all_unique(bins, people) == pytest.approx(float(true[people]), rel=1e-12)


def coefficients(groups: list[tuple[Fraction, int]], people: int, unique: bool) -> float:
    """Return the logarithm of the probability, by products of polynomials in 60 digits."""
    with mp.workdps(60):
        product = [mp.mpf(1)] + [mp.mpf(0)] * people
        for p, many in groups:
            y = mp.mpf(p.numerator) / p.denominator
            allowed = (0, 1) if unique else [n for n in range(people + 1) if n != 1]
            one = [(n, y**n / mp.factorial(n)) for n in allowed]
            for _ in range(many):
                product = [mp.fsum(product[at - n] * term for n, term in one if n <= at) for at in range(people + 1)]
        return float(mp.log(product[people] * mp.factorial(people)))


@pytest.mark.parametrize("people", [7, 24])
@pytest.mark.parametrize("rule", [NotOne(), AtMostOne()])
def test_integral_and_convolution_keep_to_the_error_that_they_state(
    people: int, rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [(Fraction(1, 80), 30), (Fraction(1, 32), 20)]
    true = coefficients(sizes, people, isinstance(rule, AtMostOne))
    bins = Bins.grouped([Fraction(50, 80), Fraction(50, 32)], [30, 20])
    convolved = log_probability(bins, people, rule)
    monkeypatch.setattr(saddle, "CONVOLVED", 0)
    integral = log_probability(bins, people, rule)
    assert abs(convolved.value - true) <= convolved.error < 1e-11
    assert abs(integral.value - true) <= integral.error < 1e-11


def test_an_odd_number_of_few_people_in_many_bins_is_no_small_difference() -> None:
    """Without singletons three people are in one bin: 1/N^2. The two saddle points nearly cancel."""
    assert none_within(Bins.uniform(10**9), 3).value == pytest.approx(-18 * math.log(10), rel=1e-12)
    found, n = none_within(Bins.uniform(10**9), 5), 10**9
    assert abs(found.value - math.log((10 * n - 9) / n**4)) <= found.error + 1e-14


def test_reference_values_for_a_million_bins() -> None:
    bins = Bins.grouped([0.5, 1, 2], [500_000, 250_000, 250_000])
    assert log_probability_none(bins, 10_000) == pytest.approx(-26225.72289338545, rel=1e-9)
    assert log_probability_all_unique(bins, 10_000) == pytest.approx(-68.91817338690453, rel=1e-9)
    assert math.exp(log_probability_all_unique(Bins.uniform(10**6), 1000)) == pytest.approx(
        0.6067329714414793, rel=1e-11
    )


@pytest.mark.parametrize(("n", "k"), [(10**6, 5 * 10**6), (10**7, 10**8), (10**12, 10**6)])
def test_twice_as_many_nodes_change_less_than_is_stated(n: int, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    bins = Bins.grouped([0.5, 1, 2], [n // 2, n // 4, n // 4])
    found = none_within(bins, k)
    monkeypatch.setattr(saddle, "SPREADS", 2 * saddle.SPREADS)
    assert abs(none_within(bins, k).value - found.value) <= found.error <= 1e-11 * abs(found.value)


def test_too_few_nodes_are_seen_in_the_law_of_a_small_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saddle, "CONVOLVED", 0)
    monkeypatch.setattr(saddle, "circle_nodes", lambda _: 8)
    true = coefficients([(Fraction(1, 20), 20)], 12, unique=False)
    assert abs(log_probability(Bins.uniform(20), 12, NotOne()).value - true) > 1e-6


@settings(max_examples=examples(60), deadline=None)
@given(
    given=st.lists(
        st.tuples(st.floats(-6, 6), st.integers(1, 10**5)), min_size=1, max_size=4, unique_by=lambda x: x[0]
    ),
    rule=st.sampled_from([NotOne(), AtMostOne()]),
)
def test_no_node_is_left_out_where_the_integrand_is_more_than_nothing(
    given: list[tuple[float, int]], rule: Rule
) -> None:
    y, counts = np.exp(np.array([each for each, _ in given])), np.array([float(many) for _, many in given])
    m, nodes = np.arange(601), 1200
    u = np.multiply.outer(np.exp(2j * math.pi * m / nodes), y)
    f = np.exp(u) - u if isinstance(rule, NotOne) else 1 + u
    whole = np.exp(y) - y if isinstance(rule, NotOne) else 1 + y
    with np.errstate(divide="ignore"):
        size = np.log(np.abs(f) / whole) @ counts
    kept = np.concatenate([np.zeros(0, dtype=np.int64), *saddle._relevant_nodes(nodes, rule.falls(y), counts)])
    assert set(np.flatnonzero(size > saddle.DEAD + 1e-3)) <= set(kept.tolist())
    assert len(set(kept.tolist())) == len(kept)


@pytest.mark.parametrize(("n", "k"), [(2, 10**12), (10**11, 10**12), (10**15, 10**12), (10**12 + 1, 10**12)])
@pytest.mark.parametrize("within", [none_within, all_unique_within])
def test_a_trillion_people_take_few_nodes(
    n: int, k: int, within: Callable[..., LogProbability], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All nodes would be 20 million."""
    seen, alive = [], saddle._relevant_nodes

    def looked_at(*given: Any) -> Iterator[NDArray[np.int64]]:
        for m in alive(*given):
            seen.append(len(m))
            yield m

    monkeypatch.setattr(saddle, "_relevant_nodes", looked_at)
    found = within(Bins.uniform(n), k)
    assert sum(seen) < 5000
    if within is all_unique_within and k <= n:
        with mp.workdps(40):
            true = mp.loggamma(n + 1) - mp.loggamma(n - k + 1) - k * mp.log(n)
        assert abs(found.value - float(true)) <= found.error <= 1e-11 * abs(float(true))


def test_no_way_and_every_way() -> None:
    bins = Bins.uniform(5)
    assert log_probability_none(bins, 1) == -math.inf
    assert (
        log_probability_none(bins, 0) == log_probability_all_unique(bins, 0) == log_probability_all_unique(bins, 1) == 0
    )
    assert log_probability_all_unique(bins, 6) == -math.inf
    assert probability_all_unique(bins, 5) == pytest.approx(120 / 5**5, rel=1e-14)
    assert none_within(Bins.uniform(1), 10**12) == LogProbability(0, 0)


def test_many_distinct_probabilities_are_grouped_within_what_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    bins = Bins.from_counts(np.random.default_rng(4).uniform(1, 3, size=1000))
    every = log_probability(bins, 300, NotOne()), log_probability(bins, 300, AtMostOne())
    monkeypatch.setattr(singletons, "MOST_DISTINCT", 400)
    for found, exact in zip((none_within(bins, 300), all_unique_within(bins, 300)), every, strict=True):
        assert exact.error < abs(found.value - exact.value) <= found.error < 0.01


@pytest.mark.parametrize("n", [260, 1000, 1002, 10**5])
def test_half_as_many_people_as_even_bins_is_a_probability(n: int) -> None:
    """The radius is n, where 1 + x is 0 at one node."""
    found = all_unique_within(Bins.uniform(n), n // 2)
    with mp.workdps(40):
        true = float(mp.loggamma(n + 1) - mp.loggamma(n // 2 + 1) - (n // 2) * mp.log(n))
    assert abs(found.value - true) <= found.error + 1e-12 * abs(true)


@pytest.mark.parametrize(
    ("sizes", "people"),
    [
        ([(Fraction(258, 10**6), 65), (Fraction(1536, 10**5), 64)], 128),
        ([(Fraction(1, 90) - Fraction(1, 90 * 10**9), 90), (Fraction(1, 10**9), 1)], 90),
        ([(Fraction(39, 10**9), 100), (Fraction(1, 20), 20)], 119),
    ],
)
def test_nearly_as_many_people_as_bins_that_differ_much(sizes: list[tuple[Fraction, int]], people: int) -> None:
    whole = sum((p * many for p, many in sizes), Fraction(0))
    exactly = [(p / whole, many) for p, many in sizes]
    bins = Bins.from_counts([float(p) for p, many in exactly for _ in range(many)])
    found = all_unique_within(bins, people)
    assert abs(found.value - coefficients(exactly, people, unique=True)) <= found.error < 1e-9


def test_probabilities_that_no_float_can_tell_are_refused() -> None:
    with pytest.raises(ValueError, match="factor of 1e250"):
        all_unique_within(Bins.from_counts([1.0] * 100 + [1e-307] * 3), 102)
