"""Membership attacks at realistic base rates: equation 11, its tables, and the paper's statements about them."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from crowdgate.risk.membership import SKEWS, Rates, base_rate, non_members_needed, pooled_limits, precision, recall
from crowdgate.risk.roc import RocPoint, at_skew, from_balanced_accuracy, from_balanced_precision, greatest_recall
from tests.risk.figure_10 import CARLINI, FPRS, PRECISIONS, SHOKRI, curve

rates = st.fractions(0, 1, max_denominator=10**6)
positive = rates.filter(bool)
skews = st.fractions(1, 10**4, max_denominator=100)
inside = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)
curves = st.lists(st.tuples(positive, positive), min_size=1, max_size=8).map(
    lambda pairs: [
        RocPoint(fpr, tpr)
        for fpr, tpr in zip(sorted(fpr for fpr, _ in pairs), sorted(tpr for _, tpr in pairs), strict=True)
    ]
)


@given(st.integers(1, 500), st.integers(0, 500), st.integers(1, 500), st.integers(1, 60))
def test_precision_and_shares_are_those_of_counted_targets(tp: int, fp: int, members: int, skew: int) -> None:
    members = max(members, tp)
    non_members = members * skew
    fp = min(fp, non_members)
    claim = at_skew(RocPoint(Fraction(fp, non_members), Fraction(tp, members)), skew)
    assert claim.precision == pytest.approx(tp / (tp + fp), rel=1e-15)
    assert claim.recall == recall(tp, members)
    assert claim.true_positives == pytest.approx(tp / (members + non_members), rel=1e-15)
    assert claim.predicted == pytest.approx((tp + fp) / (members + non_members), rel=1e-15)


@given(positive, rates, skews, skews)
def test_precision_falls_with_the_skew_and_meets_the_base_rate_where_both_rates_are_one(
    tpr: Fraction, fpr: Fraction, first: Fraction, second: Fraction
) -> None:
    assert precision(tpr, fpr, min(first, second)) >= precision(tpr, fpr, max(first, second))
    assert precision(1, 1, first) == base_rate(first)


@pytest.mark.thorough
@given(positive, rates)
def test_balanced_precision_and_accuracy_tell_the_rates_behind_them(tpr: Fraction, fpr: Fraction) -> None:
    point = RocPoint(fpr, tpr)
    assert from_balanced_precision(tpr, tpr / (tpr + fpr)) == point
    assert from_balanced_accuracy(tpr, (tpr + 1 - fpr) / 2) == point


@pytest.mark.parametrize(
    ("told", "first", "second", "name"),
    [
        (from_balanced_precision, "0.9", "0.3", "the false positive rate"),
        (from_balanced_precision, "0.9", 0, "precision"),
        (from_balanced_accuracy, "0.7", "0.95", "the false positive rate"),
        (from_balanced_accuracy, "0.7", "0.2", "the false positive rate"),
    ],
)
def test_what_no_rates_give_is_refused(told: object, first: str, second: str, name: str) -> None:
    assert callable(told)
    with pytest.raises(ValueError, match=f"^{name} must"):
        told(first, second)


@given(inside, positive, skews, st.sampled_from(["0.05", "0.01", "0.3"]))
def test_so_many_non_members_without_a_claim_show_a_precision_and_one_less_does_not(
    wanted: Fraction, tpr: Fraction, skew: Fraction, alpha: str
) -> None:
    needed = non_members_needed(wanted, tpr, skew, alpha)
    level = Fraction(alpha)
    limit = min(Fraction(1), tpr * (1 - wanted) / (wanted * skew))
    if limit < 1:
        assert needed * math.log1p(-float(limit)) <= math.log(level) * (1 - 1e-12)
        assert needed == 1 or (needed - 1) * math.log1p(-float(limit)) > math.log(level) * (1 + 1e-9)


def test_a_claim_of_one_half_at_1_to_240_with_a_tenth_of_the_members_needs_7189_non_members() -> None:
    assert non_members_needed("0.5", "0.1", 240, "0.05") == 7189


@given(st.integers(0, 40), st.integers(0, 40), skews)
def test_intervals_hold_the_measured_precision_and_meet_the_ends_of_rates(tp: int, fp: int, skew: Fraction) -> None:
    ends = pooled_limits(tp, 40, fp, 40, "0.05")
    low, high = ends.precision(skew)
    assert 0 <= low <= high <= 1
    if tp + fp:
        assert low <= precision(Fraction(tp, 40), Fraction(fp, 40), skew) <= high
        assert low == pytest.approx(precision(ends.tpr[0], ends.fpr[1], skew), rel=1e-15)
        assert high == pytest.approx(precision(ends.tpr[1], ends.fpr[0], skew), rel=1e-15)


def test_what_is_not_known_at_all_has_a_precision_from_0_to_1() -> None:
    assert Rates((0, 1), (0, 1)).precision(30) == (0, 1)
    assert Rates((0, 0), (0, 0)).precision(30) == (0, 1)
    assert pooled_limits(0, 0, 0, 0, "0.05") == Rates((0, 1), (0, 1))


@pytest.mark.thorough
@pytest.mark.parametrize(("tpr", "fpr"), [(0.1, 0.02), (0.5, 0.01), (0.02, 0.2), (0.9, 0.9)])
@pytest.mark.parametrize("skew", [1, 30])
def test_both_lower_ends_hold_together_and_both_upper_ends_do(tpr: float, fpr: float, skew: int) -> None:
    """All 31 x 41 outcomes of 30 members and 40 non-members, with their exact probabilities."""
    truth, alpha, low, high = precision(tpr, fpr, skew), 0.1, 0.0, 0.0
    hits, false = binom.pmf(np.arange(31), 30, tpr), binom.pmf(np.arange(41), 40, fpr)
    tprs = [pooled_limits(tp, 30, 0, 40, alpha).tpr for tp in range(31)]
    fprs = [pooled_limits(0, 30, fp, 40, alpha).fpr for fp in range(41)]
    for tp, fp in np.ndindex(31, 41):
        ends = Rates(tprs[tp], fprs[fp]).precision(skew)
        chance = float(hits[tp] * false[fp])
        low += chance * (ends[0] > truth or tprs[tp][0] > tpr)
        high += chance * (ends[1] < truth or tprs[tp][1] < tpr)
    assert low <= alpha
    assert high <= alpha


def best_of_all_pairs(points: list[RocPoint], wanted: Fraction, skew: Fraction) -> float | None:
    """Return the greatest recall of any mixture of two of the points, claiming everybody and claiming nobody."""
    ratio = wanted * skew / (1 - wanted)
    all_points = [(point.fpr, point.tpr) for point in points] + [(Fraction(1), Fraction(1)), (Fraction(0), Fraction(0))]
    margin = {point: point[1] - ratio * point[0] for point in all_points}
    found = [point[1] for point in all_points if margin[point] >= 0]
    for kept, other in product(all_points, repeat=2):
        if margin[kept] >= 0 > margin[other]:
            found.append(kept[1] + margin[kept] / (margin[kept] - margin[other]) * (other[1] - kept[1]))
    return float(max(found)) or None


@pytest.mark.thorough
@settings(deadline=None)
@given(curves, inside, skews)
def test_the_greatest_recall_is_that_of_the_best_mixture_of_points(
    points: list[RocPoint], wanted: Fraction, skew: Fraction
) -> None:
    expected = 1.0 if wanted * (1 + skew) <= 1 else best_of_all_pairs(points, wanted, skew)
    assert greatest_recall(points, wanted, skew) == expected


def test_between_two_points_no_more_is_reached_than_by_choosing_one_of_them_at_random() -> None:
    """A straight line between logarithms lies above all mixtures: it gave .54 where they reach .3."""
    points = [RocPoint(Fraction("0.0001"), Fraction("0.1")), RocPoint(Fraction("0.1"), Fraction("0.9"))]
    found = greatest_recall(points, "0.9", 3)
    share = (Fraction("0.1") - 27 * Fraction("0.0001")) / (Fraction("0.1") - 27 * Fraction("0.0001") + Fraction("1.8"))
    assert found == float(Fraction("0.1") + share * Fraction("0.8"))


@pytest.mark.parametrize("fpr", FPRS)
def test_equation_11_on_figure_10(fpr: str) -> None:
    """Every row of Figure 10 at 1:1, 1:30, 1:240 and 1:2400, to the fourth digit."""
    for tprs, rows in zip((SHOKRI, CARLINI), PRECISIONS, strict=True):
        found = [precision(tprs[fpr], fpr, skew) for skew in (1, 30, 240, 2400)] if fpr in tprs else []
        assert found == pytest.approx(rows.get(fpr, []), abs=5.1e-5)


def per(recall: float | None, skew: int) -> float:
    """Return the number of targets for each true positive."""
    assert recall is not None
    return (1 + skew) / recall


def test_forty_percent_is_for_1_in_15500_targets() -> None:
    """Printed: "Shokri et al. manage only 40% precision for 1/10000 targets." """
    at = at_skew(RocPoint(Fraction("0.0001"), Fraction("0.002")), 30)
    assert at.precision == 0.4
    assert (1 / at.recall, 1 / at.true_positives, 1 / at.predicted) == pytest.approx((500, 15_500, 6_200))
    assert greatest_recall(curve(SHOKRI), "0.4", 30) == 0.002
    assert greatest_recall(curve(SHOKRI), "0.5", 30) == 0.0003  # and half is there, at the next point
    assert greatest_recall(curve(SHOKRI), "0.4", 240) is None


def test_ninety_five_percent_is_for_1_in_120_or_2051_targets_and_nowhere_for_1_in_8000() -> None:
    """Printed: "an attacker can get 95% precision for only 1 in 8000 targets." """
    found = {skew: greatest_recall(curve(CARLINI), "0.95", skew) for skew in (30, 240, 2400)}
    assert found[2400] is None
    assert per(found[30], 30) == pytest.approx(119.6, abs=0.1)
    assert per(found[240], 240) == pytest.approx(2050.6, abs=0.1)
    assert per(found[240], 240) * 0.95 == pytest.approx(1948, abs=1)
    assert [found[30], found[240]] == pytest.approx([0.2591, 0.1175], abs=0.0001)


def test_eighty_percent_is_for_1_in_80_targets_at_the_hospitals() -> None:
    """Printed of the Hospitals curves, 1:30: "Even at 80% precision, [...] the recall is only 1 in 800." What
    comes near is the share of targets at 1:240 that get a prediction; recall is an equation (9) of members."""
    hospitals, texas = (greatest_recall(curve(CARLINI), "0.8", skew) for skew in (30, 240))
    assert (per(hospitals, 30), per(hospitals, 30) * 0.8) == pytest.approx((80, 64), abs=0.5)
    assert (per(texas, 240), per(texas, 240) * 0.8) == pytest.approx((1086, 869), abs=0.5)
    assert [hospitals, texas] == pytest.approx([0.3871, 0.2218], abs=0.0001)


@pytest.mark.parametrize("tprs", [SHOKRI, CARLINI])
def test_both_attacks_are_more_precise_than_claiming_everybody(tprs: dict[str, str]) -> None:
    """Printed: "neither of these attacks have better precision than simply predicting that every individual is a member
    (recall of 1.0)." That has 1/31 at 1:30."""
    assert base_rate(30) == pytest.approx(0.03226, abs=5e-6)
    for skew in SKEWS:
        above = [precision(tpr, fpr, skew) > base_rate(skew) for fpr, tpr in tprs.items() if fpr != "1"]
        assert all(above)


