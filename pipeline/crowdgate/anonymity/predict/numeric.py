"""Numbers that people are asked for in intervals, with a known distribution (Koot 2012, sections 6.3 and 6.4)."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import exp, floor

import numpy as np

from crowdgate.domain import number_label
from crowdgate.policy.questionnaire import NumericAnswer, QuestionSpec
from crowdgate.risk import widths
from crowdgate.risk.bins import Bins
from crowdgate.risk.correlated import bivariate_normal, rectangle
from crowdgate.system import lazy_libraries

WIDER = (1, 2, 5, 10, 20, 50)
"""Factors by which the interval width of a numeric question is multiplied: 1 is the requested width."""


def width_name(width: Fraction) -> str:
    """Return the name of intervals of a width, such as "intervals of 10"."""
    return f"intervals of {number_label(width)}"


def widths_of(numeric: NumericAnswer) -> list[Fraction]:
    """Return the interval width that a numeric question requests, and wider ones."""
    return [times * numeric.width for times in WIDER]


def intervals(numeric: NumericAnswer, width: Fraction, people: int) -> Bins:
    """Return the probabilities of the intervals of this width that hold the numbers of `people` people. Raises
    ValueError for too many intervals."""
    match numeric.law:
        case "uniform":
            return widths.uniform(numeric.parameter("high") - numeric.parameter("low"), width)
        case "exponential":
            return widths.exponential(1 / numeric.parameter("mean"), width)
        case "normal":
            return widths.normal(numeric.parameter("mean"), numeric.parameter("sd"), width, people)
    return widths.density(_floats(numeric.edges), _floats(numeric.counts), width)


def rectangles(one: NumericAnswer, other: NumericAnswer, rho: Fraction, width: Fraction, other_width: Fraction) -> Bins:
    """Return the joint probabilities of the intervals of two Normal numbers with correlation `rho`; `width` and
    `other_width` are their interval widths. Raises ValueError for too many intervals."""
    return bivariate_normal(
        one.parameter("sd"),
        other.parameter("sd"),
        rho,
        width,
        other_width,
        one.parameter("mean"),
        other.parameter("mean"),
    )


def pairs(questions: Sequence[QuestionSpec]) -> Iterator[tuple[QuestionSpec, QuestionSpec, Fraction]]:
    """Yield each pair of questions that ask for correlated numbers, with the correlation."""
    named = {each.name: each for each in questions}
    for each in questions:
        if each.numeric is not None and each.numeric.correlated is not None:
            yield each, named[each.numeric.correlated.with_], each.numeric.correlated.rho


def share_at(numeric: NumericAnswer, number: Fraction) -> float:
    """Return the share of people whose number is in the same interval as `number`."""
    low, high = _interval_ends(numeric, number)
    return _share_below(numeric, high) - _share_below(numeric, low)


def share_of_both(one: NumericAnswer, other: NumericAnswer, rho: Fraction, numbers: Sequence[Fraction]) -> float:
    """Return the share of people whose two numbers, of correlation `rho`, are in the same two intervals as
    `numbers`."""
    return rectangle(_standardised_interval(one, numbers[0]), _standardised_interval(other, numbers[1]), float(rho))


def _standardised_interval(numeric: NumericAnswer, number: Fraction) -> tuple[float, float]:
    """Return both ends of the interval that contains `number`, in standard deviations from the mean."""
    low, high = (
        float((end - numeric.parameter("mean")) / numeric.parameter("sd")) for end in _interval_ends(numeric, number)
    )
    return low, high


def _interval_ends(numeric: NumericAnswer, number: Fraction) -> tuple[Fraction, Fraction]:
    start = numeric.parameter("low") if numeric.law == "uniform" else Fraction(0)
    low = start + floor((number - start) / numeric.width) * numeric.width
    return low, low + numeric.width


def _share_below(numeric: NumericAnswer, number: Fraction) -> float:
    """Return the share of people whose number is at most `number`."""
    match numeric.law:
        case "uniform":
            low, high = numeric.parameter("low"), numeric.parameter("high")
            return min(max(float((number - low) / (high - low)), 0.0), 1.0)
        case "exponential":
            return 1 - exp(-max(0.0, float(number / numeric.parameter("mean"))))
        case "normal":
            return float(
                lazy_libraries.special.ndtr(float((number - numeric.parameter("mean")) / numeric.parameter("sd")))
            )
    people = np.concatenate([[0.0], np.cumsum(_floats(numeric.counts))])
    return float(np.interp(float(number), _floats(numeric.edges), people / people[-1]))


def _floats(numbers: Sequence[Fraction] | None) -> list[float]:
    return [float(each) for each in numbers or ()]
