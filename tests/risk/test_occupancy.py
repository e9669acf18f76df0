"""Means, variances and distributions of bins with exactly j people, compared with enumeration and with simulation."""

from fractions import Fraction
from math import comb, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.risk import groups, occupancy, singletons
from crowdgate.risk.bins import Bins, GroupingLoss
from crowdgate.risk.prediction import SIZES, predict_singletons
from tests.examples import examples
from tests.oracles.zeta import singletons_distribution
from tests.risk.enumerated import law, mean_and_variance

weights = st.lists(st.integers(0, 9) | st.just(1000), min_size=1, max_size=5).filter(any)


def shares(given: list[int]) -> list[Fraction]:
    return [Fraction(each, sum(given)) for each in given]


@settings(max_examples=examples(60), deadline=None)
@given(given=weights, people=st.integers(0, 9), size=st.integers(1, 4))
def test_mean_variance_and_law_are_those_of_all_ways_to_fall(given: list[int], people: int, size: int) -> None:
    true = law(shares(given), people, size)
    mean, variance = mean_and_variance(true)
    bins = Bins.of(shares(given))
    assert groups.expected_groups(bins, people, size) == pytest.approx(float(mean), rel=1e-12, abs=1e-15)
    assert groups.variance_of_groups(bins, people, size) == pytest.approx(float(variance), rel=1e-12, abs=1e-12)
    found = occupancy.law(bins, people, size)
    assert found == pytest.approx([float(each) for each in true], rel=0, abs=1e-12)


@settings(max_examples=examples(40), deadline=None)
@given(given=weights, people=st.integers(1, 30))
def test_every_person_and_every_bin_is_in_a_group_of_some_size(given: list[int], people: int) -> None:
    bins = Bins.of(shares(given))
    each = [groups.share_in_groups_of(bins, people, size) for size in range(1, people + 1)]
    assert np.cumsum(each) == pytest.approx(
        [groups.share_in_groups_up_to(bins, people, size) for size in range(1, people + 1)], abs=1e-12
    )
    assert sum(each) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("n", "k", "var"), [(10**6, 50_000, 4468.515002141133), (10**6, 500_000, 165310.61741503526)])
def test_the_variance_keeps_its_digits_where_three_large_terms_cancel(n: int, k: int, var: float) -> None:
    assert singletons.variance(Bins.uniform(n), k) == pytest.approx(var, rel=1e-12)
    assert singletons.variance(Bins.uniform(10**12), 10**6) == pytest.approx(2.0, rel=1e-4)


@pytest.mark.thorough
def test_grouping_many_probabilities_hardly_moves_a_variance() -> None:
    bins = Bins.from_counts(np.random.default_rng(2).gamma(0.5, size=groups.MOST_PAIRED))
    exact = groups.variance_of_groups(bins, 3000, 1)
    few = bins.compressed(500)
    assert few.lost.apart.max() > 0.003
    assert groups.variance_of_groups(few, 3000, 1) == pytest.approx(exact, rel=1e-4)


def test_many_people_in_many_bins_are_as_simulated() -> None:
    """N = 400 rounds. Means of 400 and variances lie within 4.5 standard errors, a false alarm in 147,000 each."""
    bins = Bins.grouped([0.5, 1, 2], [400, 200, 200])
    chances = np.repeat(bins.probabilities, bins.counts.astype(int))
    draws = np.random.default_rng(11)
    rounds, people = 400, 500
    seen = np.array([draws.multinomial(people, chances) for _ in range(rounds)])
    for size in (1, 2, 3):
        found = (seen == size).sum(axis=1)
        variance = groups.variance_of_groups(bins, people, size)
        assert abs(found.mean() - groups.expected_groups(bins, people, size)) < 4.5 * sqrt(variance / rounds)
        assert abs(found.var(ddof=1) / variance - 1) < 4.5 * sqrt(2 / rounds)


def test_a_law_that_takes_too_long_is_refused_and_says_what_can_be_told() -> None:
    with pytest.raises(ValueError, match="ask for mean, variance"):
        singletons.distribution(Bins.from_counts(np.arange(1.0, 30_001.0)), 10**6)


def test_what_grouping_may_change_is_at_least_what_it_changes() -> None:
    bins = Bins.from_counts(np.random.default_rng(3).gamma(0.5, size=600) + 0.05)
    for people in (40, 400, 4000):
        few = bins.compressed(60)
        none = singletons.log_probability_none(few, people) - singletons.log_probability_none(bins, people)
        assert 0 < abs(none) <= occupancy.none_error_bound(few.lost, people)
        if people <= 400:
            unique = singletons.log_probability_all_unique(few, people)
            apart = unique - singletons.log_probability_all_unique(bins, people)
            assert 0 < apart <= occupancy.unique_error_bound(few.lost, people)


def lost(apart: list[float], counts: list[int]) -> GroupingLoss:
    return GroupingLoss(np.array(apart), np.array(counts, dtype=np.float64))


