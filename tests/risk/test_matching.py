"""Matches of a release with a register, compared with matching each row with each record."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.histogram import Histogram, collapse
from crowdgate.risk.linkage import Matches, matches

SIZES = (3, 2)
Rows = list[tuple[int, int]]
rows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), max_size=12)


def histogram(of: Rows) -> Histogram:
    codes = [np.array([row[at] for row in of], dtype=np.int64) for at in range(2)]
    return collapse(("a", "b"), SIZES, codes, np.ones(len(of), dtype=np.int64))


@given(release=rows, register=rows, most=st.integers(1, 4))
def test_matches_are_those_of_comparing_all_rows_with_all_records(release: Rows, register: Rows, most: int) -> None:
    people = Counter(register)
    matched = [row for row in release if 1 <= people[row] <= most]
    found = matches(histogram(release), histogram(register), most)
    assert found == Matches(len(matched), sum(people[row] for row in {*matched}))


def test_what_cant_be_compared_is_refused() -> None:
    one = histogram([(0, 0)])
    other = Histogram(("a", "c"), SIZES, one.codes, one.counts)
    with pytest.raises(ValueError, match="the same columns"):
        matches(one, other, 1)
    with pytest.raises(ValueError, match="at least 1"):
        matches(one, one, 0)
