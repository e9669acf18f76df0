"""Tables and a gate together, enumerated through the mechanism's noise, against the joint delta.

The laws are those of what the mechanism asks of its noise source on a table, on the table with one row more, and on the
table with one row replaced. Planted faults of the accounting are below what is reached.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from crowdgate.accounting import part_laws
from crowdgate.accounting.dominating_pairs import composed
from crowdgate.accounting.joint import JointLaw
from crowdgate.accounting.noise_laws import NoiseLaw
from crowdgate.arrays import Floats
from crowdgate.mechanisms.tables.dp_tables import DpTables
from crowdgate.mechanisms.tables.joint_cost import TablesLaw, noise_law, with_raised_spend
from crowdgate.mechanisms.tables.workload import ContingencyTable, Item, Mean, Sum
from tests.mechanisms.tables.tables import plan
from tests.mechanisms.tables.test_dp_tables import KINDS, ROWS, Laws, laws, replace_beta

GATE = Fraction(2, 5)
SEXES = ContingencyTable(), ContingencyTable({"sex": "exact"})
SUM = (Sum("hours"),)
MEAN = (Mean("hours"),)
CASES: list[tuple[tuple[Item, ...], str, str]] = [
    (SEXES, "laplace", "1.5"),
    (SEXES, "gaussian", "3"),
    (SUM, "laplace", "2"),
    (SUM, "gaussian", "3"),
]
Rows = Sequence[tuple[int, ...]]
WIDE = 14


def masses(found: Laws, where: Sequence[int], centre: Laws) -> Floats:
    """Return the masses of the numbers at the places `where`, in a window around those of `centre`, one axis each."""
    out = np.ones(1)
    for at in where:
        (value, law), (middle, _) = found[at], centre[at]
        reach = math.ceil(WIDE * math.sqrt(law.variance))
        own = np.array([law.mass(middle + z - value) for z in range(-reach, reach + 1)])
        out = np.multiply.outer(out, own).reshape(-1)
    return out


def divergence(p: Floats, q: Floats, epsilon: float, gate: Fraction) -> float:
    """Return the divergence of two laws beside a gate that answers yes or no, with odds that change by e^gate."""
    yes = 1 / (1 + math.exp(-float(gate)))
    both = zip((yes, 1 - yes), (1 - yes, yes), strict=True) if gate else [(1.0, 1.0)]
    return float(sum(np.maximum(p * a - math.exp(epsilon) * q * b, 0).sum() for a, b in both))


def pair(mechanism: DpTables, left: Rows, right: Rows) -> tuple[Floats, Floats]:
    """Return the laws of the release of two tables, of the numbers in which they differ."""
    one, other = (laws(replace_beta(mechanism), rows) for rows in (left, right))
    where = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a[0] != b[0]]
    return masses(one, where, one), masses(other, where, one)


def reached(mechanism: DpTables, epsilon: float, gate: Fraction = Fraction(0)) -> float:
    """Return the greatest delta over all rows that are added or removed."""
    found, rate = 0.0, float(mechanism.beta)
    for row in KINDS:
        without, there = pair(mechanism, ROWS, [*ROWS, row])
        mixed = (1 - rate) * without + rate * there
        both = ((mixed, without), (without, mixed))
        found = max(found, *(divergence(p, q, epsilon, gate) for p, q in both))
    return found


def replacing(mechanism: DpTables, epsilon: float) -> float:
    """Return the greatest delta over all rows that are replaced by another."""
    pairs = (pair(mechanism, [*ROWS, one], [*ROWS, other]) for one, other in product(KINDS, repeat=2) if one != other)
    return max(divergence(p, q, epsilon, Fraction(0)) for p, q in pairs)


@pytest.mark.thorough
@pytest.mark.parametrize("beta", [Fraction(1), Fraction(1, 4)])
@pytest.mark.parametrize("gate", [Fraction(0), GATE])
@pytest.mark.parametrize(("items", "noise", "epsilon"), CASES)
def test_tables_and_a_gate_reach_the_joint_delta_and_never_exceed_it(
    items: tuple[Item, ...], noise: str, epsilon: str, gate: Fraction, beta: Fraction
) -> None:
    mechanism = plan(items, epsilon, "1e-4", noise=noise, beta=beta)
    law = TablesLaw(noise_law(mechanism), (gate,) if gate else ()).law
    for at in (0.3, 0.8, 1.4):
        found, stated = reached(mechanism, at, gate), law.delta(at)
        assert found * (1 - 1e-9) <= stated <= found * 1.01 + 1e-12


@pytest.mark.thorough
@pytest.mark.parametrize(("items", "noise", "epsilon"), [*CASES, (MEAN, "gaussian", "3"), (MEAN, "laplace", "2")])
def test_a_replaced_row_never_exceeds_the_joint_delta(items: tuple[Item, ...], noise: str, epsilon: str) -> None:
    mechanism = plan(items, epsilon, "1e-4", noise=noise)
    curve = TablesLaw(noise_law(mechanism)).replaced()
    for at in (0.3, 1.0, 2.0):
        assert replacing(mechanism, at) <= curve(at)
    if items == SEXES:  # a removal and an addition in different cells: twice the law of one
        assert curve(1.0) <= max(replacing(mechanism, 1.0), twice(mechanism, 1.0)) * 1.01


def twice(mechanism: DpTables, epsilon: float) -> float:
    """Return the delta of a removal and an addition that move different cells of each table."""
    changed = pair(mechanism, ROWS, [*ROWS, KINDS[0]])
    p, q = (np.multiply.outer(a, b).reshape(-1) for a, b in zip(changed, changed[::-1], strict=True))
    return divergence(p, q, epsilon, Fraction(0))


@pytest.mark.parametrize(
    ("noise", "beta"), [("gaussian", Fraction(1)), ("gaussian", Fraction(1, 4)), ("laplace", Fraction(1))]
)
def test_noise_is_the_least_that_keeps_the_total(noise: str, beta: Fraction) -> None:
    total, delta = Fraction(3), Fraction(1, 10**4)
    summed = plan(SEXES, str(total - GATE), str(delta), noise=noise, beta=beta)
    part = replace(summed.part, delta=delta)
    raised = with_raised_spend(summed, part, (GATE,))
    assert raised.budget.spend > summed.budget.spend
    assert sum(raised.spends) == pytest.approx(raised.budget.spend, rel=1e-12)
    assert reached(raised, float(total), GATE) <= delta
    more = replace(raised, spends=tuple(each * Fraction(1003, 1000) for each in raised.spends),
                   budget=replace(raised.budget, spend=raised.budget.spend * Fraction(1003, 1000)))  # fmt: skip
    assert reached(more, float(total), GATE) > delta


# --- planted faults ---


def test_an_unpaid_gate_is_too_small() -> None:
    mechanism = plan(SEXES, "3", "1e-4", noise="gaussian")
    assert TablesLaw(noise_law(mechanism)).law.delta(1.4) < 0.99 * reached(mechanism, 1.4, GATE)


def test_a_sample_that_the_gate_shares_is_too_small() -> None:
    """The gate reads the full table: sampled with the tables it would be amplified."""
    mechanism = plan(SEXES, "1.5", noise="laplace", beta=Fraction(1, 4))
    known = noise_law(mechanism)
    inner = known.pair(), part_laws.pure(float(GATE))
    wrong = JointLaw(None, (part_laws.sampled(composed(inner), 0.25),))
    assert wrong.delta(1.85) < 0.5 * reached(mechanism, 1.85, GATE)


def test_numbers_that_rows_raise_and_lower_move_twice_when_a_row_is_replaced() -> None:
    mechanism = plan((Sum("hours", low=Fraction(-1), high=Fraction(1)),), "3", "1e-4", noise="gaussian")
    law = noise_law(mechanism)
    assert [each.one_sided for each in law.vectors] == [False]
    wrong = replace(law, vectors=tuple(replace(each, one_sided=True) for each in law.vectors))
    assert wrong.replaced(())(1.0) < 0.9 * replacing(mechanism, 1.0) <= law.replaced(())(1.0)


def test_a_tenth_of_the_sensitivity_is_too_small() -> None:
    mechanism = plan(SUM, "3", "1e-4", noise="gaussian")
    known = noise_law(mechanism)

    def wrong(law: NoiseLaw) -> Callable[[float], float]:
        vectors = tuple(replace(each, change=1, spend=each.spend / each.change**2) for each in law.vectors)
        return replace(law, vectors=vectors).joint(()).delta

    assert wrong(known)(1.0) < 0.5 * reached(mechanism, 1.0)
