"""Matching: rows of a release that equal few records of a register, at the levels and on the attributes of both.

M. Koot, Measuring and predicting anonymity (thesis, 2012), sections 3.3-3.4; the second criterion of Opinion 05/2014 of
the Article 29 Working Party.
"""

from dataclasses import dataclass

import numpy as np

from crowdgate.histogram import Histogram, collapse


@dataclass(frozen=True)
class Matches:
    """How many rows of the release match at least one and few records of the register, and how many of its people they
    match."""

    rows: int
    people: int


def matches(release: Histogram, register: Histogram, at_most: int) -> Matches:
    """The released rows that equal at least one and at most `at_most` records of the register.

    Raises ValueError for histograms over other columns or levels, and for `at_most` below 1.
    """
    if (release.names, release.sizes) != (register.names, register.sizes):
        raise ValueError("release and register must have the same columns with as many values each")
    if at_most < 1:
        raise ValueError("at_most must be at least 1")
    # both in one histogram, tagged: rows that are followed by records of the same tuple match them
    codes = [np.concatenate(pair) for pair in zip(release.codes, register.codes, strict=True)]
    tags = np.repeat([0, 1], [len(release), len(register)])
    counts = np.concatenate([release.counts, register.counts])
    both = collapse((*release.names, ""), (*release.sizes, 2), [*codes, tags], counts)
    same = np.ones(max(0, len(both) - 1), dtype=np.bool_)
    for column in both.codes[:-1]:
        same &= column[1:] == column[:-1]
    at = np.flatnonzero(same & (both.counts[1:] <= at_most))
    return Matches(int(both.counts[at].sum()), int(both.counts[at + 1].sum()))
