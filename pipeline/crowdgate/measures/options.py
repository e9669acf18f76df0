"""Options of gates: the range of each, for checking a policy and for verifying a release."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.limits import GREATEST_K, MOST_PEOPLE, MOST_SKEW
from crowdgate.measures.guarantees import DEFAULT_RECALL, DEFAULT_SKEW, DEFAULT_WEIGHT
from crowdgate.risk.inference import COVERAGES

if TYPE_CHECKING:
    from crowdgate.measures.base import Measure
    from crowdgate.policy.policy import GateRule

FINEST_SHARE = 10**6
"""Shares are stated in at most six decimals."""


@dataclass(frozen=True)
class Option:
    """A check of an option's value, its range in words, and its description."""

    holds: Callable[[Fraction], bool]
    expected: str
    description: str


def _whole_number_check(least: int, most: int) -> Callable[[Fraction], bool]:
    return lambda number: number.denominator == 1 and least <= number <= most


OPTIONS: Mapping[str, Option] = {
    "weight": Option(
        lambda weight: 0 < weight <= 1,
        "a weight above 0 and at most 1",
        "How narrow a description is: the probability that it fits somebody at random. By default 1e-9.",
    ),
    "skew": Option(
        lambda skew: 1 <= skew <= MOST_SKEW,
        "a number of non-members for each member, from 1 to 1e9",
        "How many people outside the table there are for each one in it. By default 30.",
    ),
    "recall": Option(
        lambda recall: 0 < recall <= 1,
        "a share of the members above 0 and at most 1",
        "The share of the people in the table that is found at least. By default .01.",
    ),
    "coverage": Option(
        COVERAGES.__contains__,
        "the share of people for whom a guess is made: 1, 0.1, 0.01 or 0.001",
        "The share of the people for whom guesses are made.",
    ),
    "people": Option(
        _whole_number_check(1, MOST_PEOPLE),
        "a whole number of people from 1 to 1e12",
        "How many people there are at most; by default the budget's bound.",
    ),
    "least_people": Option(
        _whole_number_check(1, MOST_PEOPLE),
        "a whole number of people from 1 to 1e12",
        "How many people there are at least; by default 1. One person is always unique, so a share or a probability"
        " needs it.",
    ),
    "max_age": Option(
        lambda age: age.denominator == 1 and age >= 0,
        "a whole number of days, 0 or more",
        "How many days old the recorded audit may be.",
    ),
    "quartile": Option(_whole_number_check(1, 3), "1, 2 (the median) or 3", "Which quartile: 1, 2 or 3."),
    "ways": Option(
        _whole_number_check(1, 2),
        "1 (single values) or 2 (pairs of values too)",
        "The greatest number of columns of the margins whose cells are counted. By default 1.",
    ),
    "size": Option(
        _whole_number_check(1, GREATEST_K),
        "a whole number of rows or people, from 1 to 1e9",
        "The number of rows, people or records that a group may have, as the measure states.",
    ),
}
"""Options by name. A name has one meaning in all measures."""


DEFAULTS: Mapping[str, Fraction] = {
    "weight": DEFAULT_WEIGHT, "skew": DEFAULT_SKEW, "recall": DEFAULT_RECALL, "size": Fraction(1),
    "ways": Fraction(1),
    "least_people": Fraction(1),
}  # fmt: skip
"""Values of options that are not stated (for `size`, if it is optional)."""


def effective_options(options: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Return the options without those that state a default (`size` is retained even then): two gates on one measure
    are different if these differ."""
    return {name: value for name, value in options.items() if DEFAULTS.get(name) != value or name == "size"}


def wrong_options(rule: GateRule, measure: Measure) -> Iterator[tuple[str, str]]:
    """Yield (option, its expected range in words) for each option of a gate that is out of range."""
    for name, value in rule.options.items():
        if name in OPTIONS and not OPTIONS[name].holds(value):
            yield name, OPTIONS[name].expected
        elif name == "size" and value < measure.least_size:
            yield name, f"a whole number from {measure.least_size} on: no class is smaller than one row"


def limit_fits(rule: GateRule, measure: Measure) -> bool:
    """Return whether a gate on an excess states its share with `at_most`, in at most six decimals; other measures
    accept any limit."""
    low, high = measure.range
    share = rule.at_most
    return not measure.excess or (share is not None and low <= share <= high and FINEST_SHARE % share.denominator == 0)
