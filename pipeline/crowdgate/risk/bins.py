"""Bins into which k people fall independently, each into a bin by its probability.

M. Koot, Measuring and predicting anonymity (thesis, 2012), chapters 4 and 5. Bins are equivalence classes, and
probabilities are shares of a population.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from crowdgate.accounting.numbers import Number, exact, probability, whole
from crowdgate.arrays import Floats, Integers
from crowdgate.risk.class_sizes import ClassSizes

_SUM_SLACK = Fraction(1, 10**9)


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins by their distinct probabilities, rising and all above 0, with the number of bins at each; `empty` further
    bins have probability 0. The probabilities of all bins add up to 1.

    For merged bins, which have the mean of their probabilities, `ends` holds the least and the greatest of these; None
    if no bins were merged. With a `table`, whose classes the bins are, people do not fall independently: a group is
    drawn from it without replacement, and has at most all its people.
    """

    probabilities: Floats
    counts: Floats
    empty: float = 0.0
    ends: tuple[Floats, Floats] | None = None
    table: ClassSizes | None = None

    @property
    def cells(self) -> float:
        """The number of all bins, empty ones included: N of the thesis."""
        return math.fsum(self.counts) + self.empty

    @cached_property
    def log_complements(self) -> Floats:
        """ln(1 - p) for each distinct probability p; for the one bin that may hold more than half, by the sum of all
        others, which loses no digit."""
        p = self.probabilities
        with np.errstate(divide="ignore"):
            logs = np.log1p(-p)
            if p[-1] > 0.5:
                logs[-1] = np.log(math.fsum((self.counts * p)[:-1]))
        return logs

    @property
    def lost(self) -> "GroupingLoss":
        """The loss from giving merged bins their mean probability: how far apart they were, and how many they are."""
        least, greatest = self.reach
        return GroupingLoss((greatest - least) / (greatest + least), self.counts)

    @property
    def reach(self) -> tuple[Floats, Floats]:
        """The least and the greatest probability, before merging, of the bins that now have each of `probabilities` as
        their mean."""
        return self.ends or (self.probabilities, self.probabilities)

    @classmethod
    def uniform(cls, n: Number) -> "Bins":
        """Return `n` bins of probability 1/n."""
        return _bins({Fraction(1, whole("n", n, 1)): whole("n", n, 1)})

    @classmethod
    def of(cls, probabilities: Sequence[Number]) -> "Bins":
        """Return one bin for each probability. Raises ValueError unless they add up to 1 within 1e-9."""
        return _bins(Counter(probability("probabilities", p) for p in probabilities))

    @classmethod
    def grouped(cls, alpha: Sequence[Number], sizes: Sequence[Number]) -> "Bins":
        """Return sizes[i] bins of probability alpha[i] / sum(sizes): alpha is a bin's probability relative to the
        average."""
        if len(alpha) != len(sizes):
            raise ValueError(f"alpha and sizes must be equally long, not {len(alpha)} and {len(sizes)}")
        many = [whole("sizes", size, 0) for size in sizes]
        total = max(1, sum(many))
        groups: Counter[Fraction] = Counter()
        for share, size in zip(alpha, many, strict=True):
            groups[exact("alpha", share, 0, total) / total] += size
        return _bins(groups)

    @classmethod
    def from_counts(cls, counts: ArrayLike, empty: Number = 0) -> "Bins":
        """Return a bin for each number of people (expected ones need not be whole), as likely as its share of them;
        `empty` more bins are empty. Raises ValueError for a number that is negative or not finite, or if there are no
        people."""
        people = np.asarray(counts, dtype=np.float64).ravel()
        if not np.isfinite(people).all() or (people < 0).any():
            raise ValueError("counts must be finite numbers of at least 0")
        distinct, many = np.unique(people[people > 0], return_counts=True)
        if not len(distinct):
            raise ValueError("counts must hold somebody")
        nobody = float(np.count_nonzero(people == 0)) + whole("empty", empty, 0)
        return cls(distinct / math.fsum(distinct * many), many.astype(np.float64), nobody)

    @classmethod
    def of_table(cls, counts: ArrayLike) -> "Bins":
        """Return a bin for each class of a table that is known as a whole, from which groups are drawn; `counts` are
        whole numbers."""
        table = ClassSizes.of(np.asarray(counts, dtype=np.float64).round().astype(np.int64).ravel())
        return replace(cls.from_counts(counts), table=table)

    def group(self, people: int) -> int:
        """Return the size of a group of `people`: at most all people of a table that is known as a whole."""
        return people if self.table is None else min(people, self.table.people)

    def compressed(self, most: int) -> "Bins":
        """Return bins with at most `most` distinct probabilities: groups of probabilities that lie within a constant
        factor are given their mean."""
        if len(self.probabilities) <= most:
            return self
        low, high = np.log(self.probabilities[[0, -1]])
        place = np.minimum((np.log(self.probabilities) - low) / (high - low) * most, most - 1).astype(np.int64)
        return self.merged(np.flatnonzero(np.diff(place, prepend=-1)))

    def merged(self, first: Integers) -> "Bins":
        """Return bins in which groups of neighbouring probabilities, which begin at the places `first`, are given their
        mean."""
        least, greatest = self.reach
        counts = np.add.reduceat(self.counts, first)
        means = np.add.reduceat(self.counts * self.probabilities, first) / counts
        ends = np.minimum.reduceat(least, first), np.maximum.reduceat(greatest, first)
        return Bins(means, counts, self.empty, ends)


@dataclass(frozen=True, eq=False)
class GroupingLoss:
    """The loss from grouping: `apart` is (h - l) / (h + l) for bins of probabilities l to h that were given their mean;
    `counts` are the numbers of these bins."""

    apart: Floats
    counts: Floats


def _bins(groups: dict[Fraction, int]) -> Bins:
    total = sum((p * count for p, count in groups.items()), Fraction(0))
    if abs(total - 1) > _SUM_SLACK:
        raise ValueError(f"the probabilities of all bins must add up to 1 within 1e-9, not to {float(total):.6g}")
    kept = sorted((p, count) for p, count in groups.items() if p > 0 and count > 0)
    found, counts = np.array([float(p) for p, _ in kept]), np.array([float(count) for _, count in kept])
    return Bins(found, counts, float(groups.get(Fraction(0), 0)))
