"""Matches of a release with a register equal those of a comparison row by row."""

from collections import Counter
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.histogram import Histogram, collapse
from crowdgate.risk.linkage import AT_MOST, linkage
from tests.examples import examples

Rows = list[tuple[int, int]]
rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=60)


def counted(tuples: Rows, sizes: tuple[int, ...] = (4, 3)) -> Histogram:
    columns = [np.array([row[i] for row in tuples], dtype=np.int64) for i in range(2)]
    return collapse(("a", "b"), sizes, columns, np.ones(len(tuples), dtype=np.int64))


@settings(max_examples=examples(150), deadline=None)
@given(release=rows, register=rows, rows_each=st.integers(1, 3))
def test_matches_are_those_of_every_row_with_every_person(release: Rows, register: Rows, rows_each: int) -> None:
    found = linkage(counted(release), counted(register), rows_each=rows_each)
    matches = [sum(row == person for person in register) for row in release]
    hit = Counter(release)
    assert (found.rows, found.register, found.unmatched) == (len(release), len(register), matches.count(0))
    assert found.matches_within == tuple(sum(1 <= many <= most for many in matches) for most in AT_MOST)
    own = Counter(register)
    assert found.people_within == tuple(
        sum(person in hit and own[person] <= most for person in register) for most in AT_MOST
    )
    # people of a cell take its rows one after another, each up to the limit
    right, alone = Fraction(0), 0
    for cell, rows in hit.items():
        if own[cell]:
            taken = len([row for row in range(rows) if row // rows_each < own[cell]])
            right += Fraction(taken, own[cell])
            alone += taken if own[cell] == 1 else 0
    assert found.correct_at_most == pytest.approx(float(right))
    assert found.correct_alone_at_most == alone
    assert found.found_rows == len(release)


def test_of_a_register_with_errors_in_two_attributes_both_must_be_right() -> None:
    """Koot 3.2.3: one error of a hundred in each of postal code and date of birth leaves .9801 of the rows."""
    found = linkage(counted([(0, 0)] * 10), counted([(0, 0)]), {"a": "0.01", "b": "0.01"}, rows_each=10)
    assert found.found == pytest.approx(0.9801)
    assert found.found_rows == pytest.approx(9.801)
    assert found.correct_at_most == found.correct_alone_at_most == 10


PEOPLE, ROUNDS = 2000, 25


# N = 25 rounds of 2,000 people, 8 times. The bound holds in every round. The other figure is an expectation: the mean
# of 25 rounds, each with a standard deviation of at most 23 rows, is above it by 20 with probability 7e-6 (any: 5e-5).
# What counts coverage twice, the bound times `found`, is at most two thirds of the truth where cells are small.
@pytest.mark.statistical
@pytest.mark.parametrize(("share", "coverage", "wrong"), [(1, 0.5, 0), (1, 0.5, 0.2), (0.5, 0.3, 0.1), (0.5, 1, 0)])
@pytest.mark.parametrize("cells", [(20, 20), (1000, 1000)])
def test_nobody_links_more_rows_rightly_than_is_said(
    share: float, coverage: float, wrong: float, cells: tuple[int, int]
) -> None:
    """A register of equal people that lacks some and has errors for others; the adversary chooses one of the matching
    people at random, so of c people one is right with probability 1 / c."""
    draws = np.random.default_rng(7)
    right, said = [], 0.0
    for _ in range(ROUNDS):
        true = np.stack([draws.integers(0, size, PEOPLE) for size in cells], axis=1)
        false = true.copy()
        moved = draws.random(PEOPLE) < wrong
        false[moved, 1] = (false[moved, 1] + draws.integers(1, cells[1], int(moved.sum()))) % cells[1]
        released, covered = draws.random(PEOPLE) < share, draws.random(PEOPLE) < coverage
        found = linkage(table(true[released], cells), table(false[covered], cells), {"b": str(wrong)}, str(coverage))
        register = Counter(map(tuple, false[covered].tolist()))
        own = true[released & covered & ~moved].tolist()
        right.append(sum(1 / register[each[0], each[1]] for each in own))
        assert right[-1] <= found.correct_at_most
        assert sum(register[each[0], each[1]] == 1 for each in own) <= found.correct_alone_at_most
        said += found.found_rows / ROUNDS
    assert np.mean(right) <= said + 20
    if coverage < 1 and cells[0] == 1000:
        assert np.mean(right) > 1.5 * found.found * found.correct_at_most


def table(tuples: npt.NDArray[np.int64], sizes: tuple[int, int]) -> Histogram:
    return collapse(("a", "b"), sizes, list(tuples.T), np.ones(len(tuples), dtype=np.int64))


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
    with pytest.raises(ValueError, match="rows_each must be a whole number"):
        linkage(one, one, rows_each=0)
