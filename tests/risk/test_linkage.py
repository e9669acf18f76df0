"""Matches of a release with a register are those of a comparison row by row."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.histogram import Histogram, collapse
from crowdgate.risk.linkage import AT_MOST, linkage

Rows = list[tuple[int, int]]
rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=60)


def counted(tuples: Rows, sizes: tuple[int, ...] = (4, 3)) -> Histogram:
    columns = [np.array([row[i] for row in tuples], dtype=np.int64) for i in range(2)]
    return collapse(("a", "b"), sizes, columns, np.ones(len(tuples), dtype=np.int64))


@settings(max_examples=150, deadline=None)
@given(release=rows, register=rows, wrong=st.sampled_from([0, "0.01", "0.5", 1]), coverage=st.sampled_from([1, "0.3"]))
def test_matches_are_those_of_every_row_with_every_person(
    release: Rows, register: Rows, wrong: str, coverage: str
) -> None:
    found = linkage(counted(release), counted(register), {"b": wrong}, coverage)
    matches = [sum(row == person for person in register) for row in release]
    hit = Counter(release)
    assert (found.rows, found.register, found.unmatched) == (len(release), len(register), matches.count(0))
    assert found.matches_within == tuple(sum(1 <= many <= most for many in matches) for most in AT_MOST)
    own = Counter(register)
    assert found.people_within == tuple(
        sum(person in hit and own[person] <= most for person in register) for most in AT_MOST
    )
    share = Fraction(coverage) * (1 - Fraction(wrong))
    right = sum((share / many for many in matches if many), Fraction(0))
    assert found.expected_correct == pytest.approx(float(right))
    assert found.expected_correct_alone == pytest.approx(float(share * matches.count(1)))


def test_of_a_register_with_errors_in_two_attributes_both_must_be_right() -> None:
    """Koot 3.2.3: one error of a hundred in each of postal code and date of birth leaves .9801 of the matches."""
    found = linkage(counted([(0, 0)] * 10), counted([(0, 0)]), {"a": "0.01", "b": "0.01"})
    assert found.found == pytest.approx(0.9801)
    assert found.expected_correct_alone == pytest.approx(9.801)


def test_what_cannot_be_matched_is_refused() -> None:
    one = counted([(0, 0)])
    with pytest.raises(ValueError, match="the same columns"):
        linkage(one, counted([(0, 0)], (4, 4)))
    with pytest.raises(ValueError, match="'c'"):
        linkage(one, one, {"c": 0})
    with pytest.raises(ValueError, match="wrong of a must be a number"):
        linkage(one, one, {"a": 2})
    with pytest.raises(ValueError, match="coverage must be a number"):
        linkage(one, one, coverage="-1")
