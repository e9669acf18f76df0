"""Exponentials, logarithms and sums of products that are bitwise equal on all processors.

Those of NumPy and of C libraries differ in the last digit between processors. A fit of many steps amplifies these
differences to percents, so nobody else could make the same rows again. These functions use additions, multiplications,
divisions, square roots and shifts alone, in a fixed order. IEEE 754 defines each of them to the last bit.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Integers

if TYPE_CHECKING:
    from crowdgate.arrays import Floats


_LN2 = 0.69314718055994530942
_BITS = 12
_STEP = _LN2 / (1 << _BITS)
_LEAST = -700.0
_PIECE = 1 << 13
"""Numbers processed at a time, to stay in the processor's cache. The order of `dot` depends on it."""


def exp(numbers: Floats) -> None:
    """Replace numbers up to 0 by their exponentials, with relative errors below 1e-12; exactly 0 below -700, and NaN
    for NaN. The array must be contiguous."""
    flat = numbers.reshape(-1)
    with np.errstate(invalid="ignore"):  # NaN has no whole part
        for at in range(0, len(flat), _PIECE):
            _piece(flat[at : at + _PIECE])


def _piece(numbers: Floats) -> None:
    if numbers.min() >= _LEAST:
        _exp(numbers)
    else:
        never = numbers < _LEAST
        numbers[never] = 0.0
        _exp(numbers)
        numbers[never] = 0.0


def _exp(numbers: Floats) -> None:
    """Replace numbers by their exponentials, each computed as 2^k times a tabulated power of 2 times the series of the
    rest, which is at most 2^-13 ln 2."""
    rest = numbers * (1 / _STEP)
    np.rint(rest, out=rest)
    steps = rest.astype(np.int64)
    rest *= -_STEP
    rest += numbers
    series = rest * 0.5
    series += 1.0
    series *= rest
    power = _POWERS.take(steps & (1 << _BITS) - 1)
    steps >>= _BITS
    steps <<= 52
    power += steps
    np.multiply(power.view(np.float64), series, out=numbers)
    numbers += power.view(np.float64)


def _powers() -> Integers:
    """Return 2^(j/2^bits) for each j, as the bits of floats: products of roots of 2."""
    roots = [2.0]
    for _ in range(_BITS):
        roots.append(sqrt(roots[-1]))
    table = np.ones(1)
    for root in roots[:0:-1]:
        table = np.concatenate([table, table * root])
    return table.view(np.int64)


_POWERS = _powers()


def log(numbers: Floats) -> Floats:
    """Return natural logarithms of positive normal numbers, with errors below 1e-15 (1 + |log x|); NaN for numbers that
    are not finite."""
    flat = np.ascontiguousarray(numbers).reshape(-1)
    out = np.empty_like(flat)
    for at in range(0, len(flat), _PIECE):
        _log(flat[at : at + _PIECE], out[at : at + _PIECE])
    return out.reshape(numbers.shape)


def _log(numbers: Floats, out: Floats) -> None:
    """Write the logarithms of `numbers` into `out`, each the sum of those of the power of 2, of a tabulated number near
    the mantissa, and of 1 plus the rest, at most 2^-13, by its series."""
    mantissa = numbers.view(np.int64)
    power = mantissa >> 52
    power -= 1023
    np.multiply(power, _LN2, out=out)
    mantissa = mantissa & (1 << 52) - 1
    place = mantissa >> 52 - _BITS
    mantissa |= 1023 << 52
    rest = mantissa.view(np.float64)
    rest *= _INVERSES.take(place)
    rest -= 1.0
    series = rest * (1 / 3)
    series -= 0.5
    series *= rest
    series *= rest
    series += rest
    series += _LOGARITHMS.take(place)
    out += series
    out[~np.isfinite(numbers)] = np.nan


def _logarithms() -> Floats:
    """Return log c = 2 artanh((c - 1) / (c + 1)) by its series, for the middles c of equal parts of 1 to 2."""
    ratio = (_MIDDLES - 1.0) / (_MIDDLES + 1.0)
    series = np.zeros_like(ratio)
    for odd in range(33, 0, -2):
        series = series * ratio * ratio + 1.0 / odd
    return np.asarray(2.0 * ratio * series)


_MIDDLES = 1.0 + (np.arange(1 << _BITS) + 0.5) / (1 << _BITS)
_INVERSES, _LOGARITHMS = 1.0 / _MIDDLES, _logarithms()


def dot(one: Floats, other: Floats) -> float:
    """Return the sum of the products of two vectors, each product rounded before it is added.

    The order of additions in BLAS depends on the processor. `np.einsum` adds in this order on x86-64, where older
    releases were fitted, but does not round the products on processors that multiply and add in one step.
    """
    total = 0.0
    for at in range(0, len(one), _PIECE):
        total += _dot(one[at : at + _PIECE], other[at : at + _PIECE])
    return total


def _dot(one: Floats, other: Floats) -> float:
    products = np.zeros(len(one) + len(one) % 2)
    np.multiply(one, other, out=products[: len(one)])
    even, odd = np.add.accumulate(products.take(_order(len(one))), axis=1)[:, -1]
    return float(even + odd)


@lru_cache(maxsize=32)
def _order(length: int) -> Integers:
    """Return the places, among `length` products, of those with even and with odd places, in the order in which they
    are added: by fours, each from its last to its first, then the rest."""
    fours, pairs = length // 8 * 4, length - length // 2
    order = np.concatenate([np.arange(fours).reshape(-1, 4)[:, ::-1].reshape(-1), np.arange(fours, pairs)])
    return np.stack([2 * order, 2 * order + 1])
