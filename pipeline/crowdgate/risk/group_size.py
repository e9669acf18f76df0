"""How many people to a group (a postal code): Example 5.6 of Koot's thesis, for any bins."""

import heapq

from crowdgate.accounting.numbers import Number, exact, whole
from crowdgate.risk.bins import Bins
from crowdgate.risk.singletons import expected


def best_group_size(bins: Bins, cost: Number, most: Number = 10**9) -> int:
    """The k from 1 to `most` for which E S(k) / k - cost / k is greatest: singletons for each person, less what a group
    costs, in singletons. The least where several are.

    The first term falls with k and the second rises: on [low, high] none is above E S(low) / low - cost / high.
    Searched by that bound, so that what is found is the greatest of all. It is `most` where no group is worth its
    cost.
    """
    charge, last = float(exact("cost", cost, 0, 10**15)), whole("most", most, 1)

    def gain(k: int, high: int) -> float:
        return expected(bins, k) / k - charge / high

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
