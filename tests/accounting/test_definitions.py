"""Charged deltas and divergences against the definitions: each outcome of every coin and every noise on tiny tables.

Nothing of the library computes a law here. A person of several rows is sampled row by row; a tiny synthetic mechanism
measures, chooses by what it measured, and measures again at a price that depends on it.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest

from crowdgate.accounting.class_laws import SampledClass
from crowdgate.accounting.joint import JointLaw
from crowdgate.accounting.renyi_parts import cut_class_cost, zcdp_cost
from crowdgate.accounting.zcdp import zcdp_epsilon

Law = dict[object, float]
ORDERS = (2, 5)
ROUNDED = 1 + 1e-9


def divergence(p: Law, q: Law, epsilon: float) -> float:
    return math.fsum(max(mass - math.exp(epsilon) * q.get(key, 0.0), 0.0) for key, mass in p.items())


def renyi(p: Law, q: Law, order: int) -> float:
    """Return the divergence of the measure p, of a mass of at most 1, from q; outcomes without mass count nothing."""
    terms = (mass**order * q[key] ** (1 - order) for key, mass in p.items() if mass)
    return math.log(math.fsum(terms)) / (order - 1)


# --- sampling and suppression, for a person of two or three rows ---


def released(classes: list[int], k: int, beta: float) -> Law:
    """Return the law of the released counts of all classes, of these sizes, by listing every row's coin."""
    law: Law = {}
    rows = [place for place, size in enumerate(classes) for _ in range(size)]
    for coins in product((False, True), repeat=len(rows)):
        counts = [0] * len(classes)
        for place, coin in zip(rows, coins, strict=True):
            counts[place] += coin
        shown = tuple(count if count >= k else None for count in counts)
        law[shown] = law.get(shown, 0.0) + math.prod(beta if coin else 1 - beta for coin in coins)
    return law


def neighbours(own: tuple[int, ...], others: int, k: int, beta: float) -> Iterator[tuple[Law, Law]]:
    """Yield the laws with and without a person with `own` rows in each class, both ways around, for up to `others` rows
    of other people in each class."""
    for sizes in product(range(others + 1), repeat=len(own)):
        one = released([mine + other for mine, other in zip(own, sizes, strict=True)], k, beta)
        two = released(list(sizes), k, beta)
        yield one, two
        yield two, one


CASES = [((2,), 7), ((1, 1), 4), ((3,), 7), ((2, 1), 3), ((1, 1, 1), 1)]


@pytest.mark.parametrize(("own", "others"), CASES)
@pytest.mark.parametrize(("k", "beta"), [(2, 0.5), (3, 0.3)])
def test_no_rows_of_a_person_show_more_than_the_joint_delta(
    own: tuple[int, ...], others: int, k: int, beta: float
) -> None:
    law = JointLaw(SampledClass(k, beta, sum(own)))
    for epsilon in (0.2, 0.7, 1.5, 3.0):
        assert max(divergence(p, q, epsilon) for p, q in neighbours(own, others, k, beta)) <= law.delta(epsilon)


@pytest.mark.parametrize(("own", "others"), CASES)
@pytest.mark.parametrize("limit", [0.5, 1.25])
def test_no_rows_of_a_person_have_larger_renyi_divergences_beside_the_cut_mass(
    own: tuple[int, ...], others: int, limit: float
) -> None:
    """At most the charged mass is cut, by one measure for all orders."""
    cost = cut_class_cost(SampledClass(2, 0.2, sum(own)), ORDERS, limit)
    for p, q in neighbours(own, others, 2, 0.2):
        left = cut_at(p, q, float(cost.cut) * ROUNDED)
        for order, amount in zip(ORDERS, cost.amounts, strict=True):
            assert renyi(left, q, order) <= float(amount) * ROUNDED + 1e-12


def cut_at(p: Law, q: Law, most: float) -> Law:
    """Return min(p, e^loss q) at the least loss at which it lacks at most the mass `most`."""
    low, high = 0.0, 60.0
    for _ in range(80):
        loss = (low + high) / 2
        low, high = (low, loss) if divergence(p, q, loss) <= most else (loss, high)
    assert divergence(p, q, high) <= most
    return {key: min(mass, math.exp(high) * q.get(key, 0.0)) for key, mass in p.items()}


# --- measurements and a private choice, each of which depends on what was drawn before ---

FIRST, CHOOSING, LATER = 0.05, 0.03, 0.12
REACH = 16


def gaussian(count: int, rho: float) -> Law:
    """Return the discrete Gaussian around a count, with the variance 1/(2 rho), of which all but 1e-9 is within
    REACH."""
    weights = {y: math.exp(-rho * (y - count) ** 2) for y in range(-REACH, REACH + 1)}
    total = math.fsum(math.exp(-rho * y * y) for y in range(-4 * REACH, 4 * REACH + 1))
    return {y: weight / total for y, weight in weights.items()}


def chosen(scores: list[int], sensitivity: int, rho: float) -> list[float]:
    """Return the law of the exponential mechanism, proportional to e^(score sqrt(2 rho)/sensitivity)."""
    weights = [math.exp(score * math.sqrt(2 * rho) / sensitivity) for score in scores]
    return [weight / sum(weights) for weight in weights]


def synthetic(counts: tuple[int, int]) -> Law:
    """Return the law of a total, of the choice of the cell that half of it explains worst, and of that cell's count. A
    low total makes the choice cheap and the count dear."""
    law: Law = {}
    for total, first in gaussian(sum(counts), FIRST).items():
        assert isinstance(total, int)
        choosing = CHOOSING if total > 2 else CHOOSING / 3
        scores = [abs(count - round(total / 2)) for count in counts]
        for place, picked in enumerate(chosen(scores, 1, choosing)):
            for seen, later in gaussian(counts[place], CHOOSING + LATER - choosing).items():
                law[total, place, seen] = first * picked * later
    return law


TABLES = [((0, 0), (1, 0)), ((2, 1), (3, 1)), ((1, 4), (1, 5)), ((0, 3), (1, 3))]


@pytest.mark.parametrize(("less", "more"), TABLES)
def test_a_tiny_synthetic_mechanism_costs_no_more_than_its_sum_of_rho(
    less: tuple[int, int], more: tuple[int, int]
) -> None:
    rho = FIRST + CHOOSING + LATER
    for p, q in (laws := (synthetic(less), synthetic(more)), laws[::-1]):
        for order, amount in zip(ORDERS, zcdp_cost(Fraction(rho), ORDERS).amounts, strict=True):
            assert 0 < renyi(p, q, order) <= float(amount)
        for epsilon in (0.5, 1.0, 2.0):
            reached = divergence(p, q, epsilon)
            assert zcdp_epsilon(Fraction(rho), Fraction(reached)) >= epsilon
