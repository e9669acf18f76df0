"""Unique people in a group that is drawn at random, without replacement, from a table whose classes are known.

A group of k is drawn from N people. A member of a class of c people is the only one of the class in the group with
probability C(N - c, k - 1) / C(N - 1, k - 1), which falls with k. So a class is expected to hold exactly one member
with probability t(k) = c (k / N) C(N - c, k - 1) / C(N - 1, k - 1). It rises with k up to floor((N + 1) / c) and falls
afterwards, since t(k + 1) / t(k) = (k + 1) (N - c - k + 1) / (k (N - k)).

Drawing with replacement from the shares c / N is another law. It is too small for the whole table, since a unique
person is drawn exactly once in only 1 of e draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from crowdgate.arrays import Floats
    from crowdgate.risk.class_sizes import ClassSizes

NEAR = 1e-4
"""Largest relative distance of a greatest value from the true one: the search stops there."""
ROUNDING = 1e-9
"""Relative error of float64 here: logarithms below 1e5 times 2^-53, in sums of positive terms."""
_INTERVALS = 64
_PART = 1 << 14
"""Terms that are computed at a time: of larger arrays each one is memory that the system must clear first."""


def expected_singletons(classes: ClassSizes, people: int) -> float:
    """Return the expected number of unique people in a group of `people`, from 0 to all people of the table."""
    if people == 0:
        return 0.0
    return math.fsum(classes.counts * _single(classes.sizes, np.array([float(people)]), float(classes.people))[0])


def variance(classes: ClassSizes, people: int) -> float:
    """Return the variance of the number of unique people in a group of `people`: E S (S - 1) + E S - (E S)^2, where two
    people of different classes are both unique with the same closed form for the two classes together."""
    mean, total = expected_singletons(classes, people), float(classes.people)
    if people < 2 or people == total:
        return 0.0
    both, sizes = 0.0, classes.sizes
    for size, count in zip(sizes.tolist(), classes.counts.tolist(), strict=True):
        others = classes.counts - (sizes == size)
        chances = np.exp(_log_none(sizes + size - 2, total - 2, np.asarray(people - 2.0)))
        both += count * size * float((others * sizes * chances).sum())
    both *= people * (people - 1) / (total * (total - 1))
    return max(0.0, both + mean - mean * mean)


def log_none_bound(classes: ClassSizes, people: int) -> float:
    """Return a lower bound on the logarithm of the probability that nobody of a group of `people` is unique: 1 minus
    the expected number (Markov). It is exact for the whole table."""
    expected = expected_singletons(classes, people)
    if people >= classes.people:
        return -math.inf if expected else 0.0
    return math.log1p(-min(expected, math.nextafter(1.0, 0.0)))


def log_repeats(classes: ClassSizes, people: int) -> float:
    """Return minus the logarithm of the probability that `people` draws with replacement are all different people. All
    are unique without replacement so much more probably than with it."""
    a = float(classes.people) + 1
    left = a - people
    large = people - people * math.log(left / (a - 1)) + (a - 0.5) * math.log1p(-people / a)
    first, last = _stirling_rest(np.array([left, a])).tolist()
    return float(max(0.0, large + first - last))


def share_in_sets_up_to(classes: ClassSizes, people: int, most: int) -> float:
    """Return the expected share of a group of `people` (1 or more) who are in a class with at most `most` members of
    the group. It falls with `people`: more others are never fewer in the class."""
    if people <= most:
        return 1.0
    total = float(classes.people)
    inside = classes.counts * classes.sizes / total
    if people >= total:
        return math.fsum(inside[classes.sizes <= most])
    return min(1.0, math.fsum(inside * few_others(classes.sizes - 1, total - 1, people - 1, most - 1)))


@lru_cache(maxsize=64)
def most_singletons(classes: ClassSizes, least: int, most: int) -> float:
    """Return the greatest expected number of unique people in a group of `least` to `most` people, at most all people
    of the table: a value that some group has, and that none exceeds by more than the share NEAR.

    On an interval of group sizes each class contributes at most its own maximum there. Intervals whose sum of maxima is
    below the greatest value found are dropped; the others are halved.
    """
    total = float(classes.people)
    low, high = (min(float(end), total) for end in (least, most))
    spread = np.round(np.geomspace(max(1.0, low), max(1.0, high), _INTERVALS))
    edges = np.array(sorted(set(spread.tolist())))  # np.unique imports numpy.ma
    peaks = _Peaks.of(classes)
    terms = _terms(classes, edges)
    best = float((terms @ classes.counts).max())
    starts, ends, at_starts, at_ends = edges[:-1], edges[1:], terms[:-1], terms[1:]
    while starts.size:
        bound = peaks.between(starts, ends, at_starts, at_ends) @ classes.counts
        left = (bound > best * (1 + NEAR)) & (ends - starts > 1)
        starts, ends, at_starts, at_ends = starts[left], ends[left], at_starts[left], at_ends[left]
        middle = np.floor((starts + ends) / 2)
        at_middle = _terms(classes, middle)
        best = max(best, float((at_middle @ classes.counts).max(initial=0.0)))
        starts, ends = np.concatenate([starts, middle]), np.concatenate([middle, ends])
        at_starts, at_ends = np.concatenate([at_starts, at_middle]), np.concatenate([at_middle, at_ends])
    return best


@dataclass(frozen=True, eq=False)
class _Peaks:
    """For each class size the group size at which t(k) is greatest, at most all people, and t(k) there."""

    people: Floats
    value: Floats

    @classmethod
    def of(cls, classes: ClassSizes) -> _Peaks:
        """Return the peaks of the classes of a table."""
        total = float(classes.people)
        people = np.minimum(np.floor((total + 1) / classes.sizes), total)
        return cls(people, _single(classes.sizes, people[None, :], total)[0])

    def between(self, starts: Floats, ends: Floats, at_starts: Floats, at_ends: Floats) -> Floats:
        """Return the maximum of t(k) of each class (columns) in intervals of group sizes (rows), from t(k) at their
        ends: at an end, unless the peak is inside."""
        outside = np.where(self.people <= starts[:, None], at_starts, at_ends)
        inside = (self.people > starts[:, None]) & (self.people < ends[:, None])
        return np.where(inside, self.value, outside)


def _terms(classes: ClassSizes, people: Floats) -> Floats:
    """Return t(k) for each size of the group (rows) and each class size (columns), computed for some rows at a time."""
    step = max(1, _PART // classes.sizes.size)
    parts = (people[at : at + step] for at in range(0, len(people), step))
    total, none = float(classes.people), np.zeros((0, classes.sizes.size))
    return np.concatenate([none, *(_single(classes.sizes, part, total) for part in parts)])


def _single(sizes: Floats, people: Floats, total: float) -> Floats:
    """Return t(k) for each group size k (rows; or one for each class, as a matrix) and each class size (columns)."""
    group = people[:, None] if people.ndim == 1 else people
    return np.asarray(sizes * (group / total) * np.exp(_log_none(sizes - 1, total - 1, group - 1)))


def _log_none(others: Floats, total: float, drawn: Floats) -> Floats:
    """Return ln of C(total - others, drawn) / C(total, drawn): none of `others` is among the `drawn` of `total`; -inf
    if too few are left.

    It is ln of G(C) G(B) / (G(D) G(A)) with G the gamma function, A = total + 1, B = A - others, C = A - drawn and D =
    C - others. Large terms of Stirling's formula cancel before they are computed.
    """
    a = total + 1
    d = a - drawn - others
    possible = (d >= 1) & (others < a)
    d = np.where(possible, d, 1.0)
    c = d + others
    b = np.maximum(a - others, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        large = (a - 0.5) * np.log1p(-others / a) - (c - 0.5) * np.log1p(-others / c) + others * np.log(d / b)
    rest = _stirling_rest(c) - _stirling_rest(d) + (_stirling_rest(b) - _stirling_rest(np.array([a])))
    return np.where(possible, np.minimum(large + rest, 0.0), -np.inf)


def few_others(others: Floats, total: float, drawn: int, most: int) -> Floats:
    """Return for each number of `others` the probability that at most `most` of them are among the `drawn` of `total`
    people: a hypergeometric tail, summed from its least possible number on."""
    least = np.maximum(0.0, drawn - (total - others))
    missed = _log_none(total - others, total, np.asarray(total - drawn))
    logs = np.where(least > 0, missed, _log_none(others, total, np.asarray(float(drawn))))
    sums, at = np.zeros(len(others)), least
    for _ in range(int(min(most, others.max())) + 1):
        sums += np.where((at <= most) & (at <= others), np.exp(logs), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = logs + np.log(np.maximum((others - at) * (drawn - at), 0.0))
            logs -= np.log((at + 1) * (total - others - drawn + at + 1))
        at = at + 1
    return np.where(others <= most, 1.0, np.minimum(sums, 1.0))


def _stirling_rest(y: Floats) -> Floats:
    """Return ln Gamma(y) - (y - 1/2) ln y + y - ln(2 pi) / 2 for whole numbers y of at least 1."""
    rest: Floats = (1 / 12 - (1 / 360 - 1 / (1260 * y * y)) / (y * y)) / y
    small = y < len(_REST)
    rest[small] = _REST[y[small].astype(np.int64)]
    return rest


_REST = np.array(
    [0.0, *(math.lgamma(n) - (n - 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi) for n in range(1, 50))]
)
"""Values of `_stirling_rest` where its series is not exact enough: three terms have an error below 1e-14 from 50 on."""
