"""Populations: exact weights, drawn tables, isolation of persons."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.audit.common.population import Population
from crowdgate.audit.common.predicates import Predicate
from tests.audit.people import persons, populations, rows
from tests.examples import examples


def units(population: Population) -> list[np.ndarray]:
    """Return every unit of the population as its rows in each cell."""
    lines = np.eye(len(population.cells), dtype=np.int64) if population.rows is None else population.rows.toarray()
    return [line for line, many in zip(lines, population.members, strict=True) for _ in range(many)]


@settings(max_examples=examples(60), deadline=None)
@given(populations(), st.data())
def test_a_weight_is_the_share_of_units_with_a_row_in_the_cells(population: Population, data: st.DataObject) -> None:
    size = len(population.cells)
    cells = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    share = Fraction(data.draw(st.integers(1, 8)), 8)
    having = sum(bool(line[cells].any()) for line in units(population))
    assert Predicate(cells=cells, share=share).weight(population) == share * Fraction(having, len(units(population)))
    assert population.size == len(units(population))
    assert Predicate(share=share).weight(population) == share


@settings(max_examples=examples(60), deadline=None)
@given(populations(), st.integers(1, 12), st.integers(0, 2**32), st.booleans())
def test_a_drawn_table_has_n_units_and_their_rows(population: Population, n: int, seed: int, replacement: bool) -> None:
    n = n if replacement else min(n, population.size)
    drawn = population.draw(n, np.random.default_rng(seed), replacement=replacement)
    lines = np.eye(len(population.cells), dtype=np.int64) if population.rows is None else population.rows.toarray()
    assert drawn.n == n
    assert (drawn.rows == drawn.units @ lines).all()
    assert drawn.table.rows == drawn.rows.sum()
    assert (drawn.table.counts > 0).all()
    assert (np.bincount(drawn.who, minlength=len(drawn.units)) == drawn.units).all()
    assert drawn.units[drawn.target] > 0
    assert (drawn.rows - drawn.others == lines[drawn.target]).all()
    if not replacement:
        assert (drawn.units <= population.members).all()


@settings(max_examples=examples(60), deadline=None)
@given(populations(), st.integers(1, 8), st.integers(0, 2**32), st.data())
def test_persons_are_counted_not_rows(population: Population, n: int, seed: int, data: st.DataObject) -> None:
    drawn = population.draw(n, np.random.default_rng(seed))
    size = len(population.cells)
    cells = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    lines = np.eye(size, dtype=np.int64) if population.rows is None else population.rows.toarray()
    expected = sum(bool(lines[who][cells].any()) for who in drawn.who)
    assert drawn.having(cells) == expected
    assert Predicate(cells=cells).matches(drawn, np.random.default_rng(0)) == expected


def test_a_person_with_two_rows_in_a_box_is_isolated() -> None:
    """Counted as rows they would be two."""
    population = persons(np.array([[2, 0], [0, 1]]), np.array([1, 1]))
    for seed in range(20):
        drawn = population.draw(2, np.random.default_rng(seed), replacement=False)
        box = np.array([True, False])
        assert drawn.rows[0] == 2
        assert Predicate(cells=box).isolates(drawn, np.random.default_rng(0))


def test_more_units_than_there_are_can_not_be_drawn_without_replacement() -> None:
    with pytest.raises(ValueError, match="at most the 3 units"):
        rows(np.array([1, 2])).draw(4, np.random.default_rng(0), replacement=False)


@settings(max_examples=examples(40), deadline=None)
@given(populations())
def test_boxes_hold_all_weight(population: Population) -> None:
    box, weight = population.boxes(population.levels)
    assert (weight[box] >= population.weights - 1e-12).all()
    assert weight.sum() == pytest.approx(population.weights.sum(), abs=1e-12)
    whole, one = population.boxes({})
    assert (whole == 0).all()
    assert len(one) == 1


@pytest.mark.thorough
@pytest.mark.statistical
def test_a_table_without_replacement_has_the_hypergeometric_law() -> None:
    """20,000 tables; each of 4 counts of the first cell within 4.5 standard errors: false alarm with probability below
    3e-5. The distribution with replacement would be off by 10 standard errors."""
    from scipy.stats import hypergeom

    population, rng, trials = rows(np.array([3, 5])), np.random.default_rng(5), 20_000
    seen = [int(population.draw(4, rng, replacement=False).units[0]) for _ in range(trials)]
    for count, share in enumerate(hypergeom(8, 3, 4).pmf(range(4))):
        assert abs(seen.count(count) / trials - share) < 4.5 * np.sqrt(share * (1 - share) / trials)
