"""Unique people in a group drawn without replacement: compared with exact sums, and with draws from real tables."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb, exp, log1p

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.risk.bins import Bins
from crowdgate.risk.class_sizes import ClassSizes
from crowdgate.risk.drawn_groups import NEAR, expected_singletons, most_singletons, share_in_sets_up_to
from crowdgate.risk.prediction import predict_singletons
from tests.examples import examples
from tests.risk.shared_tables import TABLES, class_counts

SIZES = st.lists(st.sampled_from([1, 1, 2, 3, 5, 17, 60]), min_size=1, max_size=10)


def singletons(counts: list[int], k: int) -> Fraction:
    """Return the expected number of unique people in a group of k, term by term."""
    people = sum(counts)
    return sum((Fraction(size * comb(people - size, k - 1), comb(people, k)) for size in counts), Fraction(0))


def small_share(counts: list[int], k: int, most: int) -> Fraction:
    """Return the expected share of a group of k in classes with at most `most` of the group, term by term."""
    people, total = sum(counts), Fraction(0)
    for size in counts:
        for held in range(1, min(size, most, k) + 1):
            total += Fraction(held * comb(size, held) * comb(people - size, k - held), k * comb(people, k))
    return total


@given(counts=SIZES, place=st.fractions(0, 1), most=st.integers(1, 8))
def test_expectations_are_exact_sums(counts: list[int], place: Fraction, most: int) -> None:
    classes, k = ClassSizes.of(np.array(counts)), 1 + int(place * (sum(counts) - 1))
    assert expected_singletons(classes, k) == pytest.approx(float(singletons(counts, k)), rel=1e-12, abs=1e-14)
    assert share_in_sets_up_to(classes, k, most) == pytest.approx(float(small_share(counts, k, most)), abs=1e-12)


@given(counts=SIZES, ends=st.tuples(st.fractions(0, 1), st.fractions(0, 1)))
def test_the_worst_group_is_found_between_any_two_sizes(counts: list[int], ends: tuple[Fraction, Fraction]) -> None:
    low, high = sorted(1 + int(end * (sum(counts) - 1)) for end in ends)
    truth = float(max(singletons(counts, k) for k in range(low, high + 1)))
    found = most_singletons(ClassSizes.of(np.array(counts)), low, high)
    assert truth * (1 - NEAR) - 1e-12 <= found <= truth * (1 + 1e-12)


@given(counts=SIZES, ends=st.tuples(st.integers(1, 700), st.integers(1, 700)), most=st.integers(1, 5))
def test_more_people_never_lower_the_worst_number_nor_raise_the_share(
    counts: list[int], ends: tuple[int, int], most: int
) -> None:
    classes, (few, many) = ClassSizes.of(np.array(counts)), sorted(ends)
    assert most_singletons(classes, 1, few) <= most_singletons(classes, 1, many) * (1 + NEAR)
    assert share_in_sets_up_to(classes, few, most) >= share_in_sets_up_to(classes, many, most) - 1e-12


def test_digits_are_kept_for_a_trillion_people() -> None:
    """Compared with the product over the other members of the class, factor by factor."""
    people, size, k = 10**12, 10**4, 10**8
    classes = ClassSizes(np.array([float(size), float(people - size)]), np.ones(2))
    none_of_the_others = sum(log1p(-(k - 1) / (people - 1 - i)) for i in range(size - 1))
    assert expected_singletons(classes, k) == pytest.approx(size * k / people * exp(none_of_the_others), rel=1e-11)


@pytest.mark.thorough
@pytest.mark.parametrize("table", TABLES)
def test_draws_from_real_tables_have_the_expected_number_of_unique_people(table: str) -> None:
    """1,000 groups of each of three sizes from each of six tables: the mean of each is within 4 standard errors of the
    expectation (false alarm 6e-5 each, 1e-3 for all 18). Shares drawn with replacement are off by 30 standard errors
    or more for the two larger sizes.

    The expectation and 1.96 standard deviations hold at least 95 % of the draws, less 3 standard errors: numbers are
    whole, so half a person is added on either side. The quotient of these limits is at most 3.
    """
    counts, draws = class_counts(table), np.random.default_rng(36)
    classes, people, bins = ClassSizes.of(counts), int(counts.sum()), Bins.of_table(counts.tolist())
    for k in (people // 50, people // 3, people - people // 10):
        found = [np.count_nonzero(draws.multivariate_hypergeometric(counts, k) == 1) for _ in range(1000)]
        off = abs(np.mean(found) - expected_singletons(classes, k))
        assert off <= 4 * np.std(found) / np.sqrt(1000) + 1e-9
        told = predict_singletons(bins, k)
        low, high = (told.singletons + side * (1.96 * told.spread + 0.5) for side in (-1, 1))
        assert np.mean([low <= each <= high for each in found]) >= 0.95 - 3 * (0.95 * 0.05 / 1000) ** 0.5
        assert high <= 3 * low


def test_a_whole_table_is_counted_not_drawn_with_replacement() -> None:
    counts = np.array([1] * 174 + [20] * 455)
    classes = ClassSizes.of(counts)
    assert expected_singletons(classes, classes.people) == pytest.approx(174, rel=1e-12)


@given(counts=st.lists(st.integers(1, 4), min_size=1, max_size=5))
@settings(max_examples=examples(30), deadline=None)
def test_a_prediction_of_a_table_holds_for_every_group_that_can_be_drawn(counts: list[int]) -> None:
    """Compared with a list of all groups; a group larger than the table is the table."""
    bins, people = Bins.of_table(counts), sum(counts)
    of = [at for at, size in enumerate(counts) for _ in range(size)]
    for k in {1, min(people, 3), people, people + 5}:
        groups = [Counter(group) for group in combinations(of, min(k, people))][:5000]
        singles = [sum(held == 1 for held in group.values()) for group in groups]
        found = predict_singletons(bins, k)
        assert found.people == min(k, people)
        assert found.singletons == pytest.approx(np.mean(singles), rel=1e-9, abs=1e-12)
        assert found.spread == pytest.approx(np.std(singles), rel=1e-6, abs=1e-6)
        assert found.all_singletons == pytest.approx(np.mean([each == found.people for each in singles]), abs=1e-9)
        assert found.at_least_one >= np.mean([each > 0 for each in singles]) - 1e-12
        few = np.mean([sum(held for held in group.values() if held <= 5) / found.people for group in groups])
        assert found.shares[5] == pytest.approx(few, abs=1e-9)
