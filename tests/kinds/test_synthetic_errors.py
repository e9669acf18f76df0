"""Expected errors of tables of synthetic rows: of two ways to know a table the one with the smaller error counts."""

from fractions import Fraction
from math import pi, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crowdgate.hierarchy import Level
from crowdgate.kind.forecast import Basis
from crowdgate.kinds.synthetic.expected_errors import table_errors
from crowdgate.mechanisms.synthetic.rounds import SELECTING
from tests.examples import examples


def exact(values: str) -> Level:
    return Level("exact", tuple(values), np.arange(len(values), dtype=np.int32), np.arange(len(values), dtype=np.int32))


COUNTS = st.lists(st.integers(1, 5000), min_size=6, max_size=6)


@settings(max_examples=examples(200), deadline=None)
@given(COUNTS, st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(1)]), st.floats(1e-6, 1e-1))
@example([1000, 900, 1000, 1000, 1000, 900], Fraction(1, 10), 3e-4)
def test_a_table_counts_as_measured_only_where_that_is_nearer_in_persons(
    counts: list[int], beta: Fraction, cost: float
) -> None:
    people = np.asarray(counts, dtype=float).reshape(2, 3)
    levels = {name: exact(values) for name, values in (("a", "xy"), ("b", "uvw"))}
    drawing = SimpleNamespace(first_table_cost=cost, rows_per_unit=1)
    variances = {"a": np.full(2, 9.0), "b": np.full(3, 9.0)}
    mechanism: Any = SimpleNamespace(beta=beta, finest=levels, drawing=drawing, one_way_variances=lambda: variances)
    prior: Any = SimpleNamespace(joint=lambda _: SimpleNamespace(people=people, basis=Basis.RELATED))
    found = table_errors(mechanism, prior)(levels)
    assert found is not None
    rows, columns, total = people.sum(axis=1), people.sum(axis=0), people.sum()
    model = np.abs(np.multiply.outer(rows, columns) / total - people).sum()
    shares = np.square(columns / total)[None, :] + np.square(rows / total)[:, None]
    independent = model + sqrt(2 / pi) * 3 * np.sqrt(shares).sum() / float(beta)
    measured = 6 * sqrt(2 / pi) / sqrt(2 * (1 - SELECTING) * cost) / float(beta)
    if abs(independent - measured) > 1e-9 * measured and model > 0:
        assert bool(found.parts["model"].any()) == (independent < measured)
