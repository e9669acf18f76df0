"""Division of the noise budget for the least errors after consistency, against other divisions and the optimum."""

from fractions import Fraction
from math import prod, sqrt
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.mechanisms.tables.allocation import least_error_budget
from crowdgate.mechanisms.tables.consistency import variances_after
from crowdgate.mechanisms.tables.dp_tables import DpTables
from crowdgate.mechanisms.tables.workload import ContingencyTable, Item, Mean, Sum, all_ways
from tests.examples import examples
from tests.mechanisms.tables.tables import plan

LEVELS = {"sex": "exact", "town": "exact", "hours": "exact", "pay": "exact"}
WORKLOADS: dict[str, tuple[Item, ...]] = {
    "total, one-way and two-way": (ContingencyTable(), *all_ways(1, LEVELS), *all_ways(2, LEVELS)),
    "two-way": all_ways(2, LEVELS),
    "one to three-way": tuple(table for ways in (1, 2, 3) for table in all_ways(ways, LEVELS)),
    "three-way": all_ways(3, LEVELS),
    "several levels": (ContingencyTable({"hours": "ones"}), ContingencyTable({"hours": "exact", "sex": "exact"})),
    "with sums": (ContingencyTable({"town": "exact"}), Sum("hours", {"sex": "exact"}), Mean("pay")),
}
Division = Literal["least-error", "least-variance", "equal"]


def made(items: tuple[Item, ...], split: Division, noise: str = "gaussian") -> DpTables:
    return plan(items, noise=noise, split=split)


def squares(mechanism: DpTables, spends: tuple[Fraction, ...] | None = None) -> float:
    """Return the sum over all cells of the variance after consistency, in multiples of one row's contribution."""
    gaussian = mechanism.budget.noise == "gaussian"
    parts = np.array([float(each) for each in mechanism.spends if spends is None] or [float(s) for s in spends or ()])
    variances = 1 / (2 * parts) if gaussian else 2 / np.square(parts)
    counts = [at for at, linear in enumerate(mechanism.queries) if linear.grid is None]
    after, _ = variances_after([mechanism.queries[at].levels for at in counts], [float(variances[at]) for at in counts])
    others = [at for at in range(len(parts)) if at not in counts]
    alone = sum(float(variances[at]) * mechanism.queries[at].query.cells for at in others)
    return float(sum(each.sum() for each in after)) + alone


def optimum(mechanism: DpTables) -> float:
    """Return the least possible `squares` of Gaussian noise on a table's residuals, each with a variance of its own
    (ResidualPlanner: Xiao, He, Zhang, Kifer 2023), for counts at one level an attribute."""
    tables = [{name: len(level) for name, level in linear.levels.items()} for linear in mechanism.queries]
    residuals = {frozenset(own) for table in tables for own in subsets(tuple(table))}
    sizes = {name: size for table in tables for name, size in table.items()}
    root = 0.0
    for residual in residuals:
        own = prod(sizes[name] - 1 for name in residual)
        cost = own / prod(sizes[name] for name in residual)
        finer = [table for table in tables if residual <= set(table)]
        spread = [prod(table[name] for name in table if name not in residual) for table in finer]
        root += sqrt(own * sum(1 / each for each in spread) * cost)
    return root * root / (2 * float(sum(mechanism.spends)))


def subsets(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [()] if not names else [part for rest in subsets(names[1:]) for part in (rest, (names[0], *rest))]


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_no_other_division_has_smaller_errors(name: str, noise: str) -> None:
    items = WORKLOADS[name]
    best, variance, equal = (squares(made(items, split, noise)) for split in ("least-error", "least-variance", "equal"))
    # the least parts of the total and of margins cost up to 2 % of the sum of squares, 1 % of the error
    assert best <= 1.02 * min(variance, equal)


@pytest.mark.parametrize("name", ["total, one-way and two-way", "one to three-way"])
def test_errors_are_near_those_of_the_residual_planner(name: str) -> None:
    mechanism = made(WORKLOADS[name], "least-error")
    bound = optimum(mechanism)
    assert 1 <= sqrt(squares(mechanism) / bound) <= 1.04
    assert sqrt(squares(made(WORKLOADS[name], "least-variance")) / bound) > 1.02


@settings(max_examples=examples(20), deadline=None, derandomize=True)
@given(tilt=st.floats(0.8, 1.25), at=st.integers(0, 9))
def test_no_table_gains_by_a_larger_or_smaller_part(tilt: float, at: int) -> None:
    mechanism = made(WORKLOADS["one to three-way"], "least-error")
    tilted = [float(each) * (tilt if i == at else 1) for i, each in enumerate(mechanism.spends)]
    total = float(sum(mechanism.spends)) / sum(tilted)
    other = tuple(Fraction(each * total) for each in tilted)
    assert squares(mechanism) <= squares(mechanism, other) * 1.005


@settings(max_examples=examples(20), deadline=None, derandomize=True)
@given(share=st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=1000))
def test_stated_shares_are_kept_and_parts_add_up_exactly(share: Fraction) -> None:
    items = (ContingencyTable({"sex": "exact"}, share), *WORKLOADS["two-way"])
    queries = made(items, "equal").queries
    parts = least_error_budget(queries, Fraction(7, 3), "gaussian")
    assert parts[0] == share * Fraction(7, 3)
    assert sum(parts) == Fraction(7, 3)
    assert min(parts) > 0


def test_a_total_keeps_its_least_part() -> None:
    mechanism = made(WORKLOADS["total, one-way and two-way"], "least-error")
    assert mechanism.spends[0] >= Fraction(9, 1000) * sum(mechanism.spends)
    everything = least_error_budget([mechanism.queries[0]], Fraction(1), "gaussian")
    assert list(everything) == [1]
