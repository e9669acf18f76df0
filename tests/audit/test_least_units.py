"""The least number of units of a table from which rows are released, as an audit says before it plays."""

from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np
import pytest

from crowdgate.audit.common.least_units import MOST_UNITS, ReleasedRows, released_rows
from crowdgate.audit.common.levels import POWER
from crowdgate.audit.common.observation import PublicKnowledge
from crowdgate.audit.common.policy_mechanism import PolicyMechanism
from crowdgate.audit.common.population_table import population
from crowdgate.candidate import MechanismFigures
from crowdgate.planning.plan import plan_policy
from tests.audit.law_plants import make_law_town
from tests.audit.people import levels

ROOT = Path(__file__).parents[2]
THIRD = Fraction(1, 3)


def classes(*shares: float, k: int = 5, rows: float = 1.0) -> ReleasedRows:
    return ReleasedRows(np.array(shares), np.ones(len(shares)), rows, MechanismFigures(k, levels(2), THIRD))


def tail(n: int, p: Fraction, k: int) -> Fraction:
    return sum((comb(n, t) * p**t * (1 - p) ** (n - t) for t in range(k, n + 1)), Fraction(0))


def test_the_least_number_of_one_class_is_that_of_its_binomial_tail() -> None:
    least = classes(1.0).least_units
    assert least is not None
    assert tail(least, THIRD, 5) >= POWER > tail(least - 1, THIRD, 5)
    assert classes(1.0, rows=2.0).least_units == -(-least // 2)


def test_the_probability_is_that_of_any_class_and_rows_are_those_of_classes_that_reach_k() -> None:
    of, half = classes(0.5, 0.5), THIRD / 2
    assert of.probability(30) == pytest.approx(float(1 - (1 - tail(30, half, 5)) ** 2))
    mean = sum((t * comb(30, t) * half**t * (1 - half) ** (30 - t) for t in range(5, 31)), Fraction(0))
    assert of.expected_share(30) == pytest.approx(float(mean / (30 * half)))
    assert (of.probability(4), of.expected_share(4)) == (0.0, 0.0)


def test_a_table_that_is_never_large_enough_says_so() -> None:
    rare = classes(1 / MOST_UNITS, k=1000)
    assert rare.least_units is None
    assert "is below 0.9 for every n" in rare.text(10)
    assert "With 10 units its lower bound is below 0.001" in rare.text(10)
    assert "With 1,000 units its lower bound is above 0.999" in classes(1.0).text(1000)


def test_tables_with_noise_have_no_least_number() -> None:
    plan = plan_policy(ROOT / "policies" / "census_income_tables.yaml")
    assert released_rows(plan.protection, population(plan, plan.bundle.population)) is None


@pytest.mark.thorough
@pytest.mark.statistical
def test_rows_are_released_from_the_least_number_on(tmp_path: Path) -> None:
    """400 seeded tables of the least number of units. If rows are released with probability .9, fewer than 330 of them
    have some once in 200,000 runs. In tables a fifth smaller the probability is .74, and 330 or more have some once in
    20,000 runs."""
    plan = plan_policy(make_law_town(tmp_path / "town").policy)
    people = population(plan, plan.bundle.population)
    own = released_rows(plan.protection, people)
    assert own is not None
    assert own.least_units is not None

    def released(units: int) -> int:
        known, rng = PublicKnowledge(people, units), np.random.default_rng(3)
        mechanism = PolicyMechanism(plan.protection)
        seen = (mechanism.apply(people.draw(units, rng), known, rng).seen for _ in range(400))
        return sum(each is not None and each.rows is not None and len(each.rows) > 0 for each in seen)

    assert released(own.least_units) >= 330 > released(int(own.least_units * 0.8))
