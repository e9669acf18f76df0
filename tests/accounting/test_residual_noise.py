"""The change of a residual by one row, against the columns of its matrix written out."""

from functools import reduce
from itertools import product
from math import sqrt

import numpy as np
import pytest

from crowdgate.accounting.residual_noise import residual_change, residual_factor, residual_scale
from crowdgate.arrays import Integers

SIZES = [(), (2,), (3,), (10,), (2, 2), (2, 5), (3, 4, 2), (2, 2, 2, 2), (40, 30), (1000,)]


def matrix(sizes: tuple[int, ...]) -> Integers:
    """Return the matrix f K of the residual: the product over axes of n I - J, times the factor."""
    steps = [n * np.eye(n, dtype=np.int64) - np.ones((n, n), dtype=np.int64) for n in sizes]
    found: Integers = residual_factor(sizes) * reduce(np.kron, steps, np.ones((1, 1), dtype=np.int64))
    return found


@pytest.mark.parametrize("sizes", SIZES)
def test_the_stated_change_is_the_length_of_the_longest_column_rounded_up(sizes: tuple[int, ...]) -> None:
    squares = (matrix(sizes) ** 2).sum(axis=0)
    change = residual_change(sizes)
    assert (change - 1) ** 2 < squares.max() <= change**2
    assert change**2 <= 1.003 * squares.max(), "rounding adds at most a thousandth to the noise"


@pytest.mark.parametrize("sizes", SIZES[:7])
def test_several_rows_change_a_residual_by_no_more_than_as_many_times_one(sizes: tuple[int, ...]) -> None:
    columns = matrix(sizes).T
    pairs = product(range(len(columns)), repeat=2)
    assert max(((columns[a] + columns[b]) ** 2).sum() for a, b in pairs) <= (2 * residual_change(sizes)) ** 2


@pytest.mark.parametrize("sizes", SIZES)
def test_the_scale_turns_a_residual_into_deviations_from_means(sizes: tuple[int, ...]) -> None:
    counts = np.random.default_rng(3).integers(0, 50, sizes)
    expected = counts.astype(float)
    for axis in range(len(sizes)):
        expected = expected - expected.mean(axis=axis, keepdims=True)
    found = (matrix(sizes) @ counts.reshape(-1)) / residual_scale(sizes)
    assert np.abs(found - expected.reshape(-1)).max() < 1e-9 * sqrt(counts.size + 1) * 50


def test_an_axis_of_one_value_has_no_residual() -> None:
    with pytest.raises(ValueError, match="sizes must be at least 2"):
        residual_change((3, 1))
