"""Renyi divergences of the steps of a release, against sums in 60 digits."""

import math
import random
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from crowdgate.accounting import part_laws
from crowdgate.accounting.class_laws import SampledClass
from crowdgate.accounting.dominating_pairs import DominatingPair
from crowdgate.accounting.joint import JointLaw, partitions
from crowdgate.accounting.renyi import AMOUNT_GRID, CUT_GRID, Divergences
from crowdgate.accounting.renyi_filter import Filter
from crowdgate.accounting.renyi_parts import (
    class_cost,
    cut_class_cost,
    greatest_loss,
    law_cost,
    opaque_cost,
    pair_cost,
    zcdp_cost,
)
from crowdgate.arrays import Floats
from tests.accounting import joint_truth
from tests.accounting.adversary import pair_of, rare
from tests.accounting.joint_truth import Pair
from tests.accounting.truth import real

Real = Any
NEAR = mp.mpf("1e-8")
"""Largest relative distance of a divergence from the truth, beside 1e-7 for each unit of the order, where a search
ends."""
FACTORIALS = np.append(0.0, np.cumsum(np.log(np.arange(1, 1000))))
BUDGET = Filter.planned(4, "1e-8")


def true_cost(pair: Pair, order: int, limit: Real = mp.inf) -> tuple[Real, Real]:
    """Return the divergence of a pair with its masses cut to e^limit times the other ones, and the mass that is cut."""
    total = cut = mp.mpf(0)
    for p, q in pair:
        part = min(p, q * mp.exp(limit)) if q else mp.mpf(0)
        cut += p - part
        if part:
            total += part * (part / q) ** (order - 1)
    return (max(mp.mpf(0), mp.log(total) / (order - 1)) if total else mp.mpf(0)), cut


def assert_covers(cost: Divergences, pairs: Iterable[Pair], orders: Sequence[int], limit: Real = mp.inf) -> None:
    """Check that the cost is at least that of each pair, and near that of the worst."""
    for i, order in enumerate(orders):
        amounts, cuts = zip(*(true_cost(pair, order, limit) for pair in pairs), strict=True)
        assert max(amounts) <= real(cost.amounts[i]) <= max(amounts) * (1 + NEAR) + order * mp.mpf("1.1e-7")
        assert max(cuts) <= real(cost.cut) <= max(cuts) * (1 + NEAR) + mp.mpf("2e-24")


def both(pair: Pair) -> list[Pair]:
    return [pair, joint_truth.swapped(pair)]


# --- sampled classes ---


def estimates(n: int, k: int, beta: float, order: int, limit: float) -> list[float]:
    """Return floats near the moments of a class of n rows, and near its cut masses, removed and added."""
    laws = [np.append(law[k:], law[:k].sum()) for law in (binomial(n, n, beta), binomial(n - 1, n, beta))]
    found = []
    for p, q in (laws, laws[::-1]):
        part = np.minimum(p, q * math.exp(limit))
        some = part > 0
        found += [float((part[some] * (part[some] / q[some]) ** (order - 1)).sum()), float((p - part).sum())]
    return found


def binomial(n: int, last: int, beta: float) -> Floats:
    """Return floats near the probabilities of 0 to `last` out of n."""
    j = np.arange(n + 1)
    logs = FACTORIALS[n] - FACTORIALS[j] - FACTORIALS[n - j] + j * math.log(beta) + (n - j) * math.log1p(-beta)
    return np.append(np.exp(logs), np.zeros(last - n))


def worst_sizes(k: int, beta: float, order: int, limit: float) -> set[int]:
    """Return the sizes of the worst classes, of the largest divergence and cut mass, removed and added; the least; and
    a large one."""
    sizes = range(k, math.ceil(2 * k / beta) + 120)
    found = np.array([estimates(n, k, beta, order, limit) for n in sizes])
    return {sizes[i] for i in found.argmax(axis=0)} | {k, sizes[-1]}


def cases(count: int, seed: int) -> Iterable[tuple[int, float, int, float]]:
    draw = random.Random(seed)
    for _ in range(count):
        k, beta = draw.randint(1, 12), draw.choice((draw.uniform(0.08, 0.95), draw.uniform(0.2, 0.6)))
        yield k, beta, draw.choice((2, 3, 8, 10, 14, 30)), draw.choice((0.0625, 0.25, 1.0, 2.5, 16.0))


def check_class(k: int, beta: float, order: int, limit: float) -> None:
    cost = cut_class_cost(SampledClass(k, beta), (order,), limit)
    with mp.workdps(60):
        if cost.cut == 1:  # all mass is cut, which no budget allows
            sizes = worst_sizes(k, beta, order, limit)
            assert max(true_cost(joint_truth.sampled_class(n, k, beta), order, limit)[1] for n in sizes) > 0.49
            return
        pairs = [
            each for n in worst_sizes(k, beta, order, limit) for each in both(joint_truth.sampled_class(n, k, beta))
        ]
        assert_covers(cost, pairs, (order,), limit)


