"""Noise distributions: masses add up; tails and widths equal sums term by term."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.discrete_laws import DiscreteGaussian, DiscreteLaplace, Law
from tests.examples import examples

scales = st.fractions(Fraction(1, 5), 30, max_denominator=40)
laws = st.one_of(scales.map(DiscreteLaplace), scales.map(lambda s: DiscreteGaussian(s**2)))


def reach(law: Law) -> int:
    return int(60 * float(law.scale)) + 5 if isinstance(law, DiscreteLaplace) else int(40 * law.sigma) + 5


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(law=laws)
def test_masses_add_up_to_one_and_give_the_variance(law: Law) -> None:
    support = range(-reach(law), reach(law) + 1)
    assert math.fsum(law.mass(x) for x in support) == pytest.approx(1, rel=1e-12)
    assert math.fsum(x * x * law.mass(x) for x in support) == pytest.approx(law.variance, rel=1e-9)


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(law=laws, q=st.integers(-20, 60))
def test_tails_are_sums_of_masses(law: Law, q: int) -> None:
    summed = math.fsum(law.mass(x) for x in range(q + 1, reach(law) + 1))
    assert law.tail(q) == pytest.approx(summed, rel=1e-9, abs=1e-15)


@settings(max_examples=examples(80), deadline=None, derandomize=True)
@given(law=laws, confidence=st.floats(0.5, 0.999))
def test_the_half_width_is_the_least_that_covers_often_enough(law: Law, confidence: float) -> None:
    q = law.half_width(confidence)
    assert math.fsum(law.mass(x) for x in range(-q, q + 1)) >= confidence - 1e-12
    assert q == 0 or math.fsum(law.mass(x) for x in range(-q + 1, q)) < confidence + 1e-12


def test_at_epsilon_one_coverage_jumps_from_927_to_973_thousandths() -> None:
    law = DiscreteLaplace(Fraction(1))
    assert [round(law.coverage(q), 4) for q in (2, 3)] == [0.9272, 0.9732]
    assert law.half_width() == 3


def test_a_wide_gaussian_has_the_normal_width_and_never_a_smaller_tail() -> None:
    narrow, wide = DiscreteGaussian(Fraction(9_999**2)), DiscreteGaussian(Fraction(10_001**2))
    assert wide.half_width() == pytest.approx(1.959964 * 10_001, abs=2)
    assert narrow.half_width() == pytest.approx(1.959964 * 9_999, abs=2)
    assert wide.variance == 10_001**2
    assert wide.tail(20_000) >= narrow.tail(20_000)