def test_a_chance_of_1_in_30_is_a_skew_of_29() -> None:
    """Printed: "a 1/5 chance that the target visited a hospital [...] 1/6 of the dataset. Therefore the skew for the
    first scenario is 1:30." """
    assert base_rate(30) == 1 / 31
    assert base_rate(29) == pytest.approx(1 / 5 * 1 / 6, rel=1e-15)


def test_texas_has_2400_or_more_for_each_member() -> None:
    """Printed: "the population of Texas is 2.4M, 10K of whom are in the training set. The skew is therefore 1:240." It
    has about 25 million inhabitants: 1:2499. Of 2.4 million 10,000 would be 1:239."""
    assert 1 / base_rate(239) == pytest.approx(2.4e6 / 1e4)
    assert 1 / base_rate(2499) == pytest.approx(25e6 / 1e4)
    assert max(precision(tpr, fpr, 240) for fpr, tpr in CARLINI.items()) == pytest.approx(0.9766, abs=5e-5)
    assert max(precision(tpr, fpr, 2400) for fpr, tpr in CARLINI.items()) == pytest.approx(0.8065, abs=5e-5)


def test_half_of_the_members_at_a_false_positive_rate_of_a_hundredth() -> None:
    found = [precision("0.5", "0.01", skew) for skew in SKEWS]
    assert [f"{each:.2f}" for each in found] == ["0.98", "0.96", "0.91", "0.83", "0.62", "0.50", "0.17", "0.02"]
