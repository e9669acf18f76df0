"""Estimates from a release alone."""

import math
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.histogram import Histogram, collapse
from crowdgate.kinds.rows.first_estimates import PersonsEstimate, estimates, largest_cells

LABELS = {name: tuple(f"{name},{i}" for i in range(size)) for name, size in (("a", 3), ("b", 2))}
tables = st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 1)), st.integers(1, 10**9), max_size=6)
betas = st.fractions(min_value=Fraction(1, 1000), max_value=1, max_denominator=1000)


def release(table: dict[tuple[int, int], int]) -> Histogram:
    columns = [np.array([cell[i] for cell in table], dtype=np.int64) for i in range(2)]
    return collapse(("a", "b"), (3, 2), columns, np.array(list(table.values()), dtype=np.int64))


@given(table=tables, beta=betas)
def test_every_cell_of_every_margin_is_estimated_to_the_nearest_hundredth(
    table: dict[tuple[int, int], int], beta: Fraction
) -> None:
    margins = {name: Counter[int]() for name in LABELS}
    for cell, count in table.items():
        for name, code in zip(LABELS, cell, strict=True):
            margins[name][code] += count
    expected = [
        (name, LABELS[name][code], count, *_rounded(count, beta))
        for name, margin in margins.items()
        for code, count in sorted(margin.items())
    ]
    found = estimates(release(table), beta, LABELS)
    assert [(each.column, each.label, each.count, each.persons, each.error) for each in found] == expected


def _rounded(count: int, beta: Fraction) -> tuple[str, str]:
    with localcontext(prec=80):
        share = Decimal(beta.numerator) / beta.denominator
        persons, error = count * Decimal(beta.denominator) / beta.numerator, (count * (1 - share)).sqrt() / share
        hundredth = Decimal("0.01")
        return str(persons.quantize(hundredth, ROUND_HALF_UP)), str(error.quantize(hundredth, ROUND_HALF_UP))


@pytest.mark.statistical
def test_the_standard_error_is_the_spread_of_the_estimates_under_sampling() -> None:
    """N = 20,000 samples of 4,000 persons: the ratio of the spreads errs by 0.5 %; 3 % is 6 standard errors."""
    beta, people = Fraction(3, 10), 4000
    draws = np.random.default_rng(7).binomial(people, float(beta), size=20_000)
    persons = draws / float(beta)
    (stated,) = estimates(release({(0, 0): round(people * beta)}), beta, {"a": LABELS["a"]})
    assert abs(persons.mean() - people) < 6 * persons.std() / math.sqrt(len(draws))
    assert persons.std() == pytest.approx(stated.error_hundredths / 100, rel=0.03)


@given(table=tables, beta=betas)
def test_the_largest_cells_are_one_of_each_column(table: dict[tuple[int, int], int], beta: Fraction) -> None:
    found = estimates(release(table), beta, LABELS)
    best = largest_cells(found)
    assert sorted({each.column for each in found}) == sorted(each.column for each in best)
    for each in best:
        assert each.count == max(other.count for other in found if other.column == each.column)
    assert len(largest_cells(found, 1)) == min(1, len(found))


def test_all_persons_are_known_without_sampling() -> None:
    assert estimates(release({(0, 0): 7}), Fraction(1), {"b": LABELS["b"]}) == [PersonsEstimate("b", "b,0", 7, 700, 0)]
