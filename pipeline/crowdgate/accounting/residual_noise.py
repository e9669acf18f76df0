"""Privacy of the residuals of contingency tables: what their margins don't say, as whole numbers.

A table with counts x and n_i values along axis i has the residual w = f K x. K is the Kronecker product of n_i I - J
over its axes, J is all ones, and f a whole factor. A table is determined by the residuals of all subsets of its axes.
Noise on each of them, with a budget of its own, has the least sum of variances of all Gaussian noise (Xiao, He, Zhang,
Kifer 2023, ResidualPlanner).

One row changes x by 1 in one cell, so w by f times a column of K. A column of n I - J holds n - 1 once and -1 in n - 1
places, so its squared length is (n - 1)^2 + (n - 1) = n (n - 1). The squared length of a column of K is their product.
By the triangle inequality m rows change w by at most m times that length, in whichever cells they are. So discrete
Gaussian noise of sigma = m `residual_change` / sqrt(2 rho) on each number of w is rho-zCDP (Canonne, Kamath, Steinke
2020, Theorem 14), as `residual_change` is at least f times the length.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt, prod

_LONG = 1000
"""The length that a row's change reaches by the factor: rounding it up adds at most a thousandth to the noise."""


def residual_factor(sizes: Sequence[int]) -> int:
    """Return the whole factor f of the residual of a table with these numbers of values along its axes, each at least
    2: the least power of 2 at which one row changes the residual by at least 1000, as the root of the sum of
    squares."""
    square, factor = _square(sizes), 1
    while square * factor**2 < _LONG**2:
        factor *= 2
    return factor


def residual_change(sizes: Sequence[int]) -> int:
    """Return the largest change of a residual by one row, as the root of the sum of squares, rounded up."""
    exact = _square(sizes) * residual_factor(sizes) ** 2
    return isqrt(exact - 1) + 1


def residual_scale(sizes: Sequence[int]) -> int:
    """Return the divisor that turns the numbers of a residual into parts of counts: f times the product of the numbers
    of values."""
    return residual_factor(sizes) * prod(sizes)


def _square(sizes: Sequence[int]) -> int:
    if any(size < 2 for size in sizes):
        raise ValueError("sizes must be at least 2: an axis of one value has no residual")
    return prod(size * (size - 1) for size in sizes)
