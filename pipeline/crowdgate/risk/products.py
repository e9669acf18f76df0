"""Classes of several attributes together, as if these were independent: products of their probabilities."""

from collections.abc import Iterable
from functools import reduce

import numpy as np

from crowdgate.limits import MOST_DISTINCT
from crowdgate.risk.bins import Bins

_MOST_OF_ONE = 1000


def product(parts: Iterable[Bins]) -> Bins:
    """The bins of independent attributes together: a bin for every combination.

    Above 1,000 distinct probabilities of one attribute, or MOST_DISTINCT of the combinations, neighbouring ones are
    given their mean: the sum of all stays 1. A combination whose probability is no double above 0 counts as empty.
    """
    return reduce(_times, parts, Bins.uniform(1))


def _times(left: Bins, right: Bins) -> Bins:
    right = right.compressed(_MOST_OF_ONE)[0]
    probabilities = np.multiply.outer(left.probabilities, right.probabilities).ravel()
    counts = np.multiply.outer(left.counts, right.counts).ravel()
    distinct, place = np.unique(probabilities, return_inverse=True)
    many = np.asarray(np.bincount(place, counts), dtype=np.float64)
    held = distinct > 0
    both = Bins(distinct[held], many[held], left.cells * right.cells - float(many[held].sum()))
    return both.compressed(MOST_DISTINCT)[0]
