"""Success of membership attacks on a sample when the number of members is public: by enumeration."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.accounting.membership import true_positive_lines
from crowdgate.accounting.numbers import Number

RATES = [Fraction(1, 10), Fraction(3, 10), Fraction(1, 2), Fraction(9, 10)]


def mass(n: int, b: Fraction) -> list[Fraction]:
    return [comb(n, t) * b**t * (1 - b) ** (n - t) for t in range(n + 1)]


def by_size(n: int, b: Fraction, claims: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Return the rates of an attacker who claims all sampled units, and everybody if the sample size is one of
    `claims`."""
    others = sum((p * claims[t] for t, p in enumerate(mass(n - 1, b))), Fraction(0))
    return b + (1 - b) * others, sum((p * claims[t] for t, p in enumerate(mass(n, b))), Fraction(0))


def lowest(fpr: Fraction, lines: Sequence[tuple[float, float]]) -> Fraction:
    return min(Fraction(intercept) + Fraction(slope) * fpr for intercept, slope in lines)


@pytest.mark.thorough
@pytest.mark.parametrize("b", RATES)
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_no_claims_by_the_size_of_the_sample_are_above_the_lines_and_some_attain_them(n: int, b: Fraction) -> None:
    lines = true_positive_lines(b, n)
    gaps = [
        lowest(fpr, lines) - tpr for claims in product((0, 1), repeat=n + 1) for tpr, fpr in [by_size(n, b, claims)]
    ]
    assert 0 <= min(gaps) < Fraction(1, 10**12)


def test_what_holds_of_one_unit_more_or_less_does_not_hold_where_the_number_is_public() -> None:
    """Two members at rate 1/2: an attacker who claims everybody if at most one is sampled finds all of them, and claims
    three non-members of four."""
    tpr, fpr = by_size(2, Fraction(1, 2), (1, 1, 0))
    assert Fraction(1, 2) + Fraction(1, 2) * fpr < tpr
    assert tpr <= lowest(fpr, true_positive_lines("0.5", 2))


Outcome = tuple[frozenset[int], int]
PEOPLE, MEMBERS = 4, 2
"""Units of a population of distinct tuples, and of a table."""


def releases(table: frozenset[int], b: Fraction, lie: Fraction) -> Iterator[tuple[Outcome, Fraction]]:
    """Yield the exact sample, with a bit on whether unit 0 is in the table, wrong with probability `lie`."""
    for size in range(len(table) + 1):
        for kept in combinations(sorted(table), size):
            chance = b**size * (1 - b) ** (len(table) - size)
            for told in (0, 1):
                yield (frozenset(kept), told), chance * (1 - lie if told == (0 in table) else lie)


@given(
    st.integers(0, 2**32), st.sampled_from(RATES), st.sampled_from([Fraction(1, 2), Fraction(1, 4), Fraction(1, 10)])
)
def test_no_attack_is_above_what_is_told_beside_the_sample_allows(seed: int, b: Fraction, lie: Fraction) -> None:
    """All tables of two of four units, all releases; an attacker who claims at random, but always the sampled units."""
    tpr, fpr = rates(b, lie, np.random.default_rng(seed).integers(0, 2, (16, 2, PEOPLE)))
    ratio: Number = Fraction(np.log(float((1 - lie) / lie))).limit_denominator(10**12) + Fraction(1, 10**9)
    lines = true_positive_lines(b, MEMBERS, ratio if lie < Fraction(1, 2) else 0)
    assert tpr <= lowest(fpr, lines)


def rates(b: Fraction, lie: Fraction, claims: np.ndarray) -> tuple[Fraction, Fraction]:
    hits = false = Fraction(0)
    tables = [frozenset(each) for each in combinations(range(PEOPLE), MEMBERS)]
    for table in tables:
        for (kept, told), chance in releases(table, b, lie):
            code = sum(1 << unit for unit in kept)
            for unit in range(PEOPLE):
                claimed = chance * int(unit in kept or claims[code, told, unit])
                hits, false = hits + claimed * (unit in table), false + claimed * (unit not in table)
    return hits / (MEMBERS * len(tables)), false / ((PEOPLE - MEMBERS) * len(tables))


def test_without_a_sample_everybody_can_be_found_and_of_a_sample_of_nobody_nobody() -> None:
    assert true_positive_lines(1, 9)[0] == (1.0, 1.0)
    assert true_positive_lines(0, 9) == ((0.0, 1.0), (0.0, 1.0))
    (line,) = true_positive_lines("0.3", 9, "0.6", "1e-9")
    assert line == pytest.approx((0.3, np.exp(0.6)))
    with pytest.raises(ValueError, match="n must be"):
        true_positive_lines("0.3", 0)
