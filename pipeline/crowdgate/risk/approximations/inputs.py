"""Arguments of the formulas: their names and ranges."""

from collections.abc import Sequence

import numpy as np

from crowdgate.accounting.numbers import GREATEST_COUNT, Number, exact, whole
from crowdgate.arrays import Floats
from crowdgate.risk.bins import Bins

Groups = Sequence[tuple[Number, Number]]
"""Groups of bins: (alpha, F), F bins of probability alpha / N."""


def people(k: Number, least: int = 0) -> int:
    """Return k as an int: a whole number of people, at least `least`. Raises ValueError for anything else."""
    return whole("k", k, least)


def bins(N: Number) -> int:
    """Return N as an int: a whole number of bins, at least 1. Raises ValueError for anything else."""
    return whole("N", N, 1)


def distance(kappa: Number) -> float:
    """Return kappa as a float: a distance to the uniform distribution, at least 0. Raises ValueError for anything
    else."""
    return float(exact("kappa", kappa, 0, GREATEST_COUNT))


def positive(name: str, value: Number) -> float:
    """Return `value` as a float above 0, such as a scale or a width. Raises ValueError, with this name, for anything
    else."""
    return float(exact(name, value, 0, 10**30, open_low=True))


def ratio(a: Number) -> float:
    """Return a = k / N (people for each bin) as a float, at least 0. Raises ValueError for anything else."""
    return float(exact("a", a, 0, 10**9))


def grouped(groups: Groups, N: Number) -> Bins:
    """Return the bins of `groups`, pairs (alpha, F): F bins of probability alpha / N each. Raises ValueError unless
    these are N bins in total."""
    alpha, sizes = [each for each, _ in groups], [size for _, size in groups]
    total = sum(whole("F", size, 0) for size in sizes)
    if total != bins(N):
        raise ValueError(f"N must be the number of bins of all groups, {total}, not {N}")
    return Bins.grouped(alpha, sizes)


def shares(alpha: Sequence[Number], f: Sequence[Number]) -> tuple[Floats, Floats]:
    """Return alpha and f as arrays: f is the share of the bins that have probability alpha / N. Raises ValueError
    unless sum f = sum f alpha = 1 within 1e-9."""
    if len(alpha) != len(f):
        raise ValueError(f"alpha and f must be equally long, not {len(alpha)} and {len(f)}")
    likelier = np.array([float(exact("alpha", each, 0, GREATEST_COUNT)) for each in alpha])
    share = np.array([float(exact("f", each, 0, 1)) for each in f])
    if abs(share.sum() - 1) > 1e-9 or abs(share @ likelier - 1) > 1e-9:
        raise ValueError("f must add up to 1, and f alpha too, within 1e-9")
    return likelier, share
