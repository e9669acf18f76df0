"""Intervals and figures of a release, recomputed on another machine: last bits may differ, nothing more."""

from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

from crowdgate.accounting.discrete_laws import DiscreteLaplace
from crowdgate.kinds.tables.recount import CellNoise, noisy_problems
from crowdgate.mechanisms.tables.accuracy import exact_cells
from crowdgate.noisy_counts.recount import CountCells

BETA, LAW = Fraction(3, 10), DiscreteLaplace(Fraction(20))
NOISE = CellNoise(LAW, float(1 / BETA), float(BETA), 7, (0.0, 0.0), None, 2)
PLAIN: Any = SimpleNamespace(suppress=False, errors=None)


def problems(lower_end: float) -> list[str]:
    """Return the problems of sums whose lower limits are multiplied by `lower_end`."""
    cells = exact_cells(np.array([3, 900, 12_345]), LAW, Fraction(1), BETA, Fraction(1, 10), 7)
    columns = {"value": cells.value, "standard_error": cells.error}
    ends = {"lower": cells.lower * lower_end, "upper": cells.upper}
    return list(noisy_problems(cast(pa.Table, pa.table({**columns, **ends})), PLAIN, NOISE))


@pytest.mark.parametrize("last_bits", [1 - 2**-53, 1.0, 1 + 2**-52])
def test_an_interval_whose_last_bit_is_another_machines_is_accepted(last_bits: float) -> None:
    assert problems(last_bits) == []


def test_an_interval_that_is_moved_is_refused() -> None:
    assert problems(1 + 1e-10) == ["an interval does not follow from value and standard error"]


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("column", range(5))
def test_cells_are_finite_only_where_every_number_of_every_column_is(column: int, number: float) -> None:
    columns = [np.arange(3.0) for _ in range(5)]
    assert CountCells(*columns).is_finite
    columns[column][1] = number
    assert not CountCells(*columns).is_finite
