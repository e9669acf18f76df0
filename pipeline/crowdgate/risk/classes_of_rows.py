"""Upper limits on unique people, where classes are counted in rows and a person has up to m rows.

A class of c rows holds ceil(c / m) to c people, and a table of R rows has N = ceil(R / m) to R people. The limits hold
for every such assignment of rows to people. They also hold if the counts are of people already.

A group of k is drawn from N people. Exactly one of the p people of a class is in it with probability p (k / N) times
the product over i from 0 to p - 2 of 1 - (k - 1) / (N - 1 - i). So it is at most p q (1 - u)^(p - 1), with q = k / N
and u = (k - 1) / (N - 1). The largest p q (1 - u)^(p - 1) is at p = -1 / ln(1 - u).
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.risk.drawn_groups import ROUNDING, few_others

if TYPE_CHECKING:
    from crowdgate.arrays import Floats
    from crowdgate.risk.class_sizes import ClassSizes

NARROW = 0.02
"""Greatest width of the interval of sampled shares q that decides, in ln(q / (1 - q))."""


def least_people(rows: int, each: int) -> int:
    """Return the least number of people who have so many rows, with up to `each` rows a person."""
    return -(-rows // each)


def most_unique_classes(classes: ClassSizes, each: int, least: int, most: int) -> float:
    """Return an upper limit on the expected number of classes with exactly one person of a group of `least` to `most`
    people (1 or more; at most all people of the table), with up to `each` rows a person.

    It is the number of classes of at most `each` rows for the whole table. Otherwise it exceeds the greatest value over
    all assignments that are alike for each group by a few percent. The interval of sampled shares with the largest
    upper limit is halved until it is narrow.
    """
    rows, few = classes.people, least_people(classes.people, each)
    first, last = least / rows, most / few
    whole = float(classes.counts[classes.sizes <= each].sum()) if last >= 1 else 0.0
    low, high = max(first, 1 / rows), min(last, 1 - 1 / rows)
    if low > high:
        return whole
    people = np.ceil(classes.sizes / each), classes.sizes
    open_ones = [(-math.inf, _logit(low), _logit(high))]
    while -open_ones[0][0] > whole:
        bound, start, end = heapq.heappop(open_ones)
        if end - start <= NARROW and bound > -math.inf:
            return -bound * (1 + ROUNDING)
        middle = (start + end) / 2
        for half in ((start, middle), (middle, end)):
            limit = _most_in(classes.counts, people, few, *map(_share, half))
            heapq.heappush(open_ones, (-limit, *half))
    return whole


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _share(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def _most_in(counts: Floats, people: tuple[Floats, Floats], few: int, low: float, high: float) -> float:
    """Return an upper limit on the expected number of classes with exactly one person, for sampled shares from `low` to
    `high`; `people` are the least and the most people of each class, `few` the least of the table."""
    least, most = people
    log = math.log1p(-max(0.0, (low * few - 1) / max(1, few - 1)))
    best = np.clip(-1 / log, least, most) if log else most
    return math.fsum(counts * np.minimum(1.0, best * high * np.exp(log * (best - 1))))


def most_share_in_sets_up_to(classes: ClassSizes, each: int, people: int, most: int) -> float:
    """Return an upper limit on the expected share of a group of `people` (1 or more) who are in a class with at most
    `most` members of the group, with up to `each` rows a person.

    A class has fewest others of the group where it has the fewest people and the table the most. Its people are at most
    `each` times the share that its rows have.
    """
    rows = float(classes.people)
    if people <= most:
        return 1.0
    others = np.ceil(classes.sizes / each) - 1
    few = few_others(others, rows - 1, people - 1, most - 1) if people < rows else (others < most).astype(np.float64)
    return min(1.0, each * math.fsum(classes.counts * classes.sizes / rows * few) * (1 + ROUNDING))
