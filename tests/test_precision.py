"""Numbers that are stored more precisely than shown: clamped, rounded to the nearest, and shown as intervals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.domain import INVALID, Domain, Grid, number_label, numbers
from crowdgate.hierarchy import INVALID_LABEL, by_width, hierarchy
from tests.strategies import fine_domains

WAGE = numbers(Fraction(0), Fraction(200_000), Fraction(10_000), "a form", top=True, precision=Fraction(1))


def number(grid: Grid, code: int) -> Fraction:
    return grid.first + grid.unit * code


def nearest(grid: Grid, value: Fraction) -> int:
    """Return the nearest number by exhaustive search of the grid; of two equally near, the greater one."""
    return min(range(grid.codes), key=lambda code: (abs(number(grid, code) - value), -code))


def grid_of(domain: Domain) -> Grid:
    assert domain.grid is not None
    return domain.grid


@pytest.mark.thorough
@given(fine_domains(), st.integers(-40, 300), st.fractions(0, 1, max_denominator=6))
def test_a_number_is_clamped_and_then_rounded_to_the_nearest(domain: Domain, steps: int, part: Fraction) -> None:
    grid = grid_of(domain)
    value = grid.first + grid.unit * (steps + part)
    outside = (value < grid.first and not grid.bottom) or (value >= grid.last + grid.step and not grid.top)
    wrong = outside or (grid.whole and value.denominator != 1)
    assert grid.code(value) == (INVALID if wrong else nearest(grid, value))


@given(fine_domains(), st.data())
def test_many_texts_have_the_codes_of_each(domain: Domain, data: st.DataObject) -> None:
    grid = grid_of(domain)
    halves = st.integers(-3, 2 * grid.codes + 3).map(lambda half: grid.first + grid.unit * Fraction(half, 2))
    ends = st.sampled_from([grid.first, grid.last, grid.greatest, grid.last + grid.step])
    near = st.builds(
        lambda value, off: value + off, halves | ends, st.sampled_from([0, Fraction(1, 10**17), -Fraction(1, 10**17)])
    )
    written = near.filter(lambda value: not 10**40 % value.denominator).map(lambda v: number_label(v).replace("−", "-"))
    texts = data.draw(st.lists(written | st.sampled_from([*domain.labels, "", "NaN", "1e9", "3.0", "x"]) | st.none()))
    assert domain.codes(texts).tolist() == [domain.code(text) for text in texts]


@given(fine_domains(), st.booleans(), st.integers(1, 4))
def test_levels_are_those_of_the_same_domain_without_precision(domain: Domain, invalid: bool, times: int) -> None:
    grid = grid_of(domain)
    plain = numbers(grid.first, grid.last, grid.step, "a form", top=grid.top, bottom=grid.bottom, whole=grid.whole)
    try:
        widths = [("wide", by_width(domain, times * grid.step))]
    except ValueError:
        widths = []
    fine, coarse = (hierarchy(each, widths, invalid_level=invalid) for each in (domain, plain))
    assert domain.labels == plain.labels
    for level, other in zip(fine.levels, coarse.levels, strict=True):
        assert (level.name, level.labels) == (other.name, other.labels)
        assert level.of_values.tolist() == other.codes.tolist()
        assert len(level.codes) == domain.size + invalid
        for code in range(domain.size):
            at = int((number(grid, code) - grid.first) // grid.step)
            assert level.codes[code] == other.codes[at]
        if invalid and level.name != "any":
            assert level.labels[level.codes[-1]] == INVALID_LABEL
    assert len(fine.finest) == domain.size + invalid
    assert len(np.unique(fine.finest.codes)) == len(fine.finest)


@pytest.mark.parametrize(
    ("text", "code", "shown"),
    [
        ("50089", 50_089, "50000"), ("0", 0, "0"), ("9999", 9_999, "0"), ("10000", 10_000, "10000"),
        ("250000", 200_000, "200000+"), ("200000+", 200_000, "200000+"), ("-1", INVALID, None), ("0.5", INVALID, None),
    ],
)  # fmt: skip
def test_a_wage_is_kept_to_the_unit_and_shown_as_its_interval(text: str, code: int, shown: str | None) -> None:
    assert WAGE.code(text) == code
    assert WAGE.codes([text]).tolist() == [code]
    assert shown is None or WAGE.labels[WAGE.values[code]] == shown


def test_a_capped_end_is_one_number_and_an_open_interval_is_kept_whole() -> None:
    assert (len(WAGE), WAGE.size) == (21, 200_001)
    closed = numbers(Fraction(0), Fraction(20), Fraction(10), "a form", whole=False, precision=Fraction(1))
    assert closed.size == 30
    assert [closed.code(text) for text in ("29", "29.4", "29.99", "30", "9.5", "-0.1")] == [29, 29, 29, -1, 10, -1]


@pytest.mark.parametrize(
    ("precision", "whole", "why"),
    [
        ("0", True, "above 0 and divide the step"), ("3", True, "above 0 and divide the step"),
        ("1/1000", False, "numbers: use a coarser precision"),
        ("1/2", True, "must be whole: with decimals, write logicalType: number"),
    ],
)  # fmt: skip
def test_a_precision_that_gives_no_grid_is_refused(precision: str, whole: bool, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        numbers(Fraction(0), Fraction(10_000), Fraction(10), "a form", whole=whole, precision=Fraction(precision))
