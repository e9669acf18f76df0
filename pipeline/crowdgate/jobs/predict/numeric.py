"""Numbers that people are asked for in intervals, by a law that is known of them (Koot 2012, sections 6.3 and 6.4)."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import exp, floor

import numpy as np

from crowdgate import libraries
from crowdgate.domain import number_label
from crowdgate.policy.questionnaire import Numeric, Question
from crowdgate.risk import widths
from crowdgate.risk.bins import Bins
from crowdgate.risk.correlated import bivariate_normal, rectangle

WIDER = (1, 2, 5, 10, 20, 50)
"""How many times as wide intervals could be."""


def width_name(width: Fraction) -> str:
    """What asking in intervals of a width is called."""
    return f"intervals of {number_label(width)}"


def widths_of(numeric: Numeric) -> list[Fraction]:
    """The width that is asked, and wider ones."""
    return [times * numeric.width for times in WIDER]


def intervals(numeric: Numeric, width: Fraction, people: int) -> Bins:
    """The classes of so many people by the interval that their number is in. ValueError for too many."""
    match numeric.law:
        case "uniform":
            return widths.uniform(numeric.stated("high") - numeric.stated("low"), width)
        case "exponential":
            return widths.exponential(1 / numeric.stated("mean"), width)
        case "normal":
            return widths.normal(numeric.stated("mean"), numeric.stated("sd"), width, people)
    return widths.density(_floats(numeric.edges), _floats(numeric.counts), width)


def rectangles(one: Numeric, other: Numeric, rho: Fraction, width: Fraction, other_width: Fraction) -> Bins:
    """The classes of people by two numbers that go together. ValueError for too many."""
    return bivariate_normal(
        one.stated("sd"), other.stated("sd"), rho, width, other_width, one.stated("mean"), other.stated("mean")
    )


def pairs(questions: Sequence[Question]) -> Iterator[tuple[Question, Question, Fraction]]:
    """Questions for numbers that go together, with their correlation."""
    named = {each.name: each for each in questions}
    for each in questions:
        if each.numeric is not None and each.numeric.correlated is not None:
            yield each, named[each.numeric.correlated.with_], each.numeric.correlated.rho


def share_at(numeric: Numeric, number: Fraction) -> float:
    """The share of people whose number is in the same interval."""
    low, high = _ends(numeric, number)
    return _below(numeric, high) - _below(numeric, low)


def share_of_both(one: Numeric, other: Numeric, rho: Fraction, numbers: Sequence[Fraction]) -> float:
    """The share of people whose two numbers are in the same intervals."""
    return rectangle(_scaled(one, numbers[0]), _scaled(other, numbers[1]), float(rho))


def _scaled(numeric: Numeric, number: Fraction) -> tuple[float, float]:
    """The ends of its interval in standard deviations from the mean."""
    low, high = (float((end - numeric.stated("mean")) / numeric.stated("sd")) for end in _ends(numeric, number))
    return low, high


def _ends(numeric: Numeric, number: Fraction) -> tuple[Fraction, Fraction]:
    start = numeric.stated("low") if numeric.law == "uniform" else Fraction(0)
    low = start + floor((number - start) / numeric.width) * numeric.width
    return low, low + numeric.width


def _below(numeric: Numeric, number: Fraction) -> float:
    """The share of people whose number is at most this one."""
    match numeric.law:
        case "uniform":
            low, high = numeric.stated("low"), numeric.stated("high")
            return min(max(float((number - low) / (high - low)), 0.0), 1.0)
        case "exponential":
            return 1 - exp(-max(0.0, float(number / numeric.stated("mean"))))
        case "normal":
            return float(libraries.special.ndtr(float((number - numeric.stated("mean")) / numeric.stated("sd"))))
    people = np.concatenate([[0.0], np.cumsum(_floats(numeric.counts))])
    return float(np.interp(float(number), _floats(numeric.edges), people / people[-1]))


def _floats(numbers: Sequence[Fraction] | None) -> list[float]:
    return [float(each) for each in numbers or ()]
