"""Rows have the model's tables, rounded, and no other dependence."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.arrays import Codes
from crowdgate.mechanisms.synthetic import rows as module
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Projection, Variable
from crowdgate.mechanisms.synthetic.model import Model, TableMeasurement, fit
from crowdgate.mechanisms.synthetic.rows import rows
from tests.examples import examples
from tests.mechanisms.synthetic.models import brute_force, domains, summed, tables, tabulated
from tests.mechanisms.synthetic.test_model import TOTAL, holes, measured


def furthest(model: Model, total: int, made: tuple[Codes, ...]) -> float:
    """Return the greatest distance of a clique's cell from its expected rows, given the rows of its separator's
    value."""
    domain, cells = model.domain, tabulated(model.domain, made)
    worst = 0.0
    for at, clique in enumerate(model.network.cliques):
        groups = Projection.of(domain, clique.axes, clique.separator)
        held = summed(domain, cells, clique.axes)
        expected = model.beliefs.given(at) * groups.spread(groups.sums(held))
        worst = max(worst, float(abs(held - expected).max()))
    assert cells.sum() == total
    return worst


@given(st.data())
@settings(max_examples=examples(80), deadline=None)
def test_every_cell_of_a_clique_has_its_rows_to_one_in_each_group(data: st.DataObject) -> None:
    domain = data.draw(domains())
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    chosen = data.draw(tables(domain))
    impossible = holes(domain, data.draw(st.sampled_from([(0,), *chosen])), rng) if data.draw(st.booleans()) else ()
    model = fit(domain, measured(domain, chosen, rng), TOTAL, None, 30, impossible)
    total = data.draw(st.sampled_from([0, 1, 2, 7, 100, 2345]))
    made = rows(model, total, rng)
    assert furthest(model, total, made) < 1 + 1e-6
    assert np.all(tabulated(domain, made)[brute_force(model, impossible) == 0] == 0)
    assert all(len(column) == total and column.dtype == np.int32 for column in made)


CHAIN = ModelDomain(tuple("abc"), tuple(Variable(name, "exact", 2, np.arange(2, dtype=np.int32)) for name in "abc"))


def chain() -> Model:
    """Return a model in which b and c depend on a, and are independent given a."""
    pair = np.array([[300, 200], [150, 350]])
    return fit(
        CHAIN,
        [TableMeasurement((0, 1), pair, Fraction(1)), TableMeasurement((0, 2), pair, Fraction(1))],
        1000.0,
        None,
        200,
    )


def test_given_the_separator_branches_are_independent() -> None:
    # one order of rows for all cliques would tie b and c: about 2,500 off; a random one leaves about 35
    model = chain()
    made = tabulated(CHAIN, rows(model, 10_000, np.random.default_rng(4)))
    assert abs(made.sum(axis=0) - 10_000 * model.marginal((1, 2))).max() < 10


def test_equal_seeds_give_equal_rows_in_random_order() -> None:
    model = chain()
    one, same, other = (rows(model, 200, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
    assert not np.array_equal(one[0], other[0])
    changes = int(np.count_nonzero(np.diff(one[0])))
    assert 60 < changes < 140


def test_the_uniform_draw_of_a_group_decides_what_is_rounded_up() -> None:
    expected, groups, counts = np.array([0.4, 0.6, 0.0, 1.5, 1.5]), np.array([0, 0, 0, 2, 2]), np.array([1, 0, 3])
    drawn = [module._rounded(expected, groups, counts, np.random.default_rng(seed)) for seed in range(400)]
    assert {tuple(each) for each in drawn} == {(1, 0, 0, 1, 2), (1, 0, 0, 2, 1), (0, 1, 0, 1, 2), (0, 1, 0, 2, 1)}
    # 400 draws of probability .4: a standard deviation of .025
    assert np.mean([each[0] for each in drawn]) == pytest.approx(0.4, abs=0.12)
