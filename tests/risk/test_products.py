"""Classes of independent attributes together."""

from fractions import Fraction
from itertools import product as every

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.limits import MOST_DISTINCT
from crowdgate.risk import products, singletons
from crowdgate.risk.bins import Bins
from crowdgate.risk.prediction import predict_singletons
from crowdgate.risk.products import product
from crowdgate.risk.singletons import all_unique_within, expected, none_within
from tests.examples import examples

weights = st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any)


def shares(counts: list[int]) -> list[Fraction]:
    return [Fraction(count, sum(counts)) for count in counts]


@settings(max_examples=examples(25), deadline=None, derandomize=True)
@given(attributes=st.lists(weights, min_size=1, max_size=3), people=st.integers(1, 30))
def test_a_product_has_a_bin_for_every_combination(attributes: list[list[int]], people: int) -> None:
    cells = [Fraction(1)]
    for counts in attributes:
        cells = [cell * share for cell, share in every(cells, shares(counts))]
    found = product(Bins.from_counts(counts) for counts in attributes)
    assert found.cells == pytest.approx(len(cells))
    assert found.empty == pytest.approx(cells.count(Fraction(0)))
    assert expected(found, people) == pytest.approx(expected(Bins.of(cells), people), rel=1e-12, abs=1e-12)


@pytest.mark.thorough
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


@pytest.mark.thorough
@pytest.mark.parametrize(("values", "odd"), [(41, 1e-9), (121, 1.0)])
def test_what_a_grouped_product_says_is_within_its_error_of_the_law_that_is_not(
    values: int, odd: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The odd value spreads the logarithms, so that most others share a group."""
    monkeypatch.setattr(products, "_MOST_OF_ONE", 60)
    monkeypatch.setattr(products, "MOST_DISTINCT", 500)
    draws, few = np.random.default_rng(1), 41
    one, other = (Bins.from_counts(np.append(draws.uniform(0.5, 1.5, n - 1), odd)) for n in (values, few))
    found, whole = product([one, other]), np.multiply.outer(one.probabilities, other.probabilities).ravel()
    assert len(found.probabilities) <= 500
    monkeypatch.setattr(singletons, "MOST_DISTINCT", 10**6)
    ungrouped = Bins.from_counts(whole)
    for people in (20, 100):
        said = predict_singletons(found, people)
        for each, true in (
            (said.none, none_within(ungrouped, people)),
            (said.all_unique, all_unique_within(ungrouped, people)),
        ):
            assert true.error < 1e-9 < abs(each.value - true.value) <= each.error < 10


def test_as_many_people_as_grouped_combinations_keep_to_the_stated_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "MOST_DISTINCT", 3)
    one = Bins.from_counts([10, 11, 12, 13])
    every = Bins.from_counts(np.multiply.outer(one.probabilities, one.probabilities).ravel())
    found, true = (all_unique_within(bins, 16) for bins in (product([one, one]), every))
    assert true.error < 1e-9 < abs(found.value - true.value) <= found.error < 1


def test_combinations_too_rare_for_a_double_are_empty() -> None:
    rare = product([Bins.of([Fraction(1, 10**9), 1 - Fraction(1, 10**9)])] * 40)
    assert rare.probabilities[0] > 0
    assert rare.cells == pytest.approx(2.0**40)
