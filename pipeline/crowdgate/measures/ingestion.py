"""Measures of the table at ingestion: invalid cells and people with too many rows, through paid noise.

Counts are in privacy units, so one unit more or less changes a count by at most 1, however many rows it has. Invalid
cells are counted before invalid rows are dropped. Rows of a person are counted after that.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, Input, Measurement, OutputType, Static
from crowdgate.measures.base import NOT_NEGATIVE, SHARE, Aspect, BetterSide, Measure, MeasureClass, unbounded
from crowdgate.measures.charged_counts import noisy_measurement, published_noisy_measurement

if TYPE_CHECKING:
    from crowdgate.policy.policy import GateRule

SENSITIVITY = 1


def share_sensitivity(share: Fraction) -> int:
    """Return the largest change of q count - p all by one unit more or less, for a share p / q from 0 to 1: max(p, q -
    p).

    A counted unit adds q - p, any other one subtracts p.
    """
    return max(share.numerator, share.denominator - share.numerator)


def _invalid_share(candidate: Candidate, rule: GateRule) -> Measurement | None:
    found, share = candidate.input, rule.at_most
    if found is None or share is None or rule.of is None or rule.of not in found.invalid_in:
        return None
    excess = share.denominator * found.invalid_in[rule.of] - share.numerator * found.units
    return noisy_measurement(candidate, rule, excess, share_sensitivity(share), share.denominator)


def _of_noisy_excess(_: Static, rule: GateRule, noisy: Fraction) -> Measurement | None:
    share = rule.at_most
    return (
        published_noisy_measurement(rule, noisy, share_sensitivity(share), share.denominator)
        if share is not None
        else None
    )


def _count(read: Callable[[Input], int]) -> Callable[[Candidate, GateRule], Measurement | None]:
    def measured(candidate: Candidate, rule: GateRule) -> Measurement | None:
        found = candidate.input
        return None if found is None else noisy_measurement(candidate, rule, read(found), SENSITIVITY)

    return measured


def _of_noisy_count(_: Static, rule: GateRule, noisy: Fraction) -> Measurement | None:
    return published_noisy_measurement(rule, noisy, SENSITIVITY)


INVALID_SHARE = Measure(
    name="invalid_share",
    summary="by how many more persons (rows, where each is a person) have an invalid cell in the column than the share"
    " `at_most` allows, with discrete Laplace noise",
    sentence="It asks whether the share of people with an unusable value of {of} is within the limit. It is a check of"
    " what comes in,\nand protects nobody.",
    reads=MeasureClass.CHARGED,
    shape=OutputType.INPUT,
    aspect=Aspect.INGESTION,
    better=BetterSide.SMALLER,
    accumulates=False,
    range=SHARE,
    reach=unbounded,
    of_candidate=_invalid_share,
    of_noisy=_of_noisy_excess,
    steady=True,
    of=True,
    excess=True,
)
INVALID_PEOPLE = Measure(
    name="invalid_people",
    summary="number of persons (rows, where each is a person) with an invalid cell in any column that is read, with"
    " discrete Laplace noise",
    sentence="It counts people with an unusable value in any column that is read. It is a check of what comes in, and"
    " protects nobody.",
    reads=MeasureClass.CHARGED,
    shape=OutputType.INPUT,
    aspect=Aspect.INGESTION,
    better=BetterSide.SMALLER,
    accumulates=False,
    range=NOT_NEGATIVE,
    reach=unbounded,
    of_candidate=_count(lambda found: found.invalid),
    of_noisy=_of_noisy_count,
    steady=True,
)
TRUNCATED_PEOPLE = Measure(
    name="truncated_people",
    summary="number of persons with more rows than the contract's m, with discrete Laplace noise",
    sentence="It counts people with more rows than may stay, whose other rows are left out. It is a check of what"
    " comes in, and protects\nnobody.",
    reads=MeasureClass.CHARGED,
    shape=OutputType.INPUT,
    aspect=Aspect.INGESTION,
    better=BetterSide.SMALLER,
    accumulates=False,
    range=NOT_NEGATIVE,
    reach=unbounded,
    of_candidate=_count(lambda found: found.truncated),
    of_noisy=_of_noisy_count,
    steady=True,
    several_rows=True,
)
