"""The joint cost of a release: its figures, its bounds by simpler accounting, and its worst classes."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from crowdgate.accounting import part_laws
from crowdgate.accounting.class_laws import SampledClass
from crowdgate.accounting.dominating_pairs import DominatingPair, coarser, composed
from crowdgate.accounting.joint import JointLaw, least_epsilon, replaced
from crowdgate.accounting.safe_k import exact_delta, least_k
from crowdgate.accounting.tables_plan import tables_budget
from crowdgate.arrays import Floats
from tests.accounting import joint_truth

DELTA = 1e-9
RHO = tables_budget(Fraction(3, 10), Fraction(1, 10**10), "gaussian").spend
MARGINS = DominatingPair(variance=2 * float(RHO))
GATE = part_laws.laplace(0.05)


def bundled(k: int, beta: float) -> JointLaw:
    """Return the law of rows with margins of epsilon .3 and a gate of .05."""
    return JointLaw(SampledClass(k, beta), (MARGINS, GATE))


# --- the figures of the bundled policy ---


def test_the_bundled_release_spends_less_than_its_sum() -> None:
    law = bundled(least_k("0.65", "9e-10", "0.3"), 0.3)
    assert float(RHO) == pytest.approx(0.001293, abs=5e-7)
    assert least_epsilon(law.delta, DELTA) == pytest.approx(0.687, abs=5e-4)
    assert least_epsilon(bundled(92, 0.5).delta, DELTA) == pytest.approx(0.703, abs=5e-4)
    assert law.delta(1) == pytest.approx(1.15e-12, rel=0.01)


@pytest.mark.parametrize(("beta", "k", "stated", "below"), [(0.3, 29, 6.3e-10, 1.11e-9), (0.5, 60, 9.3e-10, 1.24e-9)])
def test_the_least_k_at_the_stated_total(beta: float, k: int, stated: float, below: float) -> None:
    assert bundled(k, beta).delta(1) == pytest.approx(stated, rel=0.01)
    assert bundled(k - 1, beta).delta(1) == pytest.approx(below, rel=0.01)
    assert bundled(k, beta).delta(1) <= DELTA < bundled(k - 1, beta).delta(1)


def test_the_bundled_release_with_one_row_replaced() -> None:
    both = DominatingPair(variance=4 * float(RHO)), part_laws.laplace(0.1, 2)
    assert least_epsilon(replaced(JointLaw(SampledClass(40, 0.3), both)), DELTA) == pytest.approx(0.794, abs=5e-4)


def test_a_class_by_itself_has_its_exact_delta() -> None:
    for k, beta, epsilon in product((1, 3, 20, 58), (0.05, 0.3, 0.9), (0.0, 0.1, 1.0)):
        found = JointLaw(SampledClass(k, beta)).delta(epsilon)
        assert found == pytest.approx(exact_delta(k, beta, epsilon), rel=1e-9)


def test_the_reverse_direction_can_be_the_larger() -> None:
    assert JointLaw(SampledClass(21, 0.95)).delta(0.03) == pytest.approx(0.3484, abs=5e-5)


@pytest.mark.parametrize("choice", [None, part_laws.pure(0.2)])
@pytest.mark.parametrize(("k", "beta"), [(1, 0.9), (3, 0.1), (29, 0.3), (60, 0.5)])
def test_delta_is_that_of_the_larger_direction_to_the_last_digit(
    k: int, beta: float, choice: DominatingPair | None
) -> None:
    """The search of the second direction may stop early, and neither direction becomes larger by that."""
    law = JointLaw(SampledClass(k, beta), (part_laws.pure(0.05), DominatingPair(variance=0.01)), choice)
    for epsilon in (0.1, 0.5, 2.0):
        both = [law.direction(epsilon, add=add) for add in (False, True)]
        assert law.delta(epsilon) == max(both)


def test_steps_of_a_known_law_cost_less_than_their_sum_and_more_than_each() -> None:
    law = bundled(40, 0.3)
    assert max(exact_delta(40, 0.3, 0.65), MARGINS.delta(np.array([0.65]))[0]) < law.delta(0.65)
    assert law.delta(1) < exact_delta(40, 0.3, "0.65") + 1e-10


# --- which n: one for the release, or one for each outcome of a choice ---


def one_n(k: int, beta: float, choice: float, epsilon: float, sizes: range) -> float:
    """Return the supremum over n of the whole, one n across the outcomes of a choice: false."""
    pair = joint_truth.opaque(choice, 0)
    return float(max(max(joint_truth.deltas([n], k, beta, [(mp.mpf(1), mp.mpf(1))], pair, epsilon)) for n in sizes))


def test_one_n_across_the_outcomes_of_a_choice_is_too_small() -> None:
    stated = JointLaw(SampledClass(3, 0.3), (), part_laws.pure(0.5)).delta(1)
    assert stated == pytest.approx(0.03458, abs=5e-6)
    assert one_n(3, 0.3, 0.5, 1, range(1, 40)) == pytest.approx(0.02745, abs=5e-6)


def test_a_supremum_for_each_part_is_larger_than_one_n_for_the_release() -> None:
    sampled = SampledClass(3, 0.3)
    each = JointLaw(None, (sampled.worst_pair(add=False), part_laws.pure(0.5)))
    assert each.delta(1) == pytest.approx(0.03458, rel=1e-3)
    assert JointLaw(sampled, (part_laws.pure(0.5),)).delta(1) == pytest.approx(0.02745, abs=5e-6)


def test_a_worst_pair_has_the_curve_of_the_worst_class() -> None:
    for k, beta in ((1, 0.5), (3, 0.3), (12, 0.8)):
        pairs = SampledClass(k, beta).worst_pair(add=False), SampledClass(k, beta).worst_pair(add=True)
        for epsilon in (0.0, 0.05, 0.4, 1.0, 2.0):
            for pair in pairs:
                true = JointLaw(SampledClass(k, beta)).direction(epsilon, add=pair is pairs[1])
                found = float(pair.delta(np.array([epsilon]))[0])
                assert true * (1 - 1e-9) <= found <= true * 1.02 + 1e-12


# --- bounds ---


def test_coarser_atoms_only_enlarge_delta() -> None:
    fine = composed([part_laws.discrete_gaussian(1, Fraction(400)), GATE])
    coarse = coarser(fine, 100)
    assert len(coarse.losses) <= 100 < len(fine.losses)
    for epsilon in (0.05, 0.1, 0.2):
        low, high = (float(pair.delta(np.array([epsilon]))[0]) for pair in (fine, coarse))
        assert low < high <= 1.05 * low  # measured for 100 atoms: at most 1.03


def test_the_exponential_mechanism_is_covered_at_all_its_losses() -> None:
    eta = 0.8
    bound = part_laws.bounded_range(eta)
    for epsilon in (0.0, 0.2, 0.5, 0.7):
        true = max(
            float(joint_truth.Curve.of(joint_truth.exponential_mechanism(t, eta)).at(mp.exp(epsilon)))
            for t in np.linspace(0.01, eta - 0.01, 79)
        )
        found = JointLaw(None, (bound,)).delta(epsilon)
        assert true <= found <= 1.01 * true
        assert found < JointLaw(None, (part_laws.pure(eta),)).delta(epsilon)


def test_no_epsilon_reaches_a_delta_below_the_sure_loss() -> None:
    with pytest.raises(ValueError, match="delta must be reachable at an epsilon of at most 50"):
        least_epsilon(JointLaw(SampledClass(3, 0.3)).delta, 1e-3)


# --- persons of several rows, and replacements: all tables of few classes ---


def _laws(sizes: tuple[int, ...], rows: tuple[int, ...], k: int, beta: float, others: Any) -> joint_truth.Pair:
    classes = [joint_truth.sampled_class(n, k, beta, m) for n, m in zip(sizes, rows, strict=True)]
    return joint_truth.together([*classes, others])


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("rows", [(2,), (1, 1), (3,), (2, 1), pytest.param((1, 1, 1), marks=pytest.mark.thorough)])
def test_no_table_exceeds_the_delta_of_a_person_with_several_rows(k: int, rows: tuple[int, ...]) -> None:
    beta, epsilon, most = 0.3, 0.7, {1: 14, 2: 8, 3: 5}[len(rows)]
    law = JointLaw(SampledClass(k, beta, sum(rows)), (part_laws.laplace(0.3),))
    stated, reached = law.delta(epsilon), 0.0
    with mp.workdps(20):
        other = joint_truth.laplace(0.3, 1)
        for sizes in product(range(k, most + k), repeat=len(rows)):
            if all(n >= m for n, m in zip(sizes, rows, strict=True)):
                pair = _laws(sizes, rows, k, beta, other)
                both = (
                    float(joint_truth.Curve.of(turn(pair)).at(mp.exp(epsilon))) for turn in (list, joint_truth.swapped)
                )
                reached = max(reached, *both)
    assert reached <= stated


def test_the_worst_partition_of_a_persons_rows_is_nearly_reached() -> None:
    k, beta, epsilon = 3, 0.3, 0.7
    stated = JointLaw(SampledClass(k, beta, 2)).delta(epsilon)
    with mp.workdps(20):
        one = [(mp.mpf(1), mp.mpf(1))]
        same = max(
            float(joint_truth.Curve.of(_laws((n,), (2,), k, beta, one)).at(mp.exp(epsilon))) for n in range(k, 20)
        )
        apart = max(
            float(joint_truth.Curve.of(_laws(ns, (1, 1), k, beta, one)).at(mp.exp(epsilon)))
            for ns in product(range(k, 14), repeat=2)
        )
    assert max(same, apart) <= stated <= 1.02 * max(same, apart)


def shown(n: int, k: int, beta: float) -> Floats:
    return np.array(joint_truth.sampled_class(n, k, beta), dtype=float)


def divergence(pairs: list[Floats], epsilon: float) -> float:
    """Return the divergence of the product of pairs, arrays of masses with and without."""
    p, q = np.ones(1), np.ones(1)
    for pair in pairs:
        p, q = (np.multiply.outer(each, pair[:, i]).reshape(-1) for i, each in enumerate((p, q)))
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.thorough
@pytest.mark.parametrize("k", [2, 3])
def test_no_replaced_row_exceeds_the_delta_of_its_two_classes(k: int) -> None:
    beta, epsilon = 0.3, 0.7
    stated = replaced(JointLaw(SampledClass(k, beta), (part_laws.laplace(0.4, 2),)))(epsilon)
    reached = max(
        divergence([shown(left, k, beta), shown(right, k, beta)[:, ::-1], other], epsilon)
        for left, right in product(range(1, 24), repeat=2)
        for other in [np.array(joint_truth.laplace(0.4, 2), dtype=float)]
    )
    assert reached <= stated <= 1.02 * reached


@pytest.mark.thorough
@pytest.mark.parametrize("beta", [1e-12, 1e-9, 1e-6, 1e-3, 0.999, 1 - 1e-6])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_the_divergence_of_a_class_is_no_smaller_than_the_truth_at_extreme_rates(beta: float, k: int) -> None:
    """N = 12 sizes of classes: the exact divergence in 60 digits, at two epsilons in both directions."""
    with mp.workdps(60):
        for epsilon, add in product((0.01, 1.0), (False, True)):
            stated = JointLaw(SampledClass(k, beta)).direction(epsilon, add=add)
            true = max(_divergence(n, k, mp.mpf(beta), mp.exp(mp.mpf(epsilon)), add=add) for n in range(1, 13))
            assert stated >= true


def _divergence(n: int, k: int, beta: mp.mpf, times: mp.mpf, *, add: bool) -> mp.mpf:
    """The exact sum of (P - e^epsilon Q)+ of a class of n rows and of n - 1, counts below k being one outcome."""
    sizes = [_censored(m, k, beta) for m in (n, n - 1)]
    first, second = reversed(sizes) if add else sizes
    return mp.fsum(
        max(mp.mpf(0), first.get(t, mp.mpf(0)) - times * second.get(t, mp.mpf(0))) for t in {*first, *second}
    )


def _censored(n: int, k: int, beta: mp.mpf) -> dict[int, mp.mpf]:
    masses: dict[int, mp.mpf] = {}
    for t in range(n + 1):
        at = t if t >= k else 0
        masses[at] = masses.get(at, mp.mpf(0)) + mp.binomial(n, t) * beta**t * (1 - beta) ** (n - t)
    return masses


def test_given_each_outcome_of_a_choice_a_person_s_rows_may_lie_in_other_classes() -> None:
    """The largest divergence over partitions stands inside the sum over outcomes: outside it is 1.27 times smaller. The
    partitions differ only by tails that are left out, a mass of 1e-24: no other partition than one class was ever found
    to be the worst."""
    sampled, others, choice = SampledClass(30, 0.1, 3), (part_laws.pure(0.3),), part_laws.pure(0.3)
    inside = sum(
        float(mass) * max(float(given) for given in _by_partitions(sampled, others, 5.0 - float(loss)))
        for mass, loss in zip(choice.masses, choice.losses, strict=True)
    )
    assert JointLaw(sampled, others, choice).delta(5.0) >= inside * (1 - 1e-6)


def _by_partitions(sampled: SampledClass, others: tuple[DominatingPair, ...], epsilon: float) -> Iterator[float]:
    law = JointLaw(sampled, others)
    for own, rest in law._placed(False):
        yield own.supremum(rest, epsilon, add=False)


@pytest.mark.parametrize(("squared", "vectors"), [(Fraction(4), 64), (Fraction(1, 2), 8)])
def test_tails_that_are_left_out_count_in_both_directions(squared: Fraction, vectors: int) -> None:
    """At its lower end a pair of many vectors has far more mass under Q than under P: about e^loss times as much."""
    pair = part_laws.gaussians([(1, squared)] * vectors)
    assert 1e-24 < pair.only_q < 1e-15
    assert pair.swapped.only_p == pair.only_q
    assert float((pair.masses * np.exp(-pair.losses)).sum()) + pair.only_q >= 1 - 1e-12
