"""Classes of independent attributes together, and how large groups must be."""

from fractions import Fraction
from itertools import product as every

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.limits import MOST_DISTINCT
from crowdgate.risk.alone import least_group, most_alone, share_alone
from crowdgate.risk.bins import Bins
from crowdgate.risk.products import product
from crowdgate.risk.singletons import expected

weights = st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any)


def shares(counts: list[int]) -> list[Fraction]:
    return [Fraction(count, sum(counts)) for count in counts]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(attributes=st.lists(weights, min_size=1, max_size=3), people=st.integers(1, 30))
def test_a_product_has_a_bin_for_every_combination(attributes: list[list[int]], people: int) -> None:
    cells = [Fraction(1)]
    for counts in attributes:
        cells = [cell * share for cell, share in every(cells, shares(counts))]
    found = product(Bins.from_counts(counts) for counts in attributes)
    assert found.cells == pytest.approx(len(cells))
    assert found.empty == pytest.approx(cells.count(Fraction(0)))
    assert expected(found, people) == pytest.approx(expected(Bins.of(cells), people), rel=1e-12, abs=1e-12)


def test_many_wide_attributes_stay_few_probabilities_that_add_up_to_1() -> None:
    wide = Bins.from_counts(np.random.default_rng(1).integers(1, 10**6, 300))
    found = product([wide] * 3)
    assert len(found.probabilities) <= MOST_DISTINCT
    assert float(found.probabilities @ found.counts) == pytest.approx(1, rel=1e-9)
    assert found.cells == pytest.approx(300.0**3)
    pair = np.multiply.outer(wide.probabilities, wide.probabilities).ravel()
    many = np.multiply.outer(wide.counts, wide.counts).ravel()
    exactly = float(many @ (10**6 * pair * np.exp((10**6 - 1) * np.log1p(-pair))))
    assert expected(product([wide] * 2), 10**6) == pytest.approx(exactly, rel=1e-4)


def test_combinations_too_rare_for_a_double_are_empty() -> None:
    rare = product([Bins.of([Fraction(1, 10**9), 1 - Fraction(1, 10**9)])] * 40)
    assert rare.probabilities[0] > 0
    assert rare.cells == pytest.approx(2.0**40)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(counts=weights, share=st.fractions(0, 1, max_denominator=50), cost=st.fractions(0, 20, max_denominator=7))
def test_group_sizes_are_the_least_and_the_best_of_all(counts: list[int], share: Fraction, cost: Fraction) -> None:
    bins, most = Bins.from_counts(counts), 60
    alone = {k: share_alone(bins, k) for k in range(1, most + 1)}
    enough = [k for k, value in alone.items() if value <= float(share)]
    assert least_group(bins, share, most) == (enough[0] if enough else None)
    best = most_alone(bins, cost, most)
    worth = {k: value - float(cost) / k for k, value in alone.items()}
    assert worth[best] == pytest.approx(max(worth.values()), abs=1e-12)


def test_example_5_6_has_10_people_to_a_postal_code_at_cost_1_and_37_at_cost_10() -> None:
    """Koot prints 10 and 38, by exp(-k/N) for the share alone; the exact share gives 37."""
    assert most_alone(Bins.uniform(95), 1, 10**6) == 10
    assert most_alone(Bins.uniform(95), 10, 10**6) == 37
