"""Minimal sample uniques: for each record the smallest sets of attributes in which it is unique; SUDA2 scores.

M. J. Elliot, A. M. Manning, R. W. Ford, A computational algorithm for handling the special uniques problem (2002); A.
M. Manning, D. J. Haglin, J. A. Keane, A recursive search algorithm for statistical disclosure assessment (2008). Scores
are those of `suda2` of sdcMicro, which differ between its versions: see `Scores`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.limits import DENSE_CELLS, MOST_SUBSETS

if TYPE_CHECKING:
    from crowdgate.arrays import AnyIntegers, Bools, Integers
    from crowdgate.histogram import Histogram

Scores = Literal["elliot", "ihsn"]
"""The contribution to its record's score of a minimal unique of i of M attributes, searched up to size m. `elliot`: the
product of M - j for j from i to m (M - 1, if all sizes are searched): the default of sdcMicro since 5.0.3. `ihsn`:
(2^(M - i) - 1) i! (M - i)! / M!, its older method, which gives the DIS-SUDA scores in its guide."""
DIS_FRACTION = 0.01
"""The sampling fraction that sdcMicro assumes."""


@dataclass(frozen=True, eq=False)
class MinimalUniques:
    """The minimal uniques of up to `up_to` of `names`. `records` are the places of the histogram's tuples of one
    record, the only ones that can have any; `found` has, for a subset of attributes (places in `names`), the places in
    `records` of those whose minimal unique it is. `pairs` is the number of records that share their tuple with exactly
    one."""

    names: tuple[str, ...]
    up_to: int
    records: AnyIntegers
    found: dict[tuple[int, ...], AnyIntegers]
    pairs: int

    @property
    def sizes(self) -> Integers:
        """For each record (a line) its numbers of minimal uniques of 1, 2, ... up to `up_to` attributes."""
        counts = np.zeros((len(self.records), self.up_to), dtype=np.int64)
        for subset, who in self.found.items():
            counts[who, len(subset) - 1] += 1
        return counts


def minimal_uniques(histogram: Histogram, up_to: int) -> MinimalUniques:
    """Return all minimal uniques of up to `up_to` columns of a histogram.

    A set is minimal if the record is not unique in any proper subset. Raises ValueError for `up_to` outside 1 to the
    number of columns, and if more than MOST_SUBSETS sets would be searched.
    """
    width = len(histogram.names)
    if not 1 <= up_to <= width:
        raise ValueError(f"up_to must be 1 to {width}, the number of attributes, not {up_to}")
    subsets = sum(comb(width, size) for size in range(1, up_to + 1))
    if subsets > MOST_SUBSETS:
        raise ValueError(f"{subsets} sets of up to {up_to} of {width} attributes are too many: at most {MOST_SUBSETS}")
    records = np.flatnonzero(histogram.counts == 1)
    search = _Search(histogram, up_to, records)
    search.refine((), np.zeros(len(histogram), dtype=np.int64), np.arange(len(histogram)))
    found = {subset: who for subset in search.order() if len(who := search.minimal(subset))}
    return MinimalUniques(histogram.names, up_to, records, found, 2 * int(np.count_nonzero(histogram.counts == 2)))


class _Search:
    """Depth-first search over sets of columns, each refining the groups of the one before it by one more column.

    A tuple that is unique in its group stays unique in all refinements, so only the others continue; if none remain,
    the search stops there.
    """

    def __init__(self, histogram: Histogram, up_to: int, records: AnyIntegers) -> None:
        self._histogram, self._up_to = histogram, up_to
        self._place = np.full(len(histogram), -1, dtype=np.int64)
        self._place[records] = np.arange(len(records))
        self._alone: dict[tuple[int, ...], AnyIntegers] = {}
        """Records that are unique in a set, but not already in the set without its last column."""

    def refine(self, subset: tuple[int, ...], groups: AnyIntegers, tuples: AnyIntegers) -> None:
        """Search the sets that extend `subset`, with the remaining `tuples`, each in its group."""
        if len(subset) == self._up_to or not len(tuples):
            return
        for column in range(subset[-1] + 1 if subset else 0, len(self._histogram.names)):
            size = self._histogram.sizes[column]
            key = groups * size + self._histogram.codes[column][tuples]
            number, counts = _renumber_groups(key, self._histogram.counts[tuples])
            unique = counts[number] == 1
            self._alone[*subset, column] = self._place[tuples[unique]]
            self.refine((*subset, column), number[~unique], tuples[~unique])

    def order(self) -> Iterator[tuple[int, ...]]:
        """Return the searched sets of columns, the smallest first."""
        return iter(sorted(self._alone, key=lambda subset: (len(subset), subset)))

    def minimal(self, subset: tuple[int, ...]) -> AnyIntegers:
        """Return the records that are unique in a set of columns and in no set of one column less."""
        who = self._alone[subset]
        if len(subset) > 1 and len(who):
            for left_out in range(len(subset) - 1):
                who = who[~self._unique(subset[:left_out] + subset[left_out + 1 :], who)]
        return who

    def _unique(self, subset: tuple[int, ...], who: AnyIntegers) -> Bools:
        """Return for each of the records `who`, True if it is unique in a set of columns: its uniqueness is stored at
        the first set of leading columns that shows it."""
        unique = np.zeros(len(who), dtype=np.bool_)
        for size in range(1, len(subset) + 1):
            since = self._alone.get(subset[:size])
            if since is not None:
                unique |= np.isin(who, since)
        return unique


def _renumber_groups(key: AnyIntegers, counts: Integers) -> tuple[AnyIntegers, Integers]:
    """Return for each key the number of its group, from 0, and for each group the sum of its counts."""
    most = int(key.max()) + 1
    if most <= min(DENSE_CELLS, 8 * len(key)):
        totals = np.bincount(key, counts, most).astype(np.int64)
        return np.cumsum(totals > 0)[key] - 1, totals[totals > 0]
    _, number = np.unique(key, return_inverse=True)
    return number, np.bincount(number, counts).astype(np.int64)


def score_weights(attributes: int, up_to: int, scores: Scores = "elliot") -> Floats:
    """Return the contribution of a minimal unique of 1, 2, ... up to `up_to` attributes to a score (see `Scores`)."""
    sizes = range(1, up_to + 1)
    if scores == "ihsn":
        each = [(2.0 ** (attributes - i) - 1) / comb(attributes, i) for i in sizes]
    else:
        last = min(up_to, attributes - 1)
        each = [float(prod(attributes - j for j in range(i, last + 1))) for i in sizes]
    return np.array(each)


@dataclass(frozen=True, eq=False)
class Suda:
    """Scores of the records that can have minimal uniques; all others have the scores 0.

    `scores`: SUDA; `dis`: DIS-SUDA, an estimate of the probability that a match with such a record is right; `shares`:
    the share of each attribute in the sum of all scores (0 if the sum is 0).
    """

    scores: Floats
    dis: Floats
    shares: Floats


def suda(uniques: MinimalUniques, fraction: float = DIS_FRACTION, scores: Scores = "elliot") -> Suda:
    """Return SUDA and DIS-SUDA scores as sdcMicro's `suda2` computes them. `fraction` is the sampling fraction, above 0
    and below 1.

    DIS = U f / (U f + P (1 - f)) for U records that are unique and P in pairs (C. J. Skinner, M. J. Elliot, A measure
    of disclosure risk for microdata, 2002). It is distributed over the records with a score s by 1 / (1 + (U / DIS - U)
    / (s^q A)), where q = 1 + (8 - M) / 20 for M attributes and A is the sum of all s^-q. sdcMicro misses records that
    are unique if the 16-bit hashes of two records agree; here all are counted.
    """
    if not 0 < fraction < 1:
        raise ValueError(f"fraction must be above 0 and below 1, not {fraction}")
    width = len(uniques.names)
    each = score_weights(width, uniques.up_to, scores)
    own, by_attribute = np.zeros(len(uniques.records)), np.zeros(width)
    for subset, who in uniques.found.items():
        own[who] += each[len(subset) - 1]
        by_attribute[list(subset)] += each[len(subset) - 1] * len(who)
    total = own.sum()
    shares = by_attribute / total if total else by_attribute
    return Suda(own, _dis_suda(own, uniques.pairs, width, fraction), shares)


def _dis_suda(scores: Floats, pairs: int, width: int, fraction: float) -> Floats:
    """Return DIS-SUDA scores, by U / DIS - U = P (1 - f) / f: without pairs each match is right."""
    spread = np.zeros(len(scores))
    raised = scores[scores > 0] ** (1 + (8 - width) / 20)
    spread[scores > 0] = 1 / (1 + pairs * (1 - fraction) / fraction / (raised * (1 / raised).sum()))
    return spread
