"""Group sizes: the least with a small share of singletons, and the one with most singletons for a cost of each group.

M. Koot, Measuring and predicting anonymity (thesis, 2012), Example 5.6, for any bins. The thesis uses exp(-k/N) for the
share of singletons in a group of k; here it is exact.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from crowdgate.accounting.numbers import Number, exact, probability, whole
from crowdgate.risk.singletons import expected

if TYPE_CHECKING:
    from crowdgate.risk.bins import Bins


def singleton_share(bins: Bins, k: Number) -> float:
    """Return the expected share of singletons among `k` people; it falls with k."""
    people = bins.group(whole("k", k, 1))
    return expected(bins, people) / people


def least_group(bins: Bins, share: Number, most: Number) -> int | None:
    """Return the least group, of at most `most` people, whose expected share of singletons is at most `share`; None if
    there is none."""
    limit, high, low = float(probability("share", share)), whole("most", most, 1), 0
    if singleton_share(bins, high) > limit:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if singleton_share(bins, middle) <= limit else (middle, high)
    return high


def best_group_size(bins: Bins, cost: Number, most: Number) -> int:
    """Return the k from 1 to `most` that maximises E S(k) / k - cost / k: singletons for each person, minus the cost of
    a group in singletons. The least k if several are equal.

    The first term falls with k and the second rises: on [low, high] the sum is at most E S(low) / low - cost / high.
    The search uses this bound, so that the result is the global maximum. It is `most` if no group is worth its cost.
    """
    charge, last = float(exact("cost", cost, 0, 10**15)), whole("most", most, 1)

    def gain(k: int, high: int) -> float:
        return singleton_share(bins, k) - charge / high

    best = (-gain(1, 1), 1)
    heap = [(-gain(1, last), 1, last)]
    while heap and -heap[0][0] > -best[0] + 1e-12:
        _, low, high = heapq.heappop(heap)
        middle = (low + high) // 2
        for start, end in ((low, middle), (middle + 1, high)):
            if start <= end:
                best = min(best, (-gain(start, start), start), (-gain(end, end), end))
                if end - start > 1:
                    heapq.heappush(heap, (-gain(start, end), start, end))
    return best[1]
