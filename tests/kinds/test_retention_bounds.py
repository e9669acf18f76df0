"""Bounds on retention from counts of single attributes hold for every table with these counts."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from crowdgate.kind.forecast import Basis
from crowdgate.kind.prior import ExpectedCounts
from crowdgate.kinds.rows.retention_bounds import greatest_loss, retention_bounds
from crowdgate.risk.retention import sampled_retention
from tests.examples import examples

TABLES = st.lists(st.integers(0, 30), min_size=6, max_size=6).filter(any)


@given(cells=TABLES, k=st.integers(1, 12), beta=st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]))
@settings(max_examples=examples(150))
def test_bounds_hold_for_the_table_that_has_these_margins(cells: list[int], k: int, beta: Fraction) -> None:
    """The bounds see only the margins: the table as if attributes were independent."""
    table = np.array(cells, dtype=np.float64).reshape(2, 3)
    independent = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    found = retention_bounds(ExpectedCounts({}, independent, Basis.MARGINS, tuple), k, beta)
    true = sampled_retention(table.reshape(-1), k, beta)
    assert found.least_share - 1e-9 <= true.share <= found.greatest_share + 1e-9
    assert found.least_classes - 1e-9 <= true.classes <= found.greatest_classes + 1e-9


@given(k=st.integers(1, 40), beta=st.sampled_from([Fraction(1, 20), Fraction(3, 10), Fraction(4, 5)]))
@settings(max_examples=examples(20), deadline=None)
def test_the_greatest_loss_is_that_of_the_worst_class(k: int, beta: Fraction) -> None:
    sizes, rows = np.arange(1, int(20 * k / beta) + 2), np.arange(k)
    loss = (rows * stats.binom.pmf(rows, sizes[:, None], float(beta))).sum(axis=1)
    assert loss.max() - 1e-9 <= greatest_loss(k, beta) <= loss.max() + 1e-6
