"""Noise on residuals: near the least sum of variances, private by what the mechanism asks of its noise source, and
with the errors that it states."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import sqrt

import numpy as np
import pytest

from crowdgate.accounting.zcdp import squared_sigma
from crowdgate.arrays import Floats
from crowdgate.guarantee import Part
from crowdgate.mechanisms.tables.answers import consistent_answers
from crowdgate.mechanisms.tables.dp_tables import DpTables, plan_dp_tables
from crowdgate.mechanisms.tables.joint_cost import noise_law, with_raised_spend
from crowdgate.mechanisms.tables.workload import ContingencyTable, Item, Mean, Quantiles, Sum, all_ways
from crowdgate.noise import NoiseSource, gaussian_vector
from tests.mechanisms.tables.tables import cells_of, contract, counted, plan
from tests.mechanisms.tables.test_allocation import LEVELS, optimum, squares
from tests.mechanisms.tables.test_dp_tables import Recorder

WORKLOADS: dict[str, tuple[Item, ...]] = {
    "one-way": all_ways(1, LEVELS),
    "two-way": all_ways(2, LEVELS),
    "total and two-way": (ContingencyTable(), *all_ways(2, LEVELS)),
    "one to three-way": tuple(table for ways in (1, 2, 3) for table in all_ways(ways, LEVELS)),
    "three-way and one other": (*all_ways(3, LEVELS)[:1], ContingencyTable({"pay": "exact"})),
}
KINDS = list(product(range(2), (0, 1, 3), (0, 10), (0, 11)))
"""Rows that differ in every attribute: sex, town, hours, pay."""


def made(items: tuple[Item, ...], rows: int = 1, beta: str = "1") -> DpTables:
    return plan(items, noise="gaussian", split="residuals", rows=rows, beta=Fraction(beta))


def sum_of_squares(mechanism: DpTables) -> float:
    assert mechanism.residual_noise is not None
    return sum(float(each.sum()) for each in mechanism.residual_noise.after)


@pytest.mark.parametrize("name", WORKLOADS)
def test_errors_are_within_one_percent_of_the_least(name: str) -> None:
    items = WORKLOADS[name]
    found, least = made(items), plan(items, noise="gaussian", split="least-error")
    assert 1 <= sqrt(sum_of_squares(found) / optimum(found)) <= 1.01
    assert sum_of_squares(found) <= squares(least) * 1.002, "the other split is below it by a larger part of the total"


@pytest.mark.parametrize(
    ("items", "noise", "on_residuals"),
    [
        (WORKLOADS["two-way"], "gaussian", True),
        ((*WORKLOADS["two-way"], Sum("hours")), "gaussian", False),
        (WORKLOADS["two-way"], "laplace", False),
    ],
)
def test_an_automatic_division_has_the_least_errors_that_the_tables_allow(
    items: tuple[Item, ...], noise: str, on_residuals: bool
) -> None:
    found = plan(items, noise=noise, split="automatic")
    other = plan(items, noise=noise, split="residuals" if on_residuals else "least-error")
    assert (found.spends, bool(found.residuals)) == (other.spends, on_residuals)


def test_the_total_keeps_its_stated_share() -> None:
    found = made((ContingencyTable({}, Fraction(1, 5)), *WORKLOADS["two-way"]))
    assert found.spends[0] == pytest.approx(found.budget.spend / 5, rel=1e-6)
    assert sum(found.spends) == found.budget.spend


@pytest.mark.parametrize("rows", [1, 2])
def test_what_is_asked_of_the_noise_source_keeps_the_budget_for_every_person(rows: int) -> None:
    """The sum over vectors of |change|^2 / (2 sigma^2) is the rho of the release: at most the stated one, for every
    person, and near it for one (a smaller sensitivity, one residual's budget spent twice, or a residual without noise
    fails)."""
    mechanism = made(WORKLOADS["one to three-way"], rows)
    base = [KINDS[0], KINDS[5]]

    def calls(more: tuple[tuple[int, ...], ...]) -> list[Floats]:
        recorder = Recorder()
        mechanism.protect(counted(mechanism, [*base, *more]), None, recorder.source)
        asked.append([(sensitivity, budget) for _, sensitivity, budget in recorder.calls])
        return [values.astype(float) for values, _, _ in recorder.calls]

    asked: list[list[tuple[int, Fraction]]] = []
    without, spent = calls(()), []
    for person in combinations_with_replacement(KINDS[::3], rows):
        changed = zip(calls(person), without, asked[0], strict=True)
        spent.append(
            sum(float(((b - a) ** 2).sum()) / float(2 * squared_sigma(size, rho)) for b, a, (size, rho) in changed)
        )
    assert all(each == asked[0] for each in asked), "noise depends on no row"
    total = float(mechanism.budget.spend)
    assert 0.99 * total < max(spent) <= total * (1 + 1e-12)


def test_residuals_without_noise_give_the_counts_again() -> None:
    mechanism, rows = made(WORKLOADS["one to three-way"]), KINDS * 3
    noisy = mechanism.protect(counted(mechanism, rows), None, Recorder().source)
    true = mechanism.true_answers(counted(mechanism, rows))
    for answer, exact in zip(consistent_answers(mechanism, noisy, Fraction(1, 10)), true, strict=True):
        assert (cells_of(answer).value == exact).all()
        assert np.abs(cells_of(answer).unbiased - exact).max() < 1e-6


def test_unbiased_estimates_have_the_stated_variance_and_tables_agree() -> None:
    """600 draws, each table's variance by the mean over its cells: false alarm 1e-4 at 5 standard errors."""
    mechanism = made((ContingencyTable(), *all_ways(2, {name: LEVELS[name] for name in ("sex", "town")})))
    noise = mechanism.residual_noise
    assert noise is not None
    generator = np.random.default_rng(5)
    scales = [sqrt(law.variance) for law in mechanism.laws]
    drawn = [
        noise.estimates(
            [np.rint(generator.normal(0, s, linear.shape)).astype(np.int64)
             for s, linear in zip(scales, mechanism.residuals, strict=True)]
        )
        for _ in range(600)
    ]  # fmt: skip
    for at, after in enumerate(noise.after):
        found = np.mean([np.mean(np.square(each[at])) for each in drawn])
        assert abs(found / after.mean() - 1) < 5 * sqrt(2 / 600)
    assert max(abs(float(each[0]) - float(each[1].sum())) for each in drawn) < 1e-6


