"""Singletons: people who are alone in their bin when k people fall independently into bins of known probability.

M. Koot, Measuring and predicting anonymity (thesis, 2012), chapter 5. Bins are equivalence classes, probabilities the
shares of a population.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from crowdgate.accounting.numbers import Number, exact, probability, whole

_SUM_SLACK = Fraction(1, 10**9)


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins by their distinct probabilities, and how many bins have each. The probabilities of all bins add up to 1."""

    probabilities: NDArray[np.float64]
    counts: NDArray[np.float64]

    @classmethod
    def uniform(cls, n: Number) -> "Bins":
        """`n` bins of probability 1/n."""
        return _bins({Fraction(1, whole("n", n, 1)): whole("n", n, 1)})

    @classmethod
    def of(cls, probabilities: Sequence[Number]) -> "Bins":
        """One bin for each probability. Raises ValueError unless they add up to 1 within 1e-9."""
        return _bins(Counter(probability("probabilities", p) for p in probabilities))

    @classmethod
    def grouped(cls, alpha: Sequence[Number], sizes: Sequence[Number]) -> "Bins":
        """sizes[i] bins of probability alpha[i] / sum(sizes): alpha is how much likelier than average a bin is."""
        if len(alpha) != len(sizes):
            raise ValueError(f"alpha and sizes must be equally long, not {len(alpha)} and {len(sizes)}")
        many = [whole("sizes", size, 0) for size in sizes]
        total = max(1, sum(many))
        groups: Counter[Fraction] = Counter()
        for share, size in zip(alpha, many, strict=True):
            groups[exact("alpha", share, 0, total) / total] += size
        return _bins(groups)


def expected(bins: Bins, k: Number) -> float:
    """Expected number of singletons among `k` people: the sum over bins of k p (1 - p)^(k - 1), with 0^0 = 1."""
    people = whole("k", k, 0)
    if people == 0:
        return 0.0
    p = bins.probabilities
    with np.errstate(divide="ignore", under="ignore"):
        log_others = (people - 1) * np.log1p(-p) if people > 1 else np.zeros_like(p)
        return math.fsum(bins.counts * people * p * np.exp(log_others))


def _bins(groups: dict[Fraction, int]) -> Bins:
    total = sum((p * count for p, count in groups.items()), Fraction(0))
    if abs(total - 1) > _SUM_SLACK:
        raise ValueError(f"the probabilities of all bins must add up to 1 within 1e-9, not to {float(total):.6g}")
    kept = sorted((p, count) for p, count in groups.items() if p > 0 and count > 0)
    return Bins(np.array([float(p) for p, _ in kept]), np.array([float(count) for _, count in kept]))
