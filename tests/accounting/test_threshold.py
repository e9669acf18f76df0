"""Thresholds on unknown keys: delta by enumeration of the keys of a person's rows, strictly above, never off by one."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.discrete_laws import DiscreteLaplace
from tests.examples import examples
from tests.oracles.threshold import least_threshold, threshold_delta


def partitions(rows: int, largest: int) -> Iterator[tuple[int, ...]]:
    if rows == 0:
        yield ()
    for first in range(min(rows, largest), 0, -1):
        for rest in partitions(rows - first, first):
            yield first, *rest


def enumerated(threshold: int, epsilon: Fraction, rows: int, strictly: bool = True) -> float:
    """Return the greatest probability that a key of one person appears, over all ways to distribute the rows over
    keys."""
    law = DiscreteLaplace(Fraction(rows) / epsilon)
    limit = threshold if strictly else threshold - 1
    return max(
        1 - math.prod(1 - law.tail(limit - count) for count in spread)
        for held in range(1, rows + 1)
        for spread in partitions(held, held)
    )


@settings(max_examples=examples(100), deadline=None, derandomize=True)
@given(rows=st.integers(1, 8), above=st.integers(0, 30), epsilon=st.fractions(Fraction(1, 10), 12, max_denominator=20))
def test_delta_is_the_worst_way_to_spread_the_rows(rows: int, above: int, epsilon: Fraction) -> None:
    exact = enumerated(rows + above, epsilon, rows)
    assert exact * (1 - 1e-9) - 1e-15 <= threshold_delta(rows + above, epsilon, rows) <= exact * (1 + 1e-9) + 1e-15


Counts = tuple[int, int]
"""Counts of two keys; a key without rows can't appear."""


def released(count: int, threshold: int, a: Fraction, far: int) -> dict[int, Fraction]:
    """Return the output distribution of a key: 0 is nothing, else the noisy count, with all from `far` on as one."""
    if count == 0:
        return {0: Fraction(1)}

    def mass(z: int) -> Fraction:
        return (1 - a) / (1 + a) * a ** abs(z)

    law = {value: mass(value - count) for value in range(threshold + 1, far)}
    law[far] = a ** (far - count) / (1 + a)
    return {**law, 0: 1 - sum(law.values(), Fraction(0))}


def beyond(of: Counts, other: Counts, threshold: int, a: Fraction, growth: Fraction) -> Fraction:
    """Return the least delta at e^epsilon = `growth`, over all pairs of outcomes of two keys."""
    far = threshold + 6
    law, than = ([released(count, threshold, a, far) for count in counts] for counts in (of, other))
    return sum(
        (
            max(Fraction(0), law[0][x] * law[1][y] - growth * than[0].get(x, 0) * than[1].get(y, 0))
            for x, y in product(law[0], law[1])
        ),
        Fraction(0),
    )


@pytest.mark.thorough
@pytest.mark.parametrize("a", ["1/2", "4/5", "1/9"])
@pytest.mark.parametrize(("rows", "threshold"), [(1, 1), (1, 3), (2, 2), (2, 4), (3, 4)])
def test_no_person_exceeds_delta_in_either_direction_and_one_reaches_it(rows: int, threshold: int, a: str) -> None:
    """In whole fractions: tables of up to two rows of each of two keys, a person of up to `rows` rows."""
    ratio = Fraction(a)
    delta = threshold_delta(threshold, Fraction(-rows * math.log(ratio)), rows)
    found = []
    for table, more in product(product(range(3), repeat=2), product(range(rows + 1), repeat=2)):
        if sum(more) <= rows:
            with_person = (table[0] + more[0], table[1] + more[1])
            pair = ((table[0], table[1]), with_person)
            found += [beyond(*ends, threshold, ratio, ratio**-rows) for ends in (pair, pair[::-1])]
    assert float(max(found)) <= delta * (1 + 1e-9)
    if rows < 3:  # three keys of one row each are more than two
        assert float(max(found)) == pytest.approx(delta, rel=1e-9)


def test_keys_of_one_row_each_give_the_formula_where_epsilon_is_small() -> None:
    """m = 4, epsilon 1: 1 - (1 - p)^4 with p of one row; at epsilon 12 four rows in one key are worse."""
    p = DiscreteLaplace(Fraction(4)).tail(49)
    assert threshold_delta(50, 1, 4) == pytest.approx(1 - (1 - p) ** 4, rel=1e-9)
    p = DiscreteLaplace(Fraction(4, 12)).tail(9)
    assert threshold_delta(10, 12, 4) > 1000 * (1 - (1 - p) ** 4)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "5"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-9"])
def test_the_least_threshold_keeps_delta_and_one_less_or_equality_does_not(rows: int, epsilon: str, delta: str) -> None:
    limit = least_threshold(epsilon, delta, rows)
    assert threshold_delta(limit, epsilon, rows) <= float(delta)
    assert limit == rows or threshold_delta(limit - 1, epsilon, rows) > float(delta)
    if limit > rows:
        assert enumerated(limit, Fraction(epsilon), rows, strictly=False) > float(delta), "release at the threshold"


def test_a_threshold_below_the_rows_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^threshold must"):
        threshold_delta(2, 1, 3)
    with pytest.raises(ValueError, match=r"^delta must"):
        least_threshold(1, 0, 1)
