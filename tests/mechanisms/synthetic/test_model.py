"""The fitted model: exact marginals, the right gradient, one optimum from any start."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.arrays import Floats
from crowdgate.mechanisms.synthetic import model as models
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table, Variable
from crowdgate.mechanisms.synthetic.model import Impossible, Model, Objective, TableMeasurement, fit
from tests.examples import examples
from tests.mechanisms.synthetic.models import all_tables, any_order, brute_force, domains, summed, tables

TOTAL = 400.0


def measured(
    domain: ModelDomain, chosen: list[Table], rng: np.random.Generator, sigma: int = 12
) -> list[TableMeasurement]:
    """Return tables of one random population of 400 with noise, including negative counts."""
    shape = domain.shape(domain.finest)
    people = TOTAL * rng.dirichlet(np.full(domain.cells(domain.finest), 0.3)).reshape(shape)
    noisy = {table: summed(domain, people, table) + rng.normal(0, sigma, domain.shape(table)) for table in chosen}
    return [TableMeasurement(table, np.rint(y).astype(np.int64), Fraction(sigma**2)) for table, y in noisy.items()]


def holes(domain: ModelDomain, table: Table, rng: np.random.Generator) -> Impossible:
    """Return a table in which about every third combination can't occur, never the first one."""
    found = rng.random(domain.shape(table)) < 1 / 3
    found.flat[0] = False
    return [(table, found)]


Case = tuple[ModelDomain, list[TableMeasurement], Impossible, np.random.Generator]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    domain = draw(domains())
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    chosen = draw(tables(domain))
    impossible = holes(domain, draw(st.sampled_from(all_tables(domain, 2))), rng) if draw(st.booleans()) else ()
    return domain, measured(domain, chosen, rng), impossible, rng


def joints(model: Model) -> Floats:
    return np.concatenate([cells.reshape(-1) for cells in model.beliefs.joint])


@pytest.mark.thorough
@given(cases())
@settings(max_examples=examples(60), deadline=None)
def test_marginals_are_those_of_brute_force(case: Case) -> None:
    domain, measurements, impossible, _ = case
    model = fit(domain, measurements, TOTAL, most_steps=30, impossible=impossible)
    cells = brute_force(model, impossible)
    for table in any_order(all_tables(domain, 3)):
        np.testing.assert_allclose(model.marginal(table), summed(domain, cells, table), rtol=0, atol=1e-12)


@given(cases())
@settings(max_examples=examples(40), deadline=None)
def test_the_gradient_is_that_of_finite_differences(case: Case) -> None:
    domain, measurements, impossible, rng = case
    objective = Objective(domain, measurements, TOTAL, impossible)
    at = rng.normal(size=len(objective.scale))

    def quotient(along: Floats, step: float) -> float:
        return float((objective(at + step * along)[0] - objective(at - step * along)[0]) / (2 * step))

    for along in np.eye(len(at))[:8]:
        wide, narrow = quotient(along, 2e-4), quotient(along, 1e-4)
        # off by a third derivative times step^2 / 6, a third of what the two differ by (allowed is thrice that), and by
        # rounding
        off = abs(wide - narrow) + 1e-6
        assert narrow == pytest.approx(objective(at)[1] @ along, abs=off, rel=0)


@given(cases())
@settings(max_examples=examples(40), deadline=None)
def test_the_objective_is_convex(case: Case) -> None:
    domain, measurements, impossible, rng = case
    objective = Objective(domain, measurements, TOTAL, impossible)
    one, other = rng.normal(size=(2, len(objective.scale)))
    between = objective((one + other) / 2)[0]
    assert between <= (objective(one)[0] + objective(other)[0]) / 2 + 1e-12


SMALL = ModelDomain(
    ("age", "sex", "work"),
    (
        Variable("age", "exact", 6, np.arange(6, dtype=np.int32)),
        Variable("age", "two", 2, np.array([0, 1, 1, 0, 0, 1], dtype=np.int32)),
        Variable("sex", "exact", 2, np.arange(2, dtype=np.int32)),
        Variable("work", "exact", 3, np.arange(3, dtype=np.int32)),
    ),
)
CHOSEN: list[Table] = [(0,), (1, 2), (2, 3)]


@pytest.mark.thorough
@given(st.lists(st.sampled_from(all_tables(SMALL, 2)), unique=True, min_size=1), st.integers(0, 99))
@settings(max_examples=examples(6), deadline=None)
def test_a_warm_start_ends_where_a_cold_one_does(chosen: list[Table], seed: int) -> None:
    measurements = measured(SMALL, chosen, np.random.default_rng(seed), sigma=30)
    cold = fit(SMALL, measurements, TOTAL, most_steps=250)
    warm = fit(SMALL, measurements, TOTAL, fit(SMALL, measurements[::2], TOTAL, most_steps=5), 250)
    np.testing.assert_allclose(joints(warm), joints(cold), rtol=0, atol=1e-5)


def test_what_is_impossible_has_no_probability() -> None:
    measurements = measured(SMALL, CHOSEN, np.random.default_rng(1))
    found = np.zeros((2, 3), dtype=np.bool_)
    found[1, :2] = True
    model = fit(SMALL, measurements, TOTAL, most_steps=100, impossible=[((1, 3), found), ((3,), np.arange(3) == 2)])
    # the second age group can have no work at all, and so there is nobody in it
    assert np.all(model.marginal((1,))[1] == 0)
    assert np.all(model.marginal((3,))[2:] == 0)
    assert np.all(model.marginal((0, 3))[:, :2][SMALL.variables[1].of_finest == 0] > 0)


def test_a_table_measured_twice_counts_as_its_weighted_mean() -> None:
    rng = np.random.default_rng(2)
    one, other = (TableMeasurement((0, 3), rng.integers(-5, 40, (6, 3)), Fraction(variance)) for variance in (4, 12))
    (both,) = Objective(SMALL, [one, other], TOTAL).targets
    np.testing.assert_allclose(both.parts, (3 * one.noisy + other.noisy) / 4 / TOTAL)
    assert both.penalty == pytest.approx(models.PENALTY * 3 / TOTAL)


def test_a_precise_measurement_is_met_and_a_vague_one_is_not() -> None:
    noisy = np.array([[30, 10, 60], [50, 40, 10]])
    precise = fit(SMALL, [TableMeasurement((2, 3), noisy, Fraction(1, 4))], 200.0, most_steps=500)
    vague = fit(SMALL, [TableMeasurement((2, 3), noisy, Fraction(10**9))], 200.0, most_steps=500)
    np.testing.assert_allclose(200 * precise.marginal((2, 3)), noisy, atol=0.05)
    np.testing.assert_allclose(vague.marginal((2, 3)), 1 / 6, atol=0.001)


def test_without_measurements_all_combinations_are_alike() -> None:
    np.testing.assert_allclose(fit(SMALL, [], 7.0).marginal((0, 2)), 1 / 12)


@pytest.mark.parametrize("total", [0.0, -3.0, float("nan"), float("inf")])
def test_a_total_below_one_has_no_model(total: float) -> None:
    with pytest.raises(ValueError, match="total of at least 1"):
        fit(SMALL, [], total)


def test_where_nothing_is_possible_there_is_no_model() -> None:
    with pytest.raises(ValueError, match="every combination"):
        fit(SMALL, [], 10.0, impossible=[((2,), np.array([True, False])), ((2,), np.array([False, True]))])


def test_two_levels_of_an_attribute_are_no_table() -> None:
    with pytest.raises(ValueError, match="different attributes"):
        fit(SMALL, [], 10.0).marginal((0, 1))
