"""Sums are exact however large they are, and clamped at the end only: the guarantee depends on no bound on rows."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.tables_plan import Query
from crowdgate.domain import numbers
from crowdgate.hierarchy import Level, hierarchy
from crowdgate.histogram import Histogram, View, merge
from crowdgate.mechanisms.tables.counting import MOST, answer
from crowdgate.mechanisms.tables.sums import centred, integer_grid
from crowdgate.mechanisms.tables.workload import LinearQuery

DOMAIN = numbers(Fraction(-3), Fraction(4), Fraction(1), "a form")
HEIGHTS = hierarchy(DOMAIN, [], invalid_level=True)
SEX = Level("exact", ("f", "m"), np.array([0, 1], dtype=np.int32))
VIEWS = {"view 0": View({"sex": SEX, "height": HEIGHTS.finest})}
large = st.integers(0, 12) | st.integers(2**61, 2**62) | st.integers(2**62, 2**63 - 1)
scale = st.sampled_from([1, 3, 2**31, 2**59])
Counts = Mapping[tuple[int, int], int]


def histogram(counts: Counts) -> Histogram:
    cells = sorted(cell for cell, count in counts.items() if count)
    codes = tuple(np.array([cell[i] for cell in cells], dtype=np.int64) for i in range(2))
    return Histogram(("sex", "height"), (2, 9), codes, np.array([counts[cell] for cell in cells], dtype=np.int64))


def queries(unit: int, low: int, high: int) -> list[LinearQuery]:
    assert DOMAIN.grid is not None
    plain = integer_grid("height", DOMAIN.grid, HEIGHTS.finest, Fraction(low), Fraction(high))
    grids = [plain, centred(plain)]
    larger = [replace(grid, integers=grid.integers * unit) for grid in grids]
    found = [LinearQuery(Query("sum", 2, grid.greatest), {"sex": SEX}, grid) for grid in larger]
    return [
        *found,
        LinearQuery(Query("total", 1), {}),
        LinearQuery(Query("sums", 1, larger[0].greatest), {}, larger[0]),
    ]


def exact(counts: Counts, query: LinearQuery) -> list[int]:
    """Return answers in Python's integers, clamped at the end."""
    totals = [0] * (2 if query.levels else 1)
    for (sex, height), count in counts.items():
        weights = [] if query.grid is None else [*query.grid.integers.tolist(), 0]
        totals[sex if query.levels else 0] += count * (weights[height] if weights else 1)
    return [max(-MOST, min(MOST, total)) for total in totals]


tables = st.dictionaries(st.tuples(st.integers(0, 1), st.integers(0, 8)), large, max_size=10)


@settings(deadline=None)
@given(tables, scale, st.integers(-3, 0), st.integers(1, 4))
def test_an_answer_is_that_of_whole_numbers_without_limit_cut_once(
    counts: Counts, unit: int, low: int, high: int
) -> None:
    wanted = queries(unit, low, high)
    for query, found in zip(wanted, answer(wanted, VIEWS, {"view 0": histogram(counts)}), strict=True):
        assert found.dtype == np.int64
        assert found.reshape(-1).tolist() == exact(counts, query)


@settings(deadline=None)
@given(tables, scale, st.data())
def test_parts_do_not_matter_and_one_row_moves_an_answer_by_no_more_than_its_number(
    counts: Counts, unit: int, data: st.DataObject
) -> None:
    """Each partition of the counts adds up to equal answers, also at the limit of 64 bits."""
    counts = {cell: count // 2 for cell, count in counts.items()}
    first = {cell: data.draw(st.integers(0, count)) for cell, count in counts.items()}
    rest = {cell: count - first[cell] for cell, count in counts.items()}
    wanted = queries(unit, -3, 4)
    whole = answer(wanted, VIEWS, {"view 0": histogram(counts)})
    parts = answer(wanted, VIEWS, {"view 0": merge([histogram(first), histogram(rest)])})
    assert [each.tolist() for each in whole] == [each.tolist() for each in parts]
    row = data.draw(st.tuples(st.integers(0, 1), st.integers(0, 8)))
    more = answer(wanted, VIEWS, {"view 0": histogram({**counts, row: counts.get(row, 0) + 1})})
    for query, before, after in zip(wanted, whole, more, strict=True):
        moved = [abs(a - b) for a, b in zip(before.reshape(-1).tolist(), after.reshape(-1).tolist(), strict=True)]
        assert sum(moved) <= query.query.sensitivity(1)


@pytest.mark.parametrize(
    ("step", "whole", "precision", "rounding"),
    [("1", True, None, "none"), ("1/2", False, None, "down"), ("1", False, "1/4", "nearest")],
)
def test_how_cells_were_rounded_is_said_as_it_was(step: str, whole: bool, precision: str | None, rounding: str) -> None:
    finer = None if precision is None else Fraction(precision)
    domain = numbers(Fraction(0), Fraction(4), Fraction(step), "a form", whole=whole, precision=finer)
    assert domain.grid is not None
    level = hierarchy(domain, [], invalid_level=False).finest
    assert integer_grid("height", domain.grid, level, None, None).taken.rounding == rounding