@pytest.mark.parametrize(
    ("count", "seed"), [pytest.param(30, 37, marks=pytest.mark.thorough), pytest.param(500, 35, marks=pytest.mark.soak)]
)
def test_the_divergences_of_classes_are_never_below_60_digits_and_hardly_above(count: int, seed: int) -> None:
    """Random (k, beta, order, L), each at its worst sizes of classes."""
    for case in cases(count, seed):
        check_class(*case)


@pytest.mark.thorough
def test_the_divergences_of_a_few_classes_are_never_below_60_digits() -> None:
    for case in cases(12, 36):
        check_class(*case)


def test_a_class_that_shows_a_person_as_a_rule_is_cut_whole() -> None:
    assert cut_class_cost(SampledClass(1, 0.6), (2, 10), 1.0).cut == 1


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("rows", [(2,), (1, 1), (2, 1)])
def test_a_person_with_several_rows_is_covered_in_classes_of_all_sizes(k: int, rows: tuple[int, ...]) -> None:
    beta, orders, limit = 0.3, (2, 5, 10), 1.0
    cost = cut_class_cost(SampledClass(k, beta, sum(rows)), orders, limit)
    with mp.workdps(30):
        classes = [[joint_truth.sampled_class(n, k, beta, m) for n in range(max(k, m), 14)] for m in rows]
        for turn in (list, joint_truth.swapped):
            for i, order in enumerate(orders):
                found = [[true_cost(turn(pair), order, limit) for pair in own] for own in classes]
                assert sum(max(amount for amount, _ in own) for own in found) <= real(cost.amounts[i])
                assert sum(max(cut for _, cut in own) for own in found) <= real(cost.cut)


def test_the_worst_partition_of_a_persons_rows_counts_at_each_order() -> None:
    orders, limit = (2, 10), 2.0
    one, two, both_rows = (cut_class_cost(SampledClass(20, 0.3, m), orders, limit) for m in (1, 2, 3))
    assert set(partitions(3)) == {(3,), (2, 1), (1, 1, 1)}
    assert all(both_rows.amounts[i] >= one.amounts[i] + two.amounts[i] for i in range(2))
    assert both_rows.cut >= one.cut + two.cut


@pytest.mark.thorough
def test_losses_are_cut_where_the_mass_lasts_as_long_as_the_divergences() -> None:
    for k, beta in ((40, 0.3), (29, 0.3), (60, 0.5), (9, 0.05), (5, 0.01)):
        sampled = SampledClass(k, beta)
        limit, paid = greatest_loss(sampled, BUDGET), BUDGET.left(Divergences.zero(3), class_cost(sampled, BUDGET))
        others = [
            BUDGET.left(Divergences.zero(3), cut_class_cost(sampled, BUDGET.orders, at / 4)) for at in range(1, 17)
        ]
        assert paid >= max(others)
        assert cut_class_cost(sampled, BUDGET.orders, limit) == class_cost(sampled, BUDGET)


# --- other steps ---

ORDERS = (2, 8, 14, 40)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0])
def test_a_pure_step_has_its_closed_form(epsilon: float) -> None:
    with mp.workdps(60):
        assert_covers(pair_cost(part_laws.pure(epsilon), ORDERS), [joint_truth.opaque(epsilon, 0)], ORDERS)


@pytest.mark.parametrize(("epsilon", "change"), [(0.05, 1), (0.4, 3), (2.0, 20)])
def test_laplace_noise_has_its_divergences(epsilon: float, change: int) -> None:
    with mp.workdps(60):
        assert_covers(
            pair_cost(part_laws.laplace(epsilon, change), ORDERS), [joint_truth.laplace(epsilon, change)], ORDERS
        )


def test_a_step_costs_the_larger_of_its_two_directions() -> None:
    law = rare(3.0, 0.1)
    with mp.workdps(60):
        pair = [(mp.mpf(p), mp.mpf(q)) for p, q in law]
        assert_covers(pair_cost(pair_of(law), ORDERS), both(pair), ORDERS)
        assert pair_cost(pair_of(law).swapped, ORDERS) == pair_cost(pair_of(law), ORDERS)


def test_a_step_of_unknown_law_has_the_divergences_of_a_pure_one_and_its_delta_as_cut_mass() -> None:
    cost = opaque_cost(Fraction(1), Fraction("1e-9"), BUDGET.orders)
    assert cost.cut == Fraction("1e-9")
    with mp.workdps(60):
        for order, amount in zip(BUDGET.orders, cost.amounts, strict=True):
            true = mp.log((mp.exp(order) + mp.exp(1 - order)) / (1 + mp.e)) / (order - 1)
            assert true <= real(amount) <= true * (1 + NEAR)
            worst, cut = true_cost(joint_truth.opaque(1, "1e-9"), order)
            assert worst <= real(amount)
            assert cut <= real(cost.cut) * (1 + NEAR)
    pair = pair_cost(part_laws.opaque(1, 1e-9), BUDGET.orders)
    assert [float(each) for each in pair.amounts] == pytest.approx([float(each) for each in cost.amounts], rel=1e-8)


