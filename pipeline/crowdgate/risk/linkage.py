"""Linkage: the number of rows of a release that match few people of a register with names.

The second criterion of Opinion 05/2014 of the Article 29 Working Party; M. Koot, Measuring and predicting anonymity
(thesis, 2012), sections 3.2.3 to 3.4. A match is no proof: people who are missing from the register, or recorded there
wrongly, are matched to somebody else or to nobody.

The two tables do not determine how many matches are right: a row that matches one person may belong to another one who
is not in the register, and the number of such people is unknown. A bound holds whatever the register lacks or has
wrong. Of c people who match r rows each is the right one of at most m rows (m: the largest number of rows of a person).
So at most min(r, m c) of these rows have their own person among the c, and a random choice among the c is right for at
most min(r, m c) / c of them, in expectation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from crowdgate.accounting.numbers import Number, probability, whole
from crowdgate.arrays import Integers
from crowdgate.hierarchy import INVALID_LABEL, Level
from crowdgate.histogram import Histogram, collapse

AT_MOST = (1, 5, 10, 50, 100)
"""Limits on the number of matching people in the register, at least one, for which rows are counted."""


@dataclass(frozen=True)
class Matches:
    """The number of rows of the release that match at least one and few records of the register, and the number of its
    people that they match."""

    rows: int
    people: int


@dataclass(frozen=True)
class Linkage:
    """A release against a register on `attributes`. `matches_within` and `people_within` hold, for each number in
    AT_MOST, how many rows of the release match at most this number of people of the register, and how many people these
    are. `correct_at_most` bounds the expected number of rows that an attacker links rightly by a random choice among
    the matching people, whatever the register lacks or has wrong; `correct_alone_at_most` bounds it for the rows that
    match exactly one. `found` is the probability that a row matches its person's record: the register covers the person
    and no attribute is wrong there. No attacker links more than `found_rows` rows rightly, in expectation over such
    registers: `found` times all rows."""

    attributes: tuple[str, ...]
    rows: int
    register: int
    unmatched: int
    matches_within: tuple[int, ...]
    people_within: tuple[int, ...]
    found: float
    found_rows: float
    correct_at_most: float
    correct_alone_at_most: float


def matches(release: Histogram, register: Histogram, at_most: int) -> Matches:
    """Return the released rows that equal at least one and at most `at_most` records of the register, and these
    records.

    Raises ValueError for other columns, and for `at_most` below 1.
    """
    _check_columns(release, register)
    if at_most < 1:
        raise ValueError("at_most must be at least 1")
    rows, people = _side_by_side(release, register)
    few = (rows > 0) & (people > 0) & (people <= at_most)
    return Matches(int(rows[few].sum()), int(people[few].sum()))


def linkage(
    release: Histogram,
    register: Histogram,
    wrong: Mapping[str, Number] | None = None,
    coverage: Number = 1,
    rows_each: int = 1,
) -> Linkage:
    """Match the rows of a release with the people of a register, both on equal columns with equal codes.

    `wrong`: for an attribute the probability that it is wrong in the register, independent of others (missing: 0).
    `coverage`: the probability that a released person is in the register. `rows_each`: the largest number of rows of a
    person in the release. Raises ValueError for other columns, unknown attributes and numbers outside 0 to 1.
    """
    _check_columns(release, register)
    whole("rows_each", rows_each, 1)
    found = float(_detection_probability(release.names, wrong or {}, coverage))
    rows, people = _side_by_side(release, register)
    matched = people > 0
    alone = people == 1
    own = np.minimum(rows, rows_each * people)[matched]
    return Linkage(
        attributes=release.names,
        rows=release.rows,
        register=register.rows,
        unmatched=int(rows[~matched].sum()),
        matches_within=tuple(int(rows[matched & (people <= most)].sum()) for most in AT_MOST),
        people_within=tuple(int(people[(rows > 0) & (people <= most)].sum()) for most in AT_MOST),
        found=found,
        found_rows=found * release.rows,
        correct_at_most=float((own / people[matched]).sum()),
        correct_alone_at_most=float(np.minimum(rows[alone], rows_each).sum()),
    )


def usable(register: Histogram, levels: Mapping[str, Level]) -> int:
    """Return the number of records of a register with a valid value of each column, at these levels: none is
    `(invalid)`."""
    whole_ones = np.ones(len(register), dtype=np.bool_)
    for name, codes in zip(register.names, register.codes, strict=True):
        valid = np.array([label != INVALID_LABEL for label in levels[name].labels], dtype=np.bool_)
        whole_ones &= valid[codes]
    return int(register.counts[whole_ones].sum())


def _check_columns(release: Histogram, register: Histogram) -> None:
    if (release.names, release.sizes) != (register.names, register.sizes):
        raise ValueError(f"release and register must have the same columns, not {release.names} and {register.names}")


def _detection_probability(names: Sequence[str], wrong: Mapping[str, Number], coverage: Number) -> Fraction:
    unknown = sorted(set(wrong) - set(names))
    if unknown:
        raise ValueError(f"wrong must name attributes that are matched, not {unknown[0]!r}")
    return probability("coverage", coverage) * prod(1 - probability(f"wrong of {n}", e) for n, e in wrong.items())


def _side_by_side(release: Histogram, register: Histogram) -> tuple[Integers, Integers]:
    """Return two numbers for each tuple of values that occurs in either table: rows of the release, and people of the
    register, with it."""
    side = [np.repeat([0, 1], [len(release), len(register)]).astype(np.int8)]
    codes = [np.concatenate(pair) for pair in zip(release.codes, register.codes, strict=True)]
    sizes, names = (*release.sizes, 2), (*release.names, "")
    both = collapse(names, sizes, [*codes, *side], np.concatenate([release.counts, register.counts]))
    # both sides of a tuple are adjacent
    from_register = both.codes[-1] == 1
    own = [column[:-1] != column[1:] for column in both.codes[:-1]]
    first = np.ones(len(both), dtype=np.bool_)
    if len(both) > 1:
        first[1:] = np.logical_or.reduce(own) if own else False
    number = np.cumsum(first) - 1
    counted = (np.bincount(number[mask], both.counts[mask], first.sum()) for mask in (~from_register, from_register))
    rows, people = (each.astype(np.int64) for each in counted)
    return rows, people
