"""How large a group must be for few of it to be alone, and at which size most people are, for a cost of each group.

M. Koot, Measuring and predicting anonymity (thesis, 2012), Example 5.6, for any bins. The thesis takes exp(-k/N) for
the share of people alone in a group of k, here it is exact.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from crowdgate.accounting.numbers import Number, exact, probability, whole
from crowdgate.risk.singletons import expected

if TYPE_CHECKING:
    from crowdgate.risk.bins import Bins


def singleton_share(bins: Bins, k: Number) -> float:
    """The expected share of `k` people who are alone in their bin; it falls with k."""
    people = whole("k", k, 1)
    return expected(bins, people) / people


def least_group(bins: Bins, share: Number, most: Number) -> int | None:
    """The least group of at most `most` people of whom at most that share is expected to be alone; None if even of
    `most` more are."""
    limit, high, low = float(probability("share", share)), whole("most", most, 1), 0
    if singleton_share(bins, high) > limit:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if singleton_share(bins, middle) <= limit else (middle, high)
    return high


def best_group_size(bins: Bins, cost: Number, most: Number) -> int:
    """The k from 1 to `most` for which E S(k) / k - cost / k is greatest: singletons for each person, less what a group
    costs, in singletons. The least where several are.

    The first term falls with k and the second rises: on [low, high] none is above E S(low) / low - cost / high.
    Searched by that bound, so that what is found is the greatest of all. It is `most` where no group is worth its
    cost.
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