@pytest.mark.parametrize(("change", "squared"), [(1, Fraction(5, 2)), (3, Fraction(40))])
def test_zcdp_bounds_the_discrete_gaussian(change: int, squared: Fraction) -> None:
    rho = Fraction(change**2) / (2 * squared)
    cost = zcdp_cost(rho, ORDERS)
    assert all(
        order * rho <= amount <= order * rho + Fraction(1, AMOUNT_GRID)
        for order, amount in zip(ORDERS, cost.amounts, strict=True)
    )
    with mp.workdps(60):
        exact = joint_truth.gaussian(change, real(squared), 40)
        for order, amount in zip(ORDERS[:3], cost.amounts, strict=False):
            true, _ = true_cost(exact, order)
            assert true <= real(amount) + mp.mpf("1e-30")
            assert true > real(amount) * (1 - mp.mpf("1e-6"))


def test_gaussians_as_a_pair_have_the_divergences_of_their_rho() -> None:
    changes = [(1, Fraction(5000))] * 15 + [(2, Fraction(900))]
    rho = sum((Fraction(change**2) / (2 * squared) for change, squared in changes), Fraction(0))
    for found, exact in zip(
        pair_cost(part_laws.gaussians(changes), ORDERS).amounts, zcdp_cost(rho, ORDERS).amounts, strict=True
    ):
        assert exact <= found <= exact * Fraction("1.002")


@pytest.mark.parametrize("beta", [0.05, 0.3, 0.9])
def test_a_step_on_a_sample_is_covered_removed_and_added(beta: float) -> None:
    """Laplace noise, and Gaussian noise by its atoms; removed by the binomial expansion of its moments too."""
    with mp.workdps(60):
        noise = joint_truth.laplace(0.7, 2)
        assert_covers(
            pair_cost(part_laws.sampled(part_laws.laplace(0.7, 2), beta), ORDERS),
            both(joint_truth.sampled(noise, beta)),
            ORDERS,
        )
        squared, orders = Fraction(9), (2, 8, 14)
        cost = pair_cost(part_laws.sampled(part_laws.gaussians([(1, squared)]), beta), orders)
        pairs = both(joint_truth.sampled(joint_truth.gaussian(1, 9, 25), beta))
        for i, order in enumerate(orders):
            assert max(true_cost(pair, order)[0] for pair in pairs) <= real(cost.amounts[i])
            expansion = mp.fsum(
                mp.binomial(order, j)
                * mp.mpf(beta) ** j
                * (1 - mp.mpf(beta)) ** (order - j)
                * mp.exp(j * (j - 1) / mp.mpf(18))
                for j in range(order + 1)
            )
            assert real(cost.amounts[i]) <= mp.log(expansion) / (order - 1) * (1 + NEAR) + mp.mpf("1e-9")


def test_the_exponential_mechanism_is_covered_at_all_its_losses() -> None:
    eta, orders = 0.8, (2, 8, 14)
    cost = pair_cost(part_laws.bounded_range(eta), orders)
    pure = pair_cost(part_laws.pure(eta), orders)
    with mp.workdps(30):
        for i, order in enumerate(orders):
            true = max(
                true_cost(pair, order)[0]
                for t in np.linspace(0.01, eta - 0.01, 79)
                for pair in both(joint_truth.exponential_mechanism(t, eta))
            )
            assert true <= real(cost.amounts[i])
            assert cost.amounts[i] < pure.amounts[i]


def test_a_release_costs_the_sum_of_its_steps() -> None:
    sampled, gate, margins = SampledClass(29, 0.3), part_laws.laplace(0.05), DominatingPair(variance=2 * 0.00125)
    steps = pair_cost(gate, BUDGET.orders) + pair_cost(margins, BUDGET.orders)
    whole = law_cost(JointLaw(sampled, (gate, margins), part_laws.pure(0.1)), BUDGET)
    assert whole == class_cost(sampled, BUDGET) + steps + pair_cost(part_laws.pure(0.1), BUDGET.orders)
    assert law_cost(JointLaw(None, (gate, margins)), BUDGET) == steps


def test_costs_stand_on_their_grids() -> None:
    cost = law_cost(JointLaw(SampledClass(29, 0.3), (part_laws.laplace(0.05),)), BUDGET)
    assert all((amount * AMOUNT_GRID).denominator == 1 for amount in cost.amounts)
    assert (cost.cut * CUT_GRID).denominator == 1
