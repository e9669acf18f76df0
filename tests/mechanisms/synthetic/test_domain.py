"""A table's sums at coarser levels, and their adjoint."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.hierarchy import Level
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Projection, Variable
from tests.examples import examples
from tests.mechanisms.synthetic.models import all_tables, any_order, domains, summed


def level(name: str, codes: list[int]) -> Level:
    return Level(name, tuple(f"{name} {i}" for i in range(max(codes) + 1)), np.array(codes, dtype=np.int32))


def test_every_informative_level_is_a_variable() -> None:
    age = [level("exact", [0, 1, 2, 3]), level("same", [1, 0, 2, 3]), level("two", [0, 1, 1, 0]), level("any", [0] * 4)]
    domain = ModelDomain.of({"age": age, "sex": [level("exact", [0, 1])], "nothing": [level("any", [0, 0])]})
    assert [(v.attribute, v.level, v.size) for v in domain.variables] == [
        ("age", "exact", 4), ("age", "two", 2), ("sex", "exact", 2), ("nothing", "any", 1),
    ]  # fmt: skip
    assert domain.finest == (0, 2, 3)
    assert domain.codes(0, 1).tolist() == [0, 1, 1, 0]


def test_a_level_that_begins_above_exact_counts_from_there() -> None:
    domain = ModelDomain.of({"age": [level("pairs", [0, 0, 1, 1, 2]), level("young", [0, 0, 0, 0, 1])]})
    assert domain.variables[1].of_finest.tolist() == [0, 0, 1]


def test_a_value_without_a_finer_one_is_refused() -> None:
    with pytest.raises(ValueError, match="a at level exact"):
        ModelDomain(("a",), (Variable("a", "exact", 3, np.array([0, 1], dtype=np.int32)),))


@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_sums_are_those_of_the_cells_and_spread_is_their_adjoint(data: st.DataObject) -> None:
    domain = data.draw(domains())
    table = data.draw(st.sampled_from(any_order(all_tables(domain, 3))))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    cells, other = rng.normal(size=domain.shape(domain.finest)), rng.normal(size=domain.shape(table))
    projection = Projection.of(domain, domain.finest, table)
    np.testing.assert_allclose(projection.sums(cells), summed(domain, cells, table), atol=1e-12)
    np.testing.assert_allclose(
        (projection.sums(cells) * other).sum(), (cells * projection.spread(other)).sum(), atol=1e-10
    )
