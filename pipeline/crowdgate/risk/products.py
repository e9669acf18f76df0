"""Classes of several attributes together, as if these were independent: products of their probabilities."""

from collections.abc import Iterable
from functools import reduce

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.limits import MOST_DISTINCT
from crowdgate.risk.bins import Bins

_MOST_OF_ONE = 1000


def product(parts: Iterable[Bins]) -> Bins:
    """Return the bins of independent attributes together: a bin for each combination.

    Above 1,000 distinct probabilities of one attribute, or MOST_DISTINCT of the combinations, neighbouring ones are
    given their mean: the sum of all stays 1, and `Bins.lost` states their distance, over all attributes. A combination
    whose probability is no double above 0 counts as empty.
    """
    return reduce(_times, parts, Bins.uniform(1))


def _times(left: Bins, right: Bins) -> Bins:
    right = right.compressed(_MOST_OF_ONE)
    cells = left.cells * right.cells
    probabilities = _combined(left.probabilities, right.probabilities)
    order = np.argsort(probabilities, kind="stable")[np.count_nonzero(probabilities == 0) :]
    first = np.flatnonzero(np.diff(probabilities[order], prepend=0))
    counts = np.add.reduceat(_combined(left.counts, right.counts)[order], first)
    least, greatest = (_combined(*ends)[order] for ends in zip(left.reach, right.reach, strict=True))
    ends = np.minimum.reduceat(least, first), np.maximum.reduceat(greatest, first)
    return Bins(probabilities[order][first], counts, cells - float(counts.sum()), ends).compressed(MOST_DISTINCT)


def _combined(left: Floats, right: Floats) -> Floats:
    return np.multiply.outer(left, right).ravel()
