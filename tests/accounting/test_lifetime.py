"""The promise of a lifetime is that of its caps, and a closed budget is added to it as a whole."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.accounting.lifetime import Lifetime
from crowdgate.accounting.renyi import Divergences
from crowdgate.accounting.renyi_filter import Filter

EPSILONS = st.fractions(Fraction(1, 10), 20, max_denominator=1000)
DELTAS = st.fractions(Fraction(1, 10**12), Fraction(1, 10), max_denominator=10**12)


@given(EPSILONS, DELTAS)
def test_a_planned_lifetime_keeps_its_budget(epsilon: Fraction, delta: Fraction) -> None:
    assert Lifetime.planned(epsilon, delta).delta(epsilon) <= delta


@given(EPSILONS, DELTAS, EPSILONS, DELTAS)
def test_a_closed_budget_is_added_as_a_whole(
    epsilon: Fraction, delta: Fraction, closed: Fraction, lost: Fraction
) -> None:
    both = Lifetime.planned(epsilon + closed, delta + lost, (closed, lost))
    assert both.filter == Filter.planned(epsilon, delta)
    assert both.delta(epsilon + closed) <= delta + lost
    assert both.delta(closed + epsilon) == min(1, lost + Fraction(both.filter.delta(epsilon)))
    assert both.delta(closed / 2) == 1


def test_stated_points_are_those_of_the_curve() -> None:
    lifetime = Lifetime.planned(Fraction(4), Fraction("1e-8"))
    points = lifetime.points(Fraction(4))
    assert [lifetime.delta(epsilon) for epsilon, _ in points] == [delta for _, delta in points]
    assert dict(points)[Fraction(4)] <= Fraction("1e-8")
    assert all(one >= other for (_, one), (_, other) in pairwise(points))


def test_what_is_used_is_read_at_the_order_that_has_most_left_or_off_the_cut_mass() -> None:
    lifetime = Lifetime.planned(Fraction(4), Fraction("1e-8"))
    caps, cut = lifetime.filter.caps, lifetime.filter.cut_cap
    half = Divergences((caps[0], caps[1] / 2, caps[2] * 2))
    assert lifetime.used(half) == Fraction(1, 2)
    assert lifetime.used(Divergences(half.amounts, cut * 3 / 4)) == Fraction(3, 4)
    assert lifetime.keeps(Fraction(4), Fraction("1e-8"))
    assert not lifetime.keeps(Fraction(4), Fraction("0.99e-8"))


@pytest.mark.parametrize(("epsilon", "delta"), [(0, "1e-8"), (101, "1e-8"), (4, "1e-101"), (4, 0), (4, 1)])
def test_a_lifetime_has_amounts_that_a_filter_can_keep(epsilon: int, delta: str) -> None:
    with pytest.raises(ValueError, match="epsilon above 0 up to 100"):
        Lifetime.planned(Fraction(epsilon), Fraction(delta))