def test_the_joint_law_counts_all_cells_of_a_residual_and_allows_less_noise() -> None:
    mechanism = made(WORKLOADS["two-way"])
    law = noise_law(mechanism)
    assert law.is_known
    assert [each.cells for each in law.vectors] == [linear.query.cells for linear in mechanism.residuals]
    raised = with_raised_spend(mechanism, mechanism.part)
    assert 1.02 * mechanism.budget.spend < raised.budget.spend < 1.3 * mechanism.budget.spend
    assert sum(raised.spends) <= raised.budget.spend
    small = replace(law.vectors[0], change=1, spend=Fraction(1, 4))  # a squared sigma of 2
    assert not replace(law, vectors=(small,)).is_known


def test_noise_is_drawn_with_opendp_and_sampled_tables_are_scaled() -> None:
    mechanism = made(WORKLOADS["two-way"], beta="1/2")
    source = NoiseSource(gaussian_vector, gaussian_vector)
    true = mechanism.true_vectors({"joint": next(iter(counted(mechanism, KINDS).values()))})
    noisy = tuple(
        source.gaussian(values, linear.query.sensitivity(1), spend)
        for values, linear, spend in zip(true, mechanism.residuals, mechanism.spends, strict=True)
    )
    answers = consistent_answers(mechanism, noisy, Fraction(1, 10))
    assert len({float(cells_of(answer).value.sum()) for answer in answers}) == 1
    assert all((cells_of(answer).value % 2 == 0).all() for answer in answers)


@pytest.mark.parametrize(
    ("items", "noise", "found"),
    [
        ((ContingencyTable(), Sum("hours")), "gaussian", "beside sums, means or quantiles"),
        ((Mean("hours"),), "gaussian", "beside sums, means or quantiles"),
        ((Quantiles("hours", "ones"),), "gaussian", "beside sums, means or quantiles"),
        ((ContingencyTable({"sex": "exact"}),), "laplace", "with laplace noise"),
        ((ContingencyTable({"sex": "exact"}, Fraction(1, 2)), ContingencyTable()), "gaussian", "state a share"),
        ((ContingencyTable({"town": "exact"}), ContingencyTable({"town": "grouped"})), "gaussian", "at two levels"),
    ],
)
def test_what_residuals_do_not_serve_is_refused(items: tuple[Item, ...], noise: str, found: str) -> None:
    part = Part("mechanism", Fraction(1), Fraction(1, 10**6))
    mechanism, findings = plan_dp_tables(items, contract(), part, noise=noise, split="residuals")  # type: ignore[arg-type]
    assert mechanism is None
    assert any(found in finding[1] for finding in findings)
