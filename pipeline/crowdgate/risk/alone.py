"""How large a group must be for few of it to be alone, and at which size most people are, for a cost per group.

M. Koot, Measuring and predicting anonymity (thesis, 2012), Example 5.6. The thesis takes exp(-k/N) for the share of
people alone in a group of k, here it is exact.
"""

import numpy as np

from crowdgate.accounting.numbers import Number, exact, probability, whole
from crowdgate.risk.bins import Bins
from crowdgate.risk.singletons import expected

_CLOSE = 1.01
"""Sizes are looked at this factor apart, then one by one around the best."""


def share_alone(bins: Bins, k: Number) -> float:
    """The expected share of `k` people who are alone in their bin; it falls with k."""
    people = whole("k", k, 1)
    return expected(bins, people) / people


def least_group(bins: Bins, share: Number, most: Number) -> int | None:
    """The least group of at most `most` people of whom at most that share is expected to be alone; None if even of
    `most` more are."""
    limit, high, low = float(probability("share", share)), whole("most", most, 1), 0
    if share_alone(bins, high) > limit:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if share_alone(bins, middle) <= limit else (middle, high)
    return high


def most_alone(bins: Bins, cost: Number, most: Number) -> int:
    """The size k up to `most` at which a population that is split into groups of k has the most people alone in their
    bin, less `cost` for every group: the size that maximises the share alone - cost/k. Its population does not matter.
    """
    price, limit = float(exact("cost", cost, 0, 10**12)), whole("most", most, 1)

    def worth(k: int) -> float:
        return share_alone(bins, k) - price / k

    steps = int(np.log(limit) / np.log(_CLOSE)) + 1
    sizes = sorted({min(limit, round(size)) for size in np.geomspace(1, limit, steps + 1)})
    best = max(range(len(sizes)), key=lambda at: worth(sizes[at]))
    low, high = sizes[max(best - 1, 0)], sizes[min(best + 1, len(sizes) - 1)]
    while high - low > 2:  # of one hill: the larger of two inner sizes keeps its side
        third = (high - low) // 3 or 1
        left, right = low + third, high - third
        low, high = (low, right) if worth(left) >= worth(right) else (left, high)
    return max(range(low, high + 1), key=worth)