@pytest.mark.parametrize("apart", [Fraction(1, 50), Fraction(1, 7), Fraction(2, 5), Fraction(1, 2)])
def test_the_bound_of_a_pair_is_never_exceeded_and_hardly_above_the_greatest_change(apart: Fraction) -> None:
    """Exactly: two bins given their mean. Three people change the logarithm most for no singletons, and two for all
    unique; the bound rounds `apart` up to a sixteenth of an octave."""
    pair, mean = [(1 - apart) / 2, (1 + apart) / 2], [Fraction(1, 2)] * 2
    own = lost([float(apart)], [2])
    for people in range(2, 9):
        change = abs(log(law(pair, people, 1)[0] / law(mean, people, 1)[0]))
        assert change <= occupancy.none_error_bound(own, people) * (1 + 1e-12)
    assert occupancy.none_error_bound(own, 10**6) <= log(1 + 3 * apart**2) * 1.1
    unique = -log(law(pair, 2, 1)[2] / law(mean, 2, 1)[2])
    assert unique <= occupancy.unique_error_bound(own, 2) * (1 + 1e-12) <= unique * 1.2


def test_grouped_bins_are_paired_once_less_than_there_are_and_single_ones_never() -> None:
    for bound in (occupancy.none_error_bound, occupancy.unique_error_bound):
        one, other = bound(lost([0.01], [2]), 10**6), bound(lost([0.2], [2]), 10**6)
        assert bound(lost([0.01, 0.2, 0.3, 0.0], [6, 2, 1, 9]), 10**6) == pytest.approx(5 * one + other, rel=1e-12)


def test_bins_that_are_far_apart_are_bounded_by_the_factor_to_their_mean() -> None:
    """One bin is 50 times as likely as 20 others. Of three people nobody is alone if all fall into one bin."""
    shares = [Fraction(50, 70), *[Fraction(1, 70)] * 20]
    change = log(sum(share**3 for share in shares) * 21**2)
    own = lost([49 / 51], [21])
    assert change <= occupancy.none_error_bound(own, 3) == pytest.approx(3 * log(50), rel=1e-12)
    assert occupancy.unique_error_bound(lost([0.6], [2]), 7) == pytest.approx(7 * log(4), rel=1e-12)
    assert occupancy.none_error_bound(lost([1.0], [2]), 3) == inf


@settings(max_examples=examples(30), deadline=None)
@given(given=weights, people=st.integers(1, 8))
def test_a_prediction_is_all_of_these_figures(given: list[int], people: int) -> None:
    bins, true = Bins.of(shares(given)), law(shares(given), people, 1)
    found = predict_singletons(bins, people)
    mean, variance = mean_and_variance(true)
    assert (found.people, found.cells) == (people, len(given))
    assert found.singletons == pytest.approx(float(mean), abs=1e-12)
    assert found.spread**2 == pytest.approx(float(variance), abs=1e-12)
    assert found.at_least_one == pytest.approx(float(1 - true[0]), abs=1e-12)
    assert [*found.shares] == [*SIZES]
    assert found.shares[1] == pytest.approx(float(mean) / people, abs=1e-12)


@pytest.mark.parametrize(("n", "k"), [(365, 35), (365, 50), (10**4, 100), (10**6, 60), (40, 150)])
def test_the_law_is_right_where_another_saddle_point_is_as_large(n: int, k: int) -> None:
    true = [float(each) for each in singletons_distribution(k, n)]
    assert occupancy.law(Bins.uniform(n), k, 1) == pytest.approx(true, rel=0, abs=1e-12)


def test_the_law_of_unequal_bins_has_their_mean_and_variance() -> None:
    bins = Bins.from_counts(np.random.default_rng(8).gamma(0.5, size=60) + 0.01)
    for size in (1, 2, 5):
        found = occupancy.law(bins, 45, size)
        at = np.arange(len(found))
        mean = float(found @ at)
        assert mean == pytest.approx(groups.expected_groups(bins, 45, size), abs=1e-10)
        variance = groups.variance_of_groups(bins, 45, size)
        assert float(found @ at**2) - mean**2 == pytest.approx(variance, abs=1e-9)


def test_a_bin_that_holds_nearly_all_costs_no_digits() -> None:
    for rest in (1e9, 1e12):
        share = Fraction(1, int(rest))
        two_apart = 4 * share * (1 - share)
        assert groups.expected_groups(Bins.from_counts([rest - 1, 1]), 2, 1) == pytest.approx(
            float(two_apart), rel=1e-13
        )
    one = Fraction(12, 10**8)
    alone = 3 * one * (1 - one)  # one of three apart from two, or two from one
    spread = groups.variance_of_groups(Bins.of([one, 1 - one]), 3, 1)
    assert spread == pytest.approx(float(alone - alone**2), rel=1e-12)


@pytest.mark.parametrize("most", [10**9, 10**12])
@pytest.mark.parametrize(("people", "size"), [(2, 1), (3, 2), (40, 3)])
def test_shares_keep_their_digits_where_one_bin_holds_nearly_all(most: int, people: int, size: int) -> None:
    shares = [Fraction(1, most), 1 - Fraction(1, most)]
    few = [sum(comb(people - 1, i) * p**i * (1 - p) ** (people - 1 - i) for i in range(size)) for p in shares]
    true = sum((p * each for p, each in zip(shares, few, strict=True)), Fraction(0))
    found = groups.share_in_groups_up_to(Bins.from_counts([most - 1, 1]), people, size)
    assert found == pytest.approx(float(true), rel=1e-14, abs=0)
