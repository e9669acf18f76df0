"""Measures of small classes of the whole table, and of the rows in them, through paid noise.

A row more or less makes one class larger or smaller by one. So the number of classes of these sizes, which are
consecutive, changes by at most 1, the number of rows in classes of at most s rows by at most s (a class of s + 1 is not
counted), and count - share x rows by at most s + share. A person with m rows changes each by at most m times this.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, Measurement, OutputType, Static
from crowdgate.measures.base import NOT_NEGATIVE, SHARE, Aspect, BetterSide, Measure, MeasureClass, unbounded
from crowdgate.measures.charged_counts import noisy_measurement, published_noisy_measurement

if TYPE_CHECKING:
    from crowdgate.arrays import Integers
    from crowdgate.histogram import Histogram
    from crowdgate.policy.policy import GateRule

SENSITIVITY = 1
"""Sensitivity of a number of classes, for one row."""
SIZE = "size"
WHOLE_TABLE = (
    "Rows are alike if they are equal in all released columns at the released levels. What is counted is the whole"
    " table, before\nanything is sampled or left out: how identifying the chosen columns are, not what is published."
)

Sizes = Callable[[int], tuple[int, int]]
"""Maps the option `size` to the least and the greatest number of rows of the counted classes."""


def share_sensitivity(share: Fraction, most: int) -> int:
    """Return the largest change of q count - p all by one row more or less, for a share p / q of the rows in classes of
    at most `most` rows: q most + p, when one class grows beyond these sizes."""
    return share.denominator * most + share.numerator


def _sizes(sizes: Sizes, rule: GateRule) -> tuple[int, int]:
    return sizes(int(rule.options.get(SIZE, 1)))


def _rows_of_sizes(table: Histogram, sizes: tuple[int, int]) -> Integers:
    """Return the number of rows of each class of the table whose size is from `sizes[0]` to `sizes[1]`."""
    least, most = sizes
    return table.counts[(least <= table.counts) & (table.counts <= most)]


def _number(name: str, summary: str, sentence: str, sizes: Sizes, least_size: int = 0) -> Measure:
    """Return a measure of the number of classes whose size is in the range that `sizes` gives. Without a `least_size`
    it has no option."""

    def measured(candidate: Candidate, rule: GateRule) -> Measurement | None:
        if candidate.table is None:
            return None
        count = len(_rows_of_sizes(candidate.table, _sizes(sizes, rule)))
        return noisy_measurement(candidate, rule, count, SENSITIVITY * candidate.static.rows_per_unit)

    def of_noisy(static: Static, rule: GateRule, noisy: Fraction) -> Measurement | None:
        return published_noisy_measurement(rule, noisy, SENSITIVITY * static.rows_per_unit)

    return _charged(name, summary, sentence, measured, of_noisy, least_size, excess=False)


def _share(name: str, summary: str, sentence: str, sizes: Sizes, least_size: int = 0) -> Measure:
    """Return a measure of the rows in classes whose size is in the range that `sizes` gives, minus the share `at_most`
    of all rows. Without a `least_size` it has no option."""

    def sensitivity(static: Static, rule: GateRule, share: Fraction) -> int:
        return share_sensitivity(share, _sizes(sizes, rule)[1]) * static.rows_per_unit

    def measured(candidate: Candidate, rule: GateRule) -> Measurement | None:
        table, share = candidate.table, rule.at_most
        if table is None or share is None:
            return None
        count = int(_rows_of_sizes(table, _sizes(sizes, rule)).sum())
        excess = share.denominator * count - share.numerator * table.rows
        return noisy_measurement(candidate, rule, excess, sensitivity(candidate.static, rule, share), share.denominator)

    def of_noisy(static: Static, rule: GateRule, noisy: Fraction) -> Measurement | None:
        share = rule.at_most
        return (
            None
            if share is None
            else published_noisy_measurement(rule, noisy, sensitivity(static, rule, share), share.denominator)
        )

    return _charged(name, summary, sentence, measured, of_noisy, least_size, excess=True)


def _charged(
    name: str,
    summary: str,
    sentence: str,
    measured: Callable[[Candidate, GateRule], Measurement | None],
    of_noisy: Callable[[Static, GateRule, Fraction], Measurement | None],
    least_size: int,
    *,
    excess: bool,
) -> Measure:
    options = (SIZE,) if least_size else ()
    return Measure(
        name=name,
        summary=f"{summary}, in the whole table at the released levels, with discrete Laplace noise",
        sentence=f"{sentence} {WHOLE_TABLE}",
        reads=MeasureClass.CHARGED,
        shape=OutputType.TABLE,
        aspect=Aspect.SINGLING_OUT,
        better=BetterSide.SMALLER,
        accumulates=False,
        range=SHARE if excess else NOT_NEGATIVE,
        reach=unbounded,
        of_candidate=measured,
        of_noisy=of_noisy,
        steady=True,
        options=options,
        needs=options,
        least_size=max(1, least_size),
        excess=excess,
    )


def _one(_: int) -> tuple[int, int]:
    return 1, 1


def _exactly(size: int) -> tuple[int, int]:
    return size, size


def _below(size: int) -> tuple[int, int]:
    return 1, size - 1


SINGLETONS = _number(
    "singletons",
    "number of classes of exactly one row",
    "It counts the rows that are like no other.",
    _one,
)
J_TONS = _number(
    "j_tons",
    "number of classes of exactly `size` rows",
    "It counts the groups of exactly {size} rows that are alike.",
    _exactly,
    1,
)
CLASSES_BELOW = _number(
    "classes_below",
    "number of classes of less than `size` rows",
    "It counts the groups of fewer than {size} rows that are alike.",
    _below,
    2,
)
SINGLETON_SHARE = _share(
    "singleton_share",
    "by how many more rows are alone in their class than the share `at_most` of all rows allows",
    "It asks whether the share of rows that are like no other is within the limit.",
    _one,
)
SHARE_IN_CLASSES_BELOW = _share(
    "share_in_classes_below",
    "by how many more rows are in classes of less than `size` rows than the share `at_most` of all rows allows",
    "It asks whether the share of rows in groups of fewer than {size} that are alike is within the limit.",
    _below,
    2,
)
